//! A group with real keys whose line has all that a file can show: admissions held and open,
//! expulsions, changes of the charter and of the electorate, a refusal, an end of a term, a
//! proposal, and in one story forks.

use folkmoot_base::{Blob, Entropy, GroupName, Head, MemberId, SignatureBytes, UnixTime, digest};
use folkmoot_identity::{CharterDraft, Csr, Gmc, GmcBody, Identity, Request, SignedCharter, Verdict};
use folkmoot_transcript::{
    Approval, Approved, Batch, Change, Commit, Decision, Effect, Electors, Item, Promise, Proposal, Report,
    STATEMENT_LABEL, SignedApproval, Stage, Standing, Subject, Transcript, admission,
};
use std::sync::LazyLock;

pub(crate) const START: u64 = 1_767_225_600;
pub(crate) const DAY: u64 = 86_400;
/// Founders, then others.
pub(crate) const ANNA: usize = 0;
pub(crate) const BEN: usize = 1;
pub(crate) const CORA: usize = 2;
/// A founder, expelled by decision 3.
pub(crate) const DAN: usize = 3;
/// A voter since decision 2.
pub(crate) const EVA: usize = 4;
/// A member without a vote.
pub(crate) const FINN: usize = 5;
/// A member whose term ended.
pub(crate) const GUS: usize = 6;
/// Counts, and no decision holds it.
pub(crate) const IDA: usize = 7;
/// Late: one approves.
pub(crate) const JO: usize = 8;
/// Never asked.
pub(crate) const KIM: usize = 9;

pub(crate) struct Seed(pub(crate) u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

pub(crate) static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let names = ["Anna", "Ben", "Cora", "Dan", "Eva", "Finn", "Gus", "Ida", "Jo", "Kim"];
    (0..).zip(names).map(|(number, name)| person(number, name)).collect()
});

/// Somebody with a key of its own for each number.
pub(crate) fn person(number: u64, name: &str) -> Identity {
    Identity::new(name, &mut Seed(number << 32), UnixTime(START), UnixTime(2_398_377_600)).unwrap()
}

pub(crate) fn id(who: usize) -> MemberId {
    PEOPLE[who].member()
}

fn unsigned() -> SignatureBytes {
    SignatureBytes::NONE
}

/// The rules that four founders sign: two approvals admit.
pub(crate) fn draft(nonce: u64) -> CharterDraft {
    let named = PEOPLE[..4].iter().map(|one| one.certificate().into()).collect();
    let mut draft = CharterDraft::new(GroupName::new("line").unwrap(), 2, named, &mut Seed(nonce << 40));
    draft.policies.objections = Some(2);
    draft
}

pub(crate) fn founded(draft: &CharterDraft, founders: &[Identity]) -> SignedCharter {
    let founders: Vec<&Identity> = founders.iter().collect();
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap()
}

pub(crate) fn charter(nonce: u64) -> SignedCharter {
    founded(&draft(nonce), &PEOPLE[..4])
}

/// The group as one member sees it.
#[derive(Clone)]
pub(crate) struct Moot {
    pub(crate) t: Transcript,
    pub(crate) now: u64,
    salt: u64,
}

impl Moot {
    pub(crate) fn new(nonce: u64) -> Self {
        Self::of(charter(nonce), nonce)
    }

    pub(crate) fn of(charter: SignedCharter, nonce: u64) -> Self {
        let t = Transcript::founded(charter.der()).unwrap();
        Self { t, now: START + DAY, salt: nonce << 20 }
    }

    pub(crate) fn head(&self) -> Head {
        self.t.state().head()
    }

    pub(crate) fn take(&mut self, item: &Item) {
        let taken = self.t.take(&item.encode(), Some(UnixTime(self.now))).unwrap();
        assert!(taken.new, "{item:?}");
    }

    pub(crate) fn approval(&self, who: usize, subject: Subject, verdict: Verdict) -> Approval {
        let expires = UnixTime(self.now + 30 * DAY);
        Approval { voter: id(who), base: self.head(), subject, turn: 0, verdict, expires }
    }

    pub(crate) fn sign(&self, who: usize, approval: Approval) -> SignedApproval {
        SignedApproval::sign(PEOPLE[who].key(), self.t.group(), approval)
    }

    pub(crate) fn yes(&self, who: usize, subject: Subject) -> SignedApproval {
        self.sign(who, self.approval(who, subject, Verdict::Approve))
    }

    /// What somebody asks for, over the head.
    pub(crate) fn request(&mut self, who: usize, days: u64) -> GmcBody {
        self.salt += 1;
        let charter = self.t.signed_charter().charter();
        let begin = UnixTime(self.now);
        let mut body = GmcBody::propose(charter, &PEOPLE[who], 4, begin, &mut Seed(self.salt << 30));
        body.membership.base = self.head();
        body.not_after = UnixTime(self.now + days * DAY);
        body
    }

    /// The certificate of a request, with these voters' approvals.
    pub(crate) fn certified(&self, body: &GmcBody, voters: &[usize]) -> Item {
        let holder = PEOPLE.iter().find(|one| one.member() == body.member()).unwrap();
        let gmc = Gmc::compose(body, &[], holder).unwrap();
        let subject = admission(body.request_digest().unwrap());
        let approvals = voters.iter().map(|who| self.yes(*who, subject)).collect();
        Item::Admit { certificate: Blob(gmc.der().clone()), approvals }
    }

    pub(crate) fn admit(&mut self, who: usize, days: u64, voters: &[usize]) -> Item {
        let body = self.request(who, days);
        let item = self.certified(&body, voters);
        self.take(&item);
        item
    }

    /// These voters approve an effect.
    pub(crate) fn propose(&mut self, effect: &Effect, voters: &[usize]) {
        for (place, who) in voters.iter().enumerate() {
            self.take(&Item::Approval(self.yes(*who, effect.subject())));
            if place == 0 {
                self.take(&Item::Effect(effect.clone()));
            }
        }
    }

    /// The decision that is due: these effects with what approves them, and all that can be held
    /// or refused.
    pub(crate) fn due(&self, effects: &[Effect]) -> Decision {
        let (state, set) = (self.t.state(), self.t.set());
        let time = UnixTime(self.now);
        let approved =
            |effect: &Effect| Approved { effect: effect.clone(), proofs: set.proofs(state, effect, time) };
        let batch = Batch {
            time,
            effects: effects.iter().map(approved).collect(),
            holds: set.holdable(state, time).into_iter().collect(),
            refusals: set.refusable(state),
        };
        state.decide(batch, |request| set.admit(request)).unwrap().0
    }

    /// Decides it, by the commits of these voters.
    pub(crate) fn decide(&mut self, effects: &[Effect], voters: &[usize]) -> Standing {
        let standing = fresh(&self.due(effects), voters, self.t.state());
        self.take(&Item::Decision(standing.clone()));
        self.now += DAY;
        standing
    }

    pub(crate) fn pass(&mut self, change: Change, voters: &[usize]) -> Standing {
        let effect = Effect::from(change);
        self.propose(&effect, voters);
        self.decide(&[effect], voters)
    }

    /// These voters reject a request by CSR.
    pub(crate) fn reject(&mut self, who: usize, voters: &[usize]) {
        let request = self.by_csr(who);
        let subject = admission(request.digest());
        for voter in voters {
            let no = self.sign(*voter, self.approval(*voter, subject, Verdict::Reject));
            self.take(&Item::Approval(no));
        }
        self.take(&Item::Refusal { request: request.der().to_vec().into() });
    }

    /// A request by CSR.
    pub(crate) fn by_csr(&self, who: usize) -> Request {
        let csr = Csr::sign(PEOPLE[who].key(), PEOPLE[who].name()).unwrap();
        let charter = self.t.signed_charter().charter();
        let mut body = GmcBody::propose_csr(charter, &csr, 4, UnixTime(self.now));
        body.membership.base = self.head();
        Request::by_csr(csr, body).unwrap()
    }
}

pub(crate) fn change(field: &str, value: &str) -> Change {
    let blob = |text: &str| text.as_bytes().to_vec().into();
    Change::Charter { field: blob(field), value: blob(value) }
}

/// A decision as ballot 0 makes it stand.
pub(crate) fn fresh(decision: &Decision, voters: &[usize], electors: &dyn Electors) -> Standing {
    standing(decision, vec![(0, Vec::new())], voters, electors)
}

pub(crate) type Promised = (u32, Vec<(usize, Option<Report>)>);

/// A decision that these voters committed to in the last of these ballots.
pub(crate) fn standing(
    decision: &Decision,
    ballots: Vec<Promised>,
    voters: &[usize],
    electors: &dyn Electors,
) -> Standing {
    let promise =
        |(who, report): (usize, Option<Report>)| Promise { voter: id(who), report, signature: unsigned() };
    let stage = |(ballot, promises): Promised| {
        let mut promises: Vec<Promise> = promises.into_iter().map(promise).collect();
        promises.sort_by_key(|promise| promise.voter);
        Stage { ballot, promises, signature: unsigned() }
    };
    let mut commits: Vec<Commit> =
        voters.iter().map(|who| Commit { voter: id(*who), signature: unsigned() }).collect();
    commits.sort_by_key(|commit| commit.voter);
    let stages = ballots.into_iter().map(stage).collect();
    let mut standing = Standing { proposal: Proposal { decision: decision.clone(), stages }, commits };
    sign_anew(&mut standing, electors);
    standing
}

/// Everything in it signed by whom it names.
pub(crate) fn sign_anew(standing: &mut Standing, electors: &dyn Electors) {
    // A proposal covers its promises with their signatures, so these come first.
    for _ in 0..2 {
        let group = standing.proposal.decision.group;
        let mut signatures: Vec<SignatureBytes> = standing
            .claims(electors)
            .iter()
            .map(|claim| match PEOPLE.iter().find(|one| one.member() == claim.voter) {
                Some(voter) => voter.key().sign_wire(STATEMENT_LABEL, &claim.statement.bytes(&group)),
                None => unsigned(),
            })
            .collect();
        signatures.reverse();
        for stage in &mut standing.proposal.stages {
            stage.signature = signatures.pop().unwrap();
            for promise in &mut stage.promises {
                promise.signature = signatures.pop().unwrap();
            }
        }
        for commit in &mut standing.commits {
            commit.signature = signatures.pop().unwrap();
        }
    }
}

/// What the tests tamper with.
pub(crate) struct Story {
    /// After each decision, the founding first.
    pub(crate) steps: Vec<Moot>,
    pub(crate) moot: Moot,
    /// The item that admitted Finn.
    pub(crate) finn: Item,
    /// The item that admitted Eva first; she has renewed since.
    pub(crate) eva: Item,
}

pub(crate) static STORY: LazyLock<Story> = LazyLock::new(Story::new);
pub(crate) static FORKED: LazyLock<Forked> = LazyLock::new(Forked::new);

impl Story {
    fn new() -> Self {
        let mut moot = Moot::new(7);
        let mut steps = vec![moot.clone()];
        let eva = moot.admit(EVA, 300, &[ANNA, BEN]);
        let finn = moot.admit(FINN, 300, &[BEN, CORA]);
        moot.admit(GUS, 2, &[ANNA, DAN]);
        moot.decide(&[], &[ANNA, BEN, CORA]);
        steps.push(moot.clone());
        let voters = [ANNA, BEN, CORA, DAN, EVA].map(id).to_vec();
        moot.pass(Change::Electorate { voters }, &[ANNA, BEN, CORA]);
        steps.push(moot.clone());
        moot.pass(Change::Remove { member: id(DAN) }, &[ANNA, CORA, EVA]);
        steps.push(moot.clone());
        moot.pass(change("quorum", "two-thirds"), &[ANNA, BEN, EVA]);
        steps.push(moot.clone());
        moot.now += 3 * DAY;
        moot.reject(KIM, &[ANNA, EVA]);
        moot.admit(EVA, 310, &[ANNA, CORA]);
        moot.decide(&[], &[ANNA, BEN, CORA]);
        steps.push(moot.clone());
        // Later ballots: Ben's proposal follows what two had committed to.
        let effect = Effect::from(change("request_hours", "48"));
        moot.propose(&effect, &[ANNA, BEN, EVA]);
        let decision = moot.due(&[effect]);
        let report = Some(Report { ballot: 0, decision: decision.digest() });
        let promises = vec![(ANNA, report), (BEN, None), (EVA, report)];
        let ballots = vec![(0, Vec::new()), (2, promises)];
        let last = standing(&decision, ballots, &[ANNA, BEN, EVA], moot.t.state());
        moot.take(&Item::Decision(last));
        moot.now += DAY;
        steps.push(moot.clone());
        moot.admit(IDA, 100, &[ANNA, BEN]);
        moot.admit(JO, 100, &[EVA]);
        moot.propose(&Change::Remove { member: id(FINN) }.into(), &[ANNA]);
        let subject = Effect::from(Change::Remove { member: id(FINN) }).subject();
        let no = moot.sign(CORA, moot.approval(CORA, subject, Verdict::Reject));
        moot.take(&Item::Approval(no));
        moot.reject(KIM, &[BEN]);
        Self { steps, moot, finn, eva }
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        self.moot.t.file()
    }
}

/// A line of three decisions, of which the first and the last were made twice.
pub(crate) struct Forked {
    /// Before each decision.
    pub(crate) before: Vec<Moot>,
    pub(crate) moot: Moot,
    /// The other line, as far as the last decision.
    pub(crate) other: Moot,
}

impl Forked {
    fn new() -> Self {
        let mut moot = Moot::new(8);
        let (mut before, mut other) = (Vec::new(), moot.clone());
        for hours in ["10", "20", "30"] {
            before.push(moot.clone());
            let mut twin = moot.clone();
            moot.pass(change("request_hours", hours), &[ANNA, BEN, CORA]);
            if hours != "20" {
                let theirs = twin.pass(change("request_hours", "99"), &[BEN, CORA, DAN]);
                let taken = moot.t.take(&Item::Decision(theirs).encode(), None).unwrap();
                assert!(!taken.liars.is_empty());
            }
            other = twin;
        }
        Self { before, moot, other }
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        self.moot.t.file()
    }
}

/// A time that is past, as an item.
pub(crate) fn past(time: u64) -> Item {
    Item::Past { time: UnixTime(time) }
}
