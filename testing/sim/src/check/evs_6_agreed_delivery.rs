//! EVS 6, agreed delivery: all deliver agreed and safe messages in the order of the numbers. Before
//! the signal there are no gaps. After it there are gaps only where the sender did not come along.
//! Source: EVS §3, specifications 6.1 to 6.3.

use super::{Broken, Checker, RingPlace, RingSegment, Story};
use crate::record::{Player, Process, Record};
use folkmoot_base::Service;
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "evs-6-agreed-delivery", source: "EVS §3, 6.1 to 6.3", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for installed in story.ring_installers().values() {
        let mut all: BTreeMap<u64, Player> = BTreeMap::new();
        for place in installed.iter().flat_map(|(_, segment)| agreed(segment)) {
            all.insert(place.number, place.message.sender);
        }
        for (process, segment) in installed {
            judge_one(*process, segment, &all)?;
        }
    }
    Ok(())
}

/// Messages of weaker services may come when they like.
fn agreed(segment: &RingSegment) -> impl Iterator<Item = &RingPlace> {
    segment.delivered.iter().filter(|place| place.service >= Service::Agreed)
}

fn judge_one(process: Process, segment: &RingSegment, all: &BTreeMap<u64, Player>) -> Result<(), Broken> {
    let mut next = all.iter().peekable();
    let mut last: Option<&RingPlace> = None;
    for place in agreed(segment) {
        if last.is_some_and(|last| last.number >= place.number) {
            return Err((
                process,
                Some(place.entry),
                format!("delivered number {} out of order", place.number),
            ));
        }
        last = Some(place);
        while let Some((number, sender)) = next.next_if(|(number, _)| **number < place.number) {
            let stayed = segment.transitional.as_ref().is_none_or(|(_, with)| with.contains(sender));
            if segment.is_regular(place.entry) || stayed {
                let what = format!("delivered number {} but not {number} of player {sender}", place.number);
                return Err((process, Some(place.entry), what));
            }
        }
        next.next_if(|(number, _)| **number == place.number);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use folkmoot_base::Service::{Agreed, Causal};

    fn one_has_both() -> Tale {
        let tale = Tale::default().ring(0, 4, &[0, 1, 2]).ring(1, 4, &[0, 1, 2]);
        tale.ring_get(0, (2, 1), (4, 1), Agreed).ring_get(0, (1, 2), (4, 2), Agreed)
    }

    #[test]
    fn gaps_of_the_lost_after_the_signal_are_good() {
        one_has_both().ring_signal(1, 4, &[1]).ring_get(1, (1, 2), (4, 2), Agreed).holds(&CHECKER);
        one_has_both()
            .ring_get(1, (2, 1), (4, 1), Agreed)
            .ring_get(1, (1, 2), (4, 2), Agreed)
            .holds(&CHECKER);
    }

    #[test]
    fn gaps_before_the_signal_or_of_those_who_stayed_and_wrong_order_are_bad() {
        one_has_both().ring_get(1, (1, 2), (4, 2), Agreed).broken(&CHECKER);
        one_has_both().ring_signal(1, 4, &[1, 2]).ring_get(1, (1, 2), (4, 2), Agreed).broken(&CHECKER);
        one_has_both()
            .ring_get(1, (1, 2), (4, 2), Agreed)
            .ring_get(1, (2, 1), (4, 1), Agreed)
            .broken(&CHECKER);
    }

    #[test]
    fn weaker_services_are_not_judged() {
        let tale = Tale::default().ring(0, 4, &[0, 1, 2]).ring(1, 4, &[0, 1, 2]);
        let tale = tale.ring_get(0, (2, 1), (4, 1), Causal).ring_get(0, (1, 2), (4, 2), Causal);
        tale.ring_get(1, (1, 2), (4, 2), Causal).ring_get(1, (2, 1), (4, 1), Causal).holds(&CHECKER);
    }
}
