//! ORD-02: a member's agreed and safe packets get no place before what it had delivered early when
//! it numbered them. So wherever they are delivered, that is delivered before them. Only their
//! sender gives them places, so it needs nobody's word for this.

use std::collections::VecDeque;

/// What was delivered here before it had a place, and what of this node's stream waits for that.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    /// Packets of others, in the order in which they were delivered: (sender, number).
    early: VecDeque<(u8, u64)>,
    /// How many have been taken out of `early`, having places.
    settled: u64,
    /// (number, count): this node's packets from that number on wait for the first `count`.
    waits: VecDeque<(u64, u64)>,
}

impl Unsettled {
    /// A packet of another member is delivered early.
    pub(crate) fn early(&mut self, source: u8, number: u64) {
        self.early.push_back((source, number));
    }

    /// Takes out what has places by now: `placed` says how far each stream has.
    pub(crate) fn settle(&mut self, placed: impl Fn(u8) -> u64) {
        while self.early.front().is_some_and(|(source, number)| placed(*source) >= *number) {
            self.early.pop_front();
            self.settled = self.settled.saturating_add(1);
        }
        while self.waits.front().is_some_and(|(_, count)| *count <= self.settled) {
            self.waits.pop_front();
        }
    }

    /// This node numbers an agreed or safe packet.
    pub(crate) fn numbered(&mut self, number: u64) {
        let left = u64::try_from(self.early.len()).unwrap_or(u64::MAX);
        let count = self.settled.saturating_add(left);
        let more = self.waits.back().is_none_or(|(_, before)| *before < count);
        if left > 0 && more {
            self.waits.push_back((number, count));
        }
    }

    /// This node's packets below this number may have places.
    pub(crate) fn bound(&self) -> u64 {
        self.waits.front().map_or(u64::MAX, |(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::Unsettled;

    #[test]
    fn ord_02_a_packet_waits_for_what_was_delivered_before_it_and_no_more() {
        let mut unsettled = Unsettled::default();
        unsettled.numbered(1);
        assert_eq!(unsettled.bound(), u64::MAX);
        unsettled.early(2, 7);
        unsettled.numbered(2);
        unsettled.numbered(3);
        unsettled.early(4, 1);
        unsettled.numbered(4);
        unsettled.settle(|_| 0);
        assert_eq!(unsettled.bound(), 2);
        unsettled.settle(|source| if source == 2 { 7 } else { 0 });
        assert_eq!(unsettled.bound(), 4, "its own wait is longer than that of 2 and 3");
        unsettled.settle(|_| 9);
        assert_eq!(unsettled.bound(), u64::MAX);
    }
}
