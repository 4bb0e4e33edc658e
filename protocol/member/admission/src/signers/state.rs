//! What a member knows of signing sessions: the sessions, its shares, the revocation list, and what
//! it knows of other signers.

use super::revoke::Revocations;
use super::session::SigningSession;
use super::share::Shares;
use crate::pause::PATIENCE;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Digest, Instant, MemberId};
use std::collections::{BTreeMap, BTreeSet};

/// Most sessions at once.
pub(super) const SESSIONS_MAX: usize = 64;
/// Most sessions of one coordinator.
pub(super) const COORDINATOR_SESSIONS_MAX: usize = 16;

/// All signing sessions, and what this member knows of those who took part in them.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    pub(crate) sessions: BTreeMap<Digest, SigningSession>,
    pub(crate) shares: Shares,
    /// Who was silent in a session that this member coordinated, until a session succeeds.
    pub(crate) silent: BTreeSet<MemberId>,
    /// How often each took part in a session that this member coordinated and that came to nothing,
    /// until a session succeeds. Those who did so least often come first: a participant that knows
    /// one of the others to lie may have refused.
    pub(crate) failures: BTreeMap<MemberId, u32>,
    /// Who lied or was silent in a session for new shares in which this member took part, until
    /// there are new shares, or too few come without them. Everybody who took part knows the same.
    pub(crate) set_aside: BTreeSet<MemberId>,
    /// Who was proven to lie, and whether in a session for new shares: then all who took part know
    /// it too.
    pub(crate) liars: BTreeMap<MemberId, bool>,
    /// Requests for whose certificate this member has started a session, with the session and the
    /// time, until it hears that start. The start takes effect at its place in the order, and there
    /// is not to be another before.
    pub(crate) starting: BTreeMap<Digest, (Digest, Instant)>,
    /// Our one-time keys in sessions that we have started, and since when, until we hear the start;
    /// for [`PATIENCE`] at most. A session of which we hear later is over before it begins.
    pub(crate) offered: BTreeMap<Digest, (OpeningKey<Classic>, Instant)>,
    /// Counts the sessions that this member starts, from a number drawn at its own start, so that
    /// no two are alike, not even across a stop. Zero: none yet.
    pub(crate) attempts: u32,
    /// Since when a sharing is wanted.
    pub(crate) wanted: Option<Instant>,
    /// The certificates of the group's key that hold no more.
    pub(crate) revoked: Revocations,
}

impl Signers {
    /// The group has new shares. What was begun with shares that are over comes to nothing, and the
    /// runs hold copies of them.
    pub(super) fn forget_old(&mut self) {
        self.sessions.clear();
        self.silent.clear();
        self.set_aside.clear();
        self.failures.clear();
        self.wanted = None;
    }

    /// When something here is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        let sessions = self.sessions.values().flat_map(|session| {
            let gathering = session.participants.is_none() && !session.gathered;
            let step = session.step.map(|(_, since)| since);
            [
                Some(session.moved + PATIENCE),
                gathering.then(|| session.gathers_until()),
                session.answers,
                step,
            ]
        });
        let starting = self.starting.values().map(|(_, at)| Some(*at + PATIENCE));
        sessions.chain([self.wanted, self.revoked.due()]).chain(starting).flatten().min()
    }
}
