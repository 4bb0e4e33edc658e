//! The nodes that may take part in a ring: what each said of the nodes that it hears, and how long
//! it is set aside.
//!
//! A node counts as heard when a JOIN of it has come since it became eligible. A node that keeps
//! silent in a gather, or spoils it, is set aside: for a while this node does not count on it,
//! whatever it says. The back-off doubles each time; for one that was silent it begins later and
//! ends sooner, since that one is not heard anyway before it speaks again. It ends when the link to
//! the node comes up anew, or once the node has shared configurations with us for some time. A link
//! that goes down again and again also causes a back-off. Without it, a node at the edge of reach
//! would take all others through one configuration after another.

use crate::config::{FAR, Timing};
use crate::data::path_bytes;
use crate::hearing::Report;
use crate::message::{Entry, Join};
use core::time::Duration;
use folkmoot_base::limits::NODES_MAX;
use folkmoot_base::{Entropy, Instant, NodeId, draw};
use std::collections::{BTreeMap, BTreeSet};

/// How many departed nodes are remembered.
const PARTINGS_MAX: usize = 4 * NODES_MAX;

/// A node that has been together with us for so many of its last back-offs begins with the shortest
/// back-off again.
const TOGETHER_SPANS: u32 = 4;

/// Links that held for so long, or went so long ago, are not unsteady.
const STEADY: Duration = Duration::from_secs(30);

/// The longest time for which a node is set aside because its link is unsteady.
const UNSTEADY_MAX: Duration = Duration::from_secs(8);

/// For so many round trips a link has only just come up (RING-43).
const FRESH_TRIPS: u32 = 2;

/// Least time between two answers to one node.
const ANSWER_GAP: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Default)]
struct Candidate {
    /// The last that it said; nothing since it fell silent or became eligible.
    report: Option<Report>,
    /// The last number heard in a JOIN of its present process.
    join_number: u64,
    /// Until when we do not count on it.
    until: Instant,
    /// How many times in a row it was set aside.
    set_aside: u32,
    /// The last back-off.
    span: Duration,
    /// Since when it has been in a configuration with us.
    joined_at: Option<Instant>,
    /// When we answered it last.
    answered: Option<Instant>,
    /// The longest datagram that the path to it carries, in bytes; 0 if that was never said.
    mtu: u16,
    /// What a round trip to it takes; zero if that was never said.
    trip: Duration,
    /// What it says of its own round trips, in milliseconds.
    named_trip: u16,
    /// RING-42: what it would add to COMMIT, and the number of the JOIN that said so.
    entry: Option<(u64, Entry)>,
    /// Since when it is eligible.
    since: Instant,
}

/// A link that went down under a configuration.
#[derive(Debug, Clone, Copy)]
struct Parting {
    at: Instant,
    /// How many times in a row.
    count: u32,
    /// The number of the last JOIN before.
    join_number: u64,
}

/// The eligible nodes.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    eligible: BTreeMap<NodeId, Candidate>,
    partings: BTreeMap<NodeId, Parting>,
}

impl Candidates {
    /// Returns whether anything changed.
    pub(crate) fn set(&mut self, now: Instant, node: NodeId, eligible: bool, timing: &Timing) -> bool {
        if !eligible {
            return self.lose(now, node);
        }
        if self.eligible.contains_key(&node) {
            return false;
        }
        let until = self.partings.get(&node).map_or(now, |parting| now + unsteady(parting.count, timing));
        self.eligible.insert(node, Candidate { until, since: now, ..Candidate::default() });
        true
    }

    fn lose(&mut self, now: Instant, node: NodeId) -> bool {
        let Some(candidate) = self.eligible.remove(&node) else { return false };
        let Some(joined_at) = candidate.joined_at else { return true };
        self.partings.retain(|_, parting| now.since(parting.at) < STEADY);
        let before = self.partings.get(&node).map_or(0, |parting| parting.count);
        let count = if now.since(joined_at) < STEADY { before.saturating_add(1) } else { 1 };
        if self.partings.len() < PARTINGS_MAX || before > 0 {
            self.partings.insert(node, Parting { at: now, count, join_number: candidate.join_number });
        }
        true
    }

    /// The path to `node` carries datagrams of so many bytes.
    pub(crate) fn set_path(&mut self, node: &NodeId, mtu: u16) {
        if let Some(candidate) = self.eligible.get_mut(node) {
            candidate.mtu = mtu;
        }
    }

    /// Whether the paths from `me` to all of these were tried.
    pub(crate) fn are_tried(&self, me: &NodeId, members: &[NodeId]) -> bool {
        let tried = |node: &NodeId| self.eligible.get(node).is_some_and(|candidate| candidate.mtu > 0);
        members.iter().all(|node| node == me || tried(node))
    }

    /// What the path to `node` carries.
    pub(crate) fn path(&self, node: &NodeId) -> u16 {
        path_bytes(self.eligible.get(node).map_or(0, |candidate| candidate.mtu))
    }

    /// What all paths from `me` to the other members carry.
    pub(crate) fn smallest_path(&self, me: &NodeId, members: &[NodeId]) -> u16 {
        let others = members.iter().filter(|node| *node != me);
        others.map(|node| self.path(node)).min().unwrap_or(path_bytes(u16::MAX))
    }

    /// A round trip to `node` takes so long.
    pub(crate) fn set_trip(&mut self, node: &NodeId, trip: Duration) {
        if let Some(candidate) = self.eligible.get_mut(node) {
            candidate.trip = trip;
        }
    }

    /// The longest round trip to any of `nodes`.
    pub(crate) fn longest_trip<'a>(&self, nodes: impl IntoIterator<Item = &'a NodeId>) -> Duration {
        let trips = nodes.into_iter().filter_map(|node| self.eligible.get(node));
        trips.map(|candidate| candidate.trip).max().unwrap_or_default()
    }

    /// The longest round trip that was measured here, in milliseconds.
    pub(crate) fn own_trip(&self) -> u16 {
        u16::try_from(self.longest_trip(self.eligible()).as_millis()).unwrap_or(u16::MAX)
    }

    /// What eligible nodes, and this one, say of their longest round trips.
    pub(crate) fn named_trips(&self) -> Vec<u16> {
        let named = self.eligible.values().map(|candidate| candidate.named_trip);
        named.chain([self.own_trip()]).collect()
    }

    pub(crate) fn is_eligible(&self, node: &NodeId) -> bool {
        self.eligible.contains_key(node)
    }

    pub(crate) fn eligible(&self) -> impl Iterator<Item = &NodeId> {
        self.eligible.keys()
    }

    /// RING-14: the nodes that `me` hears, sorted, with `me` among them: no more than a ring holds,
    /// and none of `without`.
    pub(crate) fn hears(&self, now: Instant, me: NodeId, without: &BTreeSet<NodeId>) -> Vec<NodeId> {
        let heard = self.eligible.iter().filter(|(node, candidate)| {
            candidate.report.is_some() && candidate.until <= now && !without.contains(node)
        });
        let others = heard.map(|(node, _)| *node).take(NODES_MAX.saturating_sub(1));
        let hears: BTreeSet<NodeId> = others.chain([me]).collect();
        hears.into_iter().collect()
    }

    /// RING-43: nodes that have said nothing yet, and whose link has only just come up over a long
    /// path: it proved that both hear each other.
    pub(crate) fn fresh(&self, now: Instant) -> impl Iterator<Item = &NodeId> {
        let fresh = move |candidate: &Candidate| {
            let far = candidate.trip >= FAR && candidate.until <= now;
            far && candidate.report.is_none() && now.since(candidate.since) < candidate.trip * FRESH_TRIPS
        };
        self.eligible.iter().filter(move |(_, candidate)| fresh(candidate)).map(|(node, _)| node)
    }

    /// RING-46: whether `node`, when it sent what came last, may have had no JOIN of ours: its link
    /// is fresh for [`FRESH_TRIPS`] there, and what it says is on its way for part of another.
    pub(crate) fn may_wait_for_us(&self, now: Instant, node: &NodeId) -> bool {
        let waits = |candidate: &Candidate| {
            candidate.trip >= FAR && now.since(candidate.since) < candidate.trip * (FRESH_TRIPS + 1)
        };
        self.eligible.get(node).is_some_and(waits)
    }

    /// RING-42: what `node` would add to COMMIT, as its last JOIN says.
    pub(crate) fn entry(&self, node: &NodeId) -> Option<&Entry> {
        let candidate = self.eligible.get(node)?;
        candidate
            .entry
            .as_ref()
            .filter(|(number, _)| *number == candidate.join_number)
            .map(|(_, entry)| entry)
    }

    pub(crate) fn report(&self, node: &NodeId) -> Option<&Report> {
        self.eligible.get(node)?.report.as_ref()
    }

    /// Keeps what a JOIN of `node` says. Returns whether that is new.
    pub(crate) fn heard_join(&mut self, now: Instant, node: &NodeId, join: &Join) -> bool {
        let Some(candidate) = self.eligible.get_mut(node) else { return false };
        let reborn = |parting: &Parting| join.current.is_none() && join.number <= parting.join_number;
        if candidate.join_number == 0 && self.partings.get(node).is_some_and(reborn) {
            candidate.until = now; // Another process: its link was not unsteady.
            self.partings.remove(node);
        }
        candidate.join_number = candidate.join_number.max(join.number);
        candidate.named_trip = join.trip;
        if let Some(entry) = &join.entry {
            candidate.entry = Some((join.number, entry.clone()));
        }
        let report = Some(Report::of(join));
        let news = candidate.report != report;
        candidate.report = report;
        news
    }

    /// Whether a JOIN of `node` may be answered now: answers to each other's answers must not
    /// become a storm.
    pub(crate) fn may_answer(&mut self, now: Instant, node: &NodeId) -> bool {
        let Some(candidate) = self.eligible.get_mut(node) else { return false };
        let may = candidate.answered.is_none_or(|at| now.since(at) >= ANSWER_GAP);
        if may {
            candidate.answered = Some(now);
        }
        may
    }

    /// It is silent: what it said before does not count any more.
    pub(crate) fn unheard(&mut self, node: &NodeId) {
        if let Some(candidate) = self.eligible.get_mut(node) {
            candidate.report = None;
        }
    }

    /// The last number heard in a JOIN of `node`.
    pub(crate) fn join_number(&self, node: &NodeId) -> u64 {
        self.eligible.get(node).map_or(0, |candidate| candidate.join_number)
    }

    /// A configuration is formed: its members start afresh, and those given up on the way to it are
    /// set aside.
    pub(crate) fn formed(
        &mut self,
        now: Instant,
        members: &[NodeId],
        given_up: &BTreeSet<NodeId>,
        timing: &Timing,
        entropy: &mut dyn Entropy,
    ) {
        for (node, candidate) in &mut self.eligible {
            if members.binary_search(node).is_ok() {
                candidate.until = now;
                candidate.joined_at = Some(candidate.joined_at.unwrap_or(now));
                continue;
            }
            let joined = candidate.joined_at.take().map(|at| now.since(at));
            if joined.is_some_and(|span| span > candidate.span.saturating_mul(TOGETHER_SPANS)) {
                candidate.set_aside = 0;
            }
            if !given_up.contains(node) {
                continue;
            }
            candidate.set_aside = candidate.set_aside.saturating_add(1);
            let doubled = timing.set_aside.saturating_mul(1 << candidate.set_aside.saturating_sub(1).min(16));
            // Who was silent is not heard before it says something again (RING-14).
            let silent = candidate.report.is_none();
            let quick = unsteady(candidate.set_aside, timing);
            let span = if silent { quick } else { doubled.min(timing.set_aside_max) };
            let [roll] = draw::<1>(entropy);
            let span = span.saturating_mul(192_u32.saturating_add(u32::from(roll) / 2)) / 256;
            candidate.span = span;
            candidate.until = now + span;
        }
    }

    /// Whether an eligible node is not among `members`.
    pub(crate) fn has_outsiders(&self, members: &[NodeId]) -> bool {
        self.eligible.keys().any(|node| members.binary_search(node).is_err())
    }

    /// When the first of the nodes that are set aside counts again.
    pub(crate) fn next_return(&self, now: Instant) -> Option<Instant> {
        self.eligible.values().map(|candidate| candidate.until).filter(|until| *until > now).min()
    }

    pub(crate) fn set_aside(&self) -> Vec<(NodeId, Instant)> {
        let aside = self
            .eligible
            .iter()
            .filter(|(_, candidate)| candidate.set_aside > 0 && candidate.joined_at.is_none());
        aside.map(|(node, candidate)| (*node, candidate.until)).collect()
    }
}

/// How long to wait for a node whose link went down `count` times in a row. The first time may
/// happen to any node.
fn unsteady(count: u32, timing: &Timing) -> Duration {
    let Some(doublings) = count.checked_sub(2) else { return Duration::ZERO };
    timing.set_aside.saturating_mul(1 << doublings.min(16)).min(UNSTEADY_MAX)
}
