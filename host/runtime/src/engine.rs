//! The engine: one task that drives one member on one node.
//!
//! ```text
//!  orders, sends --+                    +--> store      1. everything to keep, one transaction
//!  datagrams ------+--> Embedded -------+--> transport  2. then everything to transmit, one batch
//!  timer, clock ---+    (both floors)   +--> events     3. then everything to tell
//! ```
//! A turn takes what has come (a batch of datagrams, some sends, or one of the rest), takes all
//! outputs of the machine, and acts on them in that order. Committing early what came late is
//! harmless; transmitting early would not be (O4).
//!
//! Bounds: [`SENDS_WAITING_MAX`] messages and [`ORDERS_WAITING_MAX`] orders wait, then callers
//! wait; [`EVENTS_WAITING_MAX`] events or [`EVENT_BYTES_WAITING_MAX`] bytes wait for the
//! application, then the engine ends with [`RuntimeError::LocalSlowReader`], so that one slow
//! program cannot hold up a ring.

use crate::{Clock, OsEntropy, RuntimeError, Wire, Writer};
use bytes::Bytes;
use folkmoot_attach::{Embedded, Ground, Input, Output, Upper};
use folkmoot_base::{GroupId, Instant, Locator, Persist, Service};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Messages that wait for a key or for room; then `send` waits.
pub const SENDS_WAITING_MAX: usize = 256;
/// Orders that wait for the engine; then their callers wait.
pub const ORDERS_WAITING_MAX: usize = 64;
/// Events that wait for the application.
pub const EVENTS_WAITING_MAX: usize = 262_144;
/// Bytes of messages that wait for the application.
pub const EVENT_BYTES_WAITING_MAX: usize = 256 * 1024 * 1024;
/// Events handed over without a copy of the queue.
pub(crate) const EVENTS_CHANNEL: usize = 1_024;
/// Messages taken in one turn: enough to fill datagrams, few enough to pass the token on in time.
const SENDS_PER_TURN: usize = 64;
/// Transport errors in a row that end the engine.
const WIRE_ERRORS_MAX: u32 = 100;
/// How often the machine hears the wall clock.
const CLOCK_PERIOD: Duration = Duration::from_secs(1);

/// What the engine needs to know of an upper floor beyond the stair.
pub trait UpperStack: Upper {
    /// Whether a message to `group` would be sealed and sent now.
    fn can_send(&self, group: &GroupId) -> bool;
    /// The command that sends.
    fn sending(&self, message: Sending) -> Self::Command;
    /// What an event means to the engine.
    fn note(&self, event: &Self::Event) -> Note;
}

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// To which group.
    pub group: GroupId,
    /// Ordered how.
    pub service: Service,
    /// What.
    pub payload: Bytes,
    /// Whether it carries the sender's signature.
    pub signed: bool,
}

/// What an event means to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Nothing but its size in bytes.
    Size(usize),
    /// The message just handed in was refused.
    SendFailed(String),
    /// The group has a view with us in it.
    In(GroupId),
    /// We are out of the group: messages that wait for it are dropped.
    Out(GroupId),
}

/// A look at the machine, run between two turns.
pub type Look<G, U> = Box<dyn FnOnce(&mut Embedded<G, U>, Instant, &mut OsEntropy) + Send>;

/// What a handle asks of the engine.
pub(crate) enum Order<G: Ground, U: UpperStack> {
    /// A command for the member; the place to say that the disk has what it brought about.
    Command(U::Command, oneshot::Sender<()>),
    /// A look at the machine.
    Look(Look<G, U>),
    /// A message that goes now or not at all.
    Send(Submission),
    /// End.
    Stop,
}

/// A message on its way in.
pub(crate) struct Submission {
    pub(crate) message: Sending,
    /// Told when the message is sealed, or why not.
    pub(crate) done: Option<oneshot::Sender<Result<(), RuntimeError>>>,
}

/// The engine, to be run as one task.
pub(crate) struct Engine<G: Ground, U: UpperStack, W: Wire> {
    pub(crate) machine: Embedded<G, U>,
    pub(crate) wire: W,
    pub(crate) store: Writer,
    pub(crate) clock: Clock,
    pub(crate) entropy: OsEntropy,
    pub(crate) orders: mpsc::Receiver<Order<G, U>>,
    pub(crate) sends: mpsc::Receiver<Submission>,
    pub(crate) events: mpsc::Sender<U::Event>,
    pub(crate) turn: Turn<U>,
}

/// What one turn gathers, and what is left over from earlier ones.
pub(crate) struct Turn<U: UpperStack> {
    persist: Vec<Persist>,
    transmit: Vec<(Locator, Bytes)>,
    told: VecDeque<U::Event>,
    told_bytes: usize,
    /// Commands that were obeyed in this turn; told once the turn is on disk.
    obeyed: Vec<oneshot::Sender<()>>,
    waiting: Option<Submission>,
    outside: BTreeSet<GroupId>,
    refusal: Option<String>,
    wire_errors: u32,
}

impl<U: UpperStack> Default for Turn<U> {
    fn default() -> Self {
        Self {
            persist: Vec::new(),
            transmit: Vec::new(),
            told: VecDeque::new(),
            told_bytes: 0,
            obeyed: Vec::new(),
            waiting: None,
            outside: BTreeSet::new(),
            refusal: None,
            wire_errors: 0,
        }
    }
}

/// What woke the engine.
enum Wake<G: Ground, U: UpperStack> {
    Datagrams(std::io::Result<()>),
    Order(Option<Order<G, U>>),
    Send(Option<Submission>),
    Timer,
    Clock,
    Room,
}

impl<G: Ground, U: UpperStack, W: Wire> Engine<G, U, W> {
    /// Runs until told to stop, or until something it cannot go on without fails.
    pub(crate) async fn run(mut self) -> Result<(), RuntimeError> {
        let mut inbox = Vec::new();
        let mut ticks = tokio::time::interval(CLOCK_PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.tell_time();
        self.act().await?;
        loop {
            match self.wake(&mut inbox, &mut ticks).await {
                Wake::Datagrams(result) => self.datagrams(result, &mut inbox).await?,
                Wake::Order(None | Some(Order::Stop)) => return self.act().await,
                Wake::Order(Some(Order::Command(command, done))) => {
                    self.handle(Input::Command(command));
                    self.turn.obeyed.push(done);
                }
                Wake::Order(Some(Order::Look(look))) => self.look(look),
                Wake::Order(Some(Order::Send(message))) => self.send_now(message),
                // All handles that could send are gone; orders tell when to stop.
                Wake::Send(None) => self.sends.close(),
                Wake::Send(Some(message)) => self.turn.waiting = Some(message),
                Wake::Timer => self.handle(Input::Timeout),
                Wake::Clock => self.tell_time(),
                Wake::Room => {}
            }
            self.take_sends();
            self.act().await?;
        }
    }

    /// Waits for the next thing to do. Every branch can be dropped halfway without loss.
    async fn wake(
        &mut self,
        inbox: &mut Vec<(Locator, Bytes)>,
        ticks: &mut tokio::time::Interval,
    ) -> Wake<G, U> {
        let deadline = self.machine.poll_timeout().map(|at| self.clock.when(at));
        let timer = async {
            match deadline {
                // A timer wakes by the millisecond; what is due already does not wait for the next,
                // but for what the sockets have.
                Some(at) if at <= tokio::time::Instant::now() => tokio::task::yield_now().await,
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let sends_open = self.turn.waiting.is_none() && !(self.sends.is_closed() && self.sends.is_empty());
        tokio::select! {
            result = self.wire.recv(inbox) => Wake::Datagrams(result),
            order = self.orders.recv() => Wake::Order(order),
            message = self.sends.recv(), if sends_open => Wake::Send(message),
            () = timer => Wake::Timer,
            _ = ticks.tick() => Wake::Clock,
            _ = self.events.reserve(), if !self.turn.told.is_empty() => Wake::Room,
        }
    }

    async fn datagrams(
        &mut self,
        result: std::io::Result<()>,
        inbox: &mut Vec<(Locator, Bytes)>,
    ) -> Result<(), RuntimeError> {
        if let Err(error) = result {
            // A datagram socket reports other people's troubles too: go on, unless it says nothing
            // else any more.
            self.turn.wire_errors += 1;
            tracing::debug!(%error, "transport");
            if self.turn.wire_errors > WIRE_ERRORS_MAX {
                return Err(RuntimeError::LocalTransport(error.to_string()));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            return Ok(());
        }
        self.turn.wire_errors = 0;
        for (from, datagram) in inbox.drain(..) {
            let now = self.clock.now();
            self.machine.handle(now, Input::Datagram(from, datagram), &mut self.entropy);
            gather(&mut self.machine, &mut self.turn);
        }
        Ok(())
    }

    fn handle(&mut self, input: Input<U::Command>) {
        self.machine.handle(self.clock.now(), input, &mut self.entropy);
        gather(&mut self.machine, &mut self.turn);
    }

    /// Lets somebody look, then lets the machine say what that may have brought about.
    fn look(&mut self, look: Look<G, U>) {
        look(&mut self.machine, self.clock.now(), &mut self.entropy);
        self.tell_time();
    }

    fn tell_time(&mut self) {
        self.handle(Input::Clock(self.clock.wall()));
    }

    /// Hands in messages while there is a key and room for them.
    fn take_sends(&mut self) {
        for _ in 0..SENDS_PER_TURN {
            let Some(message) = self.turn.waiting.take().or_else(|| self.sends.try_recv().ok()) else {
                return;
            };
            if self.turn.outside.contains(&message.message.group) {
                answer(message.done, Err(RuntimeError::NotInGroup));
            } else if self.machine.upper.can_send(&message.message.group) {
                self.send(message);
            } else {
                self.turn.waiting = Some(message);
                return;
            }
        }
    }

    /// Hands in a message that does not wait, unless others wait before it.
    fn send_now(&mut self, message: Submission) {
        if self.turn.outside.contains(&message.message.group) {
            answer(message.done, Err(RuntimeError::NotInGroup));
        } else if self.turn.waiting.is_none() && self.machine.upper.can_send(&message.message.group) {
            self.send(message);
        } else {
            answer(message.done, Err(RuntimeError::NoEpoch));
        }
    }

    fn send(&mut self, message: Submission) {
        self.turn.refusal = None;
        let command = self.machine.upper.sending(message.message);
        self.handle(Input::Command(command));
        let result = match self.turn.refusal.take() {
            Some(reason) => Err(RuntimeError::SendRefused(reason)),
            None => Ok(()),
        };
        answer(message.done, result);
    }

    /// Acts on what the turn gathered: keep, then transmit, then tell.
    async fn act(&mut self) -> Result<(), RuntimeError> {
        if !self.turn.persist.is_empty() {
            self.store.commit(std::mem::take(&mut self.turn.persist)).await?;
        }
        for done in self.turn.obeyed.drain(..) {
            // A caller that has gone away does not mind.
            let _ = done.send(());
        }
        if !self.turn.transmit.is_empty() {
            self.wire.send(&self.turn.transmit);
            self.turn.transmit.clear();
        }
        self.tell()
    }

    fn tell(&mut self) -> Result<(), RuntimeError> {
        while let Some(event) = self.turn.told.pop_front() {
            let size = size(&self.machine.upper.note(&event));
            match self.events.try_send(event) {
                Ok(()) => self.turn.told_bytes = self.turn.told_bytes.saturating_sub(size),
                Err(mpsc::error::TrySendError::Full(event)) => {
                    self.turn.told.push_front(event);
                    break;
                }
                // The application has dropped its end: events have no reader, and that is its
                // choice.
                Err(mpsc::error::TrySendError::Closed(_)) => self.turn.told_bytes = 0,
            }
        }
        let count = self.turn.told.len();
        if count > EVENTS_WAITING_MAX || self.turn.told_bytes > EVENT_BYTES_WAITING_MAX {
            return Err(RuntimeError::LocalSlowReader(count));
        }
        Ok(())
    }
}

/// Takes all that the machine has to say into the turn.
fn gather<G: Ground, U: UpperStack>(machine: &mut Embedded<G, U>, turn: &mut Turn<U>) {
    while let Some(output) = machine.poll_output() {
        match output {
            Output::Transmit(to, datagram) => turn.transmit.push((to, datagram)),
            Output::Persist(persist) => turn.persist.push(persist),
            Output::Trace(trace) => tracing::debug!(layer = trace.layer, "{}", trace.text),
            Output::Event(event) => {
                let note = machine.upper.note(&event);
                turn.told_bytes = turn.told_bytes.saturating_add(size(&note));
                match note {
                    Note::SendFailed(reason) => turn.refusal = Some(reason),
                    Note::In(group) => drop(turn.outside.remove(&group)),
                    Note::Out(group) => drop(turn.outside.insert(group)),
                    Note::Size(_) => {}
                }
                turn.told.push_back(event);
            }
        }
    }
}

fn size(note: &Note) -> usize {
    if let Note::Size(bytes) = note { *bytes } else { 0 }
}

fn answer(done: Option<oneshot::Sender<Result<(), RuntimeError>>>, result: Result<(), RuntimeError>) {
    if let Some(done) = done {
        // A caller that has gone away does not mind.
        let _ = done.send(result);
    }
}
