//! One member on one node in one process: a queue joins the two stacks.

use crate::{Ground, GroundOutput, Resolved, Trace, Upper, UpperOutput};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{Entropy, Instant, Locator, Persist, Train, UnixTime};
use std::collections::VecDeque;

/// What comes in from outside.
#[derive(Debug)]
pub enum Input<C> {
    /// A datagram: it is opened where it is.
    Datagram(Locator, BytesMut),
    /// A datagram that went to all by multicast.
    ToAll(Locator, BytesMut),
    /// Datagrams that came together.
    Train(Locator, Train),
    /// Datagrams that came together, and went to all by multicast.
    TrainToAll(Locator, Train),
    /// Where all of [`Output::Together`] are reached at once, if anywhere.
    Everybody(Option<Locator>),
    /// The system does not send datagrams of so many bytes to this locator.
    TooLong(Locator, usize),
    /// The addresses of a host name that [`Output::Resolve`] asked for, or why there are none.
    Resolved(Locator, Resolved),
    /// The application gives a command, and does not want the answer: see [`Embedded::command`].
    Command(C),
    /// The wall clock reads.
    Clock(UnixTime),
    /// The time named by `poll_timeout` has come.
    Timeout,
}

/// What goes out. Order counts: commit a `Persist` before acting on anything after it.
#[derive(Debug)]
pub enum Output<E> {
    /// Send this datagram.
    Transmit(Locator, Bytes),
    /// Send this datagram by itself, not in a train: it asks what the way to there carries.
    Probe(Locator, Bytes),
    /// The nodes at these places are one configuration with us now.
    Together(Vec<Locator>),
    /// Find out the addresses of this host name.
    Resolve(Locator),
    /// Commit this first.
    Persist(Persist),
    /// Tell the application.
    Event(E),
    /// An event for the log.
    Trace(Trace),
}

/// Both stacks and the queue between them.
#[derive(Debug)]
pub struct Embedded<G: Ground, U: Upper> {
    /// The lower stack.
    pub ground: G,
    /// The upper stack.
    pub upper: U,
    out: VecDeque<Output<U::Event>>,
}

impl<G: Ground, U: Upper> Embedded<G, U> {
    /// Joins the two.
    pub fn new(ground: G, upper: U) -> Self {
        Self { ground, upper, out: VecDeque::new() }
    }

    /// Takes one input, and runs both stacks until neither has an output for the other.
    pub fn handle(&mut self, now: Instant, input: Input<U::Command>, entropy: &mut dyn Entropy) {
        match input {
            Input::Datagram(from, datagram) => self.ground.datagram(now, from, datagram, entropy),
            Input::ToAll(from, datagram) => self.ground.datagram_to_all(now, from, datagram, entropy),
            Input::Train(from, train) => self.ground.train(now, from, train, false, entropy),
            Input::TrainToAll(from, train) => self.ground.train(now, from, train, true, entropy),
            Input::Everybody(at) => self.ground.everybody(now, at, entropy),
            Input::TooLong(to, bytes) => self.ground.too_long(now, to, bytes, entropy),
            Input::Resolved(name, found) => self.ground.resolved(now, &name, found, entropy),
            Input::Command(command) => drop(self.upper.command(now, command, entropy)),
            Input::Clock(time) => {
                self.ground.clock(now, time, entropy);
                self.upper.clock(now, time, entropy);
            }
            Input::Timeout => self.wake(now, entropy),
        }
        self.settle(now, entropy);
    }

    /// The application gives a command, and both stacks run as after an input. Act on the answer
    /// when every `Persist` that is put out by then is committed.
    pub fn command(&mut self, now: Instant, command: U::Command, entropy: &mut dyn Entropy) -> U::Answer {
        let answer = self.upper.command(now, command, entropy);
        self.settle(now, entropy);
        answer
    }

    /// The node stops, and its peers are told.
    pub fn farewell(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.ground.farewell(now, entropy);
        self.settle(now, entropy);
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output<U::Event>> {
        self.out.pop_front()
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        [self.ground.poll_timeout(), self.upper.poll_timeout()].into_iter().flatten().min()
    }

    fn wake(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.ground.poll_timeout().is_some_and(|at| at <= now) {
            self.ground.timeout(now, entropy);
        }
        if self.upper.poll_timeout().is_some_and(|at| at <= now) {
            self.upper.timeout(now, entropy);
        }
    }

    /// Carries messages up and down until both stacks are quiet. This ends because each message is
    /// answered by fewer messages, or by bytes that go out.
    fn settle(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        loop {
            let mut quiet = true;
            while let Some(output) = self.ground.poll_output() {
                quiet = false;
                self.hear_ground(now, output, entropy);
            }
            while let Some(output) = self.upper.poll_output() {
                quiet = false;
                self.hear_upper(now, output, entropy);
            }
            if quiet {
                return;
            }
        }
    }

    fn hear_ground(&mut self, now: Instant, output: GroundOutput, entropy: &mut dyn Entropy) {
        match output {
            GroundOutput::Transmit(to, datagram) => self.out.push_back(Output::Transmit(to, datagram)),
            GroundOutput::Probe(to, datagram) => self.out.push_back(Output::Probe(to, datagram)),
            GroundOutput::Together(places) => self.out.push_back(Output::Together(places)),
            GroundOutput::Resolve(name) => self.out.push_back(Output::Resolve(name)),
            GroundOutput::Persist(persist) => self.out.push_back(Output::Persist(persist)),
            GroundOutput::Member(message) => self.upper.node(now, message, entropy),
            GroundOutput::To(member, message) => self.upper.node_to(now, member, message, entropy),
            GroundOutput::Trace(trace) => self.out.push_back(Output::Trace(trace)),
        }
    }

    fn hear_upper(&mut self, now: Instant, output: UpperOutput<U::Event>, entropy: &mut dyn Entropy) {
        match output {
            UpperOutput::Persist(persist) => self.out.push_back(Output::Persist(persist)),
            UpperOutput::Node(message) => self.ground.member(now, message, entropy),
            UpperOutput::Event(event) => self.out.push_back(Output::Event(event)),
            UpperOutput::Trace(trace) => self.out.push_back(Output::Trace(trace)),
        }
    }
}
