//! The schemes in which members hold shares of one key, behind one door: whoever drives them need not know which is which.

use crate::base::{Digest, MemberId, Secret};
use crate::{Fault, GroupKey, Heard, Next, Run, RunId, Scheme, SigningError};

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

/// What a run comes to.
#[derive(Debug)]
pub enum Outcome {
    /// A sharing, and this hand's share of it; none for one who only gave.
    Sharing {
        /// The public part, encoded.
        public: Vec<u8>,
        /// The share, encoded.
        share: Option<Secret<Vec<u8>>>,
    },
    /// A signature as X.509 has it.
    Signature(Vec<u8>),
}

/// A hand of some scheme in some run.
pub type AnyRun = Box<dyn Run<Done = Outcome>>;

/// What the public part of a sharing says.
///
/// # Errors
/// [`SigningError`] if `public` is not the one encoding of a sharing of `scheme`.
pub fn facts(_scheme: Scheme, _public: &[u8]) -> Result<SharingFacts, SigningError> {
    Err(SigningError::WireKey)
}
