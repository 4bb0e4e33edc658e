//! What everything here is made of: sets of small numbers, services, packets, records.

use std::ops::{Index, IndexMut};

/// Most nodes of a run.
pub(crate) const NODES: usize = 5;
/// Most messages of a run: a set of them fits one number.
pub(crate) const MESSAGES: usize = 120;

/// A set of numbers below 128: of nodes, of messages, of chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set(pub(crate) u128);

impl Set {
    /// This one alone.
    pub(crate) fn one(number: usize) -> Self {
        Self(1 << (number & 127))
    }

    /// All below.
    pub(crate) fn below(end: usize) -> Self {
        Self((1 << (end & 127)) - 1)
    }

    /// Whether this one is in it.
    pub(crate) fn has(self, number: usize) -> bool {
        self.0 >> (number & 127) & 1 == 1
    }

    /// Takes one in.
    pub(crate) fn add(&mut self, number: usize) {
        self.0 |= Self::one(number).0;
    }

    /// What is in one of the two.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is not in the other.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many.
    pub(crate) fn len(self) -> usize {
        usize::try_from(self.0.count_ones()).unwrap_or_default()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The smallest.
    pub(crate) fn first(self) -> Option<usize> {
        self.iter().next()
    }

    /// From the smallest on.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let number = usize::try_from(rest.trailing_zeros()).unwrap_or(128);
            rest &= rest.wrapping_sub(1);
            (number < 128).then_some(number)
        })
    }
}

/// One of these for each node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Per<T>([T; NODES]);

impl<T> Per<T> {
    /// From what belongs to each.
    pub(crate) fn of(make: impl FnMut(usize) -> T) -> Self {
        Self(std::array::from_fn(make))
    }
}

#[allow(clippy::indexing_slicing)]
impl<T> Index<usize> for Per<T> {
    type Output = T;

    fn index(&self, node: usize) -> &T {
        &self.0[node % NODES]
    }
}

#[allow(clippy::indexing_slicing)]
impl<T> IndexMut<usize> for Per<T> {
    fn index_mut(&mut self, node: usize) -> &mut T {
        &mut self.0[node % NODES]
    }
}

/// What a message is promised, from the weakest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Service {
    /// Nothing: outside the streams.
    Unreliable,
    /// It arrives.
    Reliable,
    /// In the order of its sender.
    Fifo,
    /// After what it may depend on.
    Causal,
    /// In one order.
    Agreed,
    /// In one order, when all hold it.
    Safe,
}

impl Service {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Unreliable, Self::Reliable, Self::Fifo, Self::Causal, Self::Agreed, Self::Safe];

    /// Whether it waits for its place in the order.
    pub(crate) fn is_ordered(self) -> bool {
        self >= Self::Agreed
    }
}

/// A message in its sender's stream. Each fits one packet here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Which message of the run.
    pub(crate) uid: usize,
    /// Who sent it.
    pub(crate) source: usize,
    /// Its number in the stream, from 1 on.
    pub(crate) number: usize,
    /// What it is promised.
    pub(crate) service: Service,
    /// If causal or stronger: the highest causal-or-stronger number of each other stream that its
    /// sender had delivered.
    pub(crate) names: Per<usize>,
}

/// "Next come my packets up to `last`."
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// Records have gapless numbers, from 1 on.
    pub(crate) number: usize,
    /// The place of its first packet, from 1 on.
    pub(crate) place: usize,
    /// Whose packets.
    pub(crate) source: usize,
    /// The first of them.
    pub(crate) first: usize,
    /// The last of them.
    pub(crate) last: usize,
    /// The places of it that hold something weaker than agreed. Only a mutant reads this.
    pub(crate) weak: Set,
}

/// Where a message stands in what its configuration delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Delivered without one.
    None,
    /// A place of the known order.
    Known(usize),
    /// Behind the known order, in a space of its own: (sender, number).
    Behind(usize, usize),
}

/// What a node hands to its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Which message.
    pub(crate) uid: usize,
    /// Where it stands.
    pub(crate) place: Place,
}
