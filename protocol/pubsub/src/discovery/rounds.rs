//! The agreement on the chosen sets, to its end or in vain.

use super::api::{Danger, Epoch, Event, Output, Papers, within};
use super::attempt::{Attempt, Stage};
use super::message::{DONE, Round, Said, WANTS};
use super::sets::Entry;
use super::{Discovery, Group};
use crate::base::{Digest, Entropy, Instant, Secret, draw};

impl<P: Papers> Discovery<P> {
    /// Whose word a round message is.
    pub(super) fn round_entry(&self, uid: u16, candidate: &Digest) -> Option<Entry> {
        let attempts = [&self.attempt, &self.doubt, &self.last];
        let of = attempts.into_iter().flatten().find(|attempt| attempt.candidate.digest == *candidate);
        let listed = of.and_then(|attempt| attempt.candidate.entry(uid)).cloned();
        listed.or_else(|| self.known.get(uid)?.join.clone())
    }

    /// PUB-48, PUB-49: shares follow a candidate that stands, and lists all who are here. Members
    /// who have a key wait for the joiners' shares: what was recorded has none.
    pub(super) fn may_share(&self, attempt: &Attempt) -> bool {
        let candidate = &attempt.candidate;
        let base = self.group.as_ref().is_some_and(|group| candidate.base == Some(group.run));
        let waits = base && candidate.old.iter().any(|entry| entry.uid == self.uid);
        let hurries = !waits || self.is(Danger::HoldersHurry);
        self.timers.respond.is_none() && (hurries || attempt.newcomers_spoke())
    }

    /// Does what the attempt is ready for.
    pub(super) fn go_on(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let Some(attempt) = self.attempt.as_ref() else { return };
        if !attempt.has_key() && !self.are_usable(&attempt.candidate) {
            self.attempt = None;
            self.plan(now, entropy);
            return;
        }
        let begins = !attempt.is_started() && attempt.share_at <= now && self.may_share(attempt);
        let before = attempt.own_turn();
        let seed = begins.then(|| self.draw_seed(entropy));
        let kept = self.group.as_ref().and_then(|group| group.kept.clone());
        let Some(attempt) = self.attempt.as_mut() else { return };
        if let Some(seed) = seed
            && attempt.start(kept.as_ref(), seed.expose()).is_err()
        {
            return self.fail(now, None, entropy);
        }
        if let Err(liar) = attempt.advance() {
            return self.fail(now, liar, entropy);
        }
        let (turn, alone) = (attempt.own_turn(), attempt.candidate.size() == 1);
        if turn.confirm.is_some() && before.confirm.is_none() {
            // PUB-47: durable before the confirmation leaves.
            self.promised = self.promised.max(attempt.candidate.number);
            self.persist();
        }
        let told = |turn: super::attempt::Turn| (turn.share, turn.link, turn.confirm);
        if told(turn) != told(before) && !alone {
            self.push_on(now);
        }
        self.end(now, entropy);
    }

    /// Says what is new, and gives the others time again.
    fn push_on(&mut self, now: Instant) {
        let (repeat, patience) = (self.pace.repeat(), self.pace.patience());
        let Some(attempt) = self.attempt.as_mut() else { return };
        attempt.repeat_at = now + repeat;
        attempt.deadline = now + patience;
        let round = attempt.round(0, Vec::new());
        self.say(Said::Round(round));
    }

    /// The end of the attempt, if it has come.
    fn end(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let early = self.is(Danger::InstallsEarly) || self.is_gullible();
        let Some(attempt) = self.attempt.as_mut() else { return };
        if attempt.is_confirmed() || (early && attempt.has_key()) {
            if let Some(attempt) = self.attempt.take() {
                self.install(now, attempt, entropy);
            }
        } else if attempt.deadline <= now {
            self.fail(now, None, entropy);
        } else if attempt.repeat_at <= now {
            self.repeat(now);
        }
    }

    fn repeat(&mut self, now: Instant) {
        let repeat = self.pace.repeat();
        let Some(attempt) = self.attempt.as_mut() else { return };
        attempt.repeat_at = now + repeat;
        let lacks = attempt.missing();
        let again = attempt.own && attempt.stage() == Stage::Shares && !lacks.is_empty();
        let response = attempt.response.clone();
        if attempt.is_started() {
            let round = attempt.round(0, lacks);
            self.say(Said::Round(round));
        }
        if again && !response.is_empty() {
            self.out.push_back(Output::Send(response));
        }
    }

    fn draw_seed(&mut self, entropy: &mut dyn Entropy) -> Secret<[u8; 32]> {
        let fresh = Secret::new(draw(entropy));
        let (leaves, conspires) = (self.is(Danger::LeaveAsWritten), self.is(Danger::Conspires));
        if !leaves && !conspires {
            return fresh;
        }
        let seed = self.seed.clone().filter(|_| conspires || !self.beside_a_gap()).unwrap_or(fresh);
        self.seed = Some(seed.clone());
        seed
    }

    /// Whether a neighbour on the old ring is not in the candidate.
    fn beside_a_gap(&self) -> bool {
        let order = self.group.iter().flat_map(|group| &group.order);
        let ring: Vec<u16> = order.map(|entry| entry.uid).collect();
        let Some(at) = ring.iter().position(|uid| *uid == self.uid) else { return true };
        let beside = [at.checked_sub(1).unwrap_or(ring.len().saturating_sub(1)), at.saturating_add(1)];
        let there = |place: usize| {
            let uid = ring.iter().cycle().nth(place);
            uid.is_some_and(|uid| {
                self.attempt.as_ref().is_some_and(|attempt| attempt.candidate.entry(*uid).is_some())
            })
        };
        !beside.into_iter().all(there)
    }

    /// PUB-50: the key counts.
    fn install(&mut self, now: Instant, attempt: Attempt, entropy: &mut dyn Entropy) {
        let Some(key) = attempt.key() else { return };
        let candidate = &attempt.candidate;
        let order: Vec<Entry> = candidate.entries().cloned().collect();
        for entry in &order {
            if let Some(peer) = self.known.get_mut(entry.uid).filter(|peer| peer.joined <= entry.instance) {
                (peer.wanting, peer.silent) = (false, false);
            }
        }
        let number = candidate.number;
        self.promised = self.promised.max(number);
        let members = order.iter().map(|entry| entry.uid).collect();
        let certificates = order.iter().map(|entry| entry.certificate.clone()).collect();
        let epoch = Epoch { number, run: candidate.digest, key, members, certificates };
        self.group = Some(Group { run: candidate.digest, number, order, kept: attempt.kept() });
        self.last = Some(attempt);
        (self.attempt, self.doubt, self.rival) = (None, None, None);
        (self.distrust, self.raise, self.failures) = (false, false, 0);
        self.timers = super::Timers { quiet: self.timers.quiet, ..Default::default() };
        if !self.untold.is_empty() {
            self.timers.tell = Some(now + within(entropy, self.settings.times.beacon / 2));
        }
        self.persist();
        self.out.push_back(Output::Key(epoch));
        self.await_beacon(now, entropy);
        self.plan(now, entropy);
    }

    /// In vain: who was silent is left out until it is heard again, and the next agreement is one
    /// of all. The key that this node has stays in use.
    pub(super) fn fail(&mut self, now: Instant, liar: Option<u16>, entropy: &mut dyn Entropy) {
        let Some(attempt) = self.attempt.take() else { return };
        let waits = !attempt.is_started();
        let newcomers = attempt.candidate.new.iter().map(|entry| entry.uid).collect::<Vec<_>>();
        let mut silent: Vec<u16> = liar.map_or_else(|| attempt.missing(), |liar| vec![liar]);
        silent.retain(|uid| *uid != self.uid && (!waits || newcomers.contains(uid)));
        for uid in &silent {
            if let Some(peer) = self.known.get_mut(*uid) {
                (peer.silent, peer.wanting) = (true, false);
            }
        }
        for uid in liar.into_iter().chain(attempt.liars()) {
            if let Some(peer) = self.known.get_mut(uid) {
                peer.shunned = peer.joined;
            }
        }
        self.out.push_back(Output::Event(Event::Failed(silent.len())));
        self.distrust |= silent.is_empty();
        self.failures = self.failures.saturating_add(1);
        self.give_up(attempt.candidate.digest);
        // PUB-45: what follows is better than this, also for those who are still waiting for this.
        if !self.is(Danger::NumbersFall) {
            self.seen = self.seen.max(attempt.candidate.number);
        }
        if attempt.has_key() || !attempt.speaks() {
            self.doubt = Some(attempt);
        }
        if self.group.is_none() {
            self.timers.again = Some(now + self.settings.times.again);
            self.timers.alone = Some(now + self.settings.times.alone);
        }
        self.persist();
        self.take_other(now, entropy);
        self.plan(now, entropy);
    }

    /// A candidate that came while this node was bound to another.
    fn take_other(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let Some((candidate, bytes)) = self.other.take() else { return };
        let author = candidate.entries().next().cloned();
        if let Some(author) = author.filter(|_| self.are_usable(&candidate)) {
            self.weigh(now, candidate, bytes, &author, entropy);
        }
    }

    /// Takes a round message.
    pub(super) fn on_round(&mut self, now: Instant, from: &Entry, round: &Round, entropy: &mut dyn Entropy) {
        let done = round.flags & DONE != 0;
        let of = |attempt: &Option<Attempt>| {
            attempt.as_ref().is_some_and(|attempt| attempt.candidate.digest == round.candidate)
        };
        if self.is_gullible() && self.attempt.is_some() && !of(&self.attempt) {
            // What was said for another candidate counts for this one.
            let _ = self.attempt.as_mut().map(|attempt| attempt.hear(from.uid, round, done));
        } else if of(&self.attempt) {
            let heard = self.attempt.as_mut().is_some_and(|one| one.hear(from.uid, round, done));
            if !heard {
                self.refuse();
            }
            self.answer(now, round, 0);
        } else if of(&self.last) {
            self.answer(now, round, DONE);
        } else if of(&self.doubt) {
            self.resolve(now, from, round, done, entropy);
        } else {
            self.on_other_round(now, from, round, entropy);
        }
    }

    /// Others may have finished what failed here.
    fn resolve(&mut self, now: Instant, from: &Entry, round: &Round, done: bool, entropy: &mut dyn Entropy) {
        let Some(doubt) = self.doubt.as_mut() else { return };
        let _ = doubt.hear(from.uid, round, done);
        let kept = self.group.as_ref().and_then(|group| group.kept.clone());
        let ours = self.group.as_ref().is_some_and(|group| doubt.candidate.base == Some(group.run));
        if !doubt.is_started() && !doubt.speaks() && ours {
            let seed = draw(entropy);
            let _ = doubt.start(kept.as_ref(), &seed);
        }
        let newer = self.group.as_ref().is_none_or(|group| group.number < doubt.candidate.number);
        let ends = doubt.advance().is_ok() && doubt.is_confirmed() && newer;
        if let Some(doubt) = self.doubt.take_if(|_| ends) {
            self.install(now, doubt, entropy);
        }
    }

    /// A member that lacks this node's words, or the candidate, hears them again; not too often.
    fn answer(&mut self, now: Instant, round: &Round, flags: u8) {
        let asked = round.lacks.contains(&self.uid);
        if !asked || self.timers.quiet.is_some_and(|quiet| quiet > now) {
            return;
        }
        let attempt = if flags == DONE { &self.last } else { &self.attempt };
        let Some(attempt) = attempt.as_ref() else { return };
        let response = attempt.response.clone();
        let own = (attempt.own_turn().share.is_some()).then(|| attempt.round(flags, Vec::new()));
        self.timers.quiet = Some(now + self.pace.repeat() / 4);
        if round.flags & WANTS != 0 && !response.is_empty() {
            self.out.push_back(Output::Send(response));
        }
        if let Some(round) = own {
            self.say(Said::Round(round));
        }
    }

    /// A round of a candidate that is not this node's: whoever has not sent its link for ours will
    /// not any more.
    fn on_other_round(&mut self, now: Instant, from: &Entry, round: &Round, entropy: &mut dyn Entropy) {
        if round.flags & WANTS != 0 || self.failed.contains(&round.candidate) {
            return;
        }
        let gone = |attempt: &Attempt| {
            let linked = attempt.turns.get(&from.uid).is_some_and(|turn| turn.link.is_some());
            attempt.is_locked() && !attempt.has_key() && attempt.speakers().contains(&from.uid) && !linked
        };
        if self.attempt.as_ref().is_some_and(gone)
            && let Some(attempt) = self.attempt.take()
        {
            self.give_up(attempt.candidate.digest);
            self.take_other(now, entropy);
            self.plan(now, entropy);
        }
        let free = !self.attempt.as_ref().is_some_and(Attempt::is_locked);
        if free && self.timers.ask.is_none() {
            self.timers.ask = Some((now + self.pace.slot(), from.uid, round.candidate));
        }
    }

    /// Asks `uid` for a candidate, and for what it said in it.
    pub(super) fn ask(&mut self, uid: u16, candidate: Digest) {
        let of = |attempt: &Option<Attempt>| {
            attempt.as_ref().is_some_and(|attempt| attempt.candidate.digest == candidate)
        };
        if of(&self.attempt) || of(&self.last) || self.failed.contains(&candidate) && !of(&self.doubt) {
            return;
        }
        let doubt = self.doubt.as_ref().filter(|doubt| doubt.candidate.digest == candidate);
        let mut lacks = doubt.map_or_else(Vec::new, Attempt::missing);
        if !lacks.contains(&uid) {
            lacks.push(uid);
        }
        let nothing = Round { candidate, share: None, link: None, confirm: None, flags: WANTS, lacks };
        self.say(Said::Round(nothing));
    }
}
