//! The token between visits: to whom it goes, when it is held, repeated, asked for or lost.

use super::visit::begins_with_messages;
use super::{Circuit, IdleToken, Lost, Passed, Source};
use crate::config::{Config, FAR, Timing};
use crate::message::{Control, Hurry, Token};
use crate::output::Output;
use crate::pace::Pace;
use bytes::Bytes;
use folkmoot_base::{Danger, Instant, NodeId};
use std::collections::VecDeque;

/// Room for a token without many requests; a longer one takes room of its own.
const TOKEN_BYTES_MAX: usize = 512;
/// After so many repetitions the pauses between them double: in a near ring, and in a far one.
const REPEATS_STEADY: [u32; 2] = [6, 12];

impl Circuit {
    /// ORD-04: who gets the token next. A member that n passes left out comes first. So each gets
    /// it at least once in 2n passes. Then comes a member whose packets have no places, or that
    /// asked for the token; then the one that has not had it for the longest time.
    fn to_whom(&self, token: &Token) -> NodeId {
        let others = token.members.iter().enumerate().filter(|(index, _)| *index != usize::from(self.mine));
        let oldest = |of: &mut dyn Iterator<Item = (usize, u16)>| of.max_by_key(|(_, passes)| *passes);
        let others = others.map(|(index, member)| (index, member.passes));
        let overdue = |(_, passes): &(usize, u16)| usize::from(*passes) >= self.size();
        let sends = |(index, _): &(usize, u16)| {
            self.is_unplaced(*index) || self.asked_by.is_some_and(|member| usize::from(member) == *index)
        };
        let next = oldest(&mut others.clone().filter(overdue))
            .or_else(|| oldest(&mut others.clone().filter(sends)))
            .or_else(|| oldest(&mut others.clone()));
        let node = next.and_then(|(index, _)| self.order.members.get(index));
        node.copied().unwrap_or(self.passed_to)
    }

    /// Sends the packets of a visit, the first so many before the token, and passes it on, or holds
    /// it if all is quiet.
    pub(super) fn send(
        &mut self,
        now: Instant,
        token: Token,
        (mut fresh, leading): (Vec<Bytes>, usize),
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let keyed = begins_with_messages(&fresh);
        let mut rest = fresh.drain(..);
        for frame in rest.by_ref().take(leading) {
            out.push_back(self.first_time(frame, keyed));
        }
        let idle = usize::from(token.quiet) >= self.idle_visits();
        if !idle {
            self.idle_span = config.timing.idle_hold;
        }
        if self.rests_at() == self.mine && idle && !self.hurried {
            let for_good = config.danger.is(Danger::RingRestsForGood);
            let until = if for_good { Instant(u64::MAX) } else { now + self.idle_span };
            self.idle = Some(IdleToken { token, until, answers: false, packets: None });
            self.idle_span = (self.idle_span.saturating_mul(2)).min(config.timing.idle_hold_max);
            drop(rest);
            self.fresh = fresh;
            return;
        }
        self.hurried = false;
        let to = self.to_whom(&token);
        self.asked_by = None;
        self.pass(now, token, to, config, out);
        for frame in rest {
            out.push_back(self.first_time(frame, keyed));
        }
        self.fresh = fresh;
    }

    fn pass(
        &mut self,
        now: Instant,
        mut token: Token,
        to: NodeId,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        token.token_seq = token.token_seq.saturating_add(1);
        for member in token.members.iter_mut() {
            member.passes = member.passes.saturating_add(1);
        }
        self.passed_seq = token.token_seq;
        self.passed_to = to;
        self.pace.leaves(now);
        let elsewhere = self.rests_at() != self.mine;
        if usize::from(token.quiet) >= self.size() && elsewhere {
            // It may be held now.
            self.loss_at = self.loss_at + config.timing.idle_hold_max;
        }
        let (records, span) = (token.records, config.timing.token_repeat);
        let rests = usize::from(token.quiet) >= Pace::rest(self.size());
        let wait = if rests && elsewhere { self.pace.patience(config) } else { span };
        let frame = Control::Token(token).encode_into(self.pool.buffer(TOKEN_BYTES_MAX));
        self.passed = Some(Passed { frame: frame.clone(), to, records, at: now + wait, repeats: 0 });
        out.push_back(Output::Send { to, frame });
    }

    /// Lets the held token go.
    pub(crate) fn release(
        &mut self,
        now: Instant,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let Some(mut idle) = self.idle.take() else { return };
        self.hurried |= !idle.answers;
        self.loss_at = now + config.timing.token_loss;
        self.say_held(&mut idle.token, config);
        self.serve(now, idle.token, source, config, out);
    }

    /// A member has something to send: do not hold the token, now or on its next visit.
    pub(crate) fn hurry(
        &mut self,
        now: Instant,
        from: &NodeId,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        let asks = self.index_of(from);
        if self.has_had_it_since(asks) && !config.danger.is(Danger::RingHeedsLateHurry) {
            return; // RING-44: it had left before the token came to its sender.
        }
        self.hurried = true;
        self.asked_by = asks;
        self.let_go(now, source, config, out);
    }

    /// RING-44: whether the token, which waits here for answers, was with this member since this
    /// node last had it.
    fn has_had_it_since(&self, member: Option<u8>) -> bool {
        let waiting = self.idle.as_ref().filter(|idle| idle.answers);
        waiting.is_some_and(|idle| member.is_some_and(|member| self.had(&idle.token, member)))
    }

    /// Whether this member had `token` since this node last had it, before this visit.
    fn had(&self, token: &Token, member: u8) -> bool {
        token.members.get(usize::from(member)).is_some_and(|member| member.passes < self.away)
    }

    /// A packet came early: if the token is held here, it goes to the packet's sender.
    pub(crate) fn heed(
        &mut self,
        now: Instant,
        source: &mut dyn Source,
        config: &Config,
        out: &mut VecDeque<Output>,
    ) {
        if self.is_idle() && self.is_anything_unplaced() {
            self.let_go(now, source, config, out);
        }
    }

    /// A member that asked for the token, and had it since this member last had it, waits no more.
    pub(super) fn forget_who_asked(&mut self, token: &Token) {
        self.away = token.members.get(usize::from(self.mine)).map_or(0, |mine| mine.passes);
        self.asked_by = self.asked_by.filter(|asked| !self.had(token, *asked));
    }

    fn let_go(&mut self, now: Instant, source: &mut dyn Source, config: &Config, out: &mut VecDeque<Output>) {
        if self.awaits_answers() {
            return; // It goes on at once.
        }
        if let Some(idle) = &mut self.idle {
            idle.token.quiet = 0;
        }
        self.release(now, source, config, out);
    }

    /// There is something to send here: asks for the token if it is held, or soon will be.
    pub(crate) fn want(&mut self, now: Instant, config: &Config, out: &mut VecDeque<Output>) {
        let idle = usize::from(self.last.quiet) > self.others.len();
        if self.rests_at() == self.mine || !idle || self.hurry_at.is_some() {
            return;
        }
        self.send_hurry(now, config, out);
    }

    fn send_hurry(&mut self, now: Instant, config: &Config, out: &mut VecDeque<Output>) {
        self.hurry_at = Some(now + config.timing.token_repeat);
        let frame = Control::Hurry(Hurry { ring: self.order.ring() }).encode();
        let to = self.order.members.get(usize::from(self.rests_at()));
        out.push_back(Output::Send { to: to.copied().unwrap_or(self.order.id.representative), frame });
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
        if self.no_progress_since().is_some_and(|since| since + config.timing.stall <= now) {
            return Err(Lost::Progress);
        }
        if self.idle.is_none() && self.ask_at(&config.timing) <= now {
            self.ask(now, &config.timing, out);
        }
        if let Some(passed) = self.passed.as_mut().filter(|passed| passed.at <= now) {
            passed.repeats = passed.repeats.saturating_add(1);
            let [near, far] = REPEATS_STEADY;
            let steady = if config.timing.trip >= FAR { far } else { near };
            let doublings = passed.repeats.saturating_sub(steady).min(16);
            passed.at = now + config.timing.token_repeat.saturating_mul(1 << doublings);
            self.counters.tokens_repeated = self.counters.tokens_repeated.saturating_add(1);
            out.push_back(Output::Send { to: passed.to, frame: passed.frame.clone() });
        }
        if self.hurry_at.is_some_and(|at| at <= now) {
            self.send_hurry(now, config, out);
        }
        Ok(())
    }

    /// Since when something has not reached everybody, or has had no place.
    fn no_progress_since(&self) -> Option<Instant> {
        let since = [self.stuck.map(|stuck| stuck.since), self.waits.map(|(since, _)| since)];
        since.into_iter().flatten().min()
    }

    pub(crate) fn poll_timeout(&self, timing: &Timing) -> Option<Instant> {
        if self.is_alone() {
            return None;
        }
        let ask = self.ask_at(timing).min(self.loss_at);
        let first = self.idle.as_ref().map_or(ask, |idle| idle.until);
        let repeat = self.passed.as_ref().map(|passed| passed.at);
        let stuck = self.no_progress_since().map(|since| since + timing.stall);
        [Some(first), repeat, self.hurry_at, stuck].into_iter().flatten().min()
    }
}
