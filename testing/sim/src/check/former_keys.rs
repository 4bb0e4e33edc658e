//! Nobody who was expelled decides or admits anything at whoever has heard of it, with whatever
//! keys and backups. No member undoes a decision, takes an approval from before its subject
//! changed, drops a founder without a decision, or names somebody as a liar who did not sign twice.
//! Whoever was away and follows a former electorate is not protected; it is counted.
//! Source: docs/protocol/line.md, Safety and What is left; docs/decisions/0030.

use super::{Broken, Checker, Story};
use crate::lines::Lines;
use crate::record::{Entry, Player, Record, What};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker = Checker { name: "former-keys", source: "line.md; decision 0030", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    if !record.robbed {
        return Ok(());
    }
    let mut lines = Lines::default();
    let mut rosters: BTreeMap<Player, &BTreeSet<Player>> = BTreeMap::new();
    for (at, entry) in record.entries.iter().enumerate() {
        let read = lines.read(entry);
        if let What::Boot(_) = entry.what {
            rosters.remove(&entry.process.player);
        }
        let told = read.and_then(|()| look(record, &lines, &mut rosters, entry));
        told.map_err(|what| (entry.process, Some(at), what))?;
    }
    Ok(())
}

fn look<'a>(
    record: &'a Record,
    lines: &Lines,
    rosters: &mut BTreeMap<Player, &'a BTreeSet<Player>>,
    entry: &'a Entry,
) -> Result<(), String> {
    let player = entry.process.player;
    match &entry.what {
        What::Fork(number, liars) => {
            let honest =
                |one: &Player| !lines.is_stolen(*one) && !lines.is_liar(*one) && !lines.is_put_back(*one);
            let named = liars.iter().flatten().copied().find(honest);
            named.map_or(Ok(()), |one| Err(format!("{one} is named for the fork at {number}")))
        }
        _ if lines.is_misled(player) => Ok(()),
        What::Strangers(_) if lines.is_behind(player) => Ok(()),
        What::Strangers(count) if *count > 0 && lines.still_trusted(player) < record.votes.into() => {
            Err(format!("{count} strangers are on its roster"))
        }
        What::Roster(roster) => {
            let before = rosters.insert(player, roster);
            let gone = lines.removed(player);
            let mut back = roster.iter().filter(|one| lines.is_stolen(**one) && gone.contains(one));
            let back = back.find(|one| !lines.has_returned(player, **one));
            if let Some(back) = back.filter(|_| !lines.is_behind(player)) {
                return Err(format!("{back} was expelled, and is on its roster"));
            }
            let decided = |one: &Player| gone.contains(one) || lines.hides(player, *one);
            let lost = before.and_then(|before| before.difference(roster).find(|one| !decided(one)));
            let founder = lost.filter(|one| **one < record.founders);
            founder.map_or(Ok(()), |one| Err(format!("{one} is off its roster, and nobody decided that")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Deed, Disk, Player, Ruling, What};

    fn tale() -> Tale {
        let mut tale = Tale::default();
        (tale.0.robbed, tale.0.founders, tale.0.votes) = (true, 4, 2);
        tale
    }

    fn ruling(number: u64, name: &str, parent: &str, signers: &[Player], deeds: Vec<Deed>) -> Ruling {
        let electors = (0..4).map(Some).collect();
        let signers = signers.iter().copied().map(Some).collect();
        let (name, parent) = (name.into(), parent.into());
        Ruling { number, name, parent, time: 9, electors, signers, deeds, clock: None }
    }

    fn expels(who: Player, base: u64) -> Deed {
        let approvals = [0, 1].map(|voter| (Some(voter), base, 10)).into();
        Deed { about: format!("key of {who}"), removes: Some(who), approvals, ..Deed::default() }
    }

    fn charter(base: u64, ends: u64) -> Deed {
        let approvals = [0, 1].map(|voter| (Some(voter), base, ends)).into();
        Deed { about: "field cipher".into(), approvals, ..Deed::default() }
    }

    /// 2 and 3 are expelled and stolen, and 0 and 1 have heard of it.
    fn expelled() -> Tale {
        after(judged(&["a", "b", "c", "d", "y"]))
    }

    fn after(tale: Tale) -> Tale {
        let one = What::Ruled(ruling(1, "a", "0", &[0, 1, 2], vec![expels(3, 0)]));
        let two = What::Ruled(ruling(2, "b", "a", &[0, 1, 2], vec![expels(2, 1)]));
        let both = |tale: Tale, who| tale.add(who, one.clone()).add(who, two.clone());
        let tale = both(both(tale, 0), 1);
        tale.add(2, What::Stolen).add(3, What::Stolen)
    }

    /// The same, with every decision of these names judged in its time by 0.
    fn judged(names: &[&str]) -> Tale {
        let judge = |tale: Tale, name: &&str| tale.add(0, What::Judged((*name).to_owned(), 9));
        names.iter().fold(tale(), judge)
    }

    fn by_former() -> What {
        let mut false_one = ruling(1, "x", "0", &[2, 3], Vec::new());
        false_one.electors = [2, 3, 4].map(Some).into();
        What::Ruled(false_one)
    }

    #[test]
    fn whoever_has_heard_of_an_expulsion_follows_nobody_who_was_expelled() {
        expelled().holds(&CHECKER);
        expelled().add(0, by_former()).broken(&CHECKER);
        let mut next = ruling(3, "y", "b", &[1, 2, 3], Vec::new());
        expelled().add(0, What::Ruled(next.clone())).broken(&CHECKER);
        next.signers = vec![Some(0), Some(1)];
        expelled().add(0, What::Ruled(next.clone())).holds(&CHECKER);
        next.signers = vec![Some(0), Some(1), None];
        expelled().add(0, What::Ruled(next)).broken(&CHECKER);
        expelled().add(0, What::Strangers(1)).broken(&CHECKER);
        expelled().add(0, What::Roster([0, 1, 3].into())).broken(&CHECKER);
    }

    #[test]
    fn who_was_admitted_again_before_its_key_was_stolen_is_a_member_until_it_is_expelled_again() {
        let one = || What::Ruled(ruling(1, "a", "0", &[0, 1, 2], vec![expels(3, 0)]));
        let again = || What::Ruled(ruling(2, "b", "a", &[0, 1, 2], vec![expels(3, 1)]));
        let all = || What::Roster([0, 1, 2, 3].into());
        let back = || {
            judged(&["a", "b"]).add(0, one()).add(0, all()).add(0, again()).add(3, What::Stolen).add(1, one())
        };
        back().add(1, all()).holds(&CHECKER);
        back().add(1, again()).add(1, all()).broken(&CHECKER);
        judged(&["a"]).add(0, one()).add(3, What::Stolen).add(0, all()).broken(&CHECKER);
    }

    #[test]
    fn whoever_was_away_is_not_protected_unless_they_were_no_quorum() {
        let away = || expelled().add(4, by_former());
        away().add(4, What::Strangers(2)).add(4, What::Roster([9].into())).holds(&CHECKER);
        expelled().add(4, What::Strangers(1)).holds(&CHECKER);
        let few = ruling(1, "x", "0", &[3], Vec::new());
        expelled().add(4, What::Ruled(few)).broken(&CHECKER);
        away().add(4, What::Ruled(ruling(1, "a", "0", &[0, 1, 2], Vec::new()))).broken(&CHECKER);
        let put_back = away().add(4, What::Boot(Disk::Old));
        put_back.add(4, What::Ruled(ruling(1, "a", "0", &[0, 1, 2], Vec::new()))).holds(&CHECKER);
    }

    #[test]
    fn what_nobody_honest_has_judged_in_its_time_is_not_decided() {
        after(judged(&["a", "b"])).holds(&CHECKER);
        after(judged(&["a"])).broken(&CHECKER);
        let at = |clock| judged(&["a"]).add(0, What::Judged("b".into(), clock));
        after(at(9 + 300)).broken(&CHECKER);
        after(at(9 + 60)).holds(&CHECKER);
        // It rests on what ends at 10.
        after(at(10 + 61)).broken(&CHECKER);
        let by_liar = judged(&["a"]).add(1, What::Liar).add(1, What::Judged("b".into(), 9));
        after(by_liar).broken(&CHECKER);
        let quorum = |tale: Tale| (1..4).fold(tale, |tale, who| tale.add(who, What::Liar));
        after(quorum(judged(&["a"]))).holds(&CHECKER);
    }

    #[test]
    fn nobody_has_a_decision_of_the_day_after_tomorrow() {
        let quorum = (1..4).fold(tale(), |tale, who| tale.add(who, What::Liar));
        let seen = |time, clock| {
            let ruling = ruling(1, "a", "0", &[1, 2, 3], Vec::new());
            What::Ruled(Ruling { time, clock, ..ruling })
        };
        let at = |time, clock| quorum.clone().add(0, seen(time, clock));
        at(90_000, Some(9_000)).holds(&CHECKER);
        at(190_000, Some(9_000)).broken(&CHECKER);
        at(190_000, None).holds(&CHECKER);
        // It had it before its clock went back.
        at(190_000, Some(189_000)).add(0, seen(190_000, Some(9_000))).holds(&CHECKER);
        // Its clock went back after it had one, and is none beside that.
        let next = ruling(2, "b", "a", &[1, 2, 3], Vec::new());
        let next = What::Ruled(Ruling { time: 190_001, clock: Some(9_000), ..next });
        at(190_000, Some(189_000)).add(0, next).holds(&CHECKER);
    }

    #[test]
    fn an_approval_from_before_an_expulsion_names_nobody_who_is_gone() {
        let list = |base| Deed { about: "field list".into(), names: [3].into(), ..charter(base, 10) };
        let listed = |base| What::Ruled(ruling(3, "c", "b", &[0, 1, 2], vec![list(base)]));
        let mut later = match listed(2) {
            What::Ruled(ruling) => ruling,
            _ => return,
        };
        later.signers = vec![Some(0), Some(1)];
        let fresh = vec![list(2)];
        expelled().add(0, What::Ruled(Ruling { deeds: fresh, ..later.clone() })).holds(&CHECKER);
        expelled().add(0, What::Ruled(Ruling { deeds: vec![list(0)], ..later })).broken(&CHECKER);
    }

    #[test]
    fn whoever_has_no_clock_lets_in_what_ran_out() {
        expelled().add(0, What::Strangers(1)).broken(&CHECKER);
        expelled().add(0, What::Clock(None)).add(0, What::Strangers(1)).holds(&CHECKER);
        let right = expelled().add(0, What::Clock(None)).add(0, What::Clock(Some(0)));
        right.add(0, What::Strangers(1)).broken(&CHECKER);
    }

    #[test]
    fn old_approvals_decide_nothing() {
        let changed = |deed| What::Ruled(ruling(3, "c", "b", &[0, 1, 2], vec![deed]));
        let again = |deed| What::Ruled(ruling(4, "d", "c", &[0, 1], vec![deed]));
        let mut plain = ruling(3, "c", "b", &[0, 1], vec![charter(2, 10)]);
        expelled().add(0, What::Ruled(plain.clone())).add(0, again(charter(3, 10))).holds(&CHECKER);
        expelled().add(0, What::Ruled(plain.clone())).add(0, again(charter(2, 10))).broken(&CHECKER);
        expelled().add(0, changed(charter(2, 10))).broken(&CHECKER);
        plain.deeds = vec![charter(2, 8)];
        expelled().add(0, What::Ruled(plain)).broken(&CHECKER);
    }

    #[test]
    fn a_new_voter_approves_nothing_over_what_was_before() {
        let voters = [0, 1, 5].map(Some).to_vec();
        let elects = Deed { about: "electorate".into(), voters, ..charter(2, 10) };
        let elected = What::Ruled(ruling(3, "c", "b", &[0, 1], vec![elects]));
        let then = |base| {
            let mut deed = charter(base, 10);
            deed.approvals.push((Some(5), base, 10));
            What::Ruled(ruling(4, "d", "c", &[0, 1], vec![deed]))
        };
        expelled().add(0, elected.clone()).add(0, then(3)).holds(&CHECKER);
        expelled().add(0, elected).add(0, then(2)).broken(&CHECKER);
    }

    #[test]
    fn nobody_honest_is_named_or_lost() {
        expelled().add(0, What::Fork(1, vec![Some(3), None])).holds(&CHECKER);
        expelled().add(0, What::Fork(1, vec![Some(1)])).broken(&CHECKER);
        let put_back = expelled().add(1, What::Boot(Disk::Old));
        put_back.add(0, What::Fork(1, vec![Some(1)])).holds(&CHECKER);
        let full = || expelled().add(0, What::Roster([0, 1, 5].into()));
        full().add(0, What::Roster([0, 1].into())).holds(&CHECKER);
        full().add(0, What::Roster([0, 5].into())).broken(&CHECKER);
        full().add(0, What::Hidden([1].into())).add(0, What::Roster([0, 5].into())).holds(&CHECKER);
    }
}
