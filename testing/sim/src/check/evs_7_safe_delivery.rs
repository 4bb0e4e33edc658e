//! EVS 7, safe delivery: a safe message delivered before the signal is delivered by every node of
//! the configuration, one delivered after it by every node that goes on together, unless that node
//! crashes.
//! Source: EVS §3, specifications 7.1 and 7.2.

use super::{Broken, Checker, RingPlace, RingSegment, Story};
use crate::record::{Player, Process, Record, What};
use folkmoot_base::{ConfigurationId, Service};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "evs-7-safe-delivery", source: "EVS §3, 7.1 and 7.2", judge };

fn judge(record: &Record, story: &Story) -> Result<(), Broken> {
    let crashes = crashes(record);
    for (id, installed) in story.ring_installers() {
        let mut got: BTreeMap<Player, BTreeSet<u64>> = BTreeMap::new();
        // Where each came to it first: it may have crashed before others did.
        let mut came: BTreeMap<Player, usize> = BTreeMap::new();
        for (process, segment) in &installed {
            got.entry(process.player).or_default().extend(segment.numbers());
            came.entry(process.player).or_insert(segment.entry);
        }
        for (process, segment) in &installed {
            for player in &segment.nodes {
                let since = came.get(player).map_or(segment.entry, |came| segment.entry.min(*came));
                let crashed = crashes.get(player).is_some_and(|last| *last > since);
                let over = has_moved_on(story, *player, id);
                let lacks = |place: &RingPlace| {
                    let number = got.get(player).is_some_and(|got| got.contains(&place.number));
                    !number && (over || record.is_old(*player, place.entry))
                };
                if !crashed {
                    judge_one(*process, segment, *player, &lacks)?;
                }
            }
        }
    }
    Ok(())
}

/// The last crash of each player.
fn crashes(record: &Record) -> BTreeMap<Player, usize> {
    let lines = record.entries.iter().enumerate();
    lines
        .filter(|(_, line)| matches!(line.what, What::Crash(_)))
        .map(|(entry, line)| (line.process.player, entry))
        .collect()
}

/// Whether the configuration is over for `player`.
fn has_moved_on(story: &Story, player: Player, id: ConfigurationId) -> bool {
    let lives = story.lives.iter().filter(|(process, _)| process.player == player);
    let mut last = lives.filter_map(|(_, life)| life.ring.segments.last());
    last.any(|segment| segment.id.ring_seq > id.ring_seq)
}

fn judge_one(
    process: Process,
    segment: &RingSegment,
    player: Player,
    lacks: &dyn Fn(&RingPlace) -> bool,
) -> Result<(), Broken> {
    for place in segment.delivered.iter().filter(|place| place.service == Service::Safe) {
        let with = segment.transitional.as_ref().is_some_and(|(_, with)| with.contains(&player));
        let bound = segment.is_regular(place.entry) || with;
        if bound && lacks(place) {
            let what = format!("delivered safe number {}, but player {player} never did", place.number);
            return Err((process, Some(place.entry), what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use folkmoot_base::Service::{Agreed, Safe};

    fn two() -> Tale {
        Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1])
    }

    #[test]
    fn all_have_it_or_crashed_or_were_lost_before() {
        two().ring_get(0, (0, 1), (4, 1), Safe).ring_get(1, (0, 1), (4, 1), Safe).settled().holds(&CHECKER);
        two().ring_get(0, (0, 1), (4, 1), Safe).crash(1).settled().holds(&CHECKER);
        let first = Tale::default().ring(1, 4, &[0, 1]).crash(1).ring(0, 4, &[0, 1]);
        first.ring_get(0, (0, 1), (4, 1), Safe).ring(1, 8, &[1]).holds(&CHECKER);
        two().ring_signal(0, 4, &[0]).ring_get(0, (0, 1), (4, 1), Safe).settled().holds(&CHECKER);
        two().ring_get(0, (0, 1), (4, 1), Agreed).ring(1, 8, &[1]).settled().holds(&CHECKER);
    }

    #[test]
    fn somebody_of_the_configuration_lacks_it() {
        two().ring_get(0, (0, 1), (4, 1), Safe).ring(1, 8, &[1]).broken(&CHECKER);
        two().ring_signal(0, 4, &[0, 1]).ring_get(0, (0, 1), (4, 1), Safe).ring(1, 8, &[1]).broken(&CHECKER);
    }
}
