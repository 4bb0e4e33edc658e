//! Shares that the charter's authority deals, and what the group's key signs if the authority signs
//! the certificate.

use super::message::{Purpose, SignerBody};
use super::session::SigningSession;
use super::share::{Waiting, in_use};
use super::start::say;
use super::state::{Around, Signers};
use crate::authority::{AuthorityMessage, Dealt, SignedReady, dealt_info};
use crate::call::{Call, Out};
use crate::requests::Open;
use crate::{AdmissionError, Event};
use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, Secret};
use folkmoot_identity::{Combined, Mode, SharedKey};
use folkmoot_signing::shared::{self, SharingFacts};
use folkmoot_transcript::Roster;

/// What the signers sign under this share-epoch to grant a request: the request if an authority
/// signs the certificate, else the certificate.
pub(super) fn certified(roster: &Roster, open: &Open, now: &SharedKey, epoch: Digest) -> Option<Vec<u8>> {
    let body = open.request.body();
    match roster.charter().mode() {
        Mode::Centralised => body.combined_message(&epoch).ok(),
        Mode::Decentralised => body.issued_under(epoch).issued_tbs(&now.facts.key).ok(),
    }
}

impl Signers {
    /// The coordinator of a session whose signers are ready asks the authority to deal to them.
    pub(super) fn ask_to_deal(&self, call: &Call<'_>, name: Digest, around: &mut Around<'_>) {
        let Some(session) = self.sessions.get(&name) else { return };
        let Purpose::Deal { threshold } = session.purpose else { return };
        let Some(participants) = session.participants.as_ref().filter(|_| session.coordinator == call.me())
        else {
            return;
        };
        let said = |member: &MemberId| {
            session
                .ready
                .get(member)
                .map(|ready| SignedReady { member: *member, message: ready.message.clone() })
        };
        let Some(ready) = participants.takers.iter().map(said).collect::<Option<Vec<_>>>() else { return };
        if let Some(node) = around.authority.node(self.attempts) {
            around.out.tell(node, &AuthorityMessage::Deal { session: name, threshold, ready });
        }
    }

    /// The coordinator passes on what the authority dealt, once, if the participants would take it.
    pub(crate) fn pass_on_dealt(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        dealt: Dealt,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let again = |session: &SigningSession| matches!(session.purpose, Purpose::Repair { .. });
        if self.sessions.get(&name).is_some_and(again) {
            return self.pass_on_again(call, name, dealt, out);
        }
        let coordinates =
            |session: &&mut SigningSession| session.coordinator == call.me() && !session.passed_on;
        let Some(session) = self.sessions.get_mut(&name).filter(coordinates) else { return Ok(()) };
        judge(call, &name, session, &dealt)?;
        session.passed_on = true;
        // The coordinator, like everybody, takes its own share from its message at its place in the
        // order.
        say(call, name, SignerBody::Dealt { dealt }, out);
        Ok(())
    }

    /// `ADM-58`: takes what one of the authority's nodes dealt to exactly the participants, of the
    /// key that there is.
    pub(super) fn hear_dealt(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        name: Digest,
        dealt: Dealt,
        around: &mut Around<'_>,
    ) -> Result<(), AdmissionError> {
        let Some(session) = self.sessions.get(&name) else { return Ok(()) };
        if matches!(session.purpose, Purpose::Repair { .. }) {
            return self.hear_again(call, name, &dealt, around);
        }
        if sender != session.coordinator {
            return Err(AdmissionError::PeerDealt(
                "they do not come from the coordinator of the signing session",
            ));
        }
        let (facts, dealer) = judge(call, &name, session, &dealt)?;
        let share = self.my_share(call, &name, &dealt, dealer);
        self.sessions.remove(&name);
        match share {
            Some(share) => {
                let public = dealt.public.0;
                let after = in_use(call.transcript.roster()).unwrap_or_default();
                let (share, authority) = (Some(share), Some(Bytes::new()));
                let since = Some(call.now);
                let waiting = Waiting { facts, after, public, share, authority, anew: true, since };
                self.shares.keep_waiting(call, waiting, around.entropy, around.out);
            }
            None => {
                around.out.trace("the authority dealt a share that does not fit");
                around.out.event(Event::SignerLied { member: dealer });
            }
        }
        if sender == call.me() {
            self.wanted = self.wanted.map(|_| call.now);
        }
        Ok(())
    }

    fn my_share(
        &self,
        call: &Call<'_>,
        name: &Digest,
        dealt: &Dealt,
        dealer: MemberId,
    ) -> Option<Secret<Vec<u8>>> {
        let me = call.me();
        let key = self.sessions.get(name)?.key.as_ref()?;
        let private = dealt.to_each.iter().find(|private| private.to == me)?;
        let share = Secret::new(key.open(&dealt_info(name, &dealer, &me), &private.sealed)?);
        let scheme = call.transcript.roster().charter().scheme();
        shared::check_share(scheme, &dealt.public.0, &me, &share).ok()?;
        Some(share)
    }

    /// The group's key has signed a request: the signature goes on to the authority.
    pub(super) fn take_combined(
        &mut self,
        call: &Call<'_>,
        request: Digest,
        signature: &[u8],
        around: &mut Around<'_>,
    ) {
        let Some(now) = call.transcript.roster().sharing() else { return };
        let Some(open) = around.requests.get(&request) else { return };
        let Ok(message) = open.request.body().combined_message(&now.facts.epoch) else { return };
        if now.facts.key.verify_raw(&message, signature).is_err() {
            return around.out.trace("the group's signature does not stand");
        }
        let (me, done) = (call.me(), Purpose::Certify { request });
        self.sessions.retain(|_, session| session.coordinator != me || session.purpose != done);
        let combined = Combined { epoch: now.facts.epoch, signature: signature.to_vec() };
        around.requests.take_combined(call, request, combined, around.out);
    }
}

/// `ADM-58`: the sharing and its dealer, if it was dealt to this session and fits it.
fn judge(
    call: &Call<'_>,
    name: &Digest,
    session: &SigningSession,
    dealt: &Dealt,
) -> Result<(SharingFacts, MemberId), AdmissionError> {
    let refuse = |what| Err(AdmissionError::PeerDealt(what));
    let (Purpose::Deal { threshold }, Some(participants)) = (&session.purpose, &session.participants) else {
        return refuse("nothing is dealt in this signing session");
    };
    let Some(dealer) = dealt.dealer(call.transcript, name) else {
        return refuse("the charter's authority did not sign them");
    };
    match fair(call.transcript.roster(), dealt, *threshold, &participants.takers) {
        Some(facts) => Ok((facts, dealer)),
        None => refuse("they have another key, another threshold or other holders"),
    }
}

/// The sharing's facts, if it has this threshold and these holders, and is of the group's key if
/// there is one.
fn fair(roster: &Roster, dealt: &Dealt, threshold: u32, takers: &[MemberId]) -> Option<SharingFacts> {
    let facts = shared::facts(roster.charter().scheme(), &dealt.public.0).ok()?;
    let same_key = roster.sharing().is_none_or(|now| now.facts.key == facts.key);
    let fits = usize::try_from(threshold) == Ok(facts.threshold) && facts.holders == takers;
    (same_key && fits).then_some(facts)
}
