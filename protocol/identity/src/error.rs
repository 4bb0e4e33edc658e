//! Why a certificate, charter, vote or request was refused. `Wire…`: the bytes do not decode as
//! one. `Peer…`: they do, and whoever signed it says something that does not stand. `Local…`: our
//! caller asked for something impossible.

use crate::CSR_BYTES_MAX;
use crate::names::{NameError, visible};
use folkmoot_base::{DecodeError, MemberId, UnixTime};
use folkmoot_signing::SigningError;

/// Why a certificate was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// Not an X.509 certificate in DER.
    #[error("it is not an X.509 certificate in DER")]
    WireMalformed,
    /// Longer than any certificate may be.
    #[error("it has {0} bytes, more than a certificate may have")]
    WireTooLong(usize),
    /// A certificate, but not the one DER form of ours (ID-02, ID-11).
    #[error("it is not in the form that is accepted: {0}")]
    WireProfile(&'static str),
    /// Its key or signature is malformed.
    #[error("its key or signature is malformed")]
    WireKey(#[source] SigningError),
    /// Its holder did not sign it.
    #[error("it is not signed by the key that it names")]
    PeerSignature,
    /// Its holder's name is none that anybody may come in under (ID-90).
    #[error("its holder's name is one that nobody may have")]
    PeerName(#[source] NameError),
    /// It has not begun yet.
    #[error("it begins only at {0}")]
    PeerNotYet(UnixTime),
    /// It has ended.
    #[error("it ended at {0}")]
    PeerEnded(UnixTime),
    /// It was issued for another group, charter, scheme or term than the one it is shown under.
    #[error("it is not valid under this charter: {0}")]
    PeerCharter(&'static str),
    /// It claims founding, but the charter does not name its key.
    #[error("{0} is not a founder")]
    PeerNotFounder(MemberId),
    /// It carries a vote of a member that has none.
    #[error("{0} has no vote")]
    PeerNotVoter(MemberId),
    /// It was issued by the group's key although votes, or another key, are required.
    #[error("it was issued by a key that is not this group's")]
    PeerGroupKey,
    /// It rests on votes, on a multisignature or on a key, and the charter's scheme asks for
    /// another of these.
    #[error("it is not signed in the way that the charter's scheme asks for")]
    PeerAuthority,
    /// The multisignature in it is not its signers' on this certificate.
    #[error("the multisignature does not verify")]
    PeerMulti,
    /// A vote in it does not verify.
    #[error("the vote of {0} does not verify")]
    PeerVote(MemberId),
    /// It carries fewer votes than the charter asks for.
    #[error("there are too few votes: {got}, where {need} are needed")]
    PeerTooFewVotes {
        /// Votes that stand.
        got: usize,
        /// Votes that the charter asks for.
        need: usize,
    },
    /// The votes are enough in number, but do not satisfy the charter's rule; with the tally of
    /// each part.
    #[error("the votes do not satisfy the rule: {0}")]
    PeerRule(String),
    /// The charter admits by its list, and the holder is not on it.
    #[error("the holder is not on the charter's list")]
    PeerNotListed,
    /// The charter admits by one founder's yes, which is not among the votes.
    #[error("the vote of the founder who decides is missing")]
    PeerNoDecider,
    /// The values given cannot stand in a certificate.
    #[error("no certificate can hold these values: {0}")]
    LocalValue(&'static str),
    /// The identity given is not the holder named in the body.
    #[error("the certificate is somebody else's")]
    LocalNotHolder,
    /// The PEM text or private key does not fit.
    #[error("the PEM text does not hold this identity: {0}")]
    LocalPem(&'static str),
}

/// Why a signed message (CMS) was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CmsError {
    /// Not a CMS SignedData in DER with attached content.
    #[error("it is not a CMS SignedData in DER with its content inside")]
    WireMalformed,
    /// Longer than any signed message may be.
    #[error("it has {0} bytes, more than a signed message may have")]
    WireTooLong(usize),
    /// A SignedData, but not the one DER form of what it says (ID-21).
    #[error("it is not canonically encoded")]
    WireNotCanonical,
    /// Signers and certificates do not match one to one, or there are too many.
    #[error("its signers and certificates do not match one to one")]
    WireSigners,
    /// A signature in it is malformed.
    #[error("a signature in it is malformed")]
    WireSignature(#[source] SigningError),
    /// A signer's certificate was refused.
    #[error("a signer's certificate was refused")]
    Certificate(#[from] CertificateError),
    /// A signature does not verify.
    #[error("the signature of {0} does not verify")]
    PeerSignature(MemberId),
    /// Other signers than expected.
    #[error("it is signed by others than expected")]
    PeerSigners,
    /// The values given cannot stand in a message.
    #[error("no message can hold these values")]
    LocalEncode,
}

/// Why a charter was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CharterError {
    /// Too long, not UTF-8, not TOML, unknown or missing keys, values of the wrong kind.
    #[error("it is not a charter: {0}")]
    WireMalformed(String),
    /// A value outside its limits.
    #[error("the charter's {key} is not valid: {reason}")]
    WireValue {
        /// Which key.
        key: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A founder's name is none that anybody may have (ID-90).
    #[error("the charter's founders.name cannot be {:?}", visible(.0))]
    WireName(String, #[source] NameError),
    /// A rule over roles that cannot be read.
    #[error("the charter's {key} is not a rule that can be read")]
    WireRule {
        /// Which key.
        key: &'static str,
        /// Where and why.
        source: crate::RuleError,
    },
    /// The envelope was refused.
    #[error(transparent)]
    Cms(#[from] CmsError),
    /// Somebody signed who is not a founder, or whose name is not the one in the charter.
    #[error("{0} signed under a name that the charter does not give it")]
    PeerNotFounder(MemberId),
    /// A founder's signature is missing.
    #[error("founder {0} has not signed")]
    PeerUnsigned(MemberId),
    /// The field cannot be changed, or not to this value.
    #[error("the charter's {field:?} cannot become {value:?}: {reason}")]
    PeerChange {
        /// Which field.
        field: String,
        /// To what.
        value: String,
        /// Why not.
        reason: &'static str,
    },
    /// The field takes a rule, and the value cannot be read as one.
    #[error("the new value of the charter's {field:?} is not a rule that can be read")]
    PeerRule {
        /// Which field.
        field: String,
        /// Where and why.
        source: crate::RuleError,
    },
}

/// Why a vote was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VoteError {
    /// The envelope was refused.
    #[error(transparent)]
    Cms(#[from] CmsError),
    /// The signed content is not a vote (wrong domain label: a charter or request, say).
    #[error("the signed content is not a vote")]
    WireDomain,
    /// The content after the label does not decode.
    #[error("the vote's content is malformed")]
    WireContent(#[from] DecodeError),
    /// The voter has not signed this, or signed something else.
    #[error("the vote of {0} does not verify")]
    PeerSignature(MemberId),
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The envelope was refused.
    #[error(transparent)]
    Cms(#[from] CmsError),
    /// The signed content is not a request.
    #[error("the signed content is not a request")]
    WireDomain,
    /// The proposed certificate body was refused.
    #[error("the proposed certificate is refused")]
    Certificate(#[from] CertificateError),
    /// Signed by another key than the one to be certified.
    #[error("{0} asks for somebody else's certificate")]
    PeerNotHolder(MemberId),
    /// The CSR was refused.
    #[error(transparent)]
    Csr(#[from] CsrError),
    /// The two parts, CSR and certificate proposed, are not in their one encoding.
    #[error("the request by CSR is not canonically encoded")]
    WireNotCanonical,
    /// The certificate that a member proposes is not for this CSR.
    #[error("the proposed certificate is not the one for this CSR: {0}")]
    PeerProposal(&'static str),
}

/// Why a CSR was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsrError {
    /// Not a PKCS#10 request, in DER or PEM.
    #[error("it is not a certification request (PKCS#10)")]
    WireMalformed,
    /// Longer than any that is accepted.
    #[error("the CSR has {0} bytes; at most {CSR_BYTES_MAX} are allowed")]
    WireTooLong(usize),
    /// A request, but not the one DER encoding of what it says.
    #[error("the CSR is not canonically encoded")]
    WireNotCanonical,
    /// Its signature is malformed, or the higher of the two equivalent ones.
    #[error("the CSR's signature is malformed")]
    WireSignature(#[source] SigningError),
    /// Its key is of another kind.
    #[error(
        "a member cannot have the CSR's key: it must be of P-256 with a named curve, Ed25519, or RSA with 2048 or 3072 bits. Make one: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"
    )]
    PeerKey,
    /// It is signed by another algorithm.
    #[error(
        "the CSR is not signed by the algorithm of its key: ecdsa-with-SHA256, Ed25519 or sha256WithRSAEncryption"
    )]
    PeerAlgorithm,
    /// Its subject is not exactly one common name.
    #[error("the CSR's subject must be exactly one common name. Make one: openssl req -new -subj /CN=NAME")]
    PeerSubject,
    /// The common name is not a legal name.
    #[error("the CSR's common name cannot be a name: {0}")]
    PeerName(&'static str),
    /// It asks for something that no certificate here has.
    #[error("the CSR asks for something that the certificate will not have: {0}")]
    PeerAttribute(String),
    /// Its own key did not sign it.
    #[error("the CSR is not signed by the key in it")]
    PeerSignature,
    /// The value for a CSR to be made is not a legal name.
    #[error("that cannot be a name: {0}")]
    LocalName(&'static str),
}
