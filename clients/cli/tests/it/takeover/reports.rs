//! Anna owns ballot 0, and lies: she signs a proposal now with a time of thirty days ago, says on
//! her disk that she has committed to it, and starts the shipped program, which reports it to all.
//! By that time what it carries was right once. The others have not judged it, so they go on
//! without it. With judgements of a quorum on the same disk they follow it: nothing else is wrong.

use super::ran_out::{charter, identity};
use super::stage::{Cast, decided, roster, rule};
use crate::common::actor::Actor;
use folkmoot_base::{Blob, Digest, Persist, SignatureBytes, UnixTime, codec};
use folkmoot_identity::{Identity, Verdict};
use folkmoot_runtime::{StateFolder, Store, wall_clock};
use folkmoot_transcript::{
    Approval, Approved, BallotRecord, Batch, Change, Decision, Effect, Judgement, Proof, Proposal, Refused,
    STATEMENT_LABEL, SignedApproval, Stage, State, Statement, Subject, admission,
};

const FOUNDERS: [&str; 4] = ["anna", "ben", "cleo", "dora"];
const HONEST: [&str; 3] = ["ben", "cleo", "dora"];
const DAY: u64 = 86_400;
/// Table and first byte of the key of what a voter keeps of its ballots.
const BALLOTS: (&str, &[u8]) = ("vote", b"b");

/// What Anna's lie is made of.
struct Forge<'a> {
    cast: &'a Cast,
    state: State,
}

impl<'a> Forge<'a> {
    fn new(cast: &'a Cast) -> Self {
        Self { cast, state: State::founded(charter(cast).charter().clone()) }
    }

    fn identity(&self, name: &str) -> Identity {
        identity(&self.cast.who(name).state)
    }

    /// What Anna and two others said of a subject in the month before last. It ended thirty days
    /// ago.
    fn proofs(&self, subject: Subject, verdict: Verdict) -> Vec<Proof> {
        let expires = UnixTime(wall_clock().0 - 30 * DAY);
        let say = |voter: &str| {
            let (voter, base) = (self.identity(voter), self.state.head());
            let approval = Approval { voter: voter.member(), base, subject, turn: 0, verdict, expires };
            let signed = SignedApproval::sign(voter.key(), self.state.group(), approval);
            Proof::of(&signed.approval, signed.signature)
        };
        let mut proofs = ["anna", "ben", "cleo"].map(say).to_vec();
        proofs.sort_by_key(|proof| proof.voter);
        proofs
    }

    fn approved(&self, change: Change) -> Approved {
        let effect = Effect::from(change);
        let proofs = self.proofs(effect.subject(), Verdict::Approve);
        Approved { effect, proofs }
    }

    /// The decision of a day before that.
    fn decision(&self, effects: Vec<Approved>, refusals: Vec<Refused>) -> Decision {
        let time = UnixTime(wall_clock().0 - 31 * DAY);
        self.state.decide(Batch { time, effects, holds: Vec::new(), refusals }, |_| None).unwrap().0
    }

    fn sign(&self, name: &str, statement: &Statement) -> SignatureBytes {
        self.identity(name).key().sign_wire(STATEMENT_LABEL, &statement.bytes(&self.state.group()))
    }

    /// Anna has committed to this, which these have judged, as far as her disk says.
    fn committed(&self, decision: Decision, judges: &[&str]) {
        let (parent, ballot, digest) = (self.state.head(), 0, decision.digest());
        let promises = folkmoot_base::digest(&[b"folkmoot promises v1\0"]);
        let propose = Statement::Propose { parent, ballot, decision: digest, promises };
        let stage = Stage { ballot, promises: Vec::new(), signature: self.sign("anna", &propose) };
        let proposal = Proposal { decision, stages: vec![stage] };
        let judge = Statement::Judge { parent, ballot, decision: digest };
        let judgement = |name: &&str| Judgement {
            voter: self.identity(name).member(),
            signature: self.sign(name, &judge),
        };
        let mut judgements: Vec<Judgement> = judges.iter().map(judgement).collect();
        judgements.sort_by_key(|one| one.voter);
        let record = BallotRecord {
            judged: Some(proposal.report()),
            committed: Some(proposal.clone()),
            judgements,
            proposed: Some(proposal),
            ..BallotRecord::new(parent)
        };
        let key = [BALLOTS.1, &parent.digest].concat();
        let folder = StateFolder::at(&self.cast.who("anna").state);
        let mut store = Store::open(&folder.store_path()).unwrap();
        store.commit(&[Persist::put(BALLOTS.0, key, codec::encode(&record))]).unwrap();
    }
}

/// Whom else she has for it: nobody, or as many as a quorum.
const JUDGES: [&[&str]; 2] = [&["anna"], &["anna", "ben", "cleo"]];

/// Everybody runs, and something is decided after the founding.
fn start(cast: &mut Cast) {
    FOUNDERS.iter().for_each(|name| cast.kill(name));
    FOUNDERS.iter().for_each(|name| cast.start(name, &[]));
    for name in HONEST {
        cast.who(name).until(&["status"], |status| status["decided"].as_u64() >= Some(1));
    }
}

#[test]
fn votes_that_ran_out_expel_nobody_by_a_report() {
    for (judges, out) in JUDGES.into_iter().zip([false, true]) {
        let mut cast = Cast::founded("reports-expel", &FOUNDERS, &[]);
        cast.kill("anna");
        let forge = Forge::new(&cast);
        let dora = forge.identity("dora").member();
        let lie = forge.decision(vec![forge.approved(Change::Remove { member: dora })], Vec::new());
        forge.committed(lie, judges);
        start(&mut cast);
        for name in ["ben", "cleo"] {
            assert_eq!(!roster(cast.who(name)).contains(&cast.who("dora").id), out, "{name}");
        }
    }
}

/// Each of the three wants Anna out, and has not heard of the others. Her lie is of something else.
#[test]
fn nobody_leaves_out_its_own_expulsion_by_a_report() {
    for (judges, days) in JUDGES.into_iter().zip(["365", "200"]) {
        let mut cast = Cast::founded("reports-own", &FOUNDERS, &[]);
        FOUNDERS.iter().for_each(|name| cast.kill(name));
        for name in HONEST {
            cast.start(name, &[]);
            cast.who(name).good(&["expel", "anna"]);
            cast.kill(name);
        }
        let forge = Forge::new(&cast);
        let [field, value] = ["certificate_days", "200"].map(|text| Blob(text.as_bytes().to_vec().into()));
        let lie = forge.decision(vec![forge.approved(Change::Charter { field, value })], Vec::new());
        forge.committed(lie, judges);
        start(&mut cast);
        for name in HONEST {
            cast.who(name).why("anna", "expelled");
            assert_eq!(rule(cast.who(name), "certificate_days"), days, "{name}");
            assert_eq!(decided(cast.who(name)), if days == "200" { 2 } else { 1 }, "{name}");
        }
    }
}

/// Eve asks. Ben and Cleo say no, one after another, and each thinks better of it. Her request.
fn with_eve() -> (Cast, Digest) {
    let mut cast = Cast::founded("reports-no", &FOUNDERS, &["--objections", "2"]);
    cast.people.push(Actor::new(&cast.place, "eve"));
    cast.start("eve", &["--apply"]);
    let open = cast.who("ben").until(&["vote", "list"], |list| list[0]["name"] == "eve");
    let subject = open[0]["subject"].as_str().unwrap();
    let byte = |at: usize| u8::from_str_radix(&subject[2 * at..2 * at + 2], 16).unwrap();
    for name in ["ben", "cleo"] {
        for how in ["reject", "approve"] {
            cast.who(name).until(&["vote", how, "eve"], |told| !told.is_null());
        }
    }
    HONEST.iter().for_each(|name| drop(cast.who(name).why("eve", "present")));
    (cast, core::array::from_fn(byte))
}

#[test]
fn a_no_that_was_taken_back_refuses_nobody_by_a_report() {
    for (judges, out) in JUDGES.into_iter().zip([false, true]) {
        let (mut cast, request) = with_eve();
        cast.kill("anna");
        let forge = Forge::new(&cast);
        let proofs = forge.proofs(admission(request), Verdict::Reject);
        let lie = forge.decision(Vec::new(), vec![Refused { request, csr: None, proofs }]);
        forge.committed(lie, judges);
        start(&mut cast);
        for name in HONEST {
            assert_eq!(!roster(cast.who(name)).contains(&cast.who("eve").id), out, "{name}");
        }
    }
}
