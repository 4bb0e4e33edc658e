//! An attacker that holds every former key: the seam between it and the world.
//!
//! Whoever was expelled is its own from then on, with all that it ever knew. It reaches everybody,
//! whatever cuts there are, by links that it opens with those keys.

use crate::machine::player_at;
use crate::record::Player;
use bytes::Bytes;
use folkmoot_base::{Instant, Locator, UnixTime};
use folkmoot_transcript::Transcript;

/// What it tries. Everything is signed with the keys that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Decisions over an old head that admit its strangers and give them the votes.
    Fork,
    /// Approvals and rejections, over any head, of admissions and changes.
    Words,
    /// Ends of terms that are not over.
    Ends,
    /// What others once said, again: approvals, admissions and decisions of any age.
    Replay,
    /// Its own line as a package, for whoever is behind.
    Package,
    /// Somebody who was expelled comes back, by what its friends once signed. It shows what they
    /// took back only to those who have heard of the expulsion and of the decision that they signed
    /// over, and beside it that they did.
    Comeback {
        /// The number of the last decision that this one knows, if nobody knows a later one.
        knows: Option<u64>,
    },
    /// Somebody comes with a certificate whose approvals ran out while the group rested.
    Kept,
    /// Approvals of an electorate, a list or a role that name somebody who was expelled since.
    Named,
}

/// All of them, for drawing.
pub const LIES: [Lie; 8] = [
    Lie::Fork,
    Lie::Words,
    Lie::Ends,
    Lie::Replay,
    Lie::Package,
    Lie::Comeback { knows: None },
    Lie::Kept,
    Lie::Named,
];

/// The attacker.
pub trait Thief {
    /// It learns what somebody's transcript holds now: a backup of any age.
    fn see(&mut self, transcript: &Transcript);
    /// It has this player's key.
    fn steal(&mut self, player: Player);
    /// It lies to this player; how many items it has for it.
    fn lie(&mut self, now: Instant, clock: UnixTime, how: Lie, to: Player) -> u64;
    /// A datagram came for the node with this player's key.
    fn datagram(&mut self, now: Instant, key: Player, from: Locator, bytes: Bytes);
    /// The time of [`Self::poll_timeout`] has come.
    fn timeout(&mut self, now: Instant);
    /// A datagram of the node with this player's key.
    fn poll_output(&mut self) -> Option<(Player, Locator, Bytes)>;
    /// When to call [`Self::timeout`].
    fn poll_timeout(&self) -> Option<Instant>;
}

/// The ports of its nodes begin here.
const DOORS: u32 = 1_000;

/// Where its node with this player's key is.
pub fn door(key: Player) -> u32 {
    DOORS.saturating_add(u32::from(key)).saturating_add(1)
}

/// With whose key its node at this locator speaks.
pub fn key_at(at: Locator) -> Option<Player> {
    player_at(Locator::memory(at.as_memory()?.checked_sub(DOORS)?))
}
