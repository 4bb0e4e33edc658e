//! What one change does to a state, and whether it may.

use super::{Held, Place, State};
use crate::{Admit, Change, Head, Leave, Unfit};
use bytes::Bytes;
use folkmoot_base::{Danger, MemberId, UnixTime, limits};
use folkmoot_identity::Charter;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most voters in an electorate.
pub const VOTERS_MAX: usize = 256;
/// Most bytes that one signature of each voter may have, all together: 256 of P-256 or Ed25519, 64
/// of RSA with 2048 bits, 42 with 3072. Then a decision with all its signatures fits an item, and a
/// certificate with all its votes.
pub(super) const VOTERS_SIGNATURES_MAX: usize = 256 * 64;

impl State {
    /// Whether this change may be made, given enough approvals. Whoever approves should know.
    ///
    /// # Errors
    /// `LINE-41` to `LINE-49`, `LINE-52`, `LINE-53`, `LINE-90` to `LINE-93`.
    pub fn would_stand(&self, change: &Change, forced: bool, admit: Option<&Admit>) -> Result<(), Unfit> {
        if self.is_over() {
            return Err(Unfit::Over);
        }
        self.check_leave(change, self.time)?;
        self.changed(change, forced, admit).map(|_| ())
    }

    /// The state with this change made. Its number is still that of the state before it.
    pub(crate) fn changed(
        &self,
        change: &Change,
        forced: bool,
        admit: Option<&Admit>,
    ) -> Result<Self, Unfit> {
        let mut next = self.clone();
        let number = self.head.number.saturating_add(1);
        match change {
            Change::Remove { member } => next.remove(*member, number)?,
            Change::Leave(Leave { member, .. }) => next.remove(*member, number)?,
            Change::Charter { field, value } => next.change_charter(&field.0, &value.0, number)?,
            Change::Electorate { voters } => next.elect(voters, number)?,
            Change::Sharing { public, authority } => {
                next.sharing = Some(Arc::new(self.judged_sharing(&public.0, &authority.0)?));
                next.stamps.sharing = number;
            }
            Change::Hold { request } => {
                let admit = admit.filter(|admit| admit.request == *request).ok_or(Unfit::NoAdmit)?;
                let removed =
                    self.removed_at(&admit.member) > admit.base.number || self.is_former(&admit.member);
                if self.is_used(request) || removed || !self.has_place_for(admit) {
                    return Err(Unfit::NotLate);
                }
                next.hold(admit);
            }
            Change::Rotate { member, request, .. } => {
                let admit = admit.filter(|admit| admit.request == *request).ok_or(Unfit::NoAdmit)?;
                next.rotate(*member, admit, number)?;
            }
            Change::Rejoin { head } => {
                self.check_rejoin(head)?;
                next.rejoin = Some(*head);
                next.stamps.rejoin = number;
            }
            Change::Retime { head } => {
                if *head != self.head {
                    return Err(Unfit::Retime);
                }
                // What was approved by then does not act any more.
                next.places.iter_mut().for_each(|place| place.since = number);
            }
        }
        self.check_outcome(&next, forced)?;
        Ok(next)
    }

    /// `LINE-93`: a member's word that it leaves counts until it ends, and for the membership in
    /// which it was given. Who signed it is judged by the transcript.
    pub(super) fn check_leave(&self, change: &Change, time: UnixTime) -> Result<(), Unfit> {
        let Change::Leave(leave) = change else { return Ok(()) };
        if self.is(Danger::LineOldLeave) {
            return Ok(());
        }
        if leave.since < self.removed_at(&leave.member) {
            return Err(Unfit::Leave("it is from before that member was admitted again"));
        }
        if leave.until < time {
            return Err(Unfit::Leave("its time is over"));
        }
        Ok(())
    }

    /// Whether an admission can stand beside the others: its term is not over, nobody else has its
    /// serial number, and there is room for its holder.
    fn has_place_for(&self, admit: &Admit) -> bool {
        let has = |serial| {
            let other = |held: &Held| held.issued == Some(serial) && held.request != admit.request;
            self.revoked.contains_key(&serial) || self.roster.values().any(other)
        };
        let known = self.roster.contains_key(&admit.member);
        admit.ends >= self.time
            && !admit.issued.is_some_and(has)
            && (known || self.roster.len() < limits::MEMBERS_MAX)
    }

    /// Takes an admission into the roster. Of several for one key the latest end stands. Whoever
    /// has a place and was no member has its vote since now: approvals from before were dropped.
    pub(super) fn hold(&mut self, admit: &Admit) {
        if !self.roster.contains_key(&admit.member) {
            let since = self.head.number.saturating_add(1);
            self.places.iter_mut().filter(|one| one.voter == admit.member).for_each(|one| one.since = since);
        }
        self.used.insert(admit.request, admit.ends);
        let before = self.roster.get(&admit.member);
        let later = |held: &Held| (held.ends, held.request) < (admit.ends, admit.request);
        if before.is_none_or(later) {
            self.roster.insert(admit.member, Held::from(admit));
        }
    }

    fn remove(&mut self, member: MemberId, number: u64) -> Result<(), Unfit> {
        let held = self.roster.remove(&member).ok_or(Unfit::NotMember(member))?;
        if self.since(&member).is_some() {
            self.places.retain(|place| place.voter != member);
            self.stamps.electorate = number;
        }
        self.strike(member)?;
        self.stamps.removed.insert(member, number);
        self.revoke(&held);
        Ok(())
    }

    /// The charter's values do nothing for this key any more, until new ones name it.
    pub(super) fn strike(&mut self, member: MemberId) -> Result<(), Unfit> {
        let named = self.charter.policies().fields_naming(&member);
        if named.is_empty() || self.is(Danger::LineNoStrike) {
            return Ok(());
        }
        self.struck.extend(named.into_iter().map(|field| (field, member)));
        self.amend()
    }

    /// Of two certificates with one serial number the later end counts.
    pub(super) fn revoke(&mut self, held: &Held) {
        let Some(serial) = held.issued else { return };
        let end = self.revoked.entry(serial).or_insert(held.ends);
        *end = held.ends.max(*end);
    }

    fn change_charter(&mut self, field: &Bytes, value: &Bytes, number: u64) -> Result<(), Unfit> {
        let text = |bytes: &Bytes| std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Unfit::NotUtf8);
        let (field, value) = (text(field)?, text(value)?);
        // The same value again is another one if it names a key that was struck since.
        let here = self.struck.iter().filter(|(struck, _)| *struck == field);
        let before = self.amended()?.without(here);
        let charter = before.with_change(&field, &value).map_err(Unfit::Charter)?;
        let (old, next) = (self.charter.threshold_rule(), charter.threshold_rule());
        let members = self.roster.len();
        if old != next && !old.may_become(next, members) {
            return Err(Unfit::Threshold { next, members });
        }
        self.struck.retain(|(struck, _)| *struck != field);
        self.changes.insert(field.clone(), value);
        self.stamps.fields.insert(field, number);
        self.amend()
    }

    /// Makes the charter anew from its founding text and the changes.
    pub(super) fn amend(&mut self) -> Result<(), Unfit> {
        self.charter = Arc::new(self.amended()?.without(&self.struck));
        Ok(())
    }

    /// The same with the keys that were struck.
    fn amended(&self) -> Result<Charter, Unfit> {
        self.founding.amended(&self.changes).map_err(Unfit::Charter)
    }

    fn elect(&mut self, voters: &[MemberId], number: u64) -> Result<(), Unfit> {
        let distinct: BTreeSet<&MemberId> = voters.iter().collect();
        let legal = (1..=VOTERS_MAX).contains(&voters.len()) && distinct.len() == voters.len();
        if !legal || !voters.iter().all(|voter| self.roster.contains_key(voter)) {
            return Err(Unfit::Electorate);
        }
        let since = |voter: &MemberId| self.since(voter).unwrap_or(number);
        let places: Vec<Place> =
            voters.iter().map(|voter| Place { voter: *voter, since: since(voter) }).collect();
        if places == self.places {
            return Err(Unfit::Electorate);
        }
        self.places = places;
        self.stamps.electorate = number;
        self.check_room()
    }

    /// `LINE-89`: what all voters sign has room.
    pub(super) fn check_room(&self) -> Result<(), Unfit> {
        let keys = self.places.iter().filter_map(|place| self.roster.get(&place.voter));
        let bytes = keys.map(|held| held.key.algorithm().signature_bytes());
        let bytes = bytes.fold(0_usize, usize::saturating_add);
        if bytes > VOTERS_SIGNATURES_MAX && !self.is(Danger::LineLongSignatures) {
            return Err(Unfit::Signatures { bytes });
        }
        Ok(())
    }

    /// `LINE-52`: a line to go over to left ours by another decision for a number that is recent
    /// here.
    fn check_rejoin(&self, head: &Head) -> Result<(), Unfit> {
        let ours = self.decision_at(head.number).filter(|_| head.number > 0);
        match ours {
            _ if self.is(Danger::LineRejoinAnywhere) => Ok(()),
            None => Err(Unfit::Rejoin("no recent decision of ours has its number")),
            Some(ours) if ours == *head => Err(Unfit::Rejoin("it is a decision of this line")),
            Some(_) => Ok(()),
        }
    }
}

impl From<&Admit> for Held {
    fn from(admit: &Admit) -> Self {
        Self {
            request: admit.request,
            name: admit.name.clone(),
            key: admit.key.clone(),
            ends: admit.ends,
            issued: admit.issued,
        }
    }
}
