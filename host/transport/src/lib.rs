//! Whole datagrams between locators: unreliable, unordered, bounded; no secrets.
//!
//! ```text
//!   runtime --send(batch)--> Transport --> socket or hub --> ... --> Transport --recv(batch)--> runtime
//!                                |  Faults: cut, drop, delay (demos and tests)  |
//! ```
//! All transports have one interface: [`Transport::recv`] waits for at least one datagram and hands
//! over all that have come; [`Transport::send`] never waits: what a socket has no room for goes out
//! while the caller waits in `recv`, within a bound; more is dropped and counted. The semantics are
//! those of the paper's transport abstraction (Ferreira, Grothoff, Ruth 2003, §2): whole messages,
//! unreliable, unordered; everything else is the link's.

mod arrival;
mod calls;
mod changes;
mod everybody;
mod faults;
mod inbox;
mod memory;
mod own;
mod ready;
mod rooms;
mod trains;
mod udp;

pub use arrival::Arrival;
pub use calls::{send_several, send_train, takes_no_trains};
pub use changes::{Changes, way_to};
pub use everybody::MULTICAST_PORT;
pub use faults::Faults;
pub use inbox::{Filled, Inbox};
pub use memory::Hub;
pub use own::{addresses, is_own, numbered, reached_at, takes_forged};
pub use rooms::{ROOM_BYTES, Room};

use bytes::Bytes;
use core::net::SocketAddr;
use everybody::{Everybody, Meeting};
use folkmoot_base::{GroupId, Locator};
use std::io;
use tokio::time::Instant;
use trains::address_for;

/// Most datagrams that one [`Transport::recv`] appends.
pub const BATCH_MAX: usize = 512;
/// Most datagrams that wait in a port of a [`Hub`]; more are dropped and counted by the sender.
pub const PORT_MAX: usize = 8_192;
/// Most datagrams that [`Faults::delay`] holds; more are dropped and counted.
pub const DELAYED_MAX: usize = 65_536;

/// What a transport did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
    /// Datagrams dropped because a buffer was full, or the address cannot be reached.
    pub dropped: u64,
    /// Datagrams dropped by a fault that was asked for.
    pub faulted: u64,
    /// Calls to the operating system, or to the hub, that sent something.
    pub calls: u64,
    /// Calls to the operating system that asked for datagrams; some of them found none.
    pub receives: u64,
    /// How often a socket had no room for more.
    pub full: u64,
    /// Bytes copied: out of the room that the system writes to, and into trains where the system
    /// takes none in parts.
    pub copied: u64,
}

/// A way to move datagrams.
#[derive(Debug)]
pub struct Transport {
    wire: Wire,
    faults: Faults,
    counters: Counters,
    delayed: faults::Delayed,
    /// What comes to all.
    everybody: Everybody,
    /// The same, while a fault delays it.
    delayed_to_all: faults::Delayed,
    /// Datagrams just received; empty between calls, kept for its room.
    fresh: Vec<(Locator, Arrival)>,
    /// Datagrams that faults let through; empty between calls.
    passed: Vec<(Locator, Bytes)>,
}

#[derive(Debug)]
enum Wire {
    Memory(memory::Port),
    Udp(Box<udp::Socket>),
}

impl Transport {
    /// Binds a UDP socket. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn udp(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::over(Wire::Udp(Box::new(udp::Socket::bind(address)?))))
    }

    /// The nodes of this ring may send to all of them at once ([`Self::together`]).
    #[must_use]
    pub fn multicast(self, ring: &GroupId) -> Self {
        Self { everybody: Everybody::of(Meeting::of(ring)), ..self }
    }

    fn over(wire: Wire) -> Self {
        Self {
            wire,
            faults: Faults::default(),
            counters: Counters::default(),
            delayed: faults::Delayed::default(),
            everybody: Everybody::default(),
            delayed_to_all: faults::Delayed::default(),
            fresh: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Where others find this transport: the bound address.
    pub fn local(&self) -> Locator {
        match &self.wire {
            Wire::Memory(port) => port.local(),
            Wire::Udp(socket) => socket.local(),
        }
    }

    /// The fault switch.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// What it did so far.
    pub fn counters(&self) -> Counters {
        let (one, all) = (self.counters, self.everybody.counters());
        Counters {
            received: one.received.saturating_add(all.received),
            receives: one.receives.saturating_add(all.receives),
            copied: one.copied.saturating_add(all.copied),
            ..one
        }
    }

    /// Waits until at least one datagram is there, then appends all that are, up to [`BATCH_MAX`]
    /// or a little more. Also ends, and may append nothing, if something came to all: see
    /// [`Self::take_to_all`]. Safe to cancel: nothing is taken before it is appended.
    ///
    /// # Errors
    /// The socket is gone; what a single peer provokes is no error.
    pub async fn recv(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> io::Result<()> {
        loop {
            let due = self.delayed.take(Instant::now(), batch);
            if due > 0 {
                self.counters.received = self.counters.received.saturating_add(due);
                return Ok(());
            }
            let to_all = self.delayed_to_all.next();
            if to_all.is_some_and(|due| due <= Instant::now()) {
                return Ok(());
            }
            let next = self.delayed.next().into_iter().chain(to_all).min();
            tokio::select! {
                result = self.wire.recv(&mut self.fresh, &mut self.counters) => result?,
                result = self.everybody.recv() => return result,
                () = sleep_until(next) => continue,
            }
            if self.arrive(batch) {
                return Ok(());
            }
        }
    }

    /// [`Self::recv`] that does not wait: appends what is there, perhaps nothing.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> io::Result<()> {
        let due = self.delayed.take(Instant::now(), batch);
        self.counters.received = self.counters.received.saturating_add(due);
        self.wire.take(&mut self.fresh, &mut self.counters)?;
        self.arrive(batch);
        Ok(())
    }

    /// Joins the nodes at these places, so that all receive what one sends to all. Returns the
    /// locator for that, if there is one. What was joined before is left.
    pub fn together(&mut self, places: &[Locator]) -> Option<Locator> {
        match &self.wire {
            Wire::Memory(_) => None,
            Wire::Udp(socket) => self.everybody.join(socket, places),
        }
    }

    /// Appends what has come to all, perhaps nothing, without waiting.
    pub fn take_to_all(&mut self, batch: &mut Vec<(Locator, Arrival)>) {
        if !self.faults.any() {
            self.delayed_to_all.take(Instant::now(), batch);
            return self.everybody.take(batch);
        }
        let mut fresh = Vec::new();
        self.everybody.take(&mut fresh);
        let (faulted, dropped) = self.faults.receive(&mut fresh, &mut self.delayed_to_all, batch);
        self.counters.faulted = self.counters.faulted.saturating_add(faulted);
        self.counters.dropped = self.counters.dropped.saturating_add(dropped);
        self.delayed_to_all.take(Instant::now(), batch);
    }

    /// Lets what just came through the faults; whether anything is there now.
    fn arrive(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> bool {
        let before = batch.len();
        if !self.faults.any() {
            batch.append(&mut self.fresh);
        } else {
            let (faulted, dropped) = self.faults.receive(&mut self.fresh, &mut self.delayed, batch);
            self.counters.faulted = self.counters.faulted.saturating_add(faulted);
            self.counters.dropped = self.counters.dropped.saturating_add(dropped);
        }
        let came = arrival::count(batch.get(before..).unwrap_or_default());
        self.counters.received = self.counters.received.saturating_add(as_u64(came));
        came > 0
    }

    /// Sends each without waiting, what goes to one address in its order; drops and counts what
    /// does not fit. Leaves the batch in the order of its addresses.
    pub fn send(&mut self, batch: &mut [(Locator, Bytes)]) {
        if !self.faults.any() {
            return self.wire.send(batch, &mut self.counters);
        }
        let mut passed = core::mem::take(&mut self.passed);
        let lets_out = |(to, datagram): &&(Locator, Bytes)| self.faults.lets_out(to, datagram);
        passed.extend(batch.iter().filter(lets_out).cloned());
        let faulted = as_u64(batch.len().saturating_sub(passed.len()));
        self.counters.faulted = self.counters.faulted.saturating_add(faulted);
        self.wire.send(&mut passed, &mut self.counters);
        passed.clear();
        self.passed = passed;
    }
}

impl Transport {
    /// Whether its socket is of the family of this address.
    pub fn sends_to(&self, at: &Locator) -> bool {
        match &self.wire {
            Wire::Memory(_) => at.as_memory().is_some(),
            Wire::Udp(socket) => address_for(socket.address(), at).is_some(),
        }
    }

    /// The next locator to which the system would not send a datagram of so many bytes: its
    /// interface there carries less. IP cuts nothing.
    pub fn too_long(&mut self) -> Option<(Locator, usize)> {
        match &mut self.wire {
            Wire::Memory(_) => None,
            Wire::Udp(socket) => socket.too_long(),
        }
    }
}

impl Wire {
    async fn recv(&mut self, batch: &mut Vec<(Locator, Arrival)>, counters: &mut Counters) -> io::Result<()> {
        match self {
            Self::Memory(port) => port.recv(batch).await,
            Self::Udp(socket) => socket.recv(batch, counters).await,
        }
    }

    fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>, counters: &mut Counters) -> io::Result<()> {
        match self {
            Self::Memory(port) => port.take(batch),
            Self::Udp(socket) => socket.drain(batch, counters)?,
        }
        Ok(())
    }

    fn send(&mut self, batch: &mut [(Locator, Bytes)], counters: &mut Counters) {
        match self {
            Self::Memory(port) => port.send(batch, counters),
            Self::Udp(socket) => socket.send(batch, counters),
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => core::future::pending().await,
    }
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
