//! One seat's share of the key.
//!
//! ```text
//! version 1 | epoch 32 | seat u16 | s_i, bits / 8 bytes      big endian, for a sealed store and a sealed letter only
//! ```

use super::error::ShoupError;
use super::sharing::ShoupSharing;
use crate::base::{Digest, Secret, codec};
use crate::modular::{encode, pow};
use crate::rsa::Reader;
use crypto_bigint::BoxedUint;
use zeroize::Zeroize as _;

/// A share. Erased when dropped; its `Debug` shows its seat and nothing else.
#[derive(Clone)]
pub struct ShoupShare {
    pub(super) epoch: Digest,
    pub(super) seat: u16,
    pub(super) secret: Secret<BoxedUint>,
}

impl ShoupShare {
    /// Which deal it is of: [`ShoupSharing::epoch`].
    pub fn epoch(&self) -> Digest {
        self.epoch
    }

    /// Whose it is: the number of a seat, from 1.
    pub fn seat(&self) -> u16 {
        self.seat
    }

    /// The one encoding, as long as every share of the sharing.
    pub fn encode(&self, sharing: &ShoupSharing) -> Secret<Vec<u8>> {
        let mut out = vec![codec::WIRE_VERSION];
        out.extend_from_slice(&self.epoch);
        out.extend_from_slice(&self.seat.to_be_bytes());
        let mut number = encode(self.secret.expose(), sharing.key.modulus().bytes());
        out.reserve_exact(number.len());
        out.extend_from_slice(&number);
        number.zeroize();
        Secret::new(out)
    }

    /// Reads what [`Self::encode`] writes, and checks the share against the value published for its
    /// seat: v^(s_i) = v_i. So no dealer and no sponsor can hand out a false one.
    ///
    /// # Errors
    /// [`ShoupError::WireShare`]: other bytes, or a share of another deal (SHO-04);
    /// [`ShoupError::PeerShare`]: a false one (SHO-05).
    pub fn decode(bytes: &[u8], sharing: &ShoupSharing) -> Result<Self, ShoupError> {
        let share = Self::read(bytes, sharing).ok_or(ShoupError::WireShare)?;
        if share.epoch != sharing.epoch() {
            return Err(ShoupError::WireShare);
        }
        share.check(sharing)?;
        Ok(share)
    }

    /// A share in its form, of any deal and not checked.
    pub(crate) fn read(bytes: &[u8], sharing: &ShoupSharing) -> Option<Self> {
        let modulus = sharing.key.modulus();
        let mut reader = Reader::behind_version(bytes)?;
        let (epoch, seat) = (reader.array()?, reader.u16()?);
        let secret = Secret::new(modulus.decode_number(reader.take(modulus.bytes())?)?);
        reader.end()?;
        Some(Self { epoch, seat, secret })
    }

    pub(crate) fn check(&self, sharing: &ShoupSharing) -> Result<(), ShoupError> {
        let modulus = sharing.key.modulus();
        let place = usize::from(self.seat).checked_sub(1).ok_or(ShoupError::PeerShare)?;
        let image = sharing.images.get(place).ok_or(ShoupError::PeerShare)?;
        let fits = pow(&modulus.residue(&sharing.base), self.secret.expose()).retrieve() == *image;
        fits.then_some(()).ok_or(ShoupError::PeerShare)
    }
}

impl core::fmt::Debug for ShoupShare {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "ShoupShare(seat {}, ..)", self.seat)
    }
}
