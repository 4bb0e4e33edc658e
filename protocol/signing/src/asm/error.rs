//! Why a key, a list of signers or a multisignature was refused.

/// Why a key, a list of signers or a multisignature was refused. Nobody is named: the layer that
/// read it says whose it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AsmError {
    /// The bytes are not the one form of an announced key, or one of its elements is the identity
    /// or outside the group.
    #[error("it is not an announced key")]
    WireKey,
    /// The bytes are not the one form of a multisignature: version, length, element, number, or
    /// signers out of order.
    #[error("it is not a multisignature")]
    WireSignature,
    /// Whoever announced the key has not shown to know its secret, as this member in this group.
    #[error("possession of the key is not proven")]
    PeerProof,
    /// A signer without a proven key; no signer, too many, or one twice; two with one key; keys of
    /// different groups; keys that cancel out.
    #[error("it is not a list of signers, each with a proven key of its own")]
    PeerSigners,
    /// The signature is not these signers' over this message under this label.
    #[error("the multisignature does not verify")]
    PeerSignature,
    /// The stored bytes are not a secret key. Fix the store.
    #[error("it is not a stored secret key")]
    LocalKey,
}
