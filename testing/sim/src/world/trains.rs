//! Datagrams that come together, as a system hands them over that joins them (GRO).

use super::{Event, World};
use crate::record::Player;
use bytes::Bytes;
use std::cmp::Reverse;

/// What is due so much later, in microseconds, may come together with what is due now.
const SOON: u64 = 200;
/// One schedule in so many has them.
const ONE_IN: u64 = 3;

impl World {
    /// The first datagram, which is due now, and those behind it that come together with it: from
    /// the same place, of the same length but for the last, and nothing else is due in between.
    pub(super) fn together(&mut self, to: Player, from: u32, first: Bytes) -> Vec<Bytes> {
        let size = first.len();
        let mut train = vec![first];
        while self.seed.is_multiple_of(ONE_IN) && train.last().is_some_and(|last| last.len() == size) {
            let Some(Reverse((at, _, next))) = self.queue.peek() else { break };
            let Event::Arrive { to: also, from: same, bytes, forged: false } = next else { break };
            let soon = *at <= self.now.saturating_add(SOON);
            if !soon || (*also, *same) != (to, from) || bytes.is_empty() || bytes.len() > size {
                break;
            }
            train.push(bytes.clone());
            self.queue.pop();
        }
        train
    }
}
