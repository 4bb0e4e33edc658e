//! Cascading: flush is answered, the next view is awaited (CM). Also where every machine starts.
//!
//! Sends nothing. Messages of the cancelled run are ignored; those of a refresh of the secure view left behind are heard.

use crate::Machine;
use crate::api::{Credentials, Output};
use crate::attempt::Heard;
use crate::base::{Entropy, Instant};
use crate::core::Core;
use crate::error::KeyingError;
use crate::secure::Secure;

/// Between views.
pub(crate) struct Cascading {
    /// The secure view whose flush was answered.
    behind: Option<Secure>,
}

impl Cascading {
    /// A machine before its first view.
    pub(crate) fn start() -> Self {
        Self { behind: None }
    }

    /// Answers the flush.
    pub(crate) fn answer(core: &mut Core, behind: Option<Secure>) -> Machine {
        core.emit(Output::FlushOk);
        Machine::Cascading(Self { behind })
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
