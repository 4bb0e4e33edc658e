//! How a bus speaks: plainly, or sealed.

use crate::BusError;
use folkmoot_base::Instant;
use folkmoot_pubsub::secured::Sealer;
use folkmoot_pubsub::{Channel, Packets, Sizes};
use folkmoot_system::Generation;

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
    /// Its keys and numbers are used here alone as long as the machine is of this generation.
    Secured(Box<Sealer>, Generation),
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
            Self::Secured(_, generation) if generation.has_changed() => Err(BusError::LocalResumed),
            Self::Secured(sealer, _) => Ok(sealer.seal(now, channel, payload)?),
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
            Self::Secured(sealer, generation) if sealer.unattested(&channel) >= most => {
                if generation.has_changed() {
                    Err(BusError::LocalResumed)
                } else {
                    Ok(sealer.attest(now, channel)?)
                }
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_pubsub::secured::{Domain, Mode, SealError, SenderId, Times};

    #[test]
    fn a_program_on_a_machine_that_was_resumed_seals_nothing() {
        let path = std::env::temp_dir().join(format!("folkmoot-lcm-resumed-{}", std::process::id()));
        let write = |disruptions: u8| {
            let mut file = vec![0; 4096];
            file[..4].copy_from_slice(b"VCLK");
            file[16] = disruptions;
            std::fs::write(&path, file).unwrap();
        };
        write(1);
        let domain =
            Domain::group("udpm://239.255.76.67:7667".parse::<crate::Address>().unwrap().group.into());
        let (me, times) = (SenderId::new(1).unwrap(), Times::default());
        let sealer = Sealer::new(Mode::Own, domain.unwrap(), me, SIZES, times);
        let mut voice = Voice::Secured(Box::new(sealer), Generation::of(&path));
        let channel = Channel::new("POSE").unwrap();
        let mut say = || voice.say(Instant(0), channel, b"here").map(|_| ()).unwrap_err();
        assert!(matches!(say(), BusError::LocalSeal(SealError::LocalNoKey(_))), "it would seal");
        write(2);
        assert!(matches!(say(), BusError::LocalResumed));
        std::fs::remove_file(&path).unwrap();
    }
}
