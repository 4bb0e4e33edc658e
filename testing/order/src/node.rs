//! A node: what it says, and what it does with what arrives.

use crate::dice::Dice;
use crate::frame::{Frame, Network};
use crate::gather::{Bound, Heard};
use crate::history::{Event, History};
use crate::nouns::{Delivery, Packet, Per, Set};
use crate::recovery::Recovery;
use crate::rules::{Rule, Rules};
use crate::store::Store;
use crate::token::Token;

/// Without a sign of the token for so many ticks, a node gathers.
const TOKEN_LOSS: usize = 70;
/// With a packet unordered for so many ticks, a node gathers.
const UNORDERED: usize = 150;
/// What is missing is asked for after so many ticks.
const WANT: usize = 5;

/// What a node works with at a tick.
#[derive(Debug)]
pub(crate) struct Ctx<'a> {
    /// Ticks since the start.
    pub(crate) now: usize,
    /// The rules in force.
    pub(crate) rules: Rules,
    /// Everything random.
    pub(crate) dice: &'a mut Dice,
    /// The network.
    pub(crate) net: &'a mut Network,
    /// What the checkers read.
    pub(crate) history: &'a mut History,
}

/// Where a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The configuration stands.
    Stands,
    /// Looks for others. `waits_for`: who should have asked for an entry.
    Gathers { until: usize, waits_for: Option<usize> },
    /// Wrote a commit entry.
    Bound(Bound),
    /// All entries are known.
    Recovers(Box<Recovery>),
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its number.
    pub(crate) id: usize,
    /// Its configuration.
    pub(crate) store: Store,
    /// Where it is.
    pub(crate) phase: Phase,
    /// The token, parked here.
    pub(crate) token: Option<Token>,
    /// The token as it was passed, to whom, and when it is repeated.
    pub(crate) passed: Option<(Token, usize, usize)>,
    /// The highest hop of the token heard of.
    pub(crate) hop: usize,
    pub(crate) token_seen: usize,
    pub(crate) parked_at: usize,
    pub(crate) status_at: usize,
    pub(crate) last_aru: usize,
    pub(crate) installed_at: usize,
    pub(crate) hello_at: usize,
    want_at: usize,
    /// The first packet of each stream that is held and has no place, and since when.
    stuck: Per<(usize, usize)>,
    pub(crate) heard: Per<Heard>,
    /// Who did not answer, and until when it is not counted on.
    pub(crate) aside: Per<usize>,
    /// The highest attempt heard of.
    pub(crate) top: usize,
    /// The last attempt for which it wrote an entry.
    pub(crate) last_bound: usize,
    /// Obligations of this configuration.
    pub(crate) owed: Set,
    /// Survivors of attempts of which somebody had all ENDs.
    pub(crate) trusted: Set,
}

impl Node {
    /// A member of the first configuration.
    pub(crate) fn new(id: usize, config: usize, members: Set) -> Self {
        Self {
            id,
            store: Store::new(config, members),
            phase: Phase::Stands,
            token: (members.first() == Some(id)).then(|| Token::new(config, members)),
            passed: None,
            hop: 0,
            token_seen: 0,
            parked_at: 0,
            status_at: 0,
            last_aru: 0,
            installed_at: 0,
            hello_at: id,
            want_at: 0,
            stuck: Per::default(),
            heard: Per::default(),
            aside: Per::default(),
            top: 1,
            last_bound: 0,
            owed: Set::default(),
            trusted: Set::default(),
        }
    }

    /// Installs a configuration.
    pub(crate) fn install(&mut self, config: usize, members: Set, with: Set, ctx: &mut Ctx<'_>) {
        let old = std::mem::replace(self, Self::new(self.id, config, members));
        self.heard = old.heard;
        self.top = old.top;
        self.last_bound = old.last_bound;
        self.aside = old.aside;
        self.installed_at = ctx.now;
        self.token_seen = ctx.now;
        self.hello_at = ctx.now;
        self.want_at = ctx.now;
        ctx.history.logs[self.id].push(Event::Install { config, members, with });
    }

    pub(crate) fn send(&self, to: Set, frame: &Frame, ctx: &mut Ctx<'_>) {
        ctx.net.send(ctx.now, ctx.dice, self.id, to, frame);
    }

    /// Sends to all members of the configuration.
    pub(crate) fn tell(&self, frame: &Frame, ctx: &mut Ctx<'_>) {
        self.send(self.store.members, frame, ctx);
    }

    pub(crate) fn log(&self, delivered: &[Delivery], ctx: &mut Ctx<'_>) {
        ctx.history.logs[self.id].extend(delivered.iter().map(|delivery| Event::Deliver(*delivery)));
    }

    /// Delivers all that may be delivered.
    pub(crate) fn deliver(&mut self, ctx: &mut Ctx<'_>) {
        let mut out = Vec::new();
        self.store.deliver_all(ctx.rules, &mut out);
        self.log(&out, ctx);
    }

    /// A datagram came.
    pub(crate) fn on_frame(&mut self, from: usize, frame: Frame, ctx: &mut Ctx<'_>) {
        match frame {
            Frame::Hello { .. } => self.on_hello(from, &frame, ctx),
            Frame::Ask { attempt, members } => self.on_ask(from, attempt, members, ctx),
            Frame::Wrote { attempt, entry } => self.on_entry(from, attempt, entry, ctx),
            Frame::Commit { attempt, members, entries } => self.on_commit(attempt, members, entries, ctx),
            Frame::Chunk { attempt, .. } => self.on_chunk(from, attempt, frame, ctx),
            Frame::Have { attempt, ends, installed } => self.on_have(from, attempt, ends, installed, ctx),
            Frame::Token(token) => self.on_token(token, ctx),
            _ if self.store.frozen && ctx.rules.keep(Rule::Freeze) => {}
            Frame::Unreliable { config, uid } if config == self.store.id => self.unreliable(uid, ctx),
            Frame::Data { config, hop, packets, records } if config == self.store.id => {
                self.sign_of(hop, records.is_empty(), ctx);
                packets.into_iter().for_each(|packet| self.keep(packet, ctx));
                records.into_iter().for_each(|record| self.store.keep_record(record));
                self.deliver(ctx);
            }
            Frame::Status { config, hop, last_record, high, safe } if config == self.store.id => {
                self.sign(hop, ctx.now);
                self.store.last_record = self.store.last_record.max(last_record);
                self.store.high = Per::of(|node| self.store.high[node].max(high[node]));
                self.store.safe = self.store.safe.max(safe);
                self.deliver(ctx);
            }
            Frame::Want { config, packets, records } if config == self.store.id => {
                let packets: Vec<Packet> = packets
                    .iter()
                    .filter_map(|(source, number)| self.store.packet(*source, *number))
                    .collect();
                let records: Vec<_> =
                    records.iter().filter_map(|number| self.store.record(*number)).collect();
                if !packets.is_empty() || !records.is_empty() {
                    ctx.history.count("repairs");
                    self.send(Set::one(from), &Frame::Data { config, hop: 0, packets, records }, ctx);
                }
            }
            _ => {}
        }
    }

    /// A record says that the token lives; data and repairs do not.
    fn sign_of(&mut self, hop: usize, only_data: bool, ctx: &Ctx<'_>) {
        if !only_data && hop > 0 {
            self.sign(hop, ctx.now);
        }
    }

    /// A tick passes.
    pub(crate) fn tick(&mut self, ctx: &mut Ctx<'_>) {
        self.hello(ctx);
        match self.phase {
            Phase::Stands => {
                self.tend_token(ctx);
                self.want(ctx);
                if ctx.now > self.token_seen + TOKEN_LOSS
                    || self.waits_for_order(ctx)
                    || self.lost_a_member(ctx)
                {
                    self.gather(ctx);
                }
            }
            Phase::Gathers { .. } => {
                if !self.store.frozen {
                    self.want(ctx);
                }
                self.propose(ctx);
            }
            Phase::Bound(_) => self.tend_entries(ctx),
            Phase::Recovers(_) => self.tend_recovery(ctx),
        }
    }

    /// Asks all for what is missing.
    fn want(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.want_at + WANT {
            return;
        }
        self.want_at = ctx.now;
        let (packets, records) = (self.store.missing_packets(8), self.store.missing_records(8));
        if !packets.is_empty() || !records.is_empty() {
            self.tell(&Frame::Want { config: self.store.id, packets, records }, ctx);
        }
    }

    /// Whether a packet has been without a place for too long.
    fn waits_for_order(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let mut long = false;
        for source in self.store.members.iter() {
            let first = self.store.first_unordered(source);
            if self.stuck[source].0 != first || first == 0 {
                self.stuck[source] = (first, ctx.now);
            }
            long |= ctx.now > self.stuck[source].1 + UNORDERED;
        }
        let gathers = long && ctx.rules.keep(Rule::Rounds);
        if gathers {
            ctx.history.count("unordered for long");
        }
        gathers
    }

    /// Since when this node's own packet has waited for a place.
    pub(crate) fn own_waits_since(&self) -> Option<usize> {
        let (number, since) = self.stuck[self.id];
        (number > 0 && self.phase == Phase::Stands).then_some(since)
    }
}
