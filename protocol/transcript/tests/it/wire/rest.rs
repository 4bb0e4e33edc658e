//! A group that rests: its line stands still, and what has run out since admits nobody, by
//! whichever way it comes.

use super::file::{charter, read, sections};
use super::program::{Program, without};
use super::{Group, LATER, NOW, field, person};
use bytes::Bytes;
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::Identity;
use folkmoot_transcript::{
    Change, FileError, Item, ItemError, PAST_SAID_SECONDS, PAST_TAKEN_SECONDS, Taken, Transcript, Unfit,
};

const DAY: u64 = 86_400;

/// Ten days after the votes have run out.
const TEN_DAYS_LATER: UnixTime = UnixTime(LATER.0 + 10 * DAY);

/// Three founders who decide nothing, or nothing since `decided`; and a stranger with a certificate
/// by two votes.
fn resting(decided: bool) -> (Group, Identity, Bytes) {
    let mut group = Group::new(3, 2);
    if decided {
        group.pass(&field("letters", "true"), &[0, 1]);
    }
    let stranger = person(10);
    let item = group.admit(&stranger, &group.request(&stranger), &[0, 1]);
    (group, stranger, item.encode().into())
}

fn is_in(transcript: &Transcript, stranger: &Identity) -> bool {
    transcript.roster().is_member(&stranger.member())
}

fn past(end: UnixTime) -> UnixTime {
    UnixTime(end.0 + 1)
}

fn says(time: UnixTime) -> Vec<u8> {
    Item::Past { time }.encode()
}

/// Break 1 of the first edition: with the rule the stranger is nobody, and without it a member.
#[test]
fn line_33_votes_that_ran_out_admit_nobody_by_whatever_way_they_come() {
    for decided in [false, true] {
        let (group, stranger, item) = resting(decided);
        // In the stranger's own store, which no clock was asked about.
        let mut own = Program::like(group.first(), Some(NOW));
        own.take(&item, Some(NOW)).unwrap();
        assert!(is_in(&own.restarted(), &stranger), "by its own clock it is a member");
        for danger in [None, Some(Danger::LineNoPast)] {
            let founder = || without(group.first(), danger);
            let shown = own.restarted().lacking(founder().state().head(), &founder().have(), 1_000_000);
            assert_eq!(shown[0], item);
            let mut ordered = founder();
            for item in &shown {
                ordered.take(item, Some(TEN_DAYS_LATER)).unwrap();
            }
            // In the founder's own store, since the votes counted.
            let mut restarted = without(&own.restarted(), danger);
            restarted.hear_clock(TEN_DAYS_LATER);
            let file = own.transcript.file();
            let mut filed = without(&read(&charter(&group), Vec::new(), &file, 999).unwrap(), danger);
            filed.hear_clock(TEN_DAYS_LATER);
            for transcript in [ordered, restarted, filed] {
                assert_eq!(is_in(&transcript, &stranger), danger.is_some(), "{danger:?} {decided}");
                assert!(transcript.set().admits().next().is_some(), "it is there, and late");
            }
        }
    }
}

/// The head goes on by a package, which brings no item to judge.
#[test]
fn line_33_a_package_lets_nobody_in_by_votes_that_ran_out() {
    let (mut group, stranger, item) = resting(false);
    let mut newcomer = group.first().clone();
    newcomer.take(&item, Some(NOW)).unwrap();
    assert!(is_in(&newcomer, &stranger));
    group.pass(&field("letters", "true"), &[0, 1]);
    let package = group.first().package(&newcomer.state().head()).unwrap();
    let mut nobody_asks = newcomer.clone();
    nobody_asks.take_package(&package, None, None).unwrap();
    assert!(is_in(&nobody_asks, &stranger), "by the line's time it counts");
    let taken = newcomer.take_package(&package, None, Some(TEN_DAYS_LATER)).unwrap();
    assert_eq!((taken.advanced, taken.went), (true, [stranger.member()].into()));
}

/// A store that held it while it counted: a start asks the clock, also where nothing else is due.
#[test]
fn line_33_a_start_lets_nobody_in_by_votes_that_ran_out() {
    for danger in [None, Some(Danger::LineNoPast)] {
        let (group, stranger, item) = resting(true);
        let mut own = Program::like(group.first(), Some(NOW));
        own.take(&item, Some(NOW)).unwrap();
        let mut started = without(&own.restarted(), danger);
        assert!(is_in(&started, &stranger), "no clock has been heard");
        let taken = started.ask_at_start(TEN_DAYS_LATER);
        assert_eq!(is_in(&started, &stranger), danger.is_some());
        assert_eq!(taken.went.contains(&stranger.member()), danger.is_none());
    }
}

/// Behind, right, and ahead; and none at all.
#[test]
fn line_33_each_member_ends_what_its_own_clock_is_well_past() {
    for decided in [false, true] {
        let (group, stranger, item) = resting(decided);
        for (clock, counts) in [
            (Some(UnixTime(NOW.0 - DAY / 2)), true),
            (Some(LATER), true),
            (Some(UnixTime(LATER.0 + PAST_SAID_SECONDS)), true),
            (Some(UnixTime(LATER.0 + PAST_SAID_SECONDS + 1)), false),
            (Some(UnixTime(LATER.0 + 400 * DAY)), false),
            (None, true),
        ] {
            let mut founder = group.first().clone();
            founder.take(&item, clock).unwrap();
            assert_eq!(is_in(&founder, &stranger), counts, "{clock:?}");
        }
    }
}

#[test]
fn line_33_without_a_clock_nobody_takes_a_past() {
    let (group, stranger, item) = resting(true);
    let mut founder = group.first().clone();
    founder.take(&item, None).unwrap();
    // One that is more than a day before the last decision is none.
    for none in [None, Some(UnixTime(NOW.0 - DAY - 1)), Some(UnixTime(0))] {
        assert!(!founder.take(&says(past(LATER)), none).unwrap().new);
        assert_eq!(founder.sound(none), None);
    }
    let early = UnixTime(LATER.0 + PAST_TAKEN_SECONDS);
    assert!(!founder.take(&says(past(LATER)), Some(early)).unwrap().new && is_in(&founder, &stranger));
    let taken = founder.take(&says(past(LATER)), Some(past(early))).unwrap();
    assert_eq!((taken.new, taken.went), (true, [stranger.member()].into()));
}

#[test]
fn line_33_whoever_raises_past_says_so_until_somebody_has() {
    let (group, _, item) = resting(false);
    let mut founder = group.first().clone();
    founder.take(&item, Some(NOW)).unwrap();
    let clock = UnixTime(LATER.0 + PAST_SAID_SECONDS + 1);
    assert_eq!(founder.unsaid_past(UnixTime(clock.0 - 1)), None);
    assert_eq!(founder.unsaid_past(clock), Some(past(LATER)), "before anything is judged");
    founder.hear_clock(clock);
    assert_eq!(founder.unsaid_past(clock), Some(past(LATER)));
    assert!(founder.take(&says(past(LATER)), Some(clock)).unwrap().new, "it is ordered");
    assert_eq!(founder.unsaid_past(clock), None);
    assert_eq!(founder.take(&says(past(LATER)), Some(clock)).unwrap(), Taken::default());
}

/// Who comes later is given it, a store has it, and a file says it.
#[test]
fn line_33_past_is_a_part_of_the_set_wherever_that_goes() {
    for decided in [false, true] {
        let (group, stranger, item) = resting(decided);
        let mut program = Program::like(group.first(), Some(NOW));
        program.take(&item, Some(TEN_DAYS_LATER)).unwrap();
        program.take(&says(past(LATER)).into(), Some(TEN_DAYS_LATER)).unwrap();
        let mark = program.transcript.mark();
        let later = Program::like(&program.transcript, Some(UnixTime(LATER.0 + PAST_TAKEN_SECONDS + 2)));
        let file = program.transcript.file();
        let filed = read(&charter(&group), Vec::new(), &file, 999).unwrap();
        for transcript in [&later.transcript, &program.restarted(), &filed] {
            assert_eq!(transcript.mark(), mark);
            assert!(!is_in(transcript, &stranger));
        }
        assert_eq!(filed.file(), file);
        // It is the last item of the set: version, kind and time.
        let (_, at, length) = *sections(&file).iter().rfind(|part| part.0 == 5).unwrap();
        assert_eq!(file[at + 5..at + length], says(past(LATER)));
        for time in [past(past(LATER)), LATER, NOW, UnixTime(0)] {
            let bad = [&file[..at + 5], &says(time), &file[at + length..]].concat();
            let refused = read(&charter(&group), Vec::new(), &bad, 999).unwrap_err();
            assert!(matches!(refused, FileError::Item { why: ItemError::NoEnd(named), .. } if named == time));
        }
        let twice = [&file[..at + length], &file[at..]].concat();
        assert!(matches!(read(&charter(&group), Vec::new(), &twice, 999), Err(FileError::Order { .. })));
    }
}

/// The disk of a member whose clock was ahead once: what is asked again is not there again after
/// the next restart.
#[test]
fn line_37_a_clock_that_was_ahead_once_cuts_nobody_off() {
    for decided in [false, true] {
        let (group, stranger, item) = resting(decided);
        for danger in [None, Some(Danger::LineNeverAsksAgain)] {
            let mut right = group.first().clone();
            right.take(&item, Some(NOW)).unwrap();
            let mut program = Program::like(group.first(), Some(NOW));
            program.take(&item, Some(NOW)).unwrap();
            program.take(&says(past(LATER)).into(), Some(TEN_DAYS_LATER)).unwrap();
            let mut restarted = without(&program.restarted(), danger);
            assert!(!is_in(&restarted, &stranger));
            let taken = restarted.ask_again(NOW);
            assert_eq!(taken.came.is_empty(), danger.is_some());
            assert_eq!(is_in(&restarted, &stranger), danger.is_none());
            assert_eq!(restarted.mark() == right.mark(), danger.is_none(), "{danger:?}");
        }
    }
}

/// Whoever is in by an admission of the set can be made a voter, before anything was decided too.
#[test]
fn line_34_what_counts_is_tried_as_held_where_the_line_rests() {
    for decided in [false, true] {
        let (group, stranger, item) = resting(decided);
        let mut founder = group.first().clone();
        let elect = Change::Electorate { voters: vec![group.id(0), group.id(1), stranger.member()] }.into();
        assert_eq!(founder.would_stand(&elect), Err(Unfit::Electorate));
        founder.take(&item, Some(NOW)).unwrap();
        assert_eq!(founder.would_stand(&elect), Ok(()));
    }
}
