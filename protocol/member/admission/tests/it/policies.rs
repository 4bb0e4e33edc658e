//! The desk under charters with rules, lists, objections and shares, by rule number.

use crate::common::{Bus, person, player, vote};
use folkmoot_admission::{AdmissionError, Command, Event, Phase, Reason};
use folkmoot_base::{GroupName, MemberId};
use folkmoot_identity::{
    CharterDraft, Decision, EntryError, Founder, Identity, Policies, Policy, Rule, SignedCharter,
};
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

fn governed(count: u64, threshold: u32, policies: &Policies) -> Bus {
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
    let status = bus.players[4].admission.status(&bus.players[4].transcript);
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
    let status = bus.players[0].admission.status(&bus.players[0].transcript);
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
    let motion = bus.players[0].admission.status(&bus.players[0].transcript).proposals[0].proposal;
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
    let motion = bus.players[0].admission.status(&bus.players[0].transcript).proposals[0].proposal;
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
    assert_eq!(bus.entries, 1, "entered once");
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
    assert!(bus.players[0].transcript.roster().is_refused(&first));
    bus.strangers.clear();
    bus.pass(2);
    let again = bus.stranger("dora", 40, 1);
    assert_ne!(bus.request_of(0, again).unwrap(), first);
    vote(&mut bus, 0, again, true);
    vote(&mut bus, 1, again, true);
    assert!(bus.admitted(again));
}

#[test]
fn adm_21_the_others_enter_it_where_the_contact_has_gone() {
    let mut bus = governed(4, 2, &Policies { objections: Some(2), ..Policies::default() });
    let dora = bus.stranger("dora", 40, 0);
    let request = bus.request_of(1, dora).unwrap();
    bus.players[0].up = false;
    vote(&mut bus, 1, dora, false);
    vote(&mut bus, 2, dora, false);
    assert_eq!(bus.entries, 0);
    bus.pass(10);
    assert!(bus.players[3].transcript.roster().is_refused(&request));
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
    let status = bus.players[1].admission.status(&bus.players[1].transcript);
    assert_eq!(status.requests[0].expires.0, begun.0 + 2 * 86_400);
    vote(&mut bus, 0, dora, true);
    let given = bus.players[0].admission.votes_on(&status.requests[0].request);
    assert_eq!(given[0].content().expires.0, begun.0 + 2 * 86_400);
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
fn adm_36_what_puts_a_rule_out_of_reach_takes_force_and_the_voters_force() {
    let admit = rule("1 of security");
    let mut bus = governed(4, 1, &Policies { roles: roles(), admit, ..Policies::default() });
    let gone = bus.players[3].identity.member();
    let refused = bus.command(0, Command::Expel(gone)).unwrap_err();
    let unreachable = EntryError::PeerUnreachable { what: "admit" };
    assert_eq!(refused, AdmissionError::LocalDecision(unreachable));
    let admission = bus.players[0].transcript.roster().member(&gone).unwrap().entry;
    let forced = Decision::Remove { member: gone, admission }.forced();
    let motion = forced.digest();
    bus.command(0, Command::Propose(forced)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(5);
    assert!(!bus.players[1].transcript.roster().is_member(&gone));
}

#[test]
fn adm_37_the_threshold_follows_the_size_and_nobody_is_asked() {
    let mut bus = group(3, 1, |draft| draft.ratio = Some((50, 2)));
    let threshold = |bus: &Bus| bus.players[0].transcript.roster().charter().threshold_rule().to_string();
    for guest in 0..3_u64 {
        assert_eq!(threshold(&bus), "50% of 3 window 2");
        let it = bus.stranger(&format!("guest{guest}"), 40 + guest, 0);
        vote(&mut bus, 0, it, true);
        vote(&mut bus, 1, it, true);
        assert!(bus.admitted(it));
    }
    bus.pass(10);
    assert_eq!(threshold(&bus), "50% of 6 window 2");
    assert_eq!(bus.entries, 4, "one update");
    // Three voters, three votes: a size that asks for more than there are voters is not proposed.
    for guest in 3..6_u64 {
        let it = bus.stranger(&format!("guest{guest}"), 40 + guest, 0);
        (0..3).for_each(|voter| vote(&mut bus, voter, it, true));
        assert!(bus.admitted(it));
    }
    bus.pass(20);
    assert_eq!(threshold(&bus), "50% of 6 window 2");
    let all = bus.players[0].transcript.roster().members().map(|member| member.member).collect();
    let decision = Decision::Electorate { voters: all };
    let motion = decision.digest();
    bus.command(0, Command::Propose(decision)).unwrap();
    for voter in [1, 2] {
        bus.command(voter, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(20);
    let roster = bus.players[0].transcript.roster();
    assert_eq!(roster.electorate().voters.len(), 9, "now there are voters enough");
    let update = roster.threshold_update().unwrap();
    assert!(bus.players[0].transcript.would_stand(&update).is_ok());
    let open = bus.players[0].admission.status(&bus.players[0].transcript).proposals;
    assert_eq!((open.len(), open[0].have), (1, 3), "proposed, and approved by all who run here");
}

#[test]
fn adm_37_one_who_is_away_does_not_hold_the_update_up() {
    let mut bus = group(3, 1, |draft| draft.ratio = Some((10, 0)));
    bus.players[0].up = false;
    let it = bus.stranger("guest", 40, 1);
    vote(&mut bus, 1, it, true);
    bus.pass(10);
    let rule = bus.players[1].transcript.roster().charter().threshold_rule().to_string();
    assert_eq!(rule, "10% of 4 window 0");
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
    bus.pass(10);
    let rule = bus.players[1].transcript.roster().charter().threshold_rule().to_string();
    assert_eq!(rule, "10% of 4 window 0", "{:#?}", bus.traces);
    assert!(bus.players[1].transcript.roster().is_member(&carl));
}
