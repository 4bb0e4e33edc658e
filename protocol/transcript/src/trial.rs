//! What would become of something, before it is said.

use crate::item::{Item, SignedApproval};
use crate::{
    Admit, Batch, Change, Effect, HOLDS_MAX, ItemError, Signed, State, Subject, Transcript, Unfit, paper,
};
use bytes::Bytes;
use folkmoot_base::{Blob, Danger, Digest, MemberId, UnixTime};
use folkmoot_identity::{Verdict, VoteKind};
use std::collections::BTreeSet;

impl Transcript {
    /// Whether this effect could be carried out now, given enough approvals. What counts and is not
    /// held yet is held before.
    ///
    /// # Errors
    /// `LINE-41` to `LINE-51`, `LINE-90` to `LINE-93`.
    pub fn would_stand(&self, effect: &Effect) -> Result<(), Unfit> {
        self.would_stand_with(effect, None)
    }

    /// The same of what names a request, `asked`, whose certificate is perhaps not here.
    ///
    /// # Errors
    /// As [`Self::would_stand`].
    pub fn would_stand_with(&self, effect: &Effect, asked: Option<&Admit>) -> Result<(), Unfit> {
        if let Change::Leave(leave) = &effect.change
            && !leave.is_signed(&self.group())
            && !self.state().is(Danger::LineAnyLeave)
        {
            return Err(Unfit::Leave("that member has not signed it"));
        }
        // A Retime names the head, and what is held before would make another.
        if matches!(effect.change, Change::Retime { .. }) {
            return self.state().would_stand(&effect.change, effect.is_forced(), None);
        }
        let named = effect.change.request().and_then(|request| self.set().admit(request)).or(asked);
        self.held().would_stand(&effect.change, effect.is_forced(), named)
    }

    /// The state that holds what counts now.
    fn held(&self) -> State {
        let (state, set) = (self.state(), self.set());
        // Nothing is in the set whose term has not begun, whatever the time of a line that rests.
        let begun = set.counted().map(|admit| admit.begins).max().unwrap_or_default();
        let time = set.time(state).max(begun);
        let holds = set.holdable(state, time).into_iter().take(HOLDS_MAX).collect();
        let batch = Batch { time, holds, ..Batch::default() };
        let decided = state.decide(batch, |request| set.admit(request));
        decided.map_or_else(|_| state.clone(), |(_, next)| next)
    }

    /// The state that this change would make, whatever it leaves behind; none if it could not be
    /// made.
    pub fn with_change(&self, change: &Change) -> Option<State> {
        let named = change.request().and_then(|request| self.set().admit(request));
        self.held().changed(change, true, named).ok()
    }

    /// Whether the voters have approved, as far as a decision takes it, that the key of this
    /// request takes a member's place, and it could. Approvals count that have not run out at
    /// `time`. Its certificate may then be signed.
    pub fn is_rotation_granted(&self, asked: &Admit, time: UnixTime) -> bool {
        let named = |effect: &&Effect| matches!(&effect.change, Change::Rotate { request, .. } if *request == asked.request);
        self.set().effects().filter(named).any(|effect| {
            let time = time.max(self.state().time());
            let proofs = self.set().proofs(self.state(), effect, time);
            let yes = proofs.iter().map(|proof| proof.voter).collect();
            let carried = self.state().carries(&effect.change, &yes).is_ok();
            carried && matches!(self.would_stand_with(effect, Some(asked)), Ok(()) | Err(Unfit::Unsigned))
        })
    }

    /// Who rejects this effect, as far as that counts.
    pub fn rejecters(&self, effect: &Effect) -> BTreeSet<MemberId> {
        let (state, stamp) = (self.state(), self.stamp_of(&effect.change));
        let all = self.set().approvals_of(effect.subject());
        let no = all.filter(|one| one.verdict == Verdict::Reject);
        no.filter(|one| state.counts(one, stamp, self.set().time(state)).is_ok())
            .map(|one| one.voter)
            .collect()
    }

    /// Whether so many voters reject this effect that the others are too few; `but` might change
    /// its mind now.
    pub fn is_rejected(&self, effect: &Effect, but: Option<&MemberId>) -> bool {
        let (mut no, roster) = (self.rejecters(effect), self.roster());
        no.retain(|voter| but != Some(voter));
        let can = roster.voters().into_iter().filter(|voter| !no.contains(voter)).collect();
        !no.is_empty() && !roster.carries(&effect.change, &can)
    }

    /// The keys of certificates for which nobody asks any more (`ID-89`): no member has or had
    /// them, nobody has approved their admission, and no effect that a voter wants and that the
    /// voters have not rejected names them. Such a certificate came for another key of a member.
    pub fn unasked_keys(&self) -> BTreeSet<MemberId> {
        let (state, set) = (self.state(), self.set());
        let wanted = |effect: &&Effect| {
            !self.is_rejected(effect, None) && !set.proofs(state, effect, set.time(state)).is_empty()
        };
        let named: BTreeSet<Digest> =
            set.effects().filter(wanted).filter_map(|effect| effect.change.request()).copied().collect();
        let approved = |request: Digest| {
            let subject = Subject { kind: VoteKind::Admit, digest: request };
            set.approvals_of(subject).any(|one| one.is_yes())
        };
        let roster = self.roster();
        let known = |key: &MemberId| roster.is_member(key) || roster.former(key).is_some();
        let late = set.late().map(|(admit, _)| admit);
        let unasked = late.filter(|admit| {
            !known(&admit.member) && !named.contains(&admit.request) && !approved(admit.request)
        });
        unasked.map(|admit| admit.member).collect()
    }

    /// The decision that last changed what this change is about: older approvals of it do not
    /// count.
    pub fn stamp_of(&self, change: &Change) -> u64 {
        let named = change.request().and_then(|request| self.set().admit(request));
        self.state().stamp_with(change, named)
    }

    /// The item that admits by this certificate (GMC, DER), with approvals that the certificate
    /// does not carry.
    ///
    /// # Errors
    /// [`ItemError`]: it would not be taken; [`ItemError::Late`]: it would not count.
    pub fn make_admit(&self, certificate: &[u8], approvals: &[&Signed]) -> Result<Bytes, ItemError> {
        let paper = paper::Paper::read(certificate, self.state())?;
        let carried = paper.gmc.votes();
        let missing =
            approvals.iter().filter(|signed| !carried.iter().any(|vote| vote.voter == signed.approval.voter));
        let approvals = missing.filter_map(|signed| {
            let (approval, signature) = (signed.approval, signed.signature.clone()?);
            Some(SignedApproval { approval, signature })
        });
        let certificate = Blob(Bytes::copy_from_slice(certificate));
        let item = Bytes::from(Item::Admit { certificate, approvals: approvals.collect() }.encode());
        self.check_admit(&item)?;
        Ok(item)
    }

    /// Whether an item of an admission would be taken and count.
    ///
    /// # Errors
    /// [`ItemError`]; [`ItemError::Late`] if it would be here and not count.
    pub fn check_admit(&self, item: &[u8]) -> Result<(), ItemError> {
        let Item::Admit { certificate, .. } = Item::decode(item)? else { return Err(ItemError::NotHeld) };
        let paper = paper::Paper::read(&certificate.0, self.state())?;
        let request = paper.admit.request;
        if self.roster().is_used(&request) {
            return Err(ItemError::Late(crate::Uncounted::Used));
        }
        let mut tried = self.clone();
        tried.take(item, None)?;
        if tried.roster().is_used(&request) {
            return Ok(());
        }
        let late = tried.set().late().find(|(admit, _)| admit.request == request);
        Err(late.map_or(ItemError::NotHeld, |(_, why)| ItemError::Late(why.clone())))
    }
}
