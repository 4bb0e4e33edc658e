//! The items of admissions: what whoever misses an admission needs.
//!
//! ```text
//! several voters made one signature     an item for each such signature: nothing else proves the approvals
//! the group's key has signed            an item for each share-epoch that the set keeps of the admission
//! otherwise                             one item
//! ```
//! Bounds: [`PAPERS_MAX`] items of one admission.

use super::Transcript;
use crate::item::{Item, SignedApproval, admit_name};
use crate::{
    Approval, Decision, EPOCHS_MAX, ItemError, LATE_BYTES_MAX, Set, Signed, State, Uncounted, paper,
};
use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::Gmc;
use std::collections::BTreeSet;

/// Most items of one admission that are kept.
const PAPERS_MAX: usize = EPOCHS_MAX;

/// So many papers more than there are admissions, held or not, are a reason to look which are
/// needed.
const SPARE_PAPERS: usize = 32;

/// An item of an admission.
#[derive(Debug, Clone)]
pub(super) struct Paper {
    pub(super) item: Bytes,
    /// The approvals that only this item proves.
    proves: Vec<Digest>,
    /// The approvals by which a decision holds the admission, and that it shows.
    vouches: Vec<Digest>,
    /// Whose keys it takes to verify those.
    signers: Vec<MemberId>,
    /// Whether one of those is no member, so that nobody who comes now could verify it.
    waits: bool,
    /// The lowest base in it that was not decided when it was taken.
    ahead: Option<u64>,
    /// The share-epoch under which the group's key has signed it.
    epoch: Option<Digest>,
}

impl Paper {
    /// By which name somebody who has this is given the item, if it lacks that name.
    fn name(&self, request: &Digest, have: &BTreeSet<Digest>) -> Digest {
        let lacks = self.proves.iter().chain(&self.vouches).find(|name| !have.contains(*name));
        lacks.copied().unwrap_or_else(|| admit_name(request, self.epoch.as_ref()))
    }
}

impl Transcript {
    pub(super) fn take_admit(
        &mut self,
        bytes: &[u8],
        certificate: &[u8],
        approvals: &[SignedApproval],
        clock: Option<UnixTime>,
    ) -> Result<bool, ItemError> {
        let paper = paper::Paper::read(certificate, self.state())?;
        paper.check_key(self.state())?;
        let request = paper.admit.request;
        // What is in the set is asked again with the rest of it.
        if self.set().admit(&request).is_none() && self.waits(&paper.admit, bytes, clock) {
            return Ok(false);
        }
        if self.set().is_loading() && self.state().is_used(&request) {
            return Err(ItemError::Uncounted(Uncounted::Used));
        }
        let mut proofs = self.proofs(&paper, approvals)?;
        let again = self.left_over(&request);
        let bases = paper.bases().chain(approvals.iter().map(|signed| signed.approval.base.number));
        let ahead = bases.filter(|base| *base > self.state().head().number).min();
        let only_here = proofs.iter().filter(|proof| proof.signature.is_none());
        let proves: Vec<Digest> = only_here.map(|proof| proof.approval.digest()).collect();
        let papers = self.papers.get(&request).map(Vec::as_slice).unwrap_or_default();
        let known = |name: &Digest| papers.iter().any(|paper| paper.proves.contains(name));
        let wanted = papers.is_empty() || !proves.iter().all(known);
        if wanted && papers.len() >= PAPERS_MAX {
            proofs.retain(|proof| proof.signature.is_some());
        }
        let epoch = paper.admit.epochs.first().copied();
        let signers = paper.gmc.multi().map(|multi| multi.signers().to_vec()).unwrap_or_default();
        let (state, set) = self.line.set_mut();
        let is_far = |one: &Signed| clock.is_some_and(|clock| Set::is_far(state, &one.approval, clock));
        let (far, proofs) = proofs.into_iter().partition(is_far);
        <Vec<Signed> as IntoIterator>::into_iter(far).for_each(|one| set.wait(one));
        let new = set.take_paper(state, paper.admit, bytes.len() > LATE_BYTES_MAX, proofs);
        let wanted = wanted || self.wants_epoch(&request, epoch);
        let item = Bytes::copy_from_slice(bytes);
        let waits = !are_members(self.state(), &signers);
        let vouches = Vec::new();
        self.keep_paper(request, Paper { item, proves, vouches, signers, waits, ahead, epoch }, wanted);
        self.take_again(again, clock);
        self.sweep();
        Ok(new)
    }

    /// Takes the papers of an admission that a decision has held and that is over, because it comes
    /// to the set again: whoever is shown them there takes what they say, too.
    fn left_over(&mut self, request: &Digest) -> Vec<Paper> {
        let comes = !self.state().is_used(request) && self.set().admit(request).is_none();
        let papers = if comes { self.papers.remove(request) } else { None };
        papers.unwrap_or_default()
    }

    /// Takes items anew that were taken before.
    fn take_again(&mut self, papers: Vec<Paper>, clock: Option<UnixTime>) {
        for Paper { item, .. } in papers {
            if let Ok(Item::Admit { certificate, approvals }) = Item::decode(&item) {
                drop(self.take_admit(&item, &certificate.0, &approvals, clock));
            }
        }
    }

    /// The approvals in a certificate and beside it, each verified.
    fn proofs(&self, paper: &paper::Paper, beside: &[SignedApproval]) -> Result<Vec<Signed>, ItemError> {
        let request = paper.admit.request;
        let mut proofs = paper.approvals(|voter| self.key(voter).ok());
        for signed in beside.iter().filter(|signed| signed.approval.subject.digest == request) {
            // An approval by somebody who has no vote any more says nothing.
            let Ok(key) = self.key(&signed.approval.voter) else { continue };
            signed.verify(self.group(), key)?;
            let (approval, signature) = (signed.approval, Some(signed.signature.clone()));
            proofs.push(Signed { approval, signature });
        }
        Ok(proofs)
    }

    /// Whether the set keeps this share-epoch of an admission, and no paper shows it.
    fn wants_epoch(&self, request: &Digest, epoch: Option<Digest>) -> bool {
        let Some(epoch) = epoch else { return false };
        let kept = self.set().admit(request).is_some_and(|admit| admit.epochs.contains(&epoch));
        let mut papers = self.papers.get(request).into_iter().flatten();
        kept && !papers.any(|paper| paper.epoch == Some(epoch))
    }

    /// Drops the papers of share-epochs that the set keeps no more, and keeps this one, if it is
    /// wanted and of an admission that is here.
    fn keep_paper(&mut self, request: Digest, paper: Paper, wanted: bool) {
        let admit = self.line.set().admit(&request);
        let papers = self.papers.entry(request).or_default();
        if let Some(admit) = admit {
            // What shows a share-epoch shows the admission, too.
            let bare = admit.epochs.is_empty();
            papers.retain(|one| one.epoch.map_or(bare, |epoch| admit.epochs.contains(&epoch)));
        }
        let shows = |epoch: &Digest| admit.is_none_or(|admit| admit.epochs.contains(epoch));
        let here = admit.is_some() || self.line.state().is_used(&request);
        let needed = papers.is_empty() || wanted;
        if needed && here && paper.epoch.as_ref().is_none_or(shows) && papers.len() < PAPERS_MAX {
            papers.push(paper);
        }
        if papers.is_empty() {
            self.papers.remove(&request);
        }
    }

    /// Keeps the item of an admission that the state holds, or of one of these requests, with
    /// whatever proves it.
    pub(crate) fn keep_held(
        &mut self,
        bytes: &[u8],
        decided: &BTreeSet<Digest>,
    ) -> Result<Digest, ItemError> {
        let Item::Admit { certificate, approvals } = Item::decode(bytes)? else {
            return Err(ItemError::NotHeld);
        };
        let paper = paper::Paper::read(&certificate.0, self.state())?;
        paper.check_key(self.state())?;
        let admit = &paper.admit;
        let held = self.state().roster().get(&admit.member);
        if held.is_none_or(|held| held.request != admit.request) && !decided.contains(&admit.request) {
            return Err(ItemError::NotHeld);
        }
        let (request, epoch) = (admit.request, admit.epochs.first().copied());
        let item = Bytes::copy_from_slice(bytes);
        let papers = self.papers.entry(request).or_default();
        let known = papers.iter().any(|paper| paper.epoch == epoch);
        if papers.is_empty() || (!known && papers.len() < PAPERS_MAX) {
            let (proves, signers) = Default::default();
            let vouches = approvals.iter().map(|signed| signed.approval.digest()).collect();
            papers.push(Paper { item, proves, vouches, signers, waits: false, ahead: None, epoch });
        }
        Ok(request)
    }

    /// Puts the approvals by which a decision holds somebody beside its certificate: the set
    /// forgets those of voters who are none any more, and whoever applies the decision later asks
    /// for them.
    pub(super) fn put_beside(&mut self, decision: &Decision) {
        let set = self.line.set();
        for request in &decision.holds {
            let Some(paper) = self.papers.get_mut(request).and_then(|papers| papers.first_mut()) else {
                continue;
            };
            let Ok(Item::Admit { certificate, .. }) = Item::decode(&paper.item) else { continue };
            let Ok(gmc) = Gmc::from_der(&certificate.0) else { continue };
            let carries = |one: &Approval| {
                let (base, turn) = (one.base, one.turn);
                gmc.votes().iter().any(|vote| (vote.voter, vote.base, vote.turn) == (one.voter, base, turn))
            };
            let given: Vec<&Signed> = set.given(request).filter(|one| one.signature.is_some()).collect();
            paper.vouches = given.iter().map(|one| one.approval.digest()).collect();
            let beside = given.into_iter().filter(|one| !carries(&one.approval));
            let beside = beside.filter_map(|signed| {
                Some(SignedApproval { approval: signed.approval, signature: signed.signature.clone()? })
            });
            paper.item = Item::Admit { certificate, approvals: beside.collect() }.encode().into();
        }
    }

    /// The requests that recent decisions hold or name: whoever takes these one by one asks for
    /// them, over or not.
    pub(crate) fn decided(&self) -> BTreeSet<Digest> {
        self.line.recent().flat_map(|one| one.proposal.decision.requests()).copied().collect()
    }

    /// Drops papers when there are many more than the set may have: it drops admissions by itself.
    pub(super) fn sweep(&mut self) {
        let (papers, refused) = (self.papers.len(), self.refused.len());
        let used = self.state().used().saturating_add(SPARE_PAPERS);
        let (admits, refusals) = (self.set().admits().count(), self.set().refusals().count());
        if papers > used.saturating_add(admits) || refused > refusals.saturating_add(SPARE_PAPERS) {
            self.forget();
        }
    }

    /// Drops papers that nothing needs any more, and what no paper proves any more.
    pub(super) fn forget(&mut self) {
        let decided = self.decided();
        let (state, set) = self.line.set_mut();
        let kept = |one: &Digest| state.is_used(one) || decided.contains(one) || set.admit(one).is_some();
        self.papers.retain(|request, _| kept(request));
        let refused: BTreeSet<Digest> = set.refusals().map(|refusal| refusal.request).collect();
        self.refused.retain(|request, _| refused.contains(request));
        // Nobody who comes later has the key of a signer that is no member any more, and without
        // one key the whole multisignature does not verify.
        let stands = |paper: &Paper| are_members(state, &paper.signers);
        let (mut shown, mut lost) = (BTreeSet::new(), BTreeSet::new());
        for paper in self.papers.values_mut().flatten() {
            paper.waits |= !stands(paper);
            let proves = if stands(paper) { paper.proves.clone() } else { std::mem::take(&mut paper.proves) };
            if stands(paper) { shown.extend(proves) } else { lost.extend(proves) }
        }
        lost.retain(|name| !shown.contains(name));
        set.forget_unsigned(state, &lost);
    }

    /// Takes papers anew whose signers are all members again, or of which a base is decided now:
    /// whoever comes now takes what they say.
    pub(super) fn retake(&mut self, clock: Option<UnixTime>) {
        let (state, set) = (self.line.state(), self.line.set());
        let mut back: Vec<Paper> = Vec::new();
        for papers in self.papers.iter_mut().filter(|(one, _)| set.admit(one).is_some()).map(|(_, all)| all) {
            let decided = |base: u64| base <= state.head().number;
            let again = |paper: &Paper| {
                (paper.waits || paper.ahead.is_some_and(decided)) && are_members(state, &paper.signers)
            };
            back.extend(papers.extract_if(.., |paper| again(paper)));
        }
        self.take_again(back, clock);
    }

    /// The items of an admission: what whoever misses it needs.
    pub fn papers(&self, request: &Digest) -> impl Iterator<Item = &Bytes> {
        self.papers.get(request).into_iter().flatten().map(|paper| &paper.item)
    }

    /// The same, each with the name that somebody who has this lacks, if it lacks the item.
    pub(super) fn shown(&self, request: &Digest, have: &BTreeSet<Digest>) -> Vec<(Digest, Bytes)> {
        let papers = self.papers.get(request).into_iter().flatten();
        papers.map(|paper| (paper.name(request, have), paper.item.clone())).collect()
    }
}

fn are_members(state: &State, all: &[MemberId]) -> bool {
    all.iter().all(|one| state.roster().contains_key(one))
}
