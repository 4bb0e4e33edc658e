//! Whatever the network does, the shipped stacks keep every promise, and a run is its seed. The
//! tests play drawn schedules and judge them. They play some twice, in fresh processes, and compare
//! their transcripts. The full numbers run in `cargo xtask verify` and `cargo xtask release`. A few
//! run here, so that a change shows at once.

use folkmoot_base::{Keying, ModuleName};
use folkmoot_identity::Scheme;
use folkmoot_sim::Record;
use folkmoot_sim::aim::Aim;
use folkmoot_sim::lie::Lie;
use folkmoot_sim::net::CALM;
use folkmoot_sim::record::What;
use folkmoot_sim::schedule::{Schedule, Step, When};
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

/// Nodes that are carriers, with keys and a charter of their own, and another group beside the
/// players'.
#[test]
fn a_few_schedules_with_carriers_break_nothing() {
    let drawn = (0..).map(Schedule::draw).filter(folkmoot_sim::carriers::fits);
    for schedule in drawn.take(4) {
        let (outcome, record) = folkmoot_sim::run(&schedule, company, Options::default());
        let seed = schedule.seed;
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

/// The clock of 1 goes wrong, the network comes apart, and the clock is right again.
fn with_a_wrong_clock(ahead: Option<i64>) -> Schedule {
    let second = |step| (When::After(1_000_000), step);
    let mut steps = vec![second(Step::Rest(500_000)), second(Step::Clock { who: 1, ahead })];
    steps.extend((0..2).map(|who| second(Step::Admit { who, contact: 0, yes: 0xff })));
    steps.push(second(Step::Rest(2_000_000)));
    steps.push(second(Step::Electorate { by: 0, voters: 0b1111 }));
    steps.push(second(Step::Rest(4_000_000)));
    steps.push(second(Step::Split(0b1)));
    steps.push(second(Step::Rest(2_000_000)));
    steps.push(second(Step::Heal));
    steps.push(second(Step::Clock { who: 0, ahead: Some(0) }));
    let drawn = Schedule { players: 6, founders: 4, votes: 2, robbed: true, far: 0, ..Schedule::draw(1) };
    Schedule { weather: CALM, calm: false, steps, ..drawn }
}

#[test]
fn a_clock_that_was_wrong_cuts_nobody_off() {
    for ahead in [None, Some(400 * 86_400), Some(-400 * 86_400)] {
        let (outcome, _) = folkmoot_sim::run(&with_a_wrong_clock(ahead), company, Options::default());
        assert!(outcome.violations.is_empty(), "{ahead:?}: {:#?}", outcome.violations);
    }
}

/// A founder who was alone at first and was expelled lies to 4: away since before the others had
/// votes, or there all the time.
fn lied_to(away: bool) -> Schedule {
    let second = |step| (When::After(1_000_000), step);
    let mut steps = vec![second(Step::Rest(0))];
    steps.extend((0..4).map(|who| second(Step::Admit { who, contact: 0, yes: 0xff })));
    steps.push(second(Step::Rest(0)));
    if away {
        steps.push(second(Step::Crash { who: 4, after: None }));
    }
    steps.push(second(Step::Electorate { by: 0, voters: 0b1111 }));
    steps.push(second(Step::Rest(4_000_000)));
    steps.push(second(Step::Expel { by: 1, who: 0, yes: 0xff }));
    steps.push(second(Step::Rest(4_000_000)));
    steps.push(second(Step::Split(0b10000)));
    steps.push((When::After(0), Step::Restart(0)));
    let lies = [Lie::Fork, Lie::Fork, Lie::Words, Lie::Fork, Lie::Comeback { knows: None }, Lie::Fork];
    steps.extend(lies.map(|how| second(Step::Lie { how, to: 4 })));
    steps.extend([second(Step::Heal), second(Step::Rest(9_000_000))]);
    let drawn = Schedule { players: 5, founders: 1, votes: 1, robbed: true, far: 0, ..Schedule::draw(1) };
    Schedule { weather: CALM, calm: false, steps, ..drawn }
}

/// The strangers whom somebody had on its roster, and the names under the forks that it knows.
fn told(record: &Record, player: u8) -> (usize, Vec<Option<u8>>) {
    let entries = record.entries.iter().filter(|entry| entry.process.player == player);
    let mut told = (0, Vec::new());
    for entry in entries {
        match &entry.what {
            What::Strangers(count) => told.0 = told.0.max(*count),
            What::Fork(_, liars) => told.1.extend(liars),
            _ => {}
        }
    }
    told
}

#[test]
fn whoever_was_away_is_not_protected_and_others_are_told() {
    let (outcome, record) = folkmoot_sim::run(&lied_to(true), company, Options::default());
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
    assert!(outcome.counts.lies > 4);
    assert_eq!((outcome.counts.misled, outcome.counts.shown), (1, 1));
    assert_eq!(told(&record, 4).0, 2, "it admits whom the former founder let in");
    for honest in 1..4 {
        let other_line = |what: &What| *what == What::OtherLine(4);
        let entries = record.entries.iter().filter(|entry| entry.process.player == honest);
        assert!(entries.clone().any(|entry| other_line(&entry.what)), "{honest} tells its person");
        assert_eq!(told(&record, honest), (0, vec![Some(0)]), "with the name of the one who signed both");
    }
}

#[test]
fn whoever_has_heard_of_the_expulsion_is_protected() {
    let (outcome, record) = folkmoot_sim::run(&lied_to(false), company, Options::default());
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
    assert!(outcome.counts.lies > 4);
    assert_eq!((outcome.counts.misled, outcome.counts.shown), (0, 0));
    assert!((1..5).all(|player| told(&record, player).0 == 0));
    assert!(told(&record, 4).1.contains(&Some(0)), "and names who signed both");
}

#[test]
fn a_few_takeovers_break_nothing() {
    for seed in 1..=2 {
        let mut schedule = Schedule::draw(seed);
        Aim::Takeover.take(&mut schedule);
        let (outcome, record) = folkmoot_sim::run(&schedule, company, Options::default());
        assert!(outcome.violations.is_empty(), "seed {seed}: {:#?}", outcome.violations);
        assert!(record.settled && outcome.counts.lies > 0);
    }
}
