//! What somebody writes that has every former key, and every transcript of every age.

use super::friends::proof;
use crate::lie::Lie;
use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_base::{Blob, GroupId, Head, MemberId, UnixTime};
use folkmoot_identity::{Gmc, GmcBody, Identity, Scheme, Verdict, VoteProof};
use folkmoot_transcript::{
    Approval, Approved, Batch, Change, Commit, Decision, Effect, Force, Item, Promise, Proof, Proposal,
    STATEMENT_LABEL, SignatureBytes, SignedApproval, Stage, Standing, State, Subject, Transcript, admission,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many strangers it has.
const STRANGERS: u64 = 2;
/// How long its approvals last: so long that nobody's program says them again (ADM-96) before it
/// has heard what its person took back, as it would have in truth.
pub(super) const LIFE_SECONDS: u64 = 3 * 86_400;
/// Most items of one lie.
const ITEMS_MAX: usize = 60;
/// From when the identities of its strangers hold, and until when.
const TERM: (UnixTime, UnixTime) = (UnixTime(1_800_000_000), UnixTime(2_200_000_000));

/// The forger.
pub(super) struct Forger {
    pub(super) rng: Rng,
    /// Everybody whose key it has: those who were expelled, and strangers.
    pub(super) keys: BTreeMap<MemberId, Identity>,
    strangers: Vec<Identity>,
    /// A transcript of each head that anybody had who was not led astray.
    ages: BTreeMap<Head, Transcript>,
}

impl Forger {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed, "forger", 0);
        let strangers =
            (0..STRANGERS).filter_map(|_| Identity::new("stranger", &mut rng, TERM.0, TERM.1).ok());
        let strangers: Vec<Identity> = strangers.collect();
        let keys = strangers.iter().map(|one| (one.member(), one.clone())).collect();
        Self { rng, keys, strangers, ages: BTreeMap::new() }
    }

    pub(super) fn strangers(&self) -> &[Identity] {
        &self.strangers
    }

    pub(super) fn group(&self) -> Option<GroupId> {
        self.ages.values().next().map(Transcript::group)
    }

    pub(super) fn see(&mut self, transcript: &Transcript) {
        self.ages.insert(transcript.state().head(), transcript.clone());
    }

    pub(super) fn steal(&mut self, identity: Identity) {
        self.keys.insert(identity.member(), identity);
    }

    /// The items of one lie. A line that it writes goes to `line`.
    pub(super) fn make(
        &mut self,
        clock: UnixTime,
        how: Lie,
        people: &[Identity],
        line: &mut Option<Transcript>,
    ) -> Vec<Bytes> {
        let mut items = match how {
            Lie::Fork => self.fork(clock, line),
            Lie::Words => self.words(clock),
            Lie::Ends => self.ends(),
            Lie::Replay => self.replay(),
            Lie::Package => self.package(line.as_ref()),
            Lie::Comeback { knows } => self.comeback(clock, people, knows),
            Lie::Kept => self.kept(clock, people, line),
            Lie::Named => self.named(clock, people),
        };
        items.truncate(ITEMS_MAX);
        items
    }

    pub(super) fn age(&mut self) -> Option<Transcript> {
        let ages: Vec<&Transcript> = self.ages.values().collect();
        self.rng.pick(&ages).map(|age| (*age).clone())
    }

    pub(super) fn newest(&self) -> Option<Transcript> {
        self.ages.values().last().cloned()
    }

    /// An age at which it has a quorum, if there is one.
    fn ruled_age(&mut self) -> Option<Transcript> {
        let rules = |age: &&Transcript| {
            let state = age.state();
            let keys: BTreeSet<MemberId> = self.voters(state).into_iter().collect();
            state.is_quorum(&keys)
        };
        let ages: Vec<&Transcript> = self.ages.values().filter(rules).collect();
        self.rng.pick(&ages).map(|age| (*age).clone())
    }

    /// Its keys that have a vote there.
    fn voters(&self, state: &State) -> Vec<MemberId> {
        self.keys.keys().copied().filter(|key| state.may_vote(key)).collect()
    }

    /// Strangers who come in over an old head, and decisions that give them the votes; or more
    /// decisions on the line that it wrote before.
    fn fork(&mut self, clock: UnixTime, line: &mut Option<Transcript>) -> Vec<Bytes> {
        let before = line.clone().filter(|_| self.rng.chance(300_000));
        let anywhere = self.rng.chance(150_000);
        let ruled = if anywhere { None } else { self.ruled_age() };
        let Some(mut forged) = before.or(ruled).or_else(|| self.age()) else { return Vec::new() };
        let mut items = Vec::new();
        for stranger in self.strangers.clone() {
            items.extend(self.admitted(clock, &forged, &stranger));
        }
        for item in &items {
            drop(forged.take(item, Some(clock)));
        }
        for _ in 0..=self.rng.below(4) {
            let Some(standing) = self.decision(clock, &forged) else { break };
            let item = Bytes::from(Item::Decision(standing).encode());
            let stands = forged.take(&item, Some(clock)).is_ok_and(|taken| taken.advanced);
            items.push(item);
            if !stands {
                break;
            }
            *line = Some(forged.clone());
        }
        items
    }

    /// The admission of a stranger by all its votes there.
    fn admitted(&mut self, clock: UnixTime, at: &Transcript, stranger: &Identity) -> Option<Bytes> {
        let state = at.state();
        if state.charter().scheme() != Scheme::Plain || state.roster().contains_key(&stranger.member()) {
            return None;
        }
        let begins = UnixTime(clock.0.max(state.time().0));
        let body = GmcBody::propose(state.charter(), stranger, 3, begins, &mut self.rng).over(state.head());
        let subject = admission(body.request_digest().ok()?);
        let said = self.all_say(clock, at, subject, Verdict::Approve);
        let votes: Vec<VoteProof> = said.iter().filter_map(proof).collect();
        let gmc = Gmc::compose(&body, &votes, stranger).ok()?;
        Some(Item::Admit { certificate: Blob(gmc.der().clone()), approvals: said }.encode().into())
    }

    /// What all its voters there say of a subject.
    fn all_say(
        &mut self,
        clock: UnixTime,
        at: &Transcript,
        subject: Subject,
        verdict: Verdict,
    ) -> Vec<SignedApproval> {
        let (base, turn) = (at.state().head(), u32::try_from(self.rng.below(4)).unwrap_or_default());
        let expires = UnixTime(clock.0.saturating_add(LIFE_SECONDS));
        let say = |voter: MemberId| {
            let approval = Approval { voter, base, subject, turn, verdict, expires };
            let key = self.keys.get(&voter)?.key();
            Some(SignedApproval::sign(key, at.group(), approval))
        };
        self.voters(at.state()).into_iter().filter_map(say).collect()
    }

    /// A decision that all its voters there approve, promise and commit to.
    fn decision(&mut self, clock: UnixTime, at: &Transcript) -> Option<Standing> {
        let state = at.state();
        let keys: BTreeSet<MemberId> = self.voters(state).into_iter().collect();
        let ballot = (0..32).find(|ballot| keys.contains(&state.owner(*ballot)))?;
        let decision = self.drawn_decision(clock, at)?;
        let promise =
            |voter: &MemberId| Promise { voter: *voter, report: None, signature: SignatureBytes::NONE };
        let promises = if ballot == 0 { Vec::new() } else { keys.iter().map(promise).collect() };
        let stages = vec![Stage { ballot, promises, signature: SignatureBytes::NONE }];
        let commit = |voter: &MemberId| Commit { voter: *voter, signature: SignatureBytes::NONE };
        let commits = keys.iter().map(commit).collect();
        let mut standing = Standing { proposal: Proposal { decision, stages }, commits };
        // Twice: the owner signs the promises, too.
        self.sign(at, &mut standing);
        self.sign(at, &mut standing);
        Some(standing)
    }

    fn sign(&self, at: &Transcript, standing: &mut Standing) {
        let claims = standing.claims(at.state());
        let mut signatures = claims.iter().map(|claim| {
            let key = self.keys.get(&claim.voter).map(Identity::key);
            let bytes = claim.statement.bytes(&at.group());
            key.map_or(SignatureBytes::NONE, |key| key.sign_wire(STATEMENT_LABEL, &bytes))
        });
        let mut next = || signatures.next().unwrap_or(SignatureBytes::NONE);
        for stage in &mut standing.proposal.stages {
            stage.signature = next();
            stage.promises.iter_mut().for_each(|promise| promise.signature = next());
        }
        standing.commits.iter_mut().for_each(|commit| commit.signature = next());
    }

    /// Its strangers held, and changes; if that is no decision, fewer of them.
    fn drawn_decision(&mut self, clock: UnixTime, at: &Transcript) -> Option<Decision> {
        let (state, set) = (at.state(), at.set());
        let time = UnixTime(clock.0.max(state.time().0));
        // Mostly its own alone: whoever decides otherwise may lack the others.
        let all = self.rng.chance(250_000);
        let held = set.counted().filter(|admit| all || self.keys.contains_key(&admit.member));
        let holds: Vec<_> = held.map(|admit| admit.request).collect();
        let mut changes = self.changes(state);
        loop {
            let effects = changes.iter().map(|change| self.approved(clock, at, change)).collect();
            let batch = Batch { time, effects, holds: holds.clone(), refusals: Vec::new() };
            if let Ok((decision, _)) = state.decide(batch, |request| set.admit(request)) {
                return Some(decision);
            }
            changes.pop()?;
        }
    }

    fn approved(&mut self, clock: UnixTime, at: &Transcript, change: &Change) -> Approved {
        let effect = Effect { change: change.clone(), force: Force::Yes };
        let said = self.all_say(clock, at, effect.subject(), Verdict::Approve);
        let proofs = said.into_iter().map(|signed| Proof::of(&signed.approval, signed.signature)).collect();
        Approved { effect, proofs }
    }

    /// Changes that serve it: the votes for itself, somebody out, a threshold of one, or what was
    /// decided once.
    fn changes(&mut self, state: &State) -> Vec<Change> {
        let mine = |member: &MemberId| self.keys.contains_key(member);
        let others: Vec<MemberId> = state.roster().keys().copied().filter(|one| !mine(one)).collect();
        let mut voters: Vec<MemberId> = state.roster().keys().copied().filter(mine).collect();
        voters.extend(self.strangers.iter().map(Identity::member));
        voters.sort_unstable();
        voters.dedup();
        let mut out = Vec::new();
        if self.rng.chance(700_000) {
            let keep = self.rng.chance(500_000);
            voters.retain(|voter| keep || self.strangers.iter().any(|one| one.member() == *voter));
            out.push(Change::Electorate { voters });
        }
        if let Some(member) = self.rng.pick(&others).copied().filter(|_| self.rng.chance(300_000)) {
            out.push(Change::Remove { member });
        }
        if self.rng.chance(300_000) {
            let (field, value) = (Blob::from(b"threshold".to_vec()), Blob::from(b"1".to_vec()));
            out.push(Change::Charter { field, value });
        }
        let known: Vec<Change> = self.known_effects().into_iter().map(|one| one.effect.change).collect();
        out.extend(self.rng.pick(&known).cloned().filter(|_| self.rng.chance(300_000)));
        out
    }

    /// Every effect that was ever decided, with its approvals.
    fn known_effects(&self) -> Vec<Approved> {
        let decisions = self.ages.values().flat_map(|age| age.line().decisions().values());
        let mut known: BTreeMap<Head, &Standing> = BTreeMap::new();
        known.extend(decisions.map(|standing| (standing.head(), standing)));
        known.into_values().flat_map(|standing| standing.proposal.decision.effects.clone()).collect()
    }

    /// Words of its keys over the head of some age, about strangers, changes, or whoever asks now.
    fn words(&mut self, clock: UnixTime) -> Vec<Bytes> {
        let (Some(age), Some(now)) = (self.age(), self.newest()) else { return Vec::new() };
        let verdict = if self.rng.chance(700_000) { Verdict::Approve } else { Verdict::Reject };
        let mut items = Vec::new();
        if self.rng.chance(600_000) {
            let strangers = self.strangers.clone();
            let stranger = self.rng.pick(&strangers).cloned();
            items.extend(stranger.and_then(|stranger| self.admitted(clock, &age, &stranger)));
        }
        let mut subjects: Vec<Subject> = now.set().admits().map(|admit| admission(admit.request)).collect();
        for change in self.changes(age.state()) {
            let effect = Effect { change, force: Force::Yes };
            subjects.push(effect.subject());
            items.push(Item::Effect(effect).encode().into());
        }
        for subject in subjects {
            let said = self.all_say(clock, &age, subject, verdict);
            items.extend(said.into_iter().map(|signed| Bytes::from(Item::Approval(signed).encode())));
        }
        items
    }

    fn ends(&mut self) -> Vec<Bytes> {
        let Some(now) = self.ages.values().last() else { return Vec::new() };
        let held = now.state().roster().values().map(|held| held.ends);
        let open = now.set().admits().map(|admit| admit.ends);
        let said = now.set().approvals().map(|signed| signed.approval.expires);
        let all: Vec<UnixTime> = held.chain(open).chain(said).collect();
        let some = all.into_iter().filter(|_| self.rng.chance(500_000));
        let past = |end: UnixTime| Item::Past { time: UnixTime(end.0.saturating_add(1)) };
        some.map(|end| past(end).encode().into()).collect()
    }

    /// What others said for something that was decided once, or all of some age.
    fn replay(&mut self) -> Vec<Bytes> {
        let effects = self.known_effects();
        let one = self.rng.chance(600_000);
        if let Some(approved) = self.rng.pick(&effects).filter(|_| one) {
            return said(approved);
        }
        let Some(age) = self.age() else { return Vec::new() };
        let decisions = age.line().decisions().values().cloned();
        let decisions = decisions.map(|standing| Bytes::from(Item::Decision(standing).encode()));
        let all = age.items().chain(decisions).chain(effects.iter().flat_map(said));
        all.filter(|_| self.rng.chance(700_000)).collect()
    }

    fn package(&mut self, line: Option<&Transcript>) -> Vec<Bytes> {
        let Some(age) = self.age() else { return Vec::new() };
        line.and_then(|line| line.package(&age.state().head())).into_iter().collect()
    }
}

/// An effect, and each approval of it as an item of its own.
fn said(approved: &Approved) -> Vec<Bytes> {
    let proofs = approved.approvals().zip(&approved.proofs);
    let items = proofs.map(|(approval, proof)| {
        let signature = proof.signature.clone();
        Item::Approval(SignedApproval { approval, signature })
    });
    items.chain([Item::Effect(approved.effect.clone())]).map(|item| item.encode().into()).collect()
}
