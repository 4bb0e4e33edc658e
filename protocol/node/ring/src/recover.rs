//! Recover: the survivors of each old configuration exchange its packets on the new ring, then all
//! install the new one at once.
//!
//! Every member sends, as packets of the new ring, those packets of its old ring that somebody may
//! lack, and then END. A packet is processed in its order, so a member that has all ENDs has
//! everything. The new configuration is installed at the visit of the token at which the last END
//! is *safe*. All members then have everything. Every other member finds the same at its next
//! visit, before anything that it says can make a message of the new configuration safe.
//!
//! **One line** (O2): messages up to the highest number that any survivor has delivered, or knows
//! to be safe, belong to the old regular configuration. If nobody was lost, all messages do. The
//! line follows from the commit token alone, so it is the same for all.
//!
//! **Obligations** (Moser et al. 1994): a member that has all ENDs must expect that another member
//! has installed the configuration, and has delivered what its survivors sent even beyond a hole.
//! From then on it must deliver the same, whatever becomes of this attempt.
//!
//! **Owed** (ORD-13): each survivor says before its END what it delivered early. That counts with
//! all ENDs, and then stays, too.

use crate::circuit::{Circuit, Lost, Source};
use crate::commit::{Repeat, last};
use crate::context::{Context, Step};
use crate::data::{Class, Data, HEADER_BYTES, Head, packet_bytes};
use crate::error::RingError;
use crate::given::{Given, SPANS_MAX, Span};
use crate::key::{KeyChange, RingKeys};
use crate::message::{CommitToken, Join, Last, OldRing, Token};
use crate::order::{Missing, Order, bit};
use crate::output::{Cause, Output};
use bytes::{BufMut, BytesMut};
use core::time::Duration;
use folkmoot_base::{ConfigurationId, Danger, Instant, Mutant, NodeId};
use std::collections::{BTreeSet, VecDeque};

/// Most spans of early deliveries that are taken of each survivor, one with another: it keeps no
/// more packets.
const SAID_MAX: usize = 4_096;

/// What is to be recovered, and how much of it has been.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The nodes that come from the same old configuration, sorted.
    pub(crate) survivors: Vec<NodeId>,
    /// Up to this number messages belong to the old regular configuration.
    pub(crate) line: u64,
    /// Members of the old configuration whose packets count after a hole, beside the survivors.
    pub(crate) obligations: u64,
    /// What this node sends of its old ring.
    to_send: VecDeque<Missing>,
    /// What was heard of the old ring on the new one.
    seen: BTreeSet<Missing>,
    /// What this node delivered early in its old ring, and has not said yet.
    to_say: Vec<Span>,
    /// What survivors have said that they delivered early.
    given: Vec<Span>,
    ended: bool,
    /// Members whose END was processed, by index in the new configuration.
    ends: u64,
    /// The place of the last END.
    last_end: u64,
}

impl Plan {
    fn new(old: Option<&Order>, token: &CommitToken, me: NodeId) -> Self {
        let mut brought: Vec<(NodeId, OldRing)> = token
            .order()
            .iter()
            .zip(&token.old_rings)
            .filter(|(node, old_ring)| **node == me || old.is_some_and(|old| old_ring.id == Some(old.id)))
            .map(|(node, old_ring)| (*node, *old_ring))
            .collect();
        brought.sort_by_key(|(node, _)| *node);
        let line =
            brought.iter().map(|(_, old_ring)| old_ring.delivered.max(old_ring.safe)).max().unwrap_or(0);
        let obligations = brought.iter().fold(0, |set, (_, old_ring)| set | old_ring.obligations);
        Self {
            survivors: brought.iter().map(|(node, _)| *node).collect(),
            line,
            obligations,
            to_send: old.map(|old| share(old, &brought, me)).unwrap_or_default(),
            seen: BTreeSet::new(),
            to_say: old.filter(|_| brought.len() > 1).map(Order::given).unwrap_or_default(),
            given: Vec::new(),
            ended: false,
            ends: 0,
            last_end: 0,
        }
    }
}

/// What of the old order this node sends. Up to the highest place that some survivor has reached
/// without a hole, one such survivor sends what others may lack. Beyond that place, every node
/// sends what it has and has not yet heard on the new ring.
fn share(old: &Order, brought: &[(NodeId, OldRing)], me: NodeId) -> VecDeque<Missing> {
    if brought.len() <= 1 {
        return VecDeque::new();
    }
    let low = brought.iter().map(|(_, old_ring)| old_ring.held).min().unwrap_or(0);
    let full = brought.iter().map(|(_, old_ring)| old_ring.held).max().unwrap_or(0);
    let holder = brought.iter().find(|(_, old_ring)| old_ring.held == full).map(|(node, _)| *node);
    old.share(low, full, holder == Some(me)).into()
}

/// The plan's packets as the token's source.
struct Recovered<'a> {
    plan: &'a mut Plan,
    old: Option<&'a Order>,
}

impl Source for Recovered<'_> {
    fn packet(&mut self, head: Head, _: &Order, _: bool) -> Option<Data> {
        while let Some(lacking) = self.plan.to_send.pop_front() {
            let Some(old) = self.old.and_then(|old| old.frame(lacking)) else { continue };
            if !self.plan.seen.insert(lacking) {
                continue;
            }
            let mut frame = BytesMut::with_capacity(HEADER_BYTES.saturating_add(old.len()));
            head.begin(Class::Recovered, &mut frame);
            frame.put_slice(&old);
            return Some(head.end(Class::Recovered, frame));
        }
        let left = self.plan.to_say.len();
        if let Some(old) = self.old.filter(|_| left > 0) {
            let spans = self.plan.to_say.split_off(left.saturating_sub(SPANS_MAX));
            return Some(Given { ring: old.handle(), spans }.packet(head));
        }
        if self.plan.ended {
            return None;
        }
        self.plan.ended = true;
        let mut frame = BytesMut::with_capacity(HEADER_BYTES);
        head.begin(Class::End, &mut frame);
        Some(head.end(Class::End, frame))
    }

    fn answers(&self) -> bool {
        false
    }

    fn backlog(&self) -> u32 {
        let lists = self.plan.to_say.len().div_ceil(SPANS_MAX);
        let left = self.plan.to_send.len().saturating_add(lists).saturating_add((!self.plan.ended).into());
        u32::try_from(left).unwrap_or(u32::MAX)
    }
}

/// Exchanging what is left of the old configurations.
#[derive(Debug)]
pub(crate) struct Recover {
    pub(crate) old: Option<Order>,
    pub(crate) circuit: Circuit,
    pub(crate) plan: Plan,
    /// The nodes given up in the gather before.
    pub(crate) given_up: BTreeSet<NodeId>,
    token: CommitToken,
    /// RING-34: no two members come from one old ring, and the ring is far: nothing is exchanged.
    new: bool,
    repeat: Option<Repeat>,
    /// How far it has come, and since when.
    stage: Stage,
    since: Instant,
}

/// How far a recovery has come: none of these numbers ever falls.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Stage {
    ends: u64,
    processed: u64,
    safe: u64,
    left: u32,
}

impl Recover {
    /// All old rings are known: passes them on to these (second rotation) and begins.
    pub(crate) fn new(
        now: Instant,
        mut token: CommitToken,
        old: Option<Order>,
        (given_up, to): (BTreeSet<NodeId>, Vec<NodeId>),
        ctx: &mut Context,
    ) -> Self {
        token.rotation = 2;
        ctx.time_ring(&token);
        ctx.out.push_back(Output::Key(KeyChange::Attempt(RingKeys::of(&token, &ctx.config.me))));
        let plan = Plan::new(old.as_ref(), &token, ctx.config.me);
        let circuit = Circuit::new(token.id, token.members.clone().into(), now, &ctx.config);
        let repeat = (!circuit.is_alone() && !to.is_empty()).then(|| Repeat::start(now, &token, to, ctx));
        let new = token.is_far_and_new(ctx.config.danger);
        Self { old, circuit, plan, given_up, token, new, repeat, stage: Stage::default(), since: now }
    }

    /// The representative sends the first token right behind the second COMMIT. Whoever has the
    /// token first, or has it alone, waits until both are repeated.
    pub(crate) fn begin(&mut self, now: Instant, ctx: &mut Context) -> (Step, Option<Token>) {
        if self.repeat.is_none() || self.token.id.representative != ctx.config.me {
            return (Step::Stay, None);
        }
        let mut first = self.circuit.first_token();
        self.circuit.accept(now, &mut first, &ctx.config);
        self.go_on(now, first, ctx)
    }

    /// The token is here.
    fn go_on(&mut self, now: Instant, token: Token, ctx: &mut Context) -> (Step, Option<Token>) {
        if self.is_complete(ctx) {
            return (Step::Install, Some(token));
        }
        self.visit(now, token, ctx);
        (Step::Stay, None)
    }

    /// The second COMMIT has come round: it need not be repeated.
    pub(crate) fn commit(&mut self, from: NodeId, token: &CommitToken, ctx: &Context) {
        let representative = token.id.representative == ctx.config.me;
        if representative && token == &self.token && crate::commit::before(token, ctx) == Some(from) {
            self.repeat = None;
        }
    }

    fn visit(&mut self, now: Instant, token: Token, ctx: &mut Context) {
        let mut source = Recovered { plan: &mut self.plan, old: self.old.as_ref() };
        self.circuit.serve(now, token, &mut source, &ctx.config, &mut ctx.out);
        self.process(now);
    }

    pub(crate) fn token(
        &mut self,
        now: Instant,
        from: NodeId,
        mut token: Token,
        ctx: &mut Context,
    ) -> Result<(Step, Option<Token>), RingError> {
        if !self.circuit.token(now, from, &mut token, &ctx.config)? {
            return Ok((Step::Stay, None));
        }
        self.hears(&from);
        self.process(now);
        Ok(self.go_on(now, token, ctx))
    }

    /// Whoever sends in the new ring has the second COMMIT.
    fn hears(&mut self, from: &NodeId) {
        self.repeat.take_if(|repeat| repeat.hears(from));
    }

    /// All ENDs are here, and all members are known to have them.
    fn is_complete(&self, ctx: &Context) -> bool {
        if ctx.config.danger.is(Danger::RingSkipRecovery) {
            return true;
        }
        self.new || self.has_all_ends() && self.circuit.order.safe >= self.plan.last_end
    }

    fn has_all_ends(&self) -> bool {
        let members = self.circuit.order.members.len();
        (0..members).all(|index| self.plan.ends & bit(index) != 0)
    }

    pub(crate) fn data(&mut self, now: Instant, from: NodeId, data: Data) -> Result<(), RingError> {
        self.circuit.data(from, data)?;
        self.hears(&from);
        self.process(now);
        Ok(())
    }

    /// Processes the new ring's packets whose turn it is. Messages of members that have already
    /// installed the configuration wait.
    fn process(&mut self, now: Instant) {
        let danger = self.circuit.order.danger;
        while let Some(packet) = self.circuit.order.next_recovered() {
            match packet.class {
                Class::Recovered => self.recovered(&packet),
                Class::Given => self.given(&packet),
                Class::End => self.end(&packet, danger),
                // Messages wait, and records have been taken.
                _ => {}
            }
        }
        self.circuit.order.discard();
        self.watch(now);
    }

    /// Notes whether this recovery has come any further.
    fn watch(&mut self, now: Instant) {
        let source = Recovered { plan: &mut self.plan, old: self.old.as_ref() };
        let left = source.backlog();
        let order = &self.circuit.order;
        let stage = Stage { ends: self.plan.ends, processed: order.delivered(), safe: order.safe, left };
        if stage != self.stage {
            (self.stage, self.since) = (stage, now);
        }
    }

    /// The members that stop it although nobody lacks a packet: those that have not said that they
    /// have no more.
    pub(crate) fn stoppers(&self, now: Instant, span: Duration, ctx: &Context) -> Vec<NodeId> {
        let fed = self.circuit.is_fed(now, &ctx.config) && !self.circuit.is_stuck();
        if !fed || now.since(self.since) < span {
            return Vec::new();
        }
        let members = self.circuit.order.members.iter().enumerate();
        members.filter(|(index, _)| self.plan.ends & bit(*index) == 0).map(|(_, node)| *node).collect()
    }

    fn recovered(&mut self, packet: &Data) {
        let Some(old) = self.old.as_mut() else { return };
        let Ok(inner) = packet.recovered() else { return };
        let survivor = says_of_old(&self.plan, &self.circuit, packet);
        if inner.ring != old.handle() || !survivor || !inner.is_within(old.members.len()) {
            return;
        }
        self.plan.seen.insert(match inner.class {
            Class::Record => Missing::Record(inner.number),
            _ => Missing::Packet(inner.sender, inner.number),
        });
        old.take(inner);
    }

    /// ORD-13: what a survivor delivered early.
    fn given(&mut self, packet: &Data) {
        let Some((old, given)) = self.old.as_ref().zip(packet.given()) else { return };
        let survivor = says_of_old(&self.plan, &self.circuit, packet);
        let most = SAID_MAX.saturating_mul(self.plan.survivors.len());
        if given.ring == old.handle() && survivor && self.plan.given.len() < most {
            self.plan.given.extend(given.spans);
        }
    }

    fn end(&mut self, packet: &Data, danger: Mutant) {
        self.plan.ends |= bit(usize::from(packet.sender));
        self.plan.last_end = self.plan.last_end.max(self.circuit.order.delivered());
        if !self.has_all_ends() {
            return;
        }
        if let Some(old) = self.old.as_mut() {
            let survivors = self.plan.survivors.iter().fold(0, |set, node| set | old.bit(node));
            old.obligations |= survivors | self.plan.obligations;
            if !danger.is(Danger::RingForgetsOwed) {
                old.owe(&self.plan.given);
            }
        }
    }

    /// A JOIN. One from a member that is younger than the attempt ends the attempt. Outsiders are
    /// answered.
    pub(crate) fn join(&self, now: Instant, from: NodeId, join: &Join, ctx: &mut Context) -> Step {
        if self.token.members.binary_search(&from).is_err() {
            let current = self.old.as_ref().map(|old| old.id);
            ctx.answer_outsider(now, from, join, &self.token.members, current);
            return Step::Stay;
        }
        if join.bound == 1 && join.current == Some(self.token.id) {
            return Step::Stay; // It has installed what we are recovering for.
        }
        if is_stale(from, join, &self.token, ctx.config.danger) {
            Step::Stay
        } else {
            Step::Gather(Cause::MemberGathers(from))
        }
    }

    pub(crate) fn last(&self, me: &NodeId, late: u8) -> Option<Last> {
        self.circuit.last_pass(late).or_else(|| last(&self.token, 2, me, late))
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) -> Step {
        let mut source = Recovered { plan: &mut self.plan, old: self.old.as_ref() };
        match self.circuit.timeout(now, &mut source, &ctx.config, &mut ctx.out) {
            Err(Lost::Token) => return Step::Gather(Cause::RecoveryLost),
            Err(Lost::Progress) => return Step::Gather(Cause::Stalled),
            Ok(()) => {}
        }
        if !self.circuit.is_alone() && self.since + ctx.config.timing.stall <= now {
            return Step::Gather(Cause::Stalled);
        }
        if let Some(repeat) = self.repeat.as_mut() {
            repeat.timeout(now, ctx);
        }
        Step::Stay
    }

    pub(crate) fn poll_timeout(&self, ctx: &Context) -> Option<Instant> {
        let stall = ctx.config.timing.stall;
        let repeat = self.repeat.as_ref().map(Repeat::poll_timeout);
        let stuck = (!self.circuit.is_alone()).then_some(self.since + stall);
        [self.circuit.poll_timeout(&ctx.config.timing), repeat, stuck].into_iter().flatten().min()
    }

    /// Ends the old configuration and begins the new one: all outputs of the step at once. The new
    /// ring goes on.
    pub(crate) fn install(mut self, ctx: &mut Context) -> (Circuit, CommitToken, Option<Repeat>) {
        self.token.contributions.clear();
        let id = self.token.id;
        let members = self.token.members.clone();
        let mut before = Vec::new();
        if let Some(mut old) = self.old {
            before = old.members.to_vec();
            let whole = self.plan.survivors.len() == old.members.len();
            let line = if ctx.config.danger.is(Danger::RingOwnLine) {
                old.delivered().max(old.safe)
            } else if whole {
                self.plan.line.max(old.held())
            } else {
                self.plan.line
            };
            old.obligations |= self.plan.obligations;
            let obligations = old.obligations;
            old.finish(line, &self.plan.survivors, obligations, &mut ctx.out);
        }
        let came = |node: &&NodeId| self.plan.survivors.binary_search(node).is_ok();
        let joined = members.iter().filter(|node| before.is_empty() || !came(node)).copied().collect();
        let left = before.iter().filter(|node| !came(node)).copied().collect();
        let mut shown = members;
        if ctx.config.danger.is(Danger::RingForeignMember) && shown.len() > 1 {
            shown.retain(|node| *node == ctx.config.me || *node == id.representative);
        }
        ctx.out.push_back(Output::Key(KeyChange::Installed));
        ctx.out.push_back(Output::Regular { id, members: shown, joined, left });
        ctx.queue.restart(packet_bytes(self.token.mtu()));
        if ctx.config.danger.is(Danger::RingDropsOwn) {
            ctx.queue.clear();
        }
        (self.circuit, self.token, self.repeat)
    }
}

/// RING-11: only what survivors of our own old configuration say about it counts.
fn says_of_old(plan: &Plan, circuit: &Circuit, packet: &Data) -> bool {
    let sender = circuit.order.members.get(usize::from(packet.sender));
    sender.is_some_and(|node| plan.survivors.binary_search(node).is_ok())
}

/// RING-50: whether a JOIN was sent before its sender took part in the ring of `token`. On a long
/// path it may be from any configuration before the one that the sender brought. One that names a
/// younger one is news: its sender went there in place of this ring.
pub(crate) fn is_stale(from: NodeId, join: &Join, token: &CommitToken, danger: Mutant) -> bool {
    let Some(old_ring) = token.old_ring(&from) else { return true };
    let (current, brought) = (join.current, old_ring.id);
    let number = |id: Option<ConfigurationId>| id.map(|id| id.ring_seq);
    let before = number(current) < number(brought) && !danger.is(Danger::RingOldJoinEnds);
    join.ring_seq < token.id.ring_seq && (current == brought || before)
}
