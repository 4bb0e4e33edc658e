//! Shows that the judges can say no: logs of a scenario that passed, with a fault put in, must
//! fail.

use crate::judge::{EACH, Seen, judge};
use folkmoot_base::{Cause, Service};
use folkmoot_sim::record::{Entry, Process, RingEvent, What};
use folkmoot_sim::word::{Notice, Word};
use std::collections::{BTreeMap, BTreeSet};

/// A fault: what it is, which promise it breaks, and how it is put in. `None`: these logs have no
/// place for it.
type Fault = (&'static str, &'static str, fn(Seen) -> Option<Seen>);

pub(crate) const FAULTS: [Fault; 6] = [
    ("a safe message that one member lacks", "safe-delivery", without_a_safe_message),
    ("two messages in another order at one member", "total-order", with_two_swapped),
    ("three configurations for one change", "few-configurations", with_three_configurations),
    ("a configuration while nothing happens", "quiet", with_one_in_quiet),
    ("a number that is used twice", "numbers-once", with_a_number_twice),
    ("a leave that nobody asked for", "own-words", with_a_leave),
];

/// Which faults were put into logs so far.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    found: BTreeSet<&'static str>,
    missed: Vec<String>,
}

impl Trial {
    /// Puts each fault that was not tried yet into logs that passed, if they have a place for it.
    pub(crate) fn of(&mut self, seen: &Seen) {
        for (what, promise, put) in FAULTS {
            let faulty = if self.found.contains(what) { None } else { put(seen.clone()) };
            let Some(faulty) = faulty else { continue };
            if judge(&faulty).iter().any(|(broken, _)| *broken == promise) {
                self.found.insert(what);
            } else {
                self.missed.push(format!("no judge of {promise} found {what}"));
            }
        }
    }

    /// What no judge found.
    pub(crate) fn missed(&self) -> &[String] {
        &self.missed
    }

    /// How many faults were found. The others were missed, or no logs had a place for them.
    pub(crate) fn found(&self) -> usize {
        self.found.len()
    }
}

fn without_a_safe_message(mut seen: Seen) -> Option<Seen> {
    let entries = &mut seen.record.entries;
    let of_another = |entry: &Entry| match entry.what {
        What::Delivered(message, Service::Safe) => message.player != entry.process.player,
        _ => false,
    };
    let place = entries.iter().position(of_another)?;
    entries.remove(place);
    Some(seen)
}

fn with_two_swapped(mut seen: Seen) -> Option<Seen> {
    let entries = &mut seen.record.entries;
    // The last thing that each process did, if that was to deliver in the order of all.
    let mut before: BTreeMap<Process, usize> = Default::default();
    let mut pair = None;
    for (place, entry) in entries.iter().enumerate() {
        match &entry.what {
            What::Delivered(message, service) if *service >= Service::Agreed => {
                let first = before.insert(entry.process, place);
                let of = |place: usize| entries.get(place).map(|entry| &entry.what);
                if let Some(What::Delivered(other, _)) = first.and_then(of)
                    && other.player != message.player
                {
                    pair = first.zip(Some(place));
                    break;
                }
            }
            What::Ring(_) | What::Used(..) | What::Heard(..) | What::Asked(..) | What::Sent(..) => {}
            _ => drop(before.remove(&entry.process)),
        }
    }
    let (first, second) = pair?;
    let (one, two) = (entries.get(first)?.what.clone(), entries.get(second)?.what.clone());
    entries.get_mut(first)?.what = two;
    entries.get_mut(second)?.what = one;
    Some(seen)
}

/// Repeats the last configuration of a member so often, that much later.
fn repeat(seen: &mut Seen, at: u64, times: usize) -> Option<()> {
    let regular = |entry: &&Entry| matches!(entry.what, What::Ring(RingEvent::Regular(..)));
    let entries = &mut seen.record.entries;
    let last = entries.iter().rfind(regular)?.clone();
    let place = entries.iter().position(|entry| entry.at >= at)?;
    let copies = (0..times).map(|_| Entry { at, ..last.clone() });
    entries.splice(place..place, copies);
    Some(())
}

fn with_three_configurations(mut seen: Seen) -> Option<Seen> {
    let last = seen.changes.last()?;
    let (at, times) = (last.at + 1, EACH * last.causes + 1);
    repeat(&mut seen, at, times)?;
    Some(seen)
}

fn with_one_in_quiet(mut seen: Seen) -> Option<Seen> {
    let (from, _) = *seen.windows.last()?;
    repeat(&mut seen, from + 1, 1)?;
    Some(seen)
}

fn with_a_number_twice(mut seen: Seen) -> Option<Seen> {
    let entries = &mut seen.record.entries;
    let place = entries.iter().position(|entry| matches!(entry.what, What::Used(..)))?;
    entries.insert(place, entries.get(place)?.clone());
    Some(seen)
}

fn with_a_leave(mut seen: Seen) -> Option<Seen> {
    let entries = &mut seen.record.entries;
    let (place, at, process, shown) =
        entries.iter().enumerate().find_map(|(place, entry)| match &entry.what {
            What::View(shown) => Some((place + 1, entry.at, entry.process, shown.clone())),
            _ => None,
        })?;
    let removed = BTreeSet::from([*shown.members.last()?]);
    let notice = Notice { view: shown.id, cause: Cause::Leave, members: shown.members, removed };
    entries.insert(place, Entry { at, process, what: What::Word(Word::Noticed(notice)) });
    Some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Change;
    use folkmoot_base::{ConfigurationId, GroupId, NodeId, ViewId};
    use folkmoot_sim::record::{MessageId, Record, Shown, Standing};

    const A: Process = Process { player: 0, life: 0 };
    const B: Process = Process { player: 1, life: 0 };

    /// Two members, one configuration, one view, two messages.
    fn good() -> Seen {
        let members = BTreeSet::from([0, 1]);
        let configuration = ConfigurationId { ring_seq: 4, representative: NodeId([0; 32]), nonce: [0; 16] };
        let id = ViewId { configuration, order: 1, group: GroupId([0; 32]) };
        let mut record = Record { settled: true, ..Record::default() };
        let mut at = 0;
        let mut add = |process, what| {
            at += 10;
            record.push(at, process, what);
        };
        for one in [A, B] {
            add(one, What::Ring(RingEvent::Regular(configuration, members.clone())));
            add(one, What::Confirmed(id));
        }
        let alone = |one: Process| BTreeSet::from([one.player]);
        let shown = |one| Shown { id, members: members.clone(), transitional: alone(one), key: "k".into() };
        for one in [A, B] {
            [0, 1].into_iter().for_each(|player| add(one, What::Heard(id, player)));
            add(one, What::View(shown(one)));
        }
        let message = |one: Process| MessageId { player: one.player, life: 0, number: 0 };
        for one in [A, B] {
            add(one, What::Asked(message(one), Service::Safe));
            add(one, What::Used("nonce", vec![one.player]));
            add(one, What::Sent(message(one), Service::Safe, Some(id)));
        }
        for to in [A, B] {
            [A, B].into_iter().for_each(|from| add(to, What::Delivered(message(from), Service::Safe)));
        }
        add(A, What::Used("nonce", vec![9]));
        let standing = |process| Standing {
            process,
            expected: true,
            view: Some(shown(process)),
            roster: members.clone(),
            cut_off: BTreeSet::new(),
            ring: members.clone(),
            gathers: false,
            activity: "steady".into(),
            unacknowledged: Vec::new(),
        };
        record.standings = [A, B].map(standing).to_vec();
        record.counts.micros = 1_000;
        let changes = vec![Change { at: 0, what: "start".into(), causes: 1 }];
        Seen { record, changes, windows: vec![(150, 900)] }
    }

    #[test]
    fn good_logs_pass_and_each_fault_is_found() {
        assert_eq!(judge(&good()), []);
        let mut trial = Trial::default();
        trial.of(&good());
        assert_eq!((trial.found(), trial.missed()), (FAULTS.len(), [].as_slice()));
    }

    #[test]
    fn a_fault_without_a_place_was_not_found() {
        let mut trial = Trial::default();
        trial.of(&Seen { changes: Vec::new(), ..good() });
        assert_eq!((trial.found(), trial.missed()), (FAULTS.len() - 1, [].as_slice()));
    }
}
