//! The transcript: the line and the set, with the papers and signatures that prove them.

mod ahead;
mod catch_up;
pub(crate) mod clock;
pub(crate) mod heads;
mod papers;
mod proven;
mod side;
mod skip;

use clock::Waiting;
use papers::Paper;
pub use skip::{Skipped, Way};

use crate::item::{Item, SignedApproval, refusal};
use crate::proposal::{Claim, STATEMENT_LABEL, Standing};
use crate::roster::{Former, Roster};
use crate::{
    Applied, Approval, BallotMessage, Change, Decision, Electorate, Head, ItemError, KnownHead, Line, Set,
    Signed, State, Subject, Unproposed, Wrong,
};
use bytes::Bytes;
use folkmoot_base::{Danger, Digest, GroupId, MemberId, Mutant, UnixTime, digest};
use folkmoot_identity::{CharterError, Identity, SignedCharter, Verdict};
use folkmoot_signing::VerifyingKey;
use std::collections::{BTreeMap, BTreeSet};

/// The domain label of an old key's signature on the request of a new one.
pub const ROTATE_LABEL: &[u8] = b"folkmoot rotation v1";

/// What an item changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Whether it was new here: then store it and pass it on.
    pub new: bool,
    /// Members who were none before.
    pub came: BTreeSet<MemberId>,
    /// Members who are none any more.
    pub went: BTreeSet<MemberId>,
    /// Whether the head is another.
    pub advanced: bool,
    /// Whether the charter has a new version.
    pub charter: bool,
    /// Whether others vote now.
    pub electorate: bool,
    /// Whether the members share the group's key in a new way.
    pub sharing: bool,
    /// Who signed what contradicts the line, if the item shows that.
    pub liars: BTreeSet<MemberId>,
}

impl Taken {
    /// What has changed in several steps.
    fn between(new: bool, before: &Roster, now: &Roster) -> Self {
        let (old, members) = (before.members(), now.members());
        let stamps = |roster: &Roster| (roster.state().electorate_stamp(), roster.state().sharing_stamp());
        let (stamps_before, stamps_now) = (stamps(before), stamps(now));
        Self {
            new,
            came: members.keys().filter(|member| !old.contains_key(member)).copied().collect(),
            went: old.keys().filter(|member| !members.contains_key(member)).copied().collect(),
            advanced: before.head() != now.head(),
            charter: before.charter().digest() != now.charter().digest(),
            electorate: stamps_before.0 != stamps_now.0,
            sharing: stamps_before.1 != stamps_now.1,
            liars: BTreeSet::new(),
        }
    }
}

/// The transcript of one group, as one member or an outsider holds it.
#[derive(Debug, Clone)]
pub struct Transcript {
    signed: SignedCharter,
    line: Line,
    /// The items of admissions, by request: those of the set, and those that decisions hold and
    /// whose terms have not ended.
    papers: BTreeMap<Digest, Vec<Paper>>,
    /// The requests that refusals in the set stand on.
    refused: BTreeMap<Digest, Bytes>,
    roster: Roster,
    /// Decisions that our person named and that our line has not reached.
    awaited: Vec<KnownHead>,
    /// Decisions that stand on our head and wait for our clock, in order.
    ahead: Vec<Standing>,
    /// Items of admissions that wait for our clock.
    waiting: Waiting,
    /// Past as our own clock has raised it, until somebody has said it.
    raised: Option<UnixTime>,
    /// When we last shared a ring, and what we skipped.
    way: Way,
}

impl Transcript {
    /// The transcript that this signed charter (CMS, DER) begins.
    ///
    /// # Errors
    /// [`CharterError`].
    pub fn founded(charter: &[u8]) -> Result<Self, CharterError> {
        let signed = SignedCharter::complete_from_der(charter)?;
        let line = Line::founded(signed.charter().clone());
        let roster = Roster::new(line.state(), line.set(), &BTreeSet::new());
        Ok(Self {
            signed,
            line,
            papers: BTreeMap::new(),
            refused: BTreeMap::new(),
            roster,
            awaited: Vec::new(),
            ahead: Vec::new(),
            waiting: Waiting::default(),
            raised: None,
            way: Way::default(),
        })
    }

    /// Makes it judge wrongly on purpose from now on, in tests of the tests.
    pub fn endanger(&mut self, danger: Mutant) {
        self.line.endanger(danger);
        self.roster = self.roster.follow(self.line.state(), self.line.set(), &self.hidden());
    }

    /// The group.
    pub fn group(&self) -> GroupId {
        self.line.state().group()
    }

    /// The signed charter that it begins with.
    pub fn signed_charter(&self) -> &SignedCharter {
        &self.signed
    }

    /// The line.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// The state at the head.
    pub fn state(&self) -> &State {
        self.line.state()
    }

    /// Who is in, by state and set.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// What no decision holds.
    pub fn set(&self) -> &Set {
        self.line.set()
    }

    /// Head and digest of the set: what two members compare.
    pub fn mark(&self) -> (Head, Digest) {
        self.line.mark()
    }

    /// The time at which what no decision holds is judged: that of the last decision, or Past.
    pub fn time(&self) -> UnixTime {
        self.set().time(self.state())
    }

    /// Whether nothing but time ended this membership: its term, or the approvals that admitted it.
    /// When that takes effect depends on whose clock is asked (`LINE-33`).
    pub fn is_over(&self, member: &MemberId) -> bool {
        !self.hidden().contains(member) && self.set().is_over(self.state(), member)
    }

    /// SHA-256 over [`Self::mark`], for those who only compare.
    pub fn digest(&self) -> Digest {
        let (head, set) = self.mark();
        digest(&[b"folkmoot mark v1\0", &head.number.to_be_bytes(), &head.digest, &set])
    }

    /// Takes an item, if what it says stands. `clock` is what ours says, if there is one that
    /// counts: an admission or a decision may wait for it.
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was.
    pub fn take(&mut self, bytes: &[u8], clock: Option<UnixTime>) -> Result<Taken, ItemError> {
        let clock = self.sound(clock);
        let item = Item::decode(bytes)?;
        if let Item::Decision(standing) = item {
            return self.take_decision(standing, clock);
        }
        let new = self.add(item, bytes, clock)?;
        self.ask(clock);
        Ok(self.told(new))
    }

    /// Takes an item of the set. Whether it was new.
    pub(crate) fn add(
        &mut self,
        item: Item,
        bytes: &[u8],
        clock: Option<UnixTime>,
    ) -> Result<bool, ItemError> {
        Ok(match item {
            Item::Admit { certificate, approvals } => {
                self.take_admit(bytes, &certificate.0, &approvals, clock)?
            }
            Item::Approval(signed) => self.take_approval(&signed, clock)?,
            Item::Effect(effect) => {
                check_word(&effect.change, self.state())?;
                let (state, set) = self.line.set_mut();
                set.take_effect(state, effect)
            }
            Item::Refusal { request } => {
                let refusal = refusal(&request.0)?;
                let (state, set) = self.line.set_mut();
                let new = set.take_refusal(state, refusal);
                if new {
                    self.refused.insert(refusal.request, Bytes::copy_from_slice(bytes));
                    self.sweep();
                }
                new
            }
            Item::Past { time } => self.take_past(time, clock),
            Item::Decision(_) => return Err(ItemError::NotOfSet),
            Item::Coming { decisions } => self.take_coming(&decisions)?,
        })
    }

    /// The set, to load it.
    pub(crate) fn set_mut(&mut self) -> (&State, &mut Set) {
        self.line.set_mut()
    }

    /// Makes the roster anew after several things came.
    pub(crate) fn refresh(&mut self) {
        let _ = self.told(false);
    }

    /// What has changed since the roster was made; makes it anew.
    pub(super) fn told(&mut self, new: bool) -> Taken {
        let (state, set) = (self.line.state(), self.line.set());
        let hidden = self.hidden();
        if self.roster.is_of(state, set, &hidden) {
            return Taken { new, ..Taken::default() };
        }
        let next = self.roster.follow(state, set, &hidden);
        let before = std::mem::replace(&mut self.roster, next);
        Taken::between(new, &before, &self.roster)
    }

    pub(crate) fn recall(&mut self, member: MemberId, former: Former) {
        self.roster.recall(member, former);
    }

    pub(crate) fn recall_decisions(&mut self, decisions: &BTreeMap<u64, Standing>) {
        self.line.recall(decisions);
    }

    /// This voter's next word on a subject, over the head. It stands in place of what the voter
    /// said before.
    pub fn approve(
        &self,
        voter: &Identity,
        subject: Subject,
        verdict: Verdict,
        expires: UnixTime,
    ) -> SignedApproval {
        let said = self.set().approval(&subject, &voter.member());
        let turn = said.map_or(0, |said| said.approval.turn.saturating_add(1));
        let (voter_id, base) = (voter.member(), self.state().head());
        let approval = Approval { voter: voter_id, base, subject, turn, verdict, expires };
        SignedApproval::sign(voter.key(), self.group(), approval)
    }

    /// The key of a voter.
    fn key(&self, member: &MemberId) -> Result<&VerifyingKey, ItemError> {
        let held = self.state().roster().get(member);
        held.map(|held| &held.key).ok_or(ItemError::NotVoter(*member))
    }

    fn take_approval(&mut self, signed: &SignedApproval, clock: Option<UnixTime>) -> Result<bool, ItemError> {
        let voter = signed.approval.voter;
        if !self.state().may_vote(&voter) {
            return Err(ItemError::NotVoter(voter));
        }
        signed.verify(self.group(), self.key(&voter)?)?;
        let (state, set) = self.line.set_mut();
        let (approval, signature) = (signed.approval, Some(signed.signature.clone()));
        Ok(set.hear_approval(state, Signed { approval, signature }, clock))
    }

    fn take_decision(&mut self, standing: Standing, clock: Option<UnixTime>) -> Result<Taken, ItemError> {
        if let Some(taken) = self.take_ahead(&standing, clock)? {
            return Ok(taken);
        }
        self.apply(standing, clock)
    }

    /// Applies a decision that does not wait for the clock.
    fn apply(&mut self, standing: Standing, clock: Option<UnixTime>) -> Result<Taken, ItemError> {
        let head = self.state().head();
        let number = standing.proposal.decision.number;
        // Several voters hand it over. It says nothing more, whoever committed.
        if self.state().decision_at(number) == Some(standing.head()) {
            return Ok(Taken::default());
        }
        let electors = self.line.electors_of(number);
        check_claims(&standing.claims(&electors), &electors, self.group())?;
        if head.number < number {
            check_proofs(&standing.proposal.decision, self.state())?;
            self.check_awaited(number, |_| Some(standing.head()))?;
        }
        let follows = standing.proposal.parent() == head;
        let came = if follows { self.bring_in(&standing.proposal.decision) } else { Vec::new() };
        let applied = self.apply_verified(standing, clock);
        if applied.is_err() {
            for request in &came {
                self.let_out(request);
            }
            // Past falls with the ends that go, and others' votes ran out before.
            self.ask(clock);
        }
        applied
    }

    fn apply_verified(&mut self, standing: Standing, clock: Option<UnixTime>) -> Result<Taken, ItemError> {
        let (head, number) = (self.state().head(), standing.proposal.decision.number);
        let missing: Vec<Digest> = standing
            .proposal
            .decision
            .holds
            .iter()
            .filter(|request| number > head.number && self.set().admit(request).is_none())
            .copied()
            .collect();
        if !missing.is_empty() {
            return Err(ItemError::Missing(missing));
        }
        if standing.proposal.parent() == head {
            self.put_beside(&standing.proposal.decision);
        }
        match self.line.apply(standing) {
            Ok(Applied::Next) => {
                self.forget();
                self.reached();
                self.retake(clock);
                self.ask(clock);
                Ok(self.told(true))
            }
            Ok(Applied::Known) => Ok(Taken::default()),
            Ok(Applied::Ahead) => Err(ItemError::Ahead),
            Ok(Applied::Fork(liars)) => Ok(Taken { liars, ..Taken::default() }),
            Err(Unproposed::Decision(Wrong::Missing(request) | Wrong::Unvouched(request))) => {
                Err(ItemError::Missing(vec![request]))
            }
            Err(why) => Err(why.into()),
        }
    }

    /// Whether everything in a message about the next decision was signed by whom it says. One on
    /// another head says nothing here.
    ///
    /// # Errors
    /// [`ItemError`].
    pub fn check_message(&self, message: &BallotMessage) -> Result<(), ItemError> {
        if message.parent() != self.state().head() {
            return Ok(());
        }
        let state = self.state();
        let mut claims = Vec::new();
        let (proposal, judgements) = match message {
            BallotMessage::Proposal { proposal, judgements } => (Some(proposal), &judgements[..]),
            BallotMessage::Promise { parent, ballot, promise, report, judgements } => {
                claims.push(promise.claim(*parent, *ballot));
                (report.as_ref(), &judgements[..])
            }
            BallotMessage::Commit { parent, report, commit } => {
                claims.push(commit.claim(*parent, *report));
                (None, &[][..])
            }
            BallotMessage::Judgement { parent, report, judgement } => {
                claims.push(judgement.claim(*parent, *report));
                (None, &[][..])
            }
        };
        // Each voter judges once, and each signature takes time.
        if judgements.len() > state.places().len() {
            return Err(Unproposed::Judgements.into());
        }
        if let Some(proposal) = proposal.filter(|proposal| proposal.parent() == state.head()) {
            claims.extend(proposal.claims(state));
            claims.extend(judgements.iter().map(|one| one.claim(proposal.parent(), proposal.judged())));
            check_proofs(&proposal.decision, state)?;
        }
        let key = |voter: &MemberId| self.key(voter).ok().filter(|_| state.may_vote(voter));
        claims.iter().try_for_each(|claim| check_claim(claim, key(&claim.voter), self.group()))
    }
}

/// Whether everything that somebody is said to have signed was signed.
fn check_claims(claims: &[Claim], electors: &Electorate, group: GroupId) -> Result<(), ItemError> {
    let mut keys: BTreeMap<MemberId, VerifyingKey> = BTreeMap::new();
    for place in &electors.places {
        if let Ok(key) = VerifyingKey::from_spki_der(&place.key.0) {
            keys.insert(place.member, key);
        }
    }
    claims.iter().try_for_each(|claim| check_claim(claim, keys.get(&claim.voter), group))
}

fn check_claim(claim: &Claim, key: Option<&VerifyingKey>, group: GroupId) -> Result<(), ItemError> {
    let bytes = claim.statement.bytes(&group);
    let signed = key.is_some_and(|key| key.verify_wire(STATEMENT_LABEL, &bytes, &claim.signature).is_ok());
    if signed { Ok(()) } else { Err(Unproposed::Signature(claim.voter).into()) }
}

/// `LINE-09`: whether the old key has given its word on a new one. `LINE-93`: whether a member that
/// leaves has given its own.
fn check_word(change: &Change, state: &State) -> Result<(), ItemError> {
    if let Change::Leave(leave) = change {
        let signed = leave.is_signed(&state.group()) || state.is(Danger::LineAnyLeave);
        return if signed { Ok(()) } else { Err(ItemError::Signature(leave.member)) };
    }
    let Change::Rotate { member, request, signature } = change else { return Ok(()) };
    let held = state.roster().get(member).ok_or(ItemError::NotVoter(*member))?;
    let covered = [&state.group().0[..], request].concat();
    let signed = held.key.verify_wire(ROTATE_LABEL, &covered, signature);
    signed.map_err(|_| ItemError::Signature(*member))
}

/// Whether the approvals under the decision's effects and refusals were signed, by the keys of the
/// state that it follows.
fn check_proofs(decision: &Decision, state: &State) -> Result<(), ItemError> {
    for approved in &decision.effects {
        check_word(&approved.effect.change, state)?;
    }
    let effects = decision.effects.iter().flat_map(|one| one.approvals().zip(&one.proofs));
    let refusals = decision.refusals.iter().flat_map(|one| one.rejections().zip(&one.proofs));
    for (approval, proof) in effects.chain(refusals) {
        let held = state.roster().get(&approval.voter).ok_or(ItemError::NotVoter(approval.voter))?;
        let signed = SignedApproval { approval, signature: proof.signature.clone() };
        signed.verify(state.group(), &held.key)?;
    }
    Ok(())
}
