//! EVS 2, configuration change delivery: a configuration has the same members for all who install
//! it, themselves among them. Those who go on together agree on who does, and had installed the
//! configuration that they come from. Names grow.
//! Source: EVS §3, specifications 2.1 to 2.4.

use super::{Broken, Checker, End, Story};
use crate::record::{Process, Record};

pub(super) const CHECKER: Checker =
    Checker { name: "evs-2-configuration-change", source: "EVS §3, 2.1 to 2.4", judge };

fn judge(record: &Record, story: &Story) -> Result<(), Broken> {
    let installers = story.ring_installers();
    for (process, life) in &story.lives {
        for pair in life.ring.segments.windows(2) {
            let [old, new] = pair else { continue };
            if new.id.ring_seq <= old.id.ring_seq {
                return Err(broken(*process, new.entry, "the configuration's number did not grow".into()));
            }
            let lost = old.transitional.as_ref().filter(|(_, together)| !together.is_subset(&new.nodes));
            if let Some((entry, _)) = lost {
                let what = "somebody who went on together is not in the next configuration";
                return Err(broken(*process, *entry, what.into()));
            }
        }
    }
    for installed in installers.values() {
        let Some((_, first)) = installed.first() else { continue };
        for (process, segment) in installed {
            if segment.nodes != first.nodes {
                return Err(broken(
                    *process,
                    segment.entry,
                    format!("has {:?} where another has {:?}", segment.nodes, first.nodes),
                ));
            }
            if !segment.nodes.contains(&process.player) {
                return Err(broken(*process, segment.entry, "is not in its own configuration".into()));
            }
            together(*process, segment, installed)?;
            let stays = segment.end == End::Open && record.is_old(process.player, segment.entry);
            let missing = segment
                .nodes
                .iter()
                .find(|player| !installed.iter().any(|(other, _)| other.player == **player));
            if let (true, Some(player)) = (stays, missing) {
                return Err(broken(
                    *process,
                    segment.entry,
                    format!("player {player} never installed it, and it still stands"),
                ));
            }
        }
    }
    Ok(())
}

fn together(
    process: Process,
    segment: &super::RingSegment,
    installed: &[(Process, &super::RingSegment)],
) -> Result<(), Broken> {
    let Some((entry, with)) = &segment.transitional else { return Ok(()) };
    if !with.contains(&process.player) || !with.is_subset(&segment.nodes) {
        return Err(broken(
            process,
            *entry,
            "those who go on together are not of the old configuration".into(),
        ));
    }
    for player in with {
        if !installed.iter().any(|(other, _)| other.player == *player) {
            return Err(broken(
                process,
                *entry,
                format!("player {player} goes on from a configuration that it never installed"),
            ));
        }
    }
    Ok(())
}

fn broken(process: Process, entry: usize, what: String) -> Broken {
    (process, Some(entry), what)
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;

    #[test]
    fn equal_lists_and_growing_numbers_are_good() {
        let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]);
        tale.ring_signal(0, 4, &[0]).ring(0, 8, &[0]).holds(&CHECKER);
    }

    #[test]
    fn unequal_lists_strangers_and_shrinking_numbers_are_bad() {
        Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[1]).broken(&CHECKER);
        Tale::default().ring(0, 4, &[1]).broken(&CHECKER);
        Tale::default().ring(0, 4, &[0]).ring(0, 4, &[0]).broken(&CHECKER);
        Tale::default().ring(0, 4, &[0, 1]).ring_signal(0, 4, &[0, 1]).broken(&CHECKER);
        let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]);
        tale.ring_signal(0, 4, &[0, 1]).ring(0, 8, &[0]).broken(&CHECKER);
        Tale::default().ring(0, 4, &[0, 1]).settled().broken(&CHECKER);
    }
}
