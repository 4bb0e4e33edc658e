//! Sending again: own words, own proposals, and the requests that they concern, until the matter is
//! closed.
//!
//! Every message here may be heard twice without harm. So whatever is unfinished is sent again, at
//! pauses that double, and at once after the membership changed. If nothing is unfinished, no timer
//! runs.

use crate::call::Call;
use crate::desk::Desk;

impl Desk {
    /// Whether anything would be sent again.
    pub(crate) fn has_unfinished(&self, call: &Call<'_>) -> bool {
        let requests = self.requests.has_unfinished(call, self.authority.is_linked());
        requests || self.voting.has_unfinished(call) || self.deciding.has_unfinished()
    }

    pub(crate) fn resend_if_due(&mut self, call: &Call<'_>) {
        if !self.pause.take(call.now) {
            return;
        }
        self.requests.resend(call, self.authority.is_linked(), &mut self.out);
        self.voting.resend(call, &mut self.out);
        self.deciding.resend(call, &mut self.out);
    }
}
