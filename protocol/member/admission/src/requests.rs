//! Open requests and the votes on them: one for each key, boundedly many. Each closes at a time
//! known from its arrival.

use crate::guests::Guests;
use crate::{AdmissionError, CONTACT_REQUESTS_MAX};
use folkmoot_base::{Digest, Instant, MemberId, UnixTime, limits};
use folkmoot_identity::{Motion, Request, Roster, Verdict, Vote};
use std::collections::{BTreeMap, BTreeSet};

/// Beyond so many open requests, each contact has only its share of the rest.
const FREE_REQUESTS: usize = limits::REQUESTS_MAX / 2;

/// One open request.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) request: Request,
    pub(crate) motion: Motion,
    /// The member who brought it first.
    pub(crate) contact: MemberId,
    /// When it came here.
    pub(crate) came: Instant,
    pub(crate) expires: UnixTime,
    pub(crate) votes: BTreeMap<MemberId, Vote>,
    /// By CSR and handed in here, or our own renewal: nobody but us enters the admission.
    pub(crate) sponsored: bool,
    /// When we last handed over its entry.
    pub(crate) entered: Option<Instant>,
    /// Whether that entry did not stand.
    pub(crate) failed: bool,
}

impl Open {
    /// A request that nobody has voted on, at the desk of `me`.
    pub(crate) fn new(
        request: Request,
        motion: Motion,
        (contact, came): (MemberId, Instant),
        expires: UnixTime,
        me: &MemberId,
    ) -> Self {
        let ours = request.csr().is_some() || request.member() == *me;
        let sponsored = ours && contact == *me;
        let (entered, failed) = (None, false);
        Self { request, motion, contact, came, expires, votes: BTreeMap::new(), sponsored, entered, failed }
    }

    /// Whether we bring what the request waits for: its guest is linked here, its CSR was handed in
    /// here, or it is our own. A member's own request is nobody else's, even if the link that it
    /// had as a guest is still up.
    pub(crate) fn is_ours(&self, guests: &Guests) -> bool {
        let of_member = self.contact == self.request.member();
        self.sponsored || (!of_member && guests.is_linked(&self.request.member().node()))
    }

    /// Approving votes of those who have one now.
    pub(crate) fn approvals<'a>(&'a self, roster: &'a Roster) -> impl Iterator<Item = &'a Vote> {
        self.votes
            .values()
            .filter(|vote| vote.content().verdict == Verdict::Approve && roster.may_vote(&vote.voter()))
    }

    pub(crate) fn have(&self, roster: &Roster) -> usize {
        self.approvals(roster).count()
    }

    /// How many approving votes it takes, as far as those here tell: `ADM-18`.
    pub(crate) fn need(&self, roster: &Roster) -> usize {
        if roster.lets_in(&self.request.member(), &BTreeSet::new()) {
            return 0;
        }
        roster.admission_need(&self.approvers(roster))
    }

    /// No more approving votes than admit, in the order of the listed voters; `None` while there
    /// are too few.
    pub(crate) fn enough<'a>(&'a self, roster: &'a Roster) -> Option<Vec<&'a Vote>> {
        self.enough_of(roster, |_| true)
    }

    /// The same, counting only the votes that are `fit`.
    pub(crate) fn enough_of<'a>(
        &'a self,
        roster: &'a Roster,
        fit: impl Fn(&Vote) -> bool,
    ) -> Option<Vec<&'a Vote>> {
        let first = roster.electorate().voters.first();
        let fit = self.approvals(roster).filter(|vote| fit(vote));
        let (mut enough, rest): (Vec<_>, Vec<_>) = fit.partition(|vote| Some(&vote.voter()) == first);
        let holder = self.request.member();
        let mut yes: BTreeSet<MemberId> = enough.iter().map(|vote| vote.voter()).collect();
        for vote in rest {
            if roster.lets_in(&holder, &yes) {
                break;
            }
            yes.insert(vote.voter());
            enough.push(vote);
        }
        roster.lets_in(&holder, &yes).then_some(enough)
    }

    fn approvers(&self, roster: &Roster) -> BTreeSet<MemberId> {
        self.approvals(roster).map(Vote::voter).collect()
    }

    /// Rejecting votes of those who have one now.
    pub(crate) fn objections(&self, roster: &Roster) -> Vec<&Vote> {
        let no = self.votes.values().filter(|vote| vote.content().verdict == Verdict::Reject);
        no.filter(|vote| roster.may_vote(&vote.voter())).collect()
    }

    /// `ADM-21`: whether so many object that, by the charter, the request is refused for good.
    pub(crate) fn is_objected(&self, roster: &Roster) -> bool {
        let most = roster.charter().policies().objections.and_then(|most| usize::try_from(most).ok());
        most.is_some_and(|most| self.objections(roster).len() >= most)
    }

    /// What these votes count for in the charter's rule on admissions, part by part; `None` if
    /// there is no rule.
    pub(crate) fn tally(&self, roster: &Roster) -> Option<String> {
        let policies = roster.charter().policies();
        policies.admit.as_ref().map(|rule| rule.tally(&self.approvers(roster), &policies.roles))
    }

    /// Whether so many voters said no that the rest are too few.
    pub(crate) fn is_rejected(&self, roster: &Roster) -> bool {
        let voters = &roster.electorate().voters;
        let can = voters.iter().filter(|voter| roster.may_vote(voter)).filter(|voter| {
            self.votes.get(voter).is_none_or(|vote| vote.content().verdict == Verdict::Approve)
        });
        !roster.lets_in(&self.request.member(), &can.copied().collect())
    }

    /// Whether this member would send it again: it voted, or has to bring what comes of it.
    pub(crate) fn concerns(&self, me: &MemberId, guests: &Guests) -> bool {
        self.votes.contains_key(me) || self.is_ours(guests)
    }
}

/// All open requests.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    open: BTreeMap<Digest, Open>,
    by_member: BTreeMap<MemberId, Digest>,
}

impl Requests {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Open> {
        self.open.values_mut()
    }

    pub(crate) fn get(&self, digest: &Digest) -> Option<&Open> {
        self.open.get(digest)
    }

    pub(crate) fn get_mut(&mut self, digest: &Digest) -> Option<&mut Open> {
        self.open.get_mut(digest)
    }

    pub(crate) fn of_member(&self, member: &MemberId) -> Option<&Open> {
        self.open.get(self.by_member.get(member)?)
    }

    /// `ADM-07`: whether there is room for one more request, by this contact, of this key. Half of
    /// the room is free for all. The other half is shared out among the members, so that a flood at
    /// some contacts leaves every other contact open.
    pub(crate) fn room(
        &self,
        contact: &MemberId,
        holder: &MemberId,
        members: usize,
    ) -> Result<(), AdmissionError> {
        let others = || self.open.values().filter(|open| open.request.member() != *holder);
        let of_contact = others().filter(|open| open.contact == *contact).count();
        let all = others().count();
        let share = FREE_REQUESTS.checked_div(members).unwrap_or_default().max(1);
        let full = all >= limits::REQUESTS_MAX || of_contact >= CONTACT_REQUESTS_MAX;
        if full || (all >= FREE_REQUESTS && of_contact >= share) {
            return Err(AdmissionError::PeerTooManyRequests);
        }
        Ok(())
    }

    /// Takes a request; returns the one of the same key that it replaces.
    pub(crate) fn insert(&mut self, open: Open) -> Option<Open> {
        let digest = open.request.digest();
        let replaced = self.by_member.insert(open.request.member(), digest);
        let replaced = replaced.filter(|old| *old != digest).and_then(|old| self.open.remove(&old));
        self.open.insert(digest, open);
        replaced
    }

    pub(crate) fn remove(&mut self, digest: &Digest) -> Option<Open> {
        let open = self.open.remove(digest)?;
        self.by_member.remove(&open.request.member());
        Some(open)
    }

    /// Takes out those for which `gone` holds.
    pub(crate) fn take(&mut self, gone: impl Fn(&Open) -> bool) -> Vec<Open> {
        let which: Vec<Digest> =
            self.open.iter().filter(|(_, open)| gone(open)).map(|(digest, _)| *digest).collect();
        which.iter().filter_map(|digest| self.remove(digest)).collect()
    }
}
