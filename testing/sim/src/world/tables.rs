//! What the world sees of tables: what transcripts say, which shares lie on disks, and what is still due at the end.

use super::World;
use crate::machine::{Minutes, Tables};
use crate::play::standings;
use crate::record::{Seat, What};
use folkmoot_base::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// How long a table may stand still before everybody drops it, and a little more for the timer, in microseconds.
const STILL_MICROS: u64 = 5_500_000;

impl World {
    /// After a batch: records what the transcript has new, and the shares on disk if they changed or others are in use.
    pub(super) fn look_at_tables(&mut self, seat: Seat) {
        if !self.tables {
            return;
        }
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        let Minutes { minutes, in_use } = machine.minutes();
        let on_disk: BTreeSet<String> = chair
            .disk
            .contents()
            .keys()
            .filter(|key| key.table == "share")
            .map(|key| key.key.iter().take(6).map(|byte| format!("{byte:02x}")).collect())
            .collect();
        let process = chair.process();
        for minute in minutes {
            self.record.push(now, process, What::Minute(minute));
        }
        let shares = (in_use, on_disk);
        if chair.shares.as_ref() != Some(&shares) {
            let (in_use, on_disk) = shares.clone();
            chair.shares = Some(shares);
            self.record.push(now, process, What::Shares { in_use, on_disk });
        }
    }

    /// Whether this share is on the disk of `seat` now.
    pub(super) fn has_share(&self, seat: Seat, sharing: &str) -> bool {
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect() };
        let disk = self.chair(seat).map(|chair| chair.disk.contents());
        disk.is_some_and(|disk| disk.keys().any(|key| key.table == "share" && hex(&key.key) == sharing))
    }

    /// How the tables of `seat` stand.
    fn tables_of(&self, seat: Seat) -> Option<Tables> {
        let chair = self.chair(seat)?;
        chair.machine.as_ref()?.tables(Instant(self.now.saturating_sub(chair.boot_at)))
    }

    /// What is still to be done by the machines alone, now that all who are there are in one view; `None`: nothing.
    pub fn undone(&self) -> Option<String> {
        let here: BTreeMap<Seat, Tables> = standings(self)
            .iter()
            .filter(|one| one.expected)
            .filter_map(|one| Some((one.process.seat, self.tables_of(one.process.seat)?)))
            .collect();
        if let Some((seat, _)) = here.iter().find(|(_, tables)| tables.still > STILL_MICROS) {
            return Some(format!("a table at m{seat} stands still and is not over"));
        }
        for (seat, tables) in &here {
            if wants(&here, tables) && can_share(&here, tables) && !is_split(&here, tables) {
                let ballot =
                    format!("of the voters {:?} these approve: {:?}", tables.voters, tables.approvals);
                return Some(format!("m{seat} wants another sharing, and a quorum is here; {ballot}"));
            }
            for (guest, approvers) in &tables.ripe {
                // One that knows nobody but who was expelled since, say, is at nobody's door.
                let comes = here.values().any(|one| one.guests.contains(guest));
                if comes && can_sign(&here, tables, approvers) {
                    return Some(format!("the request of seat {guest} has enough votes at m{seat}"));
                }
            }
        }
        None
    }
}

/// Whether another sharing is wanted, and by one who is here: who is away asks for its share when it is back.
fn wants(here: &BTreeMap<Seat, Tables>, tables: &Tables) -> bool {
    let lacks = |seat: &&Seat| here.contains_key(seat) && !tables.holders.contains(seat);
    tables.wants || (tables.shared && tables.voters.iter().any(|seat| lacks(&seat)))
}

/// Whether all voters who are here have spent their approval in a ballot that decides nothing without one who is away: it waits for that
/// one (docs/protocol/admission.md, "Departures and limits").
fn is_split(here: &BTreeMap<Seat, Tables>, tables: &Tables) -> bool {
    let spent = |seat: &Seat| tables.approvals.iter().any(|yes| yes.contains(seat));
    let decided = tables.approvals.iter().any(|yes| is_quorum(tables, yes));
    let (present, away): (Vec<Seat>, Vec<Seat>) =
        tables.voters.iter().partition(|seat| here.contains_key(seat));
    !decided && present.iter().all(spent) && !away.iter().all(spent)
}

/// Whether those here could make and decide a sharing.
fn can_share(here: &BTreeMap<Seat, Tables>, tables: &Tables) -> bool {
    let voters: BTreeSet<Seat> =
        tables.voters.iter().copied().filter(|seat| here.contains_key(seat)).collect();
    is_quorum(tables, &voters)
        && voters.len() >= tables.signers
        && voters.len() >= tables.threshold
        && holders(here, tables) >= tables.givers
}

/// More than half of the electorate, or half of it with the first.
fn is_quorum(tables: &Tables, voters: &BTreeSet<Seat>) -> bool {
    let (some, all) = (2 * voters.len(), tables.electorate.len());
    some > all || (some == all && tables.electorate.first().is_some_and(|first| voters.contains(first)))
}

/// Whether those here could sign for a request that these approved.
fn can_sign(here: &BTreeMap<Seat, Tables>, tables: &Tables, approvers: &BTreeSet<Seat>) -> bool {
    if !tables.shared {
        let yes = approvers.iter().filter(|seat| here.contains_key(seat)).count();
        return yes >= tables.threshold;
    }
    !wants(here, tables) && tables.givers > 0 && holders(here, tables) >= tables.signers
}

fn holders(here: &BTreeMap<Seat, Tables>, tables: &Tables) -> usize {
    tables.holders.iter().filter(|seat| here.get(seat).is_some_and(|one| one.holds)).count()
}
