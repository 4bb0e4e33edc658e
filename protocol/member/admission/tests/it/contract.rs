//! Strangers are admitted by enough votes and by nothing else; decisions take a quorum; what is
//! lost is sent again. Method: real machines and transcripts on a perfect ordered bus; members
//! stop, restart from disk, and change in between.

use crate::common::{Bus, NOW, change, charter, person, vote};
use bytes::Bytes;
use folkmoot_admission::{
    Admission, AdmissionError, Closed, Command, Config, Event, Input, Output, Phase, Reason,
};
use folkmoot_base::{Instant, UnixTime};
use folkmoot_transcript::{Change, Effect, Item};

#[test]
fn two_of_three_admit() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    assert!(bus.players.iter().all(|player| matches!(player.events[..], [Event::RequestArrived { .. }])));
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::CollectingVotes { have: 0, need: 2 });
    let refused = Event::Refused { reason: Reason::AwaitingVotes, have: 0, need: 2 };
    assert!(bus.strangers[dora].events.contains(&refused));
    vote(&mut bus, 1, dora, true);
    assert!(!bus.admitted(dora));
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::Admitted);
    assert_eq!(bus.items, 3, "two votes and a certificate");
    for player in &bus.players {
        assert!(
            player
                .events
                .iter()
                .any(|event| matches!(event, Event::RequestClosed { why: Closed::Granted, .. }))
        );
        assert!(player.disk.is_empty(), "{:?}", player.disk.keys());
        assert_eq!(player.admission.poll_timeout(), None);
    }
    assert!(bus.strangers[dora].disk.is_empty());
}

#[test]
fn enough_rejections_refuse() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 0, dora, false);
    vote(&mut bus, 1, dora, false);
    let refused = Event::Refused { reason: Reason::Rejected, have: 0, need: 2 };
    assert!(bus.strangers[dora].events.contains(&refused));
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora), "a yes replaces a no");
    let motion = [7; 32];
    assert_eq!(bus.command(0, Command::Vote { motion, approve: true }), Err(AdmissionError::LocalUnknown));
}

#[test]
fn two_applicants_at_once() {
    let mut bus = Bus::new(4, 2);
    let (dora, emil) = (bus.stranger("dora", 40, 0), bus.stranger("emil", 50, 1));
    vote(&mut bus, 2, dora, true);
    vote(&mut bus, 2, emil, true);
    vote(&mut bus, 3, emil, true);
    assert!(bus.admitted(emil) && !bus.admitted(dora));
    vote(&mut bus, 0, dora, true);
    assert!(bus.admitted(dora));
    assert_eq!(bus.players[0].transcript.mark(), bus.players[3].transcript.mark());
}

#[test]
fn another_contact_finishes() {
    let mut bus = Bus::new(4, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    bus.players[0].up = false;
    vote(&mut bus, 2, dora, true);
    bus.pass(5);
    assert!(!bus.admitted(dora));
    bus.dial(dora, 3);
    assert!(bus.admitted(dora));
}

#[test]
fn a_contact_that_restarts_mid_way_finishes() {
    let mut bus = Bus::new(3, 3);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 0, dora, true);
    bus.restart(0);
    vote(&mut bus, 2, dora, true);
    assert!(!bus.admitted(dora), "the contact has lost the others' votes");
    bus.pass(10);
    assert!(bus.admitted(dora));
}

#[test]
fn votes_lost_in_a_split_are_said_again() {
    let mut bus = Bus::new(3, 2);
    bus.players[2].up = false;
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    bus.players[2].up = true;
    bus.everyone(&Input::Regrouped);
    bus.pass(4);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn a_stranger_that_restarts_asks_the_same() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let asked = bus.request_of(1, dora);
    let stored: Vec<_> = bus.strangers[dora].disk.clone().into_iter().collect();
    bus.strangers[dora].applicant = folkmoot_admission::Applicant::load(&stored).unwrap();
    bus.dial(dora, 1);
    bus.pass(3);
    assert_eq!(bus.request_of(1, dora), asked);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn what_the_voters_rejected_is_not_proposed_again_in_silence() {
    let mut bus = Bus::new(3, 2);
    let target = bus.players[2].identity.member();
    bus.command(0, Command::Expel(target)).unwrap();
    let proposal = bus.status(1).proposals[0].proposal;
    for voter in [1, 2] {
        bus.command(voter, Command::Vote { motion: proposal, approve: false }).unwrap();
    }
    assert!(bus.status(0).proposals.is_empty());
    assert_eq!(bus.command(0, Command::Expel(target)), Err(AdmissionError::LocalRejected));
}

#[test]
fn a_quorum_expels() {
    let mut bus = Bus::new(4, 2);
    let target = bus.players[3].identity.member();
    bus.command(0, Command::Expel(target)).unwrap();
    assert!(bus.players[1].transcript.roster().is_member(&target));
    let proposal = bus.status(1).proposals[0].proposal;
    bus.command(1, Command::Vote { motion: proposal, approve: true }).unwrap();
    for player in &bus.players {
        assert!(!player.transcript.roster().is_member(&target));
        assert_eq!(player.transcript.roster().head().number, 1);
    }
    assert_eq!(bus.items, 4, "what is proposed, two votes, and the decision");
    assert!(bus.players[..3].iter().all(|player| player.disk.is_empty()));
}

#[test]
fn a_charter_field_and_the_electorate_change_by_quorum() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 1, dora, true);
    let mut voters: Vec<_> = bus.players.iter().map(|player| player.identity.member()).collect();
    voters.push(bus.strangers[dora].identity.member());
    for decision in [change("threshold", "3"), Change::Electorate { voters: voters.clone() }.into()] {
        let motion = decision.subject().digest;
        bus.command(2, Command::Propose(decision)).unwrap();
        bus.command(1, Command::Vote { motion, approve: true }).unwrap();
        if bus.players[0].transcript.roster().threshold() == 3
            && bus.players[0].transcript.roster().head().number == 1
        {
            bus.command(0, Command::Vote { motion, approve: true }).unwrap_or(());
        } else {
            bus.command(0, Command::Vote { motion, approve: true }).unwrap();
        }
    }
    assert_eq!(bus.players[0].transcript.roster().electorate(), voters);
    assert_eq!(bus.players[0].transcript.roster().charter().threshold(), 3);
}

/// Three proposals at once: each is decided that a quorum approves, and each vote says what it did.
#[test]
fn several_proposals_at_once_are_all_decided() {
    let mut bus = Bus::new(3, 2);
    let wants: Vec<Effect> =
        vec![change("certificate_days", "40"), change("request_hours", "50"), change("threshold", "1")];
    // All three speak before anyone hears.
    for (who, effect) in wants.iter().enumerate() {
        bus.order(who, Command::Propose(effect.clone())).unwrap();
    }
    bus.settle();
    assert_eq!(bus.players[0].transcript.roster().head().number, 0);
    assert!(bus.status(0).proposals.iter().all(|proposal| proposal.have == 1), "{:?}", bus.status(0));
    for effect in &wants {
        let motion = effect.subject().digest;
        for who in 0..3 {
            let _ = bus.command(who, Command::Vote { motion, approve: true });
        }
    }
    bus.pass(5);
    for player in &bus.players {
        let charter = player.transcript.roster().charter();
        assert_eq!((charter.certificate_days(), charter.request_hours(), charter.threshold()), (40, 50, 1));
        assert!(player.transcript.line().forks().is_empty());
    }
    assert!(bus.status(0).proposals.is_empty());
}

/// Two that cannot both be: of one field the later decision stands, and what was approved before it
/// is approved anew or forgotten.
#[test]
fn of_two_values_of_one_field_the_second_is_proposed_anew() {
    let mut bus = Bus::new(3, 2);
    let (a, b) = (change("certificate_days", "40"), change("certificate_days", "50"));
    bus.order(0, Command::Propose(a.clone())).unwrap();
    bus.order(1, Command::Propose(b.clone())).unwrap();
    bus.settle();
    bus.command(1, Command::Vote { motion: a.subject().digest, approve: true }).unwrap();
    assert_eq!(bus.players[2].transcript.roster().charter().certificate_days(), 40);
    let open = bus.status(0).proposals;
    assert!(open.is_empty(), "approved before the field changed: {open:?}");
    bus.command(0, Command::Propose(b.clone())).unwrap();
    bus.command(1, Command::Vote { motion: b.subject().digest, approve: true }).unwrap();
    assert_eq!(bus.players[2].transcript.roster().charter().certificate_days(), 50);
}

#[test]
fn a_voter_may_change_its_mind_until_it_is_decided() {
    let mut bus = Bus::new(4, 3);
    let a = change("certificate_days", "40");
    let motion = a.subject().digest;
    bus.command(0, Command::Propose(a)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    assert_eq!(bus.status(3).proposals[0].have, 2);
    bus.command(1, Command::Vote { motion, approve: false }).unwrap();
    assert_eq!(bus.status(3).proposals[0].have, 1);
    bus.command(2, Command::Vote { motion, approve: true }).unwrap();
    assert_eq!(bus.players[3].transcript.roster().head().number, 0, "two of three");
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(1);
    assert_eq!(bus.players[3].transcript.roster().charter().certificate_days(), 40);
}

#[test]
fn a_vote_that_was_lost_on_its_way_is_said_again_after_a_restart() {
    let mut bus = Bus::new(3, 2);
    let a = change("certificate_days", "40");
    let motion = a.subject().digest;
    bus.command(0, Command::Propose(a)).unwrap();
    bus.lose_items = true;
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    assert_eq!(bus.status(0).proposals[0].have, 1);
    bus.restart(1);
    bus.lose_items = false;
    bus.pass(10);
    assert_eq!(bus.players[2].transcript.roster().charter().certificate_days(), 40);
}

#[test]
fn requests_and_proposals_close_in_time() {
    let mut bus = Bus::new(3, 2);
    bus.stranger("dora", 40, 0);
    bus.command(0, Command::Propose(change("threshold", "1"))).unwrap();
    bus.time = UnixTime(NOW.0 + 73 * 3_600);
    bus.strangers.clear();
    bus.pass(0);
    for player in &bus.players {
        let status = player.admission.status(&player.transcript, &player.identity);
        assert!(status.requests.is_empty() && status.proposals.is_empty());
        assert!(player.disk.keys().all(|key| key.table == "vote"));
    }
}

#[test]
fn a_certificate_that_ran_out_is_entered_once() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 1, dora, true);
    assert!(bus.admitted(dora));
    bus.time = UnixTime(NOW.0 + 366 * 86_400);
    let before = bus.items;
    bus.pass(10);
    assert!(!bus.admitted(dora));
    assert_eq!(bus.items, before + 2, "a Past, and the decision that brings along who has no clock");
}

#[test]
fn a_request_outlives_a_change_of_the_charter() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    let effect = change("request_hours", "40");
    let motion = effect.subject().digest;
    bus.command(0, Command::Propose(effect)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(5);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn a_request_for_more_than_the_charter_allows_now_is_made_anew() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let old = bus.request_of(1, dora).unwrap();
    let effect = change("certificate_days", "40");
    let motion = effect.subject().digest;
    bus.command(0, Command::Propose(effect)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(5);
    let new = bus.request_of(1, dora).unwrap();
    assert_ne!(old, new);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn a_vote_is_persisted_before_it_is_sent() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let motion = bus.request_of(1, dora).unwrap();
    let player = &mut bus.players[1];
    for command in [Command::Vote { motion, approve: true }, Command::Propose(change("threshold", "1"))] {
        player
            .admission
            .order(bus.now, command, &player.transcript, &player.identity, &mut bus.dice)
            .unwrap();
        let mut persisted = false;
        while let Some(output) = player.admission.poll_output() {
            match output {
                Output::Persist(persist) => persisted |= persist.key.table == "vote",
                Output::Item(item) => match Item::decode(&item).unwrap() {
                    Item::Approval(_) => assert!(persisted),
                    other => assert!(matches!(other, Item::Effect(_)), "{other:?}"),
                },
                _ => {}
            }
        }
        assert!(persisted);
    }
}

#[test]
fn damaged_state_is_told() {
    let bus = Bus::new(3, 2);
    let player = &bus.players[0];
    for (table, key) in [("request", &b"rx"[..]), ("vote", b"wx"), ("vote", b"b")] {
        let key = folkmoot_base::StoreKey { table, key: Bytes::from_static(key) };
        let stored = [(key, Bytes::from_static(b"junk"))];
        let loaded = Admission::load(Config::default(), &player.transcript, &player.identity, &stored);
        assert_eq!(loaded.err(), Some(AdmissionError::LocalCorrupt(table)));
    }
    assert_eq!(bus.now, Instant(0));
    assert!(!charter(&[person("a", 1)], 1, 1).is_empty());
}
