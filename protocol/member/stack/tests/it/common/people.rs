//! Real keys, a charter, and valid items.

use bytes::Bytes;
use folkmoot_base::{
    Blob, ConfigurationId, Digest, Entropy, GroupName, MemberId, NodeId, Party, SignatureBytes, UnixTime,
    digest,
};
use folkmoot_identity::{
    CharterDraft, Founder, Gmc, GmcBody, Identity, Minority, Signature, SignedCharter, Verdict, VoteProof,
};
use folkmoot_transcript::{
    Approval, Approved, Batch, Change, Claim, Commit, Decision, Effect, Item, Promise, Proof, Proposal,
    ROTATE_LABEL, STATEMENT_LABEL, Stage, Standing, Subject, Transcript, admission,
};
use std::sync::LazyLock;

pub const NOW: UnixTime = UnixTime(1_800_000_000);
const LATER: UnixTime = UnixTime(2_000_000_000);

/// Of the nodes, where there is only one.
pub const CONFIGURATION: ConfigurationId =
    ConfigurationId { ring_seq: 1, representative: NodeId([0; 32]), nonce: [0; 16] };

/// A random stream that repeats for its seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        usize::try_from(u64::from_be_bytes(bytes) % bound.max(1) as u64).unwrap()
    }
}

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

/// In the order of their ids, so that the first number is the first member of a view.
pub static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let make = |n: u64| Identity::new(&format!("p{n}"), &mut Dice(n * 1_000), NOW, LATER).unwrap();
    let mut people: Vec<Identity> = (0..7).map(make).collect();
    people.sort_by_key(Identity::member);
    people
});

/// The party of a member that has one program.
pub fn party(who: usize) -> Party {
    id(who).into()
}

pub fn id(who: usize) -> MemberId {
    PEOPLE[who].member()
}

/// The charter of the first `count` people: one vote admits, more than half decide.
pub fn charter(count: usize, minority: Minority) -> Bytes {
    let founders: Vec<&Identity> = PEOPLE[..count].iter().collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, named, &mut Dice(7));
    draft.minority = minority;
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into()
}

/// A certificate for a term from `begins`, over the head of this transcript, with these votes.
pub fn gmc(transcript: &Transcript, who: usize, voters: &[usize], (salt, begins): (u64, UnixTime)) -> Gmc {
    let (charter, head) = (transcript.roster().charter(), transcript.state().head());
    let mut dice = Dice(1 << 50 | salt << 20);
    let body = GmcBody::propose(charter, &PEOPLE[who], 3, begins, &mut dice).over(head);
    let subject = admission(body.request_digest().unwrap());
    let votes: Vec<VoteProof> =
        voters.iter().map(|voter| vote(transcript, *voter, subject, begins)).collect();
    Gmc::compose(&body, &votes, &PEOPLE[who]).unwrap()
}

fn vote(transcript: &Transcript, voter: usize, subject: Subject, begins: UnixTime) -> VoteProof {
    let expires = UnixTime(begins.0 + 80 * 86_400);
    let word = transcript.approve(&PEOPLE[voter], subject, Verdict::Approve, expires);
    let Approval { voter, base, turn, expires, .. } = word.approval;
    VoteProof { voter, base, turn, expires, signature: Signature::from_wire(&word.signature).unwrap() }
}

/// The decision of these voters, who carry out this effect and hold what counts: it stands on the
/// head of this transcript.
pub fn decide(transcript: &Transcript, effect: &Effect, voters: &[usize]) -> Bytes {
    let held = transcript.set().holdable(transcript.state(), NOW).into_iter().collect();
    decide_holding(transcript, effect, voters, held)
}

/// The same, and it holds only these admissions.
pub fn decide_holding(
    transcript: &Transcript,
    effect: &Effect,
    voters: &[usize],
    holds: Vec<Digest>,
) -> Bytes {
    let (state, set) = (transcript.state(), transcript.set());
    let time = NOW.max(state.time());
    let mut proofs: Vec<Proof> = voters
        .iter()
        .map(|voter| transcript.approve(&PEOPLE[*voter], effect.subject(), Verdict::Approve, LATER))
        .map(|word| Proof::of(&word.approval, word.signature))
        .collect();
    proofs.sort_by_key(|proof| proof.voter);
    let effects = vec![Approved { effect: effect.clone(), proofs }];
    let batch = Batch { time, effects, holds, ..Batch::default() };
    let (decision, _) = state.decide(batch, |request| set.admit(request)).unwrap();
    Item::Decision(standing(transcript, decision, voters)).encode().into()
}

/// The first ballot that one of these voters owns, with the promises and commits of them all.
fn standing(transcript: &Transcript, decision: Decision, voters: &[usize]) -> Standing {
    let (state, group) = (transcript.state(), transcript.group());
    let mut voters: Vec<usize> = voters.to_vec();
    voters.sort_by_key(|voter| id(*voter));
    let owner = |ballot: u32| voters.iter().copied().find(|voter| id(*voter) == state.owner(ballot));
    let ballot = (0..).find(|ballot| owner(*ballot).is_some()).unwrap();
    let sign = |voter: usize, claim: &Claim| {
        PEOPLE[voter].key().sign_wire(STATEMENT_LABEL, &claim.statement.bytes(&group))
    };
    let promise = |voter: &usize| {
        let mut promise = Promise { voter: id(*voter), report: None, signature: SignatureBytes::NONE };
        promise.signature = sign(*voter, &promise.claim(state.head(), ballot));
        promise
    };
    let promises = if ballot == 0 { Vec::new() } else { voters.iter().map(promise).collect() };
    let stage = Stage { ballot, promises, signature: SignatureBytes::NONE };
    let mut proposal = Proposal { decision, stages: vec![stage] };
    let claim = proposal.claims(&state.electorate()).remove(0);
    proposal.stages[0].signature = sign(owner(ballot).unwrap(), &claim);
    let commit = |voter: &usize| {
        let mut commit = Commit { voter: id(*voter), signature: SignatureBytes::NONE };
        commit.signature = sign(*voter, &commit.claim(state.head(), proposal.report()));
        commit
    };
    let commits = voters.iter().map(commit).collect();
    Standing { proposal, commits }
}

pub fn expulsion(who: usize) -> Effect {
    Change::Remove { member: id(who) }.into()
}

/// Another key for a member: the new key's certificate, and what gives it the old one's place.
pub fn rotation(transcript: &Transcript, old: usize, new: usize) -> (Bytes, Effect) {
    let certificate = gmc(transcript, new, &[], (1 << 10, NOW));
    let request = certificate.body().request_digest().unwrap();
    let covered = [&transcript.group().0[..], &request].concat();
    let signature = PEOPLE[old].key().sign_wire(ROTATE_LABEL, &covered);
    let certificate = Blob(certificate.der().clone());
    let item = Item::Admit { certificate, approvals: Vec::new() }.encode().into();
    (item, Change::Rotate { member: id(old), request, signature }.into())
}

/// A change of one field of the charter.
pub fn change(field: &str, value: &str) -> Effect {
    let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
    Change::Charter { field: blob(field), value: blob(value) }.into()
}

pub fn electorate(voters: &[usize]) -> Effect {
    Change::Electorate { voters: voters.iter().map(|voter| id(*voter)).collect() }.into()
}
