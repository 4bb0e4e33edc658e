//! What a member knows of signing sessions: the sessions, its shares, the revocation list, and what
//! it knows of other signers.

use super::others::Others;
use super::revoke::Revocations;
use super::session::SigningSession;
use super::share::Shares;
use crate::AdmissionError;
use crate::at_authority::AtAuthority;
use crate::call::{Call, Out};
use crate::pause::PATIENCE;
use crate::requests::Requests;
use core::time::Duration;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Digest, Entropy, Instant, MemberId, StoreKey, digest};
use folkmoot_identity::{Identity, RevocationList};
use folkmoot_transcript::{Change, Effect, Roster, Transcript};
use std::collections::BTreeMap;

/// Most sessions at once.
pub(super) const SESSIONS_MAX: usize = 64;
/// Most sessions of one coordinator.
pub(super) const COORDINATOR_SESSIONS_MAX: usize = 16;

/// What signing sessions use of the other parts, in one call.
pub(crate) struct Around<'a> {
    pub(crate) requests: &'a mut Requests,
    pub(crate) authority: &'a AtAuthority,
    pub(crate) out: &'a mut Out,
    pub(crate) entropy: &'a mut dyn Entropy,
}

/// All signing sessions, and what this member knows of those who took part in them.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    pub(super) sessions: BTreeMap<Digest, SigningSession>,
    pub(super) shares: Shares,
    pub(super) others: Others,
    /// Requests for whose certificate this member has started a session, with the session and the
    /// time, until it hears that start. The start takes effect at its place in the order, and there
    /// is not to be another before.
    pub(super) starting: BTreeMap<Digest, (Digest, Instant)>,
    /// Our one-time keys in sessions that we have started, and since when, until we hear the start;
    /// for [`PATIENCE`] at most. A session of which we hear later is over before it begins.
    pub(super) offered: BTreeMap<Digest, (OpeningKey<Classic>, Instant)>,
    /// Counts the sessions that this member starts, from a number drawn at its own start, so that
    /// no two are alike, not even across a stop. Zero: none yet.
    pub(super) attempts: u32,
    /// When this member has a sharing made, if one is wanted.
    pub(super) wanted: Option<Instant>,
    /// How often, one time after the other, participants that this member named for a sharing were
    /// refused at their place in the order.
    pub(super) missed: u32,
    /// Since when a sharing is wanted while voters are away.
    pub(super) away: Option<Instant>,
    /// Whoever asked lately for the share that it has lost, and when: until it has it, or asks no
    /// more.
    pub(super) lost: BTreeMap<MemberId, Instant>,
    /// When this member asks for the share that it has lost.
    pub(super) repair: Option<Instant>,
    /// The certificates of the group's key that hold no more.
    pub(super) revoked: Revocations,
}

impl Signers {
    /// Takes a share from the disk.
    pub(crate) fn load_share(
        &mut self,
        transcript: &Transcript,
        identity: &Identity,
        (key, value): (&StoreKey, &[u8]),
        out: &mut Out,
    ) -> Option<()> {
        self.shares.load(transcript, identity, key, value, out)
    }

    /// All shares are read back.
    pub(crate) fn loaded_shares(&mut self, transcript: &Transcript) {
        self.shares.loaded(transcript);
    }

    /// Takes the revocation list from the disk.
    pub(crate) fn load_revocations(&mut self, transcript: &Transcript, der: &[u8]) {
        self.revoked.load(transcript, der);
    }

    /// `ADM-48`: hears a revocation list, or a question for ours.
    pub(crate) fn hear_revocations(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        der: &[u8],
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        self.revoked.hear(call, sender, der, out)
    }

    /// The authority told us a list: we tell the others, unless it tells them too.
    pub(crate) fn spread_revocations(&mut self, call: &Call<'_>, der: &[u8]) {
        self.revoked.spread(call, der);
    }

    /// The newest revocation list that this member has.
    pub(crate) fn revocations(&self) -> Option<&RevocationList> {
        self.revoked.kept()
    }

    /// How many sessions there are, how long the one that moved least recently has stood still, and
    /// whether this member has a share of the sharing in use.
    pub(crate) fn status(&self, now: Instant, roster: &Roster) -> (usize, Duration, bool) {
        let still = self.sessions.values().map(|session| now.since(session.moved)).max();
        (self.sessions.len(), still.unwrap_or_default(), self.shares.holds(roster))
    }

    /// The group has new shares. What was begun with shares that are over comes to nothing, and the
    /// runs hold copies of them.
    pub(super) fn forget_old(&mut self) {
        self.sessions.clear();
        self.others.forget();
        self.wanted = None;
        self.missed = 0;
        self.away = None;
        self.repair = None;
        self.lost.clear();
    }

    /// Somebody may be here who can give us our share.
    pub(crate) fn regrouped(&mut self, now: Instant) {
        self.repair = self.repair.map(|_| now);
    }

    /// `ADM-74`: whether this member may say yes to this effect: to a sharing only with its share
    /// of it on disk.
    pub(crate) fn may_approve(&self, effect: &Effect) -> bool {
        let Change::Sharing { public, .. } = &effect.change else { return true };
        self.shares.has_waiting(&digest(&[&public.0]))
    }

    /// When something here is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        let sessions = self.sessions.values().flat_map(|session| {
            let gathering = session.participants.is_none() && !session.gathered;
            let step = session.step.map(|(_, since)| since);
            let asks = session.ready.contains_key(&session.coordinator);
            let hands_in = session.hands_in.filter(|_| asks).map(|(at, _)| at);
            [
                Some(session.moved + PATIENCE),
                hands_in,
                gathering.then(|| session.gathers_until()),
                session.answers,
                step,
            ]
        });
        let starting = self.starting.values().map(|(_, at)| Some(*at + PATIENCE));
        let own = [self.wanted, self.repair, self.revoked.due()];
        sessions.chain(own).chain(starting).flatten().min()
    }
}
