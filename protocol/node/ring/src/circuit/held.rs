//! RING-40: in a far ring, members say at once how far they hold the order, if a safe message waits
//! for that.
//!
//! ```text
//! record and packets --> all hold them --HELD, each to all--> all know that all hold them: safe
//! ```
//! The token says the same (ORD-03), and needs two rounds to tell it to all. So nothing is lost if
//! a HELD is.

use super::Circuit;
use crate::config::{Config, FAR};
use crate::message::{Control, Held};
use crate::order::Order;
use crate::output::Output;
use folkmoot_base::{Danger, NodeId};
use std::collections::VecDeque;

/// RING-45: in a larger ring HELD would cost more than it saves: each of n members says it to all
/// others, up to once for each of n messages. There RING-48 does not hold either.
pub(super) const HELD_MEMBERS_MAX: usize = 8;

/// How far each member said that it holds the order, on the token or by HELD.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// By index.
    members: Vec<u64>,
    /// What all hold as the token has said it.
    pub(super) by_token: u64,
    /// What this member told last.
    told: u64,
}

impl Said {
    pub(super) fn says(&mut self, index: usize, held: u64) {
        if self.members.len() <= index {
            self.members.resize(index.saturating_add(1), 0);
        }
        if let Some(known) = self.members.get_mut(index) {
            *known = held.max(*known);
        }
    }

    /// What all hold: the others as they said, and this member as it does.
    fn all(&self, order: &Order) -> u64 {
        let mine = usize::from(order.mine);
        let others = (0..order.members.len()).filter(|index| *index != mine);
        let said = others.map(|index| self.members.get(index).copied().unwrap_or(0));
        said.chain([order.held()]).min().unwrap_or(0)
    }
}

impl Circuit {
    /// A member says how far it holds the order. Whether it is one.
    pub(crate) fn held_came(&mut self, from: &NodeId, held: Held) -> bool {
        let Some(index) = self.index_of(from) else { return false };
        self.is_there(from);
        self.said.says(index.into(), held.held.into());
        true
    }

    /// What all are known to hold is safe. If a safe message waits here for that, the others are
    /// told how far this member holds the order, once. Returns whether more has become safe.
    pub(crate) fn agree_on_held(&mut self, config: &Config, out: &mut VecDeque<Output>) -> bool {
        let off = [Danger::RingSafeByVisits, Danger::RingHeldByToken];
        let off = off.into_iter().any(|danger| config.danger.is(danger));
        let many = self.size() > HELD_MEMBERS_MAX && !config.danger.is(Danger::RingHeldByMany);
        if config.timing.trip < FAR || self.is_alone() || off || many {
            return false;
        }
        let (held, before) = (self.order.held(), self.order.safe);
        self.order.safe = self.said.all(&self.order).max(before);
        if self.order.delivered() < held && held > self.said.told {
            self.said.told = held;
            let held = u32::try_from(held).unwrap_or(u32::MAX);
            let frame = Control::Held(Held { ring: self.order.ring(), held }).encode();
            let others = self.others.iter();
            out.extend(others.map(|to| Output::Send { to: *to, frame: frame.clone() }));
        }
        self.order.safe > before
    }
}
