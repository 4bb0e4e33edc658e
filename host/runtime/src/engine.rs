//! The engine: one task that drives one member on one node.
//!
//! ```text
//!  orders, sends --+                    +--> store      1. everything to keep, one transaction
//!  datagrams ------+--> Embedded -------+--> transport  2. then everything to transmit, one batch
//!  timer, clock ---+    (both floors)   +--> events     3. then everything to tell
//! ```
//! A turn takes what has come (a batch of datagrams, some sends, or one of the rest) and gathers
//! all that the machine puts out. [`crate::outcome`] acts on it in that order, and writes to disk
//! beside the engine. Committing early what came late is harmless; transmitting early would not be
//! (O4). If datagrams brought the application little and the disk nothing, 3 comes before 2: a lone
//! message is with the application before the token goes on, which takes a call to the system and,
//! on a host with few processors, perhaps the processor.
//!
//! Bounds: [`crate::SENDS_WAITING_MAX`] messages of each group and [`ORDERS_WAITING_MAX`] orders
//! wait, then callers wait; [`crate::EVENTS_WAITING_MAX`] events or
//! [`crate::EVENT_BYTES_WAITING_MAX`] bytes wait for the application, then the engine ends with
//! [`RuntimeError::LocalSlowReader`], so that one slow program cannot hold up a ring. While half of
//! either bound is taken, unreliable messages are dropped: they alone end no engine.

use crate::names::Names;
use crate::outcome::{Answer, Outcomes};
use crate::sends::{Submission, Waiting};
use crate::{Clock, Generation, OsEntropy, RuntimeError, StoreError, Wire};
use bytes::Bytes;
use folkmoot_attach::{Embedded, Ground, Input, Output, Resolved, Upper};
use folkmoot_base::{GroupId, Instant, Locator, Refused, Service, UnixTime};
use folkmoot_transport::Arrival;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Orders that wait for the engine; then their callers wait.
pub const ORDERS_WAITING_MAX: usize = 64;
/// Events that are handed over together.
pub(crate) const EVENTS_TOGETHER: usize = 256;
/// How often events are handed over before the application takes them.
pub(crate) const EVENTS_CHANNEL: usize = 4;
/// Messages taken in one turn: enough to fill datagrams, few enough to pass the token on in time.
const SENDS_PER_TURN: usize = 128;
/// Transport errors in a row that end the engine.
const WIRE_ERRORS_MAX: u32 = 100;
/// How often the machine hears the wall clock.
const CLOCK_PERIOD: Duration = Duration::from_secs(1);
/// So long a member that is told to stop waits until what it sent has left.
const LEAVING_MAX: Duration = Duration::from_millis(500);

/// What the engine needs to know of an upper floor beyond attach.
pub trait UpperStack: Upper<Answer: Send + 'static> {
    /// Whether a message to `group` would be sealed and sent now.
    fn can_send(&self, group: &GroupId) -> bool;
    /// The command that sends `first`, and then `more` to the same group with the same service. If
    /// there is more, none of them is signed.
    fn sending(&self, first: Sending, more: Vec<Bytes>) -> Self::Command;
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

impl Sending {
    /// The message; without a payload it stays.
    fn take(&mut self) -> Self {
        let Self { group, service, ref mut payload, signed } = *self;
        Self { group, service, payload: std::mem::take(payload), signed }
    }
}

/// What an event means to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Nothing but its size in bytes.
    Size(usize),
    /// An unreliable message of so many bytes. It is dropped if too much waits for the application.
    Unreliable(usize),
    /// A message just handed in was refused; of several, the last one that was not yet.
    SendFailed(Refused),
    /// The group has a view with us in it.
    In(GroupId),
    /// We are out of the group: messages that wait for it are dropped.
    Out(GroupId),
}

/// A look at the machine, run between two turns; what it saw is told once all of it is on disk.
pub(crate) type Look<G, U> = Box<dyn FnOnce(&mut Embedded<G, U>, Instant, &mut OsEntropy) -> Answer + Send>;

/// What a handle asks of the engine.
pub(crate) enum Order<G: Ground, U: UpperStack> {
    /// A command for the member; the place for its answer, once the disk has what it relies on.
    Command(U::Command, oneshot::Sender<U::Answer>),
    /// A look at the machine.
    Look(Look<G, U>),
    /// A message that goes now or not at all.
    Send(Submission),
    /// What the engine did so far.
    Count(oneshot::Sender<Counters>),
    /// End.
    Stop,
}

/// What an engine did since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Turns: how often something woke it.
    pub turns: u64,
    /// Turns in which datagrams woke it.
    pub wakes: u64,
    /// Turns in which a timer woke it.
    pub timers: u64,
    /// Unreliable messages that the application was not told, since too much waited for it.
    pub untold: u64,
    /// Datagrams that were dropped, since the disk was slow and too many waited for it.
    pub unsent: u64,
    /// What its transport did.
    pub wire: folkmoot_transport::Counters,
}

/// The engine, to be run as one task.
pub(crate) struct Engine<G: Ground, U: UpperStack, W: Wire> {
    pub(crate) machine: Embedded<G, U>,
    pub(crate) wire: W,
    pub(crate) clock: Clock,
    pub(crate) generation: Generation,
    pub(crate) entropy: OsEntropy,
    pub(crate) orders: mpsc::Receiver<Order<G, U>>,
    pub(crate) sends: mpsc::UnboundedReceiver<Submission>,
    pub(crate) outcomes: Outcomes<U::Event>,
    pub(crate) names: Names,
    pub(crate) turn: Turn,
}

/// What is left over from earlier turns, and what the machine said of the message just handed in.
#[derive(Default)]
pub(crate) struct Turn {
    waiting: Waiting,
    outside: BTreeSet<GroupId>,
    /// Of the messages just handed in so many were refused, the last ones; and why.
    refused: usize,
    refusal: Option<Refused>,
    /// Messages that go together; empty between turns.
    run: Vec<Submission>,
    wire_errors: u32,
    sends_closed: bool,
    /// Where those are who are one configuration now, if that is news.
    together: Option<Vec<Locator>>,
    /// Host names whose addresses are asked for.
    asks: Vec<Locator>,
    /// All but the transport's.
    counters: Counters,
    /// Told to stop: when to stop at the latest.
    leaving: Option<tokio::time::Instant>,
}

/// What woke the engine.
enum Wake<G: Ground, U: UpperStack> {
    Datagrams(std::io::Result<()>),
    Order(Option<Order<G, U>>),
    Send(Option<Submission>),
    /// The addresses of a host name.
    Found(Locator, Resolved),
    Timer,
    Leave,
    Clock,
    /// The disk has written, or the application has room.
    Ready(Option<Result<(), StoreError>>),
}

impl<G: Ground, U: UpperStack, W: Wire> Engine<G, U, W> {
    /// Runs until told to stop, or until something it cannot go on without fails.
    pub(crate) async fn run(mut self) -> Result<(), RuntimeError> {
        let mut inbox = Vec::new();
        let mut ticks = tokio::time::interval(CLOCK_PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.tell_time();
        self.outcomes.finish(&mut self.wire).await?;
        loop {
            let wake = self.wake(&mut inbox, &mut ticks).await;
            // Before anything is sealed: what follows may have been sealed before, as something
            // else, under the same keys and numbers.
            if self.generation.has_changed() {
                return Err(RuntimeError::LocalResumed);
            }
            let began = std::time::Instant::now();
            self.turn.counters.count(&wake);
            let heard = matches!(wake, Wake::Datagrams(_));
            match wake {
                Wake::Datagrams(result) => self.datagrams(result, &mut inbox).await?,
                Wake::Order(None | Some(Order::Stop)) => {
                    self.turn.leaving = Some(tokio::time::Instant::now() + LEAVING_MAX);
                }
                Wake::Order(Some(order)) => self.obey(order),
                // All handles that could send are gone; orders tell when to stop.
                Wake::Send(None) => self.turn.sends_closed = true,
                Wake::Send(Some(message)) => self.turn.waiting.push(message),
                Wake::Found(name, found) => self.found(name, found),
                Wake::Leave => {}
                Wake::Timer => self.timer(&mut inbox).await?,
                Wake::Clock => self.tell_time(),
                Wake::Ready(None) => {}
                Wake::Ready(Some(written)) => {
                    written?;
                    self.outcomes.release(&mut self.wire);
                }
            }
            self.take_sends();
            if heard && self.outcomes.tell_first() {
                tokio::task::yield_now().await;
            }
            self.outcomes.act(&mut self.wire)?;
            self.turn.asks.drain(..).for_each(|name| self.names.ask(name));
            if let Some(places) = self.turn.together.take() {
                let all = self.wire.together(&places);
                self.handle(Input::Everybody(all));
                self.outcomes.act(&mut self.wire)?;
            }
            while let Some((to, bytes)) = self.wire.too_long() {
                self.handle(Input::TooLong(to, bytes));
                self.outcomes.act(&mut self.wire)?;
            }
            if let Some(started) = self.machine.ground.superseded() {
                self.outcomes.finish(&mut self.wire).await?;
                return Err(RuntimeError::LocalSuperseded(UnixTime(started / 1_000_000)));
            }
            let over = |at: tokio::time::Instant| at <= tokio::time::Instant::now();
            if self.turn.leaving.is_some_and(|at| over(at) || !self.machine.ground.is_busy()) {
                return self.leave().await;
            }
            self.outcomes.give_way(began.elapsed()).await;
        }
    }

    /// Takes leave of the peers, so that they do not have to find out that nobody is here.
    async fn leave(&mut self) -> Result<(), RuntimeError> {
        self.machine.farewell(self.clock.now(), &mut self.entropy);
        gather(&mut self.machine, &mut self.turn, &mut self.outcomes);
        self.outcomes.finish(&mut self.wire).await
    }

    /// Waits for the next thing to do. Every branch can be dropped halfway without loss.
    async fn wake(
        &mut self,
        inbox: &mut Vec<(Locator, Arrival)>,
        ticks: &mut tokio::time::Interval,
    ) -> Wake<G, U> {
        if self.outcomes.is_behind() {
            return Wake::Ready(Some(self.outcomes.written().await));
        }
        let deadline = self.machine.poll_timeout().map(|at| self.clock.when(at));
        let timer = async {
            // A timer wakes by the millisecond; what is due already does not wait for the next.
            if deadline.is_some_and(|at| at <= tokio::time::Instant::now()) {
                tokio::task::yield_now().await;
            } else {
                until(deadline).await;
            }
        };
        tokio::select! {
            result = self.wire.recv(inbox) => Wake::Datagrams(result),
            order = self.orders.recv(), if self.turn.leaving.is_none() => Wake::Order(order),
            () = until(self.turn.leaving) => Wake::Leave,
            message = self.sends.recv(), if !self.turn.sends_closed => Wake::Send(message),
            (name, found) = self.names.next() => Wake::Found(name, found),
            () = timer => Wake::Timer,
            _ = ticks.tick() => Wake::Clock,
            ready = self.outcomes.ready() => Wake::Ready(ready),
        }
    }

    async fn datagrams(
        &mut self,
        result: std::io::Result<()>,
        inbox: &mut Vec<(Locator, Arrival)>,
    ) -> Result<(), RuntimeError> {
        if let Err(error) = result {
            // A datagram socket reports other people's troubles too: go on, unless it says nothing
            // else any more.
            self.turn.wire_errors += 1;
            tracing::debug!(%error, "transport");
            if self.turn.wire_errors > WIRE_ERRORS_MAX {
                // Interfaces may come back.
                return Err(RuntimeError::LocalTransport { detail: error.to_string(), passing: true });
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            return Ok(());
        }
        self.turn.wire_errors = 0;
        let now = self.clock.now();
        let alone = inbox.len();
        self.wire.take_to_all(inbox);
        // What came to all first: packets may go before the token that says so.
        for (from, arrival) in inbox.drain(alone..) {
            let input = match arrival {
                Arrival::One(datagram) => Input::ToAll(from, datagram),
                Arrival::Train(train) => Input::TrainToAll(from, train),
            };
            self.machine.handle(now, input, &mut self.entropy);
            gather(&mut self.machine, &mut self.turn, &mut self.outcomes);
        }
        for (from, arrival) in inbox.drain(..) {
            let input = match arrival {
                Arrival::One(datagram) => Input::Datagram(from, datagram),
                Arrival::Train(train) => Input::Train(from, train),
            };
            self.machine.handle(now, input, &mut self.entropy);
            gather(&mut self.machine, &mut self.turn, &mut self.outcomes);
        }
        Ok(())
    }

    /// A timer has expired. What is in the socket came before that: perhaps it is what the timer
    /// waits for.
    async fn timer(&mut self, inbox: &mut Vec<(Locator, Arrival)>) -> Result<(), RuntimeError> {
        let result = self.wire.take(inbox);
        self.datagrams(result, inbox).await?;
        if self.machine.poll_timeout().is_some_and(|at| at <= self.clock.now()) {
            self.handle(Input::Timeout);
        }
        Ok(())
    }

    /// Hands in the addresses of a host name that the socket can send to.
    fn found(&mut self, name: Locator, found: Resolved) {
        let found = found.and_then(|mut places| {
            places.retain(|at| self.wire.sends_to(at));
            let none = || "it has no address of the family at which this member listens".to_owned();
            if places.is_empty() { Err(none()) } else { Ok(places) }
        });
        self.handle(Input::Resolved(name, found));
    }

    fn obey(&mut self, order: Order<G, U>) {
        match order {
            Order::Command(command, done) => {
                let answer = self.command(command);
                // A caller that has gone away does not mind.
                self.outcomes.answer(Box::new(move || {
                    let _ = done.send(answer);
                }));
            }
            Order::Look(look) => self.look(look),
            Order::Send(message) => self.send_now(message),
            Order::Count(tell) => {
                let (wire, untold) = (self.wire.counters(), self.outcomes.untold());
                let unsent = self.outcomes.unsent();
                let counters = Counters { wire, untold, unsent, ..self.turn.counters };
                // A caller that has gone away does not mind.
                let _ = tell.send(counters);
            }
            Order::Stop => {}
        }
    }

    fn command(&mut self, command: U::Command) -> U::Answer {
        let answer = self.machine.command(self.clock.now(), command, &mut self.entropy);
        gather(&mut self.machine, &mut self.turn, &mut self.outcomes);
        answer
    }

    fn handle(&mut self, input: Input<U::Command>) {
        self.machine.handle(self.clock.now(), input, &mut self.entropy);
        gather(&mut self.machine, &mut self.turn, &mut self.outcomes);
    }

    /// Lets somebody look, then lets the machine say what that may have brought about.
    fn look(&mut self, look: Look<G, U>) {
        let answer = look(&mut self.machine, self.clock.now(), &mut self.entropy);
        self.outcomes.answer(answer);
        self.tell_time();
    }

    fn tell_time(&mut self) {
        self.handle(Input::Clock(self.clock.wall()));
    }

    /// Hands in messages while there is a key and room for them, a message of each group in turn.
    fn take_sends(&mut self) {
        while let Ok(message) = self.sends.try_recv() {
            self.turn.waiting.push(message);
        }
        let mut left = SENDS_PER_TURN;
        while left > 0 {
            let (upper, outside) = (&self.machine.upper, &self.turn.outside);
            let may = |group: &GroupId| outside.contains(group) || upper.can_send(group);
            let mut run = std::mem::take(&mut self.turn.run);
            self.turn.waiting.take(may, left, &mut run);
            let Some(group) = run.first().map(|first| first.message.group) else {
                self.turn.run = run;
                return;
            };
            left = left.saturating_sub(run.len());
            if self.turn.outside.contains(&group) {
                run.drain(..).for_each(|message| message.answer(Err(RuntimeError::NotInGroup)));
            } else {
                self.send(&mut run);
            }
            self.turn.run = run;
        }
    }

    /// Hands in a message that does not wait, unless others of its group wait before it.
    fn send_now(&mut self, message: Submission) {
        let group = message.message.group;
        if self.turn.outside.contains(&group) {
            message.answer(Err(RuntimeError::NotInGroup));
        } else if !self.turn.waiting.any(&group) && self.machine.upper.can_send(&group) {
            self.send(&mut vec![message]);
        } else {
            message.answer(Err(RuntimeError::NoEpoch));
        }
    }

    /// Hands in messages that go together.
    fn send(&mut self, run: &mut Vec<Submission>) {
        let mut words = run.iter_mut().map(|one| one.message.take());
        let Some(first) = words.next() else { return };
        let more = words.map(|message| message.payload).collect();
        let command = self.machine.upper.sending(first, more);
        self.turn.refused = 0;
        self.command(command);
        let sent = run.len().saturating_sub(self.turn.refused);
        for (place, message) in run.drain(..).enumerate() {
            let why = &self.turn.refusal;
            let refused = || Err(why.clone().map_or(RuntimeError::Stopped, RuntimeError::SendRefused));
            message.answer(if place < sent { Ok(()) } else { refused() });
        }
    }
}

impl Counters {
    fn count<G: Ground, U: UpperStack>(&mut self, wake: &Wake<G, U>) {
        self.turns = self.turns.saturating_add(1);
        match wake {
            Wake::Datagrams(_) => self.wakes = self.wakes.saturating_add(1),
            Wake::Timer => self.timers = self.timers.saturating_add(1),
            _ => {}
        }
    }
}

async fn until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Takes all that the machine has to say into the outcome of the turn.
fn gather<G: Ground, U: UpperStack>(
    machine: &mut Embedded<G, U>,
    turn: &mut Turn,
    outcomes: &mut Outcomes<U::Event>,
) {
    while let Some(output) = machine.poll_output() {
        match output {
            Output::Transmit(to, datagram) => outcomes.transmit(to, datagram),
            Output::Probe(to, datagram) => outcomes.probe(to, datagram),
            Output::Together(places) => turn.together = Some(places),
            Output::Resolve(name) => turn.asks.push(name),
            Output::Persist(persist) => outcomes.persist(persist),
            Output::Trace(trace) => tracing::debug!(layer = trace.layer, "{}", trace.text),
            Output::Event(event) => {
                let note = machine.upper.note(&event);
                match note {
                    Note::Size(bytes) => outcomes.event(event, bytes),
                    Note::Unreliable(bytes) => outcomes.unreliable(event, bytes),
                    _ => outcomes.event(event, 0),
                }
                match note {
                    Note::SendFailed(reason) => {
                        (turn.refused, turn.refusal) = (turn.refused.saturating_add(1), Some(reason));
                    }
                    Note::In(group) => drop(turn.outside.remove(&group)),
                    Note::Out(group) => drop(turn.outside.insert(group)),
                    Note::Size(_) | Note::Unreliable(_) => {}
                }
            }
        }
    }
}
