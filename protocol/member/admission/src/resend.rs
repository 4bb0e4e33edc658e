//! Sending again: own votes, own proposals, and the requests that they concern, until the matter is
//! closed.
//!
//! Every message here may be heard twice without harm. So whatever is unfinished is sent again, at
//! pauses that double, and at once after the membership changed. If nothing is unfinished, no timer
//! runs.

use crate::Output;
use crate::desk::{Admission, Call};
use crate::message::OpenMessage;
use bytes::Bytes;
use folkmoot_base::{Blob, codec};

impl Admission {
    /// Whether anything would be sent again.
    pub(crate) fn has_unfinished(&self, call: &Call<'_>) -> bool {
        let me = call.identity.member();
        let requests = self
            .requests
            .iter()
            .any(|open| open.concerns(&me, &self.guests) || self.granted_elsewhere(call, open).is_some());
        requests || self.ballots.concerns(&me)
    }

    pub(crate) fn resend_if_due(&mut self, call: &Call<'_>) {
        if !self.pause.take(call.now) {
            return;
        }
        let me = call.identity.member();
        let mut messages = Vec::new();
        for open in self.requests.iter().filter(|open| open.concerns(&me, &self.guests)) {
            messages.push(OpenMessage::Request { cms: Blob::from(open.request.der().to_vec()) });
            if let Some(vote) = open.votes.get(&me) {
                messages.push(OpenMessage::Vote { cms: Blob::from(vote.der().to_vec()) });
            }
        }
        let granted = self.requests.iter().filter_map(|open| self.granted_elsewhere(call, open));
        messages.extend(granted.map(|der| OpenMessage::Granted { der: Blob(der.clone()) }));
        let open: Vec<_> = self.requests.iter().map(|open| open.request.digest()).collect();
        for digest in open {
            self.refuse_for_good(call, &digest);
            self.enter_sponsored(call, &digest);
        }
        messages.extend(self.ballots.own_messages(&me));
        for message in messages {
            self.out.push_back(Output::Multicast(Bytes::from(codec::encode(&message))));
        }
    }
}
