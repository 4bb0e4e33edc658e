//! A holder's share: a number, whose it is, and of which share-epoch.

use super::FrostSharing;
use crate::base::{Digest, MemberId, Secret};
use crate::{Edwards, PrimeGroup, SigningError};
use zeroize::Zeroize;

/// Bytes of an encoded [`FrostShare`].
pub const SHARE_BYTES: usize = 97;
/// The version of the encoding; its first byte.
const FORM: u8 = 1;

/// A holder's share of a key. Erased when dropped; its `Debug` shows whose it is and nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct FrostShare {
    holder: MemberId,
    epoch: Digest,
    scalar: Secret<[u8; 32]>,
}

impl FrostShare {
    /// `holder`'s share of `sharing`: `scalar` is a number modulo the group's order, little endian.
    ///
    /// # Errors
    /// [`SigningError::LocalShare`] if it is not what the sharing's commitments say of that holder, or that is none.
    pub fn new(
        sharing: &FrostSharing,
        holder: MemberId,
        scalar: Secret<[u8; 32]>,
    ) -> Result<Self, SigningError> {
        let share = Self { holder, epoch: sharing.epoch(), scalar };
        share.check(sharing)?;
        Ok(share)
    }

    /// Whose it is.
    pub fn holder(&self) -> MemberId {
        self.holder
    }

    /// The share-epoch that it belongs to ([`FrostSharing::epoch`]).
    pub fn epoch(&self) -> Digest {
        self.epoch
    }

    /// The number, little endian.
    pub fn scalar(&self) -> &Secret<[u8; 32]> {
        &self.scalar
    }

    /// Whether this is the share that `sharing` says its holder has.
    ///
    /// # Errors
    /// [`SigningError::LocalShare`].
    pub fn check(&self, sharing: &FrostSharing) -> Result<(), SigningError> {
        let known = self.epoch == sharing.epoch() && sharing.holds(&self.holder);
        let scalar = Edwards::decode_scalar(self.scalar.expose()).ok_or(SigningError::LocalShare)?;
        let image = Edwards::raise_generator(&scalar);
        if known && image == sharing.image(&self.holder) { Ok(()) } else { Err(SigningError::LocalShare) }
    }

    /// The one encoding, for a sealed store: version, holder, share-epoch, number.
    pub fn encode(&self) -> Secret<Vec<u8>> {
        let mut out = Vec::with_capacity(SHARE_BYTES);
        out.push(FORM);
        for part in [&self.holder.0, &self.epoch, self.scalar.expose()] {
            out.extend_from_slice(part);
        }
        Secret::new(out)
    }

    /// Reads what [`Self::encode`] writes. That it fits a sharing is for [`Self::check`] to say.
    ///
    /// # Errors
    /// [`SigningError::WireShare`].
    pub fn decode(bytes: &[u8]) -> Result<Self, SigningError> {
        let (&form, rest) = bytes.split_first().ok_or(SigningError::WireShare)?;
        let (words, left) = rest.as_chunks::<32>();
        let ([holder, epoch, scalar], FORM, true) = (words, form, left.is_empty()) else {
            return Err(SigningError::WireShare);
        };
        Edwards::decode_scalar(scalar).ok_or(SigningError::WireShare)?.zeroize();
        Ok(Self { holder: MemberId(*holder), epoch: *epoch, scalar: Secret::new(*scalar) })
    }
}

impl core::fmt::Debug for FrostShare {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "FrostShare({}, ..)", self.holder)
    }
}

/// What a holder has: the sharing that all know, and its own share of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What all know.
    pub sharing: FrostSharing,
    /// What only this holder knows.
    pub share: FrostShare,
}

impl Held {
    /// `holder`'s share of `sharing` from the bytes of a number.
    pub(super) fn new(
        sharing: FrostSharing,
        holder: MemberId,
        mut number: Vec<u8>,
    ) -> Result<Self, SigningError> {
        let scalar = number.as_slice().try_into().map(Secret::new).map_err(|_| SigningError::LocalShare);
        number.zeroize();
        let share = FrostShare::new(&sharing, holder, scalar?)?;
        Ok(Self { sharing, share })
    }
}
