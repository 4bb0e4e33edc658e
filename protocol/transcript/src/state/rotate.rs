//! Another key for a member: what the state asks of it, and what becomes of the old one.
//!
//! ```text
//! old key   no member, its stamp is a removal's, its certificate is revoked, and it is nobody's ever after
//! new key   the old one's place in the electorate, since this decision; a share of the group's key by a new sharing
//! ```

use super::{Place, REPLACED_MAX, Replaced, State};
use crate::{Admit, Unfit};
use folkmoot_base::{Danger, MemberId};
use folkmoot_identity::Dealer;

impl State {
    /// The old key is out like an expelled one; the new one has its place from now on.
    pub(super) fn rotate(&mut self, member: MemberId, admit: &Admit, number: u64) -> Result<(), Unfit> {
        if self.roster.contains_key(&admit.member) || self.is_used(&admit.request) {
            return Err(Unfit::NotLate);
        }
        if self.is_former(&admit.member) || self.removed_at(&admit.member) > 0 {
            return Err(Unfit::FormerKey(admit.member));
        }
        let before = self.clone();
        let held = self.roster.remove(&member).ok_or(Unfit::NotMember(member))?;
        self.revoke(&held);
        self.strike(member)?;
        self.stamps.removed.insert(member, number);
        self.note_replaced(member, Replaced { by: admit.member, number });
        if let Some(place) = self.places.iter_mut().find(|place| place.voter == member) {
            *place = Place { voter: admit.member, since: number };
            self.stamps.electorate = number;
        }
        self.hold(admit);
        self.check_room()?;
        self.check_sharers(&member)?;
        before.check_signed(admit)
    }

    fn note_replaced(&mut self, member: MemberId, replaced: Replaced) {
        self.replaced.insert(member, replaced);
        while self.replaced.len() > REPLACED_MAX {
            let first = self.replaced.iter().min_by_key(|(member, one)| (one.number, **member));
            let Some(first) = first.map(|(member, _)| *member) else { return };
            self.replaced.remove(&first);
        }
    }

    /// `LINE-91`: whether this member could have another key, as far as the group's key and its
    /// authority go. The new key gets its share by a new sharing, and the old share must be worth
    /// nothing then.
    ///
    /// # Errors
    /// [`Unfit::Rotation`].
    pub fn may_rotate(&self, member: &MemberId) -> Result<(), Unfit> {
        let mut without = self.clone();
        without.roster.remove(member);
        without.check_sharers(member)
    }

    fn check_sharers(&self, member: &MemberId) -> Result<(), Unfit> {
        let refuse = |why| Err(Unfit::Rotation(why));
        let central = self.charter.central();
        if self.is_for_authority() {
            return refuse(
                "the authority alone decides who comes in, so it lets the new key in, and the old one leaves",
            );
        }
        let Some(sharing) = self.sharing().filter(|now| now.facts.holders.contains(member)) else {
            return Ok(());
        };
        if self.is(Danger::LineLosesShares) {
            return Ok(());
        }
        if self.charter.is_dealt_once() {
            return refuse(
                "the shares of the group's key were dealt once, and the new key could not get one",
            );
        }
        let keeps = central.is_some_and(|central| central.dealer == Some(Dealer::Keeps));
        let stay = sharing.facts.holders.iter().filter(|holder| self.may_vote(holder)).count();
        if !keeps && stay < sharing.facts.threshold {
            return refuse("so few others hold shares of the group's key that they could not make new ones");
        }
        Ok(())
    }

    /// `LINE-92`: where the group's key or an authority signs certificates, it has signed this one,
    /// under the present shares.
    fn check_signed(&self, admit: &Admit) -> Result<(), Unfit> {
        if self.charter.holder_signs() || self.is(Danger::LineUnsignedKey) {
            return Ok(());
        }
        let signed = admit.issued.is_some() && self.check_epoch(admit).is_ok();
        if signed { Ok(()) } else { Err(Unfit::Unsigned) }
    }
}
