//! Secure: the view and its key stand (S). A refresh is a second attempt beside them, in the same
//! view.
//!
//! ```text
//! Secure ─ flush request ─> asks the application ─ secure flush ok ─> Cascading (which goes on hearing a refresh)
//!    └─ REFRESH ordered ─> attempt n+1 ─ all confirmed, no signal ─> Refreshed ─> Secure
//! ```
//! A refresh never holds a flush. A party that has answered sends nothing more, but goes on
//! receiving. So all parties that move on together open the new epoch at the same place in the
//! order, or none does. A refresh that is not complete when the view ends is dropped: the next view
//! brings a key of its own.

use crate::Machine;
use crate::api::{Credentials, Output};
use crate::attempt::{Attempt, Heard, Roll, Took, check_refresh, refresh};
use crate::base::{Danger, Entropy, Instant, Party, Service};
use crate::cascading::Cascading;
use crate::core::Core;
use crate::deadline::Deadline;
use crate::error::KeyingError;
use crate::keyless;
use crate::message::REFRESH;
use crate::running::complain;

/// A secure view.
pub(crate) struct Secure {
    roll: Roll,
    /// The attempt whose key is in use.
    number: u32,
    /// The application was asked to finish.
    asked: bool,
    signalled: bool,
    /// This party asked for a refresh that is not ordered yet.
    requested: bool,
    pub(crate) refresh: Option<(Attempt, Deadline)>,
}

impl Secure {
    /// Entered from Running. If a flush was held, the application is asked now.
    pub(crate) fn new(core: &mut Core, roll: Roll, flush_held: bool) -> Self {
        if flush_held {
            core.emit(Output::SecureFlushRequest);
        }
        Self { roll, number: 0, asked: flush_held, signalled: false, requested: false, refresh: None }
    }

    pub(crate) fn flush_request(mut self, core: &mut Core) -> Machine {
        if !self.asked {
            self.asked = true;
            core.emit(Output::SecureFlushRequest);
        }
        Machine::Secure(self)
    }

    pub(crate) fn flush_ok(self, core: &mut Core) -> (Machine, Result<(), KeyingError>) {
        if self.asked {
            (Cascading::answer(core, Some(self)), Ok(()))
        } else {
            (Machine::Secure(self), Err(KeyingError::LocalOutOfTurn("secure flush ok")))
        }
    }

    /// The signal ends a refresh: messages after it do not count.
    pub(crate) fn signal(&mut self, core: &mut Core) {
        core.signal();
        self.signalled = true;
        self.refresh = None;
    }

    /// The application wants a new key. There is nothing to do if one is coming anyway.
    pub(crate) fn ask(
        &mut self,
        core: &mut Core,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<(), KeyingError> {
        if self.asked || self.signalled || self.requested || self.refresh.is_some() {
            core.trace("a new key is coming already");
            return Ok(());
        }
        let bytes = refresh(core, &self.roll, self.number.saturating_add(1), credentials, entropy)?;
        self.requested = true;
        core.emit(Output::Send { service: Service::Agreed, bytes });
        Ok(())
    }

    /// Takes one message. `muted`: this party has answered the flush; it receives and does not
    /// send.
    pub(crate) fn message(
        &mut self,
        core: &mut Core,
        now: Instant,
        heard: Heard<'_>,
        muted: bool,
        (credentials, entropy): (&dyn Credentials, &mut dyn Entropy),
    ) -> Result<(), KeyingError> {
        if self.signalled {
            return Ok(());
        }
        let envelope = heard.envelope;
        if envelope.step == REFRESH {
            return self.begin(core, now, heard, muted, (credentials, entropy));
        }
        let Some((attempt, deadline)) = &mut self.refresh else {
            return if muted { Ok(()) } else { Err(KeyingError::WireStale) };
        };
        if envelope.attempt != attempt.number {
            return Err(KeyingError::WireStale);
        }
        let before = core.outputs.len();
        let took = attempt.take(core, heard, credentials, entropy)?;
        *deadline = Deadline::new(now, core.config.step_deadline);
        if took == Took::Key {
            attempt.send_confirmation(core);
        }
        if muted && silence(core, before) {
            self.refresh = None;
            return Ok(());
        }
        if took == Took::Complete {
            self.complete(core, muted, credentials);
        }
        Ok(())
    }

    fn begin(
        &mut self,
        core: &mut Core,
        now: Instant,
        Heard { sender, envelope, .. }: Heard<'_>,
        muted: bool,
        (credentials, entropy): (&dyn Credentials, &mut dyn Entropy),
    ) -> Result<(), KeyingError> {
        if Some(envelope.attempt) != self.number.checked_add(1) {
            return Err(KeyingError::WireStale);
        }
        if self.refresh.is_some() {
            // Two parties asked at once: the first in the order counts.
            return Ok(());
        }
        check_refresh(&self.roll, sender, envelope, credentials)?;
        // KEY-12: no refresh in a view of which the roster has lost somebody; the next view brings
        // a key of its own.
        if muted || !self.roll.out_since(credentials).is_empty() {
            return Ok(());
        }
        let roll = self.roll.renewed(credentials);
        let (attempt, took) = Attempt::begin(core, &roll, envelope.attempt, credentials, entropy)?;
        core.trace(format!("refresh {} begins", envelope.attempt));
        self.refresh = Some((attempt, Deadline::new(now, core.config.step_deadline)));
        if took == Took::Complete {
            self.complete(core, false, credentials);
        }
        Ok(())
    }

    fn complete(&mut self, core: &mut Core, muted: bool, credentials: &dyn Credentials) {
        let Some((attempt, _)) = self.refresh.take() else { return };
        self.requested = false;
        let off = self.roll.out_since(credentials);
        if !off.is_empty() && !core.config.danger.is(Danger::KeyingKeepsExpelled) {
            // KEY-12: no new key in a view that is about to end; a party that is gone may hold it.
            return core.trace(keyless(&off));
        }
        self.number = attempt.number;
        if let Some(epoch) = attempt.epoch() {
            core.remember(&self.roll.view.members, epoch);
            // A muted party has told all what it keeps, and keeps that until the next view.
            if !muted {
                core.keep_run(epoch.name.0, attempt.keep());
            }
            core.emit(Output::Refreshed { view: self.roll.view.id, epoch: epoch.clone() });
        }
    }

    pub(crate) fn timeout(mut self, core: &mut Core, now: Instant) -> Machine {
        let asked = self.asked;
        if let Some((attempt, deadline)) = &mut self.refresh
            && !asked
            && now >= deadline.at
        {
            complain(core, attempt);
            deadline.again(now, core.config.step_deadline);
        }
        Machine::Secure(self)
    }

    /// Only a refresh waits for others, and only while the view is to stay.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.refresh.as_ref().filter(|_| !self.asked).map(|(_, deadline)| deadline.at)
    }

    pub(crate) fn awaited(&self) -> Vec<Party> {
        self.refresh.as_ref().map(|(attempt, _)| attempt.awaited()).unwrap_or_default()
    }
}

/// Takes back what was to be sent since `before`. Returns whether there was anything.
fn silence(core: &mut Core, before: usize) -> bool {
    let length = core.outputs.len();
    let late = core.outputs.split_off(before.min(length));
    let (sends, others): (Vec<_>, Vec<_>) =
        late.into_iter().partition(|output| matches!(output, Output::Send { .. }));
    core.outputs.extend(others);
    !sends.is_empty()
}
