//! Whole datagrams between locators: unreliable, unordered, bounded; no secrets.
//!
//! ```text
//!   runtime --send(batch)--> Transport --> socket or hub --> ... --> Transport --recv(batch)--> runtime
//!                                |  Faults: cut, drop, delay (demos and tests)  |
//! ```
//! One face for all: [`Transport::recv`] waits for at least one datagram and hands over all that are there;
//! [`Transport::send`] never waits, and drops (and counts) what does not fit.

use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use folkmoot_base::Locator;
use std::io;

/// A way to move datagrams.
#[derive(Debug)]
pub struct Transport {
    local: Locator,
    faults: Faults,
}

/// A network inside this process. Clone it to hand it around.
#[derive(Debug, Clone, Default)]
pub struct Hub;

impl Hub {
    /// Opens the port `memory/number`.
    ///
    /// # Errors
    /// `AddrInUse` if it is open already.
    pub fn open(&self, number: u32) -> io::Result<Transport> {
        Ok(Transport { local: Locator::Memory(number), faults: Faults::default() })
    }
}

/// Faults of one transport, set at run time through any clone.
#[derive(Debug, Clone, Default)]
pub struct Faults;

impl Faults {
    /// From now on nothing goes to or comes from exactly these locators.
    pub fn cut(&self, locators: impl IntoIterator<Item = Locator>) {
        let _ = locators.into_iter().count();
    }

    /// Sent datagrams vanish with this probability (0.0 to 1.0).
    pub fn drop_probability(&self, probability: f64) {
        let _ = probability;
    }

    /// Received datagrams are held for so long.
    pub fn delay(&self, delay: Duration) {
        let _ = delay;
    }

    /// No faults.
    pub fn heal(&self) {}
}

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
}

impl Transport {
    /// Binds a UDP socket.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn udp(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { local: Locator::Udp(address), faults: Faults::default() })
    }

    /// Where others find this transport: the bound address.
    pub fn local(&self) -> Locator {
        self.local
    }

    /// The fault switch.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// What it did so far.
    pub fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Waits until at least one datagram is there, then appends all that are, up to a bound. Safe to cancel.
    ///
    /// # Errors
    /// The socket is gone; what a single peer provokes is no error.
    pub async fn recv(&mut self, batch: &mut Vec<(Locator, Bytes)>) -> io::Result<()> {
        let _ = batch;
        std::future::pending().await
    }

    /// Sends each, in order, without waiting; drops and counts what does not fit.
    pub fn send(&mut self, batch: &[(Locator, Bytes)]) {
        let _ = batch;
    }
}
