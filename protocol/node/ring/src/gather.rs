//! Gather: the nodes that hear one another agree on the members of the next configuration.
//!
//! Every state may enter it, with a [`Cause`]. It is left for Commit when all nodes that this node
//! wants, want exactly the same nodes.
//!
//! ```text
//! Operational --token late, member lost, larger set, JOIN--> Gather --all JOINs agree--> Commit --> Recover
//!                                      again ^--------------'  silent: given up; not one clique: choice
//! ```
//! The node sends JOIN to every eligible node. It hears JOIN, COMMIT and late packets of the old
//! configuration. Messages wait in the queue. The node wants all nodes that it hears. If not all of
//! them hear one another, it waits a little and then wants the best set of nodes that do
//! (hearing.rs). A gather ends: a node that is given up stays so until the next gather, and a node
//! that is alone forms a ring alone.
//! Source: Amir et al., "The Totem Single-Ring Ordering and Membership Protocol", ACM TOCS 13(4),
//! 1995, membership.
//! Departures: docs/protocol/ring.md, docs/decisions/0009-cliques.md.

use crate::before::Early;
use crate::config::FAR;
use crate::context::{Context, Step};
use crate::data::Data;
use crate::hearing::{Report, choice};
use crate::message::{CommitToken, Entry, Join, Last, Token, neighbours};
use crate::order::Order;
use crate::output::Cause;
use core::time::Duration;
use folkmoot_base::{Danger, Instant, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Least time between two JOINs to all; changes within it are told together.
const JOIN_GAP: Duration = Duration::from_millis(5);

/// Agreeing on the members of the next configuration.
#[derive(Debug)]
pub(crate) struct Gather {
    pub(crate) old: Option<Order>,
    /// Given up in this gather: silent, not agreeing, or suspected.
    pub(crate) given_up: BTreeSet<NodeId>,
    hears: Vec<NodeId>,
    pub(crate) wants: Vec<NodeId>,
    /// The nodes whose JOIN came in this gather, and when the last one came.
    heard: BTreeMap<NodeId, Instant>,
    /// Some of the nodes that we hear do not hear one another, although links that were on their
    /// way have had their time.
    decided: bool,
    /// How far the other nodes came in the last attempt.
    lasts: BTreeMap<NodeId, Last>,
    began: Instant,
    sent_at: Instant,
    join_at: Instant,
    /// Since when what is missing is awaited, and until when.
    consensus_from: Instant,
    consensus_at: Instant,
    /// Consensus times that have passed since what we say changed.
    waited: u32,
    alone_at: Instant,
    decide_at: Option<Instant>,
    /// Set while all agree and the representative's commit token is awaited.
    commit_at: Option<Instant>,
    /// RING-42: what this node has said that it adds to COMMIT. From then on it takes nothing more
    /// of the old configuration (ORD-09).
    entry: Option<Entry>,
    /// It has said one in this gather.
    has_said: bool,
    /// How long the representative waits for the entries of others.
    propose_at: Option<Instant>,
    /// What others sent in the ring whose COMMIT is on its way.
    early: Early,
}

impl Gather {
    pub(crate) fn new(now: Instant, ctx: &mut Context, old: Option<Order>) -> Self {
        let timing = ctx.config.timing;
        let given_up = core::mem::take(&mut ctx.blamed);
        let hears = ctx.candidates.hears(now, ctx.config.me, &given_up);
        let mut gather = Self {
            old,
            given_up,
            wants: hears.clone(),
            hears,
            heard: BTreeMap::new(),
            decided: false,
            lasts: ctx.last.iter().map(|last| (ctx.config.me, *last)).collect(),
            began: now,
            sent_at: now,
            join_at: now,
            consensus_from: now,
            consensus_at: now + timing.consensus,
            waited: 0,
            alone_at: now + timing.alone,
            decide_at: None,
            commit_at: None,
            entry: None,
            has_said: false,
            propose_at: None,
            early: Early::default(),
        };
        ctx.begin_gather();
        gather.send(now, ctx);
        gather
    }

    /// What the JOINs of this gather say.
    fn report(&self) -> Report {
        Report { hears: self.hears.clone(), wants: self.wants.clone(), bound: false }
    }

    /// Sends JOIN to every eligible node, also to those that were given up, so that they know.
    fn send(&mut self, now: Instant, ctx: &mut Context) {
        self.sent_at = now;
        self.join_at = now + ctx.config.timing.join_repeat;
        let current = self.old.as_ref().map(|old| old.id);
        let entry = self.entry_for(ctx);
        ctx.say_to_all(now, &self.report(), current, entry.as_ref());
    }

    /// RING-42: the node that would make COMMIT, and what this node would add.
    fn entry_for(&mut self, ctx: &mut Context) -> Option<(NodeId, Entry)> {
        let to = *self.wants.first().filter(|node| **node != ctx.config.me)?;
        if self.entry.is_none() {
            self.entry = ctx.entry(self.old.as_ref(), &self.wants);
            self.has_said |= self.entry.is_some();
        }
        Some((to, self.entry.clone()?))
    }

    /// Whether this node takes late packets of the old configuration.
    pub(crate) fn takes_late(&self) -> bool {
        self.entry.is_none()
    }

    /// Whether a packet is of another ring than the old one.
    pub(crate) fn is_of_another(&self, data: &Data) -> bool {
        self.old.as_ref().is_none_or(|old| old.handle() != data.ring)
    }

    /// A packet of another ring than the old one: kept, if a COMMIT that is whole may come.
    pub(crate) fn data(&mut self, from: NodeId, data: Data) {
        if self.entry.is_some() && self.wants.binary_search(&from).is_ok() {
            self.early.data(from, data);
        }
    }

    /// A token: likewise.
    pub(crate) fn token(&mut self, from: NodeId, token: Token) {
        if self.entry.is_some() && self.wants.binary_search(&from).is_ok() {
            self.early.token(from, token);
        }
    }

    pub(crate) fn take_early(&mut self) -> Early {
        core::mem::take(&mut self.early)
    }

    /// The path to a node was tried: what this node says may be whole now, at the next timeout,
    /// which is now.
    pub(crate) fn tried(&mut self, now: Instant) {
        self.join_at = now;
    }

    /// Schedules a JOIN to all for soon.
    fn send_soon(&mut self, now: Instant, ctx: &mut Context) {
        let at = self.sent_at + JOIN_GAP;
        if at <= now {
            return self.send(now, ctx);
        }
        self.join_at = self.join_at.min(at);
    }

    fn answer(&mut self, now: Instant, to: NodeId, ctx: &mut Context) {
        let current = self.old.as_ref().map(|old| old.id);
        let entry = self.entry_for(ctx).filter(|(node, _)| *node == to).map(|(_, entry)| entry);
        ctx.say(now, to, &self.report(), (current, entry));
    }

    /// A JOIN. Its sender is eligible, and its content is kept. `news`: it says something new.
    pub(crate) fn join(
        &mut self,
        now: Instant,
        from: NodeId,
        join: &Join,
        news: bool,
        ctx: &mut Context,
    ) -> Step {
        ctx.learn(join.ring_seq);
        let first = self.heard.insert(from, now).is_none();
        if let Some(last) = join.last {
            self.lasts.insert(from, last);
        }
        let step = self.review(now, news || first, ctx);
        let deaf = !join.hears(&ctx.config.me) && self.hears.contains(&from);
        if matches!(step, Step::Stay) && deaf && ctx.candidates.may_answer(now, &from) {
            self.answer(now, from, ctx);
        }
        step
    }

    /// Checks what may have changed: the nodes that we hear, what others say, the time.
    fn review(&mut self, now: Instant, news: bool, ctx: &mut Context) -> Step {
        let hears = ctx.candidates.hears(now, ctx.config.me, &self.given_up);
        let changed = hears != self.hears;
        self.hears = hears;
        self.decide(now, news || changed, ctx);
        let me = ctx.config.me;
        let wants = if self.decided {
            choice(&me, &self.hears, |node| ctx.candidates.report(node))
        } else {
            self.hears.clone()
        };
        if changed || wants != self.wants {
            self.wants = wants;
            (self.entry, self.propose_at) = (None, None);
            self.waited = 0;
            self.consensus_from = now;
            self.wait(ctx);
            self.commit_at = None;
            self.send_soon(now, ctx);
        }
        self.consensus(now, ctx)
    }

    /// Sets the time of the choice: none while a node has not been heard, or while all say the
    /// same.
    fn decide(&mut self, now: Instant, news: bool, ctx: &Context) {
        let others = || self.hears.iter().filter(|node| **node != ctx.config.me);
        let same =
            |node: &NodeId| ctx.candidates.report(node).is_some_and(|report| report.hears == self.hears);
        if others().any(|node| !self.heard.contains_key(node)) || others().all(same) {
            self.decide_at = None;
        } else if news || self.decide_at.is_none() {
            let patience = ctx.config.timing.consensus / 4;
            self.decide_at = Some((now + patience).min(self.began + patience.saturating_mul(4)));
        }
        self.decided |= self.decide_at.is_some_and(|at| at <= now) || self.have_others_decided(now, ctx);
    }

    /// Whether all that we hear have chosen, or stay where they are. One of them has shorter round
    /// trips, so it chose sooner, and does not wait until we would. RING-46: a node that does not
    /// want us, though it hears us, may wait for our JOIN.
    fn have_others_decided(&self, now: Instant, ctx: &Context) -> bool {
        let me = &ctx.config.me;
        let others = || self.hears.iter().filter(|node| *node != me);
        let report = |node: &NodeId| ctx.candidates.report(node).filter(|_| self.heard.contains_key(node));
        let chose = |node: &NodeId, report: &Report| {
            let waits = report.hears(me) && !report.wants(me) && ctx.candidates.may_wait_for_us(now, node);
            let waits = waits && !ctx.config.danger.is(Danger::RingFreshChose);
            !report.bound && report.wants != report.hears && !waits
        };
        others().all(|node| report(node).is_some_and(|report| report.bound || chose(node, report)))
            && others().any(|node| report(node).is_some_and(|report| chose(node, report)))
    }

    /// If all agree, the representative makes the commit token, and the others wait for it.
    fn consensus(&mut self, now: Instant, ctx: &mut Context) -> Step {
        let me = ctx.config.me;
        let agrees = |node: &NodeId| {
            let said = ctx.candidates.report(node).filter(|_| self.heard.contains_key(node));
            *node == me || said.is_some_and(|said| said.wants == self.wants)
        };
        if !self.wants.iter().all(agrees) {
            (self.commit_at, self.propose_at) = (None, None);
            return Step::Stay;
        }
        if self.hears.len() <= 1 && self.given_up.is_empty() && now < self.alone_at {
            return Step::Stay;
        }
        let suspects = ctx.suspects.judge(&self.lasts, &self.wants, me);
        if !suspects.is_empty() {
            self.given_up.extend(suspects);
            return self.review(now, true, ctx);
        }
        if self.wants.first() == Some(&me) {
            return if self.is_ready(now, ctx) { Step::Propose(self.wants.clone()) } else { Step::Stay };
        }
        if self.commit_at.is_none() {
            self.commit_at = Some(now + ctx.config.timing.commit);
            // A node that lacks our JOIN with these sets gets it at once, not with the next
            // repetition.
            self.send_soon(now, ctx);
        }
        Step::Stay
    }

    /// RING-42: whether the representative makes COMMIT now: at once where nobody is far; else when
    /// it has all entries and a JOIN of whoever has just come (RING-43), or has waited for a round
    /// trip.
    fn is_ready(&mut self, now: Instant, ctx: &Context) -> bool {
        let timing = &ctx.config.timing;
        if timing.trip < FAR || self.has_all(now, ctx) {
            return true;
        }
        *self.propose_at.get_or_insert(now + timing.trip) <= now
    }

    fn has_all(&self, now: Instant, ctx: &Context) -> bool {
        let tried = ctx.candidates.are_tried(&ctx.config.me, &self.wants);
        // Who is alone has waited already.
        let hasty = self.wants.len() <= 1 || ctx.config.danger.is(Danger::RingFreshLeft);
        let comes = |node: &NodeId| !hasty && !self.given_up.contains(node);
        tried && has_entries(&self.wants, ctx) && !ctx.candidates.fresh(now).any(comes)
    }

    /// COMMIT in its first rotation, for exactly the set that is wanted here (RING-09), or whole.
    pub(crate) fn commit(&self, from: NodeId, token: CommitToken, ctx: &mut Context) -> Step {
        if token.rotation == 2 {
            return self.whole_commit(from, token, ctx);
        }
        if token.members != self.wants || !is_turn(&token, from, ctx) {
            return Step::Stay;
        }
        Step::Commit(Box::new(token))
    }

    /// RING-42: a COMMIT that is whole counts if it has what this node has said.
    fn whole_commit(&self, from: NodeId, token: CommitToken, ctx: &mut Context) -> Step {
        let me = &ctx.config.me;
        let mine = self.entry.is_some() && token.entry(me) == self.entry;
        let agreed = token.members == self.wants && from == token.id.representative;
        if agreed && mine && ctx.may_attempt(&token.id) {
            return Step::Recover(Box::new(token));
        }
        if self.has_said && token.members.binary_search(me).is_ok() {
            // The others may be in that ring. What this node says from now on is younger.
            ctx.learn(token.id.ring_seq);
        }
        Step::Stay
    }

    /// A node came or went. One that came hears from us; one that went changes what we say, at the
    /// next timeout, which is now.
    pub(crate) fn peer(&mut self, now: Instant, node: NodeId, eligible: bool, ctx: &mut Context) {
        if eligible {
            return self.answer(now, node, ctx);
        }
        self.heard.remove(&node);
        self.join_at = now;
    }

    /// RING-29: round trips may take longer than was known, or less: those that are silent have so
    /// long.
    pub(crate) fn wait(&mut self, ctx: &Context) {
        self.consensus_at = self.consensus_from + ctx.config.timing.consensus;
    }

    /// None of the awaited nodes can come.
    pub(crate) fn expect_nobody(&mut self, now: Instant) {
        self.alone_at = self.alone_at.min(now);
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) -> Step {
        if self.commit_at.is_some_and(|at| at <= now) {
            return Step::Gather(Cause::CommitLost);
        }
        if self.consensus_at <= now {
            self.give_up(now, ctx);
        }
        if self.join_at <= now {
            self.send(now, ctx);
        }
        self.review(now, false, ctx)
    }

    /// Gives up the silent nodes. After twice the time, if none is silent, gives up those that do
    /// not agree.
    fn give_up(&mut self, now: Instant, ctx: &mut Context) {
        let consensus = ctx.config.timing.consensus;
        self.consensus_from = now;
        self.wait(ctx);
        if self.commit_at.is_some() {
            return; // All agree; a node that commits sends no more JOINs.
        }
        self.waited = self.waited.saturating_add(1);
        let me = ctx.config.me;
        let awaited =
            || if self.decided { &self.wants } else { &self.hears }.iter().filter(|node| **node != me);
        let silent = |node: &&NodeId| self.heard.get(node).is_none_or(|at| now.since(*at) >= consensus);
        let mut out: Vec<NodeId> = awaited().filter(silent).copied().collect();
        out.iter().for_each(|node| ctx.candidates.unheard(node));
        if out.is_empty() && self.waited >= 2 {
            let agrees =
                |node: &NodeId| ctx.candidates.report(node).is_some_and(|said| said.wants == self.wants);
            out = self.wants.iter().filter(|node| **node != me && !agrees(node)).copied().collect();
        }
        self.given_up.extend(out);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let first = match (self.hears.len(), self.given_up.is_empty()) {
            (0 | 1, true) => self.alone_at,
            (0 | 1, false) => self.began, // Nobody is left to wait for.
            _ => self.consensus_at,
        };
        let decide = self.decide_at.filter(|_| !self.decided);
        let more = [self.commit_at, self.propose_at, decide];
        [first, self.join_at].into_iter().chain(more.into_iter().flatten()).min()
    }
}

/// Whether all others of these have said what they add to COMMIT.
pub(crate) fn has_entries(members: &[NodeId], ctx: &Context) -> bool {
    members.iter().all(|node| *node == ctx.config.me || ctx.candidates.entry(node).is_some())
}

/// Whether this COMMIT, in its first rotation, is for us to fill in now, and from the node that
/// should send it.
pub(crate) fn is_turn(token: &CommitToken, from: NodeId, ctx: &Context) -> bool {
    let order = token.order();
    let place = order.iter().position(|node| *node == ctx.config.me);
    let before = neighbours(&order, &ctx.config.me).map(|(before, _)| before);
    token.rotation == 1
        && place.is_some_and(|place| place > 0 && token.old_rings.len() == place)
        && before == Some(from)
        && ctx.may_attempt(&token.id)
}
