//! Commit: the members of the next configuration learn of it, and each says what it brings.
//!
//! ```text
//! representative --COMMIT 1: old rings--> member --> ... --> representative --COMMIT 2: all of them--> ... --> representative
//! ```
//! In the first rotation each member adds its old ring, what its paths carry and how long they
//! take, and what it contributes to the secret of the new ring (key.rs). With the second it begins
//! to recover. A COMMIT is repeated until the next stage shows at the receiver. If that does not
//! show in time, or if a member gathers, a gather begins.

use crate::before::Early;
use crate::context::{Context, Step};
use crate::data::{Data, RingHandle};
use crate::entry::entry;
use crate::key::Contribution;
use crate::message::{CommitToken, Control, Entry, Join, Last, Token, neighbours};
use crate::order::Order;
use crate::output::{Cause, Output};
use bytes::Bytes;
use core::fmt;
use folkmoot_base::{Instant, NodeId};
use std::collections::BTreeSet;

/// A COMMIT that is repeated until the next stage is seen. Its frame holds contributions, and is
/// not printed.
pub(crate) struct Repeat {
    to: Vec<NodeId>,
    frame: Bytes,
    at: Instant,
}

impl fmt::Debug for Repeat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Repeat(to {:?}, {} bytes, at {:?})", self.to, self.frame.len(), self.at)
    }
}

impl Repeat {
    /// Sends `token` to these, now and again.
    pub(crate) fn start(now: Instant, token: &CommitToken, to: Vec<NodeId>, ctx: &mut Context) -> Self {
        let frame = Control::Commit(token.clone()).encode();
        let repeat = Self { to, frame, at: now + ctx.config.timing.commit_repeat };
        repeat.send(ctx);
        repeat
    }

    fn send(&self, ctx: &mut Context) {
        let to = self.to.iter();
        ctx.out.extend(to.map(|to| Output::Send { to: *to, frame: self.frame.clone() }));
    }

    /// This member needs it no more. Whether that is the last of them.
    pub(crate) fn hears(&mut self, node: &NodeId) -> bool {
        self.to.retain(|to| to != node);
        self.to.is_empty()
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) {
        if self.at <= now {
            self.at = now + ctx.config.timing.commit_repeat;
            self.send(ctx);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Instant {
        self.at
    }
}

/// The member after this node.
pub(crate) fn after(token: &CommitToken, ctx: &Context) -> NodeId {
    neighbours(&token.order(), &ctx.config.me).map_or(ctx.config.me, |(_, after)| after)
}

/// Waiting for the second rotation.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) old: Option<Order>,
    /// The nodes given up in the gather before.
    pub(crate) given_up: BTreeSet<NodeId>,
    token: CommitToken,
    mine: Entry,
    repeat: Repeat,
    deadline: Instant,
    early: Early,
}

impl Commit {
    /// Adds this node's old ring, its contribution and what its paths carry to `token`, and passes
    /// it on.
    pub(crate) fn new(
        now: Instant,
        mut token: CommitToken,
        given_up: BTreeSet<NodeId>,
        old: Option<Order>,
        contribution: Contribution,
        ctx: &mut Context,
    ) -> Self {
        ctx.attempt(&token.id);
        let mine = entry(old.as_ref(), contribution, &token.members, (&ctx.config.me, &ctx.candidates));
        token.add(mine.clone());
        let repeat = Repeat::start(now, &token, vec![after(&token, ctx)], ctx);
        let deadline = now + ctx.config.timing.commit;
        Self { old, given_up, token, mine, repeat, deadline, early: Early::default() }
    }

    /// A packet: kept if it is of this attempt's ring.
    pub(crate) fn data(&mut self, from: NodeId, data: Data) {
        if data.ring == RingHandle::of(&self.token.id.nonce) && self.has(&from) {
            self.early.data(from, data);
        }
    }

    /// A token: kept if it is of this attempt's ring.
    pub(crate) fn token(&mut self, from: NodeId, token: Token) {
        if token.ring == self.token.id.nonce && self.has(&from) {
            self.early.token(from, token);
        }
    }

    /// What came early.
    pub(crate) fn take_early(&mut self) -> Early {
        core::mem::take(&mut self.early)
    }

    fn represents(&self, ctx: &Context) -> bool {
        self.token.id.representative == ctx.config.me
    }

    /// COMMIT: the first rotation is complete (at the representative), or the second comes (at the
    /// others), or it belongs to a newer attempt.
    pub(crate) fn commit(&mut self, from: NodeId, token: CommitToken, ctx: &Context) -> Step {
        if token.id != self.token.id {
            let newer = token.members == self.token.members && crate::gather::is_turn(&token, from, ctx);
            return if newer { Step::Commit(Box::new(token)) } else { Step::Stay };
        }
        let me = &ctx.config.me;
        let mine = token.entry(me).is_some_and(|entry| entry == self.mine); // RING-24
        let unchanged = token.members == self.token.members && mine;
        let complete = token.old_rings.len() == token.members.len();
        let wanted = if self.represents(ctx) { 1 } else { 2 };
        if unchanged && complete && token.rotation == wanted && before(&token, ctx) == Some(from) {
            return Step::Recover(Box::new(token));
        }
        Step::Stay
    }

    /// A JOIN. One from a member ends the attempt, unless it is one that led to the attempt.
    /// Outsiders are answered.
    pub(crate) fn join(&self, now: Instant, from: NodeId, join: &Join, ctx: &mut Context) -> Step {
        if !self.has(&from) {
            let current = self.old.as_ref().map(|old| old.id);
            ctx.answer_outsider(now, from, join, &self.token.members, current);
            return Step::Stay;
        }
        let fresh = join.ring_seq >= self.token.id.ring_seq || join.wants != self.token.members;
        if fresh { Step::Gather(Cause::MemberGathers(from)) } else { Step::Stay }
    }

    pub(crate) fn last(&self, me: &NodeId, late: u8) -> Option<Last> {
        last(&self.token, 1, me, late)
    }

    pub(crate) fn has(&self, node: &NodeId) -> bool {
        self.token.members.binary_search(node).is_ok()
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) -> Step {
        if self.deadline <= now {
            return Step::Gather(Cause::CommitLost);
        }
        self.repeat.timeout(now, ctx);
        Step::Stay
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Some(self.deadline.min(self.repeat.poll_timeout()))
    }
}

/// The node that passes to this node.
pub(crate) fn before(token: &CommitToken, ctx: &Context) -> Option<NodeId> {
    neighbours(&token.order(), &ctx.config.me).map(|(before, _)| before)
}

/// How far `token` came here, in its first rotation or the second.
pub(crate) fn last(token: &CommitToken, rotation: u8, me: &NodeId, late: u8) -> Option<Last> {
    let order = token.order();
    let place = order.iter().position(|node| node == me)?;
    let before = if rotation == 1 { 0 } else { order.len() };
    let step = u64::try_from(before.saturating_add(place)).ok()?;
    Some(Last { ring: token.id.nonce, step, next: neighbours(&order, me)?.1, late, held: 0 })
}
