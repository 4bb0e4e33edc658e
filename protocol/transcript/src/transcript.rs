//! The transcript: the line and the set, with the papers and signatures that prove them.

mod side;

pub use side::Person;

use crate::item::{Item, SignedApproval, expire_name, refusal, refusal_name};
use crate::paper;
use crate::proposal::{Claim, STATEMENT_LABEL, Standing};
use crate::{
    ADMITS_MAX, Applied, BallotMessage, Change, Decision, Electorate, Expire, Head, ItemError, Line, Set,
    Signed, State, Unproposed, Wrong,
};
use bytes::Bytes;
use folkmoot_base::{Digest, GroupId, MemberId, Mutant, UnixTime};
use folkmoot_identity::{CharterError, SignedCharter};
use folkmoot_signing::VerifyingKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    /// Who signed what contradicts the line, if the item shows that.
    pub liars: BTreeSet<MemberId>,
}

/// Most items of one admission that are kept: the first, and others that carry approvals which have
/// no signature of their own, because several voters made one.
const PAPERS_MAX: usize = 4;

/// So many papers of admissions that no decision holds are a reason to look which are needed.
const SWEEP_AT: usize = 2 * ADMITS_MAX;

/// An item of an admission.
#[derive(Debug, Clone)]
struct Paper {
    item: Bytes,
    /// The approvals that only this item proves.
    proves: Vec<Digest>,
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
}

impl Transcript {
    /// The transcript that this signed charter (CMS, DER) begins.
    ///
    /// # Errors
    /// [`CharterError`].
    pub fn founded(charter: &[u8]) -> Result<Self, CharterError> {
        let signed = SignedCharter::complete_from_der(charter)?;
        let line = Line::founded(signed.charter().clone());
        Ok(Self { signed, line, papers: BTreeMap::new(), refused: BTreeMap::new() })
    }

    /// Makes it judge wrongly on purpose from now on, in tests of the tests.
    pub fn endanger(&mut self, danger: Mutant) {
        self.line.endanger(danger);
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

    /// What no decision holds.
    pub fn set(&self) -> &Set {
        self.line.set()
    }

    /// Head and digest of the set: what two members compare.
    pub fn mark(&self) -> (Head, Digest) {
        self.line.mark()
    }

    /// Takes an item, if what it says stands. `clock` judges ends of terms; without one the time of
    /// the last decision does.
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was.
    pub fn take(&mut self, bytes: &[u8], clock: Option<UnixTime>) -> Result<Taken, ItemError> {
        let item = Item::decode(bytes)?;
        let before: BTreeSet<MemberId> = self.members();
        let head = self.state().head();
        let new = match item {
            Item::Admit { certificate, approvals } => self.take_admit(bytes, &certificate.0, &approvals)?,
            Item::Approval(signed) => self.take_approval(&signed)?,
            Item::Effect(effect) => {
                check_rotation(&effect.change, self.state())?;
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
            Item::Expire { member, request } => {
                let (state, set) = self.line.set_mut();
                set.take_expire(state, Expire { member, request }, clock)
            }
            Item::Decision(standing) => return self.take_decision(standing, &before),
            Item::Coming { decisions } => self.take_coming(&decisions)?,
        };
        Ok(self.told(new, head, &before))
    }

    fn told(&self, new: bool, head: Head, before: &BTreeSet<MemberId>) -> Taken {
        let now = self.members();
        Taken {
            new,
            came: now.difference(before).copied().collect(),
            went: before.difference(&now).copied().collect(),
            advanced: head != self.state().head(),
            liars: BTreeSet::new(),
        }
    }

    fn members(&self) -> BTreeSet<MemberId> {
        self.set().members(self.state()).into_keys().collect()
    }

    /// The key of a voter.
    fn key(&self, member: &MemberId) -> Result<&VerifyingKey, ItemError> {
        let held = self.state().roster().get(member);
        held.map(|held| &held.key).ok_or(ItemError::NotVoter(*member))
    }

    fn take_approval(&mut self, signed: &SignedApproval) -> Result<bool, ItemError> {
        let voter = signed.approval.voter;
        if !self.state().may_vote(&voter) {
            return Err(ItemError::NotVoter(voter));
        }
        signed.verify(self.group(), self.key(&voter)?)?;
        let (state, set) = self.line.set_mut();
        let (approval, signature) = (signed.approval, Some(signed.signature.clone()));
        Ok(set.take_approval(state, Signed { approval, signature }))
    }

    fn take_admit(
        &mut self,
        bytes: &[u8],
        certificate: &[u8],
        approvals: &[SignedApproval],
    ) -> Result<bool, ItemError> {
        let paper = paper::Paper::read(certificate, self.signed.charter())?;
        paper.check_key(self.state())?;
        let request = paper.admit.request;
        let mut proofs = paper.approvals(|voter| self.key(voter).ok());
        for signed in approvals.iter().filter(|signed| signed.approval.subject.digest == request) {
            // An approval by somebody who has no vote any more says nothing.
            let Ok(key) = self.key(&signed.approval.voter) else { continue };
            signed.verify(self.group(), key)?;
            let (approval, signature) = (signed.approval, Some(signed.signature.clone()));
            proofs.push(Signed { approval, signature });
        }
        let only_here = proofs.iter().filter(|proof| proof.signature.is_none());
        let proves: Vec<Digest> = only_here.map(|proof| proof.approval.digest()).collect();
        let papers = self.papers.get(&request).map(Vec::as_slice).unwrap_or_default();
        let known = |name: &Digest| papers.iter().any(|paper| paper.proves.contains(name));
        let wanted = papers.is_empty() || !proves.iter().all(known);
        if wanted && papers.len() >= PAPERS_MAX {
            proofs.retain(|proof| proof.signature.is_some());
        }
        let keep = wanted && papers.len() < PAPERS_MAX;
        let (state, set) = self.line.set_mut();
        let used = state.is_used(&request);
        let mut new = set.take_admit(state, paper.admit);
        for proof in proofs {
            new |= set.take_approval(state, proof);
        }
        if keep && (used || set.admit(&request).is_some()) {
            let item = Bytes::copy_from_slice(bytes);
            self.papers.entry(request).or_default().push(Paper { item, proves });
        }
        self.sweep();
        Ok(new)
    }

    fn take_decision(&mut self, standing: Standing, before: &BTreeSet<MemberId>) -> Result<Taken, ItemError> {
        let head = self.state().head();
        let number = standing.proposal.decision.number;
        let electors = self.line.electors_of(number);
        check_claims(&standing.claims(&electors), &electors, self.group())?;
        if head.number < number {
            check_proofs(&standing.proposal.decision, self.state())?;
        }
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
        match self.line.apply(standing) {
            Ok(Applied::Next) => {
                self.forget();
                Ok(self.told(true, head, before))
            }
            Ok(Applied::Known) => Ok(Taken::default()),
            Ok(Applied::Ahead) => Err(ItemError::Ahead),
            Ok(Applied::Fork(liars)) => Ok(Taken { liars, ..Taken::default() }),
            Err(Unproposed::Decision(Wrong::Missing(request))) => Err(ItemError::Missing(vec![request])),
            Err(why) => Err(why.into()),
        }
    }

    /// Goes on to a later state without the decisions between: [`Line::skip`], with every signature
    /// verified.
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was.
    pub fn skip(
        &mut self,
        handovers: &[Standing],
        last: &Standing,
        state: &[u8],
    ) -> Result<Taken, ItemError> {
        let mut electors = self.state().electorate();
        for standing in handovers.iter().chain([last]) {
            electors = self.handed_over(standing, electors)?;
        }
        self.skip_verified(handovers, last, state)
    }

    /// The same, after [`Self::handed_over`] has verified each of the decisions.
    pub(crate) fn skip_verified(
        &mut self,
        handovers: &[Standing],
        last: &Standing,
        state: &[u8],
    ) -> Result<Taken, ItemError> {
        let (head, before) = (self.state().head(), self.members());
        let founding = Arc::new(self.signed.charter().clone());
        let state = State::decode(state, founding, last.head().digest).map_err(ItemError::State)?;
        self.line.skip(handovers, last, state)?;
        self.forget();
        Ok(self.told(true, head, &before))
    }

    /// Those who commit after a handover, if `electors` have signed it.
    pub(crate) fn handed_over(
        &self,
        standing: &Standing,
        electors: Electorate,
    ) -> Result<Electorate, ItemError> {
        standing.check(&electors)?;
        check_claims(&standing.claims(&electors), &electors, self.group())?;
        Ok(standing.proposal.decision.electorate.clone().unwrap_or(electors))
    }

    /// Keeps the item of an admission that the state holds, with whatever proves it.
    pub(crate) fn keep_held(&mut self, bytes: &[u8], certificate: &[u8]) -> Result<Digest, ItemError> {
        let paper = paper::Paper::read(certificate, self.signed.charter())?;
        paper.check_key(self.state())?;
        let admit = &paper.admit;
        let held = self.state().roster().get(&admit.member);
        if held.is_none_or(|held| held.request != admit.request) {
            return Err(ItemError::NotHeld);
        }
        let request = admit.request;
        let item = Bytes::copy_from_slice(bytes);
        self.papers.entry(request).or_insert_with(|| vec![Paper { item, proves: Vec::new() }]);
        Ok(request)
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
        let electors = self.state().electorate();
        let mut claims = Vec::new();
        let proposal = match message {
            BallotMessage::Proposal(proposal) => Some(proposal),
            BallotMessage::Promise { parent, ballot, promise, report } => {
                claims.push(promise.claim(*parent, *ballot));
                report.as_ref()
            }
            BallotMessage::Commit { parent, report, commit } => {
                claims.push(commit.claim(*parent, *report));
                None
            }
        };
        if let Some(proposal) = proposal.filter(|proposal| proposal.parent() == self.state().head()) {
            claims.extend(proposal.claims(&electors));
            check_proofs(&proposal.decision, self.state())?;
        }
        check_claims(&claims, &electors, self.group())
    }

    /// Drops papers when there are many more than the set may have: it drops admissions by itself.
    fn sweep(&mut self) {
        let most = self.state().used().saturating_add(SWEEP_AT);
        if self.papers.len() > most || self.refused.len() > SWEEP_AT {
            self.forget();
        }
    }

    /// Drops papers that nothing needs any more.
    fn forget(&mut self) {
        let (state, set) = (self.line.state(), self.line.set());
        self.papers.retain(|request, _| state.is_used(request) || set.admit(request).is_some());
        self.refused.retain(|request, _| set.refusals().any(|refusal| refusal.request == *request));
    }

    /// The items of an admission: what whoever misses it needs.
    pub fn papers(&self, request: &Digest) -> impl Iterator<Item = &Bytes> {
        self.papers.get(request).into_iter().flatten().map(|paper| &paper.item)
    }

    /// The names of everything in the set, sorted: what somebody has, for [`Self::lacking`].
    pub fn have(&self) -> BTreeSet<Digest> {
        let set = self.set();
        let admits = set.admits().map(|admit| admit.request);
        let approvals = set.approvals().map(|signed| signed.approval.digest());
        let effects = set.effects().map(|effect| effect.subject().digest);
        let sides = self.sides();
        let refusals = set.refusals().map(refusal_name);
        let expires = set.expires().map(|expire| expire_name(&expire.member, &expire.request));
        admits.chain(approvals).chain(effects).chain(refusals).chain(expires).chain(sides).collect()
    }

    /// What somebody at this head who has this lacks, in an order in which it can be taken:
    /// decisions with the admissions that they hold, then the set. At most `bytes_max` bytes, but
    /// one item at least, if any. Empty: it lacks nothing, or is on another line.
    pub fn lacking(&self, head: Head, have: &BTreeSet<Digest>, bytes_max: usize) -> Vec<Bytes> {
        let mut out: Vec<Bytes> = Vec::new();
        let mut room = bytes_max;
        let mut push = |item: Bytes| {
            let fits = out.is_empty() || item.len() <= room;
            if fits {
                room = room.saturating_sub(item.len());
                out.push(item);
            }
            fits
        };
        let line = self.line.decisions().range(head.number.saturating_add(1)..);
        for (_, standing) in line {
            let held = standing.proposal.decision.holds.iter().filter(|request| !have.contains(*request));
            for paper in held.flat_map(|request| self.papers(request)) {
                if !push(paper.clone()) {
                    return out;
                }
            }
            if !push(Item::Decision(standing.clone()).encode().into()) {
                return out;
            }
        }
        for (name, item) in self.set_items(have) {
            if !have.contains(&name) && !push(item) {
                return out;
            }
        }
        out
    }

    /// The set as items, each with its name, in an order in which they can be taken.
    pub(crate) fn set_items(&self, have: &BTreeSet<Digest>) -> Vec<(Digest, Bytes)> {
        let set = self.set();
        let mut items: Vec<(Digest, Bytes)> = Vec::new();
        for admit in set.admits() {
            for paper in self.papers.get(&admit.request).into_iter().flatten() {
                let name = paper.proves.iter().find(|name| !have.contains(*name));
                items.push((name.copied().unwrap_or(admit.request), paper.item.clone()));
            }
        }
        for signed in set.approvals() {
            let Some(signature) = signed.signature.clone() else { continue };
            let approval = signed.approval;
            let item = Item::Approval(SignedApproval { approval, signature });
            items.push((approval.digest(), item.encode().into()));
        }
        items.extend(self.sides_wanted());
        let effects = set.effects().map(|effect| (effect.subject().digest, Item::Effect(effect.clone())));
        items.extend(effects.map(|(name, item)| (name, item.encode().into())));
        let refusals = set.refusals();
        items.extend(
            refusals.filter_map(|one| Some((refusal_name(one), self.refused.get(&one.request)?.clone()))),
        );
        items.extend(set.expires().map(|expire| {
            let Expire { member, request } = *expire;
            (expire_name(&member, &request), Item::Expire { member, request }.encode().into())
        }));
        items
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
    for claim in claims {
        let key = keys.get(&claim.voter).ok_or(Unproposed::Signature(claim.voter))?;
        key.verify_wire(STATEMENT_LABEL, &claim.statement.bytes(&group), &claim.signature)
            .map_err(|_| Unproposed::Signature(claim.voter))?;
    }
    Ok(())
}

/// `LINE-09`: whether the old key has given its word on a new one.
fn check_rotation(change: &Change, state: &State) -> Result<(), ItemError> {
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
        check_rotation(&approved.effect.change, state)?;
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
