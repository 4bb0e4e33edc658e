//! EVS 4, failure atomicity: nodes that go on together from one configuration to the next delivered
//! the same in it, unreliable messages excepted. Agreed and safe ones they delivered on the same
//! side of the transitional signal, too (DECISIONS O2: rule H stands on that). A message that waits
//! for no place may stand before the signal at one and behind it at another. Source: EVS §3,
//! specification 4.

use super::{Broken, Checker, End, RingPlace, RingSegment, Story};
use crate::record::{Process, Record};
use folkmoot_base::{ConfigurationId, Service};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker = Checker { name: "evs-4-failure-atomicity", source: "EVS §3, 4", judge };

type Step<'a> = (Process, &'a RingSegment, &'a RingSegment);

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    let mut steps: BTreeMap<(ConfigurationId, ConfigurationId), Vec<Step<'_>>> = BTreeMap::new();
    for (process, life) in &story.lives {
        for pair in life.ring.segments.windows(2) {
            let [old, new] = pair else { continue };
            if old.end == End::Next {
                steps.entry((old.id, new.id)).or_default().push((*process, old, new));
            }
        }
    }
    for group in steps.values() {
        for (index, (process, mine, _)) in group.iter().enumerate() {
            for (other, theirs, _) in group.iter().skip(index.saturating_add(1)) {
                if together(mine, other) && together(theirs, process) {
                    compare(*process, mine, *other, theirs)?;
                }
            }
        }
    }
    Ok(())
}

fn together(segment: &RingSegment, other: &Process) -> bool {
    segment.transitional.as_ref().is_none_or(|(_, with)| with.contains(&other.player))
}

fn compare(process: Process, mine: &RingSegment, other: Process, theirs: &RingSegment) -> Result<(), Broken> {
    for regular in [false, true] {
        let (ours, others) = (numbers(mine, regular), numbers(theirs, regular));
        if let Some(number) = ours.symmetric_difference(&others).next() {
            let when = if regular { " before the signal" } else { "" };
            let what =
                format!("went on with {other}, but only one of the two delivered number {number}{when}");
            return Err((process, Some(mine.entry), what));
        }
    }
    Ok(())
}

fn numbers(segment: &RingSegment, regular: bool) -> BTreeSet<u64> {
    let bound = |place: &&RingPlace| match regular {
        true => place.service >= Service::Agreed && segment.is_regular(place.entry),
        false => place.service >= Service::Reliable,
    };
    segment.delivered.iter().filter(bound).map(|place| place.number).collect()
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use folkmoot_base::Service::{Agreed, Fifo, Reliable, Unreliable};

    fn both() -> Tale {
        Tale::default().ring(0, 4, &[0, 1, 2]).ring(1, 4, &[0, 1, 2]).ring_get(0, (2, 1), (4, 1), Agreed)
    }

    fn on(tale: Tale) -> Tale {
        tale.ring(0, 8, &[0, 1]).ring(1, 8, &[0, 1])
    }

    #[test]
    fn the_same_on_both_sides_of_the_signal_is_good() {
        let tale =
            both().ring_get(1, (2, 1), (4, 1), Agreed).ring_signal(0, 4, &[0, 1]).ring_signal(1, 4, &[0, 1]);
        on(tale).holds(&CHECKER);
        let apart = both().ring_signal(0, 4, &[0]).ring_signal(1, 4, &[1]);
        apart.ring(0, 8, &[0, 1]).ring(1, 8, &[0, 1]).holds(&CHECKER);
    }

    #[test]
    fn one_missing_or_on_the_other_side_of_the_signal_is_bad() {
        on(both().ring_signal(0, 4, &[0, 1]).ring_signal(1, 4, &[0, 1])).broken(&CHECKER);
        let late =
            both().ring_signal(0, 4, &[0, 1]).ring_signal(1, 4, &[0, 1]).ring_get(1, (2, 1), (4, 1), Agreed);
        on(late).broken(&CHECKER);
    }

    #[test]
    fn what_waits_for_no_place_may_come_on_either_side_of_the_signal() {
        let tale = |service| {
            let tale = Tale::default().ring(0, 4, &[0, 1, 2]).ring(1, 4, &[0, 1, 2]);
            tale.ring_get(0, (2, 1), (4, 1), service).ring_signal(0, 4, &[0, 1]).ring_signal(1, 4, &[0, 1])
        };
        on(tale(Fifo).ring_get(1, (2, 1), (4, 1), Fifo)).holds(&CHECKER);
        on(tale(Reliable)).broken(&CHECKER);
        on(tale(Unreliable)).holds(&CHECKER);
    }
}
