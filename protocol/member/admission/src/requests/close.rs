//! When a request is open no more.

use super::Requests;
use super::open::Open;
use crate::call::{Call, Out};
use crate::message::Reason;
use crate::{Closed, Event, store};
use folkmoot_base::UnixTime;

impl Requests {
    /// Closes the requests that are granted, that objections have ended, or by which nobody can be
    /// admitted any more.
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
        for open in self.open.take(|open| open.is_stale(transcript)) {
            closed(&open, Closed::Overtaken, out);
            self.tell_over(call, &open, Reason::Stale, out);
        }
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
