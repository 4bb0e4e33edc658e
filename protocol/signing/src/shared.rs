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

/// Who gives and who gets in a resharing.
#[derive(Debug, Clone, Copy)]
pub struct Moving<'a> {
    /// As many holders as the present threshold, sorted.
    pub givers: &'a [MemberId],
    /// Those who hold a share afterwards, sorted.
    pub takers: &'a [MemberId],
}

/// The first sharing of a key that nobody knows, among `hands`.
///
/// # Errors
/// [`SigningError`] if the scheme has no such run, or not for these.
pub fn found(
    _scheme: Scheme,
    _run: RunId,
    _me: MemberId,
    _hands: &[MemberId],
    _threshold: usize,
) -> Result<AnyRun, SigningError> {
    Err(SigningError::LocalKey)
}

/// New shares of the same key. `sharing` is the present public part, and our share of it if we give.
///
/// # Errors
/// As [`found`].
pub fn reshare(
    _scheme: Scheme,
    _run: RunId,
    _me: MemberId,
    _hands: Moving<'_>,
    _threshold: usize,
    _sharing: (&[u8], Option<&Secret<Vec<u8>>>),
) -> Result<AnyRun, SigningError> {
    Err(SigningError::LocalKey)
}

/// A signature over raw bytes by `hands`, exactly as many as the scheme takes.
///
/// # Errors
/// As [`found`].
pub fn sign(
    _scheme: Scheme,
    _run: RunId,
    _me: MemberId,
    _hands: &[MemberId],
    _sharing: (&[u8], &Secret<Vec<u8>>),
    _message: &[u8],
) -> Result<AnyRun, SigningError> {
    Err(SigningError::LocalKey)
}
