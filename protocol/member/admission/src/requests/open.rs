//! Open requests: one for each key, boundedly many. Each closes at a time known from its arrival.
//! The votes on them are in the transcript.

use super::guests::Guests;
use crate::store::StoredRequest;
use folkmoot_base::{Blob, Digest, Host, Instant, MemberId, UnixTime};
use folkmoot_identity::{Request, Verdict};
use folkmoot_transcript::{Admit, Approval, Signed, Subject, Transcript, Uncounted, Voucher, admission};
use std::collections::{BTreeMap, BTreeSet};

/// How a request came here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Way {
    /// Where the link of its guest came up, if that was here.
    pub(crate) host: Option<Host>,
    /// What vouches for it. Once it is open: by what it has a place among the vouched.
    pub(crate) voucher: Option<Voucher>,
    /// What its guest shows of who it is (X.509).
    pub(crate) endorsement: Option<Blob>,
    /// The request of the same contact that made room for it.
    pub(crate) instead: Option<Digest>,
    /// The member that wants this key in place of its own.
    pub(crate) rotates: Option<MemberId>,
}

/// One open request.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) request: Request,
    /// What it asks for, as the transcript's rules see it.
    pub(super) admit: Admit,
    /// The member who brought it first.
    pub(super) contact: MemberId,
    pub(super) way: Way,
    /// When it came here.
    pub(super) came: Instant,
    pub(super) expires: UnixTime,
    /// By CSR and handed in here, our own renewal, or of our own new key: nobody but us enters the
    /// admission.
    pub(super) sponsored: bool,
    /// The member that wants this key in place of its own. Then no vote on an admission is asked
    /// for, but one on that.
    pub(super) rotates: Option<MemberId>,
    /// When we last handed over its item.
    pub(super) entered: Option<Instant>,
    /// Whether that item did not admit.
    pub(super) failed: bool,
    /// Approvals that end before this have run out by our clock.
    pub(super) early: UnixTime,
}

impl Open {
    /// A request at the desk of `me`.
    pub(super) fn new(
        request: Request,
        (contact, came): (MemberId, Instant),
        expires: UnixTime,
        me: &MemberId,
    ) -> Self {
        let ours = request.csr().is_some() || request.member() == *me;
        let sponsored = ours && contact == *me;
        let admit = Admit::asked(&request);
        Self {
            request,
            admit,
            contact,
            way: Way::default(),
            came,
            expires,
            sponsored,
            rotates: None,
            entered: None,
            failed: false,
            early: UnixTime(0),
        }
    }

    /// What is kept of it.
    pub(super) fn stored(&self) -> StoredRequest {
        let (contact, expires) = (self.contact, self.expires);
        let Way { voucher, endorsement, .. } = self.way.clone();
        StoredRequest { contact, expires, cms: Blob::from(self.request.der().to_vec()), voucher, endorsement }
    }

    /// What votes on it name.
    pub(super) fn subject(&self) -> Subject {
        admission(self.admit.request)
    }

    /// Whether we bring what the request waits for: its guest is linked here, its CSR was handed in
    /// here, or it is our own. A member's own request is nobody else's, even if the link that it
    /// had as a guest is still up.
    pub(super) fn is_ours(&self, guests: &Guests) -> bool {
        let of_member = self.contact == self.request.member();
        self.sponsored || (!of_member && guests.is_linked(&self.request.member().node()))
    }

    /// Whether somebody who was no member brought it over a link: neither a CSR, a renewal nor the
    /// request of another key for a member.
    pub(super) fn is_of_guest(&self) -> bool {
        self.contact != self.request.member() && self.request.csr().is_none() && self.rotates.is_none()
    }

    /// The approvals that count now. By the line those count that had not run out at its last
    /// decision; here those alone that have not run out by our clock either.
    pub(crate) fn approvals<'a>(&self, transcript: &'a Transcript) -> Vec<&'a Signed> {
        let mut all = transcript.set().approving(transcript.state(), &self.admit);
        all.retain(|signed| signed.approval.expires >= self.early);
        all
    }

    fn approvers(&self, transcript: &Transcript) -> BTreeSet<MemberId> {
        self.approvals(transcript).into_iter().map(|signed| signed.approval.voter).collect()
    }

    pub(super) fn have(&self, transcript: &Transcript) -> usize {
        self.approvals(transcript).len()
    }

    /// How many approvals it takes, as far as those here tell: `ADM-18`.
    pub(crate) fn need(&self, transcript: &Transcript) -> usize {
        let roster = transcript.roster();
        if roster.lets_in(&self.request.member(), &BTreeSet::new()) {
            return 0;
        }
        roster.admission_need(&self.approvers(transcript))
    }

    /// No more approvals than admit, that of the first listed voter first; `None` while there are
    /// too few.
    pub(crate) fn enough<'a>(&self, transcript: &'a Transcript) -> Option<Vec<&'a Signed>> {
        self.enough_of(transcript, |_| true)
    }

    /// The same, counting only the approvals that are `fit`.
    pub(crate) fn enough_of<'a>(
        &self,
        transcript: &'a Transcript,
        fit: impl Fn(&Approval) -> bool,
    ) -> Option<Vec<&'a Signed>> {
        let roster = transcript.roster();
        if self.rotates.is_some() {
            return transcript.is_rotation_granted(&self.admit, self.early).then(Vec::new);
        }
        let first = roster.electorate().first();
        let fit = self.approvals(transcript).into_iter().filter(|signed| fit(&signed.approval));
        let (mut enough, rest): (Vec<_>, Vec<_>) =
            fit.partition(|signed| Some(&signed.approval.voter) == first);
        let holder = self.request.member();
        let mut yes: BTreeSet<MemberId> = enough.iter().map(|signed| signed.approval.voter).collect();
        for signed in rest {
            if roster.lets_in(&holder, &yes) {
                break;
            }
            yes.insert(signed.approval.voter);
            enough.push(signed);
        }
        roster.lets_in(&holder, &yes).then_some(enough)
    }

    /// The rejections that count now.
    pub(super) fn objections(&self, transcript: &Transcript) -> BTreeSet<MemberId> {
        transcript.set().rejecting(transcript.state(), &self.admit.request)
    }

    /// `ADM-21`: whether so many object that, by the charter, the request is refused for good.
    pub(super) fn is_refused(&self, transcript: &Transcript) -> bool {
        transcript.set().is_refused(transcript.state(), &self.admit)
    }

    /// What these votes count for in the charter's rule on admissions, part by part; `None` if
    /// there is no rule.
    pub(super) fn tally(&self, transcript: &Transcript) -> Option<String> {
        let policies = transcript.roster().charter().policies();
        policies.admit.as_ref().map(|rule| rule.tally(&self.approvers(transcript), &policies.roles))
    }

    /// Whether so many voters said no that the rest are too few.
    pub(super) fn is_rejected(&self, transcript: &Transcript) -> bool {
        let roster = transcript.roster();
        let no = self.objections(transcript);
        let can = roster.voters().into_iter().filter(|voter| !no.contains(voter)).collect();
        !roster.lets_in(&self.request.member(), &can)
    }

    /// Whether nobody can be admitted by it any more, whoever approves: it is older than an
    /// expulsion of its holder, or asks for more than the charter allows now, or its base is on no
    /// line that we know.
    pub(super) fn is_stale(&self, transcript: &Transcript) -> bool {
        let judged = transcript.state().check_request(&self.admit, transcript.time());
        judged.is_err_and(|why| !matches!(why, Uncounted::Epoch | Uncounted::SharesStale { .. }))
    }

    /// What this voter said last, if it is still known.
    pub(crate) fn said<'a>(&self, transcript: &'a Transcript, voter: &MemberId) -> Option<&'a Approval> {
        transcript.set().approval(&self.subject(), voter).map(|signed| &signed.approval)
    }

    /// Whether anybody has said anything about it.
    pub(super) fn is_voted_on(&self, transcript: &Transcript) -> bool {
        transcript.set().approvals_of(self.subject()).next().is_some()
    }

    /// Whether this member would send it again: it voted, or has to bring what comes of it.
    pub(super) fn concerns(&self, transcript: &Transcript, me: &MemberId, guests: &Guests) -> bool {
        self.said(transcript, me).is_some() || self.is_ours(guests)
    }

    /// Who said so.
    pub(super) fn voters(&self, transcript: &Transcript, verdict: Verdict) -> Vec<MemberId> {
        let all = transcript.set().approvals_of(self.subject());
        all.filter(|one| one.verdict == verdict).map(|one| one.voter).collect()
    }
}

/// All open requests.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    open: BTreeMap<Digest, Open>,
    by_member: BTreeMap<MemberId, Digest>,
}

impl OpenRequests {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    pub(super) fn get(&self, digest: &Digest) -> Option<&Open> {
        self.open.get(digest)
    }

    pub(super) fn get_mut(&mut self, digest: &Digest) -> Option<&mut Open> {
        self.open.get_mut(digest)
    }

    pub(super) fn of_member(&self, member: &MemberId) -> Option<&Open> {
        self.open.get(self.by_member.get(member)?)
    }

    /// Which of them are of new keys for members.
    pub(super) fn tell_rotations(&mut self, rotating: &BTreeMap<Digest, MemberId>, me: &MemberId) {
        for (request, open) in &mut self.open {
            open.rotates = rotating.get(request).copied().or(open.rotates);
            open.sponsored |= open.rotates == Some(*me) && open.contact == *me;
        }
    }

    /// The wall clock, less what clocks may differ by.
    pub(super) fn tell_time(&mut self, early: UnixTime) {
        self.open.values_mut().for_each(|open| open.early = early);
    }

    /// Takes a request; returns the one of the same key that it replaces.
    pub(super) fn insert(&mut self, open: Open) -> Option<Open> {
        let digest = open.request.digest();
        let replaced = self.by_member.insert(open.request.member(), digest);
        let replaced = replaced.filter(|old| *old != digest).and_then(|old| self.open.remove(&old));
        self.open.insert(digest, open);
        replaced
    }

    pub(super) fn remove(&mut self, digest: &Digest) -> Option<Open> {
        let open = self.open.remove(digest)?;
        self.by_member.remove(&open.request.member());
        Some(open)
    }

    /// Takes out those for which `gone` holds.
    pub(super) fn take(&mut self, gone: impl Fn(&Open) -> bool) -> Vec<Open> {
        let which: Vec<Digest> =
            self.open.iter().filter(|(_, open)| gone(open)).map(|(digest, _)| *digest).collect();
        which.iter().filter_map(|digest| self.remove(digest)).collect()
    }
}
