//! The promises of every module.

use super::mischief::{alter, annoy, play_out, repeat};
use super::outsiders::{earlier_secrets_stay_out_of_reach, the_last_secret_stays_in};
use crate::common::Seeded;
use crate::world::{Make, Verdict, World, ensure, ids};
use folkmoot_agreement::{AgreementError, Origin, Plan};
use std::collections::BTreeSet;

/// A random history of `events` changes among groups of at most `most`: joins, leaves, merges, all
/// of them at once, refreshes, runs that come to nothing, splits in the last moment, lost states.
pub fn script(make: Make<'_>, seed: u64, events: usize, most: usize) -> Verdict {
    let mut world = World::new(make, seed);
    let mut groups: Vec<BTreeSet<u16>> = Vec::new();
    let mut next = 0;
    for _ in 0..events {
        let mut view = gather(&mut world.dice, &mut groups, most);
        leave(&mut world.dice, &mut groups, &mut view);
        join(&mut world.dice, &mut view, &mut next, most);
        if world.dice.below(8) == 0 {
            world.holdings.remove(view.first().unwrap());
        }
        while world.dice.below(3) == 0 {
            let steps = world.dice.below(2 * view.len() + 1);
            world.abandon(&list(&view), steps)?;
            if world.dice.below(2) == 0 {
                leave(&mut world.dice, &mut groups, &mut view);
            } else {
                join(&mut world.dice, &mut view, &mut next, most);
            }
        }
        let left_behind = if world.dice.below(6) == 0 { view.len() / 2 } else { 0 };
        let behind: BTreeSet<_> = view.iter().copied().take(left_behind).collect();
        world.complete(&list(&view), |number| !behind.contains(&number))?;
        the_last_secret_stays_in(&mut world)?;
        earlier_secrets_stay_out_of_reach(&mut world)?;
        view.retain(|number| !behind.contains(number));
        groups.extend([behind, view].into_iter().filter(|group| !group.is_empty()));
    }
    Ok(())
}

fn list(view: &BTreeSet<u16>) -> Vec<u16> {
    view.iter().copied().collect()
}

/// One to three groups come together, as far as there is room.
fn gather(dice: &mut Seeded, groups: &mut Vec<BTreeSet<u16>>, most: usize) -> BTreeSet<u16> {
    let mut view = BTreeSet::new();
    for _ in 0..=dice.below(3) {
        if groups.is_empty() {
            break;
        }
        let place = dice.below(groups.len());
        if view.len() + groups[place].len() <= most {
            view.append(&mut groups.swap_remove(place));
        }
    }
    view
}

/// Some go, together; somebody stays.
fn leave(dice: &mut Seeded, groups: &mut Vec<BTreeSet<u16>>, view: &mut BTreeSet<u16>) {
    if view.len() < 2 || dice.below(2) == 0 {
        return;
    }
    let mut gone = BTreeSet::new();
    for _ in 0..=dice.below(view.len() - 1) {
        let leaver = *view.iter().nth(dice.below(view.len())).unwrap();
        if view.len() > 1 {
            view.remove(&leaver);
            gone.insert(leaver);
        }
    }
    groups.push(gone);
}

/// Some come who were never here; somebody, if nobody is there.
fn join(dice: &mut Seeded, view: &mut BTreeSet<u16>, next: &mut u16, most: usize) {
    let wish = [0, 0, 1, 1, 2, 3][dice.below(6)];
    let least = usize::from(view.is_empty());
    for _ in 0..wish.max(least).min(most.saturating_sub(view.len())) {
        view.insert(*next);
        *next += 1;
    }
}

/// From nothing, one joins, one leaves who came in the middle, the first and the last leave, a
/// refresh, and two halves merge.
pub fn sizes(make: Make<'_>, sizes: &[u16]) -> Verdict {
    for size in sizes {
        let mut world = World::new(make, u64::from(*size));
        let mut view: Vec<_> = (1..=*size).collect();
        let refresh = |world: &mut World<'_>, view: &[u16]| {
            world.complete(view, |_| true).map_err(|wrong| format!("{size} members: {wrong}"))
        };
        refresh(&mut world, &view)?;
        if *size < 64 {
            view.push(size + 1);
            refresh(&mut world, &view)?;
        }
        view.remove(view.len() / 2);
        if !view.is_empty() {
            refresh(&mut world, &view)?;
            refresh(&mut world, &view)?;
        }
        if view.len() > 2 {
            view.pop();
            view.remove(0);
            refresh(&mut world, &view)?;
        }
        if view.len() > 1 {
            let (left, right) = view.split_at(view.len() / 2);
            refresh(&mut world, left)?;
            refresh(&mut world, right)?;
            refresh(&mut world, &view)?;
        }
    }
    Ok(())
}

/// Honest runs of every kind, with every step that is not due tried before the one that is.
pub fn mischief(make: Make<'_>, seed: u64) -> Verdict {
    let mut world = World::new(make, seed);
    for view in histories(&mut world.dice) {
        let mut running = world.start(&view)?;
        while let Some((from, step, decides, body)) = running.next(&mut world.dice) {
            annoy(&mut running, &(from, step, body.clone()))?;
            world.deliver(&mut running, (from, step, body), decides)?;
            repeat(&mut running, &mut world.dice)?;
        }
        world.finish(&mut running, |_| true)?;
        world.bury(running);
    }
    Ok(())
}

/// Every kind of change, one step altered in each.
pub fn altered(make: Make<'_>, seed: u64) -> Verdict {
    let mut world = World::new(make, seed);
    for view in histories(&mut world.dice) {
        for _ in 0..3 {
            let steps = world.dice.below(2 * view.len());
            let mut running = world.run(&view, steps)?;
            if alter(&mut world, &mut running)? {
                play_out(&mut world, &mut running)?;
            } else {
                while world.advance(&mut running)?.is_some() {}
                running.agreed()?;
            }
            world.bury(running);
        }
        world.complete(&view, |_| true)?;
    }
    Ok(())
}

/// From nothing, a refresh, one and several join, one and several leave, two groups merge and some
/// leave at once.
fn histories(dice: &mut Seeded) -> Vec<Vec<u16>> {
    let size = 3 + u16::try_from(dice.below(3)).unwrap();
    let all: Vec<_> = (0..size).collect();
    let one_more: Vec<_> = (0..=size).collect();
    let three_more: Vec<_> = (0..size + 4).collect();
    let without_last: Vec<_> = (0..size + 3).collect();
    let without_first: Vec<_> = (2..size + 3).collect();
    let others: Vec<_> = (40..43).collect();
    let merged = [&without_first[1..], &others].concat();
    vec![all.clone(), all, one_more, three_more, without_last, without_first, others, merged, vec![2]]
}

/// A history whose last secret changes with the entropy of any one of its last members.
pub fn contributes(make: Make<'_>, seed: u64) -> Verdict {
    let history: [&[u16]; 5] =
        [&[0, 1, 2, 3, 4], &[0, 1, 3, 4], &[0, 1, 3, 4, 5], &[0, 1, 3, 4, 5, 6, 7], &[1, 3, 4, 5, 7]];
    for view in history {
        let outcome = |changed: Option<u16>| {
            let mut world = World::new(make, seed);
            changed.iter().for_each(|number| world.stream(*number, Seeded(0xc0ffee)));
            for earlier in history {
                world.complete(earlier, |_| true)?;
                if earlier == view {
                    break;
                }
            }
            world.records.last().unwrap().secret.clone().ok_or("no secret".to_owned())
        };
        let before = outcome(None)?;
        for number in view {
            ensure!(outcome(Some(*number))? != before, "the share of {number} does not count among {view:?}");
        }
    }
    Ok(())
}

/// A member that lacks what the plan says it brings, or whose state contradicts the plan, begins
/// nothing and says whose fault it is.
pub fn origins(make: Make<'_>, seed: u64) -> Verdict {
    let mut world = World::new(make, seed);
    world.complete(&[0, 1, 2, 3], |_| true)?;
    let origin = |number: u16| world.holdings.get(&number).map(|held| held.origin);
    let Some(honest) = (0..4).map(origin).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let mine = world.holdings[&0].kept.clone();
    let begin = |members: &[u16], origins: Vec<Option<Origin>>, kept| {
        make(&Plan::with_origins(&ids(members), 0, origins).unwrap(), kept).err()
    };
    let all = |origins: &[Origin]| origins.iter().copied().map(Some).collect::<Vec<_>>();
    let absent = begin(&[0, 1, 2, 3], all(&honest), None);
    ensure!(absent == Some(AgreementError::LocalKept), "begun without its state: {absent:?}");
    let mut swapped = honest.clone();
    swapped.swap(1, 2);
    let lie = begin(&[0, 1, 2, 3], all(&swapped), Some(&mine));
    ensure!(lie == Some(AgreementError::PeerOrigin { from: 1 }), "swapped ranks: {lie:?}");
    let stranger = begin(&[0, 1, 2, 9], all(&honest), Some(&mine));
    ensure!(stranger == Some(AgreementError::PeerOrigin { from: 3 }), "a stranger's claim: {stranger:?}");
    let mut beyond = honest.clone();
    beyond[2].rank = u32::MAX;
    let beyond = begin(&[0, 1, 2, 3], all(&beyond), Some(&mine));
    ensure!(beyond == Some(AgreementError::PeerOrigin { from: 2 }), "no such rank: {beyond:?}");
    let mut own = honest;
    own[0].rank = own[1].rank;
    let own = begin(&[0, 1, 2, 3], all(&own), Some(&mine));
    ensure!(own == Some(AgreementError::LocalKept), "the own rank is wrong: {own:?}");
    Ok(())
}
