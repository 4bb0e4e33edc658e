//! EVS 1, basic delivery: every delivery has one earlier send; at most once per process; only in
//! the configuration that numbered it or its transitional follower; one place in the order is one
//! message.
//! Source: EVS §3, specifications 1.1 to 1.4.

use super::{Broken, Checker, Story};
use crate::record::{Process, Record, RingMessage};
use folkmoot_base::ConfigurationId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "evs-1-basic-delivery", source: "EVS §3, 1.1 to 1.4", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    let sends = sends(story);
    let mut places: BTreeMap<(ConfigurationId, u64), RingMessage> = BTreeMap::new();
    let mut copies: BTreeMap<RingMessage, BTreeMap<(ConfigurationId, u64), usize>> = BTreeMap::new();
    for (process, life) in &story.lives {
        if let Some(place) = life.ring.stray.first() {
            return Err(broken(*process, place.entry, "delivered before the first configuration"));
        }
        for segment in &life.ring.segments {
            let mut seen = BTreeSet::new();
            for place in &segment.delivered {
                if place.configuration != segment.id {
                    return Err(broken(
                        *process,
                        place.entry,
                        "delivered in another configuration than it was sent in",
                    ));
                }
                if !seen.insert(place.number) {
                    return Err(broken(*process, place.entry, "delivered twice"));
                }
                let key = (place.configuration, place.number);
                if *places.entry(key).or_insert(place.message) != place.message {
                    return Err(broken(
                        *process,
                        place.entry,
                        "delivered another message at the same place of the order",
                    ));
                }
                let first = copies.entry(place.message).or_default().entry(key).or_insert(place.entry);
                *first = (*first).min(place.entry);
            }
        }
    }
    for (message, entries) in copies {
        let sent = sends.get(&message).map(Vec::as_slice).unwrap_or_default();
        for (index, entry) in entries.values().enumerate() {
            if sent.get(index).is_none_or(|sent| sent > entries.values().max().unwrap_or(entry)) {
                let process = Process { player: message.sender, life: 0 };
                return Err(broken(
                    process,
                    *entry,
                    "a message was delivered that nobody sent, or more often than sent",
                ));
            }
        }
    }
    Ok(())
}

fn sends(story: &Story) -> BTreeMap<RingMessage, Vec<usize>> {
    let mut out: BTreeMap<RingMessage, Vec<usize>> = BTreeMap::new();
    for life in story.lives.values() {
        for (entry, message, _) in &life.ring.sent {
            out.entry(*message).or_default().push(*entry);
        }
    }
    out.values_mut().for_each(|entries| entries.sort_unstable());
    out
}

fn broken(process: Process, entry: usize, what: &str) -> Broken {
    (process, Some(entry), what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use folkmoot_base::Service::Agreed;

    fn start() -> Tale {
        Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]).ring_send(0, 7)
    }

    #[test]
    fn each_once_after_its_send_is_good() {
        start().ring_get(0, (0, 7), (4, 1), Agreed).ring_get(1, (0, 7), (4, 1), Agreed).holds(&CHECKER);
        let twice = start().ring_send(0, 7).ring_get(1, (0, 7), (4, 1), Agreed);
        twice.ring_get(1, (0, 7), (4, 2), Agreed).holds(&CHECKER);
    }

    #[test]
    fn invented_doubled_misplaced_and_late_ones_are_bad() {
        start().ring_get(1, (0, 8), (4, 1), Agreed).broken(&CHECKER);
        start().ring_get(1, (0, 7), (4, 1), Agreed).ring_get(1, (0, 7), (4, 1), Agreed).broken(&CHECKER);
        start().ring_get(1, (0, 7), (4, 1), Agreed).ring_get(1, (0, 7), (4, 2), Agreed).broken(&CHECKER);
        start().ring(1, 8, &[1]).ring_get(1, (0, 7), (4, 1), Agreed).broken(&CHECKER);
        let split = start().ring_send(0, 9).ring_get(1, (0, 7), (4, 1), Agreed);
        split.ring_get(0, (0, 9), (4, 1), Agreed).broken(&CHECKER);
        Tale::default().ring_send(0, 7).ring_get(1, (0, 7), (4, 1), Agreed).broken(&CHECKER);
    }
}
