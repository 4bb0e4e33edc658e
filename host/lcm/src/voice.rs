//! How a bus speaks: plainly, or sealed.

use crate::BusError;
use folkmoot_base::Instant;
use folkmoot_pubsub::secured::Sealer;
use folkmoot_pubsub::{Channel, Packets, Sizes};

/// How a message is cut as others of this system do it.
pub(crate) const SIZES: Sizes = if cfg!(target_vendor = "apple") { Sizes::SMALL } else { Sizes::LARGE };

/// Gives messages their numbers.
#[derive(Debug)]
pub(crate) enum Voice {
    Plain {
        /// The number of the next one.
        next: u32,
        sizes: Sizes,
    },
    Secured(Box<Sealer>),
}

impl Voice {
    /// The datagrams of a message.
    pub(crate) fn say<'a>(
        &'a mut self,
        now: Instant,
        channel: Channel,
        payload: &'a [u8],
    ) -> Result<Packets<'a>, BusError> {
        match self {
            Self::Plain { next, sizes } => {
                let packets = Packets::new(channel, payload, *next, *sizes)?;
                *next = next.wrapping_add(1);
                Ok(packets)
            }
            Self::Secured(sealer) => Ok(sealer.seal(now, channel, payload)?),
        }
    }

    /// The datagrams that attest what was said on a channel, if as many messages as `most` wait for
    /// that.
    pub(crate) fn attest(
        &mut self,
        now: Instant,
        channel: Channel,
        most: usize,
    ) -> Result<Option<Packets<'_>>, BusError> {
        match self {
            Self::Secured(sealer) if sealer.unattested(&channel) >= most => Ok(sealer.attest(now, channel)?),
            _ => Ok(None),
        }
    }
}
