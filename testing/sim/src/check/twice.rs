//! Two processes with one identity: a process stops only if another one with its identity runs, or
//! just ran, that started later. Whoever can hear both does not do so for long, and forms few
//! configurations meanwhile. So nobody who runs once is stopped, and the later one goes on.
//! Source: docs/decisions/0032; docs/protocol/link.md, LINK-25, LINK-26; node.md, NODE-19.

use super::{Broken, Checker, Story};
use crate::record::{Entry, PATIENCE, Player, Process, Record, RingEvent, What};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "twice", source: "decision 0032; LINK-25, LINK-26", judge };

/// How long both may be heard, in microseconds.
const MEET_MAX: u64 = 10_000_000;
/// How many configurations who hears both may install meanwhile.
const CONFIGURATIONS_MAX: usize = 8;

/// Somebody can hear both.
struct Meeting {
    since: u64,
    configurations: usize,
}

#[derive(Default)]
struct Seen {
    numbers: BTreeMap<Process, u64>,
    ended: BTreeMap<Process, u64>,
    meetings: BTreeMap<(Process, Player), Meeting>,
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut seen = Seen::default();
    for (at, entry) in record.entries.iter().enumerate() {
        seen.over(entry.at)
            .and_then(|()| seen.take(entry))
            .map_err(|what| (entry.process, Some(at), what))?;
    }
    let last = record.entries.last().map_or(Process { player: 0, life: 0 }, |entry| entry.process);
    seen.over(record.counts.micros).map_err(|what| (last, None, what))
}

impl Seen {
    fn take(&mut self, entry: &Entry) -> Result<(), String> {
        let process = entry.process;
        match &entry.what {
            What::Started(number) => {
                self.numbers.insert(process, *number);
            }
            What::Crash(_) => {
                self.ended.insert(process, entry.at);
            }
            What::Superseded(by) => return self.stopped(entry, *by),
            What::Meets(player) => {
                let meeting = Meeting { since: entry.at, configurations: 0 };
                self.meetings.insert((process, *player), meeting);
            }
            What::Parts(player) => {
                self.meetings.remove(&(process, *player));
            }
            What::Ring(RingEvent::Regular(..)) => return self.configuration(process),
            _ => {}
        }
        Ok(())
    }

    /// Whether it had to stop.
    fn stopped(&self, entry: &Entry, by: u64) -> Result<(), String> {
        let Process { player, .. } = entry.process;
        let other = |other: &Process| other.player == player && *other != entry.process;
        let later = self.numbers.iter().find(|(process, number)| other(process) && **number == by);
        let Some((later, _)) = later else {
            return Err(format!("stopped, but no process of player {player} has the number {by}"));
        };
        // Of two with one number the key decides, which is not seen here.
        if self.numbers.get(&entry.process).is_none_or(|own| *own > by) {
            return Err(format!("stopped, but {later} started earlier"));
        }
        let long_gone = |ended: &u64| ended.saturating_add(PATIENCE) < entry.at;
        if self.ended.get(later).is_some_and(long_gone) {
            return Err(format!("stopped, but {later} had ended long before"));
        }
        Ok(())
    }

    fn configuration(&mut self, process: Process) -> Result<(), String> {
        for ((_, player), meeting) in self.meetings.iter_mut().filter(|((witness, _), _)| *witness == process)
        {
            meeting.configurations += 1;
            if meeting.configurations > CONFIGURATIONS_MAX {
                let many = meeting.configurations;
                return Err(format!("{many} configurations while player {player} runs twice"));
            }
        }
        Ok(())
    }

    /// Whether some meeting has lasted too long by now.
    fn over(&self, now: u64) -> Result<(), String> {
        let long = |meeting: &Meeting| meeting.since.saturating_add(MEET_MAX) < now;
        let found = self.meetings.iter().find(|(_, meeting)| long(meeting));
        found.map_or(Ok(()), |((witness, player), meeting)| {
            let since = meeting.since / 1_000_000;
            Err(format!("{witness} can hear two processes of player {player} since {since} s, and both run"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{CHECKER, CONFIGURATIONS_MAX, MEET_MAX};
    use crate::check::tale::Tale;
    use crate::record::{Disk, Process, What};

    const LATER: Process = Process { player: 0, life: 1 };

    /// Both run, and 1 can hear them.
    fn both() -> Tale {
        let mut tale = Tale::default().add(0, What::Started(5));
        tale.0.push(1, LATER, What::Boot(Disk::Copied));
        tale.0.push(1, LATER, What::Started(6));
        tale.add(1, What::Meets(0))
    }

    #[test]
    fn the_earlier_one_stops() {
        both().add(0, What::Superseded(6)).crash(0).add(1, What::Parts(0)).settled().holds(&CHECKER);
        both().add(0, What::Superseded(7)).broken(&CHECKER);
        for number in [5, 6] {
            let mut later = both();
            later.0.push(9, LATER, What::Superseded(number));
            later.broken(&CHECKER);
        }
        let mut tie = both().add(0, What::Superseded(6)).crash(0);
        tie.0.push(9, Process { player: 0, life: 2 }, What::Started(6));
        tie.0.push(9, Process { player: 0, life: 2 }, What::Superseded(6));
        tie.add(1, What::Parts(0)).holds(&CHECKER);
    }

    #[test]
    fn nobody_who_runs_once_stops() {
        Tale::default().add(0, What::Started(5)).add(0, What::Superseded(6)).broken(&CHECKER);
        let mut gone = both();
        gone.0.push(9, LATER, What::Crash(0));
        gone.0.push(99_000_000, Process { player: 0, life: 0 }, What::Superseded(6));
        gone.broken(&CHECKER);
    }

    #[test]
    fn both_may_run_for_a_short_time_only() {
        both().settled().broken(&CHECKER);
        let late = |at| {
            let mut tale = both();
            tale.0.push(at, Process { player: 1, life: 0 }, What::Parts(0));
            tale.settled()
        };
        late(MEET_MAX).holds(&CHECKER);
        late(MEET_MAX * 2).broken(&CHECKER);
    }

    #[test]
    fn few_configurations_come_of_it() {
        let many = |count: usize| (0..count).fold(both(), |tale, at| tale.ring(1, 4 + at as u64, &[1]));
        many(CONFIGURATIONS_MAX).add(1, What::Parts(0)).holds(&CHECKER);
        many(CONFIGURATIONS_MAX + 1).add(1, What::Parts(0)).broken(&CHECKER);
    }
}
