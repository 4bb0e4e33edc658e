//! What a receiver delivers: how much, how late, and a checksum of the sequence.

use super::words::Heard;
use crc32fast::Hasher;
use folkmoot_cli::values::Ordering;
use std::collections::BTreeMap;

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

/// A checksum of what a service promises of the sequence, equal wherever that is kept.
#[derive(Debug)]
enum Sequence {
    /// One order for all.
    All(Hasher),
    /// The order of each sender.
    Each(BTreeMap<u64, Hasher>),
    /// All messages, in whatever order.
    None(u32),
}

impl Sequence {
    fn of(service: Ordering) -> Self {
        match service {
            Ordering::Agreed | Ordering::Safe => Self::All(Hasher::new()),
            Ordering::Fifo | Ordering::Causal => Self::Each(BTreeMap::new()),
            Ordering::Reliable | Ordering::Unreliable => Self::None(0),
        }
    }

    fn hear(&mut self, sender: u64, message: &[u8]) {
        let mut alone = Hasher::new();
        let order = match self {
            Self::All(order) => order,
            Self::Each(senders) => senders.entry(sender).or_default(),
            Self::None(_) => &mut alone,
        };
        // The length, so that the bytes of two messages cannot be shared out otherwise.
        order.update(&message.len().to_be_bytes());
        order.update(message);
        if let Self::None(sum) = self {
            *sum = sum.wrapping_add(alone.finalize());
        }
    }

    fn text(&self) -> String {
        let sum = match self {
            Self::All(order) => order.clone().finalize(),
            Self::Each(senders) => {
                let mut all = Hasher::new();
                senders.values().for_each(|order| all.update(&order.clone().finalize().to_be_bytes()));
                all.finalize()
            }
            Self::None(sum) => *sum,
        };
        format!("{sum:08x}")
    }
}

/// What was delivered since it began.
#[derive(Debug)]
pub(crate) struct Tally {
    from: u64,
    to: u64,
    count: u64,
    timed: u64,
    order: Sequence,
    micros: Vec<f32>,
    /// Whose message came last.
    last: Option<u64>,
    /// Of those after a message of another sender.
    after_others: Vec<f32>,
}

impl Default for Tally {
    fn default() -> Self {
        Self::new((0, 0), Ordering::Agreed)
    }
}

impl Tally {
    /// Nothing yet; measures from one time to another.
    pub(crate) fn new((from, to): (u64, u64), service: Ordering) -> Self {
        let (micros, after_others) = (Vec::new(), Vec::new());
        let order = Sequence::of(service);
        Self { from, to, count: 0, timed: 0, order, micros, last: None, after_others }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next message, and says who sent it.
    pub(crate) fn hear(&mut self, now: u64, message: &[u8]) -> Option<u64> {
        let (sent, sender) = stamp(message)?;
        self.count = self.count.saturating_add(1);
        self.order.hear(sender, message);
        if (self.from..self.to).contains(&now) {
            self.timed = self.timed.saturating_add(1);
            if self.micros.len() < SAMPLES_MAX {
                let micros = now.saturating_sub(sent) as f32 / 1_000.0;
                self.micros.push(micros);
                if self.last.is_some_and(|last| last != sender) {
                    self.after_others.push(micros);
                }
            }
        }
        self.last = Some(sender);
        Some(sender)
    }

    pub(crate) fn heard(&self) -> Heard {
        let [p50_us, p99_us, max_us] = percentiles(self.micros.clone());
        let [p50_after_others_us, ..] = percentiles(self.after_others.clone());
        let (count, timed, order) = (self.count, self.timed, self.order.text());
        Heard { count, timed, order, p50_us, p99_us, max_us, p50_after_others_us }
    }
}

/// The median of these, what 99 of 100 do not exceed, and the most: whole numbers, 0 of none.
pub(crate) fn percentiles(mut all: Vec<f32>) -> [f64; 3] {
    all.sort_unstable_by(f32::total_cmp);
    [50, 99, 100].map(|share: usize| {
        let place = (all.len() * share / 100).min(all.len().saturating_sub(1));
        f64::from(all.get(place).copied().unwrap_or_default()).round()
    })
}

#[cfg(test)]
mod tests {
    use super::{Ordering, STAMP_BYTES, Tally, stamped};

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
        let mut tally = Tally::new((10_000, 2_010_000), Ordering::Agreed);
        for (now, sent) in [(9_999, 0), (10_000, 9_000), (2_009_999, 9_999), (2_010_000, 9)] {
            tally.hear(now, &stamped(100, 1, 1, sent));
        }
        let heard = tally.heard();
        assert_eq!((heard.count, heard.timed), (4, 2));
        assert_eq!((heard.p50_us, heard.p99_us, heard.max_us), (2_000.0, 2_000.0, 2_000.0));
        assert_eq!(Tally::new((0, 1), Ordering::Agreed).heard().max_us, 0.0, "nothing came");
    }

    /// Of messages by (sender, number).
    fn order(service: Ordering, messages: &[(u32, u64)]) -> String {
        let mut tally = Tally::new((0, 1), service);
        for (sender, number) in messages {
            assert_eq!(tally.hear(0, &stamped(64, *sender, *number, 5)), Some((*sender).into()));
        }
        tally.heard().order
    }

    #[test]
    fn another_order_another_message_or_one_too_few_has_another_checksum() {
        let all = |numbers: &[u64]| {
            order(Ordering::Agreed, &numbers.iter().map(|number| (1, *number)).collect::<Vec<_>>())
        };
        assert_eq!(all(&[1, 2, 3]), all(&[1, 2, 3]));
        for other in [&[2, 1, 3][..], &[1, 2], &[1, 2, 4], &[1, 2, 3, 3]] {
            assert_ne!(all(&[1, 2, 3]), all(other));
        }
    }

    #[test]
    fn what_a_service_does_not_promise_does_not_count() {
        let sent = [(1, 1), (1, 2), (2, 1), (2, 2)];
        let (mixed, turned) = ([(2, 1), (1, 1), (1, 2), (2, 2)], [(1, 2), (1, 1), (2, 1), (2, 2)]);
        for (service, equal) in [
            (Ordering::Safe, [false, false]),
            (Ordering::Fifo, [true, false]),
            (Ordering::Reliable, [true, true]),
        ] {
            let told = [mixed, turned].map(|other| order(service, &other) == order(service, &sent));
            assert_eq!(told, equal, "{service:?}");
            assert_ne!(order(service, &sent[1..]), order(service, &sent), "{service:?}");
        }
    }
}
