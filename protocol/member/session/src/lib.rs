//! One conversation: seals under the current epoch, opens under the current and the previous, holds while there is none.
//!
//! ```text
//!  plaintext ─ seal ─> header ‖ ciphertext ‖ tag ─ (ordered multicast) ─ open ─> plaintext
//!       └ no epoch ─ hold ─> waits ─ open_epoch ─ take_held ─> seal
//! ```

mod error;

pub use error::{HoldError, OpenError, SealError, SessionError};

use base::{Danger, GroupId, MemberId, Secret, ViewId};
use bytes::Bytes;
use folkmoot_base as base;

/// How a session is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Messages after which an epoch must end.
    pub seals_per_epoch_max: u64,
    /// Most bytes of messages that wait for an epoch, for each direction.
    pub held_bytes_max: usize,
    /// What a mutant does wrong; `None` outside tests.
    pub danger: Option<Danger>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seals_per_epoch_max: base::limits::SEALS_PER_EPOCH_MAX,
            held_bytes_max: base::limits::HELD_BYTES_MAX,
            danger: None,
        }
    }
}

/// What [`Session::open`] makes of a sealed message.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened {
    /// The plaintext.
    Message(Bytes),
    /// Of an epoch not open yet: kept; [`Session::poll_received`] gives it once the epoch opens.
    Held,
}

/// The session of one member in one group.
pub struct Session {
    _me: MemberId,
}

impl Session {
    /// A session without an epoch.
    pub fn new(me: MemberId, _group: GroupId, _config: Config) -> Self {
        Self { _me: me }
    }

    /// Opens an epoch: its key becomes the one to seal under, the epoch before it remains for opening until
    /// [`Self::close_previous`]. Call with the view and members of `SecureView` or `Refreshed`.
    ///
    /// # Errors
    /// [`SessionError`]: the list does not fit, or the key was used before.
    pub fn open_epoch(
        &mut self,
        _view: ViewId,
        _members: &[MemberId],
        _key: &Secret<[u8; 32]>,
    ) -> Result<(), SessionError> {
        Ok(())
    }

    /// Seals one application message under the current epoch.
    ///
    /// # Errors
    /// [`SealError`].
    pub fn seal(&mut self, _plaintext: &[u8]) -> Result<Bytes, SealError> {
        Err(SealError::NoEpoch)
    }

    /// Keeps a message until there is an epoch.
    ///
    /// # Errors
    /// [`HoldError::Full`]: nothing is kept; push back to the caller.
    pub fn hold(&mut self, _plaintext: Bytes) -> Result<(), HoldError> {
        Ok(())
    }

    /// The oldest message held for sending, once an epoch is open and sealing is not stopped; seal it next.
    pub fn take_held(&mut self) -> Option<Bytes> {
        None
    }

    /// Empties the queue of held sends: the member leaves, each is to be reported dropped (K5).
    pub fn drop_held(&mut self) -> Vec<Bytes> {
        Vec::new()
    }

    /// Opens one sealed message that `sender` multicast.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&mut self, _sender: MemberId, _sealed: Bytes) -> Result<Opened, OpenError> {
        Err(OpenError::WireForged)
    }

    /// The next message that was held for an epoch and opens now.
    pub fn poll_received(&mut self) -> Option<(MemberId, Result<Bytes, OpenError>)> {
        None
    }

    /// Stops sealing at once (K3): a notice removed somebody. Opening goes on. Until the next [`Self::open_epoch`].
    pub fn stop(&mut self) {}

    /// Forgets the previous epoch: its last message is delivered.
    pub fn close_previous(&mut self) {}

    /// Forgets all keys: the member left.
    pub fn close(&mut self) {}

    /// Whether this session may seal now.
    pub fn can_seal(&self) -> bool {
        false
    }

    /// `true` once for each epoch that nears its end: ask keying for a refresh.
    pub fn poll_refresh(&mut self) -> bool {
        false
    }
}
