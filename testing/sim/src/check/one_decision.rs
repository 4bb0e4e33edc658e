//! Of all sides of all splits, at all times, each number has one decision. So no two sharings of
//! the group's key follow one sharing, and the group has one key, held in one way at a time.
//! Source: DECISIONS T4; docs/decisions/0021. Read from transcripts, if the charter's scheme is not
//! plain, or where an attacker has former keys. What former members alone decided is for
//! `former-keys`. A voter whose disk was put back, or copied, may have forgotten its vote: what
//! follows then is not judged (README.md).

use super::{Broken, Checker, Story};
use crate::lines::Lines;
use crate::record::{Disk, Minute, Record, Ruling, What};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "one-decision", source: "DECISIONS T4; decision 0021", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let lines = lines(record);
    let mut taken: BTreeMap<u64, &str> = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        match &line.what {
            What::Boot(Disk::Old | Disk::Copied) => return Ok(()),
            What::Minute(Minute::Decided { serial, decision })
            | What::Ruled(Ruling { number: serial, name: decision, .. })
                if !lines.is_false(decision) =>
            {
                let first = *taken.entry(*serial).or_insert(decision);
                if first != decision {
                    let what = format!("number {serial} was decided twice: {first} and {decision}");
                    return Err((line.process, Some(entry), what));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Which decisions former members alone have made: `former-keys` judges who follows those.
fn lines(record: &Record) -> Lines {
    let mut lines = Lines::default();
    for entry in &record.entries {
        let _ = lines.read(entry);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Disk, Minute, What};

    fn decided(tale: Tale, player: u8, serial: u64, decision: &str) -> Tale {
        tale.add(player, What::Minute(Minute::Decided { serial, decision: decision.into() }))
    }

    #[test]
    fn two_decisions_of_one_serial_are_bad() {
        let first = || decided(decided(Tale::default(), 0, 1, "a"), 1, 1, "a");
        decided(first(), 1, 2, "b").holds(&CHECKER);
        decided(first(), 2, 1, "b").broken(&CHECKER);
        decided(first().add(1, What::Boot(Disk::Old)), 2, 1, "b").holds(&CHECKER);
    }
}
