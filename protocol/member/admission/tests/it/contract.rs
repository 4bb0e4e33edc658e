//! Strangers are admitted by enough votes and by nothing else; decisions take a quorum; what is
//! lost is sent again. Method: real machines and transcripts on a perfect ordered bus; members
//! stop, restart from disk, and change in between.

use crate::common::{Bus, NOW, charter, open, own_vote, person, vote};
use bytes::Bytes;
use folkmoot_admission::{
    Admission, AdmissionError, Closed, Command, Config, Event, Input, OpenMessage, Output, Phase, Reason,
};
use folkmoot_base::{Instant, UnixTime, codec};
use folkmoot_identity::{Decision, Slot, Verdict};

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
    assert_eq!(bus.entries, 1);
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
    assert_eq!(bus.players[0].transcript.heads_digest(), bus.players[3].transcript.heads_digest());
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
    let proposal = bus.players[1].admission.status(&bus.players[1].transcript).proposals[0].proposal;
    for voter in [1, 2] {
        bus.command(voter, Command::Vote { motion: proposal, approve: false }).unwrap();
    }
    assert!(bus.players[0].admission.status(&bus.players[0].transcript).proposals.is_empty());
    assert_eq!(bus.command(0, Command::Expel(target)), Err(AdmissionError::LocalRejected));
}

#[test]
fn a_quorum_expels() {
    let mut bus = Bus::new(4, 2);
    let target = bus.players[3].identity.member();
    bus.command(0, Command::Expel(target)).unwrap();
    assert!(bus.players[1].transcript.roster().is_member(&target));
    let proposal = bus.players[1].admission.status(&bus.players[1].transcript).proposals[0].proposal;
    bus.command(1, Command::Vote { motion: proposal, approve: true }).unwrap();
    for player in &bus.players {
        assert!(!player.transcript.roster().is_member(&target));
        assert_eq!(player.transcript.roster().electorate().serial, 1);
    }
    assert_eq!(bus.entries, 1);
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
    for decision in [Decision::change("threshold", "3"), Decision::Electorate { voters: voters.clone() }] {
        let motion = decision.digest();
        bus.command(2, Command::Propose(decision)).unwrap();
        bus.command(1, Command::Vote { motion, approve: true }).unwrap();
        if bus.players[0].transcript.roster().threshold() == 3
            && bus.players[0].transcript.roster().electorate().serial == 1
        {
            bus.command(0, Command::Vote { motion, approve: true }).unwrap_or(());
        } else {
            bus.command(0, Command::Vote { motion, approve: true }).unwrap();
        }
    }
    assert_eq!(bus.players[0].transcript.roster().electorate().voters, voters);
    assert_eq!(bus.players[0].transcript.roster().charter().threshold(), 3);
}

#[test]
fn a_split_ballot_goes_on_to_the_next() {
    let mut bus = Bus::new(3, 2);
    let wants = ["40", "50", "60"].map(|days| Decision::change("certificate_days", days));
    // All three speak before anyone hears.
    for (who, decision) in wants.iter().enumerate() {
        bus.input(who, Input::Command(Command::Propose(decision.clone()))).unwrap();
    }
    bus.settle();
    assert_eq!(bus.players[0].transcript.roster().electorate().serial, 0);
    for who in 0..3 {
        for decision in &wants {
            let _ = bus.command(who, Command::Vote { motion: decision.digest(), approve: true });
        }
    }
    bus.pass(5);
    for player in &bus.players {
        assert_eq!(player.transcript.roster().electorate().serial, 1);
        assert_eq!(player.transcript.roster().contradictions().count(), 0);
        assert_eq!(player.transcript.roster().charter(), bus.players[0].transcript.roster().charter());
    }
}

#[test]
fn a_voter_that_restarts_never_signs_two_decisions() {
    let mut bus = Bus::new(4, 2);
    let (a, b) = (Decision::change("certificate_days", "40"), Decision::change("certificate_days", "50"));
    bus.command(0, Command::Propose(a.clone())).unwrap();
    for player in 1..4 {
        bus.players[player].up = false;
    }
    bus.restart(0);
    // A second wish waits: the vote of this ballot is spent, restart or not.
    bus.input(0, Input::Command(Command::Propose(b.clone()))).unwrap();
    let status = bus.players[0].admission.status(&bus.players[0].transcript);
    let have = |decision: &Decision| {
        status.proposals.iter().find(|p| p.proposal == decision.digest()).map(|p| p.approved.len())
    };
    assert_eq!((have(&a), have(&b)), (Some(1), Some(0)));
    let approvals = bus.players[0].disk.keys().filter(|key| key.table == "vote").count();
    assert_eq!(approvals, 1);
}

#[test]
fn a_voter_with_an_older_disk_learns_its_vote_from_the_others() {
    let mut bus = Bus::new(4, 2);
    let a = Decision::change("certificate_days", "40");
    bus.command(0, Command::Propose(a.clone())).unwrap();
    bus.players[0].disk.clear();
    let cms = own_vote(&bus, 0, &a, Slot { serial: 0, ballot: 0 }, Verdict::Approve);
    bus.restart(0);
    let (sender, payload) =
        (bus.players[1].identity.member(), open(&OpenMessage::DecisionVote { decision: a, cms }));
    bus.input(0, Input::Open { sender, payload }).unwrap();
    assert!(bus.players[0].disk.keys().any(|key| key.table == "vote"));
    let b = Decision::change("certificate_days", "50");
    bus.input(0, Input::Command(Command::Propose(b.clone()))).unwrap();
    let status = bus.players[0].admission.status(&bus.players[0].transcript);
    assert!(status.proposals.iter().any(|p| p.proposal == b.digest() && p.approved.is_empty()));
}

#[test]
fn requests_and_proposals_close_in_time() {
    let mut bus = Bus::new(3, 2);
    bus.stranger("dora", 40, 0);
    bus.command(0, Command::Propose(Decision::change("threshold", "1"))).unwrap();
    bus.time = UnixTime(NOW.0 + 73 * 3_600);
    bus.strangers.clear();
    bus.pass(0);
    for player in &bus.players {
        let status = player.admission.status(&player.transcript);
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
    let before = bus.entries;
    bus.pass(10);
    assert!(!bus.admitted(dora));
    assert_eq!(bus.entries, before + 1);
}

#[test]
fn a_change_of_the_charter_overtakes_requests_and_the_stranger_asks_again() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let old = bus.request_of(1, dora).unwrap();
    let decision = Decision::change("certificate_days", "40");
    let motion = decision.digest();
    bus.command(0, Command::Propose(decision)).unwrap();
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
    for command in
        [Command::Vote { motion, approve: true }, Command::Propose(Decision::change("threshold", "1"))]
    {
        player
            .admission
            .handle(bus.now, Input::Command(command), &player.transcript, &player.identity, &mut bus.dice)
            .unwrap();
        let mut persisted = false;
        while let Some(output) = player.admission.poll_output() {
            match output {
                Output::Persist(persist) => persisted |= persist.key.table == "vote",
                Output::Multicast(payload) => match codec::decode(&payload).unwrap() {
                    OpenMessage::Vote { .. } | OpenMessage::DecisionVote { .. } => assert!(persisted),
                    OpenMessage::Request { .. } | OpenMessage::Proposal { .. } => {}
                    OpenMessage::Signer { .. } | OpenMessage::Revocations { .. } => {}
                    OpenMessage::Granted { .. } => {}
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
    for (table, key) in [("request", &b"rx"[..]), ("vote", b"ax"), ("vote", b"dx")] {
        let key = folkmoot_base::StoreKey { table, key: Bytes::from_static(key) };
        let stored = [(key, Bytes::from_static(b"junk"))];
        let loaded = Admission::load(Config::default(), &player.transcript, &player.identity, &stored);
        assert_eq!(loaded.err(), Some(AdmissionError::LocalCorrupt(table)));
    }
    assert_eq!(bus.now, Instant(0));
    assert!(!charter(&[person("a", 1)], 1, 1).is_empty());
}
