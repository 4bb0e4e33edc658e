//! Cascading: the machine waits for the next view (CM). Either it has answered the flush, or there
//! was no view yet, or the installed view gets no key because the member of one of its parties is
//! not on the roster. In the last case flush will ask, and is answered at once.
//!
//! The machine sends nothing here. It ignores messages of the cancelled run, and hears those of a
//! refresh of the secure view that it left.

use crate::Machine;
use crate::api::Credentials;
use crate::attempt::Heard;
use crate::base::{Entropy, Instant};
use crate::core::Core;
use crate::error::KeyingError;
use crate::secure::Secure;

/// Between views.
pub(crate) struct Cascading {
    /// The secure view whose flush was answered.
    behind: Option<Secure>,
    /// The installed view gets no key: its flush is still to be answered.
    owes_flush: bool,
}

impl Cascading {
    /// A machine before its first view.
    pub(crate) fn start() -> Self {
        Self { behind: None, owes_flush: false }
    }

    /// A view is installed, and gets no key: another change is certain to come, whichever parties
    /// go next.
    pub(crate) fn keyless() -> Self {
        Self { behind: None, owes_flush: true }
    }

    /// Answers the flush.
    pub(crate) fn answer(core: &mut Core, behind: Option<Secure>) -> Machine {
        core.flush_ok();
        Machine::Cascading(Self { behind, owes_flush: false })
    }

    /// KEY-12: a view without a key has nothing to finish.
    pub(crate) fn flush_request(&mut self, core: &mut Core) -> Result<(), KeyingError> {
        if !core::mem::take(&mut self.owes_flush) {
            return Err(KeyingError::LocalOutOfTurn("flush request"));
        }
        core.flush_ok();
        Ok(())
    }

    pub(crate) fn signal(&mut self, core: &mut Core) {
        match &mut self.behind {
            Some(secure) => secure.signal(core),
            None => core.signal(),
        }
    }

    pub(crate) fn message(
        &mut self,
        core: &mut Core,
        now: Instant,
        heard: Heard<'_>,
        means: (&dyn Credentials, &mut dyn Entropy),
    ) -> Result<(), KeyingError> {
        match &mut self.behind {
            Some(secure) => secure.message(core, now, heard, true, means),
            None => Ok(()),
        }
    }
}
