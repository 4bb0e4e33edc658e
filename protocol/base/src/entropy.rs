//! Randomness comes in as an argument, so that the same seed gives the same run (DECISIONS P1).

/// A source of uniformly random bytes: the operating system in the runtime, a seeded generator in
/// the simulator.
pub trait Entropy {
    /// Fills `out` with fresh random bytes. Cannot fail: a runtime without entropy must stop before
    /// it calls this.
    fn fill(&mut self, out: &mut [u8]);
}

impl<E: Entropy + ?Sized> Entropy for &mut E {
    fn fill(&mut self, out: &mut [u8]) {
        (**self).fill(out);
    }
}

/// Draws `N` random bytes.
pub fn draw<const N: usize>(entropy: &mut dyn Entropy) -> [u8; N] {
    let mut out = [0; N];
    entropy.fill(&mut out);
    out
}
