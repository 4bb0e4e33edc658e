//! The bytes of the admission layer.
//!
//! ```text
//! guest   -> contact   Request       "certify me so" (CMS by the guest), voucher, endorsement    over the guest's link
//! contact -> guest     Standing      "so many votes of so many; why not yet"
//! contact -> guest     Votes         "enough: (voter, expires, signature), key" each
//! guest   -> contact   Certificate   the GMC composed from them
//! member  -> members   Open::Request       the same, and what made room for it      ordered, unsealed
//! voter   -> everyone  Item::Approval      a vote on it: an item of the transcript
//! member  -> members   Open::Proposal      an effect that wants approvals
//! voter   -> members   Open::Ballot        what a voter proposes, promises and commits to
//! signer  -> members   Open::Signer        what is said in a signing session (signers/message.rs)
//! member  -> members   Open::Revocations   the certificates of the group's key that hold no more (X.509 CRL)
//! member  -> members   Open::Granted       a certificate that the charter's authority has signed (authority/message.rs)
//! contact -> guest     Issued        "the group has signed": the certificate
//! contact -> guest     Multi         "the voters have signed": their multisignature, their keys
//! guest   -> contact   Withdraw      "I ask no more", signed
//! member  -> members   Open::Withdrawn     the same
//! member  -> members   Open::TakenBack     "I propose this no more"
//! ```

use crate::AdmissionError;
use crate::signers::SignerMessage;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, Head, SignatureBytes, UnixTime, limits};
use folkmoot_identity::{Identity, VerifyingKey, VoteProof};
use folkmoot_transcript::{BallotMessage, Effect, Voucher};

/// Longest admission message, in bytes: one long frame less what a link adds.
pub const ADMISSION_BYTES_MAX: usize = limits::LONG_FRAME_BYTES_MAX - 1024;

/// Why a request is not granted, or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Reason {
    /// Not enough voters have said yes.
    AwaitingVotes = 1,
    /// So many voters said no that there cannot be enough yes.
    Rejected = 2,
    /// For another group, or under another version of the charter: ask again under the present one.
    Stale = 3,
    /// Too many requests are open; try later.
    Full = 4,
    /// The term asked for has not begun or is over, or a vote ran out.
    Term = 5,
    /// The certificate's votes do not stand; ask for the votes again.
    Votes = 6,
    /// So many objected that this request is refused for good. The guest may send a new one.
    Objected = 7,
    /// The charter admits by its list, and the guest is not on it.
    NotListed = 8,
    /// The members have done their part; the charter's authority has not signed yet, or cannot be
    /// reached.
    AwaitingAuthority = 9,
    /// As many holders as could sign have left with shares of the group's key. Until there are new
    /// shares, nobody is admitted by it (`LINE-28`).
    SharesStale = 10,
    /// Nobody may be called so (`ID-90`).
    Name = 11,
    /// The guest has withdrawn it.
    Withdrawn = 12,
}

/// What guest and contact say to each other.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum GuestMessage {
    /// Guest → contact.
    #[tls_codec(discriminant = 1)]
    Request {
        /// CMS.
        cms: Blob,
        /// What a member gave it with its ticket.
        voucher: Option<Voucher>,
        /// What it shows of who it is: X.509, by somebody whom the charter recognises.
        endorsement: Option<Blob>,
    },
    /// Guest → contact.
    #[tls_codec(discriminant = 2)]
    Certificate {
        /// X.509.
        der: Blob,
    },
    /// Contact → guest.
    #[tls_codec(discriminant = 3)]
    Standing {
        /// Which request.
        request: Digest,
        /// Approving votes so far.
        have: u32,
        /// Votes needed.
        need: u32,
        /// Why it is not granted.
        reason: Reason,
    },
    /// Contact → guest.
    #[tls_codec(discriminant = 4)]
    Votes {
        /// Which request.
        request: Digest,
        /// Enough votes.
        votes: Vec<KeyedVote>,
    },
    /// Contact → guest, where the group has a key of its own.
    #[tls_codec(discriminant = 5)]
    Issued {
        /// Which request.
        request: Digest,
        /// The certificate (X.509), signed by the group's key.
        der: Blob,
    },
    /// Contact → guest, where the voters make one signature.
    #[tls_codec(discriminant = 6)]
    Multi {
        /// Which request.
        request: Digest,
        /// The last decision that its signers knew.
        base: Head,
        /// How often they had changed their minds.
        turn: u32,
        /// Until when the signature counts.
        expires: UnixTime,
        /// The multisignature, which names its signers.
        signature: Blob,
        /// Their keys.
        keys: Vec<SignerKey>,
    },
    /// Guest → contact.
    #[tls_codec(discriminant = 7)]
    Withdraw {
        /// That it asks no more.
        withdrawal: Withdrawal,
    },
}

/// The key of a signer: its digest is the signer's name.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignerKey {
    /// The SPKI.
    pub spki: Blob,
}

/// A vote and the key that made it: its digest is the voter's name, so the guest can check without
/// a roster.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct KeyedVote {
    /// The vote.
    pub proof: VoteProof,
    /// The voter's SPKI.
    pub spki: Blob,
}

/// What a member says to the members: in order, readable by all nodes.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum OpenMessage {
    /// A guest's request.
    #[tls_codec(discriminant = 1)]
    Request {
        /// CMS by the guest.
        cms: Blob,
        /// The guest's, if the request has one of the places that are kept for it.
        voucher: Option<Voucher>,
        /// What it shows of who it is: X.509, by somebody whom the charter recognises.
        endorsement: Option<Blob>,
        /// The request of the same contact that made room for it.
        instead: Option<Digest>,
    },
    /// An effect that wants approvals.
    #[tls_codec(discriminant = 3)]
    Proposal {
        /// Which.
        effect: Effect,
    },
    /// What a voter says about the next decision.
    #[tls_codec(discriminant = 4)]
    Ballot {
        /// Signed in its parts.
        message: BallotMessage,
    },
    /// What a signer says in a signing session.
    #[tls_codec(discriminant = 5)]
    Signer {
        /// Signed.
        message: SignerMessage,
    },
    /// The list of certificates that hold no more.
    #[tls_codec(discriminant = 6)]
    Revocations {
        /// X.509 CRL, signed by the group's key or its authority's. Empty if the sender has none
        /// and asks for one.
        der: Blob,
    },
    /// A certificate that the charter's authority has signed.
    #[tls_codec(discriminant = 7)]
    Granted {
        /// X.509.
        der: Blob,
    },
    /// A guest has withdrawn its request.
    #[tls_codec(discriminant = 8)]
    Withdrawn {
        /// By the guest.
        withdrawal: Withdrawal,
    },
    /// The sender has no vote, and takes back what it proposed.
    #[tls_codec(discriminant = 9)]
    TakenBack {
        /// What approvals of it would name.
        proposal: Digest,
    },
}

/// `ADM-91`: whoever asks for admission takes its request back. Only its key can say so.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Withdrawal {
    /// Which request.
    pub request: Digest,
    /// By the key that asked.
    pub signature: SignatureBytes,
}

/// What a withdrawal is signed under.
pub const WITHDRAWAL_LABEL: &[u8] = b"folkmoot withdrawal v1";

impl Withdrawal {
    /// Signs it.
    pub fn sign(group: &GroupId, request: Digest, identity: &Identity) -> Self {
        let signature = identity.key().sign_wire(WITHDRAWAL_LABEL, &covered(group, &request));
        Self { request, signature }
    }

    /// Whether the holder of this key has signed it.
    pub(crate) fn is_by(&self, group: &GroupId, key: &VerifyingKey) -> bool {
        key.verify_wire(WITHDRAWAL_LABEL, &covered(group, &self.request), &self.signature).is_ok()
    }
}

fn covered(group: &GroupId, request: &Digest) -> Vec<u8> {
    [&group.0[..], request].concat()
}

/// Decodes either kind; `ADM-01`.
pub(crate) fn decode<T: codec::Wire>(bytes: &[u8]) -> Result<T, AdmissionError> {
    Ok(codec::decode_at_most(bytes, ADMISSION_BYTES_MAX)?)
}
