//! The two attacks of Zhang et al. on Dutta–Barua by those who once took part (sheet
//! key-agreement, 7.4): against the machine that ships, and against one without the rule.

use super::plan::{PATIENCE, Plan, Story};
use super::world::World;
use folkmoot_agreement::{PrimeGroup, Ristretto};
use folkmoot_base::Digest;
use folkmoot_pubsub::discovery::message::{Said, Signed};
use folkmoot_pubsub::discovery::{Danger, Epoch, epoch_key, share_of};
use std::collections::BTreeMap;

type Element = <Ristretto as PrimeGroup>::Element;
type Words = ([u8; 32], [u8; 32]);

fn plan(seed: u64, new: usize) -> Plan {
    let plan = Plan::of(seed, Story::Exclude);
    Plan { old: 0, new, loss: 0, domains: 1, delay: plan.delay / 4, jitter: 0, ..plan }
}

/// What each speaker said in the agreement on `run`.
fn said(world: &World, run: &Digest) -> BTreeMap<u16, Words> {
    let mut all = BTreeMap::new();
    for (_, bytes) in &world.recorded {
        let Ok((_, body)) = Signed::read(bytes) else { continue };
        if let Said::Round(round) = body.said
            && round.candidate == *run
            && let Some(words) = round.share.zip(round.link)
        {
            all.insert(body.sender, words);
        }
    }
    all
}

fn element(bytes: &[u8; 32]) -> Element {
    Ristretto::decode_any(bytes).unwrap_or_else(Ristretto::identity)
}

/// Every `K` of a circle, from one of them and the links: what each member computes.
fn walk(from: usize, known: Element, links: &[Element]) -> Vec<Element> {
    let onwards = links.iter().cycle().skip(from + 1).take(links.len().saturating_sub(1));
    let mut all = vec![known];
    onwards.for_each(|link| all.push(Ristretto::add(link, all.last().unwrap_or(&known))));
    all
}

fn in_order(epoch: &Epoch, said: &BTreeMap<u16, Words>) -> Vec<Words> {
    epoch.members.iter().filter_map(|uid| said.get(uid).copied()).collect()
}

fn key(world: &World, number: usize) -> Option<Epoch> {
    world.nodes.get(number)?.seats.first()?.keys.last().map(|(_, epoch)| epoch.clone())
}

/// The first attack: whoever is excluded had every `K` of the old circle. If two neighbours keep
/// their shares, one of them is a `K` of the new one, and the new links carry it round. Whether it
/// gets the new key; `None` if the play did not come that far.
pub fn excluded_computes(seed: u64, danger: Option<Danger>) -> Option<bool> {
    const LEAVER: usize = 2;
    let mut world = World::new(&plan(seed, 5 + usize::try_from(seed % 4).ok()?), danger);
    world.records = true;
    let plan = plan(seed, 5 + usize::try_from(seed % 4).ok()?);
    for _ in 0..plan.new {
        world.add();
    }
    world.nodes.get_mut(LEAVER)?.drawn = Some(Vec::new());
    (0..plan.new).for_each(|number| world.start(number));
    if !world.run_until(PATIENCE, World::is_one) {
        return None;
    }
    let old = key(&world, LEAVER)?;
    world.exclude(LEAVER, 0);
    if !world.run_until(PATIENCE, World::is_one) {
        return None;
    }
    let new = key(&world, 0)?;
    let (before, after) = (in_order(&old, &said(&world, &old.run)), in_order(&new, &said(&world, &new.run)));
    let place = old.members.iter().position(|uid| usize::from(*uid) == LEAVER + 1)?;
    let (own, _) = before.get(place)?;
    let drawn = world.nodes.get(LEAVER)?.drawn.as_ref()?;
    let mine = |seed: &&[u8; 32]| Ristretto::raise_generator(&share_of(seed)) == element(own);
    let secret = share_of(drawn.iter().find(mine)?);
    let (next, _) = before.get((place + 1) % before.len())?;
    let links = |said: &[Words]| said.iter().map(|(_, link)| element(link)).collect::<Vec<_>>();
    let known = walk(place, Ristretto::raise(&element(next), &secret), &links(&before));
    let sum = |all: Vec<Element>| {
        Ristretto::encode(&all.iter().fold(Ristretto::identity(), |sum, one| Ristretto::add(&sum, one)))
    };
    let took_part = epoch_key(&old.run, &sum(known.clone()), &before) == *old.key.expose();
    let tries = |one: &Element| {
        let places = 0..after.len();
        places.map(|place| sum(walk(place, *one, &links(&after)))).collect::<Vec<_>>()
    };
    let mut tried = known.iter().flat_map(tries);
    let found = tried.any(|secret| epoch_key(&new.run, &secret, &after) == *new.key.expose());
    took_part.then_some(found)
}

/// The second attack: two malicious neighbours keep their shares, and replay what a member between
/// them once said. Whether others then believe that it has the new key, though it is gone.
pub fn absent_takes_part(seed: u64, danger: Option<Danger>) -> Option<bool> {
    const ABSENT: usize = 2;
    const OUT: usize = 5;
    let plan = plan(seed, 6);
    let mut world = World::new(&plan, danger);
    world.records = true;
    for _ in 0..plan.new {
        world.add();
    }
    for malicious in [ABSENT - 1, ABSENT + 1] {
        world.nodes.get_mut(malicious)?.danger = Some(Danger::Conspires);
    }
    (0..plan.new).for_each(|number| world.start(number));
    if !world.run_until(PATIENCE, World::is_one) {
        return None;
    }
    let old = key(&world, 0)?;
    let of_absent = |bytes: &&bytes::Bytes| {
        let read = Signed::read(bytes);
        read.is_ok_and(|(_, body)| {
            usize::from(body.sender) == ABSENT + 1
                && matches!(&body.said, Said::Round(round) if round.candidate == old.run)
        })
    };
    let words: Vec<_> = world.recorded.iter().map(|(_, bytes)| bytes).filter(of_absent).cloned().collect();
    world.crash(ABSENT);
    world.exclude(OUT, 0);
    for _ in 0..60 {
        words.iter().for_each(|bytes| world.inject(0, bytes, None, 1_000));
        world.run(world.now + 50_000);
    }
    world.run_until(PATIENCE, World::is_one);
    let keys = world.nodes.first()?.seats.first()?.keys.iter();
    let later = keys.filter(|(_, epoch)| epoch.number > old.number);
    let uid = u16::try_from(ABSENT + 1).ok()?;
    Some(later.fold(false, |found, (_, epoch)| found || epoch.members.contains(&uid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pub_52_whoever_is_excluded_does_not_get_the_new_key() {
        for seed in 0..12 {
            assert_eq!(excluded_computes(seed, None), Some(false), "seed {seed}");
        }
    }

    #[test]
    fn without_pub_52_whoever_is_excluded_gets_the_new_key() {
        for seed in 0..12 {
            assert_eq!(excluded_computes(seed, Some(Danger::LeaveAsWritten)), Some(true), "seed {seed}");
        }
    }

    #[test]
    fn pub_48_what_a_member_once_said_does_not_stand_for_it_later() {
        for seed in 0..12 {
            assert_eq!(absent_takes_part(seed, None), Some(false), "seed {seed}");
        }
    }

    #[test]
    fn without_pub_48_two_malicious_members_make_a_third_seem_present() {
        // The replay must come in time: it does in most runs.
        let succeeds = |seed: &u64| absent_takes_part(*seed, Some(Danger::RoundsAsReference)) == Some(true);
        assert!((0..12).filter(succeeds).count() >= 8);
    }
}
