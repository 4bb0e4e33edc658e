//! RING-30: when the token is late, the members ask one another who is there.
//!
//! ```text
//! token late --ASK to all--> heard? not asked again --token lost--> gather without those who said nothing
//! ```
//! So a gather need not wait for a member that has crashed. Whoever is heard in time, in any frame
//! of this ring, is there. A member that is asked begins to ask too, if it misses the token as
//! well. Then all have asked for about as long when the first of them gathers.

use super::Circuit;
use crate::config::Timing;
use crate::message::{Ask, Control};
use crate::order::bit;
use crate::output::Output;
use folkmoot_base::{Instant, NodeId};
use std::collections::VecDeque;

/// How often a member is asked while the token is late.
const TIMES: u32 = 4;

/// The members are asked whether they are there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking {
    since: Instant,
    /// When those are asked again that were not heard.
    again: Instant,
    /// Members that were heard since, by index.
    heard: u64,
}

impl Circuit {
    /// When to ask, if the token does not come.
    pub(super) fn ask_at(&self, timing: &Timing) -> Instant {
        self.asking.map_or(Instant(self.loss_at.0.saturating_sub(micros(timing))), |asking| asking.again)
    }

    /// The token is late: asks those that were not heard since.
    pub(super) fn ask(&mut self, now: Instant, timing: &Timing, out: &mut VecDeque<Output>) {
        let heard = bit(self.mine.into());
        let asking = self.asking.get_or_insert(Asking { since: now, again: now, heard });
        asking.again = now + timing.ask / TIMES;
        let heard = asking.heard;
        let frame = Control::Ask(Ask { ring: self.order.ring(), answer: 0 }).encode();
        let members = self.order.members.iter().enumerate();
        for (_, to) in members.filter(|(index, _)| heard & bit(*index) == 0) {
            out.push_back(Output::Send { to: *to, frame: frame.clone() });
        }
    }

    /// An ASK: answered, unless it is an answer.
    pub(crate) fn asked(
        &mut self,
        now: Instant,
        from: &NodeId,
        ask: &Ask,
        timing: &Timing,
        out: &mut VecDeque<Output>,
    ) {
        if self.index_of(from).is_none() {
            return;
        }
        self.is_there(from);
        if ask.answer == 1 {
            return;
        }
        let frame = Control::Ask(Ask { ring: self.order.ring(), answer: 1 }).encode();
        out.push_back(Output::Send { to: *from, frame });
        // Not soon after the token was here: no member can make all others ask all the time.
        let missed = self.pace.came_at().is_none_or(|at| now.since(at) >= timing.token_loss / 4);
        if missed && self.asking.is_none() && self.idle.is_none() {
            self.ask(now, timing, out);
        }
    }

    /// A frame of this ring came from a member.
    pub(super) fn is_there(&mut self, from: &NodeId) {
        if self.asking.is_none() {
            return;
        }
        if let (Some(index), Some(asking)) = (self.index_of(from), self.asking.as_mut()) {
            asking.heard |= bit(index.into());
        }
    }

    /// The members that were asked and said nothing, if they had time enough to answer.
    pub(crate) fn silent(&self, now: Instant, timing: &Timing) -> Vec<NodeId> {
        let enough = (timing.ask * 3 / 4).max(timing.trip * 9 / 8);
        let enough = |asking: &Asking| now.since(asking.since) >= enough;
        let Some(asking) = self.asking.filter(enough) else { return Vec::new() };
        let members = self.order.members.iter().enumerate();
        members.filter(|(index, _)| asking.heard & bit(*index) == 0).map(|(_, node)| *node).collect()
    }
}

fn micros(timing: &Timing) -> u64 {
    u64::try_from(timing.ask.as_micros()).unwrap_or(u64::MAX)
}
