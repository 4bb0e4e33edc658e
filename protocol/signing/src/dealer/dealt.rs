//! The result of a deal, and what it says in public.

use crate::GroupKey;
use crate::base::{Digest, MemberId, Secret};
use crate::run::{Fault, FaultKind};

/// The result of a deal.
#[derive(Debug)]
pub struct Dealt {
    /// For everybody: the public part of the sharing, encoded ([`crate::shared::facts`]).
    pub public: Vec<u8>,
    /// Each holder's share, encoded, sorted by holder. Each goes to its holder alone, sealed.
    pub shares: Vec<(MemberId, Secret<Vec<u8>>)>,
}

/// What a sharing says in public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharingFacts {
    /// Its share-epoch: the digest of its commitments (DECISIONS N3).
    pub epoch: Digest,
    /// The group's key.
    pub key: GroupKey,
    /// How many shares determine the secret.
    pub threshold: usize,
    /// Who was given a share, sorted.
    pub holders: Vec<MemberId>,
}

pub(super) fn no_secret() -> Fault {
    Fault::of_nobody(FaultKind::LocalSecret)
}
