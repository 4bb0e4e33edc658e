//! A group as wide as is legal, 256 voters, and the largest files of it.

use super::parts::{CHARTER, END, HANDOVER, HELD, LAST, OPEN, Parts, STATE};
use super::world::{DAY, Seed, charter, person};
use folkmoot_base::{Blob, SignatureBytes, UnixTime, codec, digest};
use folkmoot_identity::{Gmc, GmcBody, Identity, Verdict};
use folkmoot_transcript::{
    Approval, Approved, Batch, Change, Commit, Decision, Effect, Item, Proof, Proposal, STATE_BYTES_MAX,
    STATEMENT_LABEL, SignedApproval, Stage, Standing, Subject, Transcript, VOTERS_MAX, admission,
};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const NOW: UnixTime = UnixTime(super::world::START + 40 * DAY);
/// Founders of the world's charter.
const FOUNDERS: usize = 4;
/// As many as make a quorum of all.
const QUORUM: usize = VOTERS_MAX / 2 + 1;
/// Handovers of the largest file, after the first.
const HANDOVERS: usize = 12;

pub(crate) static WIDE: LazyLock<Wide> = LazyLock::new(Wide::new);

pub(crate) struct Wide {
    people: Vec<Identity>,
    t: Transcript,
}

impl Wide {
    fn new() -> Self {
        let people = (0..).map(|number| person(number, &format!("p{number}"))).take(VOTERS_MAX);
        let founders = super::world::PEOPLE[..FOUNDERS].iter().cloned();
        let people: Vec<Identity> = founders.chain(people.skip(FOUNDERS)).collect();
        let t = Transcript::founded(charter(20).der()).unwrap();
        let mut wide = Self { people, t };
        for who in FOUNDERS..VOTERS_MAX {
            let (_, item) = wide.admission(&wide.people[who], 0, &[0, 1]);
            wide.take(&item);
        }
        wide.decide(&[], FOUNDERS);
        let voters = wide.people.iter().map(Identity::member).collect();
        wide.decide(&[Change::Electorate { voters }.into()], FOUNDERS);
        wide
    }

    pub(crate) fn charter(&self) -> &[u8] {
        self.t.signed_charter().der()
    }

    fn take(&mut self, item: &Item) {
        assert!(self.t.take(&item.encode(), Some(NOW)).unwrap().new);
    }

    fn approval(&self, voter: usize, subject: Subject) -> SignedApproval {
        let (voter, base) = (&self.people[voter % VOTERS_MAX], self.t.state().head());
        let (verdict, expires) = (Verdict::Approve, UnixTime(NOW.0 + 30 * DAY));
        let approval = Approval { voter: voter.member(), base, subject, turn: 0, verdict, expires };
        SignedApproval::sign(voter.key(), self.t.group(), approval)
    }

    fn admission(&self, who: &Identity, salt: u64, voters: &[usize]) -> (Subject, Item) {
        let charter = self.t.signed_charter().charter();
        let mut body = GmcBody::propose(charter, who, 4, NOW, &mut Seed((salt << 32) + (1 << 20)));
        body.membership.base = self.t.state().head();
        let subject = admission(body.request_digest().unwrap());
        let certificate = Blob(Gmc::compose(&body, &[], who).unwrap().der().clone());
        let approvals = voters.iter().map(|voter| self.approval(*voter, subject)).collect();
        (subject, Item::Admit { certificate, approvals })
    }

    /// What the first so many approve, and hold.
    fn batch(&self, effects: &[Effect], voters: usize) -> Batch {
        let approved = |effect: &Effect| {
            let signed = (0..voters).map(|voter| self.approval(voter, effect.subject()));
            let mut proofs: Vec<Proof> = signed.map(|one| Proof::of(&one.approval, one.signature)).collect();
            proofs.sort_by_key(|proof| proof.voter);
            Approved { effect: effect.clone(), proofs }
        };
        let holds = self.t.set().holdable(self.t.state(), NOW).into_iter().collect();
        Batch { time: NOW, effects: effects.iter().map(approved).collect(), holds, ..Batch::default() }
    }

    /// The decision, as the first so many commit to it in the first ballot that one of them owns.
    fn standing(&self, decision: Decision, voters: usize) -> Standing {
        let unsigned = SignatureBytes::NONE;
        let mut members: Vec<_> = self.people[..voters].iter().map(Identity::member).collect();
        members.sort_unstable();
        let commits =
            members.into_iter().map(|voter| Commit { voter, signature: unsigned.clone() }).collect();
        let stages = vec![Stage { ballot: 0, promises: Vec::new(), signature: unsigned }];
        let mut standing = Standing { proposal: Proposal { decision, stages }, commits };
        let keys: BTreeMap<_, _> = self.people.iter().map(|one| (one.member(), one.key())).collect();
        let sign = |claim: folkmoot_transcript::Claim| {
            keys[&claim.voter].sign_wire(STATEMENT_LABEL, &claim.statement.bytes(&self.t.group()))
        };
        let mut signatures =
            standing.claims(self.t.state()).into_iter().map(sign).collect::<Vec<_>>().into_iter();
        standing.proposal.stages[0].signature = signatures.next().unwrap();
        standing.commits.iter_mut().for_each(|commit| commit.signature = signatures.next().unwrap());
        standing
    }

    fn decide(&mut self, effects: &[Effect], voters: usize) {
        let (state, set) = (self.t.state(), self.t.set());
        let (decision, _) = state.decide(self.batch(effects, voters), |request| set.admit(request)).unwrap();
        let standing = self.standing(decision, voters);
        self.take(&Item::Decision(standing));
    }

    /// A set of so many items: a quarter are admissions, a sixteenth effects, the rest approvals by
    /// the voters in turn. One admission in 256 comes with an approval of every voter: those with
    /// the lowest requests, for which the group has places (an admission that does not count may
    /// not be so long).
    pub(crate) fn file(&self, items: usize) -> Vec<u8> {
        let all: Vec<usize> = (0..VOTERS_MAX).collect();
        let mut out = Vec::new();
        let mut subjects = Vec::new();
        for number in 0..items / 4 {
            let salt = 1_000 + u64::try_from(number).unwrap();
            let who = person(salt, &format!("s{number}"));
            let (subject, item) = self.admission(&who, salt, &[]);
            subjects.push(subject);
            let long = subject.digest[0] == 0;
            out.push(if long { self.admission(&who, salt, &all).1 } else { item }.encode());
        }
        let mut approve = |voter, subject| out.push(Item::Approval(self.approval(voter, subject)).encode());
        let effect = |number: usize| -> Effect {
            let value = number.to_string().into_bytes();
            Change::Charter { field: b"request_hours".to_vec().into(), value: value.into() }.into()
        };
        let effects: Vec<Effect> = (0..items / 16).map(effect).collect();
        effects.iter().enumerate().for_each(|(number, effect)| approve(number, effect.subject()));
        for (number, subject) in (0..items - items / 4 - 2 * effects.len()).zip(subjects.iter().cycle()) {
            // Another voter each time that a subject comes again.
            approve(number + number / subjects.len(), *subject);
        }
        out.extend(effects.into_iter().map(|effect| Item::Effect(effect).encode()));
        out.sort_by_cached_key(|item| (item[1], digest(&[item])));
        let mut parts = Parts::of(&self.t.file());
        parts.0.retain(|(kind, _)| *kind != OPEN);
        let place = parts.place(HELD);
        parts.0.splice(place..place, out.into_iter().map(|item| (OPEN, item)));
        parts.file()
    }

    /// Handovers by a quorum of all, and at last a state as long as one may be: what a quorum of
    /// liars can commit to.
    pub(crate) fn largest(&self) -> Vec<u8> {
        let mut wide = Self { people: self.people.clone(), t: self.t.clone() };
        for turn in 1..=HANDOVERS {
            let mut voters: Vec<_> = wide.people.iter().map(Identity::member).collect();
            voters.rotate_left(turn);
            // The first places own the first ballots, and are among those who commit.
            wide.decide(&[Change::Electorate { voters }.into()], QUORUM);
        }
        let effect = Change::Charter { field: b"request_hours".to_vec().into(), value: b"9".to_vec().into() };
        let batch = wide.batch(&[effect.into()], QUORUM);
        let (mut decision, next) = wide.t.state().decide(batch, |_| None).unwrap();
        let state = swollen(next.encode());
        decision.state = digest(&[b"folkmoot state v1\0", &state]);
        let last = codec::encode(&wide.standing(decision, QUORUM));
        let mut parts = Parts::of(&wide.t.file());
        parts.0.retain(|(kind, _)| [CHARTER, HANDOVER, LAST].contains(kind));
        let place = parts.place(LAST);
        parts.0[place].0 = HANDOVER;
        parts.0.extend([(LAST, last), (STATE, state), (END, Vec::new())]);
        parts.file()
    }
}

/// The state with as many refused requests and revoked serial numbers as there is room for.
fn swollen(mut state: Vec<u8>) -> Vec<u8> {
    // It had no refused requests, no revoked serial numbers, no Rejoin and no former keys.
    let running = state.split_off(state.len() - 32);
    assert!(state.ends_with(&[0; 4]));
    state.truncate(state.len() - 4);
    let room = (STATE_BYTES_MAX - state.len() - 42) / 2;
    let entry = |number: usize, length: usize| {
        let mut bytes = vec![0; length];
        bytes[..8].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
        bytes
    };
    // A request has 32 bytes, no CSR and a number; a serial number 16 and an end.
    for length in [32 + 1 + 8, 16 + 8] {
        let list: Vec<u8> = (0..room / length).flat_map(|number| entry(number, length)).collect();
        state.extend((0x8000_0000 | u32::try_from(list.len()).unwrap()).to_be_bytes());
        state.extend(list);
    }
    state.extend([0; 2]);
    state.extend(running);
    assert!(STATE_BYTES_MAX - state.len() < 64);
    state
}
