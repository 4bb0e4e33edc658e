//! Two sides of a split, and the authority linked with one or both: what each may do, and that
//! nothing is granted twice when they meet again. Method: real members, transcripts and desks on a
//! bus that is cut and joined again.

use crate::common::town::{Plan, Town, denied, grant, granted, plan};
use bytes::Bytes;
use folkmoot_admission::{AuthorityMessage, Command, Event, Reason};
use folkmoot_base::MemberId;
use folkmoot_identity::{Dealer, Gmc, Scheme, Serial};
use std::collections::BTreeSet;

/// Three on the one side, two on the other. The authority is linked with the first two, and also
/// with the fourth if it reaches both sides.
fn cut(scheme: Scheme, both: bool) -> Town {
    let mut town =
        Town::found(&Plan { dealer: scheme.shared().then_some(Dealer::Keeps), ..plan(scheme) }, |_| {});
    town.pass(8);
    if both {
        town.link(0, 3);
    }
    town.bus.cut = Some(3);
    town
}

fn on(town: &Town, who: usize, member: &MemberId) -> bool {
    town.bus.players[who].transcript.roster().is_member(member)
}

/// All agree; no two members have a certificate of one serial number.
fn whole(town: &Town) {
    let first = town.transcript().roster();
    for player in town.bus.players.iter().filter(|player| player.up) {
        assert_eq!(player.transcript.mark(), town.transcript().mark());
        assert_eq!(player.transcript.roster().members(), first.members());
    }
    let held: Vec<Gmc> = first
        .members()
        .keys()
        .filter_map(|member| town.transcript().certificate_of(member))
        .map(|der| Gmc::from_der(&der).unwrap())
        .collect();
    let serials: BTreeSet<Serial> = held.iter().map(|gmc| gmc.body().serial).collect();
    assert_eq!(serials.len(), held.len());
}

fn yes(town: &mut Town, guest: usize, voters: &[usize]) {
    let member = town.bus.strangers[guest].identity.member();
    for voter in voters {
        let open = town.bus.status(*voter).requests;
        let motion = open.iter().find(|open| open.member == member).unwrap().request;
        town.command(*voter, Command::Vote { motion, approve: true }).unwrap();
    }
}

#[test]
fn the_side_that_reaches_the_authority_admits_and_the_other_waits_for_it() {
    for scheme in [Scheme::Plain, Scheme::Frost] {
        let mut town = cut(scheme, false);
        let (dora, erik) = (town.stranger("dora", 40, 0), town.stranger("erik", 41, 3));
        yes(&mut town, dora, &[1, 2]);
        yes(&mut town, erik, &[3, 4]);
        town.pass(20);
        let (dora_is, erik_is) =
            (town.bus.strangers[dora].identity.member(), town.bus.strangers[erik].identity.member());
        assert!(on(&town, 0, &dora_is) && !on(&town, 3, &dora_is) && !on(&town, 3, &erik_is), "{scheme:?}");
        let waits = |event: &Event| matches!(event, Event::Refused { reason: Reason::AwaitingAuthority, .. });
        assert!(town.bus.strangers[erik].events.iter().any(waits), "{:?}", town.bus.strangers[erik].events);
        town.bus.merge();
        town.pass(20);
        whole(&town);
        assert!(on(&town, 0, &dora_is) && on(&town, 0, &erik_is), "{scheme:?} {:#?}", town.bus.traces);
        assert_eq!(town.issued_on_disk(0).len(), 2);
    }
}

#[test]
fn where_both_reach_it_each_side_admits_its_own() {
    let mut town = cut(Scheme::Plain, true);
    let (dora, erik) = (town.stranger("dora", 40, 0), town.stranger("erik", 41, 3));
    yes(&mut town, dora, &[1, 2]);
    yes(&mut town, erik, &[3, 4]);
    town.pass(8);
    let (dora, erik) =
        (town.bus.strangers[dora].identity.member(), town.bus.strangers[erik].identity.member());
    assert!(on(&town, 0, &dora) && !on(&town, 0, &erik), "{:#?}", town.bus.traces);
    assert!(on(&town, 3, &erik) && !on(&town, 3, &dora), "{:#?}", town.bus.traces);
    town.bus.merge();
    town.pass(3);
    whole(&town);
    assert!(on(&town, 0, &erik) && on(&town, 3, &dora));
}

/// The two sides do not know what the other has handed in. The authority does.
#[test]
fn one_request_at_both_sides_is_one_certificate_and_one_serial_number_is_one_holder() {
    let mut town = cut(Scheme::Plain, true);
    let request = town.request(40, |_| {});
    let other = town.request(41, |body| body.serial = request.body().serial);
    let (here, there) = (town.votes(&request, &[1, 2]), town.votes(&request, &[3, 4]));
    let der = granted(&town.say(0, 0, &grant(&request, here)).1);
    assert_eq!(granted(&town.say(0, 3, &grant(&request, there)).1), der);
    assert_eq!(denied(&town.say(0, 3, &grant(&other, town.votes(&other, &[3, 4]))).1), Reason::Stale);
    enter(&mut town, &[0, 1, 2], &der);
    enter(&mut town, &[3, 4], &der);
    town.bus.merge();
    town.pass(3);
    whole(&town);
    let member = request.member();
    assert_eq!((town.transcript().roster().len(), on(&town, 4, &member)), (6, true));
    assert_eq!(denied(&town.say(0, 0, &grant(&other, town.votes(&other, &[1, 2]))).1), Reason::Stale);
    // Entered twice, and out by one decision; the list names the one number.
    for who in 0..3 {
        let _ = town.command(who, Command::Expel(member));
    }
    town.pass(12);
    whole(&town);
    assert!((0..5).all(|who| !on(&town, who, &member)));
    let list = town.bus.players[4].admission.revocations().expect("a list");
    assert_eq!(list.body().serials().iter().copied().collect::<Vec<_>>(), [request.body().serial]);
}

fn enter(town: &mut Town, side: &[usize], der: &Bytes) {
    let first = &town.bus.players[side[0]];
    let item = first.transcript.make_admit(der, &[]).unwrap();
    for who in side {
        town.bus.take(*who, &item);
    }
    town.settle();
}

/// The larger side expels one of the smaller, and has new shares; the smaller signs by those that
/// are over.
#[test]
fn a_side_without_a_quorum_gets_no_shares_and_nothing_by_those_that_are_over() {
    let mut town = cut(Scheme::Frost, true);
    let before = town.transcript().roster().sharing().unwrap().facts.clone();
    let gone = town.bus.players[4].identity.member();
    for who in 0..3 {
        let _ = town.command(who, Command::Expel(gone));
    }
    town.pass(12);
    let after = town.transcript().roster().sharing().unwrap().facts.clone();
    assert!(after.epoch != before.epoch && after.holders.len() == 3 && after.key == before.key);
    assert_eq!(town.bus.players[3].transcript.roster().sharing().unwrap().facts, before);
    let erik = town.stranger("erik", 41, 3);
    yes(&mut town, erik, &[3, 4]);
    town.pass(15);
    let member = town.bus.strangers[erik].identity.member();
    assert!(!on(&town, 3, &member));
    let granted = town.desks[0].told.iter().any(|(_, word)| matches!(word, AuthorityMessage::Granted { .. }));
    assert!(!granted && town.issued_on_disk(0).is_empty());
    town.bus.merge();
    town.bus.players[4].up = false;
    town.pass(20);
    whole(&town);
    // The fourth has its share of the next, and erik is let in by those who still vote.
    assert_eq!(
        town.transcript().roster().sharing().unwrap().facts.holders.len(),
        4,
        "{:#?}",
        town.bus.traces
    );
    yes(&mut town, erik, &[0]);
    town.pass(30);
    assert!(on(&town, 0, &member), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
    whole(&town);
}
