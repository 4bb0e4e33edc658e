//! EVS 3, self delivery: a node that stays up delivers its own messages.
//! Source: EVS §3, specification 3. Judged for what was handed to the ring long enough before the
//! end.

use super::{Broken, Checker, Story};
use crate::record::{Record, RingMessage};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker = Checker { name: "evs-3-self-delivery", source: "EVS §3, 3", judge };

fn judge(record: &Record, story: &Story) -> Result<(), Broken> {
    for (process, life) in story.lives.iter().filter(|(_, life)| !life.crashed) {
        let mut got: BTreeMap<RingMessage, usize> = BTreeMap::new();
        for place in life.ring.segments.iter().flat_map(|segment| &segment.delivered) {
            *got.entry(place.message).or_default() += 1;
        }
        for (entry, message, _) in &life.ring.sent {
            let count = got.entry(*message).or_default();
            match count.checked_sub(1) {
                Some(left) => *count = left,
                None if record.is_old(process.player, *entry) => {
                    return Err((*process, Some(*entry), "never delivered its own message".into()));
                }
                None => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, p};
    use crate::record::Standing;
    use folkmoot_base::Service::Agreed;

    #[test]
    fn own_messages_come_back_unless_the_sender_crashes() {
        let sent = || Tale::default().ring(0, 4, &[0]).ring_send(0, 1);
        sent().ring_get(0, (0, 1), (4, 1), Agreed).settled().holds(&CHECKER);
        sent().crash(0).settled().holds(&CHECKER);
        sent().holds(&CHECKER);
        sent().settled().broken(&CHECKER);
        sent().ring_send(0, 1).ring_get(0, (0, 1), (4, 1), Agreed).settled().broken(&CHECKER);
    }

    /// Who is not expected in the one view has ten seconds after the faults have stopped.
    #[test]
    fn who_is_not_expected_has_time_from_the_end_of_the_faults() {
        let standing = |expected| Standing {
            process: p(0),
            expected,
            view: None,
            cut_off: [].into(),
            ring: [].into(),
            roster: [].into(),
            gathers: true,
            activity: "gathering".into(),
            unacknowledged: Vec::new(),
        };
        for (healed, expected, good) in [(995, false, true), (995, true, false), (985, false, false)] {
            let tale = Tale::default().ring(0, 4, &[0]).ring_send(0, 1).healed(healed * 1_000_000);
            let tale = tale.settled().standing(standing(expected));
            if good { tale.holds(&CHECKER) } else { tale.broken(&CHECKER) }
        }
    }
}
