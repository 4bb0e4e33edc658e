//! A transcript that lags: an authority, or a contact, that misses what others know waits for it,
//! and sends nobody away for good. Method: real members, transcripts and desks; items do not reach
//! one of them for a while.

use crate::common::town::{Town, agreed, plan};
use crate::common::{Bus, change, vote};
use folkmoot_admission::{AdmissionError, AuthorityMessage, Command, Event, Reason};
use folkmoot_identity::Scheme;
use folkmoot_transcript::ItemError;

/// The authority judges by its own copy of the transcript, which lags: it misses the votes, or the
/// decision over which they were cast.
#[test]
fn adm_68_an_authority_that_lags_waits_for_what_it_lacks() {
    for scheme in [Scheme::Plain, Scheme::Asm, Scheme::Frost] {
        for decided in [false, true] {
            let mut town = Town::found(&plan(scheme), |_| {});
            town.pass(8);
            town.desks[0].hears = false;
            for who in 0..if decided { 3 } else { 0 } {
                let _ = town.command(who, Command::Propose(change("request_hours", "48")));
            }
            town.pass(3);
            assert_eq!(
                town.transcript().roster().head().number > town.desks[0].transcript.roster().head().number,
                decided
            );
            let dora = town.stranger("dora", 40, 0);
            for voter in [1, 2] {
                town.vote(voter, dora, true);
            }
            town.pass(10);
            // Votes and multisignatures prove themselves; of the group's key's signature the votes
            // are known from the transcript.
            let carried = !decided && scheme != Scheme::Frost;
            assert_eq!(town.bus.admitted(dora), carried, "{scheme:?} {decided}: {:#?}", town.bus.traces);
            let denied = town.desks[0].told.iter().filter_map(|(_, word)| match word {
                AuthorityMessage::Denied { reason, .. } => Some(*reason),
                _ => None,
            });
            let denied: Vec<Reason> = denied.collect();
            assert_eq!(denied.is_empty(), carried);
            assert!(
                denied.iter().all(|reason| *reason == Reason::AwaitingAuthority),
                "{scheme:?}: {denied:?}"
            );
            town.desks[0].hears = true;
            town.pass(45);
            assert!(town.bus.admitted(dora), "{scheme:?} {decided}: {:#?}", town.bus.traces);
            assert_eq!(town.issued_on_disk(0).len(), 1);
        }
    }
}

#[test]
fn adm_61_votes_behind_a_signature_of_the_groups_key_run_out_too() {
    let mut town = Town::found(&plan(Scheme::Frost), |_| {});
    town.pass(8);
    agreed(&town);
    (0..2).for_each(|who| town.unlink(0, who));
    let dora = town.stranger("dora", 40, 0);
    for voter in [1, 2] {
        town.vote(voter, dora, true);
    }
    // The key has signed, and nobody hands it in until the authority's clock runs ahead.
    town.pass(10);
    town.desks[0].ahead = 80 * 3_600;
    town.pass(1);
    town.link(0, 0);
    town.pass(3);
    assert!(!town.bus.admitted(dora), "{:#?}", town.bus.traces);
    let last = town.desks[0].told.iter().rev().find_map(|(_, word)| match word {
        AuthorityMessage::Denied { reason, .. } => Some(*reason),
        _ => None,
    });
    assert_eq!(last, Some(Reason::Term), "{:?}", town.desks[0].errors);
    town.desks[0].ahead = 0;
    town.pass(45);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
}

/// The stranger has read of a decision that its contact does not know yet.
#[test]
fn a_contact_that_lags_keeps_the_guest_waiting() {
    let mut bus = Bus::new(3, 2);
    bus.players[2].up = false;
    let effect = change("request_hours", "48");
    let motion = effect.subject().digest;
    bus.command(0, Command::Propose(effect)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(3);
    assert_eq!(bus.players[0].transcript.state().head().number, 1);
    bus.players[2].up = true;
    let dora = bus.stranger("dora", 40, 2);
    let refused = Event::Refused { reason: Reason::AwaitingVotes, have: 0, need: 2 };
    assert_eq!(bus.strangers[dora].events, [refused]);
    assert_eq!(bus.players[2].errors, [AdmissionError::PeerItem(ItemError::Ahead)]);
    let asked = bus.strangers[dora].disk.clone();
    assert!(bus.catch_up(0, 2));
    bus.pass(20);
    assert_eq!(bus.strangers[dora].disk, asked, "the same request");
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 1, dora, true);
    assert!(bus.admitted(dora));
}

/// What was decided takes no room from what is to be decided, and is not proposed again by votes
/// that come late.
#[test]
fn many_decisions_in_a_row_leave_room_for_the_next() {
    let mut bus = Bus::new(3, 2);
    for hours in 10..50 {
        let effect = change("request_hours", &hours.to_string());
        let motion = effect.subject().digest;
        for who in 0..3 {
            bus.order(who, Command::Propose(effect.clone())).unwrap();
        }
        bus.settle();
        bus.pass(2);
        assert_eq!(bus.players[0].transcript.roster().charter().request_hours(), hours, "{motion:02x?}");
        assert!(bus.status(0).proposals.is_empty(), "{:?}", bus.status(0));
        assert_eq!(bus.players[1].transcript.set().effects().count(), 0);
    }
}
