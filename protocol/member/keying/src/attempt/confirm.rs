//! CONFIRM: each party shows, by a MAC, that it has the key, and nobody signs.
//!
//! ```text
//!  key there ─> my MAC, safe ──> all: what I would say in your name? ─┬─ yes ─> confirmed
//!                                                                     └─ no ──> passed over
//! ```
//! Whoever is not in the view can make no MAC. Whoever is can make everybody's, so a MAC is no
//! proof against its party: a node of the ring can put a false one into any party's name, and the
//! right one may still come (decision 0061).

use super::{Attempt, Heard, Took};
use crate::api::Credentials;
use crate::base::{Danger, Service};
use crate::core::Core;
use crate::error::KeyingError;
use crate::message::{CONFIRM, Envelope};
use subtle::ConstantTimeEq as _;

impl Attempt {
    /// Sends this party's CONFIRM: once, after [`Took::Key`].
    pub(crate) fn send_confirmation(&mut self, core: &mut Core) {
        let Some(keys) = &self.keys else { return };
        let body = Envelope::confirmation(&keys.confirmation(&core.me, &self.mine));
        let envelope = self.envelope(CONFIRM, body);
        let agreed = core.config.danger.is(Danger::KeyingKeyListAgreed);
        self.hand_over(core, if agreed { Service::Agreed } else { Service::Safe }, &envelope);
    }

    /// KEY-08, KEY-23: a confirmation proves the same key and the same transcript.
    pub(super) fn confirm(
        &mut self,
        core: &mut Core,
        place: usize,
        heard: Heard<'_>,
        credentials: &dyn Credentials,
    ) -> Result<Took, KeyingError> {
        let sender = heard.sender;
        self.is_own(place, heard)?;
        if self.keys.is_none() || self.confirmed.contains(&place) {
            return Err(KeyingError::PeerOutOfTurn(sender));
        }
        // KEY-12: nobody is heard who is out.
        let known = place == self.me || !credentials.is_out(&sender.member);
        if !known || !self.is_proof(core, heard) {
            if core.config.danger.is(Danger::KeyingBlamesConfirm) {
                self.accuse(core, sender);
            }
            return Err(KeyingError::WireConfirm(sender));
        }
        self.in_its_instance(core, place, heard)?;
        self.confirmed.insert(place);
        self.accept(core, place, heard);
        Ok(if self.confirmed.len() == self.members.len() { Took::Complete } else { Took::Step })
    }

    /// KEY-23: in the one form, without a signature, with the MAC that this party would make in the
    /// sender's place.
    fn is_proof(&self, core: &Core, Heard { sender, envelope, .. }: Heard<'_>) -> bool {
        if core.config.danger.is(Danger::KeyingAnyConfirm) {
            return true;
        }
        let expected = self.keys.as_ref().map(|keys| keys.confirmation(&sender, &envelope.instance));
        match (expected, envelope.mac()) {
            (Some(expected), Some(mac)) => expected.ct_eq(mac).into(),
            _ => false,
        }
    }
}
