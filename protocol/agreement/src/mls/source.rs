//! The randomness that the library draws: a stream made from one draw of our entropy. It exists
//! only during a call.
//!
//! ```text
//! Entropy ─ 32 bytes ─> seed ─ HMAC-SHA-256(seed, label ‖ 0, 1, 2, …) ─> key pairs, path secrets, encapsulations
//! ```
//! The library asks its provider for randomness deep inside a call, and passes nothing down to it.
//! So the stream is in a cell that the provider shares. Outside a call that was given entropy the
//! cell is empty, and drawing from it is an error. This shows that what must not draw, such as
//! judging a step, does not.

#![expect(
    clippy::disallowed_types,
    reason = "the library wants its provider Sync; a run has one owner, so nobody ever waits for this lock"
)]

use crate::base::{Entropy, Secret, draw, hmac_sha256};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroize;

const LABEL: &[u8] = b"folkmoot mls draw v1";

/// The cell. Clones share it: a run, its groups, what it keeps, and the runs from that. If two of
/// them called at once, one could find the cell empty and fail; no byte would be given out twice.
#[derive(Clone, Default)]
pub(super) struct Source(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    stream: Option<Stream>,
    powers: u64,
}

struct Stream {
    seed: Secret<[u8; 32]>,
    block: u64,
}

/// Nobody gave entropy for this call.
#[derive(Debug)]
pub(super) struct Dry;

impl Source {
    /// Makes one call that may draw, if `entropy` is given. Returns what it gave and the scalar
    /// multiplications it cost.
    pub(super) fn during<T>(&self, entropy: Option<&mut dyn Entropy>, call: impl FnOnce() -> T) -> (T, u64) {
        *self.hold() = Inner { stream: entropy.map(Stream::new), powers: 0 };
        let given = call();
        let spent = core::mem::take(&mut *self.hold());
        (given, spent.powers)
    }

    /// The next bytes of the stream.
    pub(super) fn fill(&self, out: &mut [u8]) -> Result<(), Dry> {
        let mut inner = self.hold();
        inner.stream.as_mut().ok_or(Dry)?.fill(out);
        Ok(())
    }

    /// Counts scalar multiplications.
    pub(super) fn spend(&self, powers: u64) {
        let mut inner = self.hold();
        inner.powers = inner.powers.saturating_add(powers);
    }

    /// The cell is consistent at every moment: a thread that panicked while holding it left nothing
    /// half-done.
    fn hold(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    fn new(entropy: &mut dyn Entropy) -> Self {
        Self { seed: Secret::new(draw(entropy)), block: 0 }
    }

    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            let mut block = hmac_sha256(self.seed.expose(), &[LABEL, &self.block.to_be_bytes()]);
            self.block = self.block.wrapping_add(1);
            for (to, from) in chunk.iter_mut().zip(&block) {
                *to = *from;
            }
            block.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ones;

    impl Entropy for Ones {
        fn fill(&mut self, out: &mut [u8]) {
            out.fill(1);
        }
    }

    #[test]
    fn it_is_dry_but_while_a_call_has_entropy() {
        let source = Source::default();
        let mut out = [0; 40];
        assert!(source.fill(&mut out).is_err(), "before");
        let (told, _) = source.during(None, || source.fill(&mut [0; 1]).is_err());
        assert!(told, "in a call without");
        let ((), powers) = source.during(Some(&mut Ones), || {
            source.fill(&mut out).unwrap();
            source.spend(3);
        });
        assert_eq!(powers, 3);
        assert_ne!(out[..8], out[32..], "blocks differ");
        assert!(source.fill(&mut out).is_err(), "after");
    }
}
