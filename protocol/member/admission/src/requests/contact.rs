//! The contact's part: a linked guest, its request, the votes that it is given, and the certificate
//! that it brings.

use super::Requests;
use super::close::closed;
use super::open::{Open, Way};
use super::sponsor::check_csr;
use crate::call::{Call, Out};
use crate::message::{self, GuestMessage};
use crate::pause::ENTRY_PATIENCE;
use crate::store;
use crate::{AdmissionError, Closed, Event};
use core::time::Duration;
use folkmoot_base::{Danger, Digest, Head, Host, MemberId, NodeId, UnixTime};
use folkmoot_identity::names::is_made;
use folkmoot_identity::{CertificateError, Charter, Gmc, Policy, Request};
use folkmoot_transcript::{ItemError, Roster, Uncounted};
use std::collections::BTreeMap;

/// For so long a request that nobody has voted on keeps its place against a newer one of the same
/// guest. Every request taken is on every member's disk before the ring goes on.
const ANEW: Duration = Duration::from_secs(10);

impl Requests {
    /// Hears a guest over its link.
    pub(crate) fn hear_guest(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        payload: &[u8],
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let heard = self.guest(call, from, payload, out);
        self.counters.count(&heard);
        heard
    }

    fn guest(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        payload: &[u8],
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        if !self.guests.may_speak(from, call.now) {
            return Err(AdmissionError::PeerTooOften(from));
        }
        match message::decode(payload)? {
            GuestMessage::Request { cms, voucher, endorsement } => {
                let way = Way { host: self.guests.host(&from), voucher, endorsement, ..Way::default() };
                self.guest_request(call, from, (&cms.0, way), out)
            }
            GuestMessage::Certificate { der } => self.guest_certificate(call, from, &der.0, out),
            GuestMessage::Withdraw { withdrawal } => self.guest_withdraws(call, from, withdrawal, out),
            GuestMessage::Standing { .. }
            | GuestMessage::Votes { .. }
            | GuestMessage::Issued { .. }
            | GuestMessage::Multi { .. } => Err(AdmissionError::PeerOutOfTurn(from)),
        }
    }

    fn guest_request(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        (cms, way): (&[u8], Way),
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let known = self.open.of_member(&from.member()).filter(|open| open.request.der() == cms);
        if let Some(digest) = known.map(|open| open.request.digest()) {
            self.is_at(&digest, way.host);
            self.answer(call, &digest, out);
            return Ok(());
        }
        let request = Request::from_der(cms).map_err(AdmissionError::WireRequest)?;
        if request.member().node() != from {
            return Err(AdmissionError::PeerNotHolder(from));
        }
        if request.csr().is_some() {
            return Err(AdmissionError::PeerGuestCsr(from));
        }
        let digest = request.digest();
        if is_needless(call.transcript.roster(), &request) {
            out.trace(format!(
                "{} asks, and is a member: it has yet to read the transcript",
                request.member()
            ));
            return Ok(());
        }
        if let Err(error) = self.take_request(call, call.me(), (request, way), out) {
            self.refuse(call, from, digest, &error, out);
            return Err(error);
        }
        self.show(&digest, out);
        Ok(())
    }

    /// A request that was restored from the disk has its host again.
    fn is_at(&mut self, digest: &Digest, host: Option<Host>) {
        if let Some(open) = self.open.get_mut(digest) {
            open.way.host = open.way.host.or(host);
        }
    }

    /// Shows all members a request that was taken here.
    pub(crate) fn show(&self, digest: &Digest, out: &mut Out) {
        if let Some(open) = self.open.get(digest) {
            out.multicast(&self.shown(open));
            out.soon();
        }
    }

    /// A member passes on a guest's request.
    pub(crate) fn hear_request(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        (cms, mut way): (&[u8], Way),
        rotating: &BTreeMap<Digest, MemberId>,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        if self.open.iter().any(|open| open.request.der() == cms) {
            return Ok(());
        }
        let request = Request::from_der(cms).map_err(AdmissionError::WireRequest)?;
        way.rotates = rotating.get(&request.digest()).copied();
        self.tell_if_behind(call, sender, &request, out);
        self.take_request(call, sender, (request, way), out)
    }

    /// The sender's clock shows that the term has begun, and ours does not: one of the two is
    /// wrong, and whoever looks at ours has to hear of it.
    fn tell_if_behind(&mut self, call: &Call<'_>, sender: MemberId, request: &Request, out: &mut Out) {
        let begins = request.body().not_before.0;
        let seconds = call.clock.map_or(0, |time| begins.saturating_sub(time.0));
        if seconds <= call.config.skew_seconds {
            self.behind.remove(&sender);
        } else if self.behind.insert(sender) {
            let roster = call.transcript.roster();
            self.behind.retain(|member| roster.is_member(member));
            out.event(Event::ClockBehind { than: Some(sender), seconds });
        }
    }

    /// `ADM-04` to `ADM-07`, `ADM-17`, `ADM-26`, `ADM-84` to `ADM-86`: opens the request if it may
    /// be open.
    pub(super) fn take_request(
        &mut self,
        call: &Call<'_>,
        contact: MemberId,
        (request, way): (Request, Way),
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let (digest, member) = (request.digest(), request.member());
        let roster = call.transcript.roster();
        if !call.config.danger.is(Danger::AdmissionAnyName) {
            check_name(&request)?;
        }
        request.body().check_charter(roster.charter()).map_err(AdmissionError::PeerCharter)?;
        let time = call.clock.ok_or(AdmissionError::LocalNoClock)?;
        check_term(call, &request, time)?;
        if roster.is_used(&digest) {
            return Err(AdmissionError::PeerUsed(member));
        }
        if request.body().membership.base.number > roster.head().number {
            return Err(AdmissionError::PeerItem(ItemError::Ahead));
        }
        let open = Open::new(request, (contact, call.now), UnixTime(0), &call.me());
        let mut open = Open { rotates: way.rotates, way, ..open };
        self.check_before(call, &open)?;
        let request = &open.request;
        check_csr(call.transcript, request)?;
        if roster.has_issued(&request.body().serial) {
            let used = CertificateError::PeerCharter("another certificate has its serial number");
            return Err(AdmissionError::PeerCharter(used));
        }
        let rotates = open.rotates.is_some();
        if !rotates && !may_ask(roster, &member) {
            return Err(AdmissionError::PeerNotListed(member));
        }
        let newer = |open: &Open| (open.request.body().not_before, open.request.digest());
        let begins = request.body().not_before;
        if self.open.of_member(&member).is_some_and(|open| newer(open) > (begins, digest)) {
            return Err(AdmissionError::PeerOlder(member));
        }
        let too_soon = |open: &Open| !open.is_voted_on(call.transcript) && call.now.since(open.came) < ANEW;
        let at_our_door = contact == call.me() && self.guests.is_linked(&member.node());
        if at_our_door && self.open.of_member(&member).is_some_and(too_soon) {
            return Err(AdmissionError::PeerTooSoon(member));
        }
        open.expires = end_of(request, time, roster.charter());
        if open.expires < time {
            return Err(AdmissionError::PeerTerm(member));
        }
        open.look_at_endorsement(call, out);
        if let Some(leaver) = self.find_place(call, &mut open, out)? {
            self.displace(call, &leaver, out);
        }
        let name = open.request.body().name.clone();
        out.persist(store::put_request(&digest, &open.stored()));
        if let Some(replaced) = self.open.insert(open) {
            closed(&replaced, Closed::Overtaken, out);
        }
        if !rotates {
            out.event(Event::RequestArrived { request: digest, member, name });
        }
        self.answer(call, &digest, out);
        Ok(())
    }

    /// Whether nothing that was decided before ends the request.
    fn check_before(&self, call: &Call<'_>, open: &Open) -> Result<(), AdmissionError> {
        let member = open.request.member();
        if open.is_refused(call.transcript) {
            return Err(AdmissionError::PeerRefused(member));
        }
        if open.is_stale(call.transcript) {
            let stale = CertificateError::PeerCharter("it was made before what was decided since");
            return Err(AdmissionError::PeerCharter(stale));
        }
        if self.is_overtaken(call, open) {
            return Err(AdmissionError::PeerIn(member));
        }
        Ok(())
    }

    /// The guest has made a certificate of the votes: if an item with it counts, have it ordered.
    fn guest_certificate(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        der: &[u8],
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let certificate = Gmc::from_der(der).map_err(AdmissionError::PeerCertificate)?;
        if certificate.node() != from {
            return Err(AdmissionError::PeerNotHolder(from));
        }
        let digest = certificate.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
        if let Err(error) = self.admit(call, from, &certificate, out) {
            self.refuse(call, from, digest, &error, out);
            return Err(error);
        }
        Ok(())
    }

    fn admit(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        certificate: &Gmc,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let time = call.clock.ok_or(AdmissionError::LocalNoClock)?;
        certificate.check_term(time, call.config.skew_seconds).map_err(AdmissionError::PeerCertificate)?;
        let early = call.early();
        if let Some((voter, _)) = certificate.approvals().iter().find(|(_, expires)| *expires < early) {
            return Err(AdmissionError::PeerVoteEnded(*voter));
        }
        let handed_over = self.guests.entry_at(&from).and_then(|entry_at| *entry_at);
        if handed_over.is_some_and(|at| call.now.since(at) < ENTRY_PATIENCE) {
            return Ok(());
        }
        let request = certificate.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
        let approvals = self.open.get(&request).and_then(|open| open.enough(call.transcript));
        match call.transcript.make_admit(certificate.der(), &approvals.unwrap_or_default()) {
            Ok(item) => {
                if let Some(entry_at) = self.guests.entry_at(&from) {
                    *entry_at = Some(call.now);
                }
                out.trace(format!("item to admit {} handed over", certificate.member()));
                out.item(item);
                Ok(())
            }
            // Admitted meanwhile: the guest will see it in the transcript.
            Err(ItemError::Late(Uncounted::Used)) => Ok(()),
            Err(_) if is_ahead(certificate, call.transcript.state().head()) => {
                Err(AdmissionError::PeerItem(ItemError::Ahead))
            }
            Err(error) => Err(AdmissionError::PeerItem(error)),
        }
    }
}

/// `ADM-90`: whoever asks under a name that nobody may come in under is told so at once.
pub(crate) fn check_name(request: &Request) -> Result<(), AdmissionError> {
    is_made(&request.body().name).map_err(|why| AdmissionError::PeerName(request.member(), why))
}

/// Where a list says who may ask: the key stands in it, and no other key has replaced it.
fn may_ask(roster: &Roster, member: &MemberId) -> bool {
    let policies = roster.charter().policies();
    policies.policy != Policy::List || policies.list.contains(member)
}

fn check_term(call: &Call<'_>, request: &Request, time: UnixTime) -> Result<(), AdmissionError> {
    let body = request.body();
    let begun = body.not_before.0 <= time.0.saturating_add(call.config.skew_seconds);
    if begun && body.not_after.0 > time.0 { Ok(()) } else { Err(AdmissionError::PeerTerm(request.member())) }
}

/// `ADM-54`: whether the guest is a member by the transcript for more than half of the term that it
/// asks for. It gets the transcript over the same link. Such a guest was admitted by CSR, or lost
/// its store. A request that was used is refused for that instead.
pub(super) fn is_needless(roster: &Roster, request: &Request) -> bool {
    let Some(held) = roster.member(&request.member()) else { return false };
    let (from, to) = (request.body().not_before.0, request.body().not_after.0);
    let middle = from.saturating_add(to.saturating_sub(from) / 2);
    held.ends.0 > middle && !roster.is_used(&request.digest())
}

/// Whether the certificate, or an approval in it, was made over a decision that is not known here
/// yet.
fn is_ahead(certificate: &Gmc, head: Head) -> bool {
    let votes = certificate.votes().iter().map(|vote| vote.base.number);
    let multi = certificate.multi().map(|multi| multi.base().number);
    let request = certificate.body().membership.base.number;
    votes.chain(multi).chain([request]).any(|number| number > head.number)
}

/// `ADM-24`: when a request closes by itself and the votes given here run out: by what its guest
/// signed if the charter says so, otherwise by its arrival.
pub(crate) fn end_of(request: &Request, arrived: UnixTime, charter: &Charter) -> UnixTime {
    let after = |time: UnixTime, seconds: u64| UnixTime(time.0.saturating_add(seconds));
    match charter.policies().request_days {
        Some(days) => after(request.body().not_before, u64::from(days).saturating_mul(86_400)),
        None => after(arrived, u64::from(charter.request_hours()).saturating_mul(3_600)),
    }
}
