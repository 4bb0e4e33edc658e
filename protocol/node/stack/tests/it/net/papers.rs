//! Items with real keys: admissions, approvals, decisions.

use super::{NOW, PEOPLE, ca, person};
use bytes::Bytes;
use core::sync::atomic::{AtomicU64, Ordering};
use folkmoot_base::{Blob, MemberId, UnixTime};
use folkmoot_identity::{Gmc, GmcBody, Grounds, Identity, Signature, Verdict, VoteProof};
use folkmoot_transcript::{
    Approved, Batch, Change, Commit, Decision, Effect, Item, Proof, Proposal, STATEMENT_LABEL, Stage,
    Standing, Statement, Subject, Transcript, admission,
};

/// When the votes here run out.
pub const LATER: UnixTime = UnixTime(NOW.0 + 30 * 86_400);

/// The item with which these voters admit somebody, on top of a transcript.
pub fn admission_of(transcript: &Transcript, who: &Identity, voters: &[usize]) -> Bytes {
    admission_approved(transcript, who, voters, &[])
}

/// The same, with approvals of others beside the certificate.
pub fn admission_approved(
    transcript: &Transcript,
    who: &Identity,
    voters: &[usize],
    beside: &[&Identity],
) -> Bytes {
    static SALT: AtomicU64 = AtomicU64::new(0);
    let salt = SALT.fetch_add(1, Ordering::Relaxed) << 24;
    let charter = transcript.roster().charter();
    let body = GmcBody::propose(charter, who, 3, NOW, &mut super::Dice(salt)).over(transcript.state().head());
    let subject = admission(body.request_digest().unwrap());
    let votes: Vec<VoteProof> = voters.iter().map(|voter| vote(transcript, *voter, subject)).collect();
    let gmc = if charter.central().is_some() {
        let (key, certificate) = ca();
        let body = body.on_grounds(&Grounds::Votes(votes));
        let signature = key.sign_raw(&body.issued_tbs(certificate.key()).unwrap()).to_paper();
        Gmc::issue_by_group(&body, certificate.key(), &signature).unwrap()
    } else {
        Gmc::compose(&body, &votes, who).unwrap()
    };
    let by = |one: &&Identity| transcript.approve(one, subject, Verdict::Approve, LATER);
    let approvals = beside.iter().map(by).collect();
    Item::Admit { certificate: Blob(gmc.der().clone()), approvals }.encode().into()
}

fn vote(transcript: &Transcript, voter: usize, subject: Subject) -> VoteProof {
    let signed = transcript.approve(person(voter), subject, Verdict::Approve, LATER);
    let approval = signed.approval;
    VoteProof {
        voter: approval.voter,
        base: approval.base,
        turn: approval.turn,
        expires: approval.expires,
        signature: Signature::from_wire(&signed.signature).unwrap(),
    }
}

/// A voter's approval of something that nobody has proposed: it changes the set and nothing else.
pub fn approval(transcript: &Transcript, voter: usize, number: u64) -> Bytes {
    let subject = admission(folkmoot_base::digest(&[b"subject", &number.to_be_bytes()]));
    Item::Approval(transcript.approve(person(voter), subject, Verdict::Approve, LATER)).encode().into()
}

/// That the term of a member is over.
pub fn end(transcript: &Transcript, member: MemberId) -> Bytes {
    let ends = transcript.roster().member(&member).unwrap().ends;
    Item::Past { time: UnixTime(ends.0 + 1) }.encode().into()
}

/// A decision for which all voters sign, whatever they have signed before: it holds what counts,
/// and expels a member, if one is named.
pub fn decision(transcript: &Transcript, expelled: Option<usize>, time: UnixTime) -> Bytes {
    let change = expelled.map(|who| Change::Remove { member: person(who).member() });
    decided(transcript, change, time)
}

/// The same for the holding of a late admission.
pub fn holding(transcript: &Transcript, late: &Bytes, time: UnixTime) -> Bytes {
    let request = Item::decode(late).unwrap().name().unwrap();
    decided(transcript, Some(Change::Hold { request }), time)
}

/// The same for going over to another line.
pub fn rejoining(transcript: &Transcript, head: folkmoot_base::Head, time: UnixTime) -> Bytes {
    decided(transcript, Some(Change::Rejoin { head }), time)
}

/// The same for another value of a field of the charter.
pub fn changing(transcript: &Transcript, field: &str, value: &str, time: UnixTime) -> Bytes {
    let blob = |text: &str| text.as_bytes().to_vec().into();
    decided(transcript, Some(Change::Charter { field: blob(field), value: blob(value) }), time)
}

fn decided(transcript: &Transcript, change: Option<Change>, time: UnixTime) -> Bytes {
    let state = transcript.state();
    let proof = |voter: &usize, effect: &Effect| {
        let signed = transcript.approve(person(*voter), effect.subject(), Verdict::Approve, LATER);
        Proof::of(&signed.approval, signed.signature)
    };
    let voters: Vec<usize> = (0..PEOPLE.len()).filter(|who| state.may_vote(&person(*who).member())).collect();
    let effects = change.map(|change| {
        let effect: Effect = change.into();
        let mut proofs: Vec<Proof> = voters.iter().map(|voter| proof(voter, &effect)).collect();
        proofs.sort_by_key(|proof| proof.voter);
        Approved { effect, proofs }
    });
    let holds = transcript.set().holdable(state, time).into_iter().collect();
    let batch = Batch { time, effects: effects.into_iter().collect(), holds, ..Batch::default() };
    let (decision, _) = state.decide(batch, |request| transcript.set().admit(request)).unwrap();
    Item::Decision(standing(transcript, decision, &voters)).encode().into()
}

/// The decision with the owner's and all voters' signatures, in ballot 0.
fn standing(transcript: &Transcript, decision: Decision, voters: &[usize]) -> Standing {
    let (group, state) = (transcript.group(), transcript.state());
    let sign = |member: MemberId, statement: &Statement| {
        let who = PEOPLE.iter().find(|person| person.member() == member).unwrap();
        who.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&group))
    };
    let unsigned = person(0).key().sign_wire(STATEMENT_LABEL, b"");
    let stage = Stage { ballot: 0, promises: Vec::new(), signature: unsigned };
    let mut proposal = Proposal { decision, stages: vec![stage] };
    let owner = proposal.claims(&state.electorate()).pop().unwrap();
    proposal.stages[0].signature = sign(owner.voter, &owner.statement);
    let (parent, report) = (proposal.parent(), proposal.report());
    let commit = |who: &usize| {
        let voter = person(*who).member();
        let statement = Statement::Commit { parent, ballot: report.ballot, decision: report.decision };
        Commit { voter, signature: sign(voter, &statement) }
    };
    let mut commits: Vec<Commit> = voters.iter().map(commit).collect();
    commits.sort_by_key(|commit| commit.voter);
    Standing { proposal, commits }
}
