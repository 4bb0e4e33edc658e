//! An application that takes no events holds nobody up: what others send meanwhile comes back to
//! them as soon as ever. And what waits for it is bounded: its process ends when more would wait.
//! While half of that room is taken, it is told no unreliable message.
//! The first is judged in calm schedules, where nothing else takes time.
//! Source: host/runtime/src/engine.rs, LocalSlowReader.

use super::{Broken, Checker, Story};
use crate::record::{Entry, MessageId, Process, Record, What};
use folkmoot_base::Service;
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "slow-reader", source: "host/runtime, LocalSlowReader", judge };

/// By then a message has come back to its sender, if nobody holds it up, in microseconds. A ring
/// that waits for a member is silent for a second at least.
const BACK_MICROS: u64 = 700_000;
/// By then a ring goes on when a process has come or gone.
const ANEW_MICROS: u64 = 4_000_000;

/// What waits for an application.
struct Waits {
    room: usize,
    waiting: usize,
    /// Since when there is no room.
    full: Option<u64>,
    since: u64,
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut deaf: BTreeMap<Process, Waits> = BTreeMap::new();
    let mut way = Way::default();
    for (at, entry) in record.entries.iter().enumerate() {
        let broken = |what: String| (entry.process, Some(at), what);
        if let Some(what) = way.too_late(entry, &deaf).filter(|_| record.calm) {
            return Err(broken(what));
        }
        wait(entry, &mut deaf).map_err(broken)?;
    }
    Ok(())
}

/// Messages under way.
#[derive(Default)]
struct Way {
    sent: BTreeMap<MessageId, u64>,
    /// Until when rings may form anew.
    anew: u64,
}

impl Way {
    /// What should not be under way any more, in words.
    fn too_late(&mut self, entry: &Entry, deaf: &BTreeMap<Process, Waits>) -> Option<String> {
        let late = |sent: u64| sent.saturating_add(BACK_MICROS) < entry.at;
        let held = |sent: u64| deaf.values().any(|waits| waits.since <= sent);
        if let Some((message, sent)) = self.sent.iter().find(|(_, sent)| late(**sent) && held(**sent)) {
            let millis = entry.at.saturating_sub(*sent) / 1_000;
            return Some(format!(
                "{message} is under way for {millis} ms while an application takes no events"
            ));
        }
        self.sent.retain(|_, sent| !late(*sent));
        match &entry.what {
            // An unreliable message need not come back.
            What::Sent(message, service, _) if self.anew <= entry.at && *service != Service::Unreliable => {
                self.sent.insert(*message, entry.at);
            }
            What::Delivered(message, _) if message.sender() == entry.process => {
                self.sent.remove(message);
            }
            What::Boot(_) | What::Crash(_) | What::Left(_) => {
                self.sent.clear();
                self.anew = entry.at.saturating_add(ANEW_MICROS);
            }
            _ => {}
        }
        None
    }
}

/// Counts what waits; whether it may.
fn wait(entry: &Entry, deaf: &mut BTreeMap<Process, Waits>) -> Result<(), String> {
    match &entry.what {
        What::Deaf(room) => {
            let waits = Waits { room: *room, waiting: 0, full: None, since: entry.at };
            deaf.insert(entry.process, waits);
        }
        What::Reads | What::Crash(_) => {
            deaf.remove(&entry.process);
        }
        what => {
            let Some(waits) = deaf.get_mut(&entry.process) else { return Ok(()) };
            if waits.full.is_some_and(|since| since < entry.at) {
                let Waits { room, waiting, .. } = waits;
                return Err(format!("goes on though {waiting} events wait, and there is room for {room}"));
            }
            let unreliable = matches!(what, What::Delivered(_, Service::Unreliable));
            if unreliable && waits.waiting >= waits.room / 2 {
                let Waits { room, waiting, .. } = waits;
                return Err(format!(
                    "an unreliable message waits though {waiting} events wait, and there is room for {room}"
                ));
            }
            let event = matches!(what, What::Delivered(..) | What::Garbled(_) | What::View(_) | What::Signal);
            waits.waiting += usize::from(event);
            if waits.waiting > waits.room {
                waits.full.get_or_insert(entry.at);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BACK_MICROS, CHECKER};
    use crate::check::tale::{Tale, m, p};
    use crate::record::What;
    use folkmoot_base::Service::{Agreed, Unreliable};

    fn deaf(room: usize) -> Tale {
        let mut tale = Tale::default().first(4, &[0, 1]).add(1, What::Deaf(room));
        tale.0.calm = true;
        tale
    }

    #[test]
    fn what_waits_is_bounded() {
        let get = |tale: Tale, number| tale.get(1, m(0, number), Agreed);
        get(get(deaf(2), 0), 1).add(1, What::Reads).holds(&CHECKER);
        let full = || get(get(deaf(1), 0), 1);
        let mut ends = full();
        let at = ends.0.entries.last().map_or(0, |last| last.at);
        ends.0.push(at, p(1), What::SlowReader(2));
        ends.crash(1).holds(&CHECKER);
        get(full(), 2).broken(&CHECKER);
    }

    #[test]
    fn unreliable_messages_take_half_of_the_room() {
        let get = |tale: Tale, number| tale.get(1, m(0, number), Unreliable);
        get(deaf(2), 0).holds(&CHECKER);
        get(get(deaf(2), 0), 1).broken(&CHECKER);
        get(get(deaf(2), 0).add(1, What::Reads), 1).holds(&CHECKER);
    }

    #[test]
    fn the_others_go_on() {
        let sent = || deaf(9).send(0, 0, Agreed, 4);
        let then = |mut tale: Tale, after: u64| {
            let at = tale.0.entries.last().map_or(0, |last| last.at);
            tale.0.push(at + after, p(0), What::Signal);
            tale
        };
        then(sent().get(0, m(0, 0), Agreed), BACK_MICROS * 2).holds(&CHECKER);
        then(sent(), BACK_MICROS / 2).holds(&CHECKER);
        then(sent(), BACK_MICROS * 2).broken(&CHECKER);
        then(sent().add(1, What::Reads), BACK_MICROS * 2).holds(&CHECKER);
        then(sent().add(1, What::SlowReader(9)).crash(1), BACK_MICROS * 2).holds(&CHECKER);
    }
}
