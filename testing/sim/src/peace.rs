//! Peace: what must hold although some cannot reach others, and not only once everybody can.
//!
//! Every member that is alive and admitted is in a view whose members all reach one another, both
//! ways, hold one key, and agree on the view. What they sent has come back to them. They are no
//! further apart than necessary: two views of founders who all reach one another would be one, and
//! founders who reach one another have one roster. (A stranger may not have heard yet where
//! somebody is.) Source: Survey §7, property 8.1, for components that need not be disjoint;
//! docs/protocol/ring.md, RING-14 to RING-17.

use crate::machine::owner;
use crate::record::{Player, Standing};
use crate::standings::standings;
use crate::world::World;
use std::collections::{BTreeMap, BTreeSet};

/// The views of those who are alive and admitted: name, and name of the key.
pub type Views = BTreeMap<Player, (String, String)>;

/// The views, or what is missing.
///
/// # Errors
/// In plain words.
pub fn of(world: &World) -> Result<Views, String> {
    let founder = |player: Player| world.chair(owner(player)).is_some_and(|chair| chair.founder);
    let reach = |a, b| world.reach(world.place_of(a), world.place_of(b));
    judge(&standings(world), &reach, &founder)
}

fn judge(
    standings: &[Standing],
    reach: &dyn Fn(Player, Player) -> bool,
    founder: &dyn Fn(Player) -> bool,
) -> Result<Views, String> {
    let expected: BTreeMap<Player, &Standing> =
        standings.iter().filter(|one| one.expected).map(|one| (one.process.player, one)).collect();
    let mut views = Views::new();
    for (player, one) in &expected {
        let view = one.view.as_ref().ok_or_else(|| format!("m{player} has no view: {}", one.activity))?;
        settled(*player, one, standings, reach)?;
        views.insert(*player, (view.id.to_string(), view.key.clone()));
    }
    for (a, one) in expected.iter().filter(|(player, _)| founder(**player)) {
        for (b, other) in expected.range(a..).filter(|(player, _)| founder(**player) && reach(*a, **player)) {
            near(*a, one, *b, other, reach, founder)?;
        }
    }
    Ok(views)
}

/// Whether the view of `player` is one of living members who reach one another and see the same,
/// and nothing of its own is due.
fn settled(
    player: Player,
    one: &Standing,
    standings: &[Standing],
    reach: &dyn Fn(Player, Player) -> bool,
) -> Result<(), String> {
    let Some(view) = &one.view else { return Ok(()) };
    if !one.unacknowledged.is_empty() {
        return Err(format!("m{player} waits for {} of its own: {}", one.unacknowledged.len(), one.activity));
    }
    for a in &view.members {
        let other = standings.iter().find(|other| other.process.player == *a);
        let same = other.and_then(|other| other.view.as_ref());
        let same = same.is_some_and(|theirs| (theirs.id, &theirs.key) == (view.id, &view.key));
        if !same {
            return Err(format!("m{player} has m{a} in its view {}, which m{a} does not share", view.id));
        }
        if let Some(b) = view.members.iter().find(|b| !reach(*a, **b)) {
            return Err(format!("m{player} has a view with m{a} and m{b}, who do not reach each other"));
        }
    }
    Ok(())
}

/// Two founders who reach each other: one roster, and one view if the nodes of both could be on one
/// ring.
fn near(
    a: Player,
    one: &Standing,
    b: Player,
    other: &Standing,
    reach: &dyn Fn(Player, Player) -> bool,
    founder: &dyn Fn(Player) -> bool,
) -> Result<(), String> {
    if one.roster != other.roster {
        return Err(format!("m{a} and m{b} reach each other and have different rosters"));
    }
    let (Some(left), Some(right)) = (&one.view, &other.view) else { return Ok(()) };
    // A ring is of nodes that all reach one another, whether their members have joined or not.
    let both: BTreeSet<Player> = one.ring.union(&other.ring).copied().collect();
    let one_could_be = both.iter().all(|x| founder(*x) && both.iter().all(|y| reach(*x, *y)));
    if left.id != right.id && one_could_be {
        return Err(format!("the views of m{a} and m{b} could be one"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tale::{m, p, view};
    use crate::record::Shown;

    fn standing(player: Player, id: u64, members: &[Player]) -> Standing {
        let members: BTreeSet<Player> = members.iter().copied().collect();
        let shown =
            Shown { id: view(id), members: members.clone(), transitional: members.clone(), key: "a".into() };
        Standing {
            process: p(player),
            expected: true,
            view: Some(shown),
            cut_off: BTreeSet::new(),
            ring: members,
            roster: BTreeSet::from([0, 1, 2]),
            gathers: false,
            activity: "steady".into(),
            unacknowledged: Vec::new(),
        }
    }

    /// 0 and 2 do not reach each other.
    fn told(standings: &[Standing]) -> Result<Views, String> {
        judge(standings, &|a, b| (a, b) != (0, 2) && (a, b) != (2, 0), &|_| true)
    }

    fn chain() -> Vec<Standing> {
        vec![standing(0, 4, &[0, 1]), standing(1, 4, &[0, 1]), standing(2, 5, &[2])]
    }

    #[test]
    fn a_chain_at_peace_is_two_views() {
        assert_eq!(told(&chain()).map(|views| views.len()), Ok(3));
        let other = [standing(0, 4, &[0]), standing(1, 5, &[1, 2]), standing(2, 5, &[1, 2])];
        assert!(told(&other).is_ok());
    }

    #[test]
    fn whatever_is_missing_is_said() {
        let all = [0, 1, 2].map(|player| standing(player, 4, &[0, 1, 2]));
        let alone = [0, 1, 2].map(|player| standing(player, 4 + u64::from(player), &[player]));
        let mut homeless = chain();
        homeless[2].view = None;
        let mut waiting = chain();
        waiting[1].unacknowledged = vec![m(1, 0)];
        let mut other_key = chain();
        other_key[1].view.as_mut().into_iter().for_each(|view| view.key = "b".into());
        let mut behind = chain();
        behind[2].roster.remove(&0);
        let mut gone = chain();
        gone.remove(1);
        for (standings, word) in [
            (&all[..], "do not reach"),
            (&alone[..], "could be one"),
            (&homeless[..], "no view"),
            (&waiting[..], "waits for"),
            (&other_key[..], "does not share"),
            (&behind[..], "different rosters"),
            (&gone[..], "does not share"),
        ] {
            let why = told(standings).expect_err(word);
            assert!(why.contains(word), "{why}");
        }
        // The node of 2, whose member has not joined, is on the ring of 1: 0 cannot come to it.
        let mut hidden = [standing(0, 4, &[0]), standing(1, 5, &[1])];
        hidden[1].ring.insert(2);
        assert!(told(&hidden[..]).is_ok());
        // Who is not expected is not asked.
        let mut left = chain();
        left[2].expected = false;
        left[2].view = None;
        assert!(told(&left).is_ok());
    }
}
