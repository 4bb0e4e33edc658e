//! A few runs, and the rules whose absence shows at once. The full numbers run in `verify` and in
//! `release`.
#![allow(clippy::panic, clippy::indexing_slicing)]

use folkmoot_base::{Danger, Mutant};
use folkmoot_decisions::{People, Tally, World};

fn first_fault(danger: Mutant, steps: usize, seeds: std::ops::Range<u64>) -> Option<String> {
    let people = People::new();
    seeds
        .into_iter()
        .find_map(|seed| World::new(&people, seed, danger).and_then(|mut one| one.run(steps)).err())
}

#[test]
fn a_few_runs_show_no_fault() {
    assert_eq!(first_fault(Mutant::NONE, 60, 1..300), None);
}

/// An effect stands only behind one that was approved after it. The owner carries out both, and who
/// judges that knew both, also a moment after a vote on the first was taken back.
#[test]
fn what_stands_behind_another_effect_was_known_to_who_judges_it() {
    assert_eq!(first_fault(Mutant::NONE, 60, 87_139_578..87_139_579), None);
}

#[test]
fn without_a_rule_a_run_shows_a_fault() {
    use Danger::{LineNoExpiry, LineNoStamps, LineOwnChoice, LineRejoinUnasked};
    for danger in [LineNoStamps, LineNoExpiry, LineOwnChoice, LineRejoinUnasked] {
        assert!(first_fault(Some(danger).into(), 120, 1..600).is_some(), "{danger:?}");
    }
}

#[test]
fn a_run_has_decisions_in_it() {
    let people = People::new();
    let mut seen = Tally::new();
    for seed in 400..800 {
        let mut world = World::new(&people, seed, Mutant::NONE).unwrap_or_else(|fault| panic!("{fault}"));
        world.run(120).unwrap_or_else(|fault| panic!("{fault}"));
        world.tally().into_iter().for_each(|(name, number)| *seen.entry(name).or_default() += number);
    }
    for name in ["decisions", "forks", "rejoins", "keys", "refused", "holdings by people", "sharings"] {
        assert!(seen.get(name).is_some_and(|number| *number > 0), "{name}: {seen:?}");
    }
}
