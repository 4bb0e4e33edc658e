//! The ring: one order for all members, through loss, crashes, partitions and merges.
//!
//! Promise: extended virtual synchrony (Moser, Amir, Melliar-Smith, Agarwal 1994), although nodes
//! crash and networks lose, repeat, reorder, delay, cut and heal. It is reached over Totem's single
//! ring (Amir et al., ACM TOCS 13(4), 1995) with the token passed on before the data (Babay and
//! Amir). What each message promises depends on its [`Service`].
//!
//! ```text
//!          submit                      Deliver, Transitional, Regular
//!            |                                    ^
//!         [queue] --> own stream ----> [order] ---'
//!                        ^                ^
//!   frame --> Operational: token   streams, records    Gather: JOIN --> Commit: COMMIT --> Recover: old packets, END
//!                ^                              ^                                      |
//!                '------------------------------+--------------------------------------'
//! ```
//! Relies on: links that authenticate the sender and drop what an earlier process of a restarted
//! node sent. Does not rely on: delivery, order or uniqueness of frames, or clocks. Does not defend
//! against members that lie about the order. Rules and messages: docs/protocol/ring.md.

mod before;
pub mod behind;
mod candidates;
mod circuit;
mod commit;
mod config;
mod context;
pub mod data;
mod early;
mod entry;
mod error;
mod finish;
mod gather;
pub mod given;
mod hearing;
mod key;
mod leaving;
mod lines;
mod merging;
pub mod message;
pub mod names;
mod operational;
mod order;
mod output;
mod pace;
mod paths;
mod pieces;
mod propose;
mod queue;
mod recover;
mod settle;
mod state;
mod status;
mod stream;
mod suspects;
mod times;
mod unreliable;
mod visits;
mod window;

pub use config::*;
pub use error::{RingError, StoredError, SubmitError};
pub use key::{CONTRIBUTION_BYTES, Contribution, KeyChange, RingKeys};
pub use output::{Cause, Change, Counters, Delivery, Output, Phase, Status};
pub use times::TRIP_MAX;

use bytes::Bytes;
use commit::Commit;
use context::{Context, Step};
use data::{Class, Data};
use folkmoot_base::{Danger, Entropy, Instant, Lead, NodeId, Service};
use gather::Gather;
use message::{CommitToken, Control, Frame, Held, Join, Token};
use operational::Operational;
use order::Order;
use recover::Recover;
use state::State;
use std::collections::BTreeSet;

/// One node's part in the ring.
#[derive(Debug)]
pub struct Ring {
    ctx: Context,
    /// Always `Some` between calls.
    state: Option<State>,
}

impl Ring {
    /// A node that has just started. It gathers, and forms a ring alone if nobody else is there.
    pub fn new(config: Config, stored_ring_seq: u64, now: Instant) -> Self {
        let mut ctx = Context::new(config, stored_ring_seq.min(RING_SEQ_MAX));
        ctx.learn(stored_ring_seq);
        let gather = Gather::new(now, &mut ctx, None);
        ctx.trace(Phase::Gather, Cause::Start);
        Self { ctx, state: Some(State::Gather(Box::new(gather))) }
    }

    /// A frame came over the link from `from`.
    ///
    /// # Errors
    /// [`RingError`]; the state is as it was.
    pub fn frame(
        &mut self,
        now: Instant,
        from: NodeId,
        frame: Bytes,
        entropy: &mut dyn Entropy,
    ) -> Result<(), RingError> {
        let done = self.take_frame(now, from, frame, entropy);
        match done {
            Ok(()) => self.ctx.stock(entropy),
            Err(_) => self.ctx.refused = self.ctx.refused.saturating_add(1),
        }
        done
    }

    fn take_frame(
        &mut self,
        now: Instant,
        from: NodeId,
        frame: Bytes,
        entropy: &mut dyn Entropy,
    ) -> Result<(), RingError> {
        if !self.ctx.candidates.is_eligible(&from) {
            return Err(RingError::PeerIneligible { peer: from }); // RING-03
        }
        let malformed = |source| RingError::PeerMalformed { peer: from, source };
        if Data::is_data(&frame) {
            // By itself: a frame of any kind has the size of a token.
            return self.take_packet(now, from, Data::decode_joined(frame).map_err(malformed)?);
        }
        match Frame::decode(frame).map_err(malformed)? {
            Frame::Data(packet, record) => self.take_packet(now, from, (packet, record)),
            Frame::Control(Control::Token(token)) => self.take_token(now, from, token, entropy),
            Frame::Control(Control::Join(join)) => self.take_join(now, from, &join, entropy),
            Frame::Control(Control::Commit(token)) => {
                let step = self.take_commit(from, token);
                self.apply(now, step, entropy);
                Ok(())
            }
            Frame::Control(Control::Hurry(hurry)) => {
                if let Some(State::Operational(state)) = self.state.as_mut() {
                    state.hurry(now, &from, hurry, &mut self.ctx);
                }
                Ok(())
            }
            Frame::Control(Control::Held(held)) => self.take_held(now, from, held),
            Frame::Control(Control::Ask(ask)) => {
                let circuit = match self.state.as_mut() {
                    Some(State::Operational(state)) => Some(&mut state.circuit),
                    Some(State::Recover(state)) => Some(&mut state.circuit),
                    _ => None,
                };
                if let Some(circuit) = circuit.filter(|circuit| circuit.order.ring() == ask.ring) {
                    circuit.asked(now, &from, &ask, &self.ctx.config.timing, &mut self.ctx.out);
                }
                Ok(())
            }
        }
    }

    /// Takes DATA, and then the record behind it. Both are of one sender and one ring, so the rules
    /// that refuse the one refuse the other.
    fn take_packet(
        &mut self,
        now: Instant,
        from: NodeId,
        (packet, record): (Data, Option<Data>),
    ) -> Result<(), RingError> {
        self.take_data(now, from, packet)?;
        record.map_or(Ok(()), |record| self.take_data(now, from, record))
    }

    fn take_data(&mut self, now: Instant, from: NodeId, data: Data) -> Result<(), RingError> {
        let ctx = &mut self.ctx;
        match self.state.as_mut() {
            Some(State::Operational(state)) if data.ring == state.circuit.order.handle() => {
                state.data(now, from, data, ctx)
            }
            _ if data.class == Class::Unreliable => Ok(()), // ORD-16
            Some(State::Recover(state)) if data.ring == state.circuit.order.handle() => {
                state.data(now, from, data)
            }
            Some(State::Gather(state)) if state.is_of_another(&data) => {
                state.data(from, data);
                Ok(())
            }
            // ORD-09: once its commit entry has said what this node holds, it takes no more of that.
            Some(state) if state.takes_late() || ctx.config.danger.is(Danger::RingTakesLate) => {
                if let Some(old) = state.old_mut() {
                    old.late(&from, data);
                }
                Ok(())
            }
            Some(State::Commit(state)) => {
                state.data(from, data);
                Ok(())
            }
            _ => Ok(()), // Of a ring that has ended, or is not ours: stale.
        }
    }

    /// RING-40: HELD counts in the configuration that is installed.
    fn take_held(&mut self, now: Instant, from: NodeId, held: Held) -> Result<(), RingError> {
        match self.state.as_mut() {
            Some(State::Operational(state)) if held.ring == state.circuit.order.ring() => {
                state.held(now, from, held, &mut self.ctx)
            }
            _ => Ok(()),
        }
    }

    fn take_token(
        &mut self,
        now: Instant,
        from: NodeId,
        token: Token,
        entropy: &mut dyn Entropy,
    ) -> Result<(), RingError> {
        let ctx = &mut self.ctx;
        let step = match self.state.as_mut() {
            Some(State::Operational(state)) if token.ring == state.circuit.order.ring() => {
                state.token(now, from, token, ctx)?
            }
            Some(State::Recover(state)) if token.ring == state.circuit.order.ring() => {
                let (step, token) = state.token(now, from, token, ctx)?;
                if matches!(step, Step::Install) {
                    self.install(now, token, entropy);
                    return Ok(());
                }
                step
            }
            Some(State::Commit(state)) => {
                state.token(from, token);
                Step::Stay
            }
            Some(State::Gather(state)) => {
                state.token(from, token);
                Step::Stay
            }
            _ => Step::Stay,
        };
        self.apply(now, step, entropy);
        Ok(())
    }

    fn take_join(
        &mut self,
        now: Instant,
        from: NodeId,
        join: &Join,
        entropy: &mut dyn Entropy,
    ) -> Result<(), RingError> {
        let ctx = &mut self.ctx;
        if let Some(rule) = join.broken_rule(&from) {
            return Err(RingError::PeerIllegal { peer: from, rule });
        }
        let known = ctx.candidates.join_number(&from);
        let member = self.state.as_ref().is_some_and(|state| state.has(&from));
        if join.number < known || (join.number == known && member) {
            return Ok(()); // RING-13; or older than the attempt or ring.
        }
        let news = ctx.candidates.heard_join(now, &from, join);
        let step = match self.state.as_mut() {
            Some(State::Operational(state)) => state.join(now, from, join, news, ctx),
            Some(State::Commit(state)) => state.join(now, from, join, ctx),
            Some(State::Recover(state)) => state.join(now, from, join, ctx),
            Some(State::Gather(_)) | None => Step::Stay,
        };
        self.apply(now, step, entropy);
        let Some(State::Gather(state)) = self.state.as_mut() else { return Ok(()) };
        self.ctx.time_gather();
        state.wait(&self.ctx);
        let step = state.join(now, from, join, news, &mut self.ctx);
        self.apply(now, step, entropy);
        Ok(())
    }

    fn take_commit(&mut self, from: NodeId, token: CommitToken) -> Step {
        let ctx = &mut self.ctx;
        match self.state.as_mut() {
            Some(State::Gather(state)) => state.commit(from, token, ctx),
            Some(State::Commit(state)) => state.commit(from, token, ctx),
            Some(State::Recover(state)) => {
                state.commit(from, &token, ctx);
                Step::Stay
            }
            Some(State::Operational(_)) | None => Step::Stay,
        }
    }

    /// Takes one message to be ordered. It is also delivered here, at its place in the order. The
    /// messages of one `party` of this node keep their order; those of different parties take
    /// turns. The message is `lead`, and then `payload`. `account` comes back in [`Output::Left`].
    ///
    /// # Errors
    /// [`SubmitError`]; the message was not taken.
    pub fn submit(
        &mut self,
        now: Instant,
        (party, account): (u16, u32),
        service: Service,
        (lead, payload): (Lead, Bytes),
    ) -> Result<(), SubmitError> {
        if service == Service::Unreliable {
            return self.send_unreliable(now, (lead, payload));
        }
        self.ctx.queue.push((party, account), service, (lead, payload))?;
        if let Some(State::Operational(state)) = self.state.as_mut() {
            state.submitted(now, &mut self.ctx);
        }
        self.ctx.watch_queue();
        Ok(())
    }

    /// ORD-16: what is unreliable leaves now, or never.
    fn send_unreliable(&mut self, now: Instant, message: (Lead, Bytes)) -> Result<(), SubmitError> {
        unreliable::check(&message)?;
        match self.state.as_mut() {
            Some(State::Operational(state)) => state.send_unreliable(now, message, &mut self.ctx),
            _ => self.ctx.counters.given_up = self.ctx.counters.given_up.saturating_add(1),
        }
        Ok(())
    }

    /// Whether `node` may take part: its link is up, it is on the roster, and its transcript equals
    /// ours.
    pub fn peer(&mut self, now: Instant, node: NodeId, eligible: bool) {
        let timing = self.ctx.config.timing;
        if node == self.ctx.config.me || !self.ctx.candidates.set(now, node, eligible, &timing) {
            return;
        }
        let lost = match self.state.as_mut() {
            Some(State::Gather(state)) => {
                state.peer(now, node, eligible, &mut self.ctx);
                false
            }
            Some(state) => !eligible && state.has(&node),
            None => false,
        };
        if lost {
            return self.gather(now, Cause::MemberLost(node));
        }
        if let Some(State::Operational(state)) = self.state.as_mut() {
            state.look_soon(now, &self.ctx);
        }
    }

    /// No node can become eligible for now. A gather that has heard of nobody then forms a ring
    /// alone at the next timeout, which is now, instead of waiting for others. Does nothing in any
    /// other state, and holds for this gather only.
    pub fn expect_nobody(&mut self, now: Instant) {
        if let Some(State::Gather(state)) = self.state.as_mut() {
            state.expect_nobody(now);
        }
    }

    /// The time that [`Self::poll_timeout`] named has come.
    pub fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.ctx.stock(entropy);
        let ctx = &mut self.ctx;
        let step = match self.state.as_mut() {
            Some(State::Operational(state)) => state.timeout(now, ctx),
            Some(State::Gather(state)) => state.timeout(now, ctx),
            Some(State::Commit(state)) => state.timeout(now, ctx),
            Some(State::Recover(state)) => state.timeout(now, ctx),
            None => Step::Stay,
        };
        self.apply(now, step, entropy);
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.ctx.out.pop_front()
    }

    /// When to call [`Self::timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state.as_ref()? {
            State::Operational(state) => state.poll_timeout(&self.ctx),
            State::Gather(state) => state.poll_timeout(),
            State::Commit(state) => state.poll_timeout(),
            State::Recover(state) => state.poll_timeout(&self.ctx),
        }
    }

    /// Does what a state asked for.
    fn apply(&mut self, now: Instant, step: Step, entropy: &mut dyn Entropy) {
        match step {
            Step::Stay => {}
            Step::Gather(cause) => self.gather(now, cause),
            Step::Propose(members) => self.propose(now, members, entropy),
            Step::Commit(token) => self.commit(now, *token, entropy),
            Step::Recover(token) => self.recover(now, *token, entropy),
            Step::Install => self.install(now, None, entropy),
        }
    }

    fn gather(&mut self, now: Instant, cause: Cause) {
        self.ctx.trace(Phase::Gather, cause);
        self.remember_how_far(now, cause);
        self.blame(now);
        self.ctx.merging.gather(matches!(cause, Cause::PeerArrived(_) | Cause::ForeignJoin(_)));
        if matches!(self.state, Some(State::Recover(_))) {
            self.ctx.out.push_back(Output::Key(KeyChange::Failed));
        }
        let mut old = self.leave().and_then(State::into_old);
        if self.ctx.config.danger.is(Danger::RingForgetsLists) {
            old.iter_mut().for_each(Order::forget_lists);
        }
        self.ctx.time_gather();
        let gather = Gather::new(now, &mut self.ctx, old);
        self.state = Some(State::Gather(Box::new(gather)));
    }

    /// Leaves a gather or a commit: what it has of the old configuration, and the nodes that it has
    /// given up. Any other state stays.
    fn leave_attempt(&mut self) -> Option<(Option<Order>, BTreeSet<NodeId>)> {
        match self.leave() {
            Some(State::Gather(state)) => Some((state.old, state.given_up)),
            Some(State::Commit(state)) => Some((state.old, state.given_up)),
            other => {
                self.state = other;
                None
            }
        }
    }

    fn leave(&mut self) -> Option<State> {
        let state = self.state.take()?;
        self.ctx.counters = self.ctx.counters.plus(state.counters());
        Some(state)
    }

    fn commit(&mut self, now: Instant, token: CommitToken, entropy: &mut dyn Entropy) {
        let Some((old, given_up)) = self.leave_attempt() else { return };
        self.ctx.trace(Phase::Commit, Cause::Agreed);
        let contribution = self.ctx.contribution(entropy);
        let commit = Commit::new(now, token, given_up, old, contribution, &mut self.ctx);
        self.state = Some(State::Commit(Box::new(commit)));
    }

    fn recover(&mut self, now: Instant, token: CommitToken, entropy: &mut dyn Entropy) {
        let early = match self.state.as_mut() {
            Some(State::Commit(state)) => state.take_early(),
            Some(State::Gather(state)) => state.take_early(),
            _ => before::Early::default(),
        };
        let before::Early { packets, first: token_before } = early.of(&token.id);
        let me = self.ctx.config.me;
        let to = match self.state.as_ref() {
            Some(State::Gather(_)) => {
                self.ctx.attempt(&token.id);
                let makes = token.id.representative == me;
                token.members.iter().filter(|node| makes && **node != me).copied().collect()
            }
            _ => vec![commit::after(&token, &self.ctx)],
        };
        let Some((old, given_up)) = self.leave_attempt() else { return };
        let alone = token.members.len() <= 1;
        self.ctx.trace(Phase::Recover, if alone { Cause::Alone } else { Cause::Committed });
        let mut recover = Recover::new(now, token, old, (given_up, to), &mut self.ctx);
        for (from, data) in packets {
            // What is illegal is as good as lost.
            let _ = recover.data(now, from, data);
        }
        let (step, first) = recover.begin(now, &mut self.ctx);
        self.state = Some(State::Recover(Box::new(recover)));
        if alone || matches!(step, Step::Install) {
            self.install(now, first, entropy);
        } else if let Some((from, token)) = token_before {
            let _ = self.take_token(now, from, token, entropy);
        }
    }

    /// Ends the old configuration, begins the new one, and goes on with the visit of `token`.
    fn install(&mut self, now: Instant, token: Option<Token>, entropy: &mut dyn Entropy) {
        let state = match self.state.take() {
            Some(State::Recover(state)) => state,
            other => {
                self.state = other;
                return;
            }
        };
        let timing = self.ctx.config.timing;
        let given_up = state.given_up.clone();
        let before = state.old.as_ref().map(|old| old.members.to_vec()).unwrap_or_default();
        let (circuit, formed_by, repeat) = state.install(&mut self.ctx);
        self.ctx.candidates.formed(now, &formed_by.members, &given_up, &timing, entropy);
        self.ctx.merging.formed(now, &before, &formed_by.members);
        self.ctx.trace(Phase::Operational, Cause::Recovered);
        self.ctx.counters.installed = self.ctx.counters.installed.saturating_add(1);
        let operational = Operational::begin(now, circuit, (formed_by, repeat), token, &mut self.ctx);
        self.state = Some(State::Operational(Box::new(operational)));
    }
}
