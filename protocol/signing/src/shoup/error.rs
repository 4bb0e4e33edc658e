//! Why a dealer, a sharing or a share was refused.

/// Why a dealer, a sharing or a share was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShoupError {
    /// The bytes are not a sharing in its one form.
    #[error("it is not a sharing: {0}")]
    WireSharing(&'static str),
    /// The bytes are not a share in its one form, or a share of another sharing.
    #[error("it is not a share of this sharing")]
    WireShare,
    /// What was dealt is not of a polynomial of this threshold, or is of another key: no t shares
    /// would sign (SHO-16).
    #[error("no shares could have these verification values")]
    PeerSharing,
    /// The share does not fit what its dealer published for its seat (SHO-05).
    #[error("the share does not fit its seat's verification value")]
    PeerShare,
    /// The primes are not two different safe primes whose product has the length asked for.
    #[error("they are not two different safe primes of the right length")]
    LocalPrimes,
    /// The threshold is zero or above the number of seats, or there are no seats or more than 256.
    #[error("the threshold must be between 1 and the number of seats, of which there can be at most 256")]
    LocalThreshold,
    /// More holders than seats, or one of them twice.
    #[error("there are more holders than seats, or one is named twice")]
    LocalHolders,
    /// The dealer dealt once and then erased the key, as it was told to.
    #[error("the dealer has erased the key, which was only for the setup")]
    LocalErased,
    /// No seat is spare: deal again.
    #[error("no seat is spare")]
    LocalNoSeat,
    /// The member already holds a seat but must not, or holds none but must.
    #[error("the member holds a seat already, or holds none")]
    LocalMember,
    /// The bytes are not those of a dealer.
    #[error("it is not a dealer's key")]
    LocalDealer,
}
