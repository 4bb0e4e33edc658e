//! Everybody who was not in a run, together: all they ever drew, before and after, every other
//! run's secret, and all that was ever sent. From that, every key of a tree that can be computed is
//! computed. The run's secret must not be among them.

use crate::common::Seeded;
use crate::trees::{Make, Wide, World};
use folkmoot_agreement::PrimeGroup;
use folkmoot_base::Entropy;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Bytes = Vec<u8>;

struct Replay(VecDeque<u8>);

impl Entropy for Replay {
    fn fill(&mut self, out: &mut [u8]) {
        out.iter_mut().for_each(|byte| *byte = self.0.pop_front().unwrap());
    }
}

/// Raises what was sent to what is known, each pair once for all.
#[derive(Default)]
struct Oracle {
    /// (exponent by its blinded value, element) → the key, and its blinded value.
    known: BTreeMap<(Bytes, Bytes), (Bytes, Bytes)>,
}

type Scalar = <Wide as PrimeGroup>::Scalar;

fn blinded(scalar: &Scalar) -> Bytes {
    Wide::encode(&Wide::raise_generator(scalar))
}

impl Oracle {
    /// Whether `target` can be computed from `scalars` and the elements `sent`. Only exponents that
    /// belong to something that was sent lead on: another is the key of no node.
    fn reaches(&mut self, scalars: Vec<Scalar>, sent: &BTreeSet<Bytes>, target: &Bytes) -> bool {
        let mut open: VecDeque<_> = scalars.into_iter().map(|scalar| (blinded(&scalar), scalar)).collect();
        let mut seen: BTreeSet<_> = open.iter().map(|(name, _)| name.clone()).collect();
        while let Some((name, scalar)) = open.pop_front() {
            for element in sent {
                let pair = (name.clone(), element.clone());
                let (key, next) = self.known.entry(pair).or_insert_with(|| {
                    let key = Wide::raise(&Wide::decode_any(element).unwrap(), &scalar);
                    (Wide::encode(&key), blinded(&Wide::to_scalar(b"folkmoot element to exponent v1", &key)))
                });
                if key == target {
                    return true;
                }
                if sent.contains(next) && seen.insert(next.clone()) {
                    let exponent =
                        Wide::to_scalar(b"folkmoot element to exponent v1", &Wide::decode_any(key).unwrap());
                    open.push_back((next.clone(), exponent));
                }
            }
        }
        false
    }

    /// Whether those of `World` for whom `who` holds, together, reach the secret of run number
    /// `run`.
    fn get(
        &mut self,
        world: &World<'_>,
        elements: impl Fn(u8, &[u8]) -> Vec<Bytes>,
        run: usize,
        who: impl Fn(u16) -> bool,
    ) -> bool {
        let steps = world.ran.iter().flat_map(|ran| &ran.steps).chain(&world.lost);
        let mut sent: BTreeSet<_> = steps.flat_map(|(_, step, body)| elements(*step, body)).collect();
        sent.insert(Wide::encode(&Wide::generator()));
        let mut scalars = Vec::new();
        for (_, tape) in world.tapes.iter().filter(|(number, _)| who(**number)) {
            let mut replay = Replay(tape.drawn.iter().copied().collect());
            while !replay.0.is_empty() {
                scalars.push(Wide::draw(&mut replay));
            }
        }
        let others = world.ran.iter().enumerate().filter(|(other, _)| *other != run);
        scalars.extend(others.map(|(_, ran)| {
            Wide::to_scalar(b"folkmoot element to exponent v1", &Wide::decode_any(&ran.secret).unwrap())
        }));
        self.reaches(scalars, &sent, &world.ran[run].secret)
    }
}

/// A random history: one to three groups come together, whole or with some members lost; some
/// members are new, some runs come to nothing, some members miss the end. Then, for every run, all
/// who were not in it try to get its secret.
pub fn history(
    make: Make<'_>,
    elements: impl Fn(u8, &[u8]) -> Vec<Bytes>,
    seed: u64,
    events: usize,
) -> Result<(), String> {
    let mut world = World::new(make);
    let mut dice = Seeded(seed);
    for _ in 0..events {
        let numbers = together(&world, &mut dice);
        match dice.below(5) {
            0 => world.abandon(&numbers, dice.below(8)),
            1 => drop(world.run_adopted(&numbers, |number| number % 2 == 0)),
            _ => drop(world.run(&numbers)),
        }
    }
    let mut oracle = Oracle::default();
    for run in 0..world.ran.len() {
        let members = world.ran[run].members.clone();
        if oracle.get(&world, &elements, run, |number| !members.contains(&number)) {
            return Err(format!("run {run} of {members:?} is open to others"));
        }
        if !oracle.get(&world, &elements, run, |number| number == members[0]) {
            return Err("the oracle is blind".into());
        }
    }
    Ok(())
}

/// Both sides lost a member since their runs, and the two who left pool what they know; a third
/// comes from nowhere.
pub fn lost_sides(make: Make<'_>, elements: impl Fn(u8, &[u8]) -> Vec<Bytes>) {
    let mut world = World::new(make);
    for gone in [[1, 11], [2, 12], [4, 14], [3, 13]] {
        world.held.clear();
        world.run(&[1, 2, 3, 4]);
        world.run(&[11, 12, 13, 14]);
        let mut stay: Vec<u16> = [1, 2, 3, 4, 11, 12, 13, 14, 20].to_vec();
        stay.retain(|number| !gone.contains(number));
        world.run(&stay);
        let (last, mut oracle) = (world.ran.len() - 1, Oracle::default());
        assert!(!oracle.get(&world, &elements, last, |number| gone.contains(&number)));
        for before in [last - 1, last - 2] {
            assert!(!oracle.get(&world, &elements, before, |number| number == 20), "the newcomer");
        }
    }
}

/// Who takes part next, of twelve.
fn together(world: &World<'_>, dice: &mut Seeded) -> Vec<u16> {
    let mut groups: BTreeMap<_, Vec<u16>> = BTreeMap::new();
    for number in 0..12 {
        let run = world.held.get(&number).map_or([number.to_be_bytes()[1]; 32], |held| held.0.run);
        groups.entry(run).or_default().push(number);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    let mut numbers = Vec::new();
    for _ in 0..=dice.below(3) {
        if !groups.is_empty() {
            numbers.append(&mut groups.swap_remove(dice.below(groups.len())));
        }
    }
    if dice.below(2) == 0 {
        let lost = numbers.len() / 2;
        for _ in 0..dice.below(lost + 1) {
            numbers.swap_remove(dice.below(numbers.len()));
        }
    }
    numbers.sort_unstable();
    numbers
}
