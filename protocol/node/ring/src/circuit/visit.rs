//! A visit of the token: what this member sends, orders and asks for.

use super::held::HELD_MEMBERS_MAX;
use super::{Circuit, IdleToken, Source, Visit};
use crate::behind::{join, joined_bytes};
use crate::config::{
    ACCELERATED_PACKETS, Config, EARLY_PACKETS, FAR, GAP_PACKETS_MAX, LEADING_PACKETS, REQUESTS_MAX,
    VISIT_PACKETS, WINDOW_PACKETS,
};
use crate::data::{RECORD_BYTES, Record, is_message};
use crate::message::{NOBODY, Recent, Request, Token};
use crate::order::Missing;
use crate::output::Output;
use bytes::Bytes;
use folkmoot_base::{Danger, Instant};
use std::collections::VecDeque;

/// A token waits for this part of a round trip for packets that it has overtaken.
const OVERTAKEN: u32 = 32;

impl Circuit {
    /// The rest of a visit: serves requests, sends new packets, puts what this member has sent in
    /// the order, and passes the token on, or holds it if all is quiet.
    pub(crate) fn serve(
        &mut self,
        now: Instant,
        mut token: Token,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let before = core::mem::take(&mut self.visited);
        token.sent = token.sent.saturating_sub(if before { 0 } else { self.last.sent });
        token.backlog = token.backlog.saturating_sub(self.last.backlog);
        let again = self.retransmit(&mut token, out);
        let mut fresh = self.number(&token, again, source, config);
        let numbered = u32::try_from(fresh.len()).unwrap_or(u32::MAX);
        let (leading, placed) = self.record(&mut token, before, &mut fresh);
        let since = |first: &u64| self.waits.filter(|(_, before)| before == first).map_or(now, |(at, _)| at);
        self.waits = self.order.held_back().map(|first| (since(&first), first));
        self.say_held(&mut token, config);
        let asked = self.request(&mut token);
        let sent = again.saturating_add(numbered);
        let backlog = source.backlog();
        let quiet = sent == 0 && backlog == 0 && !placed && !asked && token.requests.is_empty();
        let still = quiet && token.held() == token.places && !self.is_anything_unplaced()
            || numbered == 0 && self.order.danger.is(Danger::RingRestsAnyway);
        token.quiet = if still { self.quiet_now(&token, config) } else { 0 };
        token.sent = token.sent.saturating_add(sent);
        token.backlog = token.backlog.saturating_add(backlog);
        let (records, places) = (token.records, token.places);
        let sent = if before { self.last.sent.saturating_add(sent) } else { sent };
        self.last = Visit { records, places, sent, backlog, quiet: token.quiet };
        self.visited = placed && source.answers() && self.may_wait(config);
        if self.visited {
            let keyed = begins_with_messages(&fresh);
            fresh.into_iter().for_each(|frame| out.push_back(self.first_time(frame, keyed)));
            return self.wait_for_answers(now, token);
        }
        self.send(now, token, (fresh, leading), config, out);
    }

    /// How many visits on end were quiet. The member that holds the token does not let a ring rest
    /// whose rounds are slow.
    fn quiet_now(&self, token: &Token, config: &Config) -> u16 {
        let slow = self.rests_at() == self.mine && self.pace.was_slow(config);
        let most = if slow { self.idle_visits() } else { usize::MAX };
        token.quiet.saturating_add(1).min(u16::try_from(most).unwrap_or(u16::MAX))
    }

    /// After so many quiet visits on end the token is held.
    pub(super) fn idle_visits(&self) -> usize {
        self.size().saturating_mul(2)
    }

    /// Whether a member has sent packets that have no place as yet.
    pub(super) fn is_anything_unplaced(&self) -> bool {
        (0..self.size()).any(|index| self.is_unplaced(index))
    }

    pub(super) fn is_unplaced(&self, index: usize) -> bool {
        u8::try_from(index).is_ok_and(|index| self.order.unplaced(index) > 0)
    }

    fn retransmit(&mut self, token: &mut Token, out: &mut VecDeque<Output>) -> u32 {
        let room = WINDOW_PACKETS.saturating_sub(token.sent).min(VISIT_PACKETS);
        let mut sent = 0_u32;
        let order = &self.order;
        let mut frame = |request: &Request| match request.source {
            NOBODY => {
                let record = order.record(request.number.into())?;
                Some(record.frame(order.handle(), self.pool.buffer(RECORD_BYTES)))
            }
            source => order.packet(source, request.number.into()).map(|packet| packet.frame.clone()),
        };
        token.requests.retain(|request| {
            if sent >= room {
                return true;
            }
            let Some(frame) = frame(request) else { return true };
            sent = sent.saturating_add(1);
            out.push_back(Output::again(&self.others, frame, order.danger));
            false
        });
        self.counters.repaired = self.counters.repaired.saturating_add(u64::from(sent));
        sent
    }

    /// How many packets may be sent now. The limits are the window, the maximum of a visit, a fair
    /// share if more is waiting than fits the window, and the gap to what all members hold.
    fn allowance(token: &Token, again: u32, backlog: u32) -> u32 {
        let room = WINDOW_PACKETS.saturating_sub(token.sent);
        let total = u64::from(token.backlog).saturating_add(u64::from(backlog));
        let window = u64::from(WINDOW_PACKETS);
        let share = if total > window {
            window.saturating_mul(u64::from(backlog)).checked_div(total).unwrap_or(0).max(1)
        } else {
            window
        };
        let gap = token.held().saturating_add(GAP_PACKETS_MAX).saturating_sub(token.places);
        let gap = gap.saturating_sub(EARLY_PACKETS.into());
        let most = share.min(gap).min(u64::from(VISIT_PACKETS.min(room).saturating_sub(again)));
        u32::try_from(most).unwrap_or(0)
    }

    fn number(&mut self, token: &Token, again: u32, source: &mut dyn Source, config: &Config) -> Vec<Bytes> {
        let backlog = source.backlog();
        let mut fresh = core::mem::take(&mut self.fresh);
        if backlog > 0 {
            // What is held back (ORD-02) takes room too: others keep no more than so much of it.
            let held_back = u32::try_from(self.order.unplaced(self.mine)).unwrap_or(u32::MAX);
            let most = Self::allowance(token, again, backlog).min(VISIT_PACKETS.saturating_sub(held_back));
            self.fill((most, self.takes_safe(config)), source, &mut fresh);
        }
        fresh
    }

    /// RING-48: whether a visit takes safe messages. In a far ring of few members it does once all
    /// have had the token, and all but one have had it again. Until then they hear what the others
    /// bring, and answer that; and what is safe would hold up these answers.
    fn takes_safe(&self, config: &Config) -> bool {
        let members = u64::try_from(self.size()).unwrap_or(u64::MAX);
        let begun = self.token_seq >= members.saturating_mul(2).saturating_sub(1);
        let few = config.timing.trip >= FAR && self.size() <= HELD_MEMBERS_MAX;
        begun || !few || config.danger.is(Danger::RingSafeAtOnce)
    }

    /// The next packets of this member's stream: at most so many, and safe messages or not.
    fn fill(&mut self, (most, safe_too): (u32, bool), source: &mut dyn Source, fresh: &mut Vec<Bytes>) {
        for _ in 0..most {
            let Some(packet) = source.packet(self.next_head(), &self.order, safe_too) else { break };
            fresh.push(packet.frame.clone());
            self.order.keep_own(packet, || source.cut());
        }
        let numbered = u64::try_from(fresh.len()).unwrap_or(u64::MAX);
        self.counters.numbered = self.counters.numbered.saturating_add(numbered);
    }

    /// ORD-01: puts this member's packets in the order, and the record behind the `fresh` packets
    /// that go before the token: it is short, and so ends their train. Returns how many of `fresh`
    /// go before the token then, and whether anything was put in the order. The record of the visit
    /// before leaves the token: everybody has met it there.
    fn record(&mut self, token: &mut Token, again: bool, fresh: &mut Vec<Bytes>) -> (usize, bool) {
        let mut leading = fresh.len().saturating_sub(ACCELERATED_PACKETS).max(LEADING_PACKETS);
        leading = leading.min(fresh.len());
        let mut recent = None;
        self.order.settle();
        while let Some(record) = self.next_record(token) {
            self.order.keep_record(record);
            token.records = record.number;
            token.places = record.last_place();
            recent = Some(Recent::of(&record));
            let frame = record.frame(self.order.handle(), self.pool.buffer(RECORD_BYTES));
            leading = self.place_record(frame, fresh, leading);
        }
        if let Some(mine) = token.members.get_mut(usize::from(self.mine))
            && (recent.is_some() || !again)
        {
            mine.record = recent;
        }
        (leading, recent.is_some())
    }

    /// Puts a record behind the first so many of `fresh`, in the frame of the last of them if that
    /// has room. Returns how many go before the token then.
    fn place_record(&mut self, record: Bytes, fresh: &mut Vec<Bytes>, leading: usize) -> usize {
        let last = leading.checked_sub(1).and_then(|last| fresh.get_mut(last));
        if let Some(packet) = last
            && let Some(bytes) = joined_bytes(packet)
        {
            *packet = join(packet, &record, self.pool.buffer(bytes));
            return leading;
        }
        fresh.insert(leading, record);
        leading.saturating_add(1)
    }

    /// RING-35: whether the token may wait for answers now.
    pub(crate) fn may_wait(&self, config: &Config) -> bool {
        let off = config.danger.is(Danger::RingTokenHurries);
        config.timing.trip >= FAR && self.answers > 0 && !self.is_alone() && !off
    }

    /// RING-35: keeps the token until this node has answered what it brought: that takes no time,
    /// but answers that come after the token has gone wait for a rotation.
    pub(crate) fn wait_for_answers(&mut self, now: Instant, token: Token) {
        self.answers = self.answers.saturating_sub(1);
        self.idle = Some(IdleToken { token, until: now, answers: true, packets: None });
    }

    /// RING-41: keeps a token that has overtaken packets, for a small part of a round trip: what
    /// they bring is answered at this visit, and not one rotation later.
    pub(crate) fn wait_for_packets(&mut self, now: Instant, token: Token, config: &Config) -> Option<Token> {
        let off = config.danger.is(Danger::RingTokenOvertakes);
        let waits = !off && config.timing.trip >= FAR && self.order.held() < token.places && !self.is_alone();
        if !waits {
            return Some(token);
        }
        let (until, packets) = (now + config.timing.trip / OVERTAKEN, Some(token.places));
        self.idle = Some(IdleToken { token, until, answers: true, packets });
        None
    }

    /// If all packets are here for which the token waits, it goes on when they are answered.
    pub(crate) fn have_packets_come(&mut self, now: Instant) {
        let held = self.order.held();
        if let Some(idle) = self.idle.as_mut().filter(|idle| idle.packets.is_some_and(|last| held >= last)) {
            (idle.packets, idle.until) = (None, now);
        }
    }

    /// A packet leaves for the first time: under the ring key, unless this is the first round of
    /// the token. Then others may not have the key yet, and it goes over the links (RING-34). A
    /// record goes as the packets before it do (`keyed`): those of a recovery go over the links.
    pub(super) fn first_time(&self, frame: Bytes, keyed: bool) -> Output {
        let at_once = self.order.danger.is(Danger::RingSealsFirstRound);
        if keyed && (self.counters.visits > 1 || at_once) {
            return Output::first_time(&self.others, frame);
        }
        Output::Multicast { to: self.others.clone(), frame }
    }

    fn next_record(&self, token: &Token) -> Option<Record> {
        let (number, place) = (token.records.saturating_add(1), token.places.saturating_add(1));
        let gap = token.held().saturating_add(GAP_PACKETS_MAX).saturating_sub(token.places);
        if self.order.danger.is(Danger::RingOrdersOthers) {
            let all = (0..self.size()).filter_map(|index| u8::try_from(index).ok());
            return all.into_iter().find_map(|source| self.order.next_record(source, number, place, gap));
        }
        self.order.next_record(self.mine, number, place, gap)
    }

    /// Asks for what is missing of the records with which the last visit ended. Returns whether
    /// anything is missing.
    fn request(&mut self, token: &mut Token) -> bool {
        let mut asked = false;
        for missing in self.order.missing(self.last.records) {
            if token.requests.len() >= REQUESTS_MAX {
                return true;
            }
            let (source, number) = match missing {
                Missing::Record(number) => (NOBODY, number),
                Missing::Packet(source, number) => (source, number),
            };
            let request = Request { source, number: u32::try_from(number).unwrap_or(u32::MAX) };
            if let Err(place) = token.requests.binary_search(&request) {
                token.requests.insert(place, request);
                self.counters.asked = self.counters.asked.saturating_add(1);
            }
            asked = true;
        }
        asked
    }

    /// ORD-07's first half: a few packets leave at once, without the token, if this member has none
    /// that wait for a place. Otherwise what comes next shares packets at the next visit.
    pub(crate) fn send_early(
        &mut self,
        now: Instant,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let backlog = source.backlog();
        let waits = self.is_unplaced(self.mine.into()) || self.last.backlog > 0;
        if waits || backlog > EARLY_PACKETS {
            return self.want(now, config, out);
        }
        let mut fresh = core::mem::take(&mut self.fresh);
        self.fill((EARLY_PACKETS, true), source, &mut fresh);
        for frame in fresh.drain(..) {
            out.push_back(self.first_time(frame, true));
        }
        self.fresh = fresh;
        if self.rests_at() != self.mine && self.hurry_at.is_none() {
            self.hurry_at = Some(now + config.timing.token_repeat);
        }
    }

    /// The only member needs no token: what it sends has a place at once, and everybody holds it.
    pub(crate) fn place_alone(&mut self, source: &mut dyn Source) {
        let mut fresh = core::mem::take(&mut self.fresh);
        self.fill((VISIT_PACKETS, true), source, &mut fresh);
        fresh.clear();
        self.fresh = fresh;
        let (record, place) = (self.order.last_record(), self.order.held());
        let (record, place) = (record.saturating_add(1), place.saturating_add(1));
        if let Some(record) = self.order.next_record(self.mine, record, place, u64::MAX) {
            self.order.keep_record(record);
        }
        self.order.safe = self.order.held();
    }
}

/// Whether the packets of a visit are messages. If so, its records go as they do.
pub(super) fn begins_with_messages(fresh: &[Bytes]) -> bool {
    fresh.first().is_some_and(|frame| is_message(frame))
}
