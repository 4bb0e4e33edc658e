//! The group signs: whoever is a member keeps its share of the sharing in use until it knows of
//! another, and whatever its disk held when it stopped it holds when it starts. So as many as
//! stored a sharing that was decided, and are alive, can sign with it.
//! Source: docs/decisions/0067; docs/protocol/admission.md, ADM-75.

use super::{Broken, Checker, Story};
use crate::record::{Disk, Player, Record, What};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker = Checker { name: "share-kept", source: "decision 0067; ADM-75", judge };

/// What one player's disk was seen to hold.
#[derive(Default)]
struct Seen<'a> {
    in_use: Option<&'a String>,
    held: bool,
    /// It is no member by what it knows, or has two disks: it need not keep anything.
    free: bool,
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut players: BTreeMap<Player, Seen<'_>> = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let player = line.process.player;
        let seen = players.entry(player).or_default();
        match &line.what {
            What::Boot(Disk::Copied) => seen.free = true,
            // Its disk is another.
            What::Boot(Disk::Old | Disk::Fresh) => (seen.in_use, seen.held) = (None, false),
            What::Roster(members) if !members.contains(&player) => seen.free = true,
            What::Shares { in_use, on_disk } => {
                let now = in_use.as_ref();
                let holds = now.is_some_and(|now| on_disk.contains(now));
                if seen.held && seen.in_use == now && !holds && !seen.free {
                    let what = format!("erased its share of {now:?}, which is in use");
                    return Err((line.process, Some(entry), what));
                }
                (seen.in_use, seen.held) = (now, holds);
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

    fn shares(tale: Tale, in_use: &str, on_disk: &[&str]) -> Tale {
        let on_disk: std::collections::BTreeSet<String> =
            on_disk.iter().map(|name| (*name).to_owned()).collect();
        tale.add(0, What::Shares { in_use: Some(in_use.to_owned()), on_disk })
    }

    #[test]
    fn who_erases_what_is_in_use_is_bad() {
        let tale = || shares(Tale::default(), "a", &["a", "b"]);
        shares(tale(), "b", &["b"]).holds(&CHECKER);
        shares(tale(), "b", &[]).holds(&CHECKER);
        shares(tale(), "a", &["b"]).broken(&CHECKER);
        shares(tale().add(0, What::Boot(Disk::Old)), "a", &["b"]).holds(&CHECKER);
        shares(tale().add(0, What::Roster([1, 2].into())), "a", &[]).holds(&CHECKER);
        shares(tale().add(0, What::Roster([0, 1].into())), "a", &[]).broken(&CHECKER);
    }
}
