//! How much processor time each stack takes: a shell around it reads its thread's clock before and
//! after each call.
//!
//! The shells do not see the host's part of the work: sockets, store, scheduler, and the bench.

use bytes::BytesMut;
use folkmoot::tools::{
    Entropy, Ground, GroundOutput, Instant, Note, Resolved, Sending, ToMember, ToNode, Upper, UpperOutput,
    UpperStack,
};
use folkmoot::{Bytes, GroupId, Locator, Party, UnixTime};
use folkmoot_base::Train;
use rustix::time::{ClockId, clock_gettime};
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What this thread has worked so far.
pub(crate) fn thread_worked() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    // Neither is below zero for a clock that starts there.
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// How long this thread worked on it.
pub(crate) fn worked<T>(act: impl FnOnce() -> T) -> (Duration, T) {
    let before = thread_worked();
    let done = act();
    (thread_worked().saturating_sub(before), done)
}

/// What all threads of this process have worked so far.
pub(crate) fn process_worked() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// One stack of all nodes together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<AtomicU64>);

impl Meter {
    fn read(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn time<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = thread_worked();
        let done = act();
        let nanos = thread_worked().saturating_sub(before).as_nanos();
        self.0.fetch_add(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
        done
    }
}

/// Both stacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meters {
    pub(crate) ground: Meter,
    pub(crate) upper: Meter,
}

/// Work so far, or between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Work {
    /// Of the whole process.
    pub(crate) cpu: Duration,
    /// Of it, on lower stacks: link, ring, group.
    pub(crate) ground: Duration,
    /// Of it, on upper stacks: flush, keying, session, admission.
    pub(crate) upper: Duration,
}

impl Meters {
    pub(crate) fn read(&self) -> Work {
        Work { cpu: process_worked(), ground: self.ground.read(), upper: self.upper.read() }
    }
}

impl Sub for Work {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            ground: self.ground.saturating_sub(before.ground),
            upper: self.upper.saturating_sub(before.upper),
        }
    }
}

/// A stack in its shell.
#[derive(Debug)]
pub(crate) struct Metered<T> {
    pub(crate) stack: T,
    meter: Meter,
}

impl<T> Metered<T> {
    pub(crate) fn new(stack: T, meter: &Meter) -> Self {
        Self { stack, meter: meter.clone() }
    }
}

impl<G: Ground> Ground for Metered<G> {
    fn member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.member(now, message, entropy));
    }

    fn datagram(&mut self, now: Instant, from: Locator, datagram: BytesMut, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.datagram(now, from, datagram, entropy));
    }

    fn datagram_to_all(
        &mut self,
        now: Instant,
        from: Locator,
        datagram: BytesMut,
        entropy: &mut dyn Entropy,
    ) {
        self.meter.time(|| self.stack.datagram_to_all(now, from, datagram, entropy));
    }

    fn train(&mut self, now: Instant, from: Locator, train: Train, to_all: bool, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.train(now, from, train, to_all, entropy));
    }

    fn everybody(&mut self, now: Instant, at: Option<Locator>, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.everybody(now, at, entropy));
    }

    fn too_long(&mut self, now: Instant, to: Locator, bytes: usize, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.too_long(now, to, bytes, entropy));
    }

    fn resolved(&mut self, now: Instant, name: &Locator, found: Resolved, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.resolved(now, name, found, entropy));
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.clock(now, time, entropy));
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.timeout(now, entropy));
    }

    fn superseded(&self) -> Option<u64> {
        self.stack.superseded()
    }

    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.stack.poll_output()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.meter.time(|| self.stack.poll_timeout())
    }
}

impl<U: Upper> Upper for Metered<U> {
    type Command = U::Command;
    type Answer = U::Answer;
    type Event = U::Event;

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.node(now, message, entropy));
    }

    fn node_to(&mut self, now: Instant, to: Party, message: ToMember, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.node_to(now, to, message, entropy));
    }

    fn command(&mut self, now: Instant, command: U::Command, entropy: &mut dyn Entropy) -> U::Answer {
        self.meter.time(|| self.stack.command(now, command, entropy))
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.clock(now, time, entropy));
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.meter.time(|| self.stack.timeout(now, entropy));
    }

    fn poll_output(&mut self) -> Option<UpperOutput<U::Event>> {
        self.stack.poll_output()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.meter.time(|| self.stack.poll_timeout())
    }
}

impl<U: UpperStack> UpperStack for Metered<U> {
    fn can_send(&self, group: &GroupId) -> bool {
        self.stack.can_send(group)
    }

    fn sending(&self, first: Sending, more: Vec<Bytes>) -> U::Command {
        self.stack.sending(first, more)
    }

    fn note(&self, event: &U::Event) -> Note {
        self.stack.note(event)
    }
}
