//! The token: who holds it puts its own packets in the order, and passes it straight to a sender.

use crate::frame::Frame;
use crate::node::{Ctx, Node, Phase};
use crate::nouns::{Per, Record, Set};
use crate::rules::Rule;

/// A passed token is repeated after so many ticks.
const REPEAT: usize = 5;
/// The holder of a parked token says how far everything goes after so many ticks.
const STATUS: usize = 8;
/// And sends the token round after so many.
const ROUND: usize = 30;

/// The token.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Token {
    /// Of which configuration.
    pub(crate) config: usize,
    /// How often it was passed.
    pub(crate) hop: usize,
    /// The number of the next record.
    pub(crate) next_record: usize,
    /// The next place.
    pub(crate) next_place: usize,
    /// How much of each stream has a place.
    pub(crate) ordered: Per<usize>,
    /// The highest number of each stream that anybody spoke of.
    pub(crate) high: Per<usize>,
    /// How far each member holds the order, as it said at its last visit.
    pub(crate) held: Per<usize>,
    /// The hop of each member's last visit.
    pub(crate) last: Per<usize>,
    /// It does not park before this hop.
    pub(crate) round_end: usize,
    /// Totem's two fields: all received up to, and by whom it was lowered. Only a mutant uses them.
    aru: (usize, Option<usize>),
}

impl Token {
    /// The first of a configuration.
    pub(crate) fn new(config: usize, members: Set) -> Self {
        Self { config, next_record: 1, next_place: 1, round_end: members.len(), ..Self::default() }
    }

    /// Who has it next.
    fn to_whom(self, me: usize, members: Set, turns: bool) -> usize {
        let others = members.minus(Set::one(me));
        let oldest = |of: &mut dyn Iterator<Item = usize>| of.min_by_key(|node| (self.last[*node], *node));
        let overdue = oldest(&mut others.iter().filter(|node| self.hop - self.last[*node] >= members.len()));
        let sender = oldest(&mut others.iter().filter(|node| self.high[*node] > self.ordered[*node]));
        overdue.filter(|_| turns).or(sender).or_else(|| oldest(&mut others.iter())).unwrap_or(me)
    }
}

impl Node {
    /// A token came.
    pub(crate) fn on_token(&mut self, token: Token, ctx: &mut Ctx<'_>) {
        if self.phase == Phase::Stands && token.config == self.store.id && token.hop > self.hop {
            self.sign(token.hop, ctx.now);
            self.visit(token, ctx);
        }
    }

    /// The token goes on living.
    pub(crate) fn sign(&mut self, hop: usize, now: usize) {
        if hop >= self.hop {
            self.hop = hop;
            self.token_seen = now;
        }
        if self.passed.as_ref().is_some_and(|(token, ..)| hop > token.hop) {
            self.passed = None;
        }
    }

    /// A visit of the token.
    pub(crate) fn visit(&mut self, mut token: Token, ctx: &mut Ctx<'_>) {
        let records = self.order(&mut token, ctx);
        if !records.is_empty() {
            let config = token.config;
            let frame = Frame::Data { config, hop: token.hop, packets: Vec::new(), records };
            self.tell(&frame, ctx);
        }
        self.deliver(ctx);
        token.last[self.id] = token.hop;
        self.learn_safe(&mut token, ctx);
        self.deliver(ctx);
        self.rest_or_pass(token, ctx);
    }

    /// Puts what may have a place in the order, and keeps the records of it.
    pub(crate) fn order(&mut self, token: &mut Token, ctx: &Ctx<'_>) -> Vec<Record> {
        for source in self.store.members.iter() {
            token.high[source] = token.high[source].max(self.store.high[source]);
            self.store.high[source] = token.high[source];
        }
        let mut records = Vec::new();
        let sources = if ctx.rules.keep(Rule::OwnStream) { Set::one(self.id) } else { self.store.members };
        for source in sources.iter() {
            let first = token.ordered[source] + 1;
            let (mut last, mut weak) = (first - 1, Set::default());
            while let Some(next) = self.store.packet(source, last + 1) {
                let mut named = self.store.members.iter().filter(|other| *other != source);
                if ctx.rules.keep(Rule::Names) && named.any(|other| next.names[other] > token.ordered[other])
                {
                    break;
                }
                if !next.service.is_ordered() {
                    weak.add(last + 1 - first);
                }
                last += 1;
            }
            if last < first {
                continue;
            }
            let (number, place) = (token.next_record, token.next_place);
            let record = Record { number, place, source, first, last, weak };
            self.store.keep_record(record);
            records.push(record);
            token.ordered[source] = last;
            token.next_record += 1;
            token.next_place += last + 1 - first;
        }
        self.store.last_record = self.store.last_record.max(token.next_record - 1);
        records
    }

    /// Says how far it holds the order, and takes from the token how far all do.
    fn learn_safe(&mut self, token: &mut Token, ctx: &Ctx<'_>) {
        let held = self.store.held;
        token.held[self.id] = held;
        let safe = if ctx.rules.keep(Rule::HeldByAll) {
            self.store.members.iter().map(|member| token.held[member]).min().unwrap_or_default()
        } else {
            let (aru, by) = token.aru;
            if held < aru || by == Some(self.id) || by.is_none() {
                token.aru = (held, (held + 1 < token.next_place).then_some(self.id));
            }
            let twice = self.last_aru.min(token.aru.0);
            self.last_aru = token.aru.0;
            twice
        };
        self.store.safe = self.store.safe.max(safe);
    }

    /// Whether the token may rest here.
    fn may_rest(&self, token: &Token, ctx: &Ctx<'_>) -> bool {
        let all_have_places = self.store.members.iter().all(|one| self.store.high[one] == token.ordered[one]);
        let all_hold_all = self.store.members.iter().all(|one| token.held[one] + 1 == token.next_place);
        all_have_places && (all_hold_all || !ctx.rules.keep(Rule::Park)) && token.hop >= token.round_end
    }

    fn rest_or_pass(&mut self, token: Token, ctx: &mut Ctx<'_>) {
        if self.store.members.len() == 1 || self.may_rest(&token, ctx) {
            ctx.history.count("parked");
            self.parked_at = ctx.now;
            self.status_at = ctx.now + STATUS;
            self.token = Some(token);
        } else {
            self.pass(token, ctx);
        }
    }

    fn pass(&mut self, mut token: Token, ctx: &mut Ctx<'_>) {
        let to = token.to_whom(self.id, self.store.members, ctx.rules.keep(Rule::Turns));
        token.hop += 1;
        self.token = None;
        self.passed = Some((token, to, ctx.now + REPEAT));
        self.hop = self.hop.max(token.hop);
        ctx.history.passes.push((token.config, token.hop, to));
        self.send(Set::one(to), &Frame::Token(token), ctx);
    }

    /// What the token needs at each tick: a parked one is spoken of, a passed one repeated.
    pub(crate) fn tend_token(&mut self, ctx: &mut Ctx<'_>) {
        if let Some((token, to, due)) = self.passed.as_mut()
            && ctx.now >= *due
        {
            *due = ctx.now + REPEAT;
            let (token, to) = (*token, *to);
            self.send(Set::one(to), &Frame::Token(token), ctx);
        }
        let Some(mut token) = self.token else { return };
        self.token_seen = ctx.now;
        if self.store.members.len() == 1 {
            self.token = None;
            self.visit(token, ctx);
        } else if !self.may_rest(&token, ctx) {
            self.pass(token, ctx);
        } else if ctx.rules.keep(Rule::Park)
            && ctx.rules.keep(Rule::Rounds)
            && ctx.now >= self.parked_at + ROUND
        {
            token.round_end = token.hop + self.store.members.len();
            self.pass(token, ctx);
        } else if ctx.now >= self.status_at {
            self.status_at = ctx.now + STATUS;
            let tells = ctx.rules.keep(Rule::Park);
            let high = if tells { token.high } else { Per::default() };
            let last_record = if tells { token.next_record - 1 } else { 0 };
            let safe = self.store.safe;
            self.tell(&Frame::Status { config: token.config, hop: token.hop, last_record, high, safe }, ctx);
        }
    }
}
