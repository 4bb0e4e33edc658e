//! Saying it again: own votes, own proposals, and requests held for them, until the matter is closed.
//!
//! Every message here may be heard twice without harm, so what is unfinished is simply sent again, at pauses that double,
//! and at once after the membership changed. Nothing unfinished: no timer.

use crate::desk::{Admission, Call};
use crate::message::OpenMessage;
use crate::{Config, Output};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Blob, Entropy, Instant, codec, draw};

/// When to speak again.
#[derive(Debug)]
pub(crate) struct Pause {
    length: Duration,
    due: Option<Instant>,
    soon: bool,
}

impl Pause {
    pub(crate) fn new(config: &Config) -> Self {
        Self { length: config.resend, due: None, soon: false }
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Begin again with the shortest pause.
    pub(crate) fn soon(&mut self) {
        self.soon = true;
    }

    /// Whether it is time; doubles the pause if so.
    pub(crate) fn take(&mut self, now: Instant, config: &Config) -> bool {
        let now_due = self.due.is_some_and(|due| due <= now);
        if now_due {
            self.due = None;
            self.length = self.length.saturating_mul(2).min(config.resend_max);
        }
        now_due
    }

    /// Sets the timer if there is anything to wait for: the pause and up to a quarter more, so that members spread.
    pub(crate) fn arrange(&mut self, now: Instant, busy: bool, config: &Config, entropy: &mut dyn Entropy) {
        if !busy {
            self.due = None;
            self.length = config.resend;
            self.soon = false;
            return;
        }
        if core::mem::take(&mut self.soon) {
            self.length = config.resend;
            self.due = None;
        }
        if self.due.is_none() {
            let [draw] = draw::<1>(entropy);
            let spread = self.length.saturating_mul(u32::from(draw)) / 1024;
            self.due = Some(now + self.length.saturating_add(spread));
        }
    }
}

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
        if !self.pause.take(call.now, &self.config) {
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
