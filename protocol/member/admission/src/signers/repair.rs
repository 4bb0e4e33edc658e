//! A holder that has lost its share of the sharing in use, with its disk or in a run that gave it
//! to the others alone, asks them for it. As many holders as the threshold give it the same share
//! again: nothing has to be decided, and nobody else's share changes or is told.

use super::message::Purpose;
use super::state::{Around, Signers};
use crate::call::Call;
use crate::pause::PATIENCE;
use folkmoot_base::{Danger, MemberId, Secret};
use folkmoot_signing::{Scheme, shared};
use folkmoot_transcript::Roster;

impl Signers {
    /// `ADM-76`: asks while our share is missing. A session to which too few come is over after
    /// [`PATIENCE`], and the next is started as long after that.
    pub(super) fn coordinate_repair(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let never = call.config.danger.is(Danger::AdmissionNeverRepairs);
        if never || !is_due_a_share(roster, &me) || self.shares.holds(roster) {
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
        if coordinator != holder || !(anyone || is_due_a_share(roster, holder)) {
            return false;
        }
        if me == *holder {
            return !self.shares.holds(roster);
        }
        let helps = self.sessions.values().any(|session| {
            session.coordinator == *coordinator
                && session.key.is_some()
                && matches!(session.purpose, Purpose::Repair { .. })
        });
        self.shares.holds(roster) && !helps
    }
}

/// Whether this member is to have a share of the sharing in use, and others can give it: it is one
/// of its holders and votes.
pub(super) fn is_due_a_share(roster: &Roster, member: &MemberId) -> bool {
    let Some(now) = roster.sharing() else { return false };
    let scheme: Scheme = roster.charter().scheme();
    scheme.repairs() && now.facts.holders.contains(member) && roster.may_vote(member)
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
