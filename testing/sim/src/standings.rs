//! How everybody stands, and whether the world is at rest.

use crate::machine::Picture;
use crate::record::{Player, Standing};
use crate::world::World;
use std::collections::BTreeSet;

/// How each living player stands, and whether it should be in the one view.
pub fn standings(world: &World) -> Vec<Standing> {
    let pictures: Vec<_> = world
        .living()
        .into_iter()
        .filter_map(|player| Some((player, world.machine(player)?.picture())))
        .collect();
    // Whoever is out itself may have cut others off, and asks its clock no more.
    let knows = |(player, picture): &&(Player, Picture)| {
        let is_in = world.chair(*player).is_some_and(|chair| picture.roster.contains(&chair.player));
        is_in && !world.is_misled(*player)
    };
    let honest = pictures.iter().filter(knows);
    let removed: BTreeSet<Player> = honest.flat_map(|(_, picture)| picture.removed.clone()).collect();
    let mut out = Vec::new();
    for (player, picture) in pictures {
        let Some(chair) = world.chair(player) else { continue };
        let rostered = picture.roster.contains(&chair.player);
        out.push(Standing {
            process: chair.process(),
            expected: rostered
                && !removed.contains(&chair.player)
                && !chair.wishes.away
                && !world.is_reigned()
                && !world.is_misled(player),
            view: chair.view.clone(),
            cut_off: world.cut_off(&picture),
            roster: picture.roster,
            ring: picture.ring,
            gathers: picture.gathers,
            activity: picture.activity,
            unacknowledged: chair.pending.iter().copied().collect(),
        });
        out.extend(second(world, player, out.last(), &removed));
    }
    out
}

/// How the second program stands that runs beside `first`.
fn second(
    world: &World,
    place: Player,
    first: Option<&Standing>,
    removed: &BTreeSet<Player>,
) -> Option<Standing> {
    let (chair, first) = (world.second(place)?, first?);
    let member = world.chair(place)?.player;
    let led = world.is_reigned() || world.is_misled(place);
    let in_group = first.roster.contains(&member) && !removed.contains(&member) && !led;
    Some(Standing {
        process: chair.process(),
        expected: in_group && !chair.wishes.away,
        view: chair.view.clone(),
        unacknowledged: chair.pending.iter().copied().collect(),
        ..first.clone()
    })
}

/// Whether all who are expected are in one view of exactly them, under one key and one roster, with
/// nothing pending and rings that stand.
pub fn at_rest(standings: &[Standing]) -> bool {
    let expected: BTreeSet<Player> =
        standings.iter().filter(|one| one.expected).map(|one| one.process.player).collect();
    let mut first = None;
    for one in standings.iter().filter(|one| one.expected) {
        let Some(view) = one.view.as_ref() else { return false };
        let same = first.get_or_insert((view.id, view.key.clone(), one.roster.clone()));
        let agrees = *same == (view.id, view.key.clone(), one.roster.clone());
        let pending = !one.unacknowledged.is_empty() || one.gathers;
        if !agrees || view.members != expected || pending {
            return false;
        }
    }
    true
}
