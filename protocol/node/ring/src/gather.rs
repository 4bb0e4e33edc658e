//! Gather: agree with all who can be heard on who is in the next configuration.
//!
//! Entered with a [`Cause`] from any state; left for Commit when everyone proposed proposes the same set.
//!
//! ```text
//! Operational --token late, member lost, peer arrived, JOIN--> Gather --all JOINs equal--> Commit --> Recover
//!                                         again ^--------------'  consensus timeout: the silent are failed
//! ```
//! Sends JOIN to every eligible node; hears JOIN, COMMIT and late packets of the old configuration. Messages wait in the
//! queue. Ends because within one gather the sets of the proposed and of the failed only grow, up to `NODES_MAX` each; a
//! node alone forms a ring alone.
//! Source: Amir et al., "The Totem Single-Ring Ordering and Membership Protocol", ACM TOCS 13(4), 1995, membership.
//! Departures: docs/protocol/ring.md.

use crate::context::{Context, Step};
use crate::message::{CommitToken, Control, Data, Join, Last, neighbours};
use crate::output::{Cause, Output, Timer};
use crate::stream::Stream;
use folkmoot_base::limits::NODES_MAX;
use folkmoot_base::{Instant, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// What two nodes of a gather must have equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sets {
    pub(crate) proposed: BTreeSet<NodeId>,
    pub(crate) failed: BTreeSet<NodeId>,
}

impl Sets {
    /// What a gather that begins now proposes.
    pub(crate) fn first(now: Instant, ctx: &Context) -> Self {
        let others = ctx.peers.proposed(now).take(NODES_MAX.saturating_sub(1));
        Self { proposed: others.chain([ctx.config.me]).collect(), failed: BTreeSet::new() }
    }

    /// RING-10: whether no more nodes are proposed with `join` than a ring holds.
    pub(crate) fn has_room_for(&self, join: &Join) -> bool {
        let new = join.proposed.iter().filter(|node| !self.proposed.contains(node)).count();
        new.saturating_add(self.proposed.len()) <= NODES_MAX
    }

    pub(crate) fn members(&self) -> Vec<NodeId> {
        self.proposed.difference(&self.failed).copied().collect()
    }

    /// Whether `join` says nothing that is not said here.
    pub(crate) fn cover(&self, join: &Join) -> bool {
        join.proposed.iter().all(|node| self.proposed.contains(node))
            && join.failed.iter().all(|node| self.failed.contains(node))
    }

    fn equal(&self, join: &Join) -> bool {
        self.proposed.iter().eq(join.proposed.iter()) && self.failed.iter().eq(join.failed.iter())
    }
}

/// Agreeing who is in.
#[derive(Debug)]
pub(crate) struct Gather {
    pub(crate) old: Option<Stream>,
    pub(crate) sets: Sets,
    /// Who sent the same sets.
    agreed: BTreeSet<NodeId>,
    /// Who sent anything since the consensus timer was set.
    heard: BTreeSet<NodeId>,
    /// How far the last attempt came at the others.
    lasts: BTreeMap<NodeId, Last>,
    join_at: Instant,
    consensus_at: Instant,
    alone_at: Instant,
    /// When those who were named by others, but are gone as far as we know, fail.
    lost_at: Option<Instant>,
    /// Set while all agree and the representative's commit token is awaited.
    commit_at: Option<Instant>,
}

impl Gather {
    pub(crate) fn new(now: Instant, ctx: &mut Context, old: Option<Stream>) -> Self {
        let timing = &ctx.config.timing;
        let sets = Sets::first(now, ctx);
        let gather = Self {
            old,
            sets,
            agreed: BTreeSet::from([ctx.config.me]),
            heard: BTreeSet::new(),
            lasts: ctx.last.iter().map(|last| (ctx.config.me, *last)).collect(),
            join_at: now + timing.join_repeat,
            consensus_at: now + timing.consensus,
            alone_at: now + timing.alone,
            lost_at: None,
            commit_at: None,
        };
        ctx.join_number = ctx.join_number.saturating_add(1);
        gather.send(ctx);
        gather
    }

    /// JOIN to all who are eligible: to those who failed too, so that they know.
    fn send(&self, ctx: &mut Context) {
        let join = Join {
            proposed: self.sets.proposed.iter().copied().collect(),
            failed: self.sets.failed.iter().copied().collect(),
            number: ctx.join_number,
            ring_seq: ctx.ring_seq,
            current: self.old.as_ref().map(|old| old.id),
            last: ctx.last,
        };
        let frame = Control::Join(join).encode();
        for to in ctx.peers.eligible() {
            ctx.out.push_back(Output::Send { to: *to, frame: frame.clone() });
        }
    }

    /// The sets grew: nobody agrees yet, everybody hears of it, and the clock starts again.
    fn changed(&mut self, now: Instant, ctx: &mut Context) {
        self.agreed = BTreeSet::from([ctx.config.me]);
        self.heard.clear();
        self.join_at = now + ctx.config.timing.join_repeat;
        self.consensus_at = now + ctx.config.timing.consensus;
        self.commit_at = None;
        let lost = self.lost(ctx).next().is_some();
        self.lost_at = lost.then(|| self.lost_at.unwrap_or(now + ctx.config.timing.consensus / 4));
        ctx.join_number = ctx.join_number.saturating_add(1);
        self.send(ctx);
    }

    /// A JOIN; its sender is eligible, and there is room for all whom it proposes.
    pub(crate) fn join(&mut self, now: Instant, from: NodeId, join: &Join, ctx: &mut Context) -> Step {
        ctx.learn(join.ring_seq);
        if !self.sets.proposed.contains(&from) && !join.asks_for(&ctx.config.me) {
            return Step::Stay; // Neither asks for the other: two gathers side by side.
        }
        self.heard.insert(from);
        if let Some(last) = join.last {
            self.lasts.insert(from, last);
        }
        if self.sets.equal(join) {
            self.agreed.insert(from);
            return self.consensus(now, ctx);
        }
        if self.sets.failed.contains(&from) || (self.sets.cover(join) && self.sets.proposed.contains(&from)) {
            return Step::Stay;
        }
        self.merge(from, join, ctx);
        self.changed(now, ctx);
        self.heard.insert(from);
        self.consensus(now, ctx)
    }

    fn merge(&mut self, from: NodeId, join: &Join, ctx: &Context) {
        self.sets.proposed.insert(from);
        self.sets.proposed.extend(join.proposed.iter().copied());
        if join.failed.binary_search(&ctx.config.me).is_ok() {
            self.sets.failed.insert(from);
        } else {
            self.sets.failed.extend(join.failed.iter().copied());
        }
    }

    /// Who was named by others, but is known here to be gone: a link may be on its way, so it is waited for a little.
    fn lost<'a>(&'a self, ctx: &'a Context) -> impl Iterator<Item = NodeId> + 'a {
        let members = self.sets.proposed.difference(&self.sets.failed);
        members.filter(|node| ctx.peers.is_lost(node)).copied()
    }

    /// If all agree: the representative makes the commit token, the others wait for it.
    fn consensus(&mut self, now: Instant, ctx: &mut Context) -> Step {
        let members = self.sets.members();
        if members.iter().any(|node| !self.agreed.contains(node)) {
            return Step::Stay;
        }
        if members.len() <= 1 && self.sets.failed.is_empty() && now < self.alone_at {
            return Step::Stay;
        }
        if let Some(suspect) = ctx.suspects.judge(&self.lasts, &members, ctx.config.me) {
            self.fail(now, vec![suspect], ctx);
            return self.consensus(now, ctx);
        }
        if members.first() == Some(&ctx.config.me) {
            return Step::Propose(members);
        }
        if self.commit_at.is_none() {
            self.commit_at = Some(now + ctx.config.timing.commit);
            // Whoever lacks our word of these sets gets it at once, not with the next repetition.
            self.send(ctx);
        }
        Step::Stay
    }

    /// COMMIT in its first rotation, for exactly the set that is proposed here (RING-09).
    pub(crate) fn commit(&self, from: NodeId, token: CommitToken, ctx: &Context) -> Step {
        if token.members != self.sets.members() || !is_turn(&token, from, ctx) {
            return Step::Stay;
        }
        Step::Commit(Box::new(token))
    }

    /// A late packet of the old configuration.
    pub(crate) fn data(&mut self, from: NodeId, data: Data) -> bool {
        let Some(old) = self.old.as_mut().filter(|old| old.ring() == data.ring) else { return false };
        let legal = old.members.binary_search(&from).is_ok() && usize::from(data.sender) < old.members.len();
        if legal {
            old.store.insert(data);
        }
        legal
    }

    pub(crate) fn peer(&mut self, now: Instant, node: NodeId, eligible: bool, ctx: &mut Context) {
        let new = if eligible {
            self.sets.proposed.len() < NODES_MAX && self.sets.proposed.insert(node)
        } else {
            self.sets.proposed.contains(&node) && self.sets.failed.insert(node)
        };
        if new {
            self.changed(now, ctx);
        } else if eligible {
            self.send(ctx);
        }
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) -> Step {
        if self.commit_at.is_some_and(|at| at <= now) {
            return Step::Gather(Cause::CommitLost);
        }
        if self.lost_at.is_some_and(|at| at <= now) {
            self.lost_at = None;
            let lost: Vec<NodeId> = self.lost(ctx).collect();
            self.fail(now, lost, ctx);
        }
        if self.consensus_at <= now {
            self.give_up_silent(now, ctx);
        } else if self.join_at <= now {
            self.join_at = now + ctx.config.timing.join_repeat;
            self.send(ctx);
        }
        self.consensus(now, ctx)
    }

    /// The silent fail; if nobody is silent, those who do not agree.
    fn give_up_silent(&mut self, now: Instant, ctx: &mut Context) {
        self.consensus_at = now + ctx.config.timing.consensus;
        let members = self.sets.members();
        let others = || members.iter().filter(|node| **node != ctx.config.me);
        let mut out: Vec<NodeId> = others().filter(|node| !self.heard.contains(node)).copied().collect();
        if out.is_empty() {
            out = others().filter(|node| !self.agreed.contains(node)).copied().collect();
        }
        self.heard.clear();
        self.fail(now, out, ctx);
    }

    fn fail(&mut self, now: Instant, nodes: Vec<NodeId>, ctx: &mut Context) {
        if !nodes.is_empty() {
            self.sets.failed.extend(nodes);
            self.changed(now, ctx);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<(Instant, Timer)> {
        let alone = self.sets.members().len() <= 1 && self.sets.failed.is_empty();
        let first = if alone { (self.alone_at, Timer::Alone) } else { (self.consensus_at, Timer::Consensus) };
        let commit = self.commit_at.map(|at| (at, Timer::Commit));
        let lost = self.lost_at.map(|at| (at, Timer::Consensus));
        [Some(first), Some((self.join_at, Timer::Join)), commit, lost].into_iter().flatten().min()
    }
}

/// Whether this COMMIT, in its first rotation, is for us to fill in now, from who should send it.
pub(crate) fn is_turn(token: &CommitToken, from: NodeId, ctx: &Context) -> bool {
    let order = token.order();
    let place = order.iter().position(|node| *node == ctx.config.me);
    let before = neighbours(&order, &ctx.config.me).map(|(before, _)| before);
    token.rotation == 1
        && place.is_some_and(|place| place > 0 && token.entries.len() == place)
        && before == Some(from)
        && token.id.ring_seq > ctx.attempted
}
