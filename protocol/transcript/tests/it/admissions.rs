//! Which admissions count.

use crate::group::{DAY, Group, draft, field, key, member, remove};
use folkmoot_base::{MemberId, UnixTime, digest};
use folkmoot_identity::{Policies, Rule};
use folkmoot_transcript::{Admit, Approval, Batch, Head, Refusal, Uncounted, Wrong, admission};

fn judged(group: &Group, admit: &Admit) -> Result<(), Uncounted> {
    group.set().judge(group.state(), admit)
}

/// A group of four in which two approve a newcomer.
fn welcomed() -> (Group, Admit) {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1]);
    assert_eq!(judged(&group, &admit), Ok(()));
    assert!(group.is_member(5));
    (group, admit)
}

#[test]
fn line_20_a_request_is_over_a_recent_decision_of_our_line() {
    let (mut group, admit) = welcomed();
    let foreign = Admit { base: Head { number: 0, digest: [7; 32] }, ..admit.clone() };
    assert_eq!(judged(&group, &foreign), Err(Uncounted::RequestOffLine));
    group.pass(field("request_hours", "24"), &[0, 1]);
    assert_eq!(judged(&group, &admit), Ok(()));
}

#[test]
fn line_21_a_request_admits_once() {
    let mut group = Group::new(4, 2);
    let admit = group.let_in(&[5], &[0, 1]).remove(0);
    group.pass(remove(5), &[0, 1, 2]);
    group.welcome(&admit, &[0, 1]);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Used));
    assert!(group.set().admit(&admit.request).is_none(), "it is not even kept");
    let held = group.decide(Batch { holds: vec![admit.request], ..group.batch() });
    assert_eq!(held, Err(Wrong::Missing(admit.request)));
    let held = group.state().decide(Batch { holds: vec![admit.request], ..group.batch() }, |_| Some(&admit));
    assert_eq!(held.map(|_| ()), Err(Wrong::HeldBefore(admit.request)));
    let anew = group.ask(5);
    group.welcome(&anew, &[0, 1]);
    assert!(group.is_member(5));
}

#[test]
fn line_22_whoever_was_expelled_asks_anew() {
    let mut group = Group::new(4, 2);
    let second = group.ask(3);
    let other = group.ask(5);
    group.pass(remove(3), &[0, 1, 2]);
    group.welcome(&second, &[0, 1]);
    assert_eq!(judged(&group, &second), Err(Uncounted::Removed(member(3))));
    group.welcome(&other, &[0, 1]);
    assert_eq!(judged(&group, &other), Ok(()), "the stamp is of one key");
    let anew = group.ask(3);
    group.welcome(&anew, &[0, 1]);
    assert_eq!(judged(&group, &anew), Ok(()));
}

pub fn with_objections(count: u32) -> Group {
    let policies = Policies { objections: Some(count), ..Policies::default() };
    Group::of(&folkmoot_identity::CharterDraft { policies, ..draft(4, 2) })
}

#[test]
fn line_23_objections_end_a_request_until_it_is_held() {
    let mut group = with_objections(2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1]);
    let no = [2, 3].map(|person| group.no(person, admission(admit.request)));
    group.take(no[0]);
    assert_eq!(judged(&group, &admit), Ok(()), "one objection is too few");
    let mut held = group.another();
    group.take(no[1]);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Refused));
    // Where it is held already, objections do nothing.
    held.follow(held.decide(Batch { holds: vec![admit.request], ..held.batch() }).unwrap());
    held.take(no[0]);
    held.take(no[1]);
    assert!(held.is_member(5) && !group.is_member(5));
}

#[test]
fn line_23_a_refused_csr_admits_by_no_request() {
    let mut group = with_objections(2);
    let admit = Admit { csr: Some([3; 16]), ..group.ask(5) };
    let again = Admit { csr: Some([3; 16]), ..group.ask(5) };
    let other = Admit { csr: Some([4; 16]), ..group.ask(6) };
    for one in [&admit, &again, &other] {
        group.welcome(one, &[0, 1]);
    }
    let refusal = Refusal { request: admit.request, csr: admit.csr };
    let (state, set) = group.line.set_mut();
    assert!(!set.take_refusal(state, refusal), "nobody has rejected it");
    for person in [2, 3] {
        let no = group.no(person, admission(admit.request));
        group.take(no);
    }
    let (state, set) = group.line.set_mut();
    assert!(set.take_refusal(state, refusal));
    assert_eq!(judged(&group, &again), Err(Uncounted::Refused));
    assert_eq!(judged(&group, &other), Ok(()));
    // A decision says it for as long as the request could count.
    let refusals = group.set().refusable(group.state());
    group.follow(group.decide(Batch { refusals, ..group.batch() }).unwrap());
    assert!(group.state().is_refused(&again) && !group.state().is_refused(&other));
}

#[test]
fn line_24_as_many_approve_as_the_policy_asks_for() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0]);
    assert!(matches!(judged(&group, &admit), Err(Uncounted::Policy(_))));
    group.welcome(&admit, &[3]);
    assert_eq!(judged(&group, &admit), Ok(()));
}

#[test]
fn line_24_the_rule_on_roles_is_satisfied() {
    let mut policies = Policies { admit: Some(Rule::parse("1 of doors").unwrap()), ..Policies::default() };
    policies.roles.insert("doors".to_owned(), [member(3)].into());
    let mut group = Group::of(&folkmoot_identity::CharterDraft { policies, ..draft(4, 2) });
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1, 2]);
    assert!(matches!(judged(&group, &admit), Err(Uncounted::Policy(_))));
    group.welcome(&admit, &[3]);
    assert_eq!(judged(&group, &admit), Ok(()));
}

#[test]
fn line_25_a_minority_admits_unless_the_charter_forbids_it() {
    let forbidden = folkmoot_identity::CharterDraft { minority_may_admit: false, ..draft(5, 2) };
    let mut group = Group::of(&forbidden);
    let admit = group.ask(5);
    group.welcome(&admit, &[3, 4]);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Minority { got: 2, need: 3 }));
    group.welcome(&admit, &[2]);
    assert_eq!(judged(&group, &admit), Ok(()));
    let mut group = Group::new(5, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[3, 4]);
    assert_eq!(judged(&group, &admit), Ok(()));
}

#[test]
fn line_26_a_term_is_as_long_as_the_charter_allows_at_most() {
    let (group, admit) = welcomed();
    let days = u64::from(group.state().charter().certificate_days());
    let longest = Admit { ends: UnixTime(admit.begins.0 + days * DAY), ..admit };
    assert_eq!(judged(&group, &longest), Ok(()));
    let longer = Admit { ends: UnixTime(longest.ends.0 + 1), ..longest };
    assert_eq!(judged(&group, &longer), Err(Uncounted::Term));
}

#[test]
fn line_26_a_term_is_within_the_charters_own() {
    for (name, beside) in [("not_after", 0), ("not_before", 0), ("not_after", 1), ("not_before", 1)] {
        let (mut group, admit) = welcomed();
        let time = if name == "not_after" { admit.ends.0 - beside } else { admit.begins.0 + beside };
        group.pass(field(name, &time.to_string()), &[0, 1]);
        let right = if beside == 0 { Ok(()) } else { Err(Uncounted::Term) };
        assert_eq!(judged(&group, &admit), right, "{name} {time}");
    }
}

#[test]
fn line_29_a_serial_number_is_one_certificates() {
    for approvals_first in [true, false] {
        let mut group = Group::new(4, 2);
        let mut admits = [group.ask(5), group.ask(6)].map(|admit| Admit { issued: Some([9; 16]), ..admit });
        admits.sort_by_key(|admit| admit.request);
        for admit in &admits {
            if !approvals_first {
                group.take_admit(admit);
            }
            group.welcome(admit, &[0, 1]);
        }
        let counted: Vec<_> = group.set().counted().map(|admit| admit.request).collect();
        assert_eq!(counted, [admits[0].request], "the first by its request");
        let late: Vec<_> = group.set().late().map(|(_, why)| why.clone()).collect();
        assert_eq!(late, [Uncounted::SerialNumber]);
        let other = Admit { issued: Some([8; 16]), ..group.ask(7) };
        group.welcome(&other, &[0, 1]);
        assert_eq!(group.set().counted().count(), 2);
    }
}

/// Members whom nobody need ever hear: a name each.
fn crowd(group: &mut Group, count: u64) -> Vec<Admit> {
    let one = |number: u64| Admit {
        request: digest(&[b"crowd", &number.to_be_bytes()]),
        member: MemberId(digest(&[b"one", &number.to_be_bytes()])),
        key: key(15).verifying_key().clone(),
        ..group.another().ask(5)
    };
    let all: Vec<Admit> = (0..count).map(one).collect();
    for admit in &all {
        let yes = group.yes(0, admission(admit.request));
        group.take(yes);
    }
    all
}

#[test]
fn line_30_there_is_room_for_so_many_members() {
    let most = folkmoot_base::limits::MEMBERS_MAX;
    let mut group = Group::new(1, 1);
    let all = crowd(&mut group, most as u64);
    for admit in &all {
        group.take_admit(admit);
    }
    assert_eq!(group.set().members(group.state()).len(), most);
    let late: Vec<_> = group.set().late().map(|(_, why)| why.clone()).collect();
    assert_eq!(late, [Uncounted::Full]);
    // Whoever is in is renewed.
    let mut again = group.ask(0);
    again.request = [0xff; 32];
    group.welcome(&again, &[0]);
    assert!(group.set().counted().any(|admit| admit.request == again.request));
}

#[test]
fn line_31_a_term_that_is_over_admits_nobody() {
    let mut group = Group::new(4, 2);
    let admit = Admit { ends: UnixTime(group.now + 60), ..group.ask(5) };
    group.welcome(&admit, &[0, 1]);
    group.pass(field("request_hours", "24"), &[0, 1, 2]);
    assert_eq!(judged(&group, &admit), Ok(()), "it ends when the time of the decision is past it");
    group.pass(field("request_hours", "48"), &[0, 1, 2]);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Ended));
    assert!(group.set().admit(&admit.request).is_none(), "the set forgets it");
}

#[test]
fn line_31_an_approval_fits_the_term_that_it_approves() {
    let mut group = Group::new(4, 2);
    let admit = Admit { begins: UnixTime(group.now + 100), ..group.ask(5) };
    group.take_admit(&admit);
    for (person, life) in [(0, 99), (1, 100)] {
        let approval = group.yes(person, admission(admit.request));
        group.take(Approval { expires: UnixTime(group.now + life), ..approval });
    }
    assert_eq!(judged(&group, &admit), Err(Uncounted::Expired(member(0))));
    let later = group.yes(0, admission(admit.request));
    group.take(Approval { turn: 1, ..later });
    assert_eq!(judged(&group, &admit), Ok(()));
}

#[test]
fn line_32_a_decision_refuses_what_enough_object_to() {
    let mut group = with_objections(2);
    let request = group.ask(5).request;
    let refuse = |people: &[usize]| Batch { refusals: vec![group.refused(request, people)], ..group.batch() };
    assert_eq!(group.decide(refuse(&[2])).map(|_| ()), Err(Wrong::Refusal { got: 1, need: 2 }));
    let mut twice = refuse(&[2]);
    let first = twice.refusals[0].proofs[0].clone();
    twice.refusals[0].proofs.push(first);
    assert_eq!(group.decide(twice).map(|_| ()), Err(Wrong::Refusal { got: 2, need: 2 }));
    let decision = group.decide(refuse(&[2, 3])).unwrap();
    let again = refuse(&[2, 3]).refusals;
    group.follow(decision);
    let again = group.decide(Batch { refusals: again, ..group.batch() });
    assert!(matches!(again, Err(Wrong::Refusal { .. })), "once is enough");
}

#[test]
fn line_32_without_objections_in_the_charter_nothing_is_refused() {
    let mut group = Group::new(4, 2);
    let request = group.ask(5).request;
    let refusals = vec![group.refused(request, &[0, 1, 2, 3])];
    let refused = group.decide(Batch { refusals, ..group.batch() });
    assert_eq!(refused, Err(Wrong::Refusal { got: 4, need: 0 }));
}

/// A no does not run out, as long as the yes that it answers could count: in the set by Past, and
/// in a decision.
#[test]
fn line_14_an_objection_does_not_run_out() {
    let mut group = with_objections(2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let subject = admission(admit.request);
    let short = UnixTime(group.now + DAY);
    for person in [2, 3] {
        let no = Approval { expires: short, ..group.no(person, subject) };
        group.take(no);
    }
    for person in [0, 1] {
        let yes = group.yes(person, subject);
        group.take(yes);
    }
    let refused = |group: &Group| judged(group, &admit) == Err(Uncounted::Refused);
    assert!(refused(&group));
    // Somebody else's term has ended long after the noes.
    let other = Admit { ends: UnixTime(group.now + 20 * DAY), ..group.ask(6) };
    group.welcome(&other, &[0, 1]);
    group.raise(group.now + 29 * DAY);
    assert!(group.past() > short.0 && refused(&group));
    group.now += 25 * DAY;
    group.follow(group.decide(group.batch()).unwrap());
    assert!(group.state().time() > short && refused(&group));
    assert_eq!(group.set().rejecting(group.state(), &admit.request).len(), 2);
    let refusals = group.set().refusable(group.state());
    group.follow(group.decide(Batch { refusals, ..group.batch() }).unwrap());
    assert!(group.state().is_refused(&admit), "a decision refuses it by them");
    // A yes does run out.
    let yes = group.yes(0, subject);
    let over = Approval { expires: short, ..yes };
    assert!(matches!(group.state().counts(&over, 0, group.state().time()), Err(Uncounted::Expired(_))));
}
