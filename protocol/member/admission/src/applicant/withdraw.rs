//! A stranger asks no more.

use super::Applicant;
use crate::Output;
use crate::message::{GuestMessage, Withdrawal};
use bytes::Bytes;
use folkmoot_base::{Digest, codec};
use folkmoot_identity::{Identity, Request};
use folkmoot_transcript::Transcript;

impl Applicant {
    /// The request by which it asks.
    pub fn asks_by(&self) -> Option<Digest> {
        let certified = || self.certificate.as_ref().and_then(|gmc| gmc.body().request_digest().ok());
        self.request.as_ref().map(Request::digest).or_else(certified)
    }

    /// `ADM-91`: takes the request back, and tells every contact.
    pub(super) fn take_back(&mut self, transcript: &Transcript, identity: &Identity) -> Option<Digest> {
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
