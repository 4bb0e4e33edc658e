//! Somebody was away, and applies the decisions one by one: it is given the approvals of what each
//! holds, whatever has become of them since.

use super::catch_up::catch_up_at;
use super::program::{Program, without};
use super::{Group, NOW, field, person, remove};
use folkmoot_base::{Danger, Digest, UnixTime};
use folkmoot_identity::{GmcBody, Verdict};
use folkmoot_transcript::{Change, Effect, Item, ItemError, Transcript, admission};

/// When the term of the newcomer ends.
const ENDS: UnixTime = UnixTime(NOW.0 + 10 * 86_400);

/// Four founders, one of whom is away. The others admit somebody by a certificate with these votes
/// and with approvals beside it, decide, and then say no to what they approved.
struct Held {
    group: Group,
    away: Transcript,
    request: Digest,
    decision: Item,
    certificate: Item,
    beside: Vec<Item>,
}

fn held(votes: &[usize], beside: &[usize]) -> Held {
    let mut group = Group::new(4, 2);
    let away = group.transcripts[3].clone();
    let stranger = person(10);
    let body = GmcBody { not_after: ENDS, ..group.request(&stranger) };
    let certificate = group.admit(&stranger, &body, votes);
    let subject = admission(body.request_digest().unwrap());
    let approval = |who: &usize| Item::Approval(group.approval(*who, subject, 0, Verdict::Approve));
    let beside: Vec<Item> = beside.iter().map(approval).collect();
    group.all_take(&certificate);
    for item in &beside {
        group.all_take(item);
    }
    group.approve(&field("letters", "true"), &[0, 1]);
    let decision = group.decide(&[0, 1, 2, 3]).remove(0);
    assert!(group.first().state().is_used(&subject.digest));
    Held { group, away, request: subject.digest, decision, certificate, beside }
}

/// The other gives it everything, and it ends where the other is.
fn comes_along(away: &Transcript, group: &Group) {
    for bytes_max in [0, 1_000_000] {
        let mut away = away.clone();
        catch_up_at(&mut away, group.first(), bytes_max, group.clock);
        assert_eq!(away.mark(), group.first().mark());
    }
    // Nor is anything lost on a disk.
    let restarted = Program::like(group.first(), Some(group.clock)).restarted();
    assert_eq!(restarted.mark(), group.first().mark());
    let mut away = away.clone();
    catch_up_at(&mut away, &restarted, 1_000_000, group.clock);
    assert_eq!(away.mark(), group.first().mark());
}

#[test]
fn line_06_whoever_lacks_approvals_asks_for_them() {
    let Held { away, request, decision, certificate, beside, .. } = held(&[0], &[1]);
    let [mut away, mut careless] = [None, Some(Danger::LineHoldsUnseen)].map(|one| without(&away, one));
    let missing = Err(ItemError::Missing(vec![request]));
    assert_eq!(away.take(&decision.encode(), Some(NOW)), missing, "the certificate");
    for one in [&mut away, &mut careless] {
        one.take(&certificate.encode(), Some(NOW)).unwrap();
    }
    assert!(careless.take(&decision.encode(), Some(NOW)).unwrap().advanced);
    assert_eq!(away.take(&decision.encode(), Some(NOW)), missing, "a vote");
    assert_eq!(away.state().head().number, 0);
    away.take(&beside[0].encode(), Some(NOW)).unwrap();
    assert!(away.take(&decision.encode(), Some(NOW)).unwrap().advanced);
}

#[test]
fn line_06_whoever_was_away_is_given_the_approvals_of_what_is_held() {
    for (votes, beside) in [(&[0, 1][..], &[][..]), (&[0], &[1]), (&[], &[0, 1])] {
        let Held { group, away, .. } = held(votes, beside);
        comes_along(&away, &group);
    }
}

#[test]
fn line_06_approvals_that_were_taken_back_since_are_given() {
    for (votes, beside) in [(&[0, 1][..], &[][..]), (&[], &[0, 1])] {
        let Held { mut group, away, request, .. } = held(votes, beside);
        for who in [0, 1] {
            let no = group.approval(who, admission(request), 1, Verdict::Reject);
            group.all_take(&Item::Approval(no));
        }
        comes_along(&away, &group);
    }
}

/// The member that they let in is expelled; then a voter whose yes it took.
#[test]
fn line_06_the_approvals_of_voters_who_are_out_since_are_given() {
    for (votes, beside) in [(&[0, 1][..], &[][..]), (&[0], &[1]), (&[], &[0, 1])] {
        let Held { mut group, away, .. } = held(votes, beside);
        group.pass(&remove(person(10).member()), &[0, 1, 2]);
        group.pass(&remove(group.id(1)), &[0, 2, 3]);
        comes_along(&away, &group);
    }
}

/// Its term has ended since, by a decision.
fn comes_along_after_the_end(mut group: Group, away: &Transcript) {
    group.clock = UnixTime(ENDS.0 + 1);
    group.pass(&field("request_hours", "24"), &[0, 1]);
    assert_eq!((group.first().state().roster().len(), group.first().set().admits().count()), (4, 0));
    comes_along(away, &group);
}

#[test]
fn line_06_the_approvals_of_somebody_whose_term_has_ended_are_given() {
    for (votes, beside) in [(&[0, 1][..], &[][..]), (&[], &[0, 1])] {
        let Held { group, away, .. } = held(votes, beside);
        comes_along_after_the_end(group, &away);
    }
}

/// People held what had one vote.
#[test]
fn line_06_what_people_held_is_given_after_its_end() {
    let mut group = Group::new(4, 2);
    let away = group.transcripts[3].clone();
    let body = GmcBody { not_after: ENDS, ..group.request(&person(10)) };
    let certificate = group.admit(&person(10), &body, &[0]);
    group.all_take(&certificate);
    let hold: Effect = Change::Hold { request: body.request_digest().unwrap() }.into();
    group.pass(&hold, &[0, 1]);
    comes_along_after_the_end(group, &away);
}

/// Whatever was approved before a Retime acts no more, and stays the reason for what was held.
#[test]
fn line_06_approvals_from_before_a_retime_are_given() {
    for (votes, beside) in [(&[0, 1][..], &[][..]), (&[], &[0, 1])] {
        let Held { mut group, away, .. } = held(votes, beside);
        let retime: Effect = Change::Retime { head: group.first().state().head() }.into();
        group.pass(&retime, &[0, 1, 2]);
        assert_eq!(group.first().set().approvals().count(), 0);
        comes_along(&away, &group);
    }
}
