//! What all know of a key that is held in shares: a sharing over edwards25519, with the form and
//! the share-epoch that FROST has of its own.

use crate::base::{Digest, MemberId, digest};
use crate::sharing::Sharing;
use crate::{Edwards, GroupKey, PrimeGroup, SIGNERS_MAX, SigningError};

/// The version of the encoding; its first byte.
const FORM: u8 = 1;

/// The public side of a shared key: Feldman's commitments to the polynomial, as many as the
/// threshold, and the holders of its shares. Whatever it says of shares follows from the
/// commitments, so no two parts of it can disagree.
#[derive(Clone, PartialEq, Eq)]
pub struct FrostSharing(Sharing<Edwards>);

impl From<Sharing<Edwards>> for FrostSharing {
    fn from(sharing: Sharing<Edwards>) -> Self {
        Self(sharing)
    }
}

impl FrostSharing {
    /// The sharing, as [`crate::sharing`] makes new shares of it.
    pub fn shared(&self) -> &Sharing<Edwards> {
        &self.0
    }

    /// How many holders sign together.
    pub fn threshold(&self) -> usize {
        self.0.threshold()
    }

    /// Who holds a share, sorted.
    pub fn holders(&self) -> &[MemberId] {
        self.0.holders()
    }

    /// The key under which the holders' signatures verify.
    ///
    /// # Errors
    /// [`SigningError::WireKey`] if it cannot be read, which no key does.
    pub fn key(&self) -> Result<GroupKey, SigningError> {
        edwards_key(&self.0.public())
    }

    /// The share-epoch (DECISIONS N3): a digest of the commitments. It stays while newcomers are
    /// given shares of the same polynomial, and changes with every redistribution.
    pub fn epoch(&self) -> Digest {
        digest(&[b"folkmoot frost share epoch v1", &[0], &self.commitments()])
    }

    /// The one encoding: version, threshold and number of holders as u16, commitments, holders' ids
    /// sorted.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        for count in [self.threshold(), self.holders().len()] {
            out.extend(u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes());
        }
        out.extend(self.commitments());
        out.extend(self.holders().iter().flat_map(|holder| holder.0));
        out
    }

    /// Reads what [`Self::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// [`SigningError::WireSharing`].
    pub fn decode(bytes: &[u8]) -> Result<Self, SigningError> {
        Self::read(bytes).ok_or(SigningError::WireSharing)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let [FORM, t0, t1, n0, n1, rest @ ..] = bytes else { return None };
        let threshold = usize::from(u16::from_be_bytes([*t0, *t1]));
        let count = usize::from(u16::from_be_bytes([*n0, *n1]));
        let (items, left) = rest.as_chunks::<32>();
        let (commitments, holders) = items.split_at_checked(threshold)?;
        if !left.is_empty() || holders.len() != count || threshold > count || count > SIGNERS_MAX {
            return None;
        }
        let commitments = commitments.iter().map(|bytes| Edwards::decode(bytes)).collect::<Option<_>>()?;
        Sharing::new(commitments, holders.iter().copied().map(MemberId).collect()).ok().map(Self)
    }

    fn commitments(&self) -> Vec<u8> {
        self.0.commitments().iter().flat_map(Edwards::encode).collect()
    }
}

impl core::fmt::Debug for FrostSharing {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let epoch = MemberId(self.epoch()).short();
        write!(out, "FrostSharing({epoch}, {} of {})", self.threshold(), self.holders().len())
    }
}

/// An element as a key that verifies Ed25519 signatures.
pub(crate) fn edwards_key(public: &<Edwards as PrimeGroup>::Element) -> Result<GroupKey, SigningError> {
    let key = Edwards::encode(public);
    let key = key.as_slice().try_into().map_err(|_| SigningError::WireKey)?;
    GroupKey::from_spki_der(&GroupKey::ed25519_spki(key))
}
