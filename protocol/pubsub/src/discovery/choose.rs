//! Which sets: who waits, who answers when, which candidate is better.

use super::api::{Danger, Papers, within};
use super::attempt::Attempt;
use super::known::Learned;
use super::message::{Held, MEMBERS_MAX, Response, Said};
use super::sets::{Candidate, Entry, Rank};
use super::{Discovery, FAILED_MAX};
use crate::base::{Blob, Digest, Entropy, Instant, draw};
use bytes::Bytes;
use core::cmp::Reverse;
use core::time::Duration;
use std::collections::BTreeMap;

/// From this rank on all answer at about the same time.
const RANKS: usize = 6;
/// So many times farther apart than they began do nodes without a group answer.
const LEADS: u32 = 3;

impl<P: Papers> Discovery<P> {
    /// Whether nothing is known against a JOIN.
    fn is_usable(&self, entry: &Entry) -> bool {
        self.is_good(entry) && !self.known.is_silent(entry.uid)
    }

    /// Whether nobody has said anything against a JOIN.
    fn is_good(&self, entry: &Entry) -> bool {
        let known = &self.known;
        known.is_current(entry) && !known.is_out(entry) && !known.is_shunned(entry)
    }

    /// Whether a candidate can become a group. The members of another group owe this node no word,
    /// so their silence says nothing of them.
    pub(super) fn are_usable(&self, candidate: &Candidate) -> bool {
        let others = self.group.as_ref().is_none_or(|group| candidate.base != Some(group.run))
            && !self.is(Danger::CountsStrangers);
        let old = |entry: &Entry| if others { self.is_good(entry) } else { self.is_usable(entry) };
        candidate.old.iter().all(old) && candidate.new.iter().all(|entry| self.is_usable(entry))
    }

    /// Whether the group can be joined to: all of it are as they were when the key was made.
    pub(super) fn stands(&self) -> bool {
        let stands = |group: &super::Group| group.order.iter().all(|entry| self.is_usable(entry));
        !self.distrust && self.group.as_ref().is_some_and(stands)
    }

    /// The rank of what this node has.
    fn best(&self) -> Option<Rank> {
        let attempt = self.attempt.as_ref().filter(|attempt| self.are_usable(&attempt.candidate));
        attempt.map(|attempt| attempt.candidate.rank()).or_else(|| {
            let group = self.group.as_ref().filter(|_| self.stands())?;
            Some((group.order.len(), 0, group.number, Reverse(group.run)))
        })
    }

    /// Everybody who ought to share the next key.
    fn present(&self) -> BTreeMap<u16, Entry> {
        let group = self.group.iter().flat_map(|group| &group.order).map(|entry| entry.uid);
        let attempt = self.attempt.iter().flat_map(|one| one.candidate.entries()).map(|entry| entry.uid);
        let wanting = self.known.iter().filter(|(_, peer)| peer.wanting).map(|(uid, _)| uid);
        let uids = group.chain(attempt).chain(wanting).chain([self.uid]);
        let current = |uid: u16| self.known.get(uid).and_then(|peer| peer.join.clone());
        let usable = uids.filter_map(current).filter(|entry| self.is_usable(entry));
        usable.map(|entry| (entry.uid, entry)).collect()
    }

    /// Whether somebody is not in the sets that this node has, or somebody in them is out.
    pub(super) fn is_needed(&self) -> bool {
        let present = self.present();
        let within = |sets: &mut dyn Iterator<Item = &Entry>| {
            let there: Vec<u16> = sets.map(|entry| entry.uid).collect();
            present.keys().all(|uid| there.contains(uid))
        };
        match (&self.attempt, &self.group) {
            (Some(attempt), _) if self.are_usable(&attempt.candidate) => {
                !within(&mut attempt.candidate.entries())
            }
            (Some(attempt), _) => !attempt.has_key(),
            (None, Some(group)) => self.raise || !self.stands() || !within(&mut group.order.iter()),
            (None, None) => present.len() > 1,
        }
    }

    fn is_locked(&self) -> bool {
        self.attempt.as_ref().is_some_and(Attempt::is_locked)
    }

    /// Members of the group answer in the order of the ring.
    fn place(&self) -> usize {
        let Some(group) = self.group.as_ref() else { return 0 };
        let usable = group.order.iter().filter(|entry| self.is_usable(entry));
        usable.take_while(|entry| entry.uid != self.uid).count()
    }

    pub(super) fn turn(&self, entropy: &mut dyn Entropy) -> Duration {
        let (first, slot) = (self.settings.times.first, self.pace.slot());
        if self.group.is_none() {
            return first + self.lot(entropy);
        }
        let place = u32::try_from(self.place().min(RANKS)).unwrap_or_default();
        let spread = if self.place() >= RANKS { slot } else { slot / 2 };
        first + self.settings.times.spread / 2 + slot.saturating_mul(place) + within(entropy, spread)
    }

    /// Nodes without a group draw lots: from the wider a span the more they are, and the sooner the
    /// more each has heard. Whoever wrote the last response goes first.
    fn lot(&self, entropy: &mut dyn Entropy) -> Duration {
        let slot = self.pace.slot();
        if self.attempt.as_ref().is_some_and(|attempt| attempt.own) {
            return within(entropy, slot / 4);
        }
        let wanting = self.known.iter().filter(|(_, peer)| peer.wanting).count();
        let wanting = u32::try_from(wanting).unwrap_or(u32::MAX);
        let span = (slot / 2).saturating_add(slot.saturating_mul(wanting) / 4);
        let after = slot.saturating_mul(4).checked_div(wanting.saturating_add(1)).unwrap_or_default();
        after + within(entropy, span)
    }

    /// Sets the time of this node's response, if one is needed.
    pub(super) fn plan(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.is_locked() || !self.is_needed() {
            (self.timers.respond, self.timers.since) = (None, None);
        } else if self.timers.respond.is_none() {
            self.timers.since = Some(now);
            if self.is_opening() {
                self.timers.lot = u32::from(u16::from_be_bytes(draw(entropy)));
                self.timers.respond = Some(self.opening(now));
                return;
            }
            let backoff = Duration::from_millis(50).saturating_mul(1 << self.failures.min(4));
            let more = if self.failures == 0 { Duration::ZERO } else { within(entropy, backoff) };
            // Whoever began first has heard all the others.
            let times = self.settings.times;
            let begun = if self.group.is_none() { self.asked + times.spread } else { now };
            self.timers.respond = Some(now.max(begun) + self.turn(entropy) + more);
        }
    }

    /// Whether nobody that this node knows has a group or a candidate.
    fn is_opening(&self) -> bool {
        self.group.is_none() && self.attempt.is_none() && self.failures == 0
    }

    /// The first answer of all. Whoever began first has heard all the others' JOINs, so it should
    /// be the one who answers; but nobody knows who that is. The last JOIN comes to all at about
    /// the same time. So each counts from there how long ago its own was, and lets that differ
    /// more.
    fn opening(&self, now: Instant) -> Instant {
        let lead = now.since(self.asked);
        let behind = self.lead_max().saturating_sub(lead).saturating_mul(LEADS);
        now + self.settings.times.first / 2 + behind + self.chance()
    }

    /// Members of a group would have been heard by then.
    fn lead_max(&self) -> Duration {
        let times = self.settings.times;
        times.first + times.spread.saturating_mul(3) / 4
    }

    /// So much later by chance: from a wider span if many JOINs came, and none came soon. Then they
    /// take long, all have heard all, and an answer takes long too.
    fn chance(&self) -> Duration {
        let came = u32::try_from(self.known.iter().filter(|(_, peer)| peer.wanting).count());
        let first = self.timers.since.map_or(Duration::ZERO, |since| since.since(self.asked));
        let slow = first
            .saturating_mul(came.unwrap_or(u32::MAX))
            .saturating_sub(self.settings.times.first + self.settings.times.spread);
        let slot = self.pace.slot();
        let span = slot + (slow / 4).min(slot.saturating_mul(10));
        span.saturating_mul(self.timers.lot) / (1 << 16)
    }

    /// A JOIN came: others may follow at once, and one response answers them all.
    pub(super) fn collect(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let before = self.timers.respond;
        self.plan(now, entropy);
        if let (Some(_), Some(at), Some(since)) = (before, self.timers.respond, self.timers.since) {
            let times = self.settings.times;
            if self.is_opening() {
                let last = since + times.first + times.spread + self.chance();
                self.timers.respond = Some(self.opening(now).min(at.max(last)));
                return;
            }
            let place = u32::try_from(self.place().min(RANKS)).unwrap_or_default();
            let last = since + times.first + times.spread + self.pace.slot().saturating_mul(place);
            self.timers.respond = Some(at.max((now + times.first / 2).min(last)));
        }
    }

    /// This node answers next.
    pub(super) fn hurry(&mut self, now: Instant) {
        if let Some(at) = self.timers.respond.as_mut() {
            *at = now;
        }
    }

    fn compose(&mut self, entropy: &mut dyn Entropy) -> Option<Candidate> {
        let attempt = self.attempt.as_ref().filter(|attempt| self.are_usable(&attempt.candidate));
        let (base, old) = match (attempt, &self.group) {
            (Some(attempt), _) => (attempt.candidate.base, attempt.candidate.old.clone()),
            (None, Some(group)) if self.stands() => (Some(group.run), group.order.clone()),
            _ => (None, Vec::new()),
        };
        let mut present = self.present();
        old.iter().for_each(|entry| drop(present.remove(&entry.uid)));
        let room = MEMBERS_MAX.saturating_sub(old.len());
        let new: Vec<Entry> = present.into_values().take(room).collect();
        if new.is_empty() {
            return None;
        }
        let numbers = old.iter().chain(&new).map(|entry| entry.number);
        let others = [self.promised, self.seen, attempt.map_or(0, |attempt| attempt.candidate.number)];
        let group = self.group.as_ref().map_or(0, |group| group.number);
        let highest = numbers.chain(others).chain([group]).max().unwrap_or_default();
        let number = if self.is(Danger::NumbersStay) { 1 } else { highest.saturating_add(1) };
        Some(Candidate::new(&self.tag, number, draw(entropy), base, old, new))
    }

    /// This node's turn to answer.
    pub(super) fn respond(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.timers.since = None;
        if self.is_locked() || !self.is_needed() {
            return;
        }
        let Some(candidate) = self.compose(entropy) else { return };
        if let Some((_, until)) = self.rival.filter(|(rank, until)| *until > now && *rank > candidate.rank())
        {
            self.timers.respond = Some(until);
            return;
        }
        self.raise = false;
        let response = self.response(now, &candidate);
        let bytes = if candidate.size() > 1 { self.say(Said::Response(response)) } else { Bytes::new() };
        self.adopt(now, candidate, bytes, true, entropy);
    }

    fn response(&self, now: Instant, candidate: &Candidate) -> Response {
        let held = |entry: &Entry| {
            let came = self.known.get(entry.uid)?.came?;
            let micros = u32::try_from(now.since(came).as_micros()).ok()?;
            Some(Held { uid: entry.uid, micros })
        };
        let held = candidate.new.iter().filter_map(held).collect();
        Response {
            proofs: self.proofs_for(candidate),
            held,
            pace: self.pace.micros(),
            ..candidate.response()
        }
    }

    /// Nobody was heard: a key of its own.
    pub(super) fn be_alone(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let free = self.group.is_none() && self.attempt.is_none() && self.rival.is_none();
        if free
            && self.present().len() == 1
            && let Some(candidate) = self.compose(entropy)
        {
            self.adopt(now, candidate, Bytes::new(), true, entropy);
        }
    }

    /// Nobody lists this node.
    pub(super) fn ask_again(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.attempt.is_none() && self.group.is_none() {
            self.join(now, entropy);
        }
    }

    /// Goes over to a candidate.
    pub(super) fn adopt(
        &mut self,
        now: Instant,
        candidate: Candidate,
        response: Bytes,
        own: bool,
        entropy: &mut dyn Entropy,
    ) {
        let alone = candidate.size() == 1;
        let mut attempt = Attempt::new(candidate, response, self.uid, now);
        attempt.own = own;
        attempt.share_at = if alone { now } else { now + self.pace.settle() };
        attempt.repeat_at = attempt.share_at + self.pace.repeat();
        attempt.deadline = attempt.share_at + self.pace.patience();
        if let Some(former) = self.attempt.replace(attempt).filter(Attempt::has_key) {
            self.doubt = Some(former);
        }
        self.rival = None;
        (self.timers.respond, self.timers.since, self.timers.again) = (None, None, None);
        self.plan(now, entropy);
    }

    /// Forgets a candidate for good.
    pub(super) fn give_up(&mut self, candidate: Digest) {
        self.failed.push_back(candidate);
        if self.failed.len() > FAILED_MAX {
            self.failed.pop_front();
        }
    }

    /// Takes a JOIN_Response.
    pub(super) fn on_response(
        &mut self,
        now: Instant,
        bytes: &[u8],
        author: &Entry,
        response: &Response,
        entropy: &mut dyn Entropy,
    ) {
        let read = |blobs: &[Blob]| -> Option<Vec<Entry>> {
            blobs.iter().map(|blob| self.read_entry(&blob.0)).collect()
        };
        let Some((old, new)) = read(&response.old).zip(read(&response.new)) else { return self.refuse() };
        if !are_sets(&old, &new) {
            return self.refuse();
        }
        let mut changed = false;
        for proof in response.proofs.clone() {
            changed |= self.take_proof(proof);
        }
        self.compare(response);
        if changed {
            self.changed(now, entropy);
        }
        let claim = new.is_empty();
        let learned: Vec<Learned> = old.iter().chain(&new).map(|entry| self.learn(entry)).collect();
        if claim {
            return self.on_claim(now, author, response, &old, entropy);
        }
        let candidate = Candidate::new(&self.tag, response.number, response.salt, response.base, old, new);
        self.measure(now, &candidate, response);
        let useful =
            !learned.iter().any(|one| matches!(one, Learned::Stale | Learned::Duplicate | Learned::Full));
        if let Some(out) = candidate.entries().find(|entry| self.known.is_out(entry)).cloned() {
            self.teach(now, &out);
        } else if useful {
            self.weigh(now, candidate, Bytes::copy_from_slice(bytes), author, entropy);
        }
        self.plan(now, entropy);
    }

    fn measure(&mut self, now: Instant, candidate: &Candidate, response: &Response) {
        self.pace.learn(Duration::from_micros(response.pace.into()));
        let mine = candidate.entry(self.uid).is_some_and(|entry| self.is_me(entry));
        let held = response.held.iter().find(|held| held.uid == self.uid && mine);
        if let Some(held) = held {
            let all = now.since(self.asked);
            self.pace.learn(all.saturating_sub(Duration::from_micros(held.micros.into())));
        }
    }

    /// PUB-44, PUB-45: goes over to a candidate if it lists this node and is better.
    pub(super) fn weigh(
        &mut self,
        now: Instant,
        candidate: Candidate,
        bytes: Bytes,
        author: &Entry,
        entropy: &mut dyn Entropy,
    ) {
        let same = |attempt: &Attempt| attempt.candidate.digest == candidate.digest;
        if self.failed.contains(&candidate.digest) || self.attempt.as_ref().is_some_and(same) {
            return;
        }
        match candidate.entry(self.uid) {
            None => return self.on_rival(now, candidate.rank(), entropy),
            Some(entry) if !self.is_me(entry) => return self.refuse(),
            Some(_) => {}
        }
        if self.misplaces(now, &candidate) {
            return self.refuse();
        }
        // PUB-47.
        if candidate.number <= self.promised && !self.is(Danger::NumbersStay) {
            // If all in it share this node's key already, it was recorded, or somebody was left
            // behind and finds that out by itself.
            let own = |group: &super::Group| candidate.entries().all(|entry| group.order.contains(entry));
            self.raise |= !self.group.as_ref().is_some_and(own);
            self.tell_number(now, entropy);
            return self.refuse();
        }
        let mine = |group: &super::Group| group.order.iter().any(|entry| entry.uid == author.uid);
        let broken = candidate.base.is_none() && self.group.as_ref().is_some_and(mine);
        let free = self.attempt.is_none() && broken;
        let better = free || self.best().is_none_or(|best| candidate.rank() > best);
        let keeps = self.is(Danger::KeepsFirst) && self.attempt.is_some();
        if !better || keeps || self.is_locked() || !self.are_usable(&candidate) {
            self.keep_other(candidate, bytes);
        } else {
            self.adopt(now, candidate, bytes, false, entropy);
        }
    }

    /// Others do not know how high this node's number is.
    fn tell_number(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.group.is_some() {
            self.show(now, entropy);
        } else if self.attempt.is_none() && now.since(self.asked) > self.pace.patience() {
            self.join(now, entropy);
        }
    }

    fn keep_other(&mut self, candidate: Candidate, bytes: Bytes) {
        if self.other.as_ref().is_none_or(|(other, _)| candidate.rank() > other.rank()) {
            self.other = Some((candidate, bytes));
        }
    }

    /// Whether the candidate says something of this node's group that is not so.
    fn misplaces(&mut self, now: Instant, candidate: &Candidate) -> bool {
        let old = candidate.old.iter().any(|entry| entry.uid == self.uid);
        let Some(group) = self.group.as_ref() else { return old };
        let same = candidate.base == Some(group.run);
        if !old {
            return same;
        }
        let orders = candidate.old.iter().zip(&group.order).all(|(one, other)| one.digest == other.digest);
        let fits = same && orders && candidate.old.len() == group.order.len();
        if !fits && candidate.number <= group.number {
            self.timers.beacon = Some(now);
        }
        !fits
    }

    /// A candidate that lacks this node: its members will answer this node's JOIN. A group that is
    /// the smaller one names itself.
    pub(super) fn on_rival(&mut self, now: Instant, rank: Rank, entropy: &mut dyn Entropy) {
        if self.is(Danger::JoinsAgain) {
            self.join(now, entropy);
        }
        if self.best().is_some_and(|best| rank < best) {
            return;
        }
        let times = self.settings.times;
        let until = now + self.pace.repeat() + times.first + times.spread + self.pace.slot() * 2;
        let former = self.rival.filter(|(_, until)| *until > now).map(|(rank, _)| rank);
        self.rival = Some((former.map_or(rank, |former| former.max(rank)), until));
        if self.group.is_some() && self.timers.claim.is_none() {
            self.timers.claim = Some(now + self.turn(entropy));
        }
    }
}

/// PUB-43: nobody twice, and J by id.
fn are_sets(old: &[Entry], new: &[Entry]) -> bool {
    let mut uids: Vec<u16> = old.iter().chain(new).map(|entry| entry.uid).collect();
    uids.sort_unstable();
    uids.windows(2).all(|pair| pair.first() != pair.last())
        && new.is_sorted_by(|one, other| one.uid < other.uid)
}
