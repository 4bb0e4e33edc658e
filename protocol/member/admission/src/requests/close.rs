//! When a request is open no more.

use super::open::Open;
use crate::call::Call;
use crate::desk::Desk;
use crate::message::Reason;
use crate::{Closed, Event, store};
use folkmoot_base::UnixTime;

impl Desk {
    /// Closes the requests that are granted, that objections have ended, or by which nobody can be
    /// admitted any more.
    pub(crate) fn close_settled(&mut self, call: &Call<'_>) {
        let transcript = call.transcript;
        let used = |open: &Open| transcript.roster().is_used(&open.request.digest());
        for open in self.requests.take(used) {
            self.closed(&open, Closed::Granted);
        }
        for open in self.requests.take(|open| open.is_refused(transcript)) {
            self.closed(&open, Closed::Rejected);
            self.tell_over(call, &open, Reason::Objected);
        }
        for open in self.requests.take(|open| open.is_stale(transcript)) {
            self.closed(&open, Closed::Overtaken);
            self.tell_over(call, &open, Reason::Stale);
        }
    }

    pub(crate) fn close_expired(&mut self, call: &Call<'_>, time: UnixTime) {
        for open in self.requests.take(|open| open.expires < time) {
            self.closed(&open, Closed::Expired);
        }
        self.requests.tell_time(call.early());
    }

    /// Tells everybody that a request is closed, after it was taken off the desk.
    pub(crate) fn closed(&mut self, open: &Open, why: Closed) {
        let request = open.request.digest();
        if open.sponsored {
            self.out.persist(store::delete_sponsored(&request));
        }
        self.out.persist(store::delete_request(&request));
        self.out.event(Event::RequestClosed { request, member: open.request.member(), why });
    }
}
