//! The delivery log: what came, in which order, how fast. Two members with equal digests heard the
//! same in one order (the digest runs over senders, lengths and checksums of contents).

use crate::control::micros;
use folkmoot::{Digest, Party};
use folkmoot_base::digest;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

/// Timed messages kept for the percentiles; later ones are counted only.
const TIMED_MAX: usize = 4_000_000;
/// Marks a payload that begins with the time of its sending.
const MARK: [u8; 8] = *b"fmbench1";
/// Bytes that a timed payload has at least: time, number, mark.
pub(crate) const TIMED_BYTES: usize = 24;

/// A payload of `bytes` bytes that carries the time of its making and its number.
pub(crate) fn timed(bytes: usize, number: u64) -> Vec<u8> {
    let mut payload = Vec::with_capacity(bytes.max(TIMED_BYTES));
    payload.extend_from_slice(&micros().to_be_bytes());
    payload.extend_from_slice(&number.to_be_bytes());
    payload.extend_from_slice(&MARK);
    payload.resize(bytes.max(TIMED_BYTES), 0x5a);
    payload
}

/// The log. It keeps digests and times, no contents.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    count: u64,
    bytes: u64,
    digest: Digest,
    senders: BTreeMap<Party, u64>,
    timed: Vec<(u64, u32)>,
}

impl Journal {
    /// Notes one delivered message.
    pub(crate) fn note(&mut self, sender: Party, payload: &[u8]) {
        self.count += 1;
        self.bytes += u64::try_from(payload.len()).unwrap_or(0);
        let length = u64::try_from(payload.len()).unwrap_or(u64::MAX).to_be_bytes();
        let sum = checksum(payload).to_be_bytes();
        self.digest = digest(&[&self.digest, &sender.to_bytes(), &length, &sum]);
        *self.senders.entry(sender).or_default() += 1;
        if let Some(sent) = sent_at(payload)
            && self.timed.len() < TIMED_MAX
        {
            let now = micros();
            self.timed.push((now, u32::try_from(now.saturating_sub(sent)).unwrap_or(u32::MAX)));
        }
    }

    /// How many, in which order; latency of those that came from `from` up to `to`.
    pub(crate) fn report(&self, from: u64, to: u64) -> Value {
        let mut latency: Vec<u32> = self
            .timed
            .iter()
            .filter(|(at, _)| (from..to).contains(at))
            .map(|(_, latency)| *latency)
            .collect();
        latency.sort_unstable();
        let senders: BTreeMap<String, u64> =
            self.senders.iter().map(|(member, count)| (member.hex(), *count)).collect();
        json!({
            "count": self.count, "bytes": self.bytes, "digest": folkmoot_base::hex(&self.digest), "senders": senders,
            "timed": latency.len(), "p50_us": percentile(&latency, 50), "p99_us": percentile(&latency, 99),
            "max_us": latency.last(),
        })
    }
}

/// The smallest value that at least `percent` of the sorted `values` do not exceed.
fn percentile(values: &[u32], percent: usize) -> Option<u32> {
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied()
}

/// A checksum of the content, equal in all processes of one build: the log tells orders apart, it
/// proves nothing to an enemy, and SHA-256 over every payload would cost more than the message.
fn checksum(payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(payload);
    hasher.finish()
}

fn sent_at(payload: &[u8]) -> Option<u64> {
    let (at, rest) = payload.split_first_chunk::<8>()?;
    (rest.get(8..16)? == MARK).then(|| u64::from_be_bytes(*at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::MemberId;

    #[test]
    fn the_digest_tells_order_and_sender() {
        let (anna, ben) = (Party::from(MemberId([1; 32])), Party::from(MemberId([2; 32])));
        let log = |messages: &[(Party, &[u8])]| {
            let mut journal = Journal::default();
            messages.iter().for_each(|(sender, payload)| journal.note(*sender, payload));
            journal.report(0, 0)
        };
        let one = log(&[(anna, b"x"), (ben, b"y")]);
        assert_eq!(one["digest"], log(&[(anna, b"x"), (ben, b"y")])["digest"]);
        assert_ne!(one["digest"], log(&[(ben, b"y"), (anna, b"x")])["digest"]);
        assert_ne!(one["digest"], log(&[(ben, b"x"), (anna, b"y")])["digest"]);
        assert_ne!(one["digest"], log(&[(anna, b"xy")])["digest"]);
        assert_eq!(one["senders"][anna.hex()], 1);
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let values: Vec<u32> = (1..=100).collect();
        assert_eq!(percentile(&values, 50), Some(50));
        assert_eq!(percentile(&values, 99), Some(99));
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn a_timed_payload_is_measured_and_only_that() {
        let mut journal = Journal::default();
        journal.note(MemberId([1; 32]).into(), &timed(1350, 1));
        journal.note(MemberId([1; 32]).into(), &[0; 1350]);
        journal.note(MemberId([1; 32]).into(), b"short");
        let report = journal.report(0, u64::MAX);
        assert_eq!((report["timed"].as_u64(), report["count"].as_u64()), (Some(1), Some(3)));
        assert!(report["p50_us"].as_u64().unwrap() < 1_000_000);
    }
}
