//! Who goes on without the decisions between, and who takes them one by one.

use super::evidence::sign;
use super::program::{Program, without};
use super::{Group, NOW, field, person};
use crate::liars::both;
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{
    Batch, Head, Item, ItemError, Skipped, Standing, Transcript, Unproposed, admission, shown_by_package,
};

const DAY: u64 = 86_400;

fn at(day: u64) -> UnixTime {
    UnixTime(NOW.0 + day * DAY)
}

/// Two of three, where a decision takes three approvals, hold a stranger whom nobody approved.
struct Lie {
    honest: Transcript,
    standing: Standing,
    certificate: Vec<u8>,
    package: Vec<u8>,
}

fn lie() -> Lie {
    let mut group = Group::new(3, 3);
    group.pass(&field("letters", "true"), &[0, 1, 2]);
    let (stranger, honest) = (person(10), group.transcripts[2].clone());
    let body = group.request(&stranger);
    let certificate = group.admit(&stranger, &body, &[]).encode();
    let mut liar = without(group.first(), Some(Danger::LineHoldsUnseen));
    liar.take(&certificate, Some(NOW)).unwrap();
    let request = admission(body.request_digest().unwrap()).digest;
    let batch = Batch { time: NOW, holds: vec![request], ..Batch::default() };
    let (held, _) = liar.state().decide(batch, |request| liar.set().admit(request)).unwrap();
    let standing = sign(&group, &liar, held, &[0, 1]);
    liar.take(&Item::Decision(standing.clone()).encode(), Some(NOW)).unwrap();
    let package = liar.package(&honest.state().head()).unwrap().to_vec();
    Lie { honest, standing, certificate, package }
}

/// Whoever takes decisions one by one counts whom they hold. A quorum that lies shows the state.
#[test]
fn line_78_whoever_shared_a_ring_not_long_ago_is_led_over_nothing() {
    let Lie { honest, standing, certificate, package } = lie();
    both(Danger::LineSkipsAnyway, |danger| {
        let mut honest = without(&honest, danger);
        honest.shares_ring(Some(NOW)).unwrap();
        for day in [0, 1, 89] {
            let skipped = honest.clone().take_package(&package, None, Some(at(day)));
            assert_eq!(skipped.err(), danger.is_none().then_some(ItemError::OneByOne));
        }
        let mut one_by_one = honest.clone();
        one_by_one.take(&certificate, Some(NOW)).unwrap();
        let refused = one_by_one.take(&Item::Decision(standing.clone()).encode(), Some(NOW));
        assert_eq!(refused, Err(ItemError::Missing(standing.proposal.decision.holds.clone())));
        drop(honest.take_package(&package, None, Some(NOW)));
        honest.roster().is_member(&person(10).member())
    });
}

/// Somebody at the founding, and a package of a line that was decided up to this day.
fn behind(day: u64) -> (Transcript, Vec<u8>, Head) {
    let mut group = Group::new(3, 2);
    let behind = group.first().clone();
    group.clock = at(day);
    group.pass(&field("letters", "true"), &[0, 1]);
    let package = group.first().package(&behind.state().head()).unwrap().to_vec();
    (behind, package, group.first().state().head())
}

#[test]
fn line_78_clock_and_line_both_say_that_it_was_long_ago() {
    for (line, clock, ends) in [
        (91, Some(at(91)), Ok(())),
        (91, Some(at(400)), Ok(())),
        (91, Some(at(90)), Err(ItemError::OneByOne)),
        // The line says so alone: that is the word of a quorum.
        (90, Some(at(90)), Err(ItemError::OneByOne)),
        // The clock says so alone: it may be far ahead, and the decisions since are kept.
        (5, Some(at(4_000)), Err(ItemError::OneByOne)),
        (90, Some(at(91)), Err(ItemError::OneByOne)),
        // Without a clock nobody knows.
        (91, None, Err(ItemError::OneByOne)),
        (91, Some(at(80)), Err(ItemError::TimeAhead(at(91)))),
    ] {
        let (mut honest, package, head) = behind(line);
        let mut newcomer = honest.clone();
        honest.shares_ring(Some(NOW)).unwrap();
        assert_eq!(honest.take_package(&package, None, clock).map(drop), ends, "{line} {clock:?}");
        assert_eq!(honest.skipped().is_some(), ends.is_ok());
        let far = matches!(ends, Err(ItemError::TimeAhead(_)));
        assert_eq!(newcomer.take_package(&package, None, clock).is_ok(), !far, "it has shared no ring");
        let asks = ends.is_err_and(|why| why.needs_person());
        if asks {
            assert!(honest.take_package(&package, Some(head), clock).unwrap().advanced, "its person says so");
        }
    }
}

#[test]
fn line_78_its_person_lets_a_member_skip_to_one_decision() {
    let (behind, package, head) = behind(5);
    let mut program = Program::like(&behind, Some(NOW));
    let note = program.transcript.shares_ring(Some(NOW)).unwrap();
    program.write(note);
    let other = Head { digest: [7; 32], ..head };
    let refused = program.transcript.take_package(&package, Some(other), Some(at(5)));
    assert_eq!(refused, Err(ItemError::OneByOne));
    assert_eq!(program.restarted().last_shared(), Some(NOW));
    let shown = shown_by_package(&package);
    assert_eq!(shown.last().map(Standing::head), Some(head), "who committed to it is shown");
    program.transcript.take_package(&package, Some(head), Some(at(5))).unwrap();
    for write in program.kept.after_skip(&program.transcript) {
        program.write(write);
    }
    let restarted = program.restarted();
    let skipped = Skipped { from: behind.state().head(), to: head };
    assert_eq!((restarted.skipped(), restarted.last_shared()), (Some(skipped), Some(NOW)));
    assert_eq!(program.restarted().mark(), program.transcript.mark());
}

/// What a clock that was far ahead has noted locks nobody out, and neither does one far behind.
#[test]
fn line_78_the_next_ring_puts_a_wrong_note_right() {
    let (mut honest, package, _) = behind(91);
    let noted = |honest: &mut Transcript, clock: Option<UnixTime>| {
        let wrote = honest.shares_ring(clock).is_some();
        (wrote, honest.last_shared())
    };
    assert_eq!(noted(&mut honest, Some(at(4_000))), (true, Some(at(4_000))));
    assert!(honest.clone().take_package(&package, None, Some(at(91))).is_err());
    assert_eq!(noted(&mut honest, Some(NOW)), (true, Some(NOW)));
    assert_eq!(noted(&mut honest, Some(UnixTime(NOW.0 + 3_599))), (false, Some(NOW)));
    assert!(honest.clone().take_package(&package, None, Some(at(91))).unwrap().advanced);
    // A clock that is none says nothing: the line's time is what is known.
    honest.take_package(&package, None, Some(at(91))).unwrap();
    assert_eq!(noted(&mut honest, Some(NOW)), (true, Some(at(91))));
    assert_eq!(noted(&mut honest, None), (false, Some(at(91))));
}

/// Two who were away for long meet each other first: that does not make them up to date.
#[test]
fn line_78_who_was_away_too_is_no_ring_that_counts() {
    let (mut honest, package, _) = behind(91);
    honest.shares_ring(Some(NOW)).unwrap();
    assert!(honest.shares_ring(Some(at(89))).is_some(), "nor is it long ago while nothing is decided");
    assert!(honest.shares_ring(Some(at(180))).is_none());
    assert_eq!(honest.last_shared(), Some(at(89)));
    let (mut away, ..) = behind(91);
    away.shares_ring(Some(NOW)).unwrap();
    assert!(away.shares_ring(Some(at(91))).is_none());
    assert!(away.take_package(&package, None, Some(at(91))).unwrap().advanced);
    assert_eq!(away.shares_ring(Some(at(91))).map(drop), Some(()));
    assert_eq!(away.last_shared(), Some(at(91)));
}

/// A head so old that nothing shows it on the line: that is for its person, too.
#[test]
fn line_78_whose_head_is_too_old_is_let_on_by_its_person() {
    let mut group = Group::new(3, 2);
    group.pass(&field("letters", "true"), &[0, 1]);
    let mut behind = group.first().clone();
    for month in 1..6 {
        group.clock = at(month * 31);
        group.pass(&field("request_hours", &(24 + month).to_string()), &[0, 1]);
    }
    let package = group.first().package(&behind.state().head()).unwrap();
    let refused = behind.take_package(&package, None, Some(group.clock)).unwrap_err();
    assert_eq!((&refused, refused.needs_person()), (&Unproposed::TooOld.into(), true));
    let head = group.first().state().head();
    assert!(behind.take_package(&package, Some(head), Some(group.clock)).unwrap().advanced);
    assert_eq!(behind.state().head(), head);
}

/// Whoever skipped has decisions without the admissions that they hold: it gives a package, and not
/// what nobody could apply.
#[test]
fn line_78_whoever_skipped_gives_no_decision_without_what_it_holds() {
    let mut group = Group::new(3, 2);
    let behind = group.first().clone();
    let item = group.admit(&person(10), &group.request(&person(10)), &[0, 1]);
    group.all_take(&item);
    group.pass(&field("letters", "true"), &[0, 1]);
    assert!(!group.first().has_left_behind(&behind.state().head()));
    let mut skipped = behind.clone();
    let package = group.first().package(&behind.state().head()).unwrap();
    skipped.take_package(&package, None, Some(NOW)).unwrap();
    assert!(skipped.has_left_behind(&behind.state().head()));
    assert!(!skipped.has_left_behind(&skipped.state().head()));
}
