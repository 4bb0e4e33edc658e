//! Groups of which an attacker has former keys, and whose clocks are wrong: what once broke a
//! promise there, shrunk, is played again. Each tale says what went wrong.

use folkmoot_base::Danger;
use folkmoot_identity::Scheme;
use folkmoot_sim::aim::Aim;
use folkmoot_sim::lie::Lie;
use folkmoot_sim::schedule::{Hook, Schedule, Step, When};
use folkmoot_sim::stack::company;
use folkmoot_sim::world::Options;

const fn at(micros: u64, step: Step) -> (When, Step) {
    (When::After(micros), step)
}

const fn on(word: &'static str, micros: u64, step: Step) -> (When, Step) {
    (When::On(Hook { layer: "admission", word }, micros), step)
}

/// The promises that these steps break, with the players, weather and draws of `seed`.
fn broken(seed: u64, steps: Vec<(When, Step)>, danger: Option<Danger>) -> Vec<String> {
    broken_by(Scheme::Plain, seed, steps, danger)
}

fn broken_by(scheme: Scheme, seed: u64, steps: Vec<(When, Step)>, danger: Option<Danger>) -> Vec<String> {
    let drawn = drawn(scheme, seed);
    played(&Schedule { steps, ..drawn }, danger)
}

fn drawn(scheme: Scheme, seed: u64) -> Schedule {
    let mut schedule = Schedule::draw(seed);
    Aim::Takeover.take(&mut schedule);
    folkmoot_sim::signing::take(&mut schedule, scheme);
    schedule
}

fn played(schedule: &Schedule, danger: Option<Danger>) -> Vec<String> {
    let options = Options { danger: danger.map(|danger| (danger, None)), ..Options::default() };
    let (outcome, _) = folkmoot_sim::run(schedule, company, options);
    outcome.violations.iter().map(|violation| format!("{violation:?}")).collect()
}

/// A clock jumps forty days ahead and back. Its member put somebody out meanwhile, and was in a
/// view alone: the other has not heard of that, and does not come from there.
#[test]
fn who_was_in_a_view_alone_by_a_wrong_clock_came_along_with_nobody() {
    let steps = || {
        vec![
            at(125_774, Step::Admit { who: 3, contact: 0, yes: 255 }),
            at(4_700_086, Step::Crash { who: 0, after: None }),
            at(3_136_280, Step::Rest(0)),
            at(14_600, Step::Clock { who: 0, ahead: Some(40 * 86_400) }),
            at(45_323, Step::Clock { who: 0, ahead: Some(0) }),
        ]
    };
    assert_eq!(broken(48_001_414, steps(), None), [""; 0]);
    let broken = broken(48_001_414, steps(), Some(Danger::FlushFromAnyView));
    assert!(broken.iter().any(|one| one.contains("transitional-set-2")), "{broken:?}");
}

/// A stranger has been shown a certificate of somebody expelled whose votes ran out. It starts
/// again: its store does not let the other in while its clock says better.
#[test]
fn a_start_lets_nobody_in_by_votes_that_ran_out() {
    let steps = vec![
        at(1_500_000, Step::Rest(0)),
        at(42_945, Step::Admit { who: 0, contact: 0, yes: 255 }),
        at(141_590, Step::Admit { who: 1, contact: 0, yes: 255 }),
        at(249_998, Step::Admit { who: 2, contact: 0, yes: 255 }),
        at(0, Step::Clock { who: 4, ahead: None }),
        at(2_500_000, Step::Rest(0)),
        at(3_652_616, Step::Part(4, 5)),
        at(71_314, Step::Turn(0)),
        on("closed", 1_138, Step::Turn(0)),
        at(3_583_715, Step::Expel { by: 3, who: 0, yes: 255 }),
        at(2_990_827, Step::Rest(0)),
        at(0, Step::Sleep(4 * 86_400)),
        at(179_495, Step::Lie { how: Lie::Named, to: 5 }),
        at(476_597, Step::Lie { how: Lie::Kept, to: 0 }),
        at(156_348, Step::Lie { how: Lie::Fork, to: 1 }),
        on("closed", 1_998, Step::Lie { how: Lie::Comeback { knows: None }, to: 3 }),
        at(22_574, Step::Lie { how: Lie::Package, to: 5 }),
        at(2_638_379, Step::Heal),
        at(155_866, Step::Crash { who: 4, after: Some(3) }),
        (When::On(Hook { layer: "ring", word: "commit" }, 181), Step::Admit { who: 4, contact: 4, yes: 219 }),
    ];
    assert_eq!(broken(48_000_565, steps, None), [""; 0]);
}

/// A clock is lost in the middle of a ballot, as with an empty battery: the voter waits. It was
/// called again at once, and so without end (ADM-55).
#[test]
fn nothing_of_a_ballot_is_due_while_there_is_no_clock() {
    let steps = || {
        vec![
            at(1_450_480, Step::Expel { by: 4, who: 2, yes: 255 }),
            on("starts a signing session: authority", 1_409, Step::Split(66)),
            at(689_866, Step::Change { by: 2, what: 12 }),
            at(0, Step::Clock { who: 1, ahead: None }),
            at(4_231_359, Step::Electorate { by: 3, voters: 39 }),
        ]
    };
    assert_eq!(broken_by(Scheme::Asm, 5_400_092, steps(), None), [""; 0]);
    let broken = broken_by(Scheme::Asm, 5_400_092, steps(), Some(Danger::AdmissionDueWithoutClock));
    assert!(broken.iter().any(|one| one.contains("no-disturbance")), "{broken:?}");
}

/// A member without a clock makes a key with somebody whose votes have run out. Its clock is set
/// before all have confirmed: the key is used there as at the others.
#[test]
fn a_clock_that_comes_while_a_key_is_made_does_not_part_those_who_made_it() {
    let schedule = drawn(Scheme::Asm, 5_600_020);
    assert_eq!(played(&schedule, None), [""; 0]);
    let broken = played(&schedule, Some(Danger::LineOverIsOut));
    assert!(broken.iter().any(|one| one.contains("transitional-set-2")), "{broken:?}");
}

/// Voters who lie together speak with their clocks. What one of them had said went out with the
/// next input only, which was a forged frame, and looked as if that had had an effect.
#[test]
fn what_liars_say_is_not_laid_to_a_forged_frame() {
    assert_eq!(played(&drawn(Scheme::Plain, 560_003_148), None), [""; 0]);
}
