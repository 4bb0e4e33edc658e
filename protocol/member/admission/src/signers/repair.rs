//! A holder that has lost its share of the sharing in use, with its disk or in a run that gave it
//! to the others alone, asks them for it. As many holders as the threshold give it the same share
//! again: nothing has to be decided, and nobody else's share changes or is told. Where they cannot,
//! the authority does it if it can (`again.rs`).

use super::message::Purpose;
use super::state::{Around, Signers};
use crate::call::Call;
use crate::pause::PATIENCE;
use crate::roster::{may_be_repaired, may_be_told_again, wants_sharing};
use crate::status::{ShareStatus, ShareWay};
use core::time::Duration;
use folkmoot_base::{Danger, Instant, MemberId, Secret};
use folkmoot_signing::shared;
use folkmoot_transcript::Roster;

/// How long somebody that said that it has lost its share counts as one that asks. It asks each
/// 10 s.
const LOST: Duration = Duration::from_secs(30);

impl Signers {
    /// `ADM-76`: asks while our share is missing. A session to which too few come is over after
    /// [`PATIENCE`], and the next is started as long after that.
    pub(super) fn coordinate_repair(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let never = call.config.danger.is(Danger::AdmissionNeverRepairs);
        if never || !comes_back(roster, &me) || self.shares.holds(roster) {
            self.repair = None;
            return;
        }
        let of_ours = |purpose: &Purpose| *purpose == Purpose::Repair { holder: me };
        if self.sessions.values().any(|session| session.coordinator == me && of_ours(&session.purpose)) {
            self.repair = self.repair.map(|due| due.max(call.now + PATIENCE));
            return;
        }
        if self.repair.is_some_and(|due| due > call.now) {
            return;
        }
        self.repair = Some(call.now + PATIENCE.saturating_mul(2));
        self.start_session(call, Purpose::Repair { holder: me }, around);
    }

    /// Notes who says that it has lost its share.
    pub(super) fn note_lost(&mut self, call: &Call<'_>, coordinator: &MemberId, purpose: &Purpose) {
        self.lost.retain(|_, at| call.now.since(*at) < LOST);
        if *purpose == (Purpose::Repair { holder: *coordinator })
            && comes_back(call.transcript.roster(), coordinator)
        {
            self.lost.insert(*coordinator, call.now);
        }
    }

    /// `ADM-89`: how it stands with the shares of the sharing in use.
    pub(crate) fn share_status(&self, now: Instant, me: &MemberId, roster: &Roster) -> Option<ShareStatus> {
        let facts = &roster.sharing()?.facts;
        let place = facts.holders.iter().position(|holder| holder == me);
        let held = self.shares.holds(roster);
        let way = if held {
            ShareWay::Held
        } else if place.is_none() {
            if roster.may_vote(me) && wants_sharing(roster, me) { ShareWay::Next } else { ShareWay::NotOurs }
        } else if may_be_repaired(roster, me) {
            ShareWay::Others
        } else if may_be_told_again(roster, me) {
            ShareWay::Authority
        } else {
            ShareWay::Lost
        };
        let asks = self.lost.iter().filter(|(holder, at)| *holder != me && now.since(**at) < LOST);
        Some(ShareStatus {
            epoch: facts.epoch,
            number: place.map(|place| place.saturating_add(1)),
            holders: facts.holders.len(),
            threshold: facts.threshold,
            signers: roster.charter().scheme().signers(facts.threshold),
            way,
            asking: asks.map(|(holder, _)| *holder).collect(),
        })
    }

    /// A run to repair a share is done: those who helped have theirs.
    pub(super) fn take_repaired(
        &mut self,
        call: &Call<'_>,
        public: &[u8],
        share: Option<Secret<Vec<u8>>>,
        around: &mut Around<'_>,
    ) {
        let Some(share) = share else { return };
        let (scheme, me) = (call.transcript.roster().charter().scheme(), call.me());
        match shared::check_share(scheme, public, &me, &share) {
            Ok(()) => self.shares.keep_repaired(call, (public, share), around.entropy, around.out),
            Err(error) => around.out.trace(format!("no share came: {error}")),
        }
    }

    /// `ADM-77`: whether this member takes part when `holder` asks for its share: as that holder,
    /// if it has none; else if it has one itself, and helps that holder nowhere else now.
    pub(super) fn is_willing_to_repair(
        &self,
        call: &Call<'_>,
        coordinator: &MemberId,
        holder: &MemberId,
    ) -> bool {
        let (me, roster) = (call.me(), call.transcript.roster());
        let anyone = call.config.danger.is(Danger::AdmissionRepairsAnyone);
        if coordinator != holder || !(anyone || comes_back(roster, holder)) {
            return false;
        }
        if me == *holder {
            return !self.shares.holds(roster);
        }
        if may_be_told_again(roster, holder) {
            return false;
        }
        let helps = self.sessions.values().any(|session| {
            session.coordinator == *coordinator
                && session.key.is_some()
                && matches!(session.purpose, Purpose::Repair { .. })
        });
        self.shares.holds(roster) && !helps
    }
}

/// Whether this member is to have a share of the sharing in use, and somebody can give it again:
/// other holders, or the authority.
pub(super) fn comes_back(roster: &Roster, member: &MemberId) -> bool {
    may_be_repaired(roster, member) || may_be_told_again(roster, member)
}

/// `ADM-78`: exactly as many holders as the threshold help one that is due a share, which does not
/// help itself, and nobody else gets anything.
pub(super) fn are_helpers(
    roster: &Roster,
    holder: &MemberId,
    givers: &[MemberId],
    takers: &[MemberId],
) -> Result<(), &'static str> {
    let now = roster.sharing().ok_or("the key to be shared does not exist")?;
    let hold = givers.iter().all(|giver| now.facts.holders.contains(giver) && giver != holder);
    if givers.len() != now.facts.threshold || !hold {
        return Err("it names too many or too few helpers, or some without a share");
    }
    if takers != [*holder] {
        return Err("a share that is lost would go to somebody else than its holder");
    }
    Ok(())
}
