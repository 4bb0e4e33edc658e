//! The token of one ring at this node: what a visit does, and when the token waits, is repeated,
//! hurried or lost.
//!
//! ```text
//! token comes -> safe line -> requested packets -> first new packets -> token goes -> the other new packets
//! ```
//! The token goes before most of the data (accelerated ring, Babay and Amir). A member therefore
//! asks only for packets up to the number with which its own previous visit ended: younger ones may
//! still be on their way.

use crate::config::{
    ACCELERATED_PACKETS, Config, GAP_PACKETS_MAX, LEADING_PACKETS, REQUESTS_MAX, STORE_PACKETS_MAX,
    VISIT_PACKETS, WINDOW_PACKETS,
};
use crate::data::{Data, Head};
use crate::error::RingError;
use crate::message::{Control, Hurry, Last, NOBODY, Token, neighbours, visiting_order};
use crate::output::{Counters, Output};
use crate::pace::Pace;
use crate::store::Stored;
use crate::stream::Stream;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{ConfigurationId, Instant, NodeId, Pool};
use std::collections::VecDeque;
use std::sync::Arc;

/// Room for a token without many requests; a longer one takes room of its own.
const TOKEN_BYTES_MAX: usize = 128;

/// Where new packets come from: the queue of messages, or what is to be recovered.
pub(crate) trait Source {
    /// The next packet, with this header; `None` if there is nothing to send.
    fn packet(&mut self, head: Head) -> Option<Data>;
    /// About how many packets there are.
    fn backlog(&self) -> u32;
}

/// The token as it was passed on. It is repeated until there is a sign of progress.
#[derive(Debug)]
struct Passed {
    frame: Bytes,
    seq: u64,
    at: Instant,
    span: Duration,
}

/// The token, kept because the ring is idle.
#[derive(Debug)]
struct IdleToken {
    token: Token,
    until: Instant,
}

/// What this member did on the last visit.
#[derive(Debug, Default, Clone, Copy)]
struct Visit {
    aru: u64,
    seq: u64,
    sent: u32,
    backlog: u32,
    quiet: u16,
}

/// One ring at this node.
#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) stream: Stream,
    pub(crate) others: Arc<[NodeId]>,
    counters: Counters,
    mine: u8,
    next: NodeId,
    previous: NodeId,
    token_seq: u64,
    /// The number of the last token passed on here; 0 if there is none yet.
    passed_seq: u64,
    last: Visit,
    /// Room for the packets of a visit; empty between visits.
    fresh: Vec<Bytes>,
    pool: Pool,
    passed: Option<Passed>,
    idle: Option<IdleToken>,
    idle_span: Duration,
    hurried: bool,
    hurry_at: Option<Instant>,
    loss_at: Instant,
    pace: Pace,
    /// Since when nothing new has reached everybody, although something should have.
    stuck: Option<Stuck>,
}

/// A packet is numbered that some member lacks.
#[derive(Debug, Clone, Copy)]
struct Stuck {
    since: Instant,
    aru: u64,
    /// The member that has least, as the token says.
    holder: u8,
}

impl Circuit {
    pub(crate) fn new(id: ConfigurationId, members: Arc<[NodeId]>, now: Instant, config: &Config) -> Self {
        let place = members.binary_search(&config.me).unwrap_or(0);
        let order = visiting_order(&members, &id.nonce);
        let (previous, next) = neighbours(&order, &config.me).unwrap_or((config.me, config.me));
        let mine = u8::try_from(place).unwrap_or(NOBODY);
        Self {
            others: members.iter().filter(|node| **node != config.me).copied().collect(),
            counters: Counters::default(),
            mine,
            next,
            previous,
            passed_seq: 0,
            stream: Stream::new(id, members, mine, config.danger),
            token_seq: 0,
            last: Visit::default(),
            fresh: Vec::new(),
            pool: Pool::default(),
            passed: None,
            idle: None,
            idle_span: config.timing.idle_hold,
            hurried: false,
            hurry_at: None,
            loss_at: now + config.timing.token_loss,
            pace: Pace::default(),
            stuck: None,
        }
    }

    /// What this node did on this ring.
    pub(crate) fn counters(&self) -> Counters {
        Counters { copied: self.stream.copied, ..self.counters }
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.idle.is_some()
    }

    fn represents(&self) -> bool {
        self.mine == 0
    }

    /// The last pass of the token from here, if there was one; every such pass is later than those
    /// of the commit token.
    pub(crate) fn last_pass(&self, late: u8) -> Option<Last> {
        let rotations =
            u64::try_from(self.others.len()).unwrap_or(u64::MAX).saturating_add(1).saturating_mul(2);
        let step = rotations.saturating_add(self.passed_seq);
        (self.passed_seq > 0).then(|| Last {
            ring: self.stream.ring(),
            step,
            next: self.next,
            late,
            aru: self.stream.store.aru(),
        })
    }

    /// The first token of the ring; only its representative makes it.
    pub(crate) fn first_token(&self) -> Token {
        Token {
            ring: self.stream.ring(),
            token_seq: 1,
            seq: 0,
            aru: 0,
            aru_holder: NOBODY,
            sent: 0,
            backlog: 0,
            quiet: 0,
            requests: Vec::new(),
        }
    }

    /// Takes a packet in, whether sent for the first time or again (RING-05, RING-06).
    pub(crate) fn data(&mut self, from: NodeId, data: Data) -> Result<Stored, RingError> {
        let illegal = |rule| RingError::PeerIllegal { peer: from, rule };
        if self.stream.members.binary_search(&from).is_err() {
            return Err(illegal("RING-05"));
        }
        if usize::from(data.sender) >= self.stream.members.len() {
            return Err(illegal("RING-06"));
        }
        if data.sender == self.mine {
            return Ok(Stored::Known);
        }
        if self.passed.as_ref().is_some_and(|passed| data.seq > passed.seq) {
            self.passed = None;
        }
        Ok(self.stream.store.insert(data))
    }

    /// Takes the token in, if it is the next one. `Ok(false)`: seen before.
    pub(crate) fn token(
        &mut self,
        now: Instant,
        from: NodeId,
        token: &Token,
        config: &Config,
    ) -> Result<bool, RingError> {
        let illegal = |rule| RingError::PeerIllegal { peer: from, rule };
        if from != self.previous {
            return Err(illegal("RING-07"));
        }
        if token.token_seq <= self.token_seq {
            return Ok(false);
        }
        let lost = token.seq < self.last.seq || token.aru < self.stream.safe;
        let far = token.seq.saturating_sub(self.stream.safe) > STORE_PACKETS_MAX;
        if lost || far {
            return Err(illegal("RING-08"));
        }
        self.accept(now, token, config);
        Ok(true)
    }

    pub(crate) fn accept(&mut self, now: Instant, token: &Token, config: &Config) {
        self.token_seq = token.token_seq;
        self.counters.visits = self.counters.visits.saturating_add(1);
        self.pace.came(now);
        self.passed = None;
        self.hurry_at = None;
        self.loss_at = now + config.timing.token_loss;
        let since = self.stuck.filter(|stuck| token.aru <= stuck.aru).map_or(now, |stuck| stuck.since);
        let stuck = Stuck { since, aru: token.aru, holder: token.aru_holder };
        self.stuck = (token.aru < token.seq).then_some(stuck);
        let line = self.last.aru.min(token.aru).min(self.stream.store.aru());
        self.stream.safe = self.stream.safe.max(line);
    }

    /// The rest of a visit: serves requests, numbers new packets, and passes the token on, or holds
    /// it if all is quiet.
    pub(crate) fn serve(
        &mut self,
        now: Instant,
        mut token: Token,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        token.sent = token.sent.saturating_sub(self.last.sent);
        token.backlog = token.backlog.saturating_sub(self.last.backlog);
        let again = self.retransmit(&mut token, out);
        let fresh = self.number(&mut token, again, source);
        self.update_aru(&mut token);
        let asked = self.request(&mut token);
        let sent = again.saturating_add(u32::try_from(fresh.len()).unwrap_or(u32::MAX));
        let backlog = source.backlog();
        let still =
            sent == 0 && backlog == 0 && !asked && token.requests.is_empty() && token.aru == token.seq;
        token.quiet = if still { self.quiet_now(&token, config) } else { 0 };
        token.sent = token.sent.saturating_add(sent);
        token.backlog = token.backlog.saturating_add(backlog);
        self.last = Visit { aru: token.aru, seq: token.seq, sent, backlog, quiet: token.quiet };
        self.send(now, token, fresh, config, out);
    }

    /// How many visits on end were quiet. One who represents does not let a ring rest whose rounds
    /// are slow.
    fn quiet_now(&self, token: &Token, config: &Config) -> u16 {
        let most =
            if self.represents() && self.pace.was_slow(config) { self.idle_visits() } else { usize::MAX };
        token.quiet.saturating_add(1).min(u16::try_from(most).unwrap_or(u16::MAX))
    }

    /// After so many quiet visits on end the token is held.
    fn idle_visits(&self) -> usize {
        self.others.len().saturating_add(1).saturating_mul(2)
    }

    fn retransmit(&mut self, token: &mut Token, out: &mut VecDeque<Output>) -> u32 {
        let room = WINDOW_PACKETS.saturating_sub(token.sent).min(VISIT_PACKETS);
        let mut sent = 0_u32;
        let store = &self.stream.store;
        token.requests.retain(|seq| {
            let Some(packet) = store.get(*seq) else { return true };
            if sent >= room {
                return true;
            }
            sent = sent.saturating_add(1);
            out.push_back(Output::again(&self.others, packet.frame.clone(), self.stream.danger));
            false
        });
        self.counters.repaired = self.counters.repaired.saturating_add(u64::from(sent));
        sent
    }

    /// How many packets may be numbered now. The limits are the window, the maximum of a visit, a
    /// fair share if more is waiting than fits the window, and the gap to what all members have.
    fn allowance(token: &Token, again: u32, backlog: u32) -> u32 {
        let room = WINDOW_PACKETS.saturating_sub(token.sent);
        let total = u64::from(token.backlog).saturating_add(u64::from(backlog));
        let window = u64::from(WINDOW_PACKETS);
        let share = if total > window {
            window.saturating_mul(u64::from(backlog)).checked_div(total).unwrap_or(0).max(1)
        } else {
            window
        };
        let gap = token.aru.saturating_add(GAP_PACKETS_MAX).saturating_sub(token.seq);
        let most = share.min(gap).min(u64::from(VISIT_PACKETS.min(room).saturating_sub(again)));
        u32::try_from(most).unwrap_or(0)
    }

    fn number(&mut self, token: &mut Token, again: u32, source: &mut dyn Source) -> Vec<Bytes> {
        let backlog = source.backlog();
        let mut fresh = core::mem::take(&mut self.fresh);
        if backlog == 0 {
            return fresh;
        }
        for _ in 0..Self::allowance(token, again, backlog) {
            let head =
                Head { seq: token.seq.saturating_add(1), sender: self.mine, ring: self.stream.handle() };
            let Some(packet) = source.packet(head) else { break };
            fresh.push(packet.frame.clone());
            token.seq = head.seq;
            self.stream.store.insert(packet);
        }
        let numbered = u64::try_from(fresh.len()).unwrap_or(u64::MAX);
        self.counters.numbered = self.counters.numbered.saturating_add(numbered);
        fresh
    }

    fn update_aru(&self, token: &mut Token) {
        let aru = self.stream.store.aru();
        if aru < token.aru || token.aru_holder == self.mine || token.aru_holder == NOBODY {
            token.aru = aru.min(token.seq);
            token.aru_holder = if token.aru == token.seq { NOBODY } else { self.mine };
        }
    }

    /// Asks for what is missing up to the number with which the last visit ended. Returns whether
    /// anything is missing.
    fn request(&mut self, token: &mut Token) -> bool {
        let mut asked = false;
        for seq in self.stream.store.gaps(self.last.seq) {
            if token.requests.len() >= REQUESTS_MAX {
                return true;
            }
            if let Err(place) = token.requests.binary_search(&seq) {
                token.requests.insert(place, seq);
                self.counters.asked = self.counters.asked.saturating_add(1);
            }
            asked = true;
        }
        asked
    }

    fn send(
        &mut self,
        now: Instant,
        mut token: Token,
        mut fresh: Vec<Bytes>,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let leading = fresh.len().saturating_sub(ACCELERATED_PACKETS).max(LEADING_PACKETS);
        let mut rest = fresh.drain(..);
        for frame in rest.by_ref().take(leading) {
            out.push_back(Output::first_time(&self.others, frame));
        }
        let idle = usize::from(token.quiet) >= self.idle_visits();
        if !idle {
            self.idle_span = config.timing.idle_hold;
        }
        if self.represents() && idle && !self.hurried {
            self.idle = Some(IdleToken { token, until: now + self.idle_span });
            self.idle_span = (self.idle_span.saturating_mul(2)).min(config.timing.idle_hold_max);
            return;
        }
        self.hurried = false;
        token.token_seq = token.token_seq.saturating_add(1);
        self.passed_seq = token.token_seq;
        self.pace.leaves(now);
        let (seq, span) = (token.seq, config.timing.token_repeat);
        let rests = usize::from(token.quiet) >= Pace::rest(self.others.len().saturating_add(1));
        let wait = if rests && !self.represents() { self.pace.patience(config) } else { span };
        let frame = Control::Token(token).encode_into(self.pool.buffer(TOKEN_BYTES_MAX));
        self.passed = Some(Passed { frame: frame.clone(), seq, at: now + wait, span });
        out.push_back(Output::Send { to: self.next, frame });
        for frame in rest {
            out.push_back(Output::first_time(&self.others, frame));
        }
        self.fresh = fresh;
    }

    /// Lets the held token go.
    pub(crate) fn release(
        &mut self,
        now: Instant,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let Some(idle) = self.idle.take() else { return };
        self.hurried = true;
        self.loss_at = now + config.timing.token_loss;
        self.serve(now, idle.token, source, config, out);
    }

    /// A member has something to send: do not hold the token, now or on its next visit.
    pub(crate) fn hurry(
        &mut self,
        now: Instant,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        self.hurried = true;
        if let Some(idle) = &mut self.idle {
            idle.token.quiet = 0;
        }
        self.release(now, source, config, out);
    }

    /// There is something to send here: asks for the token if it is held, or soon will be.
    pub(crate) fn want(&mut self, now: Instant, config: &Config, out: &mut VecDeque<Output>) {
        let idle = usize::from(self.last.quiet) > self.others.len();
        if self.represents() || !idle || self.hurry_at.is_some() {
            return;
        }
        self.send_hurry(now, config, out);
    }

    fn send_hurry(&mut self, now: Instant, config: &Config, out: &mut VecDeque<Output>) {
        self.hurry_at = Some(now + config.timing.token_repeat);
        let frame = Control::Hurry(Hurry { ring: self.stream.ring() }).encode();
        out.push_back(Output::Send { to: self.stream.id.representative, frame });
    }

    /// Whether the last token said that a member lacks something.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    /// `RING-23`: the member that has lacked a packet for half as long as ends the ring.
    pub(crate) fn lacks(&self, now: Instant, config: &Config) -> Option<(NodeId, Instant)> {
        let stuck = self.stuck.filter(|stuck| stuck.since + config.timing.stall / 2 <= now)?;
        let holder = self.stream.members.get(usize::from(stuck.holder))?;
        Some((*holder, stuck.since))
    }

    /// Whether the token came a short while ago.
    pub(crate) fn is_fed(&self, now: Instant, config: &Config) -> bool {
        now + config.timing.token_loss / 2 < self.loss_at
    }

    /// Handles the timers that are due. The loss of the token or of all progress is an `Err`.
    pub(crate) fn timeout(
        &mut self,
        now: Instant,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) -> Result<(), Lost> {
        if self.is_alone() {
            return Ok(());
        }
        if self.idle.as_ref().is_some_and(|idle| idle.until <= now) {
            self.release(now, source, config, out);
        }
        if self.idle.is_none() && self.loss_at <= now {
            return Err(Lost::Token);
        }
        if self.stuck.is_some_and(|stuck| stuck.since + config.timing.stall <= now) {
            return Err(Lost::Progress);
        }
        if let Some(passed) = self.passed.as_mut().filter(|passed| passed.at <= now) {
            passed.span = passed.span.saturating_mul(2);
            passed.at = now + passed.span;
            self.counters.tokens_repeated = self.counters.tokens_repeated.saturating_add(1);
            out.push_back(Output::Send { to: self.next, frame: passed.frame.clone() });
        }
        if self.hurry_at.is_some_and(|at| at <= now) {
            self.send_hurry(now, config, out);
        }
        Ok(())
    }

    pub(crate) fn poll_timeout(&self, stall: Duration) -> Option<Instant> {
        if self.is_alone() {
            return None;
        }
        let first = self.idle.as_ref().map_or(self.loss_at, |idle| idle.until);
        let repeat = self.passed.as_ref().map(|passed| passed.at);
        let stuck = self.stuck.map(|stuck| stuck.since + stall);
        [Some(first), repeat, self.hurry_at, stuck].into_iter().flatten().min()
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
