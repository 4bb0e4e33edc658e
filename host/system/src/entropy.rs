//! Randomness from the operating system.

use folkmoot_base::{Entropy, Secret};
use sha2::{Digest as _, Sha512};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Draws from the operating system each time, and keeps nothing: a process that goes on twice from
/// one snapshot has no stream here that it would repeat. The time stands behind each draw, because
/// the system itself can repeat, where it is not told that the machine was resumed.
#[derive(Debug, Default)]
pub struct OsEntropy;

const _: () = assert!(size_of::<OsEntropy>() == 0);

impl OsEntropy {
    /// Proves that the system gives random bytes, so that later draws need not fail.
    ///
    /// # Errors
    /// What the system said.
    pub fn new() -> Result<Self, String> {
        let mut probe = [0_u8; 1];
        getrandom::fill(&mut probe).map_err(|error| error.to_string())?;
        Ok(Self)
    }
}

impl Entropy for OsEntropy {
    fn fill(&mut self, out: &mut [u8]) {
        for part in out.chunks_mut(64) {
            let mut fresh = [0; 64];
            // Without randomness there is nothing safe to go on with. A system that answered once
            // does not stop answering.
            if getrandom::fill(&mut fresh).is_err() {
                std::process::abort();
            }
            let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let drawn = at_a_time(&Secret::new(fresh), time);
            part.iter_mut().zip(drawn.expose()).for_each(|(to, from)| *to = *from);
        }
    }
}

/// What the system gave, as it is drawn at this time: as hard to guess, and another at any other.
fn at_a_time(fresh: &Secret<[u8; 64]>, time: Duration) -> Secret<[u8; 64]> {
    let hash = Sha512::new_with_prefix(b"folkmoot entropy v1\0");
    Secret::new(
        hash.chain_update(fresh.expose()).chain_update(time.as_nanos().to_be_bytes()).finalize().into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_base::draw;

    #[test]
    fn what_the_system_repeats_is_drawn_anew() {
        let fresh = Secret::new([7; 64]);
        let drawn = [0, 1].map(|nanoseconds| at_a_time(&fresh, Duration::from_nanos(nanoseconds)));
        assert!(drawn[0] != drawn[1]);
    }

    #[test]
    fn no_two_draws_are_alike_and_every_byte_is_drawn() {
        let mut drawn = [[0; 200]; 64].map(|_| draw::<200>(&mut OsEntropy));
        assert!((0..200).all(|at| drawn.iter().any(|one| one[at] != drawn[0][at])));
        drawn.sort_unstable();
        assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
