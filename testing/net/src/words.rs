//! What the director and a member's process say to each other, one JSON value a line, and the clock
//! that all of them share.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// How one life of a member begins: the whole command line of its process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) player: u8,
    pub(crate) life: u16,
    pub(crate) state: PathBuf,
    /// Where it writes what happens.
    pub(crate) log: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) seeds: Vec<String>,
    /// Whether it asks for admission.
    pub(crate) applies: bool,
    /// The members' ids in hexadecimal, in the order of the players.
    pub(crate) people: Vec<String>,
}

/// What the director tells a member to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Send a short message so often, in all services by turns; `None`: no more.
    Every(Option<u64>),
    /// Send one agreed message of each of these lengths.
    Lengths(Vec<usize>),
    /// Write down how you stand.
    Stand,
}

/// Nanoseconds of the monotonic clock: one clock for all processes and namespaces.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
