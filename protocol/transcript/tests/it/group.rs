//! A group on one line, whose people do what a test says.

use folkmoot_base::{Blob, Danger, Digest, Entropy, GroupName, MemberId, Mutant, UnixTime, digest};
use folkmoot_identity::{Charter, CharterDraft, Founder, SigningKey, Verdict};
use folkmoot_transcript::{
    Admit, Applied, Approval, Approved, Batch, Change, Commit, Decision, Effect, Head, Line, Proof, Proposal,
    Refused, Set, SignatureBytes, Signed, Stage, Standing, State, Subject, Unproposed, Wrong, admission,
};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// When every group here is founded: 2026.
pub const START: u64 = 1_767_225_600;
pub const DAY: u64 = 86_400;

pub struct Seed(pub u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            let block = digest(&[&self.0.to_be_bytes()]);
            chunk.iter_mut().zip(block).for_each(|(to, from)| *to = from);
        }
    }
}

static KEYS: LazyLock<Vec<SigningKey>> =
    LazyLock::new(|| (0..16_u64).map(|person| SigningKey::generate(&mut Seed(person << 32))).collect());

pub fn key(person: usize) -> &'static SigningKey {
    &KEYS[person]
}

pub fn member(person: usize) -> MemberId {
    key(person).verifying_key().member_id()
}

pub fn members(people: &[usize]) -> Vec<MemberId> {
    people.iter().map(|person| member(*person)).collect()
}

/// The rules do not look at signatures, so these say nothing.
pub fn signature() -> SignatureBytes {
    SignatureBytes::NONE
}

pub fn draft(founders: usize, threshold: u32) -> CharterDraft {
    let founder =
        |person| Founder { name: format!("person {person}"), key: key(person).verifying_key().clone() };
    let named = (0..founders).map(founder).collect();
    CharterDraft::new(GroupName::new("line").unwrap(), threshold, named, &mut Seed(1 << 48))
}

pub fn remove(person: usize) -> Change {
    Change::Remove { member: member(person) }
}

pub fn elect(people: &[usize]) -> Change {
    Change::Electorate { voters: members(people) }
}

pub fn field(name: &str, value: &str) -> Change {
    let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
    Change::Charter { field: blob(name), value: blob(value) }
}

pub fn forced(change: Change) -> Effect {
    Effect { change, force: folkmoot_transcript::Force::Yes }
}

pub struct Group {
    pub line: Line,
    pub now: u64,
    requests: u64,
}

impl Group {
    pub fn new(founders: usize, threshold: u32) -> Self {
        Self::of(&draft(founders, threshold))
    }

    pub fn of(draft: &CharterDraft) -> Self {
        let line = Line::founded(Charter::from_toml(&draft.to_toml()).unwrap());
        Self { line, now: START, requests: 0 }
    }

    pub fn without(mut self, danger: Option<Danger>) -> Self {
        self.line.endanger(Mutant::from(danger));
        self
    }

    /// Another member of the group, as far as this one.
    pub fn another(&self) -> Self {
        Self { line: self.line.clone(), now: self.now, requests: self.requests + 1000 }
    }

    pub fn state(&self) -> &State {
        self.line.state()
    }

    pub fn set(&self) -> &Set {
        self.line.set()
    }

    pub fn head(&self) -> Head {
        self.state().head()
    }

    /// A yes over the head, which counts for thirty days.
    pub fn yes(&self, person: usize, subject: Subject) -> Approval {
        Approval {
            voter: member(person),
            base: self.head(),
            subject,
            turn: 0,
            verdict: Verdict::Approve,
            expires: UnixTime(self.now + 30 * DAY),
        }
    }

    pub fn no(&self, person: usize, subject: Subject) -> Approval {
        Approval { verdict: Verdict::Reject, ..self.yes(person, subject) }
    }

    pub fn take(&mut self, approval: Approval) -> bool {
        let (state, set) = self.line.set_mut();
        set.take_approval(state, Signed { approval, signature: Some(signature()) })
    }

    /// These people approve an effect.
    pub fn want(&mut self, effect: &Effect, people: &[usize]) {
        for person in people {
            let approval = self.yes(*person, effect.subject());
            self.take(approval);
        }
        let (state, set) = self.line.set_mut();
        set.take_effect(state, effect.clone());
    }

    /// A person's request over the head, for 300 days.
    pub fn ask(&mut self, person: usize) -> Admit {
        self.requests += 1;
        let key = key(person).verifying_key().clone();
        Admit {
            request: digest(&[b"request", &self.requests.to_be_bytes(), key.spki_der()]),
            member: key.member_id(),
            name: format!("person {person}"),
            key,
            begins: UnixTime(self.now),
            ends: UnixTime(self.now + 300 * DAY),
            base: self.head(),
            issued: None,
            csr: None,
            epochs: BTreeSet::new(),
        }
    }

    pub fn take_admit(&mut self, admit: &Admit) -> bool {
        let (state, set) = self.line.set_mut();
        set.take_admit(state, admit.clone())
    }

    /// An admission that these people approve.
    pub fn welcome(&mut self, admit: &Admit, people: &[usize]) {
        for person in people {
            let approval = self.yes(*person, admission(admit.request));
            self.take(approval);
        }
        self.take_admit(admit);
    }

    pub fn batch(&self) -> Batch {
        Batch { time: UnixTime(self.now), ..Batch::default() }
    }

    /// An effect with these people's approvals over the head.
    pub fn approved(&self, effect: &Effect, people: &[usize]) -> Approved {
        let yes = people.iter().map(|person| self.yes(*person, effect.subject())).collect();
        approved_by(effect, yes)
    }

    /// A refusal with these people's rejections over the head.
    pub fn refused(&self, request: Digest, people: &[usize]) -> Refused {
        let mut no: Vec<_> = people.iter().map(|person| self.no(*person, admission(request))).collect();
        no.sort_by_key(|no| no.voter);
        let proofs = no.iter().map(|no| Proof::of(no, signature())).collect();
        Refused { request, csr: None, proofs }
    }

    pub fn decide(&self, batch: Batch) -> Result<Decision, Wrong> {
        self.state().decide(batch, |request| self.set().admit(request)).map(|(decision, _)| decision)
    }

    /// One effect that these people approve, as a decision.
    pub fn decision(&self, effect: impl Into<Effect>, people: &[usize]) -> Result<Decision, Wrong> {
        let effects = vec![self.approved(&effect.into(), people)];
        self.decide(Batch { effects, ..self.batch() })
    }

    pub fn apply(&mut self, standing: Standing) -> Result<Applied, Unproposed> {
        self.line.apply(standing)
    }

    /// These people decide one effect, a minute later.
    pub fn pass(&mut self, effect: impl Into<Effect>, people: &[usize]) -> Standing {
        self.now += 60;
        let decision = self.decision(effect, people).unwrap();
        self.follow(decision)
    }

    /// A decision that all voters commit to.
    pub fn follow(&mut self, decision: Decision) -> Standing {
        let standing = by_all(self.state(), decision);
        assert_eq!(self.apply(standing.clone()), Ok(Applied::Next));
        standing
    }

    /// These people come in, by approvals of those, and a decision holds them.
    pub fn let_in(&mut self, people: &[usize], voters: &[usize]) -> Vec<Admit> {
        let admits: Vec<Admit> = people.iter().map(|person| self.ask(*person)).collect();
        for admit in &admits {
            self.welcome(admit, voters);
        }
        let mut holds: Vec<_> = admits.iter().map(|admit| admit.request).collect();
        holds.sort_unstable();
        self.now += 60;
        let decision = self.decide(Batch { holds, ..self.batch() }).unwrap();
        self.follow(decision);
        admits
    }

    /// Time passes, and a decision says so.
    pub fn wait(&mut self, days: u64) {
        self.now += days * DAY;
        let decision = self.decide(self.batch()).unwrap();
        self.follow(decision);
    }

    /// Somebody says that what had ended by this time is over.
    pub fn take_past(&mut self, past: u64, clock: u64) -> bool {
        let (state, set) = self.line.set_mut();
        set.take_past(state, UnixTime(past), UnixTime(clock))
    }

    /// This member's own clock is asked before anything is judged.
    pub fn raise(&mut self, clock: u64) -> bool {
        let (state, set) = self.line.set_mut();
        set.raise(state, UnixTime(clock))
    }

    pub fn ask_again(&mut self, clock: u64) -> bool {
        let (state, set) = self.line.set_mut();
        set.ask_again(state, UnixTime(clock))
    }

    /// An approval that is heard by a clock.
    pub fn hear(&mut self, approval: Approval, clock: UnixTime) -> bool {
        let (state, set) = self.line.set_mut();
        set.hear_approval(state, Signed { approval, signature: Some(signature()) }, Some(clock))
    }

    pub fn let_out(&mut self, clock: UnixTime) -> bool {
        let (state, set) = self.line.set_mut();
        set.let_out(state, clock)
    }

    pub fn past(&self) -> u64 {
        self.set().past().0
    }

    pub fn is_member(&self, person: usize) -> bool {
        self.set().members(self.state()).contains_key(&member(person))
    }
}

pub fn approved_by(effect: &Effect, mut yes: Vec<Approval>) -> Approved {
    yes.sort_by_key(|yes| yes.voter);
    Approved { effect: effect.clone(), proofs: yes.iter().map(|yes| Proof::of(yes, signature())).collect() }
}

pub fn commits(mut voters: Vec<MemberId>) -> Vec<Commit> {
    voters.sort_unstable();
    voters.into_iter().map(|voter| Commit { voter, signature: signature() }).collect()
}

/// A decision that its owner proposes in ballot 0.
pub fn fresh(decision: Decision) -> Proposal {
    Proposal { decision, stages: vec![Stage { ballot: 0, promises: Vec::new(), signature: signature() }] }
}

/// A decision that these commit to in ballot 0.
pub fn by(voters: Vec<MemberId>, decision: Decision) -> Standing {
    Standing { proposal: fresh(decision), commits: commits(voters) }
}

pub fn by_all(state: &State, decision: Decision) -> Standing {
    by(state.voters().into_iter().collect(), decision)
}
