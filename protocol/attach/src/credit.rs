//! Credit: how much one side of attach may send to a group before the other has taken it.
//!
//! ```text
//!   Purse  of whoever sends        Ledger  of whoever takes
//!     spend ------ message ------------> receive
//!     add   <----- Grant --------------- grant     once half of the window has been taken
//! ```
//! Both count all that was ever sent to the group, so a grant that is lost in its reader, or comes
//! twice, adds nothing. Rules ATT-10 to ATT-12 (docs/protocol/attach.md).

use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::ORDERED_BYTES_MAX;

/// What a message costs in addition to its bytes, so that empty ones are bounded too.
pub const MESSAGE_COST: u64 = 64;
/// What each group has before the first grant.
pub const START: u64 = 64 * 1024;
/// Most that a grant may leave open at once.
pub const OPEN_MAX: u64 = 256 * 1024 * 1024;
/// How far texts that are sent together may go beyond the credit, if the first of them had some.
pub const TOGETHER: u64 = 256 * 1024;
/// How far frames of flush and keying, and what is unreliable, may go beyond the credit: they do
/// not wait for an application's messages. No text goes there, but by [`TOGETHER`].
pub const RESERVE: u64 = 4 * 1024 * 1024;

const _: () = assert!(ORDERED_BYTES_MAX as u64 + MESSAGE_COST + RESERVE <= OPEN_MAX);
const _: () = assert!(4 * TOGETHER <= RESERVE);

/// What messages of so many bytes together cost.
fn cost(messages: u64, bytes: u64) -> u64 {
    messages.saturating_mul(MESSAGE_COST).saturating_add(bytes)
}

/// All that may ever have been sent to a group, since its account was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Grant(pub u64);

/// Why a message or a grant is refused. All but the last are the fault of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreditError {
    /// It sent without credit.
    #[error(
        "the other side sent to a group without credit: it had {granted}, and had spent {spent}. It must wait \
         for the next grant (ATT-10)"
    )]
    PeerOverdrawn {
        /// What it was granted in all.
        granted: u64,
        /// What it had spent before.
        spent: u64,
    },
    /// It granted no more than before.
    #[error(
        "the other side granted {got}, and had granted {had} before: a grant must add something (ATT-11)"
    )]
    PeerReplayed {
        /// What came.
        got: u64,
        /// What stood.
        had: u64,
    },
    /// It granted more than may be open.
    #[error("the other side left {open} open; at most {OPEN_MAX} are allowed (ATT-11)")]
    PeerTooLarge {
        /// What would be open.
        open: u64,
    },
    /// It granted credit for a group in which we are not.
    #[error("the other side granted credit for a group that has no account here (ATT-12)")]
    PeerNoAccount,
    /// There is no credit left: wait for a grant.
    #[error("there is no credit left for this group; wait for the next grant (ATT-10)")]
    LocalSpent,
}

/// The credit of whoever sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purse {
    spent: u64,
    granted: u64,
}

impl Default for Purse {
    fn default() -> Self {
        Self { spent: 0, granted: START }
    }
}

impl Purse {
    /// Whether a text may go. Its last bytes may go beyond the credit, so that the longest message
    /// needs no more than a short one; then all wait.
    pub fn may_send(&self) -> bool {
        self.spent < self.granted
    }

    /// Whether the next of several texts may go that are sent together: they are not cut in two for
    /// want of little.
    pub fn may_go_on(&self) -> bool {
        self.spent < self.granted.saturating_add(TOGETHER)
    }

    /// Pays for a message. A text goes only if [`Self::may_send`]; the rest may use the reserve.
    ///
    /// # Errors
    /// [`CreditError::LocalSpent`]: the reserve is used up too, and nothing was paid.
    pub fn spend(&mut self, bytes: usize) -> Result<(), CreditError> {
        if self.spent >= self.granted.saturating_add(RESERVE) {
            return Err(CreditError::LocalSpent);
        }
        self.spent = self.spent.saturating_add(cost(1, as_u64(bytes)));
        Ok(())
    }

    /// Takes a grant.
    ///
    /// # Errors
    /// [`CreditError::PeerReplayed`], [`CreditError::PeerTooLarge`]; then nothing has changed.
    pub fn add(&mut self, Grant(got): Grant) -> Result<(), CreditError> {
        if got <= self.granted {
            return Err(CreditError::PeerReplayed { got, had: self.granted });
        }
        let open = got.saturating_sub(self.spent);
        if open > OPEN_MAX {
            return Err(CreditError::PeerTooLarge { open });
        }
        self.granted = got;
        Ok(())
    }
}

/// The books of whoever takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledger {
    received: u64,
    taken: u64,
    granted: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { received: 0, taken: 0, granted: START }
    }
}

impl Ledger {
    /// A message came.
    ///
    /// # Errors
    /// [`CreditError::PeerOverdrawn`]: it is not counted, and must not be kept.
    pub fn receive(&mut self, bytes: usize) -> Result<(), CreditError> {
        if self.received >= self.granted.saturating_add(RESERVE) {
            return Err(CreditError::PeerOverdrawn { granted: self.granted, spent: self.received });
        }
        self.received = self.received.saturating_add(cost(1, as_u64(bytes)));
        Ok(())
    }

    /// So many messages, of so many bytes together, were taken: they need no memory any more.
    /// Never more than came.
    pub fn take(&mut self, messages: u64, bytes: u64) {
        self.taken = self.taken.saturating_add(cost(messages, bytes)).min(self.received);
    }

    /// What came and was not taken.
    pub fn waiting(&self) -> u64 {
        self.received.saturating_sub(self.taken)
    }

    /// A grant, so that `window` is open, if at least half of that is to be added. A window is at
    /// least [`START`] and at most [`OPEN_MAX`].
    pub fn grant(&mut self, window: u64) -> Option<Grant> {
        let window = window.clamp(START, OPEN_MAX);
        let next = self.taken.saturating_add(window);
        if next < self.granted.saturating_add(window / 2) {
            return None;
        }
        self.granted = next;
        Some(Grant(next))
    }
}

fn as_u64(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
