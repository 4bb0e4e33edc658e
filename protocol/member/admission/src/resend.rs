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
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Effect, Item};

impl Desk {
    /// Whether anything would be sent again.
    pub(crate) fn has_unfinished(&self, call: &Call<'_>) -> bool {
        let me = call.me();
        let requests = self.requests.iter().any(|open| {
            open.concerns(call.transcript, &me, &self.guests) || self.granted_elsewhere(call, open).is_some()
        });
        let proposed = self.proposals.iter().any(|(_, proposal)| proposal.proposer == me);
        let deciding = self.deciding.status().is_some_and(|status| !status.proposed.is_empty());
        requests || proposed || deciding || !self.words.is_empty() || !self.unsaid(call).is_empty()
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
        let own = self.proposals.iter().filter(|(_, proposal)| proposal.proposer == me);
        messages.extend(own.map(|(_, one)| OpenMessage::Proposal { effect: one.effect.clone() }));
        for message in messages {
            self.out.multicast(&message);
        }
        for effect in self.unsaid(call) {
            self.out.item(Item::Effect(effect).encode());
        }
        self.resend_words();
        self.resend_ballots(call);
    }

    /// Effects that this member approves and the transcript does not have.
    fn unsaid(&self, call: &Call<'_>) -> Vec<Effect> {
        let yes = |effect: &Effect| self.own_verdict(call, &effect.subject()) == Some(Verdict::Approve);
        let open = self.proposals.iter().map(|(_, proposal)| &proposal.effect);
        let missing = open.filter(|effect| call.transcript.set().effect(&effect.subject()).is_none());
        missing.filter(|effect| yes(effect)).cloned().collect()
    }
}
