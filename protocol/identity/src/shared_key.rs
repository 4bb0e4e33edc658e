//! The group's own key, as its members share it.

use bytes::Bytes;
use folkmoot_signing::shared::SharingFacts;

/// The group's key as its members share it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedKey {
    /// What the sharing says of itself: share-epoch, key, threshold, holders.
    pub facts: SharingFacts,
    /// Its public part, as decided.
    pub public: Bytes,
    /// The certificate of the key (X.509, DER), signed by the key itself: a standard verifier
    /// trusts it. Empty if an authority signs certificates.
    pub authority: Bytes,
}
