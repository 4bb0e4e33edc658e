//! When a request is open no more.

use super::Requests;
use super::contact::is_needless;
use super::open::Open;
use crate::call::{Call, Out};
use crate::message::Reason;
use crate::{Closed, Event, store};
use folkmoot_base::{Danger, Digest, UnixTime};

impl Requests {
    /// Closes the requests that are granted, that objections have ended, or by which nobody can be
    /// admitted any more: whoever came as a guest may be in by an earlier request of its own.
    pub(crate) fn close_settled(&mut self, call: &Call<'_>, out: &mut Out) {
        let transcript = call.transcript;
        let used = |open: &Open| transcript.roster().is_used(&open.request.digest());
        for open in self.open.take(used) {
            closed(&open, Closed::Granted, out);
        }
        for open in self.open.take(|open| open.is_refused(transcript)) {
            closed(&open, Closed::Rejected, out);
            self.tell_over(call, &open, Reason::Objected, out);
        }
        let overtaken: Vec<Digest> = self
            .open
            .iter()
            .filter(|open| self.is_overtaken(call, open))
            .map(|open| open.request.digest())
            .collect();
        for open in self.open.take(|open| overtaken.contains(&open.request.digest())) {
            closed(&open, Closed::Overtaken, out);
        }
        for open in self.open.take(|open| open.is_stale(transcript)) {
            closed(&open, Closed::Overtaken, out);
            self.tell_over(call, &open, Reason::Stale, out);
        }
    }

    /// `ADM-54`: whether a guest's request is of somebody who is a member: it has come in by an
    /// earlier one, or by a vote that holds it. Nobody would enter what is made for this one.
    pub(super) fn is_overtaken(&self, call: &Call<'_>, open: &Open) -> bool {
        let keeps = call.config.danger.is(Danger::AdmissionKeepsOvertaken);
        !keeps && open.is_of_guest() && is_needless(call.transcript.roster(), &open.request)
    }

    pub(crate) fn close_expired(&mut self, call: &Call<'_>, time: UnixTime, out: &mut Out) {
        for open in self.open.take(|open| open.expires < time) {
            closed(&open, Closed::Expired, out);
        }
        self.open.tell_time(call.early());
    }
}

/// Tells everybody that a request is closed, after it was taken off the desk.
pub(super) fn closed(open: &Open, why: Closed, out: &mut Out) {
    let request = open.request.digest();
    if open.sponsored {
        out.persist(store::delete_sponsored(&request));
    }
    out.persist(store::delete_request(&request));
    if open.rotates.is_some() {
        // People hear of the proposal.
        return;
    }
    let (member, name) = (open.request.member(), open.request.body().name.clone());
    out.event(Event::RequestClosed { request, member, name, why });
}
