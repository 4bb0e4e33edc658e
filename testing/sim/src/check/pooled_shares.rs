//! Those who left cannot sign with what is on their disks. Of no sharing do as many of them have
//! shares as its threshold. This leaves out those whom the news of the next sharing never reached
//! while they were members (THREATS.md: what they keep is the key for good).
//! Source: docs/decisions/0021; transcript.md, TRN-53.

use super::{Broken, Checker, Story};
use crate::record::{Disk, Minute, Player, Process, Record, What};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker = Checker { name: "pooled-shares", source: "decision 0021; TRN-53", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut disks: BTreeMap<Player, (Option<&String>, &BTreeSet<String>)> = BTreeMap::new();
    let mut thresholds: BTreeMap<&String, usize> = BTreeMap::new();
    for line in &record.entries {
        match &line.what {
            // Whoever puts a disk back has what it held.
            What::Boot(Disk::Old | Disk::Copied) => return Ok(()),
            What::Shares { in_use, on_disk } => {
                disks.insert(line.process.player, (in_use.as_ref(), on_disk));
            }
            What::Minute(Minute::Shared { name, threshold, .. }) => {
                thresholds.insert(name, *threshold);
            }
            _ => {}
        }
    }
    let members: BTreeSet<Player> = record
        .standings
        .iter()
        .filter(|one| one.expected)
        .flat_map(|one| one.roster.iter().copied())
        .collect();
    if members.is_empty() {
        return Ok(());
    }
    for (name, threshold) in thresholds {
        let left = disks.iter().filter(|(player, _)| !members.contains(player));
        let pool: Vec<Player> = left
            .filter(|(_, (in_use, on_disk))| on_disk.contains(name) && *in_use != Some(name))
            .map(|(player, _)| *player)
            .collect();
        if pool.len() >= threshold {
            let what = format!("players {pool:?} left, and together have the key by their shares of {name}");
            return Err((Process { player: pool.first().copied().unwrap_or_default(), life: 0 }, None, what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::check::tale::p;
    use crate::record::{Minute, Standing, What};

    fn shares(tale: Tale, player: u8, in_use: &str, on_disk: &[&str]) -> Tale {
        let on_disk = on_disk.iter().map(|name| (*name).to_owned()).collect();
        tale.add(player, What::Shares { in_use: Some(in_use.to_owned()), on_disk })
    }

    fn founded() -> Tale {
        let member = Standing {
            process: p(0),
            expected: true,
            view: None,
            cut_off: [].into(),
            roster: [0, 1].into(),
            ring: [0].into(),
            gathers: false,
            activity: "steady".into(),
            unacknowledged: Vec::new(),
        };
        let (name, key) = ("a".to_owned(), "k".to_owned());
        let shared = Minute::Shared { serial: 0, name, epoch: "e".into(), threshold: 2, key };
        Tale::default().standing(member).add(0, What::Minute(shared))
    }

    #[test]
    fn as_many_leavers_as_sign_with_old_shares_are_bad() {
        shares(shares(founded(), 2, "b", &["a", "b"]), 3, "b", &["b"]).holds(&CHECKER);
        shares(shares(founded(), 2, "b", &["a"]), 1, "b", &["a"]).holds(&CHECKER);
        shares(shares(founded(), 2, "b", &["a"]), 3, "b", &["a"]).broken(&CHECKER);
        shares(shares(founded(), 2, "a", &["a"]), 3, "a", &["a"]).holds(&CHECKER);
    }
}
