//! Liveness: once the faults have stopped, all who are alive and admitted meet within the bound.
//! They meet in one view of exactly them, under one key and one roster, and everything they sent
//! has come back to them. Nobody whose term lasts is cut off, once all clocks are right. While cuts
//! last, of whatever shape, everybody finds peace (peace.rs). Nobody waits where a voter signed two
//! decisions in good faith, since its disk was put back or copied: the two sides are shown to
//! persons, who decide (NODE-13). Source: Survey §7, Membership Precision, Self Delivery,
//! Termination of Delivery; Robust §4.6 invariant 6.

use super::{Broken, Checker, Story};
use crate::record::{Disk, Player, Process, Record, Standing, What};
use crate::standings::at_rest;
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker =
    Checker { name: "liveness", source: "Survey §7, properties 8.1 to 8.4", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    if is_apart(record) {
        return Ok(());
    }
    if let Some(unrest) = &record.unrest {
        return Err((first(record), None, format!("no peace while the cuts lasted, {unrest}")));
    }
    let cut_off = record.standings.iter().find(|one| one.expected && !one.cut_off.is_empty());
    if let Some(one) = cut_off {
        return Err((one.process, None, format!("its clock is right, and it has cut off {:?}", one.cut_off)));
    }
    if record.settled && at_rest(&record.standings) {
        return Ok(());
    }
    let mut what = String::from("the world did not come to rest:");
    for one in &record.standings {
        what.push_str(&format!("\n    {}", line(one)));
    }
    Err((first(record), None, what))
}

/// Whether there is a fork, and all who signed both sides had disks that were put back or copied,
/// and nobody lies with their keys.
fn is_apart(record: &Record) -> bool {
    let of = |is: fn(&What) -> bool| -> BTreeSet<Player> {
        record.entries.iter().filter(|entry| is(&entry.what)).map(|entry| entry.process.player).collect()
    };
    let anew = of(|what| matches!(what, What::Boot(Disk::Old | Disk::Copied)));
    let lies = of(|what| matches!(what, What::Stolen | What::Liar));
    let honest =
        |liar: &Option<Player>| liar.is_some_and(|liar| anew.contains(&liar) && !lies.contains(&liar));
    let forks = record.entries.iter().filter_map(|entry| match &entry.what {
        What::Fork(_, liars) => Some(liars),
        _ => None,
    });
    forks.into_iter().any(|liars| !liars.is_empty() && liars.iter().all(honest))
}

fn first(record: &Record) -> Process {
    record.standings.first().map_or(Process { player: 0, life: 0 }, |one| one.process)
}

fn line(one: &Standing) -> String {
    let view = one.view.as_ref().map_or("no view".to_owned(), |view| {
        format!("view {} of {:?} key {}", view.id, view.members, view.key)
    });
    let place = if one.expected { "" } else { " (not expected)" };
    let waiting = one.unacknowledged.len();
    let roster = &one.roster;
    format!("{}{place}: {view}, roster {roster:?}, {waiting} unacknowledged, {}", one.process, one.activity)
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m, p, view};
    use crate::record::{Disk, Player, Shown, Standing, What};
    use std::collections::BTreeSet;

    fn standing(player: Player, members: &[Player], key: &str) -> Standing {
        let members: BTreeSet<Player> = members.iter().copied().collect();
        let shown =
            Shown { id: view(4), members: members.clone(), transitional: members.clone(), key: key.into() };
        Standing {
            process: p(player),
            expected: true,
            view: Some(shown),
            ring: members.clone(),
            roster: members,
            cut_off: BTreeSet::new(),
            gathers: false,
            activity: "steady".into(),
            unacknowledged: Vec::new(),
        }
    }

    #[test]
    fn all_in_one_view_is_good() {
        let tale = Tale::default().settled();
        tale.standing(standing(0, &[0, 1], "a")).standing(standing(1, &[0, 1], "a")).holds(&CHECKER);
    }

    #[test]
    fn nobody_waits_where_a_copied_voter_signed_both_sides() {
        let copied = || Tale::default().add(0, What::Boot(Disk::Copied));
        copied().add(1, What::Fork(1, vec![Some(0)])).holds(&CHECKER);
        copied().add(1, What::Fork(1, vec![Some(0), Some(1)])).broken(&CHECKER);
        copied().add(1, What::Fork(1, Vec::new())).broken(&CHECKER);
        Tale::default().add(1, What::Fork(1, vec![Some(0)])).broken(&CHECKER);
    }

    #[test]
    fn unsettled_split_waiting_or_differently_keyed_is_bad() {
        Tale::default().standing(standing(0, &[0], "a")).broken(&CHECKER);
        let tale = || Tale::default().settled().standing(standing(0, &[0, 1], "a"));
        tale().broken(&CHECKER);
        tale().standing(standing(1, &[0, 1], "b")).broken(&CHECKER);
        let waiting = Standing { unacknowledged: vec![m(1, 0)], ..standing(1, &[0, 1], "a") };
        tale().standing(waiting).broken(&CHECKER);
        let mut restless = tale().standing(standing(1, &[0, 1], "a"));
        restless.0.unrest = Some("views change".into());
        restless.broken(&CHECKER);
        let cut = Standing { cut_off: [2].into(), ..standing(1, &[0, 1], "a") };
        tale().standing(cut).broken(&CHECKER);
        let homeless = Standing { view: None, ..standing(1, &[0, 1], "a") };
        tale().standing(homeless).broken(&CHECKER);
    }
}
