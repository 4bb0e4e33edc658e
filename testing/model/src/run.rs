//! The messages of one run: GDH's pattern, as `protocol/agreement/src/gdh/run` has it, without the
//! numbers. It says who owes which step, and in which order. What each member brings decides which
//! of the four patterns it is.

use crate::names::{Set, Trio, ViewNumber, Who, everybody};

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Up the chain.
    Partial,
    /// From the last: the chain's value.
    Final,
    /// From all but the last.
    FactOut,
    /// From the last.
    KeyList,
    /// From the base's newest to the one who joins.
    NewMember,
    /// From everybody who has the key; decides.
    Confirm,
}

impl Kind {
    /// Whether the step decides, and so is sent safe.
    pub fn decides(self) -> bool {
        matches!(self, Self::Confirm)
    }
}

/// The members of a run by rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Order {
    length: u8,
    by_rank: [Who; 3],
}

impl Order {
    fn push(&mut self, who: Who) {
        if let Some(place) = self.by_rank.get_mut(usize::from(self.length)) {
            *place = who;
            self.length = self.length.saturating_add(1);
        }
    }

    /// By rank.
    pub fn iter(&self) -> impl Iterator<Item = Who> {
        self.by_rank.iter().copied().take(usize::from(self.length))
    }

    /// A member's rank.
    pub fn rank(&self, who: Who) -> Option<u8> {
        (0..self.length).zip(self.iter()).find_map(|(rank, other)| (other == who).then_some(rank))
    }

    fn last(&self) -> u8 {
        self.length.saturating_sub(1)
    }
}

/// The state of the last confirmed run: which it was, and its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LastRun {
    /// The run, named by its view.
    pub run: ViewNumber,
    /// Its order.
    pub order: Order,
}

/// What a member says that it holds: the run, and its rank in it.
pub type Origin = Option<(ViewNumber, u8)>;

/// What all have seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Seen {
    Chain(u8),
    Last,
    Factoring(Set),
    Joining,
    All,
    Done,
}

/// The stage of a run at one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// PT: waits for its turn in the chain.
    PartialToken,
    /// FT.
    FinalToken,
    /// FO.
    FactOuts,
    /// The one who joins, or who tells it, or who waits with them (GDH's JOIN).
    NewMember,
    /// KL.
    KeyList,
    /// KC: the key is there.
    Confirming,
}

/// A run at one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Run {
    order: Order,
    seen: Seen,
    confirmed: Set,
    /// What was accepted in which order: stands for the key.
    transcript: u16,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Took {
    /// Not this one's turn, or not from whom it should be.
    Refused,
    /// A step forward; something is to be sent, perhaps.
    Step(Option<Kind>),
    /// The key is there.
    Key,
    /// Everybody has confirmed.
    Complete,
}

impl Run {
    /// A run for `members`, each bringing what it said; and what `me` sends first. A run of one is
    /// done.
    pub(crate) fn begin(me: Who, members: Set, brought: &Trio<Origin>) -> (Self, Option<Kind>) {
        let (order, base) = plan(members, brought);
        let newcomers = order.length.saturating_sub(base);
        let seen = match (base, newcomers) {
            _ if order.length == 1 => Seen::Done,
            (_, 0) => Seen::All,
            (0, _) => Seen::Chain(0),
            (_, 1) => Seen::Joining,
            (base, _) => Seen::Chain(base.saturating_sub(1)),
        };
        let run = Self { order, seen, confirmed: Set::NONE, transcript: 1 };
        let rank = order.rank(me).unwrap_or(u8::MAX);
        let first = match seen {
            Seen::All if rank == order.last() => Some(Kind::KeyList),
            Seen::Joining if rank.saturating_add(1) == order.last() => Some(Kind::NewMember),
            Seen::Chain(next) if rank == next => Some(Kind::Partial),
            _ => None,
        };
        (run, first)
    }

    /// One step, at `me`.
    pub(crate) fn receive(&mut self, me: Who, from: Who, kind: Kind) -> Took {
        let (Some(rank), Some(mine)) = (self.order.rank(from), self.order.rank(me)) else {
            return Took::Refused;
        };
        let took = match kind {
            Kind::Confirm => return self.confirm(from),
            Kind::Partial => self.partial(rank, mine),
            Kind::Final => self.final_token(rank, mine),
            Kind::FactOut => self.fact_out(rank, mine),
            Kind::NewMember => self.new_member(rank, mine),
            Kind::KeyList if self.seen == Seen::All && rank == self.order.last() => {
                self.seen = Seen::Done;
                Took::Key
            }
            Kind::KeyList => Took::Refused,
        };
        if took != Took::Refused {
            self.transcript =
                self.transcript.wrapping_mul(31).wrapping_add(u16::from(rank) * 8).wrapping_add(kind as u16);
        }
        took
    }

    fn partial(&mut self, from: u8, me: u8) -> Took {
        if self.seen != Seen::Chain(from) || from == self.order.last() {
            return Took::Refused;
        }
        let next = from.saturating_add(1);
        let last = next == self.order.last();
        self.seen = if last { Seen::Last } else { Seen::Chain(next) };
        Took::Step((next == me).then_some(if last { Kind::Final } else { Kind::Partial }))
    }

    fn final_token(&mut self, from: u8, me: u8) -> Took {
        if self.seen != Seen::Last || from != self.order.last() {
            return Took::Refused;
        }
        self.seen = Seen::Factoring(Set::first(self.order.last()));
        Took::Step((me != self.order.last()).then_some(Kind::FactOut))
    }

    fn fact_out(&mut self, from: u8, me: u8) -> Took {
        let Seen::Factoring(missing) = self.seen else { return Took::Refused };
        if !missing.has(from) {
            return Took::Refused;
        }
        let missing = missing.without(from);
        self.seen = if missing.is_empty() { Seen::All } else { Seen::Factoring(missing) };
        Took::Step((missing.is_empty() && me == self.order.last()).then_some(Kind::KeyList))
    }

    fn new_member(&mut self, from: u8, me: u8) -> Took {
        if self.seen != Seen::Joining || from.saturating_add(1) != self.order.last() {
            return Took::Refused;
        }
        self.seen = Seen::All;
        Took::Step((me == self.order.last()).then_some(Kind::KeyList))
    }

    fn confirm(&mut self, from: Who) -> Took {
        if self.seen != Seen::Done || self.confirmed.has(from) {
            return Took::Refused;
        }
        self.confirmed = self.confirmed.with(from);
        if self.confirmed.len() == self.order.length { Took::Complete } else { Took::Step(None) }
    }

    /// The key is there.
    pub(crate) fn has_key(&self) -> bool {
        self.seen == Seen::Done
    }

    /// The next step may end the run, or confirmations are coming.
    pub(crate) fn is_deciding(&self, me: Who) -> bool {
        matches!(self.stage(me), Stage::KeyList | Stage::Confirming)
    }

    /// Where the run stands at `me`.
    pub(crate) fn stage(&self, me: Who) -> Stage {
        let (rank, last) = (self.order.rank(me).unwrap_or(0), self.order.last());
        match self.seen {
            Seen::Chain(next) if next > rank => Stage::FinalToken,
            Seen::Chain(_) => Stage::PartialToken,
            Seen::Last if rank != last => Stage::FinalToken,
            Seen::Last => Stage::FactOuts,
            Seen::Joining => Stage::NewMember,
            Seen::Factoring(_) if rank == last => Stage::FactOuts,
            Seen::Factoring(_) | Seen::All => Stage::KeyList,
            Seen::Done => Stage::Confirming,
        }
    }

    /// Stands for the key.
    pub(crate) fn key(&self) -> u16 {
        self.transcript
    }

    /// By rank.
    pub(crate) fn order(&self) -> Order {
        self.order
    }
}

/// The run's order, and how many of it are the base: the largest side that holds one run, of equals
/// the one with the lowest member; the others behind it by place.
fn plan(members: Set, brought: &Trio<Origin>) -> (Order, u8) {
    let origin = |who: Who| brought.get(who).copied().flatten();
    let side = |run: ViewNumber| -> Set {
        members.iter().filter(|who| origin(*who).is_some_and(|(held, _)| held == run)).collect()
    };
    let runs = members.iter().filter_map(|who| origin(who).map(|(run, _)| (run, who)));
    let base = runs.max_by_key(|(run, who)| (side(*run).len(), u8::MAX - who)).map(|(run, _)| side(run));
    let base = base.unwrap_or_default();
    let mut ranked: Vec<_> = base.iter().filter_map(|who| origin(who).map(|(_, rank)| (rank, who))).collect();
    ranked.sort_unstable();
    let mut order = Order::default();
    ranked.into_iter().for_each(|(_, who)| order.push(who));
    everybody().filter(|who| members.has(*who) && !base.has(*who)).for_each(|who| order.push(who));
    (order, base.len())
}
