//! Entropy for tests that says the same for ever.

use crate::base::Entropy;

pub(crate) struct Stuck(pub(crate) u8);

impl Entropy for Stuck {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(self.0);
    }
}
