//! The transcript with real keys, certificates and signatures.

mod ahead;
mod asm;
mod away;
mod catch_up;
mod central;
mod epochs;
mod evidence;
mod expelled;
mod file;
mod group_key;
mod heads;
mod keys;
mod leave;
mod lies;
mod messages;
mod names;
mod policies;
mod program;
mod rejoin;
mod rest;
mod skips;
mod tickets;
mod vectors;
mod waits;

use folkmoot_base::{Blob, Entropy, GroupName, Instant, MemberId, Mutant, UnixTime, digest};
use folkmoot_identity::{CharterDraft, Gmc, GmcBody, Identity, SignedCharter, Verdict, VoteProof};
use folkmoot_signing::Signature;
use folkmoot_transcript::{
    Approval, BallotMessage, BallotOutput, Ballots, Change, Effect, Item, ItemError, Look, STATEMENT_LABEL,
    SignedApproval, Statement, Subject, Taken, Transcript, admission,
};
use std::collections::{BTreeSet, VecDeque};

const START: UnixTime = UnixTime(1_767_225_600);
const NOW: UnixTime = UnixTime(1_767_300_000);
const LATER: UnixTime = UnixTime(1_769_000_000);

struct Seed(u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            let block = digest(&[&self.0.to_be_bytes()]);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }
}

fn person(number: u64) -> Identity {
    let end = UnixTime(2_398_377_600);
    Identity::new(&format!("person {number}"), &mut Seed(number << 32), START, end).unwrap()
}

/// What a charter of the first people says.
fn draft(founders: u64, threshold: u32) -> CharterDraft {
    let named = (0..founders).map(|number| person(number).certificate().into()).collect();
    CharterDraft::new(GroupName::new("wire").unwrap(), threshold, named, &mut Seed(99 << 32))
}

/// Founders with their programs, each with its own transcript.
struct Group {
    people: Vec<Identity>,
    /// What all their clocks say.
    clock: UnixTime,
    transcripts: Vec<Transcript>,
    ballots: Vec<Ballots>,
}

impl Group {
    fn new(founders: u64, threshold: u32) -> Self {
        Self::of(&draft(founders, threshold))
    }

    fn of(draft: &CharterDraft) -> Self {
        let people: Vec<Identity> = (0..draft.founders.len() as u64).map(person).collect();
        let all: Vec<&Identity> = people.iter().collect();
        let signed = SignedCharter::sign(&draft.to_toml(), &all).unwrap();
        let transcripts: Vec<Transcript> =
            people.iter().map(|_| Transcript::founded(signed.der()).unwrap()).collect();
        let ballots = people
            .iter()
            .zip(&transcripts)
            .map(|(one, transcript)| Ballots::new(one.member(), transcript.state(), None, Mutant::NONE))
            .collect();
        Self { people, clock: NOW, transcripts, ballots }
    }

    fn id(&self, who: usize) -> MemberId {
        self.people[who].member()
    }

    fn first(&self) -> &Transcript {
        &self.transcripts[0]
    }

    /// An approval over the head that the first founder knows, for twenty days.
    fn approval(&self, who: usize, subject: Subject, turn: u32, verdict: Verdict) -> SignedApproval {
        let base = self.first().state().head();
        let expires = UnixTime(self.clock.0 + LATER.0 - NOW.0);
        let approval = Approval { voter: self.id(who), base, subject, turn, verdict, expires };
        SignedApproval::sign(self.people[who].key(), self.first().group(), approval)
    }

    /// The request of a stranger, over the first founder's head.
    fn request(&self, stranger: &Identity) -> GmcBody {
        let charter = self.first().signed_charter().charter();
        let body = GmcBody::propose(charter, stranger, 3, START, &mut Seed(5 << 32));
        body.over(self.first().state().head())
    }

    /// The item of a certificate with the votes of these founders.
    fn admit(&self, stranger: &Identity, body: &GmcBody, voters: &[usize]) -> Item {
        let subject = admission(body.request_digest().unwrap());
        let votes: Vec<VoteProof> = voters.iter().map(|who| self.vote(*who, subject)).collect();
        let gmc = Gmc::compose(body, &votes, stranger).unwrap();
        Item::Admit { certificate: Blob(gmc.der().clone()), approvals: Vec::new() }
    }

    fn vote(&self, who: usize, subject: Subject) -> VoteProof {
        let SignedApproval { approval, signature } = self.approval(who, subject, 0, Verdict::Approve);
        let Approval { voter, base, turn, expires, .. } = approval;
        VoteProof { voter, base, turn, expires, signature: Signature::from_wire(&signature).unwrap() }
    }

    /// Everybody takes an item.
    fn all_take(&mut self, item: &Item) -> Taken {
        let bytes = item.encode();
        let mut last = Taken::default();
        for transcript in &mut self.transcripts {
            last = transcript.take(&bytes, Some(self.clock)).unwrap();
        }
        last
    }

    /// These founders approve an effect; everybody hears of it.
    fn approve(&mut self, effect: &Effect, voters: &[usize]) {
        for who in voters {
            let signed = self.approval(*who, effect.subject(), 0, Verdict::Approve);
            self.all_take(&Item::Approval(signed));
            self.all_take(&Item::Effect(effect.clone()));
        }
    }

    /// These founders approve an effect, and everybody's program decides it.
    fn pass(&mut self, effect: &Effect, voters: &[usize]) {
        self.approve(effect, voters);
        let all: Vec<usize> = (0..self.people.len()).collect();
        assert_eq!(self.decide(&all).len(), all.len());
    }

    /// Whether the certificate with the votes of these founders would admit a stranger now.
    fn tried(&self, stranger: &Identity, voters: &[usize]) -> Result<(), ItemError> {
        let item = self.admit(stranger, &self.request(stranger), voters);
        self.first().check_admit(&item.encode())
    }

    /// Lets the programs of these founders decide, until nothing more is said. Returns what stood.
    fn decide(&mut self, who: &[usize]) -> Vec<Item> {
        let present: BTreeSet<MemberId> = who.iter().map(|who| self.id(*who)).collect();
        let mut stood = Vec::new();
        for second in 0..60 {
            let mut said: VecDeque<BallotMessage> = VecDeque::new();
            for one in who {
                self.step(*one, second, &present, None, &mut said, &mut stood);
            }
            while let Some(message) = said.pop_front() {
                for one in who {
                    self.transcripts[*one].check_message(&message).unwrap();
                    self.step(*one, second, &present, Some(message.clone()), &mut said, &mut stood);
                }
            }
            if !stood.is_empty() {
                break;
            }
        }
        stood
    }

    fn step(
        &mut self,
        who: usize,
        second: u64,
        present: &BTreeSet<MemberId>,
        message: Option<BallotMessage>,
        said: &mut VecDeque<BallotMessage>,
        stood: &mut Vec<Item>,
    ) {
        let (transcript, key) = (&self.transcripts[who], self.people[who].key());
        let group = transcript.group();
        let look = Look {
            state: transcript.state(),
            set: transcript.set(),
            now: Instant(second * 1_000_000),
            clock: self.clock,
            present,
            sign: &|statement: &Statement| key.sign_wire(STATEMENT_LABEL, &statement.bytes(&group)),
        };
        let ballots = &mut self.ballots[who];
        match message {
            Some(message) => ballots.hear(&look, message).unwrap(),
            None => ballots.work(&look),
        }
        while let Some(output) = self.ballots[who].poll_output() {
            match output {
                BallotOutput::Persist(_) => {}
                BallotOutput::Send(message) => said.push_back(message),
                BallotOutput::Stands(standing) => {
                    let item = Item::Decision(standing);
                    let taken = self.transcripts[who].take(&item.encode(), Some(self.clock)).unwrap();
                    assert!(taken.advanced);
                    let state = self.transcripts[who].state();
                    self.ballots[who] = Ballots::new(self.people[who].member(), state, None, Mutant::NONE);
                    stood.push(item);
                }
                BallotOutput::Missing(request) => panic!("{request:?} is missing"),
            }
        }
    }
}

fn field(name: &str, value: &str) -> Effect {
    let bytes = |text: &str| Blob::from(text.as_bytes().to_vec());
    Change::Charter { field: bytes(name), value: bytes(value) }.into()
}

fn remove(member: MemberId) -> Effect {
    Change::Remove { member }.into()
}

#[test]
fn a_certificate_with_enough_approvals_admits() {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let body = group.request(&stranger);
    let alone = group.admit(&stranger, &body, &[0]);
    assert_eq!(group.all_take(&alone).came, BTreeSet::new());
    let second = group.admit(&stranger, &body, &[1]);
    let taken = group.all_take(&second);
    assert_eq!(taken.came, BTreeSet::from([stranger.member()]), "two copies of one content are one item");
    assert_eq!(group.first().set().admits().count(), 1);
}

#[test]
fn the_order_of_items_does_not_matter() {
    let group = Group::new(3, 2);
    let stranger = person(10);
    let body = group.request(&stranger);
    let subject = admission(body.request_digest().unwrap());
    let items = [
        group.admit(&stranger, &body, &[0]),
        group.admit(&stranger, &body, &[1, 2]),
        Item::Approval(group.approval(2, subject, 1, Verdict::Reject)),
    ];
    let mut marks = BTreeSet::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut transcript = group.first().clone();
        for place in order {
            transcript.take(&items[place].encode(), Some(NOW)).unwrap();
        }
        marks.insert(transcript.mark());
        assert!(transcript.set().members(transcript.state()).contains_key(&stranger.member()));
    }
    assert_eq!(marks.len(), 1);
}

#[test]
fn an_expulsion_is_decided_and_binds() {
    let mut group = Group::new(3, 2);
    let (carol, effect) = (group.id(2), remove(group.id(2)));
    group.approve(&effect, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    assert_eq!(stood.len(), 3);
    for transcript in &group.transcripts {
        assert_eq!(transcript.mark(), group.first().mark());
        assert!(!transcript.state().roster().contains_key(&carol));
        assert_eq!(transcript.state().head().number, 1);
    }
}

#[test]
fn a_ballot_does_not_wait_for_whom_nobody_hears() {
    // The first ballot is the first founder's.
    let mut group = Group::new(3, 2);
    let effect = remove(group.id(0));
    group.approve(&effect, &[1, 2]);
    assert_eq!(group.decide(&[1, 2]).len(), 2);
    assert!(!group.transcripts[1].state().roster().contains_key(&group.id(0)));
}
