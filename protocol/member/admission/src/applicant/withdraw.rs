//! A stranger asks no more.

use super::{Applicant, Phase};
use crate::Output;
use crate::message::{GuestMessage, Withdrawal};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, Instant, codec};
use folkmoot_identity::{Identity, Request};
use folkmoot_transcript::Transcript;

impl Applicant {
    /// The request by which it asks.
    pub fn asks_by(&self) -> Option<Digest> {
        let certified = || self.certificate.as_ref().and_then(|gmc| gmc.body().request_digest().ok());
        self.request.as_ref().map(Request::digest).or_else(certified)
    }

    /// A person asks no more. Said again, it is sent again. The digest is the request's; `None` if
    /// nothing was asked.
    pub fn withdraw(
        &mut self,
        now: Instant,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Option<Digest> {
        if self.phase == Phase::Admitted {
            return None;
        }
        let request = self.take_back(transcript, identity);
        self.notice_admission(transcript, identity);
        self.pause.arrange(now, false, entropy);
        request
    }

    /// `ADM-91`: takes the request back, and tells every contact.
    fn take_back(&mut self, transcript: &Transcript, identity: &Identity) -> Option<Digest> {
        if let Some(request) = self.asks_by() {
            self.withdrawn = Some(Withdrawal::sign(&transcript.group(), request, identity));
            self.start_over();
        }
        self.over = true;
        let withdrawal = self.withdrawn.clone()?;
        let request = withdrawal.request;
        let payload = Bytes::from(codec::encode(&GuestMessage::Withdraw { withdrawal }));
        for to in self.contacts.iter().copied() {
            self.out.push_back(Output::Guest { to, payload: payload.clone() });
        }
        Some(request)
    }
}
