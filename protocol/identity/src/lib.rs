//! Who is who: keys, certificates, charter, votes, requests. This layer judges; it sends nothing
//! and reads no clock.
//!
//! ```text
//! Identity ---- self-signs ----> IdentityCertificate            "I go by this name"
//!    |  founders sign ---------> SignedCharter -> Charter       "these are the rules"; its digest is the GroupId
//!    |  a stranger signs ------> Request (proposed GmcBody)     "certify me so"; or a Csr, for which a member proposes the body
//!    |  voters sign -----------> Vote -> VoteProof              "yes", over the last decision that the voter knew
//!    |  a member signs --------> SignedMessage                 "I said that, in this view": proof to a third party
//!    '- the stranger composes -> Gmc (body + proofs)            "the group's word": counted under the charter
//!    |  an authority that the charter recognises signs --> Endorsement   "this key is that person's"
//!    |  the group's key signs --> RevocationList               "these were expelled", where there is such a key
//! ```
//! Promise: whatever a decoder here returns is in its one DER form, and every signature in it is
//! verified. Any changed, missing or added byte gives a typed error. OpenSSL reads and verifies all
//! of it (docs/protocol/identity.md has the commands).

mod authority;
mod central;
mod certificate;
mod charter;
mod charter_algorithms;
mod charter_groups;
mod charter_rules;
mod charter_text;
mod charter_value;
mod cms;
mod contact;
mod csr;
mod draft;
mod endorsement;
mod envelope;
mod error;
#[cfg(test)]
mod forged;
mod founder;
mod gmc;
mod identity;
mod issuer;
mod key_file;
mod membership;
mod message;
mod multi;
pub mod names;
mod pem;
mod policy;
mod recognised;
mod request;
mod revocation;
mod rule;
mod sealed_key;
mod shared_key;
mod signed_charter;
mod threshold;
mod toml_1_0;
mod validity;
mod vote;

pub use authority::{AUTHORITY_BYTES_MAX, AuthorityBody, AuthorityCertificate, common as common_name};
pub use central::{AUTHORITY_NODES_MAX, Central, Dealer, refusal};
pub use certificate::{
    CERTIFICATE_BYTES_MAX, IdentityCertificate, certificate_from_pem, certificate_pem, certificates_from_pem,
    identities_pem,
};
pub use charter::{CHARTER_TOML_BYTES_MAX, Charter, change_digest};
pub use charter_algorithms::{Algorithms, NotNamed};
pub use charter_rules::{Adopt, Minority, Quorum, Timeouts};
pub use charter_value::THRESHOLD_MAX;
pub use contact::{CONTACT_BYTES_MAX, CONTACTS_MAX, Contact};
pub use csr::Csr;
pub use draft::CharterDraft;
pub use endorsement::{Endorsement, EndorsementError, authority_of};
pub use envelope::{NAME_BYTES_MAX, Serial};
pub use error::{CertificateError, CharterError, CmsError, CsrError, RequestError, VoteError};
pub use folkmoot_signing::{
    GroupKey, KeyAlgorithm, KeyKind, Mode, Prover, Scheme, Signature, SigningError, SigningKey, VerifyingKey,
    plain,
};
pub use founder::{FOUNDERS_MAX, Founder};
pub use gmc::{GMC_BYTES_MAX, Gmc, GmcBody, Grounds};
pub use identity::Identity;
pub use key_file::{key_from_pem, key_to_pem, public_from_pem};
pub use membership::{COMBINED_BYTES_MAX, Combined, Membership, VOTES_MAX};
pub use message::{MessageError, SIGNED_MESSAGE_BYTES_MAX, SignedMessage, SignerCertificate, Stamp};
pub use multi::{MULTI_LABEL, Multi};
pub use pem::pem_labels;
pub use policy::{Below, LIST_KEYS_MAX, Lack, Policies, Policy, ROLE_KEYS_MAX, ROLES_MAX, keys_named};
pub use recognised::Recognised;
pub use request::Request;
pub use revocation::{
    REVOCATIONS_BYTES_MAX, REVOKED_MAX, REVOKED_TABLE, RevocationBody, RevocationError, RevocationList,
};
pub use rule::{DEPTH_MAX, PARTS_MAX, ROLE_BYTES_MAX, RULE_BYTES_MAX, Roles, Rule, RuleError};
pub use sealed_key::{PASSPHRASE_BYTES_MAX, Passphrase, SealedKeyError, is_sealed_key, open_sealed_key};
pub use shared_key::SharedKey;
pub use signed_charter::SignedCharter;
pub use threshold::Threshold;
pub use validity::Validity;
pub use vote::{Verdict, Vote, VoteBody, VoteKind, VoteProof};

/// Longest CSR, in bytes of DER.
pub const CSR_BYTES_MAX: usize = 2 * 1024;
