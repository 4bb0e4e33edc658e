//! A stranger asks no more.

use super::Applicant;
use crate::Output;
use crate::message::{GuestMessage, Withdrawal};
use bytes::Bytes;
use folkmoot_base::codec;
use folkmoot_identity::{Identity, Request};
use folkmoot_transcript::Transcript;

impl Applicant {
    /// `ADM-91`: takes the request back, and tells every contact. Said again, it is sent again.
    pub(super) fn withdraw(&mut self, transcript: &Transcript, identity: &Identity) {
        let certified = || self.certificate.as_ref().and_then(|gmc| gmc.body().request_digest().ok());
        let asked = self.request.as_ref().map(Request::digest).or_else(certified);
        if let Some(request) = asked {
            self.withdrawn = Some(Withdrawal::sign(&transcript.group(), request, identity));
            self.start_over();
        }
        self.over = true;
        let Some(withdrawal) = self.withdrawn.clone() else { return };
        let payload = Bytes::from(codec::encode(&GuestMessage::Withdraw { withdrawal }));
        for to in self.contacts.iter().copied() {
            self.out.push_back(Output::Guest { to, payload: payload.clone() });
        }
    }
}
