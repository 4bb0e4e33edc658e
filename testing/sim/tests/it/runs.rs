//! Whatever the network does, the shipped stacks keep every promise, and a run is its seed. The
//! tests play drawn schedules and judge them. They play some twice, in fresh processes, and compare
//! their transcripts. The full numbers run in `cargo xtask verify` and `cargo xtask release`. A few
//! run here, so that a change shows at once.

use folkmoot_base::{Keying, ModuleName};
use folkmoot_identity::Scheme;
use folkmoot_sim::aim::Aim;
use folkmoot_sim::record::What;
use folkmoot_sim::schedule::Schedule;
use folkmoot_sim::stack::company;
use folkmoot_sim::world::Options;
use std::process::Command;

#[test]
fn a_few_drawn_schedules_break_nothing() {
    for seed in 1..=3 {
        let (outcome, record) = folkmoot_sim::run(&Schedule::draw(seed), company, Options::default());
        assert!(outcome.violations.is_empty(), "seed {seed}: {:#?}", outcome.violations);
        assert!(record.settled && outcome.counts.views > 0);
    }
}

#[test]
fn a_few_schedules_with_ml_kem_break_nothing() {
    for (seed, module) in (1..=2).zip([ModuleName::Ckd, ModuleName::Mls]) {
        let keying = Keying::Module(module);
        let schedule = Schedule { keying, hybrid: true, ..Schedule::draw(seed) };
        let (outcome, record) = folkmoot_sim::run(&schedule, company, Options::default());
        assert!(outcome.violations.is_empty(), "seed {seed}: {:#?}", outcome.violations);
        assert!(record.settled && outcome.counts.views > 0);
    }
}

#[test]
fn a_few_schedules_of_every_scheme_break_nothing() {
    for (scheme, seeds) in [(Scheme::Asm, 1..=4), (Scheme::Frost, 1..=2), (Scheme::TsDsa, 1..=2)] {
        for seed in seeds {
            let mut schedule = Schedule::draw(seed);
            folkmoot_sim::signing::take(&mut schedule, scheme);
            let (outcome, record) = folkmoot_sim::run(&schedule, company, Options::default());
            assert!(outcome.violations.is_empty(), "{scheme:?} seed {seed}: {:#?}", outcome.violations);
            let decided = |what: &What| matches!(what, What::Minute(_));
            assert!(record.settled && record.entries.iter().any(|entry| decided(&entry.what)));
        }
    }
}

#[test]
fn a_run_is_its_seed_in_fresh_processes() {
    let digests = || {
        let mut program = Command::new(env!("CARGO_BIN_EXE_folkmoot-sim"));
        let output = program.args(["--schedules", "3", "--seed", "40", "--digest"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (first, second) = (digests(), digests());
    assert_eq!(first, second);
    assert_eq!(first.lines().count(), 3);
}

/// An aim whose proposals nobody votes for any more would still break nothing.
#[test]
fn schedules_that_aim_at_the_charter_change_it() {
    let granted = |seed| {
        let mut schedule = Schedule::draw(seed);
        Aim::Charter.take(&mut schedule);
        let (outcome, record) =
            folkmoot_sim::run(&schedule, company, Options { notes: true, ..Options::default() });
        assert!(outcome.violations.is_empty(), "seed {seed}: {:#?}", outcome.violations);
        let is_granted = |text: &str| text.contains("in the charter is closed: Granted");
        record
            .entries
            .iter()
            .filter(|entry| matches!(&entry.what, What::Note(_, text) if is_granted(text)))
            .count()
    };
    assert!((1..=4).map(granted).sum::<usize>() > 4);
}
