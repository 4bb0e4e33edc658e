//! One key for each view: runs an agreement for every view that flush installs, starts again on
//! cascades, confirms the key at every party, and only then calls the view secure.
//!
//! ```text
//!            view                 secret                all confirmed
//! Cascading ──────> Agreeing ───────────────> Confirming ────────────> Secure ──┐ data flows
//!     ^                │  (PT FT FO KL of GDH)     │                     │      │ refresh: a run beside it, same view
//!     └────────────────┴── flush answered ─────────┴── flush_ok ─────────┘ <────┘
//! ```
//! Promise: parties that install the same view hold the same key, bound to that view. No key serves
//! two views. Parties that move on together have installed the same views. Every wait for another
//! party ends in a step, a new view, or a complaint. How to drive it: `handle`, then
//! [`Keying::poll_output`] until `None`, then [`Keying::poll_timeout`]. Relies on flush: there is
//! one order for each view; parties that move on together deliver the same before the signal; the
//! signal comes at the place of every notice that removes a party. Does not rely on: the others'
//! clocks, speed, or honesty about their keys.

mod api;
mod attempt;
mod cascading;
mod core;
mod deadline;
mod derive;
mod error;
mod last_run;
pub mod message;
mod running;
mod secure;
mod shares;

pub use api::{Config, Credentials, Epoch, EpochName, Input, Output, SecureView, State, Terms, View};
pub use error::KeyingError;

use folkmoot_agreement as agreement;
use folkmoot_base as base;

use crate::attempt::{Heard, Roll, check_view};
use crate::cascading::Cascading;
use crate::core::Core;
use crate::message::Envelope;
use crate::running::Running;
use crate::secure::Secure;
use ::core::time::Duration;
use base::{Entropy, GroupId, Instant, Party, ViewId};
use bytes::Bytes;
use std::mem;

/// The states. Agreeing and Confirming are one struct: rule H treats them alike.
enum Machine {
    Cascading(Cascading),
    Running(Running),
    Secure(Secure),
}

/// The keying machine of one party in one group.
pub struct Keying {
    core: Core,
    machine: Machine,
    /// The newest view from the layer below, secure or not.
    newest: Option<ViewId>,
}

impl Keying {
    /// A machine in state Cascading: it waits for its first view. `stored` is the store's value in
    /// table "keying" under the group's id, if there is one.
    ///
    /// # Errors
    /// [`KeyingError::LocalStore`] if `stored` is not what this machine persisted.
    pub fn new(
        me: Party,
        group: GroupId,
        config: Config,
        stored: Option<&[u8]>,
    ) -> Result<Self, KeyingError> {
        let core = Core::new(me, group, config, stored)?;
        Ok(Self { core, machine: Machine::Cascading(Cascading::start()), newest: None })
    }

    /// KEY-15: how long to wait for another party's step from the next wait on.
    pub fn wait(&mut self, step: Duration) {
        self.core.config.step_deadline = step;
    }

    /// KEY-15: a ring that took long to form stands again: what is awaited has its time anew.
    pub fn wait_anew(&mut self, now: Instant) {
        let at = now + self.core.config.step_deadline;
        let deadline = match &mut self.machine {
            Machine::Running(running) => Some(&mut running.deadline),
            Machine::Secure(secure) => secure.refresh.as_mut().map(|(_, deadline)| deadline),
            Machine::Cascading(_) => None,
        };
        if let Some(deadline) = deadline {
            deadline.at = deadline.at.max(at);
        }
    }

    /// Takes one input. An input that is refused leaves the state as it was, except a view: it is
    /// installed below, gets no key here, and its flush is answered. A signed message that makes no
    /// sense is complained of all the same.
    ///
    /// # Errors
    /// [`KeyingError`]: `Peer…` names whose fault it is; count it and go on.
    pub fn handle(
        &mut self,
        now: Instant,
        input: Input,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<(), KeyingError> {
        // KEY-22: what is brought along is drawn when it may be told next.
        if matches!(input, Input::FlushRequest | Input::SecureFlushOk) {
            self.core.prepare_share(&credentials.terms(), entropy);
        }
        let core = &mut self.core;
        match input {
            Input::View(view) => return self.view(now, view, credentials, entropy),
            Input::Message { sender, bytes } => {
                return self.message(now, sender, &bytes, credentials, entropy);
            }
            Input::Refresh => {
                return match &mut self.machine {
                    Machine::Secure(secure) => secure.ask(core, credentials, entropy),
                    // A key is being agreed already.
                    Machine::Cascading(_) | Machine::Running(_) => Ok(()),
                };
            }
            Input::FlushRequest | Input::TransitionalSignal | Input::SecureFlushOk | Input::Timeout => {}
        }
        let machine = mem::replace(&mut self.machine, Machine::Cascading(Cascading::start()));
        let (machine, result) = match input {
            Input::FlushRequest => flush_request(core, machine),
            Input::TransitionalSignal => (signal(core, machine), Ok(())),
            Input::SecureFlushOk => flush_ok(core, machine),
            _ => (timeout(core, now, machine), Ok(())),
        };
        self.machine = machine;
        result
    }

    fn view(
        &mut self,
        now: Instant,
        view: View,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<(), KeyingError> {
        if !matches!(self.machine, Machine::Cascading(_)) || self.newest == Some(view.id) {
            return Err(KeyingError::LocalOutOfTurn("view"));
        }
        // Flush has installed it, whatever happens to it here. So flush will ask for an answer, and
        // must get one.
        self.newest = Some(view.id);
        self.machine = Machine::Cascading(Cascading::keyless());
        check_view(&self.core, &view)?;
        self.core.came_along(&view);
        match Roll::new(view, credentials) {
            Ok(roll) if self.core.believes(&roll.view, roll.module()) => {
                self.machine = Running::begin(&mut self.core, now, roll, credentials, entropy)?;
            }
            Ok(_) => {}
            Err(off) => self.core.trace(keyless(&off)),
        }
        self.core.share = None;
        Ok(())
    }

    fn message(
        &mut self,
        now: Instant,
        sender: Party,
        bytes: &Bytes,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<(), KeyingError> {
        let envelope =
            Envelope::decode(bytes).map_err(|source| KeyingError::PeerMalformed { peer: sender, source })?;
        if envelope.view.group != self.core.group {
            return Err(KeyingError::PeerOtherGroup(sender));
        }
        if self.newest != Some(envelope.view) {
            return Err(KeyingError::WireStale);
        }
        let heard = Heard { sender, bytes, envelope: &envelope };
        let (core, means) = (&mut self.core, (credentials, entropy));
        match mem::replace(&mut self.machine, Machine::Cascading(Cascading::start())) {
            Machine::Cascading(mut cascading) => {
                let result = cascading.message(core, now, heard, means);
                self.machine = Machine::Cascading(cascading);
                result
            }
            Machine::Secure(mut secure) => {
                let result = secure.message(core, now, heard, false, means);
                self.machine = Machine::Secure(secure);
                result
            }
            Machine::Running(running) => {
                let (machine, result) = running.message(core, now, heard, means);
                self.machine = machine;
                result
            }
        }
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.core.outputs.pop_front()
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.machine {
            Machine::Cascading(_) => None,
            Machine::Running(running) => running.deadline(),
            Machine::Secure(secure) => secure.deadline(),
        }
    }

    /// The state of the machine, for status and tests.
    pub fn state(&self) -> State {
        match &self.machine {
            Machine::Cascading(_) => State::Cascading,
            Machine::Running(running) if running.attempt.is_confirming() => State::Confirming,
            Machine::Running(running) => State::Agreeing(running.attempt.stage()),
            Machine::Secure(_) => State::Secure,
        }
    }

    /// This party's place in the order of the run whose key it holds: its age, if the module has
    /// ages. `None` if it has no place.
    pub fn rank(&self) -> Option<u32> {
        self.core.last_run.as_ref().map(|run| run.kept.rank())
    }

    /// Parties whose step is awaited now, for status.
    pub fn awaited(&self) -> Vec<Party> {
        match &self.machine {
            Machine::Cascading(_) => Vec::new(),
            Machine::Running(running) => running.attempt.awaited(),
            Machine::Secure(secure) => secure.awaited(),
        }
    }
}

/// KEY-12, in words for the log.
pub(crate) fn keyless(off: &[Party]) -> String {
    let names: Vec<String> = off.iter().map(Party::short).collect();
    format!("no key for this view: the roster does not have {}", names.join(", "))
}

fn flush_request(core: &mut Core, machine: Machine) -> (Machine, Result<(), KeyingError>) {
    match machine {
        Machine::Running(running) => (running.flush_request(core), Ok(())),
        Machine::Secure(secure) => (secure.flush_request(core), Ok(())),
        Machine::Cascading(mut cascading) => {
            let result = cascading.flush_request(core);
            (Machine::Cascading(cascading), result)
        }
    }
}

fn signal(core: &mut Core, machine: Machine) -> Machine {
    match machine {
        Machine::Running(running) => running.signal(core),
        Machine::Secure(mut secure) => {
            secure.signal(core);
            Machine::Secure(secure)
        }
        Machine::Cascading(mut cascading) => {
            cascading.signal(core);
            Machine::Cascading(cascading)
        }
    }
}

fn flush_ok(core: &mut Core, machine: Machine) -> (Machine, Result<(), KeyingError>) {
    match machine {
        Machine::Secure(secure) => secure.flush_ok(core),
        other => (other, Err(KeyingError::LocalOutOfTurn("secure flush ok"))),
    }
}

fn timeout(core: &mut Core, now: Instant, machine: Machine) -> Machine {
    match machine {
        Machine::Running(running) => running.timeout(core, now),
        Machine::Secure(secure) => secure.timeout(core, now),
        Machine::Cascading(_) => machine,
    }
}
