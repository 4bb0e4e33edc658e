//! A member's own certificate renewed in a group whose authority signs: voted on, granted to
//! whoever hands it in, entered by its holder alone. Method: real members, transcripts and desks.

use crate::common::player;
use crate::common::town::{Town, plan};
use folkmoot_admission::{Command, Input};
use folkmoot_base::{Digest, UnixTime};
use folkmoot_identity::{Gmc, Scheme};
use std::collections::BTreeSet;

/// How much later the renewal is asked for, in seconds.
const LATER: u64 = 1_000;
/// Dora's place among the members.
const DORA: usize = 5;

/// Five founders, and dora, who has become a member like them; two of the founders reach the
/// authority.
fn with_dora(scheme: Scheme) -> Town {
    let mut town = Town::found(&plan(scheme), |_| {});
    town.pass(8);
    let which = town.stranger("dora", 40, 0);
    for voter in [1, 2] {
        town.vote(voter, which, true);
    }
    town.pass(10);
    assert!(town.bus.admitted(which), "{:#?}", town.bus.traces);
    let mut dora = player(town.bus.strangers[which].identity.clone(), &town.bus.charter());
    for item in
        town.bus.players[0].transcript.lacking(dora.transcript.state().head(), &BTreeSet::new(), usize::MAX)
    {
        dora.transcript.take(&item, Some(town.bus.time)).unwrap();
    }
    town.bus.strangers.clear();
    town.bus.players.push(dora);
    town.bus.time = UnixTime(town.bus.time.0 + LATER);
    town.pass(1);
    town
}

fn open(town: &Town, who: usize) -> Option<Digest> {
    town.bus.status(who).requests.first().map(|request| request.request)
}

fn end(town: &Town) -> UnixTime {
    town.transcript().roster().member(&town.bus.players[DORA].identity.member()).unwrap().ends
}

fn yes(town: &mut Town, voters: &[usize]) -> Digest {
    let motion = open(town, voters[0]).expect("the renewal is open");
    for who in voters {
        town.command(*who, Command::Vote { motion, approve: true }).unwrap();
    }
    motion
}

#[test]
fn adm_55_an_authority_signs_a_renewal_as_an_admission() {
    for scheme in [Scheme::Plain, Scheme::Asm, Scheme::Frost] {
        for linked in [false, true] {
            let mut town = with_dora(scheme);
            let (before, members) = (end(&town), town.transcript().roster().len());
            if linked {
                town.link(0, DORA);
            }
            town.command(DORA, Command::Renew).unwrap();
            let motion = yes(&mut town, &[1]);
            town.pass(2);
            assert_eq!(end(&town), before, "{scheme:?}: fewer votes are not enough");
            town.bus.restart(DORA);
            yes(&mut town, &[2]);
            town.pass(30);
            assert!(end(&town).0 >= before.0 + LATER, "{scheme:?} {linked}: {:#?}", town.bus.traces);
            let roster = town.transcript().roster();
            let held = town.transcript().certificate_of(&town.bus.players[DORA].identity.member());
            let gmc = Gmc::from_der(&held.unwrap()).unwrap();
            assert_eq!((gmc.body().request_digest(), roster.len()), (Ok(motion), members));
            assert_eq!(gmc.check_central(roster.charter()), Ok(()));
            assert_eq!(open(&town, DORA), None);
        }
    }
}

#[test]
fn adm_55_nobody_renews_for_another_where_an_authority_signs() {
    let mut town = with_dora(Scheme::Plain);
    let before = end(&town);
    town.command(DORA, Command::Renew).unwrap();
    town.bus.players[DORA].up = false;
    yes(&mut town, &[1, 2]);
    town.pass(20);
    // Granted: dora and the one before are all that was ever signed. It is hers to enter.
    assert_eq!((town.issued_on_disk(0).len(), end(&town)), (2, before), "{:#?}", town.bus.traces);
    town.bus.restart(DORA);
    town.bus.everyone(&Input::Regrouped);
    town.pass(30);
    assert!(end(&town) > before, "{:#?}", town.bus.traces);
}

/// A voter goes between certificate and item: what was signed stands no more, and it was signed
/// once for good.
#[test]
fn adm_55_a_renewal_whose_certificate_does_not_stand_is_asked_for_anew() {
    let mut town = with_dora(Scheme::Plain);
    let before = end(&town);
    town.command(DORA, Command::Renew).unwrap();
    town.bus.players[DORA].up = false;
    let first = yes(&mut town, &[1, 4]);
    town.pass(20);
    assert_eq!(town.issued_on_disk(0).len(), 2);
    let gone = town.bus.players[4].identity.member();
    for who in 0..3 {
        let _ = town.command(who, Command::Expel(gone));
    }
    town.bus.players[4].up = false;
    assert!(!town.transcript().roster().is_member(&gone));
    town.bus.restart(DORA);
    town.bus.merge();
    town.pass(40);
    assert_eq!(end(&town), before);
    let second = open(&town, 1).expect("another request");
    assert_ne!(first, second, "{:#?}", town.bus.traces);
    yes(&mut town, &[1, 2]);
    town.pass(20);
    assert!(end(&town) > before, "{:#?}", town.bus.traces);
}
