//! Of all sides of all splits, at all times, each number has one decision. So no two sharings of
//! the group's key follow one sharing, and the group has one key, held in one way at a time.
//! Source: DECISIONS T4; docs/decisions/0021. Read from transcripts, if the charter's scheme is not
//! plain, or where an attacker has former keys. What former members alone decided is for
//! `former-keys`. Where liars decide alone they may make two, which they alone have signed both of.
//! A voter whose disk was put back, or copied, may have forgotten its vote: what
//! follows then is not judged (README.md).

use super::{Broken, Checker, Story};
use crate::lines::{Lines, is_quorum};
use crate::record::{Disk, Minute, Player, Record, Ruling, What};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "one-decision", source: "DECISIONS T4; decision 0021", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let lines = lines(record);
    let mut taken: BTreeMap<u64, (&str, Option<&Ruling>)> = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let (serial, decision, ruling) = match &line.what {
            What::Boot(Disk::Old | Disk::Copied) => return Ok(()),
            What::Minute(Minute::Decided { serial, decision }) => (*serial, decision, None),
            What::Ruled(ruling) => (ruling.number, &ruling.name, Some(ruling)),
            _ => continue,
        };
        if lines.is_false(decision) {
            continue;
        }
        let (first, before) = *taken.entry(serial).or_insert((decision, ruling));
        let lied = before.zip(ruling).is_some_and(|(one, other)| by_liars(lines.liars(), one, other));
        if first != decision && !lied {
            let what = format!("number {serial} was decided twice: {first} and {decision}");
            return Err((line.process, Some(entry), what));
        }
    }
    Ok(())
}

/// Whether liars decide there, and nobody else has signed both.
fn by_liars(liars: &BTreeSet<Player>, one: &Ruling, other: &Ruling) -> bool {
    let lies = |voter: &Option<Player>| voter.is_some_and(|voter| liars.contains(&voter));
    let lying: Vec<Option<Player>> = one.electors.iter().filter(|voter| lies(voter)).copied().collect();
    is_quorum(&one.electors, &lying)
        && one.signers.iter().filter(|voter| other.signers.contains(voter)).all(lies)
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
    use crate::record::{Disk, Minute, Ruling, What};

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

    fn ruled(tale: Tale, name: &str, signers: &[u8]) -> Tale {
        let ruling = Ruling {
            number: 1,
            name: name.into(),
            parent: "founding".into(),
            time: 9,
            electors: (0..5).map(Some).collect(),
            signers: signers.iter().copied().map(Some).collect(),
            deeds: Vec::new(),
            clock: Some(9),
        };
        tale.add(4, What::Ruled(ruling))
    }

    #[test]
    fn a_lying_quorum_may_make_two_that_liars_alone_have_signed_both_of() {
        let liars = |count: u8| (0..count).fold(Tale::default(), |tale, who| tale.add(who, What::Liar));
        let two = |tale: Tale, other: &[u8]| ruled(ruled(tale, "a", &[0, 1, 3]), "b", other);
        two(liars(3), &[0, 2, 4]).holds(&CHECKER);
        two(liars(3), &[0, 2, 3]).broken(&CHECKER);
        two(liars(2), &[0, 2, 4]).broken(&CHECKER);
    }
}
