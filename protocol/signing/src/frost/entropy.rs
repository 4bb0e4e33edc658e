//! Our entropy for a library that asks for it through `rand_core` 0.6 (DECISIONS P1: same seed,
//! same bytes).

use crate::base::{Entropy, draw};
use frost_ed25519::rand_core::{CryptoRng, Error, RngCore};

/// Entropy, asked for in the library's way.
pub(super) struct Asked<'a>(pub(super) &'a mut dyn Entropy);

impl RngCore for Asked<'_> {
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(draw(self.0))
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(draw(self.0))
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Error> {
        self.0.fill(out);
        Ok(())
    }
}

impl CryptoRng for Asked<'_> {}
