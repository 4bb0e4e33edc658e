//! What a voter must ask of a fresh proposal before it judges it right, in the model's own words.

use crate::node::{Fault, Node, START};
use crate::wishes::named;
use crate::world::DAY;
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::{Adopt, Policy};
use folkmoot_transcript::{
    Admit, Approval, Approved, BallotMessage, Batch, Change, Decision, EFFECTS_MAX, IDLE_SECONDS, Report,
    SKEW_SECONDS, admission,
};
use std::collections::{BTreeMap, BTreeSet};

/// How long something must have been known, or be over, before it is asked for.
const KNOWN_SECONDS: u64 = 60;

/// What is gone is seen about so soon, and admissions are looked at so often.
const SOON_SECONDS: u64 = 20;

/// What could be decided here at the last look and since when, and since when what was there before
/// is gone.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    known: BTreeMap<Digest, u64>,
    gone: BTreeMap<Digest, u64>,
    at: Option<(Digest, UnixTime, usize, bool)>,
    /// When it last looked.
    looked: u64,
    /// What could be decided at the last look.
    effects: Vec<Approved>,
    holds: BTreeSet<Digest>,
}

impl Node {
    /// What could be decided here: effects, until nothing more stands after those before it
    /// (LINE-67), and holdings.
    /// Where the time may go back, what does not stand before the effect that takes it back waits.
    fn ready(&self, clock: UnixTime, time: UnixTime) -> (Vec<Approved>, BTreeSet<Digest>) {
        let (state, set) = (self.state(), self.set());
        if !set.goes_on(state) {
            return (Vec::new(), BTreeSet::new());
        }
        let holds = set.holdable(state, time);
        let mut batch = Batch { time, holds: holds.iter().copied().collect(), ..Batch::default() };
        let back = Change::Retime { head: state.head() };
        let goes_back = |one: &Approved| clock < state.time() && one.effect.change == back;
        let (back, approved): (Vec<Approved>, Vec<Approved>) =
            set.approved(state, time).into_iter().partition(goes_back);
        if !back.is_empty() {
            batch.time = clock;
        }
        batch.effects = back;
        let (mut place, mut left) = (0, approved);
        // What does not stand yet may stand behind another.
        while !left.is_empty() {
            let before = left.len();
            left.retain(|approved| {
                batch.effects.insert(place, approved.clone());
                let stands = state.decide(batch.clone(), |request| set.admit(request)).is_ok();
                if stands {
                    place += 1;
                } else {
                    batch.effects.remove(place);
                }
                !stands
            });
            if left.len() == before {
                break;
            }
        }
        (batch.effects, holds)
    }

    fn now(&self, seconds: u64) -> Option<UnixTime> {
        Some(self.clock(seconds)?.max(self.state().time()).max(self.set().past()))
    }

    /// Notes what could be decided here.
    pub(crate) fn note_ready(&mut self, seconds: u64) {
        let (Some(clock), Some(time)) = (self.clock(seconds), self.now(seconds)) else { return };
        let sides = self.line.forks().values().map(|fork| 1 + usize::from(!fork.coming.is_empty())).sum();
        let goes_back = clock < self.state().time();
        let at = Some((self.set().digest(), time, sides, goes_back));
        if self.watch.at == at {
            self.watch.looked = seconds;
            return;
        }
        self.watch.at = at;
        let (effects, holds) = self.ready(clock, time);
        let effects_named = effects.iter().map(|one| one.effect.subject().digest);
        let names: BTreeSet<Digest> = effects_named.chain(holds.iter().copied()).collect();
        (self.watch.effects, self.watch.holds) = (effects, holds);
        self.watch.gone.retain(|_, since| seconds - *since <= KNOWN_SECONDS + SOON_SECONDS);
        let gone = self.watch.known.keys().filter(|name| !names.contains(*name)).copied();
        let gone: Vec<Digest> = gone.collect();
        for name in gone {
            self.watch.known.remove(&name);
            self.watch.gone.insert(name, self.watch.looked);
        }
        for name in names {
            self.watch.known.entry(name).or_insert(seconds);
        }
        self.watch.looked = seconds;
    }

    fn was_ready(&self, name: &Digest, seconds: u64) -> bool {
        let recent =
            self.watch.gone.get(name).is_some_and(|since| seconds - since <= KNOWN_SECONDS + SOON_SECONDS);
        recent || self.watch.known.contains_key(name)
    }

    /// Whether approvals are here of all that a decision holds: whoever commits can apply it.
    pub(crate) fn has_approvals(&self, decision: &Decision) -> bool {
        let (state, set) = (self.state(), self.set());
        let by_votes = state.charter().policies().policy != Policy::List && !state.is_for_authority();
        let auto = state.charter().adopt() == Adopt::Auto;
        let time = if auto { UnixTime(0) } else { decision.time };
        let lacks = |request: &Digest| {
            let stamp = set.admit(request).map_or(0, |admit| state.removed_at(&admit.member));
            let subject = admission(*request);
            let given = set.approvals().map(|signed| &signed.approval).filter(|one| one.subject == subject);
            let yes = given.chain(set.besides(request)).filter(|one| one.is_yes());
            let counts = yes.filter(|yes| state.counts(yes, stamp, time).is_ok());
            counts.map(|yes| yes.voter).collect::<BTreeSet<MemberId>>().len() < state.threshold()
        };
        !by_votes || !decision.holds.iter().any(lacks)
    }

    /// Whether what this voter has just judged right was right, by what it knows.
    pub(crate) fn check_judged(&mut self, report: &Report, seconds: u64) -> Result<(), Fault> {
        let known = self.said.iter().find_map(|message| match message {
            BallotMessage::Proposal { proposal, .. } if proposal.report() == *report => Some(proposal),
            _ => None,
        });
        // Another program with this key may have judged it.
        let (Some(proposal), Some(clock)) = (known, self.clock(seconds)) else { return Ok(()) };
        let decision = &proposal.decision;
        if self.record().is_some_and(|record| record.judged == Some(*report)) {
            // Said again.
            return Ok(());
        }
        if decision.time.0.abs_diff(clock.0) > SKEW_SECONDS {
            return Err(format!("{} judged a decision of {} at {clock}", self.me, decision.time));
        }
        self.check_date(decision, seconds)?;
        self.check_counting(decision, clock, seconds)?;
        self.check_whole(decision, seconds)?;
        self.check_empty(decision, clock)?;
        self.judged.push(report.decision);
        Ok(())
    }

    /// Whoever alone is a quorum does not take the time far on by a clock that is wrong. Its
    /// person's word is for a day, in which a clock may still go wrong by less.
    fn check_date(&self, decision: &Decision, seconds: u64) -> Result<(), Fault> {
        let (state, last) = (self.state(), self.state().time().0);
        let far = last > 0 && decision.time.0 >= last + IDLE_SECONDS;
        let wrong = decision.time.0.abs_diff(START + seconds) > DAY;
        if far && wrong && state.is_quorum(&BTreeSet::from([self.me])) {
            return Err(format!("{} alone took the time to {} by a wrong clock", self.me, decision.time));
        }
        Ok(())
    }

    /// Nothing in it has run out, or been taken back, for more than a minute.
    fn check_counting(&self, decision: &Decision, clock: UnixTime, seconds: u64) -> Result<(), Fault> {
        let holds = &self.watch.holds;
        // Of sharings that exclude each other one alone is ready, and every one may be approved.
        let approved_now = self.now(seconds).map(|time| self.set().approved(self.state(), time));
        let approved_now = approved_now.unwrap_or_default();
        for approved in &decision.effects {
            let name = approved.effect.subject().digest;
            let ready = approved_now.iter().any(|one| one.effect == approved.effect)
                || self.was_ready(&name, seconds);
            if !ready && let Some(over) = approved.approvals().find(|yes| self.is_over(yes, clock)) {
                return Err(format!("{} judged an effect with {over:?}, which is over", self.me));
            }
        }
        let held = |request: &&Digest| holds.contains(*request) || self.was_ready(request, seconds);
        match decision.holds.iter().find(|request| !held(request)) {
            Some(_) => Err(format!("{} judged a holding that does not count", self.me)),
            None => Ok(()),
        }
    }

    fn is_over(&self, yes: &Approval, clock: UnixTime) -> bool {
        let word = self.set().approval(&yes.subject, &yes.voter).map(|signed| signed.approval);
        let taken_back = word.is_some_and(|word| {
            !word.is_yes() && (word.base.number, word.turn) > (yes.base.number, yes.turn)
        });
        taken_back || yes.expires.0 + KNOWN_SECONDS < clock.0
    }

    /// It leaves out nothing that has been known here for a minute and could still be decided,
    /// unless whom it names would be over at once. A Retime names the head, and where it is needed
    /// nothing else is judged; a sharing waits for its holders.
    fn check_whole(&self, decision: &Decision, seconds: u64) -> Result<(), Fault> {
        let Some(time) = self.now(seconds) else { return Ok(()) };
        let (effects, holds) = (&self.watch.effects, &self.watch.holds);
        let long =
            |name: &Digest| self.watch.known.get(name).is_some_and(|first| seconds - first > KNOWN_SECONDS);
        let begun = |admit: &Admit| admit.begins <= decision.time;
        let then: BTreeSet<Digest> = self.set().holdable(self.state(), decision.time);
        let open = |one: &Digest| then.contains(one) && self.set().admit(one).is_some_and(begun);
        let mut left = holds.iter().filter(|one| long(one) && open(one));
        if let Some(request) = left.find(|one| !decision.holds.contains(one)) {
            return Err(format!("{} judged a decision without {request:02x?}", self.me));
        }
        let has = |one: &&Approved| decision.effects.iter().any(|other| other.effect == one.effect);
        let apart =
            |one: &Approved| matches!(one.effect.change, Change::Retime { .. } | Change::Sharing { .. });
        let left =
            effects.iter().filter(|one| long(&one.effect.subject().digest) && !has(one) && !apart(one));
        for one in left {
            let mut batch = Batch {
                time: decision.time.max(time),
                effects: decision.effects.clone(),
                holds: decision.holds.clone(),
                refusals: Vec::new(),
            };
            batch.effects.push(one.clone());
            let named = named(&one.effect.change).and_then(|request| self.set().admit(&request));
            let over = named.is_some_and(|admit| admit.ends <= batch.time);
            let fits = batch.effects.len() <= EFFECTS_MAX;
            let alone = Batch { effects: vec![one.clone()], ..batch.clone() };
            let stands = |batch| self.state().decide(batch, |request| self.set().admit(request)).is_ok();
            if fits && !over && stands(alone) && stands(batch) {
                let has: Vec<_> = decision.effects.iter().map(|one| &one.effect.change).collect();
                let (me, time) = (self.me, decision.time);
                return Err(format!(
                    "{me} judged a decision of {time} with {has:?} without {:?}",
                    one.effect.change
                ));
            }
        }
        Ok(())
    }

    /// A decision that does nothing has a reason.
    fn check_empty(&self, decision: &Decision, clock: UnixTime) -> Result<(), Fault> {
        let state = self.state();
        let bare = decision.effects.is_empty() && decision.holds.is_empty() && decision.refusals.is_empty();
        let begun = self.record().is_some_and(|one| one.judged.is_some() || one.committed.is_some());
        let idle = state.time().0 > 0 && clock.0 >= state.time().0 + state.idle_seconds(&self.me);
        let other = |message: &BallotMessage| match message {
            BallotMessage::Promise { parent, promise, .. } => {
                *parent == state.head() && promise.voter != self.me
            }
            _ => false,
        };
        let asked = clock.0 >= state.time().0 + DAY && self.said.iter().any(other);
        if !bare || begun || idle || asked || self.set().past() > state.time() {
            return Ok(());
        }
        let after = state.after(decision, |_| None).map_err(|why| why.to_string())?;
        let moves = after.roster() != state.roster() || after.charter().digest() != state.charter().digest();
        if moves { Ok(()) } else { Err(format!("{} judged a decision that does nothing", self.me)) }
    }
}
