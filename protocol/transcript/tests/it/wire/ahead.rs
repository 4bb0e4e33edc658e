//! A quorum that lies, or has wrong clocks, decides a time that is far ahead.

use super::evidence::sign;
use super::program::{Program, without};
use super::{Group, NOW, field, person, remove};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Approved, Batch, Change, Effect, Head, Item, ItemError, Proof, Standing, Taken, Transcript, Unproposed,
    Wrong,
};

const DAY: u64 = 86_400;
/// The first second of the year 2200.
const YEAR_2200: UnixTime = UnixTime(7_258_118_400);

/// Three founders and a member, at the founding or after a decision.
fn group(decided: bool) -> Group {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let item = group.admit(&stranger, &group.request(&stranger), &[0, 1]);
    group.all_take(&item);
    if decided {
        group.pass(&field("letters", "true"), &[0, 1]);
    }
    group
}

/// What these two founders decide at this time, after what this transcript has.
fn decide(group: &Group, on: &Transcript, time: UnixTime, effects: &[Effect]) -> Standing {
    let approved = |effect: &Effect| {
        let mut proofs: Vec<Proof> = [0, 1]
            .map(|who| {
                let signed = group.approval(who, effect.subject(), 0, Verdict::Approve);
                let mut approval = signed.approval;
                (approval.base, approval.expires) =
                    (on.state().head(), UnixTime(time.0.max(approval.expires.0)));
                let signed =
                    folkmoot_transcript::SignedApproval::sign(group.people[who].key(), on.group(), approval);
                Proof::of(&signed.approval, signed.signature)
            })
            .into();
        proofs.sort_by_key(|proof| proof.voter);
        Approved { effect: effect.clone(), proofs }
    };
    let holds = on.set().holdable(on.state(), time).into_iter().collect();
    let batch = Batch { time, effects: effects.iter().map(approved).collect(), holds, ..Batch::default() };
    let (decision, _) = on.state().decide(batch, |request| on.set().admit(request)).unwrap();
    sign(group, on, decision, &[0, 1])
}

fn item(standing: &Standing) -> Vec<u8> {
    Item::Decision(standing.clone()).encode()
}

/// The transcript after a decision, whatever clocks say.
fn after(on: &Transcript, standing: &Standing) -> Transcript {
    let mut next = on.clone();
    assert!(next.take(&item(standing), None).unwrap().advanced);
    next
}

/// Without the rule the member's term is over, and so is every other that ever will be.
#[test]
fn line_77_a_decision_of_the_year_2200_waits() {
    for decided in [false, true] {
        let group = group(decided);
        let lie = decide(&group, group.first(), YEAR_2200, &[]);
        for danger in [None, Some(Danger::LineAheadOfClock)] {
            let mut honest = without(group.first(), danger);
            let taken = honest.take(&item(&lie), Some(NOW)).unwrap();
            assert_eq!(taken.advanced, danger.is_some());
            assert_eq!(honest.state().head() == group.first().state().head(), danger.is_none());
            assert_eq!(honest.roster().is_member(&person(10).member()), danger.is_none());
            if danger.is_none() {
                assert_eq!(honest.ahead(), std::slice::from_ref(&lie), "its committers are shown");
                assert_eq!(honest.mark(), group.first().mark());
                assert_eq!(honest.take(&item(&lie), Some(NOW)).unwrap(), Taken::default(), "once");
            }
        }
    }
}

/// A day ahead is near enough. Who has no clock, or one that is none, goes along.
#[test]
fn line_77_a_decision_is_ahead_by_more_than_a_day() {
    for decided in [false, true] {
        let group = group(decided);
        let lie = decide(&group, group.first(), UnixTime(NOW.0 + DAY), &[]);
        for (clock, advances) in [
            (Some(NOW), true),
            (Some(UnixTime(NOW.0 - 1)), false),
            (Some(UnixTime(NOW.0 - DAY)), false),
            (Some(UnixTime(NOW.0 - DAY - 1)), decided),
            (Some(UnixTime(NOW.0 + 400 * DAY)), true),
            (None, true),
        ] {
            let mut honest = group.first().clone();
            assert_eq!(honest.take(&item(&lie), clock).unwrap().advanced, advances, "{clock:?} {decided}");
            let due = honest.hear_clock(NOW);
            assert_eq!((due.advanced, honest.state().head()), (!advances, lie.head()));
            assert!(honest.ahead().is_empty());
        }
    }
}

/// Nothing is lost by it if the decision is honest, and much if it is not taken.
#[test]
fn line_77_whom_a_decision_removes_that_waits_is_out_at_once() {
    for decided in [false, true] {
        let group = group(decided);
        let gone = person(10).member();
        let honest = group.first();
        let wait = decide(&group, honest, UnixTime(NOW.0 + 2 * DAY), &[remove(gone)]);
        let mut member = honest.clone();
        let taken = member.take(&item(&wait), Some(NOW)).unwrap();
        assert_eq!((taken.advanced, taken.went), (false, [gone].into()));
        assert!(!member.roster().is_member(&gone) && member.roster().former(&gone).is_some());
        assert_eq!(member.mark(), honest.mark(), "by no rule of the set");
        // It is in again if another decision was made in place of that one.
        let mut other = member.clone();
        let in_place = decide(&group, honest, NOW, &[field("request_hours", "24")]);
        let taken = other.take(&item(&in_place), Some(NOW)).unwrap();
        assert_eq!((taken.advanced, taken.came.contains(&gone)), (true, true));
        assert!(other.ahead().is_empty());
        let due = member.hear_clock(UnixTime(NOW.0 + DAY));
        assert!(due.advanced && !member.roster().is_member(&gone));
        assert_eq!(member.state().removed_at(&gone), member.state().head().number);
    }
}

#[test]
fn line_77_a_retime_after_it_takes_the_time_back() {
    for decided in [false, true] {
        let group = group(decided);
        let lie = decide(&group, group.first(), YEAR_2200, &[]);
        let far = after(group.first(), &lie);
        let back = decide(&group, &far, NOW, &[Change::Retime { head: lie.head() }.into()]);
        let mut honest = group.first().clone();
        honest.take(&item(&lie), Some(NOW)).unwrap();
        let taken = honest.take(&item(&back), Some(NOW)).unwrap();
        assert!(taken.advanced && honest.ahead().is_empty());
        assert_eq!((honest.state().head(), honest.state().time()), (back.head(), NOW));
        // The false time has ended the member's term: it asks anew, and is in.
        assert!(!honest.roster().is_member(&person(10).member()));
        let mut group = group;
        group.transcripts[0] = honest;
        let again = group.admit(&person(10), &group.request(&person(10)), &[0, 1]);
        let taken = group.transcripts[0].take(&again.encode(), Some(NOW)).unwrap();
        assert_eq!(taken.came, [person(10).member()].into());
        // One that is ahead itself waits with it.
        let mut honest = group.transcripts[1].clone();
        honest.take(&item(&lie), Some(NOW)).unwrap();
        let half = UnixTime(NOW.0 + 30 * DAY);
        let still = decide(&group, &far, half, &[Change::Retime { head: lie.head() }.into()]);
        assert!(!honest.take(&item(&still), Some(NOW)).unwrap().advanced);
        assert_eq!(honest.ahead(), [lie.clone(), still.clone()]);
        assert!(honest.hear_clock(half).advanced);
        assert_eq!(honest.state().head(), still.head());
    }
}

#[test]
fn line_77_a_person_takes_what_waits() {
    let group = group(true);
    let first = decide(&group, group.first(), YEAR_2200, &[remove(person(10).member())]);
    let second = decide(&group, &after(group.first(), &first), YEAR_2200, &[field("letters", "false")]);
    let mut honest = group.first().clone();
    for standing in [&first, &second] {
        honest.take(&item(standing), Some(NOW)).unwrap();
    }
    let taken = honest.take_ahead_of_clock();
    assert!(taken.advanced && taken.charter);
    assert_eq!((honest.state().head(), honest.state().time()), (second.head(), YEAR_2200));
    assert_eq!(honest.take_ahead_of_clock(), Taken::default());
}

/// It is verified like any other, and nothing waits for what does not follow it.
#[test]
fn line_77_what_waits_has_every_signature_and_follows_the_head() {
    let group = group(true);
    let lie = decide(&group, group.first(), YEAR_2200, &[]);
    let second = decide(&group, &after(group.first(), &lie), YEAR_2200, &[]);
    let mut honest = group.first().clone();
    assert_eq!(honest.take(&item(&second), Some(NOW)), Err(ItemError::Ahead));
    let mut forged = lie.clone();
    forged.commits[0].signature = forged.commits[1].signature.clone();
    let voter = forged.commits[0].voter;
    let refused = honest.take(&item(&forged), Some(NOW));
    assert_eq!(refused, Err(ItemError::Decision(Unproposed::Signature(voter))));
    let mut alone = lie.clone();
    alone.commits.truncate(1);
    let refused = honest.take(&item(&alone), Some(NOW));
    assert_eq!(refused, Err(ItemError::Decision(Unproposed::Commits)));
    assert!(honest.ahead().is_empty());
    assert!(!honest.take(&item(&lie), Some(NOW)).unwrap().advanced);
    assert!(!honest.take(&item(&second), Some(NOW)).unwrap().advanced);
    assert_eq!(honest.ahead(), [lie, second]);
}

#[test]
fn line_77_sixteen_decisions_wait_at_the_most() {
    let group = group(true);
    let (mut honest, mut far) = (group.first().clone(), group.first().clone());
    for number in 0..17 {
        let next = decide(&group, &far, YEAR_2200, &[field("request_hours", &(24 + number).to_string())]);
        far = after(&far, &next);
        let taken = honest.take(&item(&next), Some(NOW));
        assert_eq!(taken.is_ok(), number < 16, "{number}");
    }
    assert_eq!(honest.ahead().len(), 16);
}

/// Whom it removes is out after a restart, too.
#[test]
fn line_77_a_store_keeps_what_waits() {
    for decided in [false, true] {
        let group = group(decided);
        let gone = person(10).member();
        let wait = decide(&group, group.first(), UnixTime(NOW.0 + 2 * DAY), &[remove(gone)]);
        let second = decide(&group, &after(group.first(), &wait), UnixTime(NOW.0 + 2 * DAY), &[]);
        let mut program = Program::like(group.first(), Some(NOW));
        for standing in [&wait, &second] {
            program.take(&item(standing).into(), Some(NOW)).unwrap();
        }
        let mut restarted = program.restarted();
        assert_eq!(restarted.ahead(), [wait, second.clone()]);
        assert!(!restarted.roster().is_member(&gone));
        assert_eq!(restarted.mark(), program.transcript.mark());
        assert!(restarted.hear_clock(UnixTime(NOW.0 + DAY)).advanced);
        assert_eq!(restarted.state().head(), second.head());
        // Once applied, it waits no more.
        for item in program.transcript.due(UnixTime(NOW.0 + DAY)) {
            program.take(&item, Some(UnixTime(NOW.0 + DAY))).unwrap();
        }
        let restarted = program.restarted();
        assert_eq!((restarted.state().head(), restarted.ahead()), (second.head(), &[][..]));
    }
}

/// Whoever skips decisions does not see who brought the time there.
#[test]
fn line_77_a_package_far_ahead_is_for_its_person_to_take() {
    let group = group(true);
    let newcomer = || Program::new(group.first()).transcript;
    let lie = decide(&group, group.first(), YEAR_2200, &[]);
    let far = after(group.first(), &lie);
    let package = far.package(&newcomer().state().head()).unwrap();
    let take = |danger, resolves: Option<Head>, clock| {
        let mut newcomer = without(&newcomer(), danger);
        newcomer.take_package(&package, resolves, clock).map(|_| newcomer.state().head())
    };
    assert_eq!(take(None, None, Some(NOW)), Err(ItemError::TimeAhead(YEAR_2200)));
    assert_eq!(take(Some(Danger::LineAheadOfClock), None, Some(NOW)), Ok(lie.head()));
    assert_eq!(take(None, Some(lie.head()), Some(NOW)), Ok(lie.head()), "its person says so");
    assert_eq!(take(None, None, Some(UnixTime(YEAR_2200.0 - DAY))), Ok(lie.head()), "the clock is there");
    assert_eq!(take(None, None, None), Ok(lie.head()));
}

/// What goes back to the time of the head before, without a Retime of this one.
#[test]
fn line_94_a_signed_decision_goes_back_by_no_retime_of_another_head() {
    let group = group(true);
    let lie = decide(&group, group.first(), YEAR_2200, &[]);
    let far = after(group.first(), &lie);
    let back = decide(&group, &far, NOW, &[Change::Retime { head: lie.head() }.into()]);
    let here = after(&far, &back);
    let mut moved = back;
    moved.proposal.decision.number += 1;
    moved.proposal.decision.parent = here.state().head().digest;
    moved.proposal.decision.time = UnixTime(NOW.0 - 1);
    let moved = sign(&group, &here, moved.proposal.decision, &[0, 1]);
    let refused = here.clone().take(&item(&moved), None).unwrap_err();
    assert_eq!(refused, ItemError::Decision(Unproposed::Decision(Wrong::Time)));
}
