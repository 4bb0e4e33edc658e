//! A lost share once more: where members cannot repair it, the dealer says to its holder what it
//! has dealt.

use super::machine::{Authority, Call, Last};
use super::message::{AuthorityMessage, Dealt, SignedReady, dealt_info};
use crate::roster::{is_dealers, may_be_told_again};
use crate::signers::session_name;
use crate::{AdmissionError, PrivateMessage, Purpose, SignerBody};
use core::time::Duration;
use folkmoot_base::sealing::{Classic, seal};
use folkmoot_base::{Blob, Danger, Entropy, MemberId, digest};
use folkmoot_signing::shared;

/// Time between two answers.
const AGAIN_PAUSE: Duration = Duration::from_secs(2);

impl Authority {
    /// `ADM-87`: a holder has lost its share and asks for it, through whoever is linked here.
    pub(super) fn hear_again(
        &mut self,
        call: &Call<'_>,
        asker: MemberId,
        attempt: u32,
        ready: &SignedReady,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        let refuse = |what| AdmissionError::PeerDeal(asker, what);
        self.is_lost(call, attempt, ready).map_err(refuse)?;
        let session = ready.message.session;
        if let Some(last) = self.said.as_ref().filter(|last| last.session == session) {
            let dealt = last.dealt.clone();
            self.tell(asker.node(), &AuthorityMessage::Dealt { session, dealt });
            return Ok(());
        }
        if self.tried.is_some_and(|at| call.now.since(at) < AGAIN_PAUSE) {
            return Err(refuse("the last deal was less than 2 s ago"));
        }
        if !self.config.danger.is(Danger::AdmissionDealsToAnyone) {
            ready.message.verify(call.transcript, &ready.member)?;
        }
        self.tried = Some(call.now);
        let dealt = self.say_again(call, ready, entropy).map_err(refuse)?;
        self.said = Some(Last { session, dealt: dealt.clone() });
        self.again = self.again.saturating_add(1);
        self.trace(format!("the share of {} was said again", ready.member));
        self.tell(asker.node(), &AuthorityMessage::Dealt { session, dealt });
        Ok(())
    }

    /// Whether, by our own transcript, that holder is to have a share, we deal them, and it is its
    /// own session in which the holder asks.
    fn is_lost(&self, call: &Call<'_>, attempt: u32, ready: &SignedReady) -> Result<(), &'static str> {
        let (roster, holder) = (call.transcript.roster(), ready.member);
        if self.office.secret.is_none() || !is_dealers(roster) {
            return Err("the secret is erased, or nothing is dealt here");
        }
        if roster.sharing().is_none_or(|now| Some(&now.facts.key) != self.group_key.as_ref()) {
            return Err("the group's key is not the one that this authority deals");
        }
        if !may_be_told_again(roster, &holder) {
            return Err("that member is to have no share, or the others can repair it");
        }
        let named = session_name(call.transcript, &holder, &Purpose::Repair { holder }, attempt);
        let fits = matches!(&ready.message.body, SignerBody::Ready { key } if key.0.len() == 32);
        if ready.message.session == named && fits {
            Ok(())
        } else {
            Err("its holder does not ask for it there, or asks from another transcript")
        }
    }

    fn say_again(
        &self,
        call: &Call<'_>,
        ready: &SignedReady,
        entropy: &mut dyn Entropy,
    ) -> Result<Dealt, &'static str> {
        let (roster, me, to) = (call.transcript.roster(), call.identity.member(), ready.member);
        let now = roster.sharing().ok_or("there is no sharing")?;
        let secret = self.office.secret.as_ref().ok_or("the secret is erased")?;
        let share = shared::deal_again(roster.charter().scheme(), secret, &now.public, &to);
        let share = share.map_err(|_| "this authority has not dealt the sharing in use so")?;
        let SignerBody::Ready { key } = &ready.message.body else { return Err("nobody is ready") };
        let session = ready.message.session;
        let sealed = seal::<Classic>(&key.0, &dealt_info(&session, &me, &to), share.expose(), entropy);
        let sealed = sealed.ok_or("its one-time key is malformed")?;
        let named = Blob::from(digest(&[&now.public]).to_vec());
        Ok(Dealt::sign(call.transcript, call.identity, &session, named, vec![PrivateMessage { to, sealed }]))
    }
}
