//! Who goes with whom, abstracted: signs of life, a set of nodes that all hear one another, and
//! commit entries that its smallest member collects.

use crate::frame::{Entry, Frame};
use crate::node::{Ctx, Node, Phase};
use crate::nouns::{NODES, Per, Set};

/// A sign of life after so many ticks.
const HELLO: usize = 6;
/// Who was not heard for so many ticks is not heard.
const SILENT: usize = 36;
/// A new configuration is not left for a larger one before so many ticks.
const HOLD_OFF: usize = 50;
/// Who did not answer is not counted on for so many ticks.
const ASIDE: usize = 60;
/// Who asks for entries does so again after so many ticks.
const ASK: usize = 5;

/// The last sign of life of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    sent: usize,
    arrived: usize,
    config: usize,
    attempt: usize,
    gathers: bool,
    hears: Set,
}

/// A node that wrote a commit entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) attempt: usize,
    members: Set,
    until: usize,
    ask_at: usize,
    /// Who wrote, and what: at the one that asked.
    wrote: Set,
    entries: Per<Entry>,
}

impl Node {
    fn hears(&self, now: usize) -> Set {
        let fresh = |node: &usize| self.heard[*node].arrived > 0 && now <= self.heard[*node].arrived + SILENT;
        let others = Set::below(NODES).minus(Set::one(self.id));
        others.iter().filter(fresh).fold(Set::one(self.id), |set, node| set.or(Set::one(node)))
    }

    fn attempt(&self) -> usize {
        match &self.phase {
            Phase::Bound(bound) => bound.attempt,
            Phase::Recovers(recovery) => recovery.attempt,
            _ => 0,
        }
    }

    pub(crate) fn hello(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.hello_at {
            return;
        }
        self.hello_at = ctx.now + HELLO;
        let gathers = matches!(self.phase, Phase::Gathers { .. });
        let (config, attempt, top) = (self.store.id, self.attempt(), self.top);
        let hears = self.hears(ctx.now);
        let frame = Frame::Hello { at: ctx.now, config, attempt, gathers, hears, top };
        self.send(Set::below(NODES), &frame, ctx);
    }

    pub(crate) fn on_hello(&mut self, from: usize, frame: &Frame, ctx: &mut Ctx<'_>) {
        let Frame::Hello { at: sent, config, attempt, gathers, hears, top } = *frame else { return };
        self.top = self.top.max(top);
        if sent < self.heard[from].sent {
            return;
        }
        self.heard[from] = Heard { sent, arrived: ctx.now, config, attempt, gathers, hears };
        let more = self.store.members.or(Set::one(from));
        if self.phase == Phase::Stands
            && more != self.store.members
            && ctx.now >= self.installed_at + HOLD_OFF
            && self.all_hear(more, ctx.now)
            && ctx.dice.chance(400)
        {
            self.gather(ctx);
        }
    }

    /// Whether each two of these hear one another, as far as is known here.
    fn all_hear(&self, set: Set, now: usize) -> bool {
        let mine = self.hears(now);
        let of = |node: usize| if node == self.id { mine } else { self.heard[node].hears };
        set.minus(mine).is_empty() && set.iter().all(|node| set.minus(of(node)).is_empty())
    }

    /// A member cannot be heard, gathers, or has gone elsewhere.
    pub(crate) fn lost_a_member(&self, ctx: &Ctx<'_>) -> bool {
        let id = self.store.id;
        let hears = self.hears(ctx.now);
        self.store.members.iter().filter(|member| *member != self.id).any(|member| {
            let heard = self.heard[member];
            let silent = !hears.has(member) && ctx.now > self.installed_at + SILENT;
            let left = heard.sent > self.installed_at
                && (heard.gathers && heard.config == id || heard.config != id && heard.attempt != id);
            silent || left
        })
    }

    /// Leaves the configuration, or an attempt that failed.
    pub(crate) fn gather(&mut self, ctx: &mut Ctx<'_>) {
        ctx.history.count("gathers");
        self.forget_attempt(ctx);
        self.token = None;
        self.passed = None;
        self.hello_at = ctx.now;
        self.phase = Phase::Gathers { until: ctx.now + ctx.dice.between(8, 20), waits_for: None };
    }

    /// The largest set of nodes that all hear one another; those who are better off without this
    /// node are left out.
    fn clique(&self, now: usize) -> Set {
        let mut among = self.hears(now);
        among = among
            .iter()
            .filter(|node| self.aside[*node] <= now)
            .fold(Set::one(self.id), |set, node| set.or(Set::one(node)));
        loop {
            let sets = (1..1_u128 << NODES).map(Set).filter(|set| set.minus(among).is_empty());
            let best = sets
                .filter(|set| self.all_hear(*set, now))
                .max_by_key(|set| (set.len(), std::cmp::Reverse(*set)));
            match best {
                Some(set) if !set.has(self.id) => among = among.minus(set),
                best => return best.unwrap_or(Set::one(self.id)),
            }
        }
    }

    /// Asks for entries, if it is the smallest; else waits to be asked.
    pub(crate) fn propose(&mut self, ctx: &mut Ctx<'_>) {
        let Phase::Gathers { until, waits_for } = self.phase else { return };
        if ctx.now < until {
            return;
        }
        if let Some(slow) = waits_for {
            self.aside[slow] = ctx.now + ASIDE;
        }
        let members = self.clique(ctx.now);
        let first = members.first().unwrap_or(self.id);
        if first != self.id {
            let until = ctx.now + ctx.dice.between(25, 45);
            self.phase = Phase::Gathers { until, waits_for: Some(first) };
            return;
        }
        self.top += 1;
        self.bind(self.top * 8 + self.id, members, ctx);
    }

    /// Writes a commit entry: the old configuration is frozen.
    fn bind(&mut self, attempt: usize, members: Set, ctx: &mut Ctx<'_>) {
        self.store.frozen = true;
        self.last_bound = attempt;
        let until = ctx.now + ctx.dice.between(40, 80);
        let wrote = Set::one(self.id);
        let mut entries = Per::default();
        entries[self.id] = self.entry();
        self.phase = Phase::Bound(Bound { attempt, members, until, ask_at: ctx.now, wrote, entries });
    }

    fn entry(&self) -> Entry {
        Entry { old: self.store.id, line: self.store.safe.max(self.store.next - 1) }
    }

    pub(crate) fn on_ask(&mut self, from: usize, attempt: usize, members: Set, ctx: &mut Ctx<'_>) {
        let fits = members.has(self.id) && attempt > self.last_bound;
        if matches!(self.phase, Phase::Gathers { .. }) && fits {
            self.bind(attempt, members, ctx);
        }
        self.top = self.top.max(attempt / 8);
        if let Phase::Bound(bound) = &self.phase
            && bound.attempt == attempt
        {
            let entry = bound.entries[self.id];
            self.send(Set::one(from), &Frame::Wrote { attempt, entry }, ctx);
        }
    }

    pub(crate) fn on_entry(&mut self, from: usize, attempt: usize, entry: Entry, _ctx: &mut Ctx<'_>) {
        if let Phase::Bound(bound) = &mut self.phase
            && bound.attempt == attempt
            && attempt % 8 == self.id
        {
            bound.wrote.add(from);
            bound.entries[from] = entry;
        }
    }

    /// Asks again; goes on when all entries are there; gives up after a time.
    pub(crate) fn tend_entries(&mut self, ctx: &mut Ctx<'_>) {
        let Phase::Bound(bound) = &mut self.phase else { return };
        let asks = bound.attempt % 8 == self.id;
        let (attempt, members, entries, missing) =
            (bound.attempt, bound.members, bound.entries, bound.members.minus(bound.wrote));
        if asks && missing.is_empty() {
            self.recover(attempt, members, entries, ctx);
        } else if ctx.now >= bound.until {
            if asks {
                missing.iter().for_each(|node| self.aside[node] = ctx.now + ASIDE);
            }
            ctx.history.count("attempts given up");
            self.gather(ctx);
        } else if asks && ctx.now >= bound.ask_at {
            bound.ask_at = ctx.now + ASK;
            self.send(missing, &Frame::Ask { attempt, members }, ctx);
        }
    }

    pub(crate) fn on_commit(&mut self, attempt: usize, members: Set, entries: Per<Entry>, ctx: &mut Ctx<'_>) {
        if let Phase::Bound(bound) = &self.phase
            && bound.attempt == attempt
        {
            self.recover(attempt, members, entries, ctx);
        }
    }
}
