//! The ring: one order for all members, through loss, crashes, partitions and merges (Totem, extended virtual synchrony).

mod config;
mod error;
mod output;

pub use config::*;
pub use error::{RingError, StoredError, SubmitError};
pub use output::{Cause, Change, Delivery, Output, Phase, Status, Timer};

use bytes::Bytes;
use folkmoot_base::{Entropy, Instant, NodeId, Service};

/// The table of the store that the ring owns.
pub const STORE_TABLE: &str = "ring";
/// The key of the ring number in [`STORE_TABLE`].
pub const STORE_KEY_RING_SEQ: &[u8] = b"ring_seq";

/// Reads a stored ring number; absent means 0.
///
/// # Errors
/// [`StoredError`] if the value is not eight bytes.
pub fn stored_ring_seq(value: Option<&[u8]>) -> Result<u64, StoredError> {
    let Some(value) = value else { return Ok(0) };
    value.try_into().map(u64::from_be_bytes).map_err(|_| StoredError(value.len()))
}

/// One node's part in the ring.
#[derive(Debug)]
pub struct Ring {
    config: Config,
}

impl Ring {
    /// A node that has just started; it gathers, and forms a ring alone if nobody is there.
    pub fn new(config: Config, _stored_ring_seq: u64, _now: Instant) -> Self {
        Self { config }
    }

    /// A frame came over the link from `from`.
    ///
    /// # Errors
    /// [`RingError`]; the state is as it was.
    pub fn frame(
        &mut self,
        _now: Instant,
        _from: NodeId,
        _frame: Bytes,
        _entropy: &mut dyn Entropy,
    ) -> Result<(), RingError> {
        Ok(())
    }

    /// Takes one message to be ordered. It is delivered here too, in its place.
    ///
    /// # Errors
    /// [`SubmitError`]; the message was not taken.
    pub fn submit(&mut self, _now: Instant, _service: Service, _payload: Bytes) -> Result<(), SubmitError> {
        Ok(())
    }

    /// Whether `node` may take part: its link is up, it is rostered and its transcript equals ours.
    pub fn peer(&mut self, _now: Instant, _node: NodeId, _eligible: bool) {}

    /// The time that [`Self::poll_timeout`] named has come.
    pub fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        None
    }

    /// When to call [`Self::timeout`], if nothing else happens first, and what for.
    pub fn poll_timeout(&self) -> Option<(Instant, Timer)> {
        None
    }

    /// How the ring stands.
    pub fn status(&self) -> Status {
        let _ = &self.config;
        Status {
            phase: Phase::Gather,
            configuration: None,
            members: Vec::new(),
            queued_bytes: 0,
            set_aside: Vec::new(),
            refused_frames: 0,
            retransmitted_packets: 0,
        }
    }
}
