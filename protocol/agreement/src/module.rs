//! The interface between keying and every agreement module.

use crate::base::{Entropy, ModuleName, Secret};
use crate::{AgreementError, Kept};

/// What a run wants done. The order counts.
#[derive(Debug)]
pub enum Step {
    /// Multicast this to all parties of the run, in the one order.
    Send {
        /// The module's number for the step.
        step: u8,
        /// Whether it may end the run: to be sent SAFE.
        decides: bool,
        /// The step's bytes.
        body: Vec<u8>,
    },
    /// This party has the secret; the others have it, or will when they deliver what this party
    /// has delivered.
    Done(Secret<Vec<u8>>),
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The state's name, for people: "partial token", "key list".
    pub name: &'static str,
    /// The next step to be delivered may end the run.
    pub deciding: bool,
}

/// One run of one module at one party. Every party, the sender too, gives every step to `receive`
/// in the one order.
pub trait Module: Send {
    /// The name in charters and under signatures.
    fn name(&self) -> ModuleName;

    /// Begins. Call once, first.
    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step>;

    /// Takes the next step in the one order, sent by the party at place `from` in the list.
    ///
    /// # Errors
    /// A refused step leaves the run as it was.
    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError>;

    /// Places of the parties whose step all wait for now. Equal at all parties that delivered the
    /// same steps.
    fn awaited(&self) -> Vec<usize>;

    /// Where the run stands.
    fn stage(&self) -> Stage;

    /// The cost of the run for this party so far.
    fn count(&self) -> Count;

    /// After [`Step::Done`]: what a later run starts from. Before that, or for a module that keeps
    /// nothing, `None`.
    fn keep(&self) -> Option<Kept>;
}

/// The cost of a run or an operation for this party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Exponentiations (scalar multiplications of any element, the generator included).
    pub exponentiations: u64,
    /// Inversions modulo the order; the papers count an inversion as an exponentiation where it is
    /// one.
    pub inversions: u64,
}
