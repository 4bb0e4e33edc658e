//! Groups hear of one another: one member of each says now and then that it is there, and the
//! smaller group names itself to the larger one.

use super::Discovery;
use super::api::{Danger, Papers, within};
use super::message::{Beacon, HeardUpTo, Proof, Response, Said};
use super::sets::{Candidate, Entry, Rank};
use crate::base::{Blob, Entropy, Instant};
use core::cmp::Reverse;

/// So many attempts of its own came to nothing before a node joins anew instead.
const VAIN: u32 = 2;

impl<P: Papers> Discovery<P> {
    /// The next beacon of the group, if nobody else of it is first.
    pub(super) fn await_beacon(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let every = self.settings.times.beacon;
        self.timers.beacon = Some(now + every + within(entropy, every / 2));
    }

    /// Says that the group is here.
    pub(super) fn beacon(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let Some((group, me)) = self.group.as_ref().zip(self.me.as_ref()) else { return };
        let size = u16::try_from(group.order.len()).unwrap_or(u16::MAX);
        let beacon = Beacon { join: Blob(me.bytes.clone()), run: group.run, number: group.number, size };
        self.say(Said::Beacon(beacon));
        self.remind();
        self.await_beacon(now, entropy);
    }

    /// Tells whoever said something old how far it was heard: it may have forgotten that (PUB-79).
    fn remind(&mut self) {
        let peer = self.forgetful.take().and_then(|uid| self.known.get(uid));
        let heard = peer.map(|peer| HeardUpTo { holder: peer.holder, instance: peer.latest() });
        self.notify(heard.map(Proof::Heard).into_iter().collect());
    }

    /// Lets the others hear of the group soon, though not at every word.
    pub(super) fn show(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let soon = now + self.turn(entropy);
        let least = self.settings.times.beacon / 4;
        if self.timers.quiet.is_none_or(|quiet| quiet <= now) {
            self.timers.quiet = Some(now + least);
            self.timers.beacon = Some(self.timers.beacon.map_or(soon, |at| at.min(soon)));
        }
    }

    fn standing(&self) -> Option<Rank> {
        let group = self.group.as_ref()?;
        Some((group.order.len(), 0, group.number, Reverse(group.run)))
    }

    pub(super) fn on_beacon(
        &mut self,
        now: Instant,
        from: &Entry,
        beacon: &Beacon,
        entropy: &mut dyn Entropy,
    ) {
        self.seen = self.seen.max(beacon.number);
        let doubts = self.doubt.as_ref().is_some_and(|one| one.candidate.digest == beacon.run);
        let runs = self.attempt.as_ref().is_some_and(|one| one.candidate.digest == beacon.run);
        let Some(group) = self.group.as_ref() else {
            if doubts {
                self.timers.ask = Some((now, from.uid, beacon.run));
            }
            return;
        };
        if beacon.run == group.run {
            return self.await_beacon(now, entropy);
        }
        if runs {
            return;
        }
        let fellow = group.order.iter().any(|entry| entry.uid == from.uid);
        let rank = (usize::from(beacon.size), 0, beacon.number, Reverse(beacon.run));
        // Of two runs that both list a fellow only one can be the group's; all choose alike.
        let later = (beacon.number, beacon.size, Reverse(beacon.run))
            > (group.number, u16::try_from(group.order.len()).unwrap_or(u16::MAX), Reverse(group.run));
        match () {
            () if doubts => self.timers.ask = Some((now, from.uid, beacon.run)),
            () if fellow && later => self.fall_behind(now),
            () if fellow || self.standing().is_some_and(|mine| mine > rank) => self.show(now, entropy),
            () => self.on_rival(now, rank, entropy),
        }
        if doubts {
            self.fall_behind(now);
        }
    }

    /// The group went on without this node. Unless it catches up, it asks to join anew.
    fn fall_behind(&mut self, now: Instant) {
        if self.timers.behind.is_none() && self.may_leave_attempt(now) {
            self.timers.behind = Some(now + self.pace.repeat() * 2);
        }
    }

    /// Whether nothing is lost if this node joins anew: it is in no attempt, or those who went on
    /// do not heed what it begins. Not often: a new JOIN makes all begin anew who listed the old
    /// one.
    pub(super) fn may_leave_attempt(&self, now: Instant) -> bool {
        let in_vain = self.failures >= VAIN && now.since(self.asked) > self.settings.times.again * 2;
        let leaves = in_vain && !self.is(Danger::StaysBehind);
        self.attempt.as_ref().is_none_or(|attempt| leaves && attempt.own && !attempt.is_locked())
    }

    /// The smaller group names its members, so that the larger one takes them in.
    pub(super) fn claim(&mut self, now: Instant) {
        let Some(group) = self.group.as_ref() else { return };
        if self.attempt.is_some() || self.rival.is_none_or(|(_, until)| until <= now) {
            return;
        }
        let (number, order) = (group.number, group.order.clone());
        let claim = Candidate::new(&self.tag, number, [0; 16], Some(group.run), order, Vec::new());
        let response = Response { pace: self.pace.micros(), ..claim.response() };
        self.say(Said::Response(response));
    }

    /// Another group, or a fellow of this one, names its members.
    pub(super) fn on_claim(
        &mut self,
        now: Instant,
        author: &Entry,
        response: &Response,
        order: &[Entry],
        entropy: &mut dyn Entropy,
    ) {
        let run = response.base.unwrap_or_default();
        self.seen = self.seen.max(response.number);
        let group = self.group.as_ref();
        if group.is_some_and(|group| group.run == run) {
            self.timers.claim = None;
            return;
        }
        let fellow = group.is_some_and(|group| group.order.iter().any(|one| one.digest == author.digest));
        if fellow {
            let theirs = (response.number, order.len(), Reverse(run));
            let mine = |group: &super::Group| (group.number, group.order.len(), Reverse(group.run));
            let behind = group.is_some_and(|group| mine(group) < theirs);
            return if behind { self.fall_behind(now) } else { self.show(now, entropy) };
        }
        let rank = (order.len(), 0, response.number, Reverse(run));
        let larger = self.standing().is_none_or(|mine| rank > mine);
        for entry in order {
            if !self.known.is_current(entry) {
                continue;
            }
            let mine = self.group.iter().flat_map(|group| &group.order).any(|one| one.uid == entry.uid);
            if let Some(peer) = self.known.get_mut(entry.uid) {
                (peer.silent, peer.wanting) = (false, !mine && !larger);
            }
        }
        if larger {
            self.on_rival(now, rank, entropy);
        }
        self.plan(now, entropy);
    }
}
