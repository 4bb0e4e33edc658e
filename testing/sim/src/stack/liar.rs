//! A voter that lies about decisions: it signs a proposal of its own in a ballot that it owns, of
//! whatever time, by approvals that ran out or a holding that nobody approved, and reports it to
//! all as what it has committed to. Those who lie together commit to it, if they are a quorum. Its
//! node and its member do what all others' do.

use super::kind;
use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_admission::OpenMessage;
use folkmoot_base::{Blob, Digest, MemberId, UnixTime};
use folkmoot_identity::{Identity, Verdict};
use folkmoot_transcript::{
    Approval, Approved, BallotMessage, Batch, Change, Commit, Decision, Effect, Force, Head, Judgement,
    Promise, Proof, Proposal, STATEMENT_LABEL, SignatureBytes, SignedApproval, Stage, State, Statement,
    Transcript,
};
use std::collections::BTreeSet;

/// How far the time of what it proposes is ahead, in seconds.
const AHEAD: [i64; 6] = [0, -200, -200, -900, -40 * 86_400, 2 * 86_400];
/// How long approvals last that have not run out.
const LIFE_SECONDS: u64 = 3 * 86_400;
/// How many later ballots it promises.
const LATER: u32 = 3;

/// The liar.
pub(super) struct Liar {
    me: Identity,
    /// Everybody at the table: what it shows they once signed.
    people: Vec<Identity>,
    rng: Rng,
    /// The heads that it has lied about.
    done: Vec<Head>,
}

impl Liar {
    pub(super) fn new(me: Identity, people: Vec<Identity>, seed: u64) -> Self {
        Self { me, people, rng: Rng::new(seed, "liar", 0), done: Vec::new() }
    }

    /// What it says now, once for each head after which it has the first ballot. If those who lie
    /// with it are a quorum, they all commit to it.
    pub(super) fn speak(
        &mut self,
        transcript: &Transcript,
        clock: UnixTime,
        together: &BTreeSet<MemberId>,
    ) -> Vec<Bytes> {
        let (state, me) = (transcript.state(), self.me.member());
        let alone = state.is_quorum(&[me].into());
        if alone || state.owner(0) != me || self.done.contains(&state.head()) {
            return Vec::new();
        }
        self.done.push(state.head());
        let Some(decision) = self.decision(transcript, clock) else { return Vec::new() };
        let stages = vec![Stage { ballot: 0, promises: Vec::new(), signature: SignatureBytes::NONE }];
        let mut proposal = Proposal { decision, stages };
        for (claim, stage) in proposal.claims(state).into_iter().zip(&mut proposal.stages) {
            stage.signature = self.sign(state, &claim.statement);
        }
        let told = BallotMessage::Proposal { proposal: proposal.clone(), judgements: Vec::new() };
        let promises = (1..=LATER).map(|ballot| self.report(state, &proposal, ballot));
        let together: Vec<&Identity> = if state.is_quorum(together) {
            self.people.iter().filter(|one| together.contains(&one.member())).collect()
        } else {
            Vec::new()
        };
        let commits = together.into_iter().map(|one| commit(one, state, &proposal));
        let all: Vec<BallotMessage> = [told].into_iter().chain(promises).chain(commits).collect();
        all.into_iter().map(|message| kind::open(&OpenMessage::Ballot { message })).collect()
    }

    fn sign(&self, state: &State, statement: &Statement) -> SignatureBytes {
        sign(&self.me, state, statement)
    }

    /// A promise that reports the proposal, with its own judgement, in its own name and in others',
    /// or with none.
    fn report(&self, state: &State, proposal: &Proposal, ballot: u32) -> BallotMessage {
        let (parent, report) = (proposal.parent(), Some(proposal.report()));
        let signature = self.sign(state, &Statement::Promise { parent, ballot, report });
        let promise = Promise { voter: self.me.member(), report, signature };
        let judged = proposal.report();
        let judge = Statement::Judge { parent, ballot: judged.ballot, decision: judged.decision };
        let signature = self.sign(state, &judge);
        let voters = state.voters().into_iter().filter(|_| ballot != LATER);
        let judgements = voters.map(|voter| Judgement { voter, signature: signature.clone() }).collect();
        let report = Some(proposal.clone());
        BallotMessage::Promise { parent, ballot, promise, report, judgements }
    }

    /// A change by approvals of everybody, which ran out since or of a false time, and the holding
    /// of what does not count.
    fn decision(&mut self, transcript: &Transcript, clock: UnixTime) -> Option<Decision> {
        let (state, set) = (transcript.state(), transcript.set());
        let ahead = self.rng.pick(&AHEAD).copied().unwrap_or_default();
        let time = UnixTime(clock.0.saturating_add_signed(ahead).max(state.time().0));
        let life = if self.rng.chance(500_000) { LIFE_SECONDS } else { 0 };
        let late: Vec<Digest> = set.late().map(|(admit, _)| admit.request).collect();
        let holds: Vec<Digest> = self.rng.pick(&late).copied().into_iter().collect();
        let effects = vec![self.old_effect(state, UnixTime(time.0.saturating_add(life)))];
        let batch = |holds| Batch { time, effects: effects.clone(), holds, ..Batch::default() };
        let decided = |holds| state.decide(batch(holds), |request| set.admit(request)).ok();
        decided(holds).or_else(|| decided(Vec::new())).map(|(decision, _)| decision)
    }

    /// A change that all voters approved up to this time.
    fn old_effect(&mut self, state: &State, expires: UnixTime) -> Approved {
        let others: Vec<MemberId> =
            state.roster().keys().copied().filter(|one| *one != self.me.member()).collect();
        let out = self.rng.pick(&others).copied().filter(|_| self.rng.chance(300_000));
        let text = Change::Charter {
            field: Blob::from(b"request_hours".to_vec()),
            value: Blob::from(self.rng.range(1, 700).to_string().into_bytes()),
        };
        let change = out.map_or(text, |member| Change::Remove { member });
        let effect = Effect { change, force: Force::Yes };
        let (base, subject) = (state.head(), effect.subject());
        let voters = self.people.iter().filter(|one| state.may_vote(&one.member()));
        let mut proofs: Vec<Proof> = voters
            .map(|one| {
                let (voter, verdict) = (one.member(), Verdict::Approve);
                let approval = Approval { voter, base, subject, turn: 0, verdict, expires };
                let signed = SignedApproval::sign(one.key(), state.group(), approval);
                Proof::of(&signed.approval, signed.signature)
            })
            .collect();
        proofs.sort_unstable_by_key(|proof| proof.voter);
        Approved { effect, proofs }
    }
}

fn sign(who: &Identity, state: &State, statement: &Statement) -> SignatureBytes {
    who.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&state.group()))
}

fn commit(who: &Identity, state: &State, proposal: &Proposal) -> BallotMessage {
    let (parent, report) = (proposal.parent(), proposal.report());
    let statement = Statement::Commit { parent, ballot: report.ballot, decision: report.decision };
    let commit = Commit { voter: who.member(), signature: sign(who, state, &statement) };
    BallotMessage::Commit { parent, report, commit }
}
