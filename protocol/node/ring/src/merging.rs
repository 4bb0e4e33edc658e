//! When a ring that stands is left for a larger set (RING-17), and how often that may be tried in
//! vain (RING-19).
//!
//! A set that takes in whole rings is formed at once. A set that splits a ring waits, since the
//! links that are still missing may be on their way. If a gather began for more nodes and ended
//! without any, the next one waits longer each time.

use crate::context::Context;
use crate::hearing::choice;
use core::time::Duration;
use folkmoot_base::{Instant, NodeId};

/// The first time to hold off; doubles.
const HOLD: Duration = Duration::from_millis(500);
/// The longest.
const HOLD_MAX: Duration = Duration::from_secs(8);

/// What was tried, and which sets are in sight.
#[derive(Debug, Default)]
pub(crate) struct Merging {
    /// The gather under way was begun here for a larger set.
    tried: bool,
    in_vain: u32,
    not_before: Instant,
    /// A larger set that splits a ring, and since when it has been in sight.
    in_sight: Option<(Vec<NodeId>, Instant)>,
}

impl Merging {
    /// A gather begins.
    pub(crate) fn gather(&mut self, for_more: bool) {
        self.tried = for_more;
        self.in_sight = None;
    }

    /// It ended with `members` where `before` were.
    pub(crate) fn formed(&mut self, now: Instant, before: &[NodeId], members: &[NodeId]) {
        if members.iter().any(|node| before.binary_search(node).is_err()) {
            self.in_vain = 0;
            self.not_before = now;
        } else if self.tried {
            self.not_before = now + HOLD.saturating_mul(1 << self.in_vain.min(16)).min(HOLD_MAX);
            self.in_vain = self.in_vain.saturating_add(1);
        }
        self.tried = false;
    }

    /// When to look again, if something waits.
    pub(crate) fn wake(&self, now: Instant, split_delay: Duration) -> Option<Instant> {
        let hold = Some(self.not_before).filter(|at| *at > now);
        let split = self.in_sight.as_ref().map(|(_, since)| *since + split_delay);
        [hold, split].into_iter().flatten().filter(|at| *at > now).min()
    }
}

/// The node outside the ring of `members` that should be in one ring with us now. `asked`: a node
/// that gathers asks for us.
pub(crate) fn newcomer(now: Instant, members: &[NodeId], asked: bool, ctx: &mut Context) -> Option<NodeId> {
    let set = choice(&ctx.config.me, &ctx.hears(now), |node| ctx.candidates.report(node));
    if set.len() <= members.len() {
        ctx.merging.in_sight = None;
        return None;
    }
    if now < ctx.merging.not_before {
        return None;
    }
    let first = set.iter().find(|node| members.binary_search(node).is_err()).copied();
    let covers = |ring: &[NodeId]| ring.iter().all(|node| set.binary_search(node).is_ok());
    let bound = |node: &NodeId| ctx.candidates.report(node).filter(|report| report.bound);
    let whole = covers(members) && set.iter().filter_map(bound).all(|report| covers(&report.wants));
    if whole || asked {
        return first;
    }
    let known = ctx.merging.in_sight.as_ref().filter(|(known, _)| *known == set).map(|(_, since)| *since);
    let since = known.unwrap_or(now);
    ctx.merging.in_sight = Some((set, since));
    first.filter(|_| now.since(since) >= ctx.config.timing.split_delay)
}
