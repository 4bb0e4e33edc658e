//! One member's program: its line, its ballots, and what it has heard said.

use crate::people::signature;
use folkmoot_base::{Digest, Instant, MemberId, Mutant, UnixTime};
use folkmoot_identity::{Charter, Verdict};
use folkmoot_transcript::{
    Admit, Applied, Approval, BallotMessage, BallotOutput, BallotRecord, Ballots, Effect, Head, Line, Look,
    Refusal, Set, Signed, Standing, State, Statement, Subject,
};
use std::collections::{BTreeMap, BTreeSet};

/// Time since every run began, at the beginning: 2026.
pub const START: u64 = 1_767_225_600;

/// What all have access to: the contents that digests name.
pub type Contents = BTreeMap<Digest, Admit>;

/// One program with one key.
#[derive(Debug)]
pub struct Node {
    /// Whose.
    pub me: MemberId,
    /// Its line.
    pub line: Line,
    /// How far its clock is off, in seconds.
    pub skew: i64,
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
    /// It applied the decision that follows.
    Applied(Box<Standing>),
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
    pub fn new(keys: [MemberId; 2], charter: &Charter, skew: i64, danger: Mutant) -> Self {
        let [me, _] = keys;
        let mut line = Line::founded(charter.clone());
        line.endanger(danger);
        let ballots = Ballots::new(me, line.state(), None, danger);
        Self {
            me,
            line,
            skew,
            side: 0,
            said: Vec::new(),
            accused: BTreeSet::new(),
            left_behind: false,
            log: Vec::new(),
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

    /// Its clock.
    pub fn clock(&self, seconds: u64) -> UnixTime {
        UnixTime((START + seconds).saturating_add_signed(self.skew))
    }

    /// Its person approves or rejects: a new turn, over the head.
    pub fn approve(&mut self, subject: Subject, verdict: Verdict, life: u64, seconds: u64) {
        let before = self.set().approval(&subject, &self.me).map(|signed| signed.approval);
        if before.is_some_and(|before| before.verdict == verdict) {
            return;
        }
        let turn = before.map_or(0, |before| before.turn + 1);
        let base = self.state().head();
        let least = before.map_or(0, |before| before.expires.0);
        let expires = UnixTime((self.clock(seconds).0 + life).max(least));
        let approval = Approval { voter: self.me, base, subject, turn, verdict, expires };
        self.take_approval(Signed { approval, signature: Some(signature()) });
    }

    /// Takes an approval, whoever signed it.
    pub fn take_approval(&mut self, signed: Signed) {
        let (state, set) = self.line.set_mut();
        set.take_approval(state, signed);
    }

    /// Takes an admission.
    pub fn take_admit(&mut self, admit: &Admit) {
        let (state, set) = self.line.set_mut();
        set.take_admit(state, admit.clone());
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

    /// Says which terms are over by its clock.
    pub fn expire(&mut self, seconds: u64) {
        let clock = self.clock(seconds);
        let (state, set) = self.line.set_mut();
        for expire in set.expirable(state, clock) {
            set.take_expire(state, expire, Some(clock));
        }
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
        let clock = self.clock(seconds);
        let look = Look {
            state: self.line.state(),
            set: self.line.set(),
            now: Instant(seconds.saturating_mul(1_000_000)),
            clock,
            present,
            sign: &|_: &Statement| signature(),
        };
        match message {
            // A refused message is the sender's fault: the node is as it was.
            Some(message) => drop(self.ballots.hear(&look, message)),
            None => self.ballots.work(&look),
        }
        self.settle(contents)
    }

    fn settle(&mut self, contents: &Contents) -> Result<(), Fault> {
        while let Some(output) = self.ballots.poll_output() {
            match output {
                BallotOutput::Persist(record) => {
                    self.records.insert((self.me, record.parent), record);
                }
                BallotOutput::Send(message) => {
                    if !self.said.contains(&message) {
                        self.said.push(message);
                    }
                }
                BallotOutput::Stands(standing) => {
                    self.apply(&standing, contents)?;
                    return Ok(());
                }
                BallotOutput::Missing(request) => {
                    if let Some(admit) = contents.get(&request) {
                        self.take_admit(admit);
                    }
                }
            }
        }
        Ok(())
    }

    /// Applies a decision that somebody shows.
    ///
    /// # Errors
    /// A fault: a decision that a quorum of the present voters committed to, and that does not
    /// stand by the rules.
    pub fn apply(&mut self, standing: &Standing, contents: &Contents) -> Result<(), Fault> {
        for request in &standing.proposal.decision.holds {
            if let Some(admit) = contents.get(request) {
                self.take_admit(admit);
            }
        }
        let before = self.state().head();
        match self.line.apply(standing.clone()) {
            Ok(Applied::Next) => self.start_anew(Step::Applied(Box::new(standing.clone()))),
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
        let (state, set, clock) = (self.state(), self.set(), self.clock(seconds));
        let places: Vec<String> =
            state.places().iter().map(|place| format!("{} since {}", place.voter, place.since)).collect();
        let ready = set.approved(state, clock.max(state.time()));
        let ready: Vec<String> =
            ready.iter().map(|one| format!("{:?} by {}", one.effect.change, one.proofs.len())).collect();
        format!(
            "{} at {} of {}, clock {clock}, side {}\n  places: {}\n  ready: {}\n  holdable: {}\n  {:?}",
            self.me,
            state.head(),
            state.time(),
            self.side,
            places.join(", "),
            ready.join("; "),
            set.holdable(state).len(),
            self.ballots.status(),
        )
    }

    /// Follows a line of which the decisions since its own head are gone.
    fn skip(&mut self, handovers: &[Standing], last: &Standing, state: State) {
        let refused = self.line.skip(handovers, last, state).is_err();
        self.left_behind = refused;
        if !refused {
            self.start_anew(Step::Skipped(self.state().head()));
        }
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
    }

    /// Takes over what another has: decisions in order, then the set.
    ///
    /// # Errors
    /// A fault.
    pub fn learn(&mut self, other: &Self, seconds: u64, contents: &Contents) -> Result<(), Fault> {
        let clock = self.clock(seconds);
        let numbers: Vec<u64> = other.line.decisions().keys().copied().collect();
        for number in numbers {
            if let Some(standing) = other.line.decisions().get(&number) {
                self.apply(standing, contents)?;
            }
        }
        let behind = self.state().head().number < other.state().head().number;
        if behind && let Some((handovers, last)) = other.line.handovers_since(self.state().head().number) {
            self.skip(&handovers, &last, other.state().clone());
        }
        self.learn_sides(other, contents)?;
        let (state, set) = self.line.set_mut();
        for admit in other.set().admits() {
            set.take_admit(state, admit.clone());
        }
        for signed in other.set().approvals() {
            set.take_approval(state, signed.clone());
        }
        for effect in other.set().effects() {
            set.take_effect(state, effect.clone());
        }
        for refusal in other.set().refusals() {
            set.take_refusal(state, *refusal);
        }
        for expire in other.set().expires() {
            set.take_expire(state, *expire, Some(clock));
        }
        Ok(())
    }
}
