//! Randomness from the operating system.

use folkmoot_base::Entropy;

/// Draws from the operating system, a block at a time for small requests.
#[derive(Debug, Default)]
pub struct OsEntropy;

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
        // Without randomness there is nothing safe to go on with. A system that answered once does
        // not stop answering.
        if getrandom::fill(out).is_err() {
            std::process::abort();
        }
    }
}
