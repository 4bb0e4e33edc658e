//! Past: what had ended by this time is over, although no decision says so.

use crate::group::{DAY, Group, elect, field, member};
use crate::liars::both;
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{
    Admit, Approval, Batch, PAST_SAID_SECONDS, PAST_TAKEN_SECONDS, Uncounted, admission,
};

/// Somebody is in by an admission that no decision holds; its term ends in a day.
fn with_a_guest() -> (Group, u64) {
    let mut group = Group::new(4, 2);
    let admit = Admit { ends: UnixTime(group.now + DAY), ..group.ask(5) };
    group.welcome(&admit, &[0, 1]);
    assert!(group.is_member(5));
    (group, admit.ends.0)
}

/// Another's word is taken by a clock that is a minute past the end, one's own after six minutes.
#[test]
fn line_33_a_term_ends_when_its_time_has_come() {
    let (mut group, end) = with_a_guest();
    let mut own = group.another();
    assert!(!group.take_past(end + 1, end + PAST_TAKEN_SECONDS) && group.is_member(5));
    assert!(group.take_past(end + 1, end + PAST_TAKEN_SECONDS + 1) && !group.is_member(5));
    assert!(!own.raise(end + PAST_SAID_SECONDS) && own.is_member(5));
    assert!(own.raise(end + PAST_SAID_SECONDS + 1) && !own.is_member(5));
    assert_eq!((group.past(), group.line.mark()), (end + 1, own.line.mark()));
    assert!(!group.raise(end + DAY), "it is said");
}

/// Whoever a vote keeps out is not merely over, though its term is: no run goes on with it.
#[test]
fn key_12_only_time_is_not_the_same_for_all() {
    let over = |group: &Group, person| group.set().is_over(group.state(), &member(person));
    for danger in [None, Some(Danger::LineOverIsOut)] {
        let (group, end) = with_a_guest();
        let mut group = group.without(danger);
        assert!(!over(&group, 5) && !over(&group, 3) && !over(&group, 9));
        let mut late = group.another();
        assert!(late.raise(end + PAST_SAID_SECONDS + 1) && !late.is_member(5));
        assert_eq!(over(&late, 5), danger.is_none());
        let request = group.set().admits().next().map(|admit| admit.request).unwrap();
        assert!(group.take(group.no(0, admission(request))) && !group.is_member(5));
        group.raise(end + PAST_SAID_SECONDS + 1);
        assert!(!over(&group, 5));
    }
}

#[test]
fn line_33_past_is_an_end_that_is_known_here() {
    let (group, end) = with_a_guest();
    let late = end + 30 * DAY;
    for (said, taken) in [(end - 1, None), (end, None), (end + 1, Some(end + 1)), (end + 99, Some(end + 1))] {
        let mut group = group.another();
        assert_eq!(group.take_past(said, late), taken.is_some(), "{said}");
        assert_eq!((group.past(), group.is_member(5)), (taken.unwrap_or_default(), taken.is_none()));
    }
}

/// Of two ends that somebody names at once, whoever has a slow clock takes the first.
#[test]
fn line_33_past_is_taken_as_far_as_ones_own_clock() {
    let (mut group, end) = with_a_guest();
    let second = Admit { ends: UnixTime(end + 600), ..group.ask(6) };
    group.welcome(&second, &[0, 1]);
    let mut slow = group.another();
    assert!(slow.take_past(end + 601, end + 300));
    assert_eq!((slow.past(), slow.is_member(5), slow.is_member(6)), (end + 1, false, true));
    assert!(group.take_past(end + 601, end + 700));
    assert!(!group.take_past(end + 1, end + 700), "of two times the later one stays");
    assert_eq!((group.past(), group.is_member(6)), (end + 601, false));
    assert!(slow.take_past(end + 601, end + 700));
    assert_eq!(slow.line.mark(), group.line.mark());
}

/// Approvals that ran out admit for ever in a group that decides nothing: at the founding, where
/// the time is zero, and after a decision that is old.
#[test]
fn line_33_votes_that_ran_out_admit_nobody_where_the_line_rests() {
    for decided in [false, true] {
        both(Danger::LineNoPast, |danger| {
            let mut group = Group::new(4, 2).without(danger);
            if decided {
                group.pass(field("request_hours", "24"), &[0, 1]);
            }
            let admit = group.ask(5);
            group.welcome(&admit, &[0, 1]);
            assert!(group.is_member(5));
            let ran_out = group.now + 30 * DAY;
            group.raise(ran_out + PAST_SAID_SECONDS + 1);
            let why = group.set().judge(group.state(), &admit);
            assert_eq!(why, if danger.is_some() { Ok(()) } else { Err(Uncounted::Expired(member(0))) });
            group.is_member(5)
        });
    }
}

/// The first vote to run out ends nothing while the others suffice.
#[test]
fn line_33_an_admission_ends_with_the_vote_that_it_cannot_do_without() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    for (person, days) in [(0, 1), (1, 3), (2, 5), (3, 400)] {
        let yes = group.yes(person, admission(admit.request));
        group.take(Approval { expires: UnixTime(group.now + days * DAY), ..yes });
    }
    group.take_admit(&admit);
    let ends = [1, 3, 5].map(|days| group.now + days * DAY);
    for end in &ends[..2] {
        assert!(!group.raise(end + DAY), "two and more are left");
    }
    assert!(group.raise(ends[2] + PAST_SAID_SECONDS + 1));
    assert_eq!((group.past(), group.is_member(5)), (ends[2] + 1, false));
}

#[test]
fn line_33_an_end_of_a_term_moves_no_vote_and_falls_when_the_member_is_held_anew() {
    let mut group = Group::new(3, 2);
    group.let_in(&[5], &[0, 1]);
    group.pass(elect(&[0, 1, 2, 5]), &[0, 1, 2]);
    let end = group.state().roster()[&member(5)].ends.0;
    assert!(group.raise(end + PAST_SAID_SECONDS + 1));
    assert!(!group.is_member(5) && group.state().may_vote(&member(5)));
    // An admission of the set that counts then makes it a member again, and a decision holds it.
    group.now = end + DAY;
    let renewal = group.ask(5);
    group.welcome(&renewal, &[0, 1]);
    assert!(group.is_member(5) && group.past() > 0);
    let holds = vec![renewal.request];
    group.follow(group.decide(Batch { holds, ..group.batch() }).unwrap());
    assert!(group.is_member(5) && group.state().may_vote(&member(5)));
    assert_eq!(group.past(), 0, "the time of the decision says as much");
}

/// Its time is before Past, so what had ended is over still.
#[test]
fn line_33_past_stays_until_a_decision_comes_to_it() {
    let (mut group, end) = with_a_guest();
    group.take_past(end + 1, end + 300);
    group.now = end - 60;
    group.pass(field("request_hours", "24"), &[0, 1]);
    assert_eq!((group.past(), group.is_member(5)), (end + 1, false));
    group.now = end;
    group.pass(field("request_hours", "48"), &[0, 1]);
    assert_eq!((group.past(), group.is_member(5)), (0, false));
    assert!(!group.take_past(end + 1, end + 300), "it is not after the last decision");
}

/// A voter says its yes again before it runs out. Who has not heard of that ends the first one, and
/// who has takes its word.
#[test]
fn line_33_a_yes_that_was_said_again_is_an_end_too() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1]);
    let first = group.now + 30 * DAY;
    let mut lacks = group.another();
    for person in [0, 1] {
        let yes = group.yes(person, admission(admit.request));
        group.take(Approval { turn: 1, expires: UnixTime(first + 30 * DAY), ..yes });
    }
    let clock = first + PAST_SAID_SECONDS + 1;
    assert!(!group.raise(clock) && lacks.raise(clock) && !lacks.is_member(5));
    assert!(group.take_past(lacks.past(), clock) && group.is_member(5));
    for person in [0, 1] {
        lacks.take(group.set().approval(&admission(admit.request), &member(person)).unwrap().approval);
    }
    // The other has the yeses that were said again, too.
    assert!(lacks.is_member(5));
    assert_eq!(lacks.line.mark(), group.line.mark());
}

/// Somebody who comes later never hears of an end that nobody has any more. Both have one Past.
#[test]
fn line_33_past_follows_from_what_the_set_has() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let said = |group: &Group, turn: u32| {
        let yes = group.yes(0, admission(admit.request));
        Approval { turn, expires: UnixTime(group.now + u64::from(turn + 1) * DAY), ..yes }
    };
    let first = said(&group, 0);
    group.take(first);
    assert!(group.take_past(first.expires.0 + 1, first.expires.0 + 300));
    assert_eq!(group.past(), first.expires.0 + 1);
    for turn in [1, 2] {
        group.take(said(&group, turn));
    }
    assert!(group.set().approvals().all(|signed| signed.approval != first), "of a base one is kept");
    let mut later = Group::new(4, 2);
    later.take_admit(&admit);
    for turn in [1, 2] {
        later.take(said(&group, turn));
    }
    assert_eq!(later.line.mark(), group.line.mark());
    assert_eq!(group.past(), 0);
}

/// Ends matter whether or not they are a member's: a yes that was taken back stays an end.
#[test]
fn line_33_past_is_one_whatever_is_taken_back_and_when() {
    let (group, end) = with_a_guest();
    let subject = admission(group.set().admits().next().unwrap().request);
    let no = Approval { turn: 1, ..group.no(0, subject) };
    let marks = [true, false].map(|back_first| {
        let mut group = group.another();
        let clock = end + PAST_SAID_SECONDS + 1;
        if back_first {
            group.take(no);
            assert!(!group.raise(clock), "nobody's membership ends");
            assert!(group.take_past(end + 1, clock));
        } else {
            assert!(group.raise(clock));
            group.take(no);
        }
        group.line.mark()
    });
    assert_eq!(marks[0], marks[1]);
}

/// `LINE-37`: a clock that was ahead once has ended what goes on.
#[test]
fn line_37_an_end_that_a_wrong_clock_has_let_in_is_asked_again() {
    both(Danger::LineNeverAsksAgain, |danger| {
        let (group, end) = with_a_guest();
        let mut group = group.without(danger);
        assert!(group.raise(end + 400 * DAY) && !group.is_member(5));
        assert_eq!(group.ask_again(end), danger.is_none());
        !group.is_member(5)
    });
    // Of several ends those stay that the clock is past.
    let (mut group, end) = with_a_guest();
    let second = Admit { ends: UnixTime(end + 600), ..group.ask(6) };
    group.welcome(&second, &[0, 1]);
    group.raise(end + DAY);
    assert_eq!(group.past(), end + 601);
    assert!(!group.ask_again(end + 601), "the clock is past it");
    assert!(group.ask_again(end + 1) && !group.is_member(5) && group.is_member(6));
    assert_eq!(group.past(), end + 1);
    assert!(group.ask_again(end) && group.is_member(5));
}

/// Whoever's clock was ahead has taken a yes that is too far off, before or after a nearer one: it
/// comes to have what everybody else has.
#[test]
fn line_37_a_yes_that_waits_again_takes_no_nearer_one_with_it() {
    for turns in [[0, 1], [1, 0], [0, 0]] {
        let mut group = Group::new(4, 2);
        let admit = group.ask(5);
        group.take_admit(&admit);
        let yes = |group: &Group, turn, days| {
            let expires = UnixTime(group.now + days * DAY);
            Approval { turn, expires, ..group.yes(0, admission(admit.request)) }
        };
        let (near, far) = (yes(&group, turns[0], 30), yes(&group, turns[1], 400));
        let mut ahead = group.another();
        assert!([near, far].into_iter().all(|one| ahead.take(one)));
        let clock = UnixTime(group.now);
        for one in [near, far] {
            group.hear(one, clock);
        }
        let before = ahead.line.mark();
        ahead.let_out(clock);
        assert_ne!(before, ahead.line.mark());
        assert_eq!(ahead.line.mark(), group.line.mark(), "{turns:?}");
    }
}

/// An end that comes in later moves Past, if somebody's clock was past it: whoever knew it before
/// and whoever learns of it now have the same members.
#[test]
fn line_33_an_end_that_comes_later_ends_what_it_is_about() {
    let (group, end) = with_a_guest();
    let mut another = group.another();
    let second = Admit { ends: UnixTime(end + 600), ..another.ask(6) };
    let last = Admit { ends: UnixTime(end + 90 * DAY), ..another.ask(7) };
    let [first, later] = [true, false].map(|first| {
        let mut group = group.another();
        group.welcome(&last, &[0, 1, 2]);
        if first {
            group.welcome(&second, &[0, 1]);
        }
        // Its clock is far ahead, and is put right.
        assert!(group.raise(end + 100 * DAY) && group.ask_again(end + DAY));
        group.welcome(&second, &[0, 1]);
        group
    });
    let has = |group: &Group| (group.past(), [5, 6, 7].map(|person| group.is_member(person)));
    assert_eq!(has(&first), (end + 601, [false, false, true]));
    assert_eq!((has(&first), first.line.mark()), (has(&later), later.line.mark()));
}
