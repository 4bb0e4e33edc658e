//! `ADM-07`, `ADM-84` to `ADM-86`: the places for open requests, and who makes room for whom.
//!
//! ```text
//! request --a voucher that counts?--> one of 64 places: 16 a maker, 4 a voucher
//!         '--else, or none left ----> one of 128: 32 a contact, which hosts share
//! ```

use super::Requests;
use super::close::closed;
use super::open::{Open, OpenRequests, Way};
use crate::call::{Call, Out};
use crate::message::{OpenMessage, Reason};
use crate::{
    AdmissionError, CONTACT_REQUESTS_MAX, Closed, MAKER_REQUESTS_MAX, VOUCHED_MAX, VOUCHER_REQUESTS_MAX,
};
use core::cmp::Reverse;
use core::time::Duration;
use folkmoot_base::{Blob, Danger, Digest, Host, MemberId, limits};
use folkmoot_identity::Request;
use folkmoot_transcript::{Roster, Voucher};
use std::collections::BTreeMap;

/// Beyond so many open requests, each contact has only its share of the rest.
const FREE_REQUESTS: usize = limits::REQUESTS_MAX / 2;
/// Beyond so many that are vouched for, each maker has only its share of the rest.
const FREE_VOUCHED: usize = VOUCHED_MAX / 2;
/// For so long a request keeps its place from one of a host that has one fewer.
const TURN: Duration = Duration::from_secs(10);

impl Open {
    /// By which voucher it has its place, if its maker is still a member.
    fn vouched(&self, roster: &Roster) -> Option<&Voucher> {
        self.way.voucher.as_ref().filter(|voucher| roster.is_member(&voucher.maker))
    }

    /// Whether a guest asks, and not a member for itself, its new key or the holder of a CSR.
    fn is_guests(&self) -> bool {
        self.request.csr().is_none() && self.rotates.is_none() && self.contact != self.request.member()
    }

    /// Whether it makes room for another: a guest's that nobody has approved.
    fn makes_room(&self, call: &Call<'_>) -> bool {
        self.is_guests() && self.have(call.transcript) == 0
    }
}

/// What is left to one of `by`, of `all` places that are free up to `free` and then shared out
/// among the members.
fn is_full(call: &Call<'_>, (all, free, most): (usize, usize, usize), (by, most_by): (usize, usize)) -> bool {
    let rest = most.saturating_sub(free);
    let share = rest.checked_div(call.transcript.roster().len()).unwrap_or_default().max(1);
    all >= most || by >= most_by || (all >= free && by >= share)
}

impl OpenRequests {
    /// `ADM-86`: whether one more request has a place by this voucher.
    fn has_vouched_place(&self, call: &Call<'_>, voucher: &Voucher, holder: &MemberId) -> bool {
        let roster = call.transcript.roster();
        let others = self.iter().filter(|open| open.request.member() != *holder);
        let all: Vec<&Voucher> = others.filter_map(|open| open.vouched(roster)).collect();
        let maker = all.iter().filter(|other| other.maker == voucher.maker);
        let same = maker.clone().filter(|other| other.says.serial == voucher.says.serial).count();
        let open = self.iter().count() < limits::REQUESTS_MAX.saturating_add(VOUCHED_MAX);
        let bounded = !call.config.danger.is(Danger::AdmissionVouchersUnbounded);
        let makers = if bounded { maker.count() } else { 0 };
        open && !is_full(call, (all.len(), FREE_VOUCHED, VOUCHED_MAX), (makers, MAKER_REQUESTS_MAX))
            && !(bounded && same >= VOUCHER_REQUESTS_MAX)
    }

    /// `ADM-07`, `ADM-84`: a place for a request that nobody vouches for, and which one makes room,
    /// if one has to. Half of the places are free for all. The other half is shared out among the
    /// members, so that a flood at some contacts leaves every other contact open.
    fn place(&self, call: &Call<'_>, new: &Open) -> Result<Option<Digest>, AdmissionError> {
        let (roster, instead) = (call.transcript.roster(), new.way.instead);
        let counts = |open: &&Open| {
            open.vouched(roster).is_none()
                && open.request.member() != new.request.member()
                && Some(open.request.digest()) != instead
        };
        let others: Vec<&Open> = self.iter().filter(counts).collect();
        let of_contact: Vec<&Open> =
            others.iter().filter(|open| open.contact == new.contact).copied().collect();
        let all = (others.len(), FREE_REQUESTS, limits::REQUESTS_MAX);
        if !is_full(call, all, (of_contact.len(), CONTACT_REQUESTS_MAX)) {
            return Ok(instead);
        }
        // What comes back to us in the order, and has made room meanwhile, displaces nothing.
        let came_now = new.way.host.is_some() || !new.is_guests();
        let leaver = Some(of_contact).filter(|_| came_now && new.contact == call.me());
        let leaver = leaver.and_then(|ours| heaviest(call, &ours, new));
        leaver.map(|open| Some(open.request.digest())).ok_or(AdmissionError::PeerTooManyRequests)
    }
}

/// `ADM-84`: of the host that has the most requests which nobody has approved, the oldest: at once
/// for a host that has two fewer, for a member, and for a request that somebody has approved; after
/// [`TURN`] for a host that has one fewer.
fn heaviest<'a>(call: &Call<'_>, ours: &[&'a Open], new: &Open) -> Option<&'a Open> {
    if call.config.danger.is(Danger::AdmissionForgetsHosts) {
        return None;
    }
    let mut counts: BTreeMap<Option<Host>, usize> = BTreeMap::new();
    let ours: Vec<&Open> = ours.iter().filter(|open| open.makes_room(call)).copied().collect();
    ours.iter().for_each(|open| *counts.entry(open.way.host).or_default() += 1);
    let count = |open: &Open| counts.get(&open.way.host).copied().unwrap_or_default();
    let oldest = ours.into_iter().min_by_key(|open| (Reverse(count(open)), open.came))?;
    let fewer = count(oldest).saturating_sub(count(new));
    let turn = fewer == 1 && call.now.since(oldest.came) >= TURN;
    (fewer >= 2 || turn || !new.makes_room(call)).then_some(oldest)
}

impl Requests {
    /// Finds a place for a request, and says which other makes room. What vouches for it, and has
    /// no place left, is dropped.
    pub(super) fn find_place(
        &self,
        call: &Call<'_>,
        new: &mut Open,
        out: &mut Out,
    ) -> Result<Option<Digest>, AdmissionError> {
        let vouched = new.way.voucher.take().filter(|voucher| vouches(call, voucher, &new.request, out));
        let holder = new.request.member();
        new.way.voucher = vouched.filter(|voucher| self.open.has_vouched_place(call, voucher, &holder));
        new.way.instead = new.way.instead.filter(|instead| self.may_leave(call, new, instead));
        if new.way.voucher.is_some() {
            return Ok(None);
        }
        new.way.instead = self.open.place(call, new)?;
        Ok(new.way.instead)
    }

    /// Whether a request that makes room, as its contact says, is that contact's and one that does.
    fn may_leave(&self, call: &Call<'_>, new: &Open, instead: &Digest) -> bool {
        let leaves = |open: &Open| open.contact == new.contact && open.makes_room(call);
        self.open.get(instead).is_some_and(leaves)
    }

    /// It makes room: its guest may find a place at another contact.
    pub(super) fn displace(&mut self, call: &Call<'_>, request: &Digest, out: &mut Out) {
        if let Some(open) = self.open.remove(request) {
            closed(&open, Closed::Crowded, out);
            self.tell_over(call, &open, Reason::Full, out);
        }
    }

    /// What the members are shown of a request.
    pub(super) fn shown(&self, open: &Open) -> OpenMessage {
        let Way { voucher, endorsement, instead, .. } = open.way.clone();
        // What left, and is open again, stays.
        let instead = instead.filter(|instead| self.open.get(instead).is_none());
        OpenMessage::Request { cms: Blob::from(open.request.der().to_vec()), voucher, endorsement, instead }
    }
}

/// `ADM-85`: whether a member vouches for this request now.
fn vouches(call: &Call<'_>, voucher: &Voucher, request: &Request, out: &mut Out) -> bool {
    if call.config.danger.is(Danger::AdmissionBelievesVouchers) {
        return true;
    }
    let checked = voucher.check(call.transcript.roster(), &request.member(), call.early());
    if let Err(error) = checked {
        out.trace(format!("the voucher of {} does not count: {error}", request.member()));
    }
    checked.is_ok()
}
