//! The numbers that a sender gives its messages, and which of them have not come.
//!
//! A sender counts all its messages, whatever their channels. So a gap says that a message was
//! lost, and not on which channel.

use crate::counters::{Counters, add};
use std::collections::BTreeMap;

/// How far a number may be ahead. Beyond it the sender is another program on the same port.
const AHEAD_MAX: u32 = 1 << 16;
/// How many numbers before the next one are remembered.
const REMEMBERED: u32 = 64;

#[derive(Debug, Clone, Copy)]
struct Sequence {
    next: u32,
    /// Bit n: `next - 1 - n` has come.
    came: u64,
    /// How many of the bits say something.
    known: u32,
    stamp: u64,
}

/// The numbers of all senders, of so many as [`crate::Limits::senders`] says. `S` tells them apart.
#[derive(Debug)]
pub(crate) struct Sequences<S> {
    senders: BTreeMap<S, Sequence>,
    /// Who was heard longest ago comes first.
    order: BTreeMap<u64, S>,
    stamp: u64,
}

impl<S> Default for Sequences<S> {
    fn default() -> Self {
        Self { senders: BTreeMap::new(), order: BTreeMap::new(), stamp: 0 }
    }
}

impl<S: Copy + Ord> Sequences<S> {
    pub(crate) fn len(&self) -> usize {
        self.senders.len()
    }

    /// Notes the number of a message that came whole; how many right before it are missing
    /// (PUB-10).
    pub(crate) fn note(&mut self, from: S, number: u32, most: usize, counters: &mut Counters) -> u32 {
        if let Some(newest) = self.senders.get_mut(&from).filter(|sender| sender.stamp == self.stamp) {
            // Nobody else was heard since, so it has its place.
            return newest.note(number, counters);
        }
        self.stamp = self.stamp.saturating_add(1);
        let stamp = self.stamp;
        let missing = match self.senders.get_mut(&from) {
            Some(sequence) => {
                self.order.remove(&sequence.stamp);
                sequence.stamp = stamp;
                sequence.note(number, counters)
            }
            None => {
                self.make_room(most, counters);
                self.senders.insert(from, Sequence { stamp, ..Sequence::begin(number) });
                0
            }
        };
        self.order.insert(stamp, from);
        missing
    }

    /// Forgets who was silent longest (PUB-11).
    fn make_room(&mut self, most: usize, counters: &mut Counters) {
        while self.senders.len() >= most.max(1) {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.senders.remove(&oldest);
            add(&mut counters.forgotten, 1);
        }
    }
}

impl Sequence {
    fn begin(number: u32) -> Self {
        Self { next: number.wrapping_add(1), came: 1, known: 1, stamp: 0 }
    }

    fn note(&mut self, number: u32, counters: &mut Counters) -> u32 {
        let ahead = number.wrapping_sub(self.next);
        if ahead < AHEAD_MAX {
            let shift = ahead + 1;
            self.came = self.came.checked_shl(shift).unwrap_or(0) | 1;
            self.known = self.known.saturating_add(shift).min(REMEMBERED);
            self.next = number.wrapping_add(1);
            add(&mut counters.missing, ahead.into());
            return ahead;
        }
        let behind = self.next.wrapping_sub(number).wrapping_sub(1);
        if behind >= REMEMBERED {
            *self = Self { stamp: self.stamp, ..Self::begin(number) };
            add(&mut counters.jumps, 1);
            return 0;
        }
        let bit = 1_u64 << behind;
        if self.came & bit != 0 {
            add(&mut counters.repeated, 1);
            return 0;
        }
        self.came |= bit;
        add(&mut counters.late, 1);
        if behind < self.known {
            counters.missing = counters.missing.saturating_sub(1);
        }
        0
    }
}
