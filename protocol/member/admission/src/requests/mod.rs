//! Requests for admission: which are open, who brought them, what was made for them, and what their
//! guests are told. The votes on them are in the transcript.

mod answer;
mod close;
mod contact;
mod counters;
mod endorsement;
mod granted;
mod guests;
mod open;
mod places;
mod sponsor;
mod vote;
mod withdraw;

pub(crate) use contact::{check_name, end_of};
pub use counters::Counters;
pub(crate) use granted::certificate;
pub(crate) use open::{Open, Way};

use crate::Closed;
use crate::call::{Call, Out};
use crate::message::{OpenMessage, Reason};
use crate::status::RequestStatus;
use crate::store::StoredRequest;
use crate::voting::Asked;
use folkmoot_base::{Blob, Digest, Host, Instant, MemberId, NodeId, codec};
use folkmoot_identity::{Request, Verdict};
use granted::Made;
use guests::Guests;
use open::OpenRequests;
use std::collections::{BTreeMap, BTreeSet};

/// The open requests, and the guests of this member.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    open: OpenRequests,
    guests: Guests,
    made: Made,
    counters: Counters,
    /// Members of whom it was told that our clock is behind theirs.
    behind: BTreeSet<MemberId>,
    /// Our own renewal was granted by a certificate that does not stand: it is asked for again.
    renew_anew: bool,
}

impl Requests {
    /// Takes a request from the disk.
    pub(crate) fn load(&mut self, me: &MemberId, value: &[u8]) -> Option<()> {
        let StoredRequest { contact, expires, cms, voucher, endorsement } = codec::decode(value).ok()?;
        let request = Request::from_der(&cms.0).ok()?;
        let way = Way { voucher, endorsement, ..Way::default() };
        let open = Open::new(request, (contact, Instant::default()), expires, me);
        self.open.insert(Open { way, ..open });
        Some(())
    }

    /// Which open requests are of new keys for members. Those whose proposals are over are closed:
    /// none of them is an admission. What the others ask for.
    pub(crate) fn tell_rotations(
        &mut self,
        rotating: &BTreeMap<Digest, MemberId>,
        me: &MemberId,
        out: &mut Out,
    ) -> Asked {
        self.open.tell_rotations(rotating, me);
        let over = |open: &Open| open.rotates.is_some() && !rotating.contains_key(&open.request.digest());
        for open in self.open.take(over) {
            close::closed(&open, Closed::Overtaken, out);
        }
        let asked = self.open.iter().filter(|open| open.rotates.is_some());
        asked.map(|open| (open.request.digest(), open.admit.clone())).collect()
    }

    pub(crate) fn get(&self, request: &Digest) -> Option<&Open> {
        self.open.get(request)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Open> {
        self.open.iter()
    }

    /// Whether we bring what the request waits for.
    pub(crate) fn is_ours(&self, open: &Open) -> bool {
        open.is_ours(&self.guests)
    }

    /// What guests said so far, and what was refused of it.
    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn guest_up(&mut self, node: NodeId, host: Host, out: &mut Out) {
        self.guests.up(node, host);
        out.soon();
    }

    pub(crate) fn guest_down(&mut self, node: &NodeId) {
        self.guests.down(node);
    }

    /// Roster or head changed: what was made may no longer hold, and votes may count for more or
    /// for less.
    pub(crate) fn follow(&mut self, call: &Call<'_>, out: &mut Out) {
        self.forget_issued(call);
        self.forget_multis(call);
        self.retell_guests(call, out);
    }

    /// Whether anything would be sent again; `reached`: the authority is linked here.
    pub(crate) fn has_unfinished(&self, call: &Call<'_>, reached: bool) -> bool {
        self.open.iter().any(|open| {
            open.concerns(call.transcript, &call.me(), &self.guests)
                || self.granted_elsewhere(call, open, reached).is_some()
        })
    }

    /// Sends again what others may have missed, and enters what is ours to enter.
    pub(crate) fn resend(&mut self, call: &Call<'_>, reached: bool, out: &mut Out) {
        let open: Vec<Digest> = self.open.iter().map(|open| open.request.digest()).collect();
        for request in open {
            self.enter_sponsored(call, &request, out);
        }
        for open in self.open.iter().filter(|open| open.concerns(call.transcript, &call.me(), &self.guests)) {
            out.multicast(&self.shown(open));
        }
        for der in self.open.iter().filter_map(|open| self.granted_elsewhere(call, open, reached)) {
            out.multicast(&OpenMessage::Granted { der: Blob(der.clone()) });
        }
    }

    /// What is open, for people.
    pub(crate) fn status(&self, call: &Call<'_>) -> Vec<RequestStatus> {
        let (transcript, roster) = (call.transcript, call.transcript.roster());
        let status = self.open.iter().map(|open| RequestStatus {
            request: open.request.digest(),
            member: open.request.member(),
            name: open.request.body().name.clone(),
            contact: open.contact,
            sponsor: open.request.csr().map(|_| open.contact),
            expires: open.expires,
            have: open.have(transcript),
            need: open.need(transcript),
            approved: open.voters(transcript, Verdict::Approve),
            rejected: open.voters(transcript, Verdict::Reject),
            rule: open.tally(transcript),
            roles: roster.charter().policies().roles_of(&open.request.member()),
            term: (open.request.body().not_before, open.request.body().not_after),
            waits: self.stands_with_authority(transcript, open),
            stale: self.stands(transcript, open) == Some(Reason::SharesStale),
            renews: roster.is_member(&open.request.member()),
            rotates: open.rotates,
            opinion: None,
            voters: roster.voters().len(),
            endorsement: open.endorsement(call),
        });
        status.collect()
    }
}
