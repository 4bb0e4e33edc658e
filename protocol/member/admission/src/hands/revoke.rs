//! The list of the group's certificates that hold no more: who has it made, who signs it, who keeps it, and who tells others.
//!
//! ```text
//! a removal --> the roster says more than the kept list --> voters by turns: Convene(Revoke)
//! each signer has the list; the first seated tells all, the next if it does not --> all keep it
//! who still has an older one, or none: a voter convenes, another asks --> one who has it tells all
//! ```
//! Promise: a list is signed if it is exactly what a hand's own roster says, from about now; it is kept if the group's key signed it,
//! it takes the place of the one kept, and it says nothing that the own transcript does not. One is kept.

use super::convene::turn;
use super::{Hands, PATIENCE, Purpose, TURN, Table};
use crate::desk::{Admission, Call};
use crate::message::OpenMessage;
use crate::{AdmissionError, Output, store};
use core::time::Duration;
use folkmoot_base::{Blob, Entropy, Instant, MemberId, UnixTime};
use folkmoot_identity::{Mode, RevocationBody, RevocationError, RevocationList, Roster, Transcript};

/// Turns are counted to here, then all the rest speak together.
const TURNS_MAX: usize = 64;
/// How often a voter lets another lead in its place.
const HEEDED_MAX: u32 = 2;
/// Pauses between tries double so often: from 5 s to 80 s.
const DOUBLINGS_MAX: u32 = 4;

/// The kept list, and what is to be done for a newer one.
#[derive(Debug, Default)]
pub(crate) struct Revoked {
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

impl Revoked {
    pub(crate) fn due(&self) -> Option<Instant> {
        [self.wanted, self.tell].into_iter().flatten().min()
    }
}

impl Admission {
    /// The newest revocation list of the group's key that this member has; none where nobody was expelled whom the key had certified.
    pub fn revocations(&self) -> Option<&RevocationList> {
        self.hands.revoked.kept.as_ref()
    }

    pub(crate) fn work_revocations(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        if self.hands.revoked.tell.is_some_and(|due| due <= call.now) {
            self.tell_revocations(call);
        }
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        if !self.wants_revocations(roster) {
            (self.hands.revoked.wanted, self.hands.revoked.tries) = (None, 0);
            return;
        }
        let votes = roster.may_vote(&me);
        let turn = if votes { turn(roster, &me) } else { PATIENCE + place(roster, &me) };
        let due = *self.hands.revoked.wanted.get_or_insert(call.now + turn);
        if due > call.now {
            return;
        }
        let pause = PATIENCE.saturating_mul(1 << self.hands.revoked.tries.min(DOUBLINGS_MAX));
        self.hands.revoked.tries = self.hands.revoked.tries.saturating_add(1);
        self.hands.revoked.wanted = Some(call.now + pause + turn);
        if votes && roster.charter().mode() == Mode::Decentralised {
            self.lead_revocations(call, entropy);
        } else {
            self.tell_revocations(call);
        }
    }

    /// Whether the roster says more than the kept list.
    fn wants_revocations(&self, roster: &Roster) -> bool {
        let said = self.hands.revoked.kept.as_ref().map_or(0, |list| list.body().number());
        said < count(roster)
    }

    fn lead_revocations(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let busy = |table: &Table| matches!(table.purpose, Purpose::Revoke { .. });
        let Some(clock) = self.clock.filter(|_| !self.hands.tables.values().any(busy)) else { return };
        // Made a little in the past, so that it holds by clocks that are late.
        let now = UnixTime(clock.0.saturating_sub(self.config.skew_seconds));
        let made = RevocationBody::of(call.transcript.roster(), now)
            .and_then(|body| body.map(|body| body.tbs()).transpose());
        match made {
            Ok(Some(tbs)) => self.convene(call, Purpose::Revoke { tbs: Blob::from(tbs) }, entropy),
            Ok(None) => {}
            Err(error) => self.trace(format!("no revocation list: {error}")),
        }
    }

    /// `ADM-47`: whether this member would sign the list: it is due, we hold a share, no leavers could have made it, and it is what our
    /// own roster says, from about now on.
    pub(crate) fn is_right_list(&self, call: &Call<'_>, tbs: &[u8]) -> bool {
        let roster = call.transcript.roster();
        let Some(sharing) = roster.sharing().filter(|_| self.wants_revocations(roster)) else { return false };
        let safe = roster.leavers_with_shares().len() < sharing.facts.threshold;
        if !safe || self.hands.shares.of(&sharing.public).is_none() {
            return false;
        }
        let Some(body) = read(roster, tbs) else { return false };
        let clock = self.clock.unwrap_or_default();
        let near = body.this_update().0.abs_diff(clock.0) <= self.config.skew_seconds.saturating_mul(3);
        near && RevocationBody::of(roster, body.this_update()) == Ok(Some(body))
    }

    /// Somebody leads. Rightly: we need not, for a while, but no leader puts us off for ever. Else it may be that we have the list
    /// which it misses.
    pub(crate) fn heed_revocations(&mut self, call: &Call<'_>, willing: bool) {
        if !willing {
            return self.offer_revocations(call);
        }
        if self.hands.revoked.tries < HEEDED_MAX {
            self.hands.revoked.tries = self.hands.revoked.tries.saturating_add(1);
            let turn = turn(call.transcript.roster(), &call.identity.member());
            self.hands.revoked.wanted = Some(call.now + PATIENCE + turn);
        }
    }

    /// The run has come to a signature: keep the list, and tell it if those seated before us do not.
    pub(crate) fn take_revocations(&mut self, call: &Call<'_>, table: &Table, tbs: &[u8], signature: &[u8]) {
        let body = read(call.transcript.roster(), tbs).ok_or(RevocationError::WireMalformed);
        match body.and_then(|body| RevocationList::close(&body, signature)) {
            Ok(list) => {
                let me = call.identity.member();
                let givers = table.seats.iter().flat_map(|seats| &seats.givers);
                let before = givers.take_while(|giver| **giver != me).count();
                if self.keep_revocations(list) {
                    self.hands.revoked.tell = Some(call.now + turns(before));
                }
            }
            Err(error) => self.trace(format!("the group's signature does not stand: {error}")),
        }
    }

    /// `ADM-48`: a list that takes the place of the kept one and says nothing that our transcript does not. An older one, or none,
    /// asks for ours.
    pub(crate) fn hear_revocations(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        der: &[u8],
    ) -> Result<(), AdmissionError> {
        let refuse = |error| AdmissionError::PeerRevocations(sender, error);
        let roster = call.transcript.roster();
        let authority = roster.issuer().map_err(|error| refuse(RevocationError::LocalAuthority(error)))?;
        let Some(authority) = authority else {
            return Err(AdmissionError::PeerHand(
                sender,
                "this group has no key of its own, and no authority",
            ));
        };
        if der.is_empty() {
            self.offer_revocations(call);
            return Ok(());
        }
        if self.hands.revoked.kept.as_ref().is_some_and(|kept| kept.der() == der) {
            (self.hands.revoked.tell, self.hands.revoked.told) = (None, Some(call.now));
            return Ok(());
        }
        let list = RevocationList::from_der(der, &authority).map_err(refuse)?;
        if !is_known(roster, list.body()) {
            return Err(AdmissionError::PeerRevocationsAhead(sender));
        }
        if self.keep_revocations(list) {
            self.hands.revoked.told = Some(call.now);
        } else {
            self.offer_revocations(call);
        }
        Ok(())
    }

    /// Somebody may not have ours: we tell it when it is our turn, unless another does; not again and again.
    pub(crate) fn offer_revocations(&mut self, call: &Call<'_>) {
        if self.hands.revoked.kept.is_none() {
            return;
        }
        let rested = self.hands.revoked.told.map_or(call.now, |told| call.now.max(told + PATIENCE));
        let turn = place(call.transcript.roster(), &call.identity.member());
        self.hands.revoked.tell.get_or_insert(rested + turn);
    }

    /// The authority told us: the others hear it from us, unless it tells them too.
    pub(crate) fn spread_revocations(&mut self, call: &Call<'_>, der: &[u8]) {
        if self.hands.revoked.kept.as_ref().is_some_and(|kept| kept.der() == der) {
            let turn = place(call.transcript.roster(), &call.identity.member());
            self.hands.revoked.tell.get_or_insert(call.now + turn);
        }
    }

    fn tell_revocations(&mut self, call: &Call<'_>) {
        (self.hands.revoked.tell, self.hands.revoked.told) = (None, Some(call.now));
        let der = self.hands.revoked.kept.as_ref().map(|kept| kept.der().clone()).unwrap_or_default();
        self.multicast(&OpenMessage::Revocations { der: der.into() });
    }

    /// Keeps it, on disk first, if it takes the place of the one there is.
    fn keep_revocations(&mut self, list: RevocationList) -> bool {
        if self.hands.revoked.kept.as_ref().is_some_and(|kept| !list.supersedes(kept)) {
            return false;
        }
        self.out.push_back(Output::Persist(store::put_revocations(&list)));
        self.hands.revoked.tell = None;
        self.hands.revoked.kept = Some(list);
        true
    }
}

impl Hands {
    /// The list as it was kept. One that the group's key has not signed is no loss: it is made again.
    pub(crate) fn load_revocations(&mut self, transcript: &Transcript, der: &[u8]) {
        let Ok(Some(authority)) = transcript.roster().issuer() else { return };
        self.revoked.kept = RevocationList::from_der(der, &authority).ok();
    }
}

/// How many certificates of the group's key were revoked, ever.
fn count(roster: &Roster) -> u64 {
    u64::try_from(roster.revoked().len()).unwrap_or(u64::MAX)
}

/// Whether a list says nothing that the roster does not, and is whole if it is as new.
fn is_known(roster: &Roster, body: &RevocationBody) -> bool {
    let known = body.serials().iter().all(|serial| roster.revoked().contains_key(serial));
    let older = body.number() < count(roster);
    known && (older || RevocationBody::of(roster, body.this_update()).ok().flatten().as_ref() == Some(body))
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
    let others = roster.members().position(|held| held.member == *me).unwrap_or_default();
    turns(roster.electorate().voters.len().saturating_add(others))
}

fn turns(count: usize) -> Duration {
    TURN.saturating_mul(u32::try_from(count.min(TURNS_MAX)).unwrap_or_default())
}
