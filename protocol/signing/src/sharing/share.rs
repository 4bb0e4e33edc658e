//! One holder's secret.

use super::message::{Kind, Reader, Writer};
use super::{Sharing, SharingError};
use crate::PrimeGroup;
use crate::base::{Digest, MemberId, Secret};
use zeroize::Zeroize as _;

/// A holder's value of the polynomial of one epoch. Erased when dropped, never printed. A holder
/// erases its share of the last epoch, in memory and in its store, as soon as it has one of the
/// next. Anyone who keeps the shares of `threshold` holders of one epoch has the key.
#[derive(Clone)]
pub struct Share<G: PrimeGroup> {
    holder: MemberId,
    epoch: Digest,
    value: Secret<G::Scalar>,
}

impl<G: PrimeGroup> Share<G> {
    pub(crate) fn new(holder: MemberId, epoch: Digest, value: G::Scalar) -> Self {
        Self { holder, epoch, value: Secret::new(value) }
    }

    /// Whose it is.
    pub fn holder(&self) -> MemberId {
        self.holder
    }

    /// The epoch of the sharing that it belongs to.
    pub fn epoch(&self) -> Digest {
        self.epoch
    }

    pub(crate) fn value(&self) -> &G::Scalar {
        self.value.expose()
    }

    /// Whether this is its holder's share in `sharing`: the holder is named there, the epoch is the
    /// sharing's, and the value is what the commitments say.
    ///
    /// # Errors
    /// [`SharingError::LocalEpoch`].
    pub fn fits(&self, sharing: &Sharing<G>) -> Result<(), SharingError> {
        let named = sharing.holders().binary_search(&self.holder).is_ok() && self.epoch == sharing.epoch();
        if named && G::raise_generator(self.value()) == sharing.public_share(&self.holder) {
            return Ok(());
        }
        Err(SharingError::LocalEpoch)
    }

    /// For a sealed store: `01 11`, group name, epoch, holder, number.
    pub fn encode(&self) -> Secret<Vec<u8>> {
        let room = G::NAME.len().saturating_add(G::SCALAR_BYTES).saturating_add(66);
        let writer = Writer::new(Kind::Share, room).group::<G>().bytes(&self.epoch).bytes(&self.holder.0);
        Secret::new(writer.scalar::<G>(self.value()).end())
    }

    /// Reads what [`Self::encode`] writes. [`Self::fits`] says whether it still belongs to a
    /// sharing.
    ///
    /// # Errors
    /// [`SharingError::LocalShare`] for everything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, SharingError> {
        Self::read(bytes).ok_or(SharingError::LocalShare)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes, Kind::Share)?;
        reader.group::<G>()?;
        let (epoch, holder) = (reader.digest()?, MemberId(reader.digest()?));
        let mut value = reader.scalar::<G>()?;
        reader.end()?;
        let share = Self::new(holder, epoch, value);
        value.zeroize();
        Some(share)
    }
}

impl<G: PrimeGroup> core::fmt::Debug for Share<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Share({}, ..)", self.holder)
    }
}

/// What a participant has after a run of sharing.
#[derive(Debug, Clone)]
pub struct Holding<G: PrimeGroup> {
    /// The same for all participants.
    pub sharing: Sharing<G>,
    /// This participant's share, if it got a new one.
    pub share: Option<Share<G>>,
}
