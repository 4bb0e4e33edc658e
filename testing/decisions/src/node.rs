//! One member's program: its line, its ballots, and what it has heard said.

use crate::contents::Contents;
use crate::judging::Watch;
use crate::people::signature;
use crate::skipping::Rings;
use crate::wishes::named;
use folkmoot_base::{Danger, Digest, Instant, MemberId, Mutant, UnixTime};
use folkmoot_identity::{Charter, Verdict};
use folkmoot_transcript::{
    Admit, Applied, Approval, BallotMessage, BallotOutput, BallotRecord, Ballots, Effect, Head, Line, Look,
    Refusal, Set, Signed, Standing, State, Statement, Subject,
};
use std::collections::{BTreeMap, BTreeSet};

/// Time since every run began, at the beginning: 2026.
pub const START: u64 = 1_767_225_600;

/// One program with one key.
#[derive(Debug)]
pub struct Node {
    /// Whose.
    pub me: MemberId,
    /// Its line.
    pub line: Line,
    /// How far its clock is off, in seconds; none if it has no clock.
    pub skew: Option<i64>,
    /// Whether the clock has been asked again since it was put right.
    pub asked: bool,
    /// Which side of a split it is on.
    pub side: usize,
    /// What it has said and heard about the decision that follows its head.
    pub said: Vec<BallotMessage>,
    /// Decisions that it was told of and that did not fit its line, with the signers of both.
    pub accused: BTreeSet<MemberId>,
    /// Whether it was away so long that nothing shows it the way to the others' line.
    pub left_behind: bool,
    /// How it came to each head since somebody last looked.
    pub log: Vec<Step>,
    /// Approvals that it took since somebody last looked.
    pub fresh: Vec<Signed>,
    /// Decisions that it judged right since somebody last looked.
    pub judged: Vec<Digest>,
    /// The keys of its by which it has committed to a decision without the approvals of what that
    /// holds.
    pub baseless: BTreeSet<MemberId>,
    /// Admissions whose terms have not begun by its clock.
    pub(crate) waiting: BTreeMap<Digest, Admit>,
    /// Decisions that stand on its head, far ahead of its clock.
    pub(crate) ahead: Vec<Standing>,
    /// Since when it has known what could be decided.
    pub(crate) watch: Watch,
    /// When it shared rings.
    pub(crate) rings: Rings,
    /// The keys of this person: the second one is used once the first is rotated.
    keys: [MemberId; 2],
    ballots: Ballots,
    /// What is on its disk about ballots, of each key and head.
    records: BTreeMap<(MemberId, Head), BallotRecord>,
    danger: Mutant,
}

/// How a node came to its head.
#[derive(Debug, Clone)]
pub enum Step {
    /// It applied the decision that follows; by its clock, unless its person said so.
    Applied(Box<Standing>, Option<UnixTime>),
    /// It skipped decisions of its line.
    Skipped(Head),
    /// It went over to another line, because its own ended.
    Crossed(Head),
    /// Its person went over.
    Resolved,
}

/// Something that must never happen did.
pub type Fault = String;

impl Node {
    /// A program that has only the charter.
    pub fn new(keys: [MemberId; 2], charter: &Charter, skew: Option<i64>, danger: Mutant) -> Self {
        let [me, _] = keys;
        let mut line = Line::founded(charter.clone());
        line.endanger(danger);
        let ballots = Ballots::new(me, line.state(), None, danger);
        Self {
            me,
            line,
            skew,
            asked: true,
            side: 0,
            said: Vec::new(),
            accused: BTreeSet::new(),
            left_behind: false,
            log: Vec::new(),
            fresh: Vec::new(),
            judged: Vec::new(),
            baseless: BTreeSet::new(),
            waiting: BTreeMap::new(),
            ahead: Vec::new(),
            watch: Watch::default(),
            rings: Rings::default(),
            keys,
            ballots,
            records: BTreeMap::new(),
            danger,
        }
    }

    /// The state at its head.
    pub fn state(&self) -> &State {
        self.line.state()
    }

    /// Its set.
    pub fn set(&self) -> &Set {
        self.line.set()
    }

    pub(crate) fn is(&self, danger: Danger) -> bool {
        self.danger.is(danger)
    }

    /// What is on its disk about the ballots at its head.
    pub(crate) fn record(&self) -> Option<&BallotRecord> {
        self.records.get(&(self.me, self.state().head()))
    }

    /// Its person approves or rejects: a new turn, over the head.
    pub fn approve(&mut self, subject: Subject, verdict: Verdict, life: u64, seconds: u64) {
        let before = self.set().approval(&subject, &self.me).map(|signed| signed.approval);
        if before.is_none_or(|before| before.verdict != verdict) {
            self.say(subject, verdict, life, seconds);
        }
    }

    /// Says what its person thinks, as the next turn.
    pub(crate) fn say(&mut self, subject: Subject, verdict: Verdict, life: u64, seconds: u64) {
        let before = self.set().approval(&subject, &self.me).map(|signed| signed.approval);
        let Some(clock) = self.clock(seconds) else { return };
        let turn = before.map_or(0, |before| before.turn + 1);
        let base = self.state().head();
        let least = before.map_or(0, |before| before.expires.0);
        let expires = UnixTime((clock.0 + life).max(least));
        let approval = Approval { voter: self.me, base, subject, turn, verdict, expires };
        self.take_approval(Signed { approval, signature: Some(signature()) }, seconds);
    }

    /// Takes an effect.
    pub fn take_effect(&mut self, effect: &Effect) {
        let (state, set) = self.line.set_mut();
        set.take_effect(state, effect.clone());
    }

    /// Takes what a rejected request says of its CSR.
    pub fn take_refusal(&mut self, admit: &Admit) {
        let (state, set) = self.line.set_mut();
        set.take_refusal(state, Refusal { request: admit.request, csr: admit.csr });
    }

    /// Lets time do its work.
    ///
    /// # Errors
    /// A fault.
    pub fn work(
        &mut self,
        seconds: u64,
        present: &BTreeSet<MemberId>,
        contents: &Contents,
    ) -> Result<(), Fault> {
        self.hear_clock(seconds, contents)?;
        self.step(seconds, present, contents, None)
    }

    /// Hears a message on the next decision.
    ///
    /// # Errors
    /// A fault.
    pub fn hear(
        &mut self,
        message: BallotMessage,
        seconds: u64,
        present: &BTreeSet<MemberId>,
        contents: &Contents,
    ) -> Result<(), Fault> {
        self.step(seconds, present, contents, Some(message))
    }

    fn step(
        &mut self,
        seconds: u64,
        present: &BTreeSet<MemberId>,
        contents: &Contents,
        message: Option<BallotMessage>,
    ) -> Result<(), Fault> {
        if let Some(message) = &message
            && !self.said.contains(message)
        {
            self.said.push(message.clone());
        }
        // Nothing is said before the time is known.
        let Some(clock) = self.clock(seconds) else { return Ok(()) };
        self.ask(seconds);
        if self.is_right() && self.ballots.asks_date(self.line.state(), clock).is_some() {
            // Its person looks at another clock.
            self.ballots.know_date(clock);
        }
        let look = Look {
            state: self.line.state(),
            set: self.line.set(),
            now: Instant(seconds.saturating_mul(1_000_000)),
            clock,
            present,
            sign: &|_: &Statement| signature(),
        };
        let looked = match message {
            // A refused message is the sender's fault: the node is as it was.
            Some(message) => {
                let parent = message.parent();
                self.ballots.hear(&look, message).is_ok() && parent == self.state().head()
            }
            None => {
                self.ballots.work(&look);
                true
            }
        };
        if looked {
            self.note_ready(seconds);
        }
        self.settle(seconds, contents)
    }

    fn settle(&mut self, seconds: u64, contents: &Contents) -> Result<(), Fault> {
        while let Some(output) = self.ballots.poll_output() {
            match output {
                BallotOutput::Persist(record) => {
                    let fresh = record.committed.clone();
                    let before = self.records.insert((self.me, record.parent), record);
                    let known = before.is_some_and(|one| one.committed == fresh);
                    if fresh.is_some_and(|fresh| !known && !self.has_approvals(&fresh.decision)) {
                        self.baseless.insert(self.me);
                    }
                }
                BallotOutput::Send(message) => {
                    if let BallotMessage::Judgement { report, .. } = &message {
                        self.check_judged(report, seconds)?;
                    }
                    if !self.said.contains(&message) {
                        self.said.push(message);
                    }
                }
                BallotOutput::Stands(standing) => {
                    self.apply(&standing, seconds, contents)?;
                    return Ok(());
                }
                BallotOutput::Missing(request) => self.fetch(&[request], seconds, contents),
            }
        }
        Ok(())
    }

    /// Fetches admissions with the votes in their certificates, from whoever shows what names them.
    fn fetch(&mut self, requests: &[Digest], seconds: u64, contents: &Contents) {
        for request in requests {
            contents.get(request).into_iter().for_each(|admit| self.take_admit(admit, seconds));
            for signed in contents.yes(request) {
                self.take_approval(signed.clone(), seconds);
            }
        }
    }

    /// Applies a decision that somebody shows, unless it waits for the clock.
    ///
    /// # Errors
    /// A fault: the head went back.
    pub fn apply(&mut self, standing: &Standing, seconds: u64, contents: &Contents) -> Result<(), Fault> {
        let decision = &standing.proposal.decision;
        if decision.number > self.state().head().number {
            let named = decision.effects.iter().filter_map(|one| named(&one.effect.change));
            let named: Vec<Digest> = decision.holds.iter().copied().chain(named).collect();
            self.fetch(&named, seconds, contents);
        }
        if self.waits(standing, seconds) {
            return Ok(());
        }
        if self.ahead.last().is_some_and(|last| last.head() == standing.head()) {
            // It takes the time back.
            return self.take_ahead(contents);
        }
        let applied = self.apply_now(standing, contents, self.sound(seconds));
        self.ask(seconds);
        applied
    }

    pub(crate) fn apply_now(
        &mut self,
        standing: &Standing,
        contents: &Contents,
        clock: Option<UnixTime>,
    ) -> Result<(), Fault> {
        // What waits for the clock, a decision may hold.
        let early =
            standing.proposal.decision.holds.iter().filter(|request| self.waiting.contains_key(*request));
        let early: Vec<Digest> = early.copied().collect();
        let (state, set) = self.line.set_mut();
        for admit in early.iter().filter_map(|request| contents.get(request)) {
            set.take_admit(state, admit.clone());
        }
        let before = self.state().head();
        let applied = self.line.apply(standing.clone());
        if applied.is_err() {
            let (state, set) = self.line.set_mut();
            early.iter().for_each(|request| drop(set.take_out(state, request)));
            clock.into_iter().for_each(|clock| _ = set.raise(state, clock));
        }
        match applied {
            Ok(Applied::Next) => self.start_anew(Step::Applied(Box::new(standing.clone()), clock)),
            Ok(Applied::Fork(liars)) => self.accused.extend(liars),
            Ok(Applied::Known | Applied::Ahead) | Err(_) => {}
        }
        if self.state().head().number < before.number {
            return Err("the head went back".to_owned());
        }
        Ok(())
    }

    /// What it has, in a few lines.
    pub fn describe(&self, seconds: u64) -> String {
        let (state, set) = (self.state(), self.set());
        let clock = self.clock(seconds).unwrap_or_default();
        let places: Vec<String> =
            state.places().iter().map(|place| format!("{} since {}", place.voter, place.since)).collect();
        let ready = set.approved(state, clock.max(state.time()));
        let ready: Vec<String> =
            ready.iter().map(|one| format!("{:?} by {}", one.effect.change, one.proofs.len())).collect();
        format!(
            "{} at {} of {}, past {}, clock {clock}, side {}\n  places: {}\n  ready: {}\n  holdable: {}\n  {:?}\n  \
             set {:?}, counted {:?}, ahead {}, waiting {}",
            self.me,
            state.head(),
            state.time(),
            set.past(),
            self.side,
            places.join(", "),
            ready.join("; "),
            set.holdable(state, UnixTime(0)).len(),
            self.ballots.status(),
            set.digest().get(..4),
            set.counted().map(|admit| (admit.member, admit.ends)).collect::<Vec<_>>(),
            self.ahead.len(),
            self.waiting.len(),
        )
    }

    /// What is on disk about the new head binds it: it may have been there before.
    pub(crate) fn start_anew(&mut self, step: Step) {
        self.log.push(step);
        if let Some(key) = self.keys.iter().find(|key| self.state().roster().contains_key(*key)) {
            self.me = *key;
        }
        self.restart();
    }

    /// The highest ballot that it has promised or heard proposed.
    pub fn ballot(&self) -> u32 {
        let status = self.ballots.status();
        let proposed = status.proposed.keys().map(|report| report.ballot).max();
        proposed.unwrap_or_default().max(status.promised)
    }

    /// The program ends and starts again from its disk.
    pub fn restart(&mut self) {
        let record = self.records.get(&(self.me, self.state().head())).cloned();
        self.ballots = Ballots::new(self.me, self.line.state(), record, self.danger);
        self.said.clear();
        self.watch = Watch::default();
    }

    /// Takes over what another has: decisions in order, then the set.
    ///
    /// # Errors
    /// A fault.
    pub fn learn(&mut self, other: &Self, seconds: u64, contents: &Contents) -> Result<(), Fault> {
        let numbers: Vec<u64> = other.line.decisions().keys().copied().collect();
        for number in numbers {
            if let Some(standing) = other.line.decisions().get(&number) {
                self.apply(standing, seconds, contents)?;
            }
        }
        for standing in &other.ahead {
            self.apply(standing, seconds, contents)?;
        }
        let behind = self.state().head().number < other.state().head().number;
        if behind
            && self.ahead.is_empty()
            && let Some((handovers, last)) = other.line.handovers_since(self.state().head().number)
        {
            let shown = (handovers.as_slice(), &last);
            self.left_behind = !self.follow(shown, other.state().clone(), seconds)?;
        }
        self.learn_sides(other, seconds, contents)?;
        other.set().admits().for_each(|admit| self.take_admit(admit, seconds));
        for signed in other.set().approvals() {
            if self.set().approval(&signed.approval.subject, &signed.approval.voter) != Some(signed) {
                self.take_approval(signed.clone(), seconds);
            }
        }
        for effect in other.set().effects() {
            self.take_effect(effect);
        }
        let clock = self.sound(seconds);
        let (state, set) = self.line.set_mut();
        for refusal in other.set().refusals() {
            set.take_refusal(state, *refusal);
        }
        if let Some(clock) = clock {
            set.take_past(state, other.set().past(), clock);
        }
        self.ask(seconds);
        Ok(())
    }
}
