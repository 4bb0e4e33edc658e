//! One key for each view: runs an agreement for every view that flush installs, starts anew on cascades, confirms the key
//! at every member, and only then calls the view secure.
//!
//! ```text
//!            view                 secret                all confirmed
//! Cascading ──────> Agreeing ───────────────> Confirming ────────────> Secure ──┐ data flows
//!     ^                │  (PT FT FO KL of GDH)     │                     │      │ refresh: a run beside it, same view
//!     └────────────────┴── flush answered ─────────┴── flush_ok ─────────┘ <────┘
//! ```
//! Pure: `handle`, then [`Keying::poll_output`] until `None`, then [`Keying::poll_timeout`].

mod api;
mod error;

pub use api::{Config, Credentials, Epoch, EpochName, Input, Output, SecureView, State, View};
pub use error::KeyingError;

use folkmoot_agreement as agreement;
use folkmoot_base as base;

use base::{Entropy, GroupId, Instant, MemberId};

/// The keying machine of one member in one group.
pub struct Keying {
    _me: MemberId,
}

impl Keying {
    /// A machine in state Cascading: it waits for its first view. `stored` is what the store holds in table "keying" under
    /// [`Self::store_key`], if anything.
    ///
    /// # Errors
    /// [`KeyingError::LocalStore`] if `stored` is not what this machine persisted.
    pub fn new(me: MemberId, _group: GroupId, _config: Config, _stored: Option<&[u8]>) -> Result<Self, KeyingError> {
        Ok(Self { _me: me })
    }

    /// The key in table "keying" under which this group's instance counter is kept.
    pub fn store_key(group: &GroupId) -> Vec<u8> {
        group.0.to_vec()
    }

    /// Takes one input. A refused input leaves the state as it was.
    ///
    /// # Errors
    /// [`KeyingError`]: `Peer…` names whose fault it is; count it and go on.
    pub fn handle(
        &mut self,
        _now: Instant,
        _input: Input,
        _credentials: &dyn Credentials,
        _entropy: &mut dyn Entropy,
    ) -> Result<(), KeyingError> {
        Ok(())
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        None
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Where the machine stands, for status and tests.
    pub fn state(&self) -> State {
        State::Cascading
    }

    /// Members whose step is awaited now, for status.
    pub fn awaited(&self) -> Vec<MemberId> {
        Vec::new()
    }
}
