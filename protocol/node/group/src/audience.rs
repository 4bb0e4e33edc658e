//! The parties attached to this node.

use core::ops::RangeInclusive;
use folkmoot_base::{MemberId, Party};
use std::collections::{BTreeMap, BTreeSet};

/// The parties attached here.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    pub(crate) attached: BTreeSet<Party>,
    /// The highest number among the words of each that went through this node.
    numbers: BTreeMap<Party, u64>,
    /// Detach messages still on their way. Until they are back, the party hears nothing from
    /// before.
    detaching: BTreeMap<Party, u32>,
}

impl Audience {
    pub(crate) fn hears(&self, party: &Party) -> bool {
        self.attached.contains(party) && !self.detaching.contains_key(party)
    }

    /// The attached parties of `member`.
    pub(crate) fn of(&self, member: MemberId) -> Vec<Party> {
        self.attached.range(parties_of(member)).copied().collect()
    }

    /// `party` says its word with this number.
    pub(crate) fn says(&mut self, party: Party, number: u64) {
        let highest = self.numbers.entry(party).or_default();
        *highest = number.max(*highest);
    }

    /// The highest of them. A party that is gone has no other: what it says later, it says anew.
    pub(crate) fn highest(&mut self, party: &Party) -> u64 {
        let highest = self.numbers.get(party).copied().unwrap_or_default();
        if !self.attached.contains(party) {
            self.numbers.remove(party);
        }
        highest
    }

    pub(crate) fn detaching(&mut self, party: Party) {
        let count = self.detaching.entry(party).or_default();
        *count = count.saturating_add(1);
    }

    pub(crate) fn detached(&mut self, party: &Party) {
        let Some(count) = self.detaching.get_mut(party) else { return };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.detaching.remove(party);
        }
    }
}

/// Every party that `member` can have.
pub(crate) fn parties_of(member: MemberId) -> RangeInclusive<Party> {
    Party::new(member, 0)..=Party::new(member, u16::MAX)
}
