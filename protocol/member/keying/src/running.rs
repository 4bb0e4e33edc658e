//! Agreeing and Confirming: an attempt to make the view secure (PT, FT, FO, KL of GDH, then KC).
//!
//! ```text
//! view ─> Agreeing ─ module done ─> Confirming ─ all confirmed, no signal ─> Secure (a held flush goes to the application)
//!             └────────────┴── flush request: held (rule H), or answered if the signal came ─> Cascading
//! ```
//! Rule H is one rule in all these states. Without a transitional signal, no party of the view is
//! gone, every party holds the flush, and the run completes. With it, all parties that move on
//! together saw the same messages before it, so all of them completed or none did. Messages after
//! the signal do not count, and the flush is answered. The machine waits for the parties in
//! [`Attempt::awaited`]. Each step has a deadline, and after it comes a complaint. There is no
//! complaint after the signal, because a view without the missing parties is on its way.
//! Source: Amir et al., "Robust contributory key agreement in secure spread", ICDCS 2001, the basic
//! algorithm; rule H and KC are ours (docs/protocol/keying.md, "Departures").

use crate::api::{Credentials, Output};
use crate::attempt::{Attempt, Heard, Roll, Took};
use crate::base::{Danger, Entropy, Instant};
use crate::core::Core;
use crate::deadline::Deadline;
use crate::error::KeyingError;
use crate::secure::Secure;
use crate::{Machine, cascading::Cascading, keyless};

/// An attempt under way. The attempt itself knows which of the two states it is in.
pub(crate) struct Running {
    roll: Roll,
    pub(crate) attempt: Attempt,
    /// A flush request waits for the run to end.
    flush_held: bool,
    /// The transitional signal has come: no message counts any more.
    signalled: bool,
    pub(crate) deadline: Deadline,
}

impl Running {
    /// Begins for a new view. A view with one party is secure at once.
    pub(crate) fn begin(
        core: &mut Core,
        now: Instant,
        roll: Roll,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<Machine, KeyingError> {
        let begun = Attempt::begin(core, &roll, 0, credentials, entropy);
        let (attempt, took) = begun.inspect_err(|error| core.disbelieves(&roll.view, error))?;
        let deadline = Deadline::new(now, core.config.step_deadline);
        let running = Self { roll, attempt, flush_held: false, signalled: false, deadline };
        Ok(running.after(core, took, credentials))
    }

    pub(crate) fn flush_request(mut self, core: &mut Core) -> Machine {
        let broken =
            if self.attempt.is_deciding() { Danger::KeyingFlushInKeyList } else { Danger::KeyingNoRuleH };
        let at_once = core.config.danger.is(broken);
        if self.signalled || at_once {
            return Cascading::answer(core, None);
        }
        self.flush_held = true;
        core.trace("flush asked in the middle of an agreement: held until it ends or somebody goes");
        Machine::Running(self)
    }

    pub(crate) fn signal(mut self, core: &mut Core) -> Machine {
        core.signal();
        if self.flush_held {
            core.trace("the view breaks up: agreement given up");
            return Cascading::answer(core, None);
        }
        self.signalled = true;
        Machine::Running(self)
    }

    pub(crate) fn message(
        mut self,
        core: &mut Core,
        now: Instant,
        heard: Heard<'_>,
        (credentials, entropy): (&dyn Credentials, &mut dyn Entropy),
    ) -> (Machine, Result<(), KeyingError>) {
        if self.signalled {
            return (Machine::Running(self), Ok(()));
        }
        if heard.envelope.attempt != self.attempt.number {
            return (Machine::Running(self), Err(KeyingError::WireStale));
        }
        match self.attempt.take(core, heard, credentials, entropy) {
            Ok(took) => {
                self.deadline = Deadline::new(now, core.config.step_deadline);
                (self.after(core, took, credentials), Ok(()))
            }
            Err(error) => (Machine::Running(self), Err(error)),
        }
    }

    fn after(mut self, core: &mut Core, took: Took, credentials: &dyn Credentials) -> Machine {
        match took {
            Took::Step => Machine::Running(self),
            Took::Key => {
                self.attempt.send_confirmation(core);
                if core.config.danger.is(Danger::KeyingNoConfirm) {
                    return self.install(core);
                }
                Machine::Running(self)
            }
            Took::Complete => self.complete(core, credentials),
        }
    }

    /// KEY-12: if the roster no longer has the members of all parties of a view, the view is not
    /// installed. Either all parties that go together see the entry at one place before the last
    /// confirmation, or all see it later.
    fn complete(self, core: &mut Core, credentials: &dyn Credentials) -> Machine {
        let off = self.roll.out_since(credentials);
        if off.is_empty() || core.config.danger.is(Danger::KeyingKeepsExpelled) {
            return self.install(core);
        }
        core.trace(keyless(&off));
        if self.flush_held { Cascading::answer(core, None) } else { Machine::Cascading(Cascading::keyless()) }
    }

    fn install(self, core: &mut Core) -> Machine {
        if let Some(epoch) = self.attempt.epoch() {
            core.install(&self.roll.view, epoch);
            core.keep_run(epoch.name.0, self.attempt.keep());
        }
        Machine::Secure(Secure::new(core, self.roll, self.flush_held))
    }

    pub(crate) fn timeout(mut self, core: &mut Core, now: Instant) -> Machine {
        if !self.signalled && now >= self.deadline.at {
            complain(core, &self.attempt);
            self.deadline.again(now, core.config.step_deadline);
        }
        Machine::Running(self)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        (!self.signalled).then_some(self.deadline.at)
    }
}

/// Complains about the parties whose step all wait for, but never about this one.
pub(crate) fn complain(core: &mut Core, attempt: &Attempt) {
    let me = core.me;
    let suspects: Vec<_> = attempt.awaited().into_iter().filter(|member| *member != me).collect();
    if !suspects.is_empty() {
        core.trace(format!("{} silent in {}", suspects.len(), attempt.stage()));
        core.distrust();
        core.emit(Output::Complain { view: attempt.view, suspects });
    }
}
