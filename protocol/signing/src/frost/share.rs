//! A holder's share: a number, whose it is, and of which share-epoch.

use super::FrostSharing;
use crate::base::{Digest, Entropy, MemberId, Secret};
use crate::sharing::{self, Share, Sharing, SharingError};
use crate::{Edwards, PrimeGroup, SigningError};
use std::collections::BTreeMap;
use zeroize::Zeroize as _;

/// Bytes of an encoded [`FrostShare`].
const SHARE_BYTES: usize = 97;
/// The version of the encoding; its first byte.
const FORM: u8 = 1;

/// A holder's share of a key. Erased when dropped; its `Debug` shows whose it is and nothing else.
#[derive(Debug, Clone)]
pub struct FrostShare(Share<Edwards>);

impl FrostShare {
    /// A share that [`crate::sharing`] made, as one of `sharing`.
    pub fn new(share: &Share<Edwards>, sharing: &FrostSharing) -> Self {
        Self(Share::new(share.holder(), sharing.epoch(), *share.value()))
    }

    /// The share in the form from which [`crate::sharing`] makes new ones. `of` is the sharing that
    /// it belongs to.
    pub fn shared(&self, of: &Sharing<Edwards>) -> Share<Edwards> {
        Share::new(self.holder(), of.epoch(), *self.0.value())
    }

    /// Whose it is.
    pub fn holder(&self) -> MemberId {
        self.0.holder()
    }

    /// The share-epoch that it belongs to ([`FrostSharing::epoch`]).
    pub fn epoch(&self) -> Digest {
        self.0.epoch()
    }

    pub(super) fn value(&self) -> &<Edwards as PrimeGroup>::Scalar {
        self.0.value()
    }

    /// Whether this is the share that `sharing` says its holder has.
    ///
    /// # Errors
    /// [`SigningError::LocalShare`].
    pub fn check(&self, sharing: &FrostSharing) -> Result<(), SigningError> {
        let known = self.epoch() == sharing.epoch() && sharing.holders().contains(&self.holder());
        let fits =
            known && Edwards::raise_generator(self.value()) == sharing.shared().public_share(&self.holder());
        if fits { Ok(()) } else { Err(SigningError::LocalShare) }
    }

    /// The one encoding, for a sealed store: version, holder, share-epoch, number.
    pub fn encode(&self) -> Secret<Vec<u8>> {
        let mut number = Edwards::encode_scalar(self.value());
        let mut out = Vec::with_capacity(SHARE_BYTES);
        out.push(FORM);
        for part in [&self.holder().0, &self.epoch(), number.as_slice()] {
            out.extend_from_slice(part);
        }
        number.zeroize();
        Secret::new(out)
    }

    /// Reads what [`Self::encode`] writes. [`Self::check`] says whether it fits a sharing.
    ///
    /// # Errors
    /// [`SigningError::WireShare`].
    pub fn decode(bytes: &[u8]) -> Result<Self, SigningError> {
        Self::read(bytes).ok_or(SigningError::WireShare)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (FORM, rest) = bytes.split_first().map(|(form, rest)| (*form, rest))? else { return None };
        let ([holder, epoch, number], []) = rest.as_chunks::<32>() else { return None };
        let mut value = Edwards::decode_scalar(number)?;
        let share = Share::new(MemberId(*holder), *epoch, value);
        value.zeroize();
        Some(Self(share))
    }
}

/// [`crate::sharing::deal`], in the forms of FROST.
///
/// # Errors
/// As there.
pub fn deal(
    secret: &<Edwards as PrimeGroup>::Scalar,
    holders: &[MemberId],
    threshold: usize,
    entropy: &mut dyn Entropy,
) -> Result<(FrostSharing, BTreeMap<MemberId, FrostShare>), SharingError> {
    let (sharing, shares) = sharing::deal::<Edwards>(secret, holders, threshold, entropy)?;
    let sharing = FrostSharing::from(sharing);
    let shares = shares.iter().map(|(holder, share)| (*holder, FrostShare::new(share, &sharing)));
    let shares = shares.collect();
    Ok((sharing, shares))
}
