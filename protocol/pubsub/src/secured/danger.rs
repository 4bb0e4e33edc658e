//! Checks that can be left out in tests, to show what each is for.

/// A check of the secured form that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Danger {
    /// Whatever stands in the datagram is decrypted and believed (PUB-18).
    BelievesAnything,
    /// The content is not bound to its channel (PUB-19).
    AnyChannel,
    /// A key that was replaced counts for ever (PUB-21).
    KeepsOldKeys,
    /// Numbers begin anew when they end (PUB-22).
    NumbersWrap,
    /// A number may come again (PUB-23).
    Replays,
    /// Anyone may send who has the key (PUB-24).
    AnySender,
    /// A signature is not verified (PUB-25).
    AnySignature,
    /// A certificate is not verified under the root (PUB-27).
    AnyIssuer,
    /// A certificate counts before and after its term (PUB-27).
    AnyTime,
    /// The bytes of a certificate name its holder, its signature among them (PUB-63).
    BytesName,
    /// A confirmation of an exclusion is not verified (PUB-75).
    AnyConfirmation,
    /// A confirmation counts for a question that it does not answer (PUB-75).
    AnyQuestion,
}
