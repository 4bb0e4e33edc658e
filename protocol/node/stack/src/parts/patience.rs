//! No node can stop the others by being silent in one step (DECISIONS K4). A node may keep the ring
//! going and still not send what the group layer waits for. It is then left out of the next
//! configuration, and may come back after a while.

use crate::parts::Outbox;
use base::limits::STEP_DEADLINE;
use base::{Instant, NodeId};
use core::time::Duration;
use folkmoot_base as base;
use folkmoot_group::Group;
use std::collections::{BTreeMap, BTreeSet};

/// How long the tables of a new configuration may take to merge before the awaited nodes are left
/// out. This is longer than members wait for one another, so that a silent member is set aside
/// before its node is. If a charter gives its members longer steps, its nodes get twice that
/// ([`crate::Config::settle`]).
pub(crate) const SETTLE_DEADLINE: Duration = Duration::from_millis(2 * 3_000);
/// The longest time for which a node is left out because of one silence.
const BARRED_MAX: Duration = Duration::from_secs(60);
/// A process that does so much later what was due has stood still.
const STILL: Duration = Duration::from_millis(500);

const _: () = assert!(SETTLE_DEADLINE.as_millis() == 2 * STEP_DEADLINE.as_millis());

/// Since when we wait, and which nodes we have left out.
#[derive(Debug)]
pub(crate) struct Patience {
    /// How long the tables may take where round trips take no time.
    least: Duration,
    /// The same in the present configuration.
    settle: Duration,
    since: Option<Instant>,
    barred: BTreeMap<NodeId, Barred>,
}

#[derive(Debug, Clone, Copy)]
struct Barred {
    until: Instant,
    span: Duration,
}

impl Patience {
    pub(crate) fn new(settle: Duration) -> Self {
        Self { least: settle, settle, since: None, barred: BTreeMap::new() }
    }

    /// A configuration begins: its tables are to be merged. Its members wait for one another for
    /// `patience` in each step. NODE-24: where that is long, the tables may take longer.
    pub(crate) fn begin(&mut self, now: Instant, patience: Duration) {
        self.since = Some(now);
        self.settle = self.least.max(patience * 3);
    }

    /// This node looks so much later than it meant to: it stood still. Nobody is blamed for what
    /// did not come meanwhile.
    pub(crate) fn stood_still(&mut self, late: Duration) {
        if let Some(since) = self.since.as_mut().filter(|_| late >= STILL) {
            *since = *since + late;
        }
    }

    /// Whether this node is left out now.
    pub(crate) fn is_barred(&self, now: Instant, node: &NodeId) -> bool {
        self.barred.get(node).is_some_and(|barred| now < barred.until)
    }

    fn bar(&mut self, now: Instant, node: NodeId) {
        let first = self.settle;
        let span = self.barred.get(&node).map_or(first, |barred| barred.span.saturating_mul(2));
        let span = span.min(BARRED_MAX);
        self.barred.insert(node, Barred { until: now + span, span });
    }

    /// Leaves out nodes that have been awaited for too long, and lets nodes come back whose time is
    /// over. Of the tables of charters that the ring carries, `silent` are those whose word is
    /// awaited there.
    pub(crate) fn lose(&mut self, now: Instant, group: &Group, silent: Vec<NodeId>, out: &mut Outbox) {
        let mut awaited: BTreeSet<NodeId> = group.awaited().into_iter().collect();
        awaited.extend(silent);
        if group.is_settled() && awaited.is_empty() {
            self.since = None;
        }
        if self.since.is_some_and(|since| now.since(since) >= self.settle) {
            self.since = Some(now);
            for node in &awaited {
                out.trace("group", format!("{node} has not said who lives on it: left out for a while"));
                self.bar(now, *node);
            }
        }
        // A node that has behaved for as long as it was left out is forgiven. A node that is
        // awaited again has not behaved yet.
        let behaves =
            |node: &NodeId, barred: &Barred| now >= barred.until + barred.span && !awaited.contains(node);
        self.barred.retain(|node, barred| !behaves(node, barred));
    }
}
