//! Judges what was seen of a scenario: by the simulator's checkers, and by two of its own. *A few
//! configurations for each change*: at most two at each member for each thing that happened to it
//! or to others. *Quiet*: none while nothing happens.

use folkmoot_sim::check::check;
use folkmoot_sim::record::{Process, Record, RingEvent, What};
use std::collections::BTreeMap;

/// So many configurations each member may have for one cause.
pub(crate) const EACH: usize = 2;

/// Something that was done to the network or to the members.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// Microseconds.
    pub(crate) at: u64,
    pub(crate) what: String,
    /// How many things happened at once.
    pub(crate) causes: usize,
}

/// All that was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) record: Record,
    pub(crate) changes: Vec<Change>,
    /// From when to when nothing happened.
    pub(crate) windows: Vec<(u64, u64)>,
}

/// The promises that hold only if processes get their turn in time.
pub(crate) const OF_TIME: [&str; 2] = ["few-configurations", "quiet"];

/// A promise that was broken: which, and how.
pub(crate) type Violation = (&'static str, String);

/// Everything that is wrong.
pub(crate) fn judge(seen: &Seen) -> Vec<Violation> {
    let of_sim = check(&seen.record).into_iter();
    let mut out: Vec<Violation> =
        of_sim.map(|one| (one.property, format!("{}: {}", one.process, one.what))).collect();
    out.extend(few(seen).err().map(|what| ("few-configurations", what)));
    out.extend(quiet(seen).err().map(|what| ("quiet", what)));
    out
}

/// When each configuration was installed, and by whom.
fn configurations(record: &Record) -> impl Iterator<Item = (u64, Process)> {
    let regular = |what: &What| matches!(what, What::Ring(RingEvent::Regular(..)));
    record.entries.iter().filter(move |entry| regular(&entry.what)).map(|entry| (entry.at, entry.process))
}

/// The most configurations that a member had for each change, and the change.
pub(crate) fn for_each_change(seen: &Seen) -> Vec<(usize, Option<Process>, &Change)> {
    let ends = seen.changes.iter().skip(1).map(|next| next.at).chain([u64::MAX]);
    let most = |(change, end): (&Change, u64)| {
        let mut counts: BTreeMap<Process, usize> = BTreeMap::new();
        for (_, process) in configurations(&seen.record).filter(|(at, _)| (change.at..end).contains(at)) {
            *counts.entry(process).or_default() += 1;
        }
        counts.into_iter().map(|(process, count)| (count, Some(process))).max().unwrap_or_default()
    };
    let pair = |(change, end)| {
        let (count, process) = most((change, end));
        (count, process, change)
    };
    seen.changes.iter().zip(ends).map(pair).collect()
}

fn few(seen: &Seen) -> Result<(), String> {
    let too_many = |(count, _, change): &(usize, _, &Change)| *count > EACH * change.causes;
    match for_each_change(seen).into_iter().find(too_many) {
        Some((count, Some(process), change)) => {
            let most = EACH * change.causes;
            Err(format!("{process} had {count} configurations (at most {most}) after this: {}", change.what))
        }
        _ => Ok(()),
    }
}

fn quiet(seen: &Seen) -> Result<(), String> {
    let inside = |at: u64| seen.windows.iter().find(|(from, to)| (*from..*to).contains(&at));
    for (at, process) in configurations(&seen.record) {
        if let Some((from, to)) = inside(at) {
            let seconds = |micros: u64| micros as f64 / 1e6;
            return Err(format!(
                "{process} had a configuration at {:.3} s, and nothing happened from {:.3} to {:.3} s",
                seconds(at),
                seconds(*from),
                seconds(*to)
            ));
        }
    }
    Ok(())
}
