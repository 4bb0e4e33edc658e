//! The group's key never changes: on each line of decisions there is one key, and without a fault
//! of a host there is one line. Every certificate that admits verifies under the key and names the
//! share-epoch of its past.
//! Source: line.md, LINE-27 and LINE-47; docs/decisions/0021. Read from transcripts; the past
//! is counted again here. A voter whose disk was put back, or copied, may sign both sides of a
//! fork: if that was before there was a key, each side makes one of its own.

use super::{Broken, Checker, Story};
use crate::record::{Disk, Minute, Player, Record, What};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker = Checker { name: "group-key", source: "LINE-27, LINE-47", judge };

/// The keys that were seen.
#[derive(Default)]
struct Keys<'a> {
    /// The first of all.
    first: Option<&'a String>,
    /// Whether a disk was put back or copied.
    forks: bool,
    /// The decision that each player told last.
    decided: BTreeMap<Player, &'a String>,
    /// The key that each player has known since its disk was last put back.
    of_player: BTreeMap<Player, &'a String>,
    /// The key after each decision about it.
    of_decision: BTreeMap<&'a String, &'a String>,
}

impl<'a> Keys<'a> {
    fn boots(&mut self, player: Player, disk: Disk) {
        self.forks |= matches!(disk, Disk::Old | Disk::Copied);
        if disk != Disk::Synced {
            self.of_player.remove(&player);
        }
    }

    /// Whether this player may have this key.
    fn fits(&mut self, player: Player, key: &'a String) -> bool {
        let mut same = *self.of_player.entry(player).or_insert(key) == key;
        if let Some(decision) = self.decided.get(&player) {
            same &= *self.of_decision.entry(decision).or_insert(key) == key;
        }
        same && (*self.first.get_or_insert(key) == key || self.forks)
    }
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut keys = Keys::default();
    for (entry, line) in record.entries.iter().enumerate() {
        let player = line.process.player;
        let what = match &line.what {
            What::Boot(disk) => {
                keys.boots(player, *disk);
                continue;
            }
            What::Minute(Minute::Decided { decision, .. }) => {
                keys.decided.insert(player, decision);
                continue;
            }
            What::Minute(Minute::Shared { key, .. }) if !keys.fits(player, key) => {
                "the group's key is another one".to_owned()
            }
            What::Minute(Minute::Admitted { who, names, past, verifies, .. })
                if names != past || (past.is_some() && !verifies) =>
            {
                format!("player {who} came in by a certificate under {names:?}, where {past:?} was in use")
            }
            _ => continue,
        };
        return Err((line.process, Some(entry), what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Disk, Minute, What};
    use std::collections::BTreeSet;

    fn shared(serial: u64, key: &str) -> What {
        What::Minute(Minute::Shared {
            serial,
            name: format!("n{serial}"),
            epoch: format!("e{serial}"),
            threshold: 2,
            key: key.into(),
        })
    }

    fn admitted(names: &str, past: &str, verifies: bool) -> What {
        What::Minute(Minute::Admitted {
            who: 3,
            request: "r".into(),
            names: Some(names.into()),
            past: Some(past.into()),
            verifies,
            signers: BTreeSet::new(),
        })
    }

    #[test]
    fn another_key_or_epoch_is_bad() {
        let tale = || Tale::default().add(0, shared(0, "k")).add(1, shared(1, "k"));
        tale().add(0, admitted("e1", "e1", true)).holds(&CHECKER);
        tale().add(0, admitted("e0", "e1", true)).broken(&CHECKER);
        tale().add(0, admitted("e1", "e1", false)).broken(&CHECKER);
        tale().add(1, shared(2, "l")).broken(&CHECKER);
    }

    #[test]
    fn where_a_disk_was_put_back_each_line_has_one_key() {
        let decided = |name: &str| What::Minute(Minute::Decided { serial: 1, decision: name.into() });
        let first = || Tale::default().add(0, decided("a")).add(0, shared(1, "k"));
        let other = |tale: Tale, name| tale.add(1, decided(name)).add(1, shared(1, "l"));
        let put_back = || first().add(2, What::Boot(Disk::Old));
        other(first(), "b").broken(&CHECKER);
        other(put_back(), "b").holds(&CHECKER);
        other(put_back(), "a").broken(&CHECKER);
        other(put_back(), "b").add(1, shared(2, "k")).broken(&CHECKER);
        put_back().add(0, shared(2, "l")).broken(&CHECKER);
        other(first().add(1, What::Boot(Disk::Synced)), "b").broken(&CHECKER);
        // Whoever's own disk was put back is on another line then.
        let own = || first().add(0, What::Boot(Disk::Old)).add(0, decided("b"));
        own().add(0, shared(1, "l")).holds(&CHECKER);
    }
}
