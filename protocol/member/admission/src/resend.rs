//! Sending again: own words, own proposals, and the requests that they concern, until the matter is
//! closed.
//!
//! Every message here may be heard twice without harm. So whatever is unfinished is sent again, at
//! pauses that double, and at once after the membership changed. If nothing is unfinished, no timer
//! runs.

use crate::call::Call;
use crate::desk::Desk;
use crate::message::OpenMessage;
use folkmoot_base::Blob;

impl Desk {
    /// Whether anything would be sent again.
    pub(crate) fn has_unfinished(&self, call: &Call<'_>) -> bool {
        let me = call.me();
        let requests = self.requests.iter().any(|open| {
            open.concerns(call.transcript, &me, &self.guests) || self.granted_elsewhere(call, open).is_some()
        });
        requests || self.voting.has_unfinished(call) || self.deciding.has_unfinished()
    }

    pub(crate) fn resend_if_due(&mut self, call: &Call<'_>) {
        if !self.pause.take(call.now) {
            return;
        }
        let me = call.me();
        let mut messages = Vec::new();
        for open in self.requests.iter().filter(|open| open.concerns(call.transcript, &me, &self.guests)) {
            messages.push(OpenMessage::Request { cms: Blob::from(open.request.der().to_vec()) });
        }
        let granted = self.requests.iter().filter_map(|open| self.granted_elsewhere(call, open));
        messages.extend(granted.map(|der| OpenMessage::Granted { der: Blob(der.clone()) }));
        let open: Vec<_> = self.requests.iter().map(|open| open.request.digest()).collect();
        for digest in open {
            self.enter_sponsored(call, &digest);
        }
        for message in messages {
            self.out.multicast(&message);
        }
        self.voting.resend(call, &mut self.out);
        self.deciding.resend(call, &mut self.out);
    }
}
