//! Operational: the token goes round, messages are numbered and delivered.
//!
//! Left for Gather when the token is lost, a member is lost or gathers, or somebody outside can be reached.

use crate::circuit::Circuit;
use crate::config::PACKET_SEQ_MAX;
use crate::context::{Context, Step};
use crate::error::RingError;
use crate::message::{CommitToken, Data, Head, Hurry, Join, Token};
use crate::output::{Cause, Timer};
use crate::recover::is_stale;
use crate::store::Stored;
use folkmoot_base::limits::NODES_MAX;
use folkmoot_base::{Danger, Instant, NodeId};

/// A configuration, installed.
#[derive(Debug)]
pub(crate) struct Operational {
    pub(crate) circuit: Circuit,
    pub(crate) formed_by: CommitToken,
    pub(crate) since: Instant,
}

impl Operational {
    /// Begins; `token` is the one at whose visit the configuration was installed.
    pub(crate) fn begin(
        now: Instant,
        circuit: Circuit,
        formed_by: CommitToken,
        token: Option<Token>,
        ctx: &mut Context,
    ) -> Self {
        let mut operational = Self { circuit, formed_by, since: now };
        operational.circuit.stream.deliver_ready(&mut ctx.out);
        match token {
            Some(token) => operational.visit(now, token, ctx),
            None => operational.send_alone(ctx),
        }
        operational
    }

    fn visit(&mut self, now: Instant, token: Token, ctx: &mut Context) {
        // What this visit's safe line allows comes before what this visit numbers.
        self.circuit.stream.deliver_ready(&mut ctx.out);
        self.circuit.serve(now, token, &mut ctx.queue, &ctx.config, &mut ctx.out);
        self.circuit.stream.deliver_ready(&mut ctx.out);
        ctx.watch_queue();
    }

    /// The only member needs no token.
    fn send_alone(&mut self, ctx: &mut Context) {
        use crate::circuit::Source as _;
        if !self.circuit.is_alone() {
            return;
        }
        let stream = &mut self.circuit.stream;
        while !ctx.queue.is_empty() {
            let head = Head { seq: stream.store.high().saturating_add(1), sender: 0, ring: stream.ring() };
            let Some(packet) = ctx.queue.packet(head) else { break };
            stream.store.insert(packet);
            stream.safe = stream.store.aru();
            stream.deliver_ready(&mut ctx.out);
        }
        ctx.watch_queue();
    }

    /// The queue has something new.
    pub(crate) fn submitted(&mut self, now: Instant, ctx: &mut Context) {
        if self.circuit.is_alone() {
            self.send_alone(ctx);
        } else if self.circuit.holds() {
            self.circuit.release(now, &mut ctx.queue, &ctx.config, &mut ctx.out);
            self.circuit.stream.deliver_ready(&mut ctx.out);
            ctx.watch_queue();
        } else {
            self.circuit.want(now, &ctx.config, &mut ctx.out);
        }
    }

    pub(crate) fn token(
        &mut self,
        now: Instant,
        from: NodeId,
        token: Token,
        ctx: &mut Context,
    ) -> Result<Step, RingError> {
        if !self.circuit.token(now, from, &token, &ctx.config)? {
            return Ok(Step::Stay);
        }
        if token.seq >= PACKET_SEQ_MAX / 2 {
            return Ok(Step::Gather(Cause::NumbersSpent));
        }
        self.visit(now, token, ctx);
        Ok(Step::Stay)
    }

    pub(crate) fn data(&mut self, from: NodeId, data: Data, ctx: &mut Context) -> Result<(), RingError> {
        let again = ctx.config.danger.is_some().then(|| data.clone());
        let stored = self.circuit.data(from, data)?;
        if let Some(data) = again {
            let twice = ctx.config.danger == Some(Danger::RingDuplicates) && stored == Stored::Known;
            let early = ctx.config.danger == Some(Danger::RingNoOrder) && stored == Stored::New;
            if twice || early {
                self.circuit.stream.emit(&data, false, &mut ctx.out);
            }
        }
        if stored == Stored::New {
            self.circuit.stream.deliver_ready(&mut ctx.out);
        }
        Ok(())
    }

    pub(crate) fn hurry(&mut self, now: Instant, hurry: Hurry, ctx: &mut Context) {
        if hurry.ring == self.circuit.stream.ring() {
            self.circuit.hurry(now, &mut ctx.queue, &ctx.config, &mut ctx.out);
        }
    }

    /// A JOIN: of a member, unless it is older than the ring; of somebody outside, if it asks for us.
    pub(crate) fn join(&self, from: NodeId, join: &Join, ctx: &Context) -> Step {
        if self.has(&from) {
            let stale = is_stale(from, join, &self.formed_by);
            return if stale { Step::Stay } else { Step::Gather(Cause::MemberGathers(from)) };
        }
        let asked = join.asks_for(&ctx.config.me);
        if asked { Step::Gather(Cause::ForeignJoin(from)) } else { Step::Stay }
    }

    pub(crate) fn has(&self, node: &NodeId) -> bool {
        self.circuit.stream.members.binary_search(node).is_ok()
    }

    fn next_merge(&self, ctx: &Context) -> Option<(Instant, NodeId)> {
        let members = &self.circuit.stream.members;
        if members.len() >= NODES_MAX { None } else { ctx.peers.next_retry(members) }
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) -> Step {
        if let Some((_, node)) = self.next_merge(ctx).filter(|(at, _)| *at <= now) {
            return Step::Gather(Cause::PeerArrived(node));
        }
        if self.circuit.timeout(now, &mut ctx.queue, &ctx.config, &mut ctx.out).is_err() {
            return Step::Gather(Cause::TokenLost);
        }
        self.circuit.stream.deliver_ready(&mut ctx.out);
        ctx.watch_queue();
        Step::Stay
    }

    pub(crate) fn poll_timeout(&self, ctx: &Context) -> Option<(Instant, Timer)> {
        let merge = self.next_merge(ctx).map(|(at, _)| (at, Timer::Merge));
        [self.circuit.poll_timeout(), merge].into_iter().flatten().min()
    }
}
