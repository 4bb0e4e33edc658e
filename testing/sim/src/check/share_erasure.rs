//! Once a member's transcript has taken a sharing, and what it wrote about that took effect, its
//! disk holds no share from before: neither of the sharing that was in use nor of others that
//! waited then. None of them ever comes back. If one share is the key, all sharings among the same
//! holders are one, and they are not judged.
//! Source: docs/decisions/0021; key erasure of proactive secret sharing (Herzberg, Jarecki,
//! Krawczyk, Yung 1995).

use super::{Broken, Checker, Story};
use crate::record::{Disk, Entry, Minute, Player, Record, What};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "share-erasure", source: "decision 0021; Herzberg et al. 1995", judge };

/// What one player's disk was seen to hold, and what is over.
#[derive(Default)]
struct Seen<'a> {
    in_use: Option<&'a String>,
    on_disk: BTreeSet<&'a String>,
    over: BTreeSet<&'a String>,
    twice: bool,
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut players: BTreeMap<Player, Seen<'_>> = BTreeMap::new();
    let whole = keys_themselves(record);
    for (entry, line) in record.entries.iter().enumerate() {
        let seen = players.entry(line.process.player).or_default();
        match &line.what {
            // Of a player with two disks nothing more is judged.
            What::Boot(Disk::Copied) => seen.twice = true,
            What::Boot(Disk::Old) => *seen = Seen::default(),
            What::Shares { in_use, on_disk } if !seen.twice => {
                let now = in_use.as_ref();
                if seen.in_use != now {
                    let before: Vec<_> = seen.on_disk.iter().copied().chain(seen.in_use).collect();
                    seen.over.extend(before);
                    now.into_iter().for_each(|now| {
                        seen.over.remove(now);
                    });
                }
                (seen.in_use, seen.on_disk) = (now, on_disk.iter().collect());
                if let Some(old) = seen.on_disk.intersection(&seen.over).find(|old| !whole.contains(**old)) {
                    let what = format!("a share of {old} is on disk, which is over: {in_use:?} is in use");
                    return Err((line.process, Some(entry), what));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The sharings of which one share is the key.
fn keys_themselves(record: &Record) -> BTreeSet<&String> {
    record.entries.iter().filter_map(key_itself).collect()
}

fn key_itself(line: &Entry) -> Option<&String> {
    match &line.what {
        What::Minute(Minute::Shared { name, threshold: 1, .. })
        | What::Backed { sharing: name, whole: true, .. } => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Disk, What};

    fn shares(tale: Tale, in_use: Option<&str>, on_disk: &[&str]) -> Tale {
        let on_disk = on_disk.iter().map(|name| (*name).to_owned()).collect();
        tale.add(0, What::Shares { in_use: in_use.map(str::to_owned), on_disk })
    }

    #[test]
    fn what_is_over_is_gone_for_good() {
        let tale = || shares(shares(Tale::default(), None, &["a", "b"]), Some("a"), &["a"]);
        let next = || shares(tale(), Some("a"), &["a", "c"]);
        shares(next(), Some("c"), &["c"]).holds(&CHECKER);
        shares(next(), Some("c"), &["a", "c"]).broken(&CHECKER);
        shares(tale(), Some("a"), &["a", "b"]).broken(&CHECKER);
        shares(shares(next(), Some("c"), &["c"]), Some("c"), &["a", "c"]).broken(&CHECKER);
        let old = next().add(0, What::Boot(Disk::Old));
        shares(old, Some("a"), &["a", "b"]).holds(&CHECKER);
        // Made again, since one share is the key; decided or not.
        let again = |whole| {
            let backed = What::Backed { sharing: "b".into(), on_disk: true, whole };
            shares(tale().add(0, backed), Some("a"), &["a", "b"])
        };
        again(true).holds(&CHECKER);
        again(false).broken(&CHECKER);
    }
}
