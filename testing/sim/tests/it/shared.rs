//! Groups whose voters sign together: what once broke a promise there, shrunk, is played again.
//! Each tale says what went wrong.

use folkmoot_base::{Danger, Service};
use folkmoot_identity::Scheme;
use folkmoot_sim::schedule::{Hook, Schedule, Step, When};
use folkmoot_sim::stack::company;
use folkmoot_sim::world::Options;

const fn at(micros: u64, step: Step) -> (When, Step) {
    (When::After(micros), step)
}

const fn on(word: &'static str, micros: u64, step: Step) -> (When, Step) {
    (When::On(Hook { layer: "admission", word }, micros), step)
}

const fn crash(who: u8) -> Step {
    Step::Crash { who, after: None }
}

const fn put_back(who: u8) -> Step {
    Step::RestartOld { who, back: 100 }
}

/// Plays these steps with the players, weather and draws of `seed`. Whether all come to rest in one
/// view.
fn settles(scheme: Scheme, seed: u64, steps: Vec<(When, Step)>) -> bool {
    let schedule = schedule(scheme, seed, steps);
    let (outcome, record) = folkmoot_sim::run(&schedule, company, Options::default());
    assert!(outcome.violations.is_empty(), "{scheme:?} seed {seed}: {:#?}", outcome.violations);
    record.settled
}

fn schedule(scheme: Scheme, seed: u64, steps: Vec<(When, Step)>) -> Schedule {
    let mut schedule = Schedule::draw(seed);
    folkmoot_sim::signing::take(&mut schedule, scheme);
    schedule.steps = steps;
    schedule
}

/// Whether the same breaks a promise if this is broken at every player.
fn breaks(danger: Danger, scheme: Scheme, seed: u64, steps: Vec<(When, Step)>) -> bool {
    let options = Options { danger: Some((danger, None)), ..Options::default() };
    let (outcome, _) = folkmoot_sim::run(&schedule(scheme, seed, steps), company, options);
    !outcome.violations.is_empty()
}

/// A voter whose disk was put back votes over an old decision. Then it hears that it lost its vote
/// and got it again: what it said before counts no more (LINE-12).
#[test]
fn a_vote_from_before_its_voters_place_is_not_missed() {
    let steps = vec![
        at(1_271_188, Step::Electorate { by: 3, voters: 74 }),
        at(584_720, Step::Restart(3)),
        at(401_758, crash(3)),
        at(341_838, put_back(3)),
        at(1_163_214, Step::Electorate { by: 2, voters: 89 }),
        at(12_034, Step::Admit { who: 0, contact: 0, yes: 255 }),
        on("starts a signing session: found", 2_743, crash(1)),
        on("takes part in a signing session: found", 1_146, Step::Crash { who: 3, after: Some(3) }),
        at(69_911, Step::Restart(3)),
    ];
    assert!(settles(Scheme::Frost, 500_742, steps));
}

/// Two of three disks are put back before the third member has told anybody what was decided: the
/// line forks, and each side has a key of its own.
#[test]
fn where_disks_were_put_back_each_side_of_a_fork_has_one_key() {
    let steps = vec![
        at(1_500_000, Step::Rest(0)),
        at(875_147, Step::Rest(0)),
        on("takes part in a signing session: reshare", 2_363, Step::Leave(3)),
        at(375_262, Step::Rest(0)),
        on("starts a signing session: reshare", 1_670, Step::Crash { who: 3, after: Some(0) }),
        at(662_525, crash(0)),
        at(680_025, put_back(0)),
        at(121_332, crash(1)),
        at(420_409, put_back(1)),
        at(9_940_665, Step::Rest(0)),
    ];
    // The sides are shown to persons, who decide.
    assert!(!settles(Scheme::Frost, 500_426, steps));
}

/// A process ends between the admission and what follows from it. It had the request open for good,
/// and nobody signed it.
#[test]
fn a_request_that_was_granted_before_a_stop_is_closed_after_it() {
    let sends = || Step::Send { who: 3, service: Service::Agreed, bytes: 64, count: 4 };
    let steps = vec![
        at(228_273, Step::Admit { who: 0, contact: 0, yes: 255 }),
        at(329_414, Step::Deaf { who: 1, micros: 3_651_954, room: 4 }),
        at(224_342, sends()),
        at(177_455, sends()),
        at(149_968, Step::RestartOld { who: 5, back: 13 }),
    ];
    assert!(settles(Scheme::Asm, 700_320, steps));
}

/// A founder is expelled, and admitted again. Its disk is put back: it hears of both at once.
#[test]
fn who_hears_at_once_that_it_was_put_out_and_is_back_joins_again() {
    let steps = vec![
        at(369_051, Step::Expel { by: 1, who: 0, yes: 255 }),
        at(897_889, Step::Rest(0)),
        at(1_493_454, Step::Again(3)),
        at(699_883, crash(3)),
        at(121_621, put_back(3)),
    ];
    assert!(settles(Scheme::Frost, 500_117, steps));
}

/// A member with two programs is expelled, and admitted again: both join.
#[test]
fn a_second_program_joins_again_too() {
    let steps = vec![
        at(53_010, Step::Change { by: 5, what: 11 }),
        at(13_943_421, Step::Rest(0)),
        at(294_619, Step::Admit { who: 5, contact: 0, yes: 255 }),
        at(34_806, Step::Expel { by: 0, who: 3, yes: 255 }),
        at(538_036, put_back(2)),
        at(8_052_056, Step::Rest(0)),
        at(42_853, Step::Again(4)),
    ];
    assert!(settles(Scheme::TsDsa, 700_131, steps));
}

/// Whoever was expelled asks again, and its disk is put back: it asks no more.
#[test]
fn who_has_forgotten_that_it_asked_is_not_waited_for() {
    let steps = vec![
        at(230_018, Step::Expel { by: 1, who: 0, yes: 255 }),
        at(1_286_503, Step::Admit { who: 4, contact: 4, yes: 255 }),
        at(543_574, Step::Rest(0)),
        on("speaks in a signing session", 3_380, Step::Split(3)),
        at(223_514, Step::Again(6)),
        at(842_459, Step::Rest(0)),
        on("entry of a decision handed over", 3_369, crash(4)),
        at(78_893, crash(6)),
        at(753_530, put_back(6)),
    ];
    assert!(settles(Scheme::Asm, 821_040, steps));
}

/// The voters sign together while they decide that three votes admit: what two have signed is
/// not enough.
#[test]
fn what_was_signed_before_more_were_asked_for_is_signed_again() {
    let steps = vec![
        at(822_174, Step::Restart(1)),
        at(6_015_046, Step::Rest(0)),
        at(784_327, Step::Change { by: 6, what: 12 }),
        at(104_244, Step::Admit { who: 4, contact: 1, yes: 255 }),
    ];
    assert!(settles(Scheme::Asm, 41, steps));
}

/// A vote that let somebody in loses its place. While that stranger asks again, the voters hold it:
/// its request is over then.
#[test]
fn who_is_held_while_it_asks_again_waits_for_nothing() {
    let steps = vec![
        at(1_500_000, Step::Rest(0)),
        at(761_252, Step::Admit { who: 1, contact: 0, yes: 255 }),
        at(53_508, Step::Electorate { by: 0, voters: 45 }),
        at(187_318, Step::Rest(0)),
        at(233_515, Step::Part(2, 2)),
    ];
    assert!(settles(Scheme::TsDsa, 821_195, steps));
}

/// A disk is put back to the beginning, and the only one there who knows the line is a guest whom
/// the group's key has let in since: the guest shows the line, and then its certificate counts.
#[test]
fn a_guest_with_a_certificate_by_the_groups_key_is_heard() {
    let steps = || {
        vec![
            at(1_095_902, Step::Change { by: 2, what: 10 }),
            at(262_168, Step::Admit { who: 2, contact: 1, yes: 211 }),
            at(385_535, Step::Rest(0)),
            on("starts a signing session: found", 1_564, Step::Crash { who: 0, after: Some(11) }),
            at(577_909, Step::Rest(0)),
            on("takes part in a signing session: found", 222, crash(0)),
            at(707_602, crash(0)),
            at(758_753, put_back(0)),
        ]
    };
    assert!(settles(Scheme::TsDsa, 3_340_056, steps()));
    assert!(breaks(Danger::NodeNamesGuests, Scheme::TsDsa, 3_340_056, steps()));
}

/// The first program of a contact leaves the group, and its second stays in the view: the second
/// has no part in admission (MEM-11), so nobody expects it to have the group sign for the guest.
#[test]
fn where_the_first_program_of_a_contact_has_left_its_guests_wait() {
    let steps = vec![
        at(296_202, Step::Change { by: 3, what: 10 }),
        at(528_974, Step::Admit { who: 1, contact: 0, yes: 255 }),
        at(77_234, Step::Leave(0)),
    ];
    assert!(settles(Scheme::TsDsa, 20_786_081, steps));
}

/// A member applies the decision that admits somebody again, and is killed after it is on disk and
/// before it says so. It said before that the same player was expelled: that is not forgotten.
#[test]
fn who_was_expelled_and_is_admitted_again_is_not_forgotten() {
    let steps = vec![
        at(1_500_000, Step::Rest(0)),
        at(876_309, Step::Change { by: 3, what: 10 }),
        at(2_720_229, Step::Heal),
        at(461_012, Step::Restart(5)),
        at(945_979, Step::Expel { by: 4, who: 2, yes: 255 }),
        at(806_480, Step::Rest(0)),
        on("starts a signing session: reshare", 761, crash(5)),
        at(2_589_948, Step::Heal),
        at(600_737, Step::Restart(5)),
        at(1_380_397, Step::Again(6)),
        at(893_970, Step::Rest(0)),
        on("starts a signing session: authority", 87, Step::Crash { who: 6, after: Some(5) }),
        on(
            "starts a signing session: multi",
            235,
            Step::Mute { who: 3, step: folkmoot_sim::machine::Mute::Admission, micros: 10_289_222 },
        ),
    ];
    assert!(settles(Scheme::Frost, 3_419_827_091, steps));
}
