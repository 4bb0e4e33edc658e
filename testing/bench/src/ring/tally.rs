//! What a receiver delivers: how much, how late, and a checksum of the sequence.

use super::words::Heard;
use crc32fast::Hasher;

/// Bytes that every message begins with: when it was sent, which of its sender's messages it is,
/// and the sender's number.
pub(crate) const STAMP_BYTES: usize = 24;
/// Latencies that are kept.
const SAMPLES_MAX: usize = 2_000_000;

/// A message of so many bytes.
pub(crate) fn stamped(bytes: usize, sender: u32, number: u64, sent: u64) -> Vec<u8> {
    let mut message = Vec::with_capacity(bytes.max(STAMP_BYTES));
    message.extend_from_slice(&sent.to_be_bytes());
    message.extend_from_slice(&number.to_be_bytes());
    message.extend_from_slice(&u64::from(sender).to_be_bytes());
    message.resize(bytes.max(STAMP_BYTES), 0x5a);
    message
}

/// When a message was sent, and by whom.
fn stamp(message: &[u8]) -> Option<(u64, u64)> {
    let (sent, rest) = message.split_first_chunk::<8>()?;
    let (_, rest) = rest.split_first_chunk::<8>()?;
    let (sender, _) = rest.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*sent), u64::from_be_bytes(*sender)))
}

/// What was delivered since it began.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    from: u64,
    to: u64,
    count: u64,
    timed: u64,
    order: Hasher,
    micros: Vec<f32>,
}

impl Tally {
    /// Nothing yet; measures from one time to another.
    pub(crate) fn new(from: u64, to: u64) -> Self {
        Self { from, to, ..Self::default() }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next message, and says who sent it.
    pub(crate) fn hear(&mut self, now: u64, message: &[u8]) -> Option<u64> {
        let (sent, sender) = stamp(message)?;
        self.count = self.count.saturating_add(1);
        // The length, so that the bytes of two messages cannot be shared out otherwise.
        self.order.update(&message.len().to_be_bytes());
        self.order.update(message);
        if (self.from..self.to).contains(&now) {
            self.timed = self.timed.saturating_add(1);
            if self.micros.len() < SAMPLES_MAX {
                self.micros.push(now.saturating_sub(sent) as f32 / 1_000.0);
            }
        }
        Some(sender)
    }

    pub(crate) fn heard(&self) -> Heard {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = |share: usize| {
            let place = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
            f64::from(sorted.get(place).copied().unwrap_or_default()).round()
        };
        Heard {
            count: self.count,
            timed: self.timed,
            order: format!("{:08x}", self.order.clone().finalize()),
            p50_us: at(50),
            p99_us: at(99),
            max_us: at(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{STAMP_BYTES, Tally, stamped};

    #[test]
    fn a_message_has_its_length_and_says_who_sent_it() {
        for bytes in [0, STAMP_BYTES, 1_350] {
            let message = stamped(bytes, 7, 3, 11);
            assert_eq!(message.len(), bytes.max(STAMP_BYTES));
            assert_eq!(Tally::default().hear(0, &message), Some(7));
        }
        assert_eq!(Tally::default().hear(0, b"short"), None);
    }

    #[test]
    fn only_what_comes_in_the_measured_time_is_timed() {
        let mut tally = Tally::new(10_000, 2_010_000);
        for (now, sent) in [(9_999, 0), (10_000, 9_000), (2_009_999, 9_999), (2_010_000, 9)] {
            tally.hear(now, &stamped(100, 1, 1, sent));
        }
        let heard = tally.heard();
        assert_eq!((heard.count, heard.timed), (4, 2));
        assert_eq!((heard.p50_us, heard.p99_us, heard.max_us), (2_000.0, 2_000.0, 2_000.0));
        assert_eq!(Tally::new(0, 1).heard().max_us, 0.0, "nothing came");
    }

    #[test]
    fn another_order_another_message_or_one_too_few_has_another_checksum() {
        let order = |numbers: &[u64]| {
            let mut tally = Tally::default();
            for number in numbers {
                assert_eq!(tally.hear(0, &stamped(64, 1, *number, 5)), Some(1));
            }
            tally.heard().order
        };
        assert_eq!(order(&[1, 2, 3]), order(&[1, 2, 3]));
        for other in [&[2, 1, 3][..], &[1, 2], &[1, 2, 4], &[1, 2, 3, 3]] {
            assert_ne!(order(&[1, 2, 3]), order(other));
        }
    }
}
