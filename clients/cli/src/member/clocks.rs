//! Whose clock differs from this machine's, as far as the member has noticed.

use super::names::{Names, name};
use super::times::{list, span, text};
use folkmoot::{Event, MemberId, UnixTime};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most members of whom that is kept.
const KEPT_MAX: usize = 64;

/// By how much this clock was behind, and when that was noticed. Without a member: behind those of
/// a quorum.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks(BTreeMap<Option<MemberId>, (u64, UnixTime)>);

impl Clocks {
    pub(super) fn note(&mut self, event: &Event, now: UnixTime) {
        let Event::ClockBehind { than, seconds } = event else { return };
        if self.0.len() < KEPT_MAX || self.0.contains_key(than) {
            self.0.insert(*than, (*seconds, now));
        }
    }

    pub(super) fn json(&self, names: &Names) -> Value {
        let one = |(than, (seconds, at)): (&Option<MemberId>, &(u64, UnixTime))| {
            json!({
                "member": than.map(|id| id.hex()), "name": than.map(|id| name(names, &id)), "seconds": seconds,
                "noticed": at.to_string(),
            })
        };
        self.0.iter().map(one).collect()
    }
}

/// A line for each, for people.
pub(crate) fn lines(status: &Value) -> impl Iterator<Item = String> + use<'_> {
    list(status, "clocks").map(|one| {
        let behind = span(one.get("seconds").and_then(Value::as_u64).unwrap_or_default());
        let at = text(one, "noticed");
        match one.get("name").and_then(Value::as_str) {
            Some(_) => format!("at {at} this clock was {behind} behind that of {}", text(one, "name")),
            None => {
                format!("at {at} this clock was {behind} behind those of the voters who had just decided")
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_clock_differs_is_told_with_how_much() {
        let (anna, now) = (MemberId([1; 32]), UnixTime(1_800_000_000));
        let mut clocks = Clocks::default();
        for (than, seconds) in [(Some(anna), 90), (None, 7_200)] {
            clocks.note(&Event::ClockBehind { than, seconds }, now);
        }
        let names = Names::from([(anna, "anna".to_owned())]);
        let said: Vec<String> = lines(&json!({ "clocks": clocks.json(&names) })).collect();
        assert!(said[0].contains("2 hours behind those of the voters"), "{said:?}");
        assert!(said[1].contains("2 minutes behind that of anna"), "{said:?}");
        for byte in 0..=255 {
            clocks.note(&Event::ClockBehind { than: Some(MemberId([byte; 32])), seconds: 1 }, now);
        }
        assert_eq!(clocks.0.len(), KEPT_MAX);
    }
}
