//! The list of the group's certificates that hold no more: who has it made, who signs it, who keeps
//! it, and who tells others.
//!
//! ```text
//! a removal --> the roster says more than the kept list --> voters by turns: Start(Revoke)
//! each signer has the list; the first participant tells all, the next if it does not --> all keep it
//! one who still has an older list, or none: a voter starts a session, another asks --> one who has the list tells all
//! ```
//! Promise: a signer signs a list only if it is exactly what the signer's own roster says, from
//! about now. A member keeps one list: a newer one takes its place if the group's key signed it and
//! it says nothing that the member's own transcript does not.

use super::message::Purpose;
use super::session::SigningSession;
use super::share::Shares;
use crate::call::{Call, Out};
use crate::message::OpenMessage;
use crate::pause::PATIENCE;
use crate::roster::{TURN, turn};
use crate::{AdmissionError, store};
use core::time::Duration;
use folkmoot_base::{Blob, Instant, MemberId};
use folkmoot_identity::{Mode, RevocationBody, RevocationError, RevocationList};
use folkmoot_transcript::{Roster, Transcript};

/// Turns are counted up to here; all members after that speak together.
const TURNS_MAX: usize = 64;
/// How often a voter lets another coordinate in its place.
const HEEDED_MAX: u32 = 2;
/// Pauses between tries double so often: from 5 s to 80 s.
const DOUBLINGS_MAX: u32 = 4;

/// The kept list, and what is to be done for a newer one.
#[derive(Debug, Default)]
pub(super) struct Revocations {
    kept: Option<RevocationList>,
    /// When to have a newer one made, or to ask for it.
    wanted: Option<Instant>,
    /// How often that was tried.
    tries: u32,
    /// When to tell the others.
    tell: Option<Instant>,
    /// When somebody last told it.
    told: Option<Instant>,
}

impl Revocations {
    pub(super) fn due(&self) -> Option<Instant> {
        [self.wanted, self.tell].into_iter().flatten().min()
    }

    /// Loads the kept list. One that the group's key has not signed is no loss: it is made again.
    pub(super) fn load(&mut self, transcript: &Transcript, der: &[u8]) {
        let Ok(Some(authority)) = transcript.roster().issuer() else { return };
        self.kept = RevocationList::from_der(der, &authority).ok();
    }

    /// The newest list that this member has.
    pub(super) fn kept(&self) -> Option<&RevocationList> {
        self.kept.as_ref()
    }

    /// Tells the list if that is due. Returns the session that this member is to coordinate for a
    /// newer one, if it is and none is at work.
    pub(super) fn work(&mut self, call: &Call<'_>, at_work: bool, out: &mut Out) -> Option<Purpose> {
        if self.tell.is_some_and(|due| due <= call.now) {
            self.tell_all(call, out);
        }
        let (me, roster) = (call.me(), call.transcript.roster());
        if !self.is_behind(roster) {
            (self.wanted, self.tries) = (None, 0);
            return None;
        }
        let votes = roster.may_vote(&me);
        let turn = if votes { turn(roster, &me) } else { PATIENCE + place(roster, &me) };
        let due = *self.wanted.get_or_insert(call.now + turn);
        if due > call.now {
            return None;
        }
        let pause = PATIENCE.saturating_mul(1 << self.tries.min(DOUBLINGS_MAX));
        self.tries = self.tries.saturating_add(1);
        self.wanted = Some(call.now + pause + turn);
        if votes && roster.charter().mode() == Mode::Decentralised {
            if at_work { None } else { next_list(call, out) }
        } else {
            self.tell_all(call, out);
            None
        }
    }

    /// Whether the roster says more than the kept list.
    fn is_behind(&self, roster: &Roster) -> bool {
        let said = self.kept.as_ref().map_or(0, |list| list.body().number());
        said < roster.revocation_number()
    }

    /// `ADM-47`: whether this member would sign the list: it is due, we hold a share, those who
    /// left could not have made it, and it is what our own roster says, from about now on.
    pub(super) fn is_right(&self, call: &Call<'_>, tbs: &[u8], shares: &Shares) -> bool {
        let roster = call.transcript.roster();
        let Some(sharing) = roster.sharing().filter(|_| self.is_behind(roster)) else { return false };
        let safe = roster.leavers_with_shares().len() < sharing.facts.threshold;
        if !safe || shares.of(&sharing.public).is_none() {
            return false;
        }
        let Some(body) = read(roster, tbs) else { return false };
        let clock = call.clock.unwrap_or_default();
        let near = body.this_update().0.abs_diff(clock.0) <= call.config.skew_seconds.saturating_mul(3);
        near && roster.revocations(body.this_update()) == Ok(Some(body))
    }

    /// Somebody coordinates a session for a list. If rightly so, we need not do it for a while, but
    /// no coordinator puts us off for ever. If not, we may have the list that it lacks.
    pub(super) fn heed(&mut self, call: &Call<'_>, willing: bool) {
        if !willing {
            return self.offer(call);
        }
        if self.tries < HEEDED_MAX {
            self.tries = self.tries.saturating_add(1);
            let turn = turn(call.transcript.roster(), &call.me());
            self.wanted = Some(call.now + PATIENCE + turn);
        }
    }

    /// The run ended in a signature: keeps the list, and tells it if the participants before us do
    /// not.
    pub(super) fn take(
        &mut self,
        call: &Call<'_>,
        session: &SigningSession,
        tbs: &[u8],
        signature: &[u8],
        out: &mut Out,
    ) {
        let body = read(call.transcript.roster(), tbs).ok_or(RevocationError::WireMalformed);
        match body.and_then(|body| RevocationList::close(&body, signature)) {
            Ok(list) => {
                let me = call.me();
                let givers = session.participants.iter().flat_map(|participants| &participants.givers);
                let before = givers.take_while(|giver| **giver != me).count();
                if self.keep(list, out) {
                    self.tell = Some(call.now + turns(before));
                }
            }
            Err(error) => out.trace(format!("the group's signature does not stand: {error}")),
        }
    }

    /// `ADM-48`: takes a list that replaces the kept one and says nothing that our transcript does
    /// not. The sender of an older list, or of none, asks for ours.
    pub(super) fn hear(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        der: &[u8],
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let refuse = |error| AdmissionError::PeerRevocations(sender, error);
        let roster = call.transcript.roster();
        let authority = roster.issuer().map_err(|error| refuse(RevocationError::LocalAuthority(error)))?;
        let Some(authority) = authority else {
            return Err(AdmissionError::PeerSigner(sender, "this group has no signing key and no authority"));
        };
        if der.is_empty() {
            self.offer(call);
            return Ok(());
        }
        if self.kept.as_ref().is_some_and(|kept| kept.der() == der) {
            (self.tell, self.told) = (None, Some(call.now));
            return Ok(());
        }
        let list = RevocationList::from_der(der, &authority).map_err(refuse)?;
        if !is_known(roster, list.body()) {
            return Err(AdmissionError::PeerRevocationsAhead(sender));
        }
        if self.keep(list, out) {
            self.told = Some(call.now);
        } else {
            self.offer(call);
        }
        Ok(())
    }

    /// Somebody may not have our list: we tell it when it is our turn, unless another does, and not
    /// again and again.
    fn offer(&mut self, call: &Call<'_>) {
        if self.kept.is_none() {
            return;
        }
        let rested = self.told.map_or(call.now, |told| call.now.max(told + PATIENCE));
        let turn = place(call.transcript.roster(), &call.me());
        self.tell.get_or_insert(rested + turn);
    }

    /// The authority told us: we tell the others, unless it tells them too.
    pub(super) fn spread(&mut self, call: &Call<'_>, der: &[u8]) {
        if self.kept.as_ref().is_some_and(|kept| kept.der() == der) {
            let turn = place(call.transcript.roster(), &call.me());
            self.tell.get_or_insert(call.now + turn);
        }
    }

    fn tell_all(&mut self, call: &Call<'_>, out: &mut Out) {
        (self.tell, self.told) = (None, Some(call.now));
        let der = self.kept.as_ref().map(|kept| kept.der().clone()).unwrap_or_default();
        out.multicast(&OpenMessage::Revocations { der: der.into() });
    }

    /// Keeps the list, on disk first, if it replaces the one there is.
    fn keep(&mut self, list: RevocationList, out: &mut Out) -> bool {
        if self.kept.as_ref().is_some_and(|kept| !list.supersedes(kept)) {
            return false;
        }
        out.persist(store::put_revocations(&list));
        self.tell = None;
        self.kept = Some(list);
        true
    }
}

/// The list that the roster calls for now.
fn next_list(call: &Call<'_>, out: &mut Out) -> Option<Purpose> {
    call.clock?;
    // Made a little in the past, so that it is already valid by clocks that are slow.
    let made = call.transcript.roster().revocations(call.early());
    match made.and_then(|body| body.map(|body| body.tbs()).transpose()) {
        Ok(tbs) => tbs.map(|tbs| Purpose::Revoke { tbs: Blob::from(tbs) }),
        Err(error) => {
            out.trace(format!("no revocation list: {error}"));
            None
        }
    }
}

/// Whether a list says nothing that the roster does not, and says all of it if it is as new.
fn is_known(roster: &Roster, body: &RevocationBody) -> bool {
    let known = body.serials().iter().all(|serial| roster.revoked().contains_key(serial));
    let older = body.number() < roster.revocation_number();
    known && (older || roster.revocations(body.this_update()).ok().flatten().as_ref() == Some(body))
}

fn read(roster: &Roster, tbs: &[u8]) -> Option<RevocationBody> {
    let authority = roster.issuer().ok()??;
    RevocationBody::from_tbs(tbs, &authority).ok()
}

/// How long a member lets those before it speak: the voters in their order, then the others.
fn place(roster: &Roster, me: &MemberId) -> Duration {
    if roster.may_vote(me) {
        return turn(roster, me);
    }
    let others = roster.members().keys().position(|member| member == me).unwrap_or_default();
    turns(roster.electorate().len().saturating_add(others))
}

fn turns(count: usize) -> Duration {
    TURN.saturating_mul(u32::try_from(count.min(TURNS_MAX)).unwrap_or_default())
}
