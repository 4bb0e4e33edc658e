//! Why a key or a signature was refused.

/// Why a key or a signature was refused. Nobody is named: the layer that read it says whose it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// The bytes are not the SPKI of a key of the kind asked for, in its one form, or the key is
    /// invalid: a point off the curve.
    #[error("it is not the SPKI of a public key of this kind")]
    WireKey,
    /// The bytes are not a signature: wrong length, not strict DER, zero or too large numbers.
    #[error("it is not a signature of this kind")]
    WireSignature,
    /// The signature is the mirrored form (high s) of a valid one; only one of the two is accepted.
    #[error("the signature is in its mirrored form (high s)")]
    WireHighS,
    /// The signature is not this key's over this message under this label.
    #[error("the signature does not verify")]
    PeerSignature,
    /// The bytes are not a PKCS#8 private key of the kind asked for. Fix the file.
    #[error("it is not a PKCS#8 private key of this kind")]
    LocalKey,
    /// The bytes are not a sharing: another form, an element outside the group, or holders and
    /// threshold out of their limits.
    #[error("it is not a sharing")]
    WireSharing,
    /// The bytes are not a share: another form, or a number out of range.
    #[error("it is not a share")]
    WireShare,
    /// The share is not the one that the sharing says its holder has: it is of another share-epoch,
    /// or damaged.
    #[error("the share does not belong to this sharing")]
    LocalShare,
    /// The share is not its holder's in this sharing, or not the one that the sharing says its
    /// holder has: its dealer lied, or sent an old one.
    #[error("the share is not its holder's in this sharing")]
    PeerShare,
    /// The bytes are not the secret that a dealer of this scheme keeps, in its one form. Fix the
    /// store.
    #[error("it is not the secret of a dealer of this scheme")]
    LocalSecret,
}
