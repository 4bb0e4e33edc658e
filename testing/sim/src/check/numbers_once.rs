//! Numbers once: a name of a configuration is one configuration for ever. Ring numbers grow, also
//! over restarts, unless the disk is an old one. A nonce, an instance id and everything else that
//! may be used once is used once.
//! Source: DECISIONS N2, O4; key-agreement sheet §7.4 (what a counter in memory only re-opens).

use super::{Broken, Checker, Story};
use crate::record::{Disk, Player, Process, Record, RingEvent, What};
use folkmoot_base::ConfigurationId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "numbers-once", source: "DECISIONS N2, O4; issue: never reuses a number", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut used: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
    let mut lists: BTreeMap<ConfigurationId, &BTreeSet<Player>> = BTreeMap::new();
    // By player, and whether on its copied disk.
    let mut highest: BTreeMap<(Player, bool), u64> = BTreeMap::new();
    let mut copied: BTreeSet<Process> = BTreeSet::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let disk = (line.process.player, copied.contains(&line.process));
        let broken = |what: String| Err((line.process, Some(entry), what));
        match &line.what {
            What::Used(kind, value) if used.insert((kind, value), entry).is_some() => {
                return broken(format!("used a {kind} again"));
            }
            What::Boot(Disk::Old) => {
                highest.remove(&disk);
            }
            What::Boot(Disk::Copied) => {
                copied.insert(line.process);
            }
            What::Ring(RingEvent::Regular(id, nodes)) => {
                if *lists.entry(*id).or_insert(nodes) != nodes {
                    return broken(format!("configuration {} has two lists of members", id.ring_seq));
                }
                let last = highest.insert(disk, id.ring_seq);
                if last.is_some_and(|last| last >= id.ring_seq) {
                    return broken(format!(
                        "ring number {} is not above the last one on this disk",
                        id.ring_seq
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Disk, What};

    #[test]
    fn numbers_are_used_once() {
        let used = |value: u8| What::Used("nonce", vec![value]);
        Tale::default().add(0, used(1)).add(0, used(2)).holds(&CHECKER);
        Tale::default().add(0, used(1)).add(1, used(1)).broken(&CHECKER);
        Tale::default().ring(0, 4, &[0]).ring(1, 4, &[1]).broken(&CHECKER);
        Tale::default().ring(0, 8, &[0]).crash(0).ring(0, 8, &[0]).broken(&CHECKER);
        Tale::default().ring(0, 8, &[0]).add(0, What::Boot(Disk::Old)).ring(0, 4, &[0]).holds(&CHECKER);
    }
}
