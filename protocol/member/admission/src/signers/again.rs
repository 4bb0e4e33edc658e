//! A lost share where members cannot repair one another's: the authority's dealer says it again.
//! Its holder asks in the order, as anywhere. Whoever is linked with the authority hands that in,
//! and passes on what comes back.
//!
//! ```text
//! holder     Start(Repair), Ready(one-time key) -->  all, in one order
//! a member   Again ----------> authority             the holder at once, if it is linked with it; else the others by turns
//!            Dealt <----------                       the same share, sealed to the one-time key
//! a member   Dealt -------------------------------->  all; the holder takes it
//! ```

use super::message::{Purpose, SignerBody};
use super::session::SigningSession;
use super::share::in_use;
use super::start::say;
use super::state::{Around, Signers};
use crate::authority::{AuthorityMessage, Dealt, SignedReady, dealt_info};
use crate::call::{Call, Out};
use crate::roster::{TURN, may_be_told_again};
use crate::{AdmissionError, Event};
use folkmoot_base::{Digest, Instant, MemberId, Secret};
use folkmoot_transcript::Roster;

/// How many turns those who are not the holder take among them: a session lasts little longer.
const TURNS: usize = 4;

/// `ADM-88`: when this member hands in, for its holder, what this session is for.
pub(super) fn hands_in_at(call: &Call<'_>, coordinator: &MemberId, purpose: &Purpose) -> Option<Instant> {
    let Purpose::Repair { holder } = purpose else { return None };
    let (me, roster) = (call.me(), call.transcript.roster());
    if holder != coordinator || !may_be_told_again(roster, holder) {
        return None;
    }
    let place = roster.members().keys().position(|member| *member == me).unwrap_or_default();
    let turns = u32::try_from(place.checked_rem(TURNS).unwrap_or_default()).unwrap_or_default();
    let wait = TURN.saturating_mul(turns.saturating_add(1));
    Some(if me == *holder { call.now } else { call.now + wait })
}

impl Signers {
    /// `ADM-88`: hands in to the authority what is due, once for each session.
    pub(super) fn hand_in_lost(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        for session in self.sessions.values_mut() {
            let Some((_, attempt)) = session.hands_in.filter(|(at, _)| *at <= call.now) else { continue };
            let holder = session.coordinator;
            // Its key comes right behind its start, or never.
            let Some(message) = session.ready.get(&holder).map(|ready| ready.message.clone()) else {
                continue;
            };
            session.hands_in = None;
            if let Some(node) = around.authority.node(attempt) {
                let ready = SignedReady { member: holder, message };
                around.out.tell(node, &AuthorityMessage::Again { attempt, ready });
            }
        }
    }

    /// The authority said a share again: it goes on to all, once.
    pub(super) fn pass_on_again(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        dealt: Dealt,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let Some(session) = self.sessions.get_mut(&name).filter(|session| !session.passed_on) else {
            return Ok(());
        };
        judge(call, &name, session, &dealt)?;
        session.passed_on = true;
        say(call, name, SignerBody::Dealt { dealt }, out);
        Ok(())
    }

    /// `ADM-88`: the holder takes what one of the authority's nodes said to it, whoever passes it
    /// on, if it is the share that the sharing in use says that it has.
    pub(super) fn hear_again(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        dealt: &Dealt,
        around: &mut Around<'_>,
    ) -> Result<(), AdmissionError> {
        let Some(session) = self.sessions.get(&name) else { return Ok(()) };
        let dealer = judge(call, &name, session, dealt)?;
        let roster = call.transcript.roster();
        let me = call.me();
        self.lost.remove(&session.coordinator);
        if session.coordinator != me || !of_sharing_in_use(roster, dealt) {
            // One of a sharing that is over by now changes nothing.
            self.sessions.remove(&name);
            return Ok(());
        }
        let sealed = dealt.to_each.first().map(|private| &private.sealed);
        let opened = session.key.as_ref().zip(sealed);
        let opened = opened.and_then(|(key, sealed)| key.open(&dealt_info(&name, &dealer, &me), sealed));
        self.sessions.remove(&name);
        let public = roster.sharing().map(|now| now.public.clone()).unwrap_or_default();
        self.take_repaired(call, &public, opened.map(Secret::new), around);
        if !self.shares.holds(roster) {
            around.out.trace("the authority said a share again that does not fit");
            around.out.event(Event::SignerLied { member: dealer });
        }
        Ok(())
    }
}

fn of_sharing_in_use(roster: &Roster, dealt: &Dealt) -> bool {
    in_use(roster).is_some_and(|now| now[..] == dealt.public.0[..])
}

/// Who dealt it, if one of the authority's nodes said it in this session, to its holder alone.
fn judge(
    call: &Call<'_>,
    name: &Digest,
    session: &SigningSession,
    dealt: &Dealt,
) -> Result<MemberId, AdmissionError> {
    let refuse = |what| Err(AdmissionError::PeerDealt(what));
    let Some(dealer) = dealt.dealer(call.transcript, name) else {
        return refuse("the charter's authority did not sign them");
    };
    match dealt.to_each.as_slice() {
        [one] if one.to == session.coordinator => Ok(dealer),
        _ => refuse("a share that is lost would go to somebody else than its holder"),
    }
}
