//! The desk under charters with rules, lists, objections and shares, by rule number.

use crate::common::{Bus, person, player, vote};
use folkmoot_admission::{AdmissionError, Command, Event, Phase, Reason};
use folkmoot_base::{GroupName, MemberId};
use folkmoot_identity::{CharterDraft, Founder, Identity, Policies, Policy, Rule, SignedCharter};
use folkmoot_transcript::{Change, Effect, Force, Refusal, Unfit, admission};
use std::collections::{BTreeMap, BTreeSet};

fn founder(which: u64) -> Identity {
    person(&format!("founder{which}"), which + 1)
}

fn ids(which: &[u64]) -> BTreeSet<MemberId> {
    which.iter().map(|which| founder(*which).member()).collect()
}

/// A group of so many founders by this draft.
fn group(count: u64, threshold: u32, change: impl Fn(&mut CharterDraft)) -> Bus {
    let founders: Vec<Identity> = (0..count).map(founder).collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let name = GroupName::new("moot").unwrap();
    let mut draft = CharterDraft::new(name, threshold, named, &mut crate::common::Dice(77));
    change(&mut draft);
    let all: Vec<&Identity> = founders.iter().collect();
    let charter = SignedCharter::sign(&draft.to_toml(), &all).unwrap().der().to_vec();
    let mut bus = Bus::new(1, 1);
    bus.players = founders.into_iter().map(|founder| player(founder, &charter)).collect();
    bus.pass(0);
    bus
}

pub(crate) fn governed(count: u64, threshold: u32, policies: &Policies) -> Bus {
    group(count, threshold, |draft| draft.policies = policies.clone())
}

fn rule(text: &str) -> Option<Rule> {
    Some(Rule::parse(text).unwrap())
}

/// Operators are 0, 1 and 2; security is 3.
fn roles() -> BTreeMap<String, BTreeSet<MemberId>> {
    BTreeMap::from([("operators".into(), ids(&[0, 1, 2])), ("security".into(), ids(&[3]))])
}

fn closed(bus: &Bus, who: usize, what: &str) -> bool {
    bus.players[who].events.iter().any(|event| {
        matches!(event, Event::RequestClosed { .. } | Event::ProposalClosed { .. })
            && format!("{event:?}").contains(what)
    })
}

#[test]
fn adm_25_votes_are_handed_out_when_the_rule_holds() {
    let admit = rule("2 of operators and 1 of security");
    let mut bus = governed(5, 2, &Policies { roles: roles(), admit, ..Policies::default() });
    let dora = bus.stranger("dora", 40, 4);
    for voter in [0, 4, 1] {
        vote(&mut bus, voter, dora, true);
        assert!(!bus.admitted(dora));
    }
    let status = bus.status(4);
    let told = status.requests[0].rule.as_deref();
    assert_eq!(told, Some("2 of operators (has 2) and 1 of security (has 0)"));
    assert_eq!((status.requests[0].have, status.requests[0].need), (3, 4));
    vote(&mut bus, 3, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn adm_25_either_side_of_an_or_admits_and_who_says_no_can_make_it_impossible() {
    let admit = rule("2 of operators or (1 of security and 3 of all)");
    let mut bus = governed(5, 1, &Policies { roles: roles(), admit, ..Policies::default() });
    let (dora, eve) = (bus.stranger("dora", 40, 0), bus.stranger("eve", 41, 0));
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
    for (voter, approve) in [(0, false), (1, false), (3, false)] {
        vote(&mut bus, voter, eve, approve);
    }
    let status = bus.status(0);
    assert_eq!(status.requests[0].have, 0);
    let reasons = |event: &Event| matches!(event, Event::Refused { reason: Reason::Rejected, .. });
    assert!(bus.strangers[eve].events.iter().any(reasons), "neither side can be had");
}

#[test]
fn adm_25_a_removal_waits_for_its_rule() {
    let remove = rule("1 of security");
    let mut bus = governed(5, 1, &Policies { roles: roles(), remove, ..Policies::default() });
    let gone = bus.players[4].identity.member();
    bus.command(0, Command::Expel(gone)).unwrap();
    let motion = bus.status(0).proposals[0].proposal;
    for voter in [1, 2] {
        bus.command(voter, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(5);
    assert!(bus.players[0].transcript.roster().is_member(&gone), "a quorum without security");
    bus.command(3, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(5);
    assert!(!bus.players[0].transcript.roster().is_member(&gone));
}

#[test]
fn adm_25_security_alone_can_refuse_a_removal() {
    let remove = rule("1 of security");
    let mut bus = governed(5, 1, &Policies { roles: roles(), remove, ..Policies::default() });
    let gone = bus.players[4].identity.member();
    bus.command(0, Command::Expel(gone)).unwrap();
    let motion = bus.status(0).proposals[0].proposal;
    bus.command(3, Command::Vote { motion, approve: false }).unwrap();
    assert!(closed(&bus, 0, "Rejected"));
}

#[test]
fn adm_21_so_many_objections_refuse_for_good() {
    let mut bus = governed(4, 2, &Policies { objections: Some(2), ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, false);
    vote(&mut bus, 0, dora, true);
    assert!(!closed(&bus, 0, "Rejected"), "one is not enough");
    vote(&mut bus, 2, dora, false);
    assert!((0..4).all(|who| closed(&bus, who, "Rejected") && bus.request_of(who, dora).is_none()));
    assert_eq!(bus.items, 3, "the votes, and nothing besides");
    let told = |event: &Event| matches!(event, Event::Refused { reason: Reason::Objected, .. });
    assert!(bus.strangers[dora].events.iter().any(told) && bus.strangers[dora].applicant.is_over());
    bus.pass(200);
    assert!(bus.request_of(0, dora).is_none(), "it does not ask again by itself");
    assert!(!bus.strangers[dora].applicant.has_asked() && bus.strangers[dora].disk.is_empty());
}

#[test]
fn adm_21_who_was_refused_for_good_may_ask_anew() {
    let mut bus = governed(4, 2, &Policies { objections: Some(1), ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    let first = bus.request_of(0, dora).unwrap();
    vote(&mut bus, 3, dora, false);
    assert!(closed(&bus, 0, "Rejected") && bus.request_of(0, dora).is_none());
    bus.strangers.clear();
    bus.pass(2);
    let again = bus.stranger("dora", 40, 1);
    assert_ne!(bus.request_of(0, again).unwrap(), first);
    vote(&mut bus, 0, again, true);
    vote(&mut bus, 1, again, true);
    assert!(bus.admitted(again));
}

/// Objections are in the set of every member: nobody has to enter what follows from them. Later a
/// decision says so for good.
#[test]
fn adm_21_objections_end_a_request_though_its_contact_has_gone() {
    let mut bus = governed(4, 2, &Policies { objections: Some(2), ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    let request = bus.request_of(1, dora).unwrap();
    bus.players[0].up = false;
    vote(&mut bus, 1, dora, false);
    vote(&mut bus, 2, dora, false);
    assert!((1..4).all(|who| closed(&bus, who, "Rejected")) && !closed(&bus, 0, "Rejected"));
    bus.players[0].up = true;
    bus.merge();
    assert!(closed(&bus, 0, "Rejected"));
    let refusal = Refusal { request, csr: None };
    assert!(!bus.players[3].transcript.state().has_refused(&refusal));
    bus.pass(610);
    for player in &bus.players {
        assert!(player.transcript.state().has_refused(&refusal));
    }
}

#[test]
fn adm_19_a_request_that_was_refused_for_good_is_not_opened_again() {
    let mut bus = governed(3, 2, &Policies { objections: Some(1), ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    let stored: Vec<_> = bus.strangers[dora].disk.clone().into_iter().collect();
    vote(&mut bus, 1, dora, false);
    // From an older disk it asks the same again.
    bus.strangers[dora].applicant = folkmoot_admission::Applicant::load(&stored).unwrap();
    bus.strangers[dora].contact = None;
    bus.stranger_input(dora, folkmoot_admission::Input::Clock(bus.time));
    bus.dial(dora, 2);
    assert!(matches!(bus.players[2].errors.last(), Some(AdmissionError::PeerRefused(_))));
    assert!(bus.strangers[dora].applicant.is_over());
}

#[test]
fn adm_24_a_request_ends_by_what_its_guest_signed() {
    let mut bus = governed(3, 2, &Policies { request_days: Some(2), ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    let begun = bus.time;
    bus.restart(0);
    let status = bus.status(1);
    assert_eq!(status.requests[0].expires.0, begun.0 + 2 * 86_400);
    vote(&mut bus, 0, dora, true);
    let (subject, anna) = (admission(status.requests[0].request), &bus.players[0]);
    let given = anna.transcript.set().approval(&subject, &anna.identity.member()).unwrap();
    assert_eq!(given.approval.expires.0, begun.0 + 2 * 86_400);
    bus.time.0 += 2 * 86_400 + 1;
    bus.pass(0);
    assert!(closed(&bus, 0, "Expired") && bus.request_of(1, dora).is_none());
    // Brought again by whoever has it, it is over.
    bus.pass(5);
    assert!(
        matches!(bus.players[0].errors.last(), Some(AdmissionError::PeerTerm(_))),
        "{:?}",
        bus.players[0].errors
    );
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::Requesting);
}

#[test]
fn adm_23_a_list_admits_without_votes_and_refuses_the_rest() {
    let list = BTreeSet::from([person("dora", 40).member()]);
    let mut bus = governed(3, 2, &Policies { policy: Policy::List, list, ..Policies::default() });
    let dora = bus.stranger("dora", 40, 1);
    assert!(bus.admitted(dora), "the contact admits");
    let eve = bus.stranger("eve", 41, 1);
    assert!(matches!(bus.players[1].errors.last(), Some(AdmissionError::PeerNotListed(_))));
    assert!(bus.strangers[eve].applicant.is_over() && bus.request_of(0, eve).is_none());
}

#[test]
fn adm_23_a_founders_word_admits() {
    let decider = Some(founder(2).member());
    let mut bus = governed(3, 2, &Policies { policy: Policy::Founder, decider, ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 1, dora, true);
    assert!(!bus.admitted(dora));
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn adm_31_what_puts_a_rule_out_of_reach_takes_force_and_the_voters_force() {
    let admit = rule("1 of security");
    let mut bus = governed(4, 1, &Policies { roles: roles(), admit, ..Policies::default() });
    let gone = bus.players[3].identity.member();
    let refused = bus.command(0, Command::Expel(gone)).unwrap_err();
    let unreachable = Unfit::Unreachable { what: "admit" };
    assert_eq!(refused, AdmissionError::LocalDecision(unreachable));
    let forced = Effect { change: Change::Remove { member: gone }, force: Force::Yes };
    let motion = forced.subject().digest;
    bus.command(0, Command::Propose(forced)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(5);
    assert!(!bus.players[1].transcript.roster().is_member(&gone));
}

/// Until a decision holds those who came, and tells the new size.
const HELD: u64 = 620;

fn threshold(bus: &Bus) -> String {
    bus.players[1].transcript.roster().charter().threshold_rule().to_string()
}

#[test]
fn adm_37_the_threshold_follows_the_size_and_nobody_is_asked() {
    let mut bus = group(3, 1, |draft| draft.ratio = Some((50, 2)));
    for guest in 0..3_u64 {
        let it = bus.stranger(&format!("guest{guest}"), 40 + guest, 0);
        vote(&mut bus, 0, it, true);
        vote(&mut bus, 1, it, true);
        assert!(bus.admitted(it));
    }
    assert_eq!(threshold(&bus), "50% of 3 window 2");
    let before = bus.items;
    bus.pass(HELD);
    assert_eq!(threshold(&bus), "50% of 6 window 2");
    assert_eq!(bus.items, before + 1, "one decision holds the three and tells the size");
    // Three voters, three votes: a size that asks for more than there are voters is not told.
    for guest in 3..6_u64 {
        let it = bus.stranger(&format!("guest{guest}"), 40 + guest, 0);
        (0..3).for_each(|voter| vote(&mut bus, voter, it, true));
        assert!(bus.admitted(it));
    }
    bus.pass(HELD);
    assert_eq!(threshold(&bus), "50% of 6 window 2");
    let roster = bus.players[0].transcript.roster();
    let electorate = Change::Electorate { voters: roster.members().keys().copied().collect() };
    let effect = Effect::from(electorate);
    let motion = effect.subject().digest;
    bus.command(0, Command::Propose(effect)).unwrap();
    for voter in [1, 2] {
        bus.command(voter, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(5);
    let roster = bus.players[0].transcript.roster();
    assert_eq!(roster.electorate().len(), 9, "now there are voters enough");
    assert_eq!(threshold(&bus), "50% of 9 window 2", "in the same decision");
}

#[test]
fn adm_37_one_who_is_away_does_not_hold_the_update_up() {
    let mut bus = group(3, 1, |draft| draft.ratio = Some((10, 0)));
    bus.players[0].up = false;
    let it = bus.stranger("guest", 40, 1);
    vote(&mut bus, 1, it, true);
    bus.pass(HELD);
    assert_eq!(threshold(&bus), "10% of 4 window 0");
}

/// Two people want a removal each, and the third has judged neither: the update comes all the same.
#[test]
fn adm_38_an_update_of_the_threshold_does_not_wait_for_people_who_have_not_judged() {
    let mut bus = group(3, 1, |draft| draft.ratio = Some((10, 0)));
    let [anna, _, carl] = [0, 1, 2].map(|who| bus.players[who].identity.member());
    bus.command(0, Command::Expel(carl)).unwrap();
    bus.command(1, Command::Expel(anna)).unwrap();
    let it = bus.stranger("guest", 40, 1);
    vote(&mut bus, 1, it, true);
    bus.pass(HELD);
    assert_eq!(threshold(&bus), "10% of 4 window 0", "{:#?}", bus.traces);
    assert!(bus.players[1].transcript.roster().is_member(&carl));
    assert_eq!(bus.status(2).proposals.len(), 2, "and what people want stays open");
}
