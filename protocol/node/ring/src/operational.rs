//! Operational: the token goes round, messages are numbered and delivered.
//!
//! The ring goes to Gather when the token is lost, when packets do not reach everybody, when a
//! member is lost or gathers, or when a larger set of nodes hears one another (merging.rs). This
//! node also tells eligible nodes outside the ring which nodes it hears.

use crate::circuit::{Circuit, Lost};
use crate::commit::Repeat;
use crate::config::PACKET_NUMBER_MAX;
use crate::context::{Context, Step};
use crate::data::{Class, Data, packet_bytes};
use crate::error::RingError;
use crate::hearing::Report;
use crate::merging::newcomer;
use crate::message::{CommitToken, Held, Hurry, Join, Token};
use crate::order::place_order;
use crate::output::{Cause, Counters, Output};
use crate::queue::Message;
use crate::recover::is_stale;
use crate::unreliable::Unreliable;
use crate::window::Stored;
use bytes::Bytes;
use folkmoot_base::{Danger, Instant, Lead, NodeId};

/// A configuration, installed.
#[derive(Debug)]
pub(crate) struct Operational {
    pub(crate) circuit: Circuit,
    pub(crate) formed_by: CommitToken,
    /// The second COMMIT, until the next member is heard in this ring.
    repeat: Option<Repeat>,
    pub(crate) since: Instant,
    /// When to look for new nodes, and to tell them which nodes we hear.
    look_at: Option<Instant>,
    /// How often everybody is still to be told again, since one message may be lost.
    repeats: u8,
    /// A member was said to lack something.
    lacking: bool,
    unreliable: Unreliable,
    /// RING-47: when something was last delivered here.
    delivered_at: Option<Instant>,
}

/// How often the members are told again that the nodes which we hear have changed.
const REPEATS: u8 = 3;

impl Operational {
    /// Begins; `token` is the one at whose visit the configuration was installed.
    pub(crate) fn begin(
        now: Instant,
        circuit: Circuit,
        (formed_by, repeat): (CommitToken, Option<Repeat>),
        token: Option<Token>,
        ctx: &mut Context,
    ) -> Self {
        let look_at = Some(now + ctx.config.timing.merge_delay);
        let unreliable = Unreliable::new(circuit.order.members.len(), ctx.config.danger);
        let mut operational = Self {
            circuit,
            formed_by,
            repeat,
            since: now,
            look_at,
            repeats: 0,
            lacking: false,
            unreliable,
            delivered_at: None,
        };
        operational.deliver(now, ctx);
        match token {
            Some(token) => operational.first_visit(now, token, ctx),
            None => operational.send_alone(now, ctx),
        }
        operational
    }

    /// Delivers what is ready.
    fn deliver(&mut self, now: Instant, ctx: &mut Context) {
        let before = ctx.out.len();
        self.circuit.order.deliver_ready(&mut ctx.out);
        if ctx.out.len() > before {
            self.delivered_at = Some(now);
        }
    }

    /// RING-47: whether something was delivered at this moment. The layers above have not answered
    /// it if it came in the same datagram or train as the token.
    fn has_just_delivered(&self, now: Instant, ctx: &Context) -> bool {
        self.delivered_at == Some(now) && !ctx.config.danger.is(Danger::RingTrainHurries)
    }

    /// The layers above answer the new configuration.
    fn first_visit(&mut self, now: Instant, token: Token, ctx: &mut Context) {
        let Some(token) = self.circuit.wait_for_packets(now, token, &ctx.config) else { return };
        if self.circuit.may_wait(&ctx.config) {
            return self.circuit.wait_for_answers(now, token);
        }
        self.visit(now, token, ctx);
    }

    fn visit(&mut self, now: Instant, token: Token, ctx: &mut Context) {
        // What the token brings of records and of the safe line is delivered before this visit numbers
        // anything, also while the token waits.
        let before = ctx.out.len();
        self.deliver(now, ctx);
        let Some(token) = self.circuit.wait_for_packets(now, token, &ctx.config) else { return };
        let brings = ctx.out.len() > before || self.has_just_delivered(now, ctx);
        if brings && self.circuit.may_wait(&ctx.config) {
            return self.circuit.wait_for_answers(now, token);
        }
        self.circuit.serve(now, token, &mut ctx.queue, &ctx.config, &mut ctx.out);
        self.deliver(now, ctx);
        ctx.watch_queue();
    }

    /// The only member needs no token.
    fn send_alone(&mut self, now: Instant, ctx: &mut Context) {
        use crate::circuit::Source as _;
        if !self.circuit.is_alone() {
            return;
        }
        while !ctx.queue.is_empty() && !self.is_spent() {
            let before = ctx.queue.backlog();
            self.circuit.place_alone(&mut ctx.queue);
            self.deliver(now, ctx);
            if ctx.queue.backlog() >= before && !ctx.queue.is_empty() {
                break;
            }
        }
        if self.is_spent() {
            self.look_at = Some(Instant::default());
        }
        ctx.watch_queue();
    }

    /// This node has used up numbers that no token counts: alone, or those of unreliable packets.
    fn is_spent(&self) -> bool {
        let alone = self.circuit.is_alone() && self.circuit.order.held() >= PACKET_NUMBER_MAX / 2;
        alone || self.unreliable.is_spent()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.circuit.counters().plus(self.unreliable.counters())
    }

    /// ORD-16: sends a message now, and delivers it here, or gives it up.
    pub(crate) fn send_unreliable(
        &mut self,
        now: Instant,
        (lead, payload): (Lead, Bytes),
        ctx: &mut Context,
    ) {
        let message = Message { class: Class::Unreliable, lead, payload, account: 0 };
        let way = (self.circuit.next_head(), &self.circuit.others);
        let most = packet_bytes(self.formed_by.mtu());
        let own = self.unreliable.send(now, &message, way, most, &mut ctx.out);
        if let Some(own) = own {
            self.circuit.order.emit_unreliable(ctx.config.me, own, &mut ctx.out);
        }
        if self.unreliable.is_spent() {
            self.look_at = Some(now);
        }
    }

    /// RING-40: a member says how far it holds the order.
    pub(crate) fn held(
        &mut self,
        now: Instant,
        from: NodeId,
        held: Held,
        ctx: &mut Context,
    ) -> Result<(), RingError> {
        if !self.circuit.held_came(&from, held) {
            return Err(RingError::PeerIllegal { peer: from, rule: "RING-40" });
        }
        self.agree_on_held(now, ctx);
        Ok(())
    }

    /// Delivers what has become safe by what members hold.
    fn agree_on_held(&mut self, now: Instant, ctx: &mut Context) {
        if self.circuit.agree_on_held(&ctx.config, &mut ctx.out) {
            self.deliver(now, ctx);
        }
    }

    /// RING-31: an unreliable packet counts only from the member that numbered it.
    fn unreliable(&mut self, from: NodeId, packet: &Data, ctx: &mut Context) -> Result<(), RingError> {
        let order = &self.circuit.order;
        if order.members.get(usize::from(packet.sender)) != Some(&from) {
            return Err(RingError::PeerIllegal { peer: from, rule: "RING-31" });
        }
        self.unreliable.take(packet, |payload| order.emit_unreliable(from, payload, &mut ctx.out));
        Ok(())
    }

    /// The queue has something new.
    pub(crate) fn submitted(&mut self, now: Instant, ctx: &mut Context) {
        if self.circuit.is_alone() {
            self.send_alone(now, ctx);
        } else if self.circuit.awaits_answers() {
            // It goes with the token.
        } else if self.circuit.is_idle() {
            self.circuit.release(now, &mut ctx.queue, &ctx.config, &mut ctx.out);
            self.deliver(now, ctx);
            ctx.watch_queue();
        } else {
            self.circuit.send_early(now, &mut ctx.queue, &ctx.config, &mut ctx.out);
            self.deliver(now, ctx);
        }
    }

    pub(crate) fn token(
        &mut self,
        now: Instant,
        from: NodeId,
        mut token: Token,
        ctx: &mut Context,
    ) -> Result<Step, RingError> {
        if !self.circuit.token(now, from, &mut token, &ctx.config)? {
            return Ok(Step::Stay);
        }
        self.hears(&from);
        if token.places >= PACKET_NUMBER_MAX / 2 {
            return Ok(Step::Gather(Cause::NumbersSpent));
        }
        self.visit(now, token, ctx);
        self.agree_on_held(now, ctx);
        self.tell_lacking(now, ctx);
        Ok(Step::Stay)
    }

    /// Whoever sends in this ring has the second COMMIT.
    fn hears(&mut self, from: &NodeId) {
        self.repeat.take_if(|repeat| repeat.hears(from));
    }

    /// RING-23: the token comes several times in the half of `stall` that is left. The first name
    /// stays: a member that lies could name another at each visit.
    fn tell_lacking(&mut self, now: Instant, ctx: &mut Context) {
        let lacks = self.circuit.lacks(now, &ctx.config);
        if lacks.is_some() != self.lacking {
            self.lacking = lacks.is_some();
            ctx.out.push_back(Output::Lacking(lacks));
        }
    }

    pub(crate) fn data(
        &mut self,
        now: Instant,
        from: NodeId,
        data: Data,
        ctx: &mut Context,
    ) -> Result<(), RingError> {
        if data.class == Class::Unreliable {
            return self.unreliable(from, &data, ctx);
        }
        let twice = ctx.config.danger.is(Danger::RingDuplicates);
        let early = ctx.config.danger.is(Danger::RingNoOrder);
        let again = (twice || early).then(|| data.clone());
        let stored = self.circuit.data(from, data)?;
        self.hears(&from);
        if let Some(data) = again
            && (twice && stored == Stored::Known || early && stored == Stored::New)
        {
            let order = place_order(data.number);
            self.circuit.order.emit(&data, order, false, &mut ctx.out);
        }
        if stored == Stored::New {
            self.deliver(now, ctx);
            self.circuit.have_packets_come(now);
            self.agree_on_held(now, ctx);
            self.circuit.heed(now, &mut ctx.queue, &ctx.config, &mut ctx.out);
        }
        Ok(())
    }

    pub(crate) fn hurry(&mut self, now: Instant, from: &NodeId, hurry: Hurry, ctx: &mut Context) {
        if hurry.ring == self.circuit.order.ring() {
            self.circuit.hurry(now, from, &mut ctx.queue, &ctx.config, &mut ctx.out);
        }
    }

    /// A JOIN. One from a member counts unless it is older than the ring; one from outside is
    /// answered.
    pub(crate) fn join(
        &mut self,
        now: Instant,
        from: NodeId,
        join: &Join,
        news: bool,
        ctx: &mut Context,
    ) -> Step {
        if !self.has(&from) {
            return self.outsider(now, from, join, news, ctx);
        }
        let here = join.bound == 1 && join.current == Some(self.circuit.order.id);
        if here || is_stale(from, join, &self.formed_by, ctx.config.danger) {
            if news {
                self.look_soon(now, ctx);
            }
            return Step::Stay;
        }
        Step::Gather(Cause::MemberGathers(from))
    }

    fn outsider(&mut self, now: Instant, from: NodeId, join: &Join, news: bool, ctx: &mut Context) -> Step {
        let asked = join.asks_for(&ctx.config.me);
        if (asked || news) && newcomer(now, &self.circuit.order.members, asked, ctx).is_some() {
            return Step::Gather(Cause::ForeignJoin(from));
        }
        let current = Some(self.circuit.order.id);
        ctx.answer_outsider(now, from, join, &self.circuit.order.members, current);
        if news {
            self.look_soon(now, ctx);
        }
        Step::Stay
    }

    /// The nodes that we can reach have changed, or what others say of themselves.
    pub(crate) fn look_soon(&mut self, now: Instant, ctx: &Context) {
        let soon = now + ctx.config.timing.merge_delay;
        self.look_at = Some(self.look_at.map_or(soon, |at| at.min(soon)));
    }

    pub(crate) fn has(&self, node: &NodeId) -> bool {
        self.circuit.order.members.binary_search(node).is_ok()
    }

    /// RING-27: the member whose path carries less than the packets of this configuration.
    pub(crate) fn too_narrow(&self, ctx: &Context) -> Option<NodeId> {
        let mtu = self.formed_by.mtu();
        self.circuit.others.iter().find(|node| ctx.candidates.path(node) < mtu).copied()
    }

    /// Tells which nodes we hear: everybody, if that has changed, and the nodes outside repeatedly.
    /// Then looks for a larger set.
    fn look(&mut self, now: Instant, ctx: &mut Context) -> Step {
        if let Some(node) = self.too_narrow(ctx) {
            return Step::Gather(Cause::PacketsTooLong(node));
        }
        let members = &self.circuit.order.members;
        let hears = ctx.hears(now);
        if hears != ctx.told {
            self.repeats = REPEATS;
        }
        let outsiders = ctx.candidates.has_outsiders(members);
        let report = Report { hears, wants: members.to_vec(), bound: true };
        if self.repeats > 0 {
            ctx.say_to_all(now, &report, Some(self.circuit.order.id), None);
        } else if outsiders {
            ctx.say_to_outsiders(now, &report, Some(self.circuit.order.id));
        }
        let again = self.repeats > 0 || outsiders;
        self.repeats = self.repeats.saturating_sub(1);
        let found = newcomer(now, members, false, ctx);
        let timing = &ctx.config.timing;
        let repeat = again.then(|| now + timing.report_repeat);
        let wakes = [repeat, ctx.candidates.next_return(now), ctx.merging.wake(now, timing.split_delay)];
        self.look_at = wakes.into_iter().flatten().min();
        found.map_or(Step::Stay, |node| Step::Gather(Cause::PeerArrived(node)))
    }

    pub(crate) fn timeout(&mut self, now: Instant, ctx: &mut Context) -> Step {
        if self.is_spent() {
            return Step::Gather(Cause::NumbersSpent);
        }
        if self.look_at.is_some_and(|at| at <= now) {
            let step = self.look(now, ctx);
            if !matches!(step, Step::Stay) {
                return step;
            }
        }
        if let Some(repeat) = self.repeat.as_mut() {
            repeat.timeout(now, ctx);
        }
        if let Err(lost) = self.circuit.timeout(now, &mut ctx.queue, &ctx.config, &mut ctx.out) {
            return Step::Gather(match lost {
                Lost::Token => Cause::TokenLost,
                Lost::Progress => Cause::Stalled,
            });
        }
        self.deliver(now, ctx);
        self.agree_on_held(now, ctx);
        ctx.watch_queue();
        Step::Stay
    }

    pub(crate) fn poll_timeout(&self, ctx: &Context) -> Option<Instant> {
        let repeat = self.repeat.as_ref().map(Repeat::poll_timeout);
        [self.circuit.poll_timeout(&ctx.config.timing), self.look_at, repeat].into_iter().flatten().min()
    }
}
