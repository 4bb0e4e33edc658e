//! Somebody who was away learns everything from one other member.

use super::{Group, NOW, field, person, remove};
use folkmoot_base::UnixTime;
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Change, Effect, Item, Transcript, admission};
use std::collections::BTreeSet;

pub(super) fn catch_up(to: &mut Transcript, from: &Transcript, bytes_max: usize) -> usize {
    catch_up_at(to, from, bytes_max, NOW)
}

/// Takes what `from` gives until it gives nothing more; the number of batches.
pub(super) fn catch_up_at(
    to: &mut Transcript,
    from: &Transcript,
    bytes_max: usize,
    clock: UnixTime,
) -> usize {
    for batch in 0..200 {
        let items = from.lacking(to.state().head(), &to.have(), bytes_max);
        if items.is_empty() {
            return batch;
        }
        for item in items {
            to.take(&item, Some(clock)).unwrap();
        }
    }
    panic!("it does not end");
}

pub(super) fn busy() -> Group {
    let mut group = Group::new(3, 2);
    for number in 10..14 {
        let stranger = person(number);
        let body = group.request(&stranger);
        let item = group.admit(&stranger, &body, &[0, 1]);
        assert!(group.all_take(&item).new);
    }
    let effect = remove(group.id(2));
    group.approve(&effect, &[0, 1]);
    group.decide(&[0, 1, 2]);
    let stranger = person(20);
    let body = group.request(&stranger);
    let item = group.admit(&stranger, &body, &[0, 1]);
    group.all_take(&item);
    let open = remove(person(11).member());
    group.approve(&open, &[0]);
    group
}

#[test]
fn a_newcomer_with_the_charter_alone_learns_everything() {
    let group = busy();
    let charter = group.first().signed_charter().der().to_vec();
    for bytes_max in [0, 3_000, 1_000_000] {
        let mut newcomer = Transcript::founded(&charter).unwrap();
        let batches = catch_up(&mut newcomer, group.first(), bytes_max);
        assert_eq!(newcomer.mark(), group.first().mark(), "in {batches} batches");
        assert_eq!(newcomer.state().digest(), group.first().state().digest());
        let members = |one: &Transcript| one.set().members(one.state());
        assert_eq!(members(&newcomer), members(group.first()));
        assert_eq!(members(&newcomer).len(), 3 - 1 + 4 + 1);
    }
}

#[test]
fn two_sides_give_each_other_what_they_lack() {
    let mut group = Group::new(3, 2);
    for (number, side) in [(10, 0), (11, 2)] {
        let stranger = person(number);
        let body = group.request(&stranger);
        let item = group.admit(&stranger, &body, &[1, 2]);
        assert!(group.transcripts[side].take(&item.encode(), Some(NOW)).unwrap().new);
    }
    let (mut left, mut right) = (group.transcripts[0].clone(), group.transcripts[2].clone());
    assert_ne!(left.mark(), right.mark());
    catch_up(&mut left, &right, 10_000);
    catch_up(&mut right, &left, 10_000);
    assert_eq!(left.mark(), right.mark());
    assert_eq!(left.set().members(left.state()).len(), 5);
}

#[test]
fn what_a_decision_holds_is_asked_for() {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let body = group.request(&stranger);
    let item = group.admit(&stranger, &body, &[0, 1]);
    let mut away = group.transcripts[2].clone();
    group.all_take(&item);
    let effect = remove(group.id(2));
    group.approve(&effect, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    let Item::Decision(standing) = &stood[0] else { panic!() };
    assert_eq!(standing.proposal.decision.holds, [body.request_digest().unwrap()]);
    let missing = away.take(&stood[0].encode(), Some(NOW)).unwrap_err();
    assert_eq!(missing, folkmoot_transcript::ItemError::Missing(vec![body.request_digest().unwrap()]));
    away.take(&item.encode(), Some(NOW)).unwrap();
    assert!(away.take(&stood[0].encode(), Some(NOW)).unwrap().advanced);
}

/// No decision holds it by itself: people do. It is shown before the decision that does it.
#[test]
fn what_people_hold_is_shown_before_the_decision() {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let body = group.request(&stranger);
    let late = group.admit(&stranger, &body, &[0]);
    let mut away = group.transcripts[2].clone();
    group.all_take(&late);
    let hold: Effect = Change::Hold { request: body.request_digest().unwrap() }.into();
    group.approve(&hold, &[0, 1]);
    group.decide(&[0, 1, 2]);
    assert!(group.first().roster().is_member(&stranger.member()));
    catch_up(&mut away, group.first(), 10_000);
    assert_eq!(away.mark(), group.first().mark());
    assert!(away.roster().is_member(&stranger.member()));
}

/// A certificate may come before the decision that its approvals are over.
#[test]
fn what_comes_before_its_base_is_taken_once_that_is_decided() {
    let mut group = Group::new(3, 2);
    group.approve(&field("letters", "true"), &[0, 1]);
    let mut behind = group.first().clone();
    let decision = group.decide(&[0, 1, 2]).remove(0);
    let stranger = person(10);
    let body = group.request(&stranger);
    let votes = group.admit(&stranger, &body, &[0]);
    let beside = group.approval(1, admission(body.request_digest().unwrap()), 0, Verdict::Approve);
    let Item::Admit { certificate, .. } = votes else { panic!("it is a certificate") };
    let item = Item::Admit { certificate, approvals: vec![beside] };
    assert_eq!(behind.take(&item.encode(), Some(NOW)).unwrap().came, BTreeSet::new());
    let taken = behind.take(&decision.encode(), Some(NOW)).unwrap();
    assert_eq!(taken.came, BTreeSet::from([stranger.member()]));
    group.all_take(&item);
    assert_eq!(behind.mark(), group.first().mark());
}
