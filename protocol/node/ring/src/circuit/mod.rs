//! The token of one ring at this node: what a visit does, and when the token waits, is repeated,
//! hurried or lost.
//!
//! ```text
//! token comes -> safe line -> what is asked for -> record of own packets -> first new packets
//!             -> token goes -> the other new packets
//! ```
//! The token goes before most of the data (accelerated ring, Babay and Amir). A member therefore
//! asks only for what was in a record when its own previous visit ended: younger packets may still
//! be on their way. A member without the token may send a few packets early; whoever holds the
//! token passes it straight to such a member, which then makes the record of them.

mod ask;
mod held;
mod pass;
mod visit;

use crate::config::{ANSWERS_MAX, Config, STORE_PACKETS_MAX};
use crate::data::{Class, Data, Head};
use crate::error::RingError;
use crate::message::{Last, NOBODY, Token, Visited, visiting_order};
use crate::order::Order;
use crate::output::Counters;
use crate::pace::Pace;
use crate::pieces::Whole;
use crate::window::Stored;
use ask::Asking;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{ConfigurationId, Danger, Instant, NodeId, Pool};
use held::Said;
use std::sync::Arc;

/// Where new packets come from: the queue of messages, or what is to be recovered.
pub(crate) trait Source {
    /// The next packet of this order, with this header, also of safe messages, or of others only;
    /// `None` if there is nothing to send.
    fn packet(&mut self, head: Head, order: &Order, safe_too: bool) -> Option<Data>;
    /// A message whose last piece is in the packet just made, until `None`.
    fn cut(&mut self) -> Option<Whole> {
        None
    }
    /// About how many packets there are.
    fn backlog(&self) -> u32;
    /// Whether what the token brings may be answered here.
    fn answers(&self) -> bool {
        true
    }
}

/// The token as it was passed on. It is repeated until there is a sign of progress.
#[derive(Debug)]
struct Passed {
    frame: Bytes,
    /// It is repeated only to the member that it was passed to.
    to: NodeId,
    records: u64,
    at: Instant,
    repeats: u32,
}

/// The token, kept because the ring is idle, or until this node has answered what it brought.
#[derive(Debug)]
struct IdleToken {
    token: Token,
    until: Instant,
    answers: bool,
    /// RING-41: it waits for packets that its records name, up to this place.
    packets: Option<u64>,
}

/// What this member did on the last visit.
#[derive(Debug, Default, Clone, Copy)]
struct Visit {
    records: u64,
    places: u64,
    sent: u32,
    backlog: u32,
    quiet: u16,
}

/// One ring at this node.
#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) order: Order,
    pub(crate) others: Arc<[NodeId]>,
    counters: Counters,
    mine: u8,
    token_seq: u64,
    said: Said,
    /// The number of the last token passed on here, and to whom; 0 if there is none yet.
    passed_seq: u64,
    passed_to: NodeId,
    last: Visit,
    /// The token waits after a part of a visit.
    visited: bool,
    /// Room for the packets of a visit; empty between visits.
    fresh: Vec<Bytes>,
    pool: Pool,
    passed: Option<Passed>,
    idle: Option<IdleToken>,
    idle_span: Duration,
    /// How often the token may still wait for answers at this visit.
    answers: u8,
    hurried: bool,
    /// The member that asked for the token last.
    asked_by: Option<u8>,
    /// How many passes ago this member had the token before this visit.
    away: u16,
    hurry_at: Option<Instant>,
    loss_at: Instant,
    /// While the token is late.
    asking: Option<Asking>,
    pace: Pace,
    /// Since when nothing new has reached everybody, although something should have.
    stuck: Option<Stuck>,
    /// Since when this packet of ours waits for the places of others (ORD-02).
    waits: Option<(Instant, u64)>,
}

/// A place is given that some member does not hold.
#[derive(Debug, Clone, Copy)]
struct Stuck {
    since: Instant,
    held: u64,
    /// The member that has least, as the token says.
    holder: u8,
}

impl Circuit {
    pub(crate) fn new(id: ConfigurationId, members: Arc<[NodeId]>, now: Instant, config: &Config) -> Self {
        let place = members.binary_search(&config.me).unwrap_or(0);
        let mine = u8::try_from(place).unwrap_or(NOBODY);
        Self {
            others: members.iter().filter(|node| **node != config.me).copied().collect(),
            counters: Counters::default(),
            mine,
            passed_seq: 0,
            passed_to: config.me,
            order: Order::new(id, members, mine, config.danger),
            token_seq: 0,
            said: Said::default(),
            last: Visit::default(),
            visited: false,
            fresh: Vec::new(),
            pool: Pool::default(),
            passed: None,
            idle: None,
            idle_span: config.timing.idle_hold,
            answers: 0,
            hurried: false,
            asked_by: None,
            away: 0,
            hurry_at: None,
            loss_at: now + config.timing.token_loss,
            asking: None,
            pace: Pace::default(),
            stuck: None,
            waits: None,
        }
    }

    /// What this node did on this ring.
    pub(crate) fn counters(&self) -> Counters {
        Counters { copied: self.order.copied(), ..self.counters }
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.idle.is_some()
    }

    /// Whether the token waits for the answers to what it brought.
    pub(crate) fn awaits_answers(&self) -> bool {
        self.idle.as_ref().is_some_and(|idle| idle.answers)
    }

    /// The member that holds the token when all is quiet: the one that made the last record,
    /// because it is likely to send next. All members know that record then. Before the first
    /// record it is the representative.
    fn rests_at(&self) -> u8 {
        self.order.last_maker
    }

    fn size(&self) -> usize {
        self.others.len().saturating_add(1)
    }

    fn index_of(&self, node: &NodeId) -> Option<u8> {
        self.order.members.binary_search(node).ok().and_then(|index| u8::try_from(index).ok())
    }

    /// The header of this node's next packet.
    pub(crate) fn next_head(&self) -> Head {
        Head { number: self.order.next_number(), sender: self.mine, ring: self.order.handle() }
    }

    /// The last pass of the token from here, if there was one; every such pass is later than those
    /// of the commit token.
    pub(crate) fn last_pass(&self, late: u8) -> Option<Last> {
        let rotations = u64::try_from(self.size()).unwrap_or(u64::MAX).saturating_mul(2);
        let step = rotations.saturating_add(self.passed_seq);
        (self.passed_seq > 0).then(|| Last {
            ring: self.order.ring(),
            step,
            next: self.passed_to,
            late,
            held: self.order.held(),
        })
    }

    /// The first token of the ring; only its representative makes it. It goes round in the order of
    /// visits as long as nobody sends early.
    pub(crate) fn first_token(&self) -> Token {
        let members = &self.order.members;
        let order = visiting_order(members, &self.order.ring());
        let passes = |node: &NodeId| {
            let place = order.iter().position(|other| other == node).unwrap_or(0);
            u16::try_from(order.len().saturating_sub(place)).unwrap_or(u16::MAX)
        };
        Token {
            ring: self.order.ring(),
            token_seq: 1,
            records: 0,
            places: 0,
            members: members
                .iter()
                .map(|node| Visited { passes: passes(node), ..Visited::default() })
                .collect(),
            sent: 0,
            backlog: 0,
            quiet: 0,
            requests: Vec::new(),
        }
    }

    /// Takes a packet or a record in, whether sent for the first time or again (RING-05, RING-06).
    pub(crate) fn data(&mut self, from: NodeId, data: Data) -> Result<Stored, RingError> {
        let illegal = |rule| RingError::PeerIllegal { peer: from, rule };
        if self.order.members.binary_search(&from).is_err() {
            return Err(illegal("RING-05"));
        }
        if usize::from(data.sender) >= self.order.members.len() {
            return Err(illegal("RING-06"));
        }
        if !data.is_within(self.order.members.len()) {
            return Err(illegal("RING-32"));
        }
        self.is_there(&from);
        let record = data.class == Class::Record;
        let by_others = record && self.order.danger.is(Danger::RingOrdersOthers);
        if data.sender == self.mine && !by_others {
            return Ok(Stored::Known);
        }
        if record && self.passed.as_ref().is_some_and(|passed| data.number > passed.records) {
            self.passed = None;
        }
        Ok(self.order.take(data))
    }

    /// Takes the token in, if it is the next one. `Ok(false)`: seen before.
    pub(crate) fn token(
        &mut self,
        now: Instant,
        from: NodeId,
        token: &mut Token,
        config: &Config,
    ) -> Result<bool, RingError> {
        let illegal = |rule| RingError::PeerIllegal { peer: from, rule };
        if self.index_of(&from).is_none() {
            return Err(illegal("RING-07"));
        }
        if token.token_seq <= self.token_seq.max(self.passed_seq) {
            return Ok(false);
        }
        let by_visits = config.danger.is(Danger::RingSafeByVisits);
        let lost = token.records < self.last.records
            || token.places < self.last.places
            || token.held() < self.said.by_token && !by_visits;
        let far = token.places.saturating_sub(self.order.safe) > STORE_PACKETS_MAX;
        if lost || far || token.members.len() != self.size() {
            return Err(illegal("RING-08"));
        }
        self.accept(now, token, config);
        Ok(true)
    }

    pub(crate) fn accept(&mut self, now: Instant, token: &mut Token, config: &Config) {
        self.token_seq = token.token_seq;
        self.answers = ANSWERS_MAX;
        self.counters.visits = self.counters.visits.saturating_add(1);
        self.pace.came(now);
        self.passed = None;
        self.hurry_at = None;
        self.loss_at = now + config.timing.token_loss;
        self.asking = None;
        // ORD-01: nobody else gives this member's packets places.
        self.forget_who_asked(token);
        let by_others = config.danger.is(Danger::RingOrdersOthers);
        for record in token.members.records().filter(|record| record.source != self.mine || by_others) {
            self.order.keep_record(record);
        }
        self.say_held(token, config);
        let held = token.held();
        let since = self.stuck.filter(|stuck| held <= stuck.held).map_or(now, |stuck| stuck.since);
        let least = token.members.iter().position(|member| u64::from(member.held) == held);
        let holder = least.and_then(|index| u8::try_from(index).ok()).unwrap_or(NOBODY);
        self.stuck = (held < token.places).then_some(Stuck { since, held, holder });
    }

    /// ORD-03: says on the token how far this member holds the order, and takes from it how far all
    /// do.
    fn say_held(&mut self, token: &mut Token, config: &Config) {
        let held = u32::try_from(self.order.held().min(token.places)).unwrap_or(u32::MAX);
        if let Some(mine) = token.members.get_mut(usize::from(self.mine)) {
            (mine.held, mine.passes) = (held, 0);
        }
        let by_visits = config.danger.is(Danger::RingSafeByVisits);
        let safe = if by_visits { self.last.places.min(held.into()) } else { token.held() };
        self.said.by_token = self.said.by_token.max(safe);
        self.order.safe = self.order.safe.max(safe);
        for (index, member) in token.members.iter().enumerate() {
            self.said.says(index, member.held.into());
        }
    }

    /// Whether the last token said that a member lacks something.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    /// `RING-23`: the member that has lacked a packet for half as long as ends the ring.
    pub(crate) fn lacks(&self, now: Instant, config: &Config) -> Option<(NodeId, Instant)> {
        let stuck = self.stuck.filter(|stuck| stuck.since + config.timing.stall / 2 <= now)?;
        let holder = self.order.members.get(usize::from(stuck.holder))?;
        Some((*holder, stuck.since))
    }

    /// Whether the token came a short while ago.
    pub(crate) fn is_fed(&self, now: Instant, config: &Config) -> bool {
        now + config.timing.token_loss / 2 < self.loss_at
    }
}

/// What has not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The token.
    Token,
    /// The token came, but a packet did not reach everybody.
    Progress,
}
