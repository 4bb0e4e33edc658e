//! Strangers are admitted by enough votes and by nothing else; decisions take a quorum; what is lost is said again.
//! Method: real machines and transcripts on a perfect ordered bus; members stop, restart from disk, and change in between.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod common;

use bytes::Bytes;
use common::{Bus, Dice, NOW, charter, person};
use folkmoot_admission::{
    Admission, AdmissionError, Closed, Command, Config, Event, GuestMessage, Input, OpenMessage, Output,
    Phase, Reason,
};
use folkmoot_base::{Blob, Instant, UnixTime, codec, limits};
use folkmoot_identity::{
    Decision, GmcBody, Motion, Request, Slot, Transcript, Verdict, Vote, VoteContent, VoteProof,
};

fn vote(bus: &mut Bus, who: usize, which: usize, approve: bool) {
    let motion = bus.request_of(who, which).expect("request is open");
    bus.command(who, Command::Vote { motion, approve }).unwrap();
}

#[test]
fn two_of_three_admit() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    assert!(bus.seats.iter().all(|seat| matches!(seat.events[..], [Event::RequestArrived { .. }])));
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::CollectingVotes { have: 0, need: 2 });
    let refused = Event::Refused { reason: Reason::AwaitingVotes, have: 0, need: 2 };
    assert!(bus.strangers[dora].events.contains(&refused));
    vote(&mut bus, 1, dora, true);
    assert!(!bus.admitted(dora));
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::Admitted);
    assert_eq!(bus.entries, 1);
    for seat in &bus.seats {
        assert!(
            seat.events
                .iter()
                .any(|event| matches!(event, Event::RequestClosed { why: Closed::Granted, .. }))
        );
        assert!(seat.disk.is_empty(), "{:?}", seat.disk.keys());
        assert_eq!(seat.admission.poll_timeout(), None);
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
    assert_eq!(bus.seats[0].transcript.heads_digest(), bus.seats[3].transcript.heads_digest());
}

#[test]
fn another_contact_finishes() {
    let mut bus = Bus::new(4, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    bus.seats[0].up = false;
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
    bus.seats[2].up = false;
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    bus.seats[2].up = true;
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
    bus.strangers[dora].applicant = folkmoot_admission::Applicant::load(Config::default(), &stored).unwrap();
    bus.dial(dora, 1);
    bus.pass(3);
    assert_eq!(bus.request_of(1, dora), asked);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn a_quorum_expels() {
    let mut bus = Bus::new(4, 2);
    let target = bus.seats[3].identity.member();
    bus.command(0, Command::Expel(target)).unwrap();
    assert!(bus.seats[1].transcript.roster().is_member(&target));
    let proposal = bus.seats[1].admission.status(&bus.seats[1].transcript).proposals[0].proposal;
    bus.command(1, Command::Vote { motion: proposal, approve: true }).unwrap();
    for seat in &bus.seats {
        assert!(!seat.transcript.roster().is_member(&target));
        assert_eq!(seat.transcript.roster().electorate().serial, 1);
    }
    assert_eq!(bus.entries, 1);
    assert!(bus.seats[..3].iter().all(|seat| seat.disk.is_empty()));
}

#[test]
fn a_charter_field_and_the_electorate_change_by_quorum() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 1, dora, true);
    let mut voters: Vec<_> = bus.seats.iter().map(|seat| seat.identity.member()).collect();
    voters.push(bus.strangers[dora].identity.member());
    for decision in [Decision::change("threshold", "3"), Decision::Electorate { voters: voters.clone() }] {
        let motion = decision.digest();
        bus.command(2, Command::Propose(decision)).unwrap();
        bus.command(1, Command::Vote { motion, approve: true }).unwrap();
        if bus.seats[0].transcript.roster().threshold() == 3
            && bus.seats[0].transcript.roster().electorate().serial == 1
        {
            bus.command(0, Command::Vote { motion, approve: true }).unwrap_or(());
        } else {
            bus.command(0, Command::Vote { motion, approve: true }).unwrap();
        }
    }
    assert_eq!(bus.seats[0].transcript.roster().electorate().voters, voters);
    assert_eq!(bus.seats[0].transcript.roster().charter().threshold(), 3);
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
    assert_eq!(bus.seats[0].transcript.roster().electorate().serial, 0);
    for who in 0..3 {
        for decision in &wants {
            let _ = bus.command(who, Command::Vote { motion: decision.digest(), approve: true });
        }
    }
    bus.pass(5);
    for seat in &bus.seats {
        assert_eq!(seat.transcript.roster().electorate().serial, 1);
        assert_eq!(seat.transcript.roster().contradictions().count(), 0);
        assert_eq!(seat.transcript.roster().charter(), bus.seats[0].transcript.roster().charter());
    }
}

#[test]
fn a_voter_that_restarts_never_signs_two_decisions() {
    let mut bus = Bus::new(4, 2);
    let (a, b) = (Decision::change("certificate_days", "40"), Decision::change("certificate_days", "50"));
    bus.command(0, Command::Propose(a.clone())).unwrap();
    for seat in 1..4 {
        bus.seats[seat].up = false;
    }
    bus.restart(0);
    // A second wish waits: the vote of this ballot is spent, restart or not.
    bus.input(0, Input::Command(Command::Propose(b.clone()))).unwrap();
    let status = bus.seats[0].admission.status(&bus.seats[0].transcript);
    let have = |decision: &Decision| {
        status.proposals.iter().find(|p| p.proposal == decision.digest()).map(|p| p.approved.len())
    };
    assert_eq!((have(&a), have(&b)), (Some(1), Some(0)));
    let approvals = bus.seats[0].disk.keys().filter(|key| key.table == "vote").count();
    assert_eq!(approvals, 1);
}

#[test]
fn a_voter_with_an_older_disk_learns_its_vote_from_the_others() {
    let mut bus = Bus::new(4, 2);
    let a = Decision::change("certificate_days", "40");
    bus.command(0, Command::Propose(a.clone())).unwrap();
    bus.seats[0].disk.clear();
    let cms = own_vote(&bus, 0, &a, Slot { serial: 0, ballot: 0 }, Verdict::Approve);
    bus.restart(0);
    let (sender, payload) =
        (bus.seats[1].identity.member(), open(&OpenMessage::DecisionVote { decision: a, cms }));
    bus.input(0, Input::Open { sender, payload }).unwrap();
    assert!(bus.seats[0].disk.keys().any(|key| key.table == "vote"));
    let b = Decision::change("certificate_days", "50");
    bus.input(0, Input::Command(Command::Propose(b.clone()))).unwrap();
    let status = bus.seats[0].admission.status(&bus.seats[0].transcript);
    assert!(status.proposals.iter().any(|p| p.proposal == b.digest() && p.approved.is_empty()));
}

fn open(message: &OpenMessage) -> Bytes {
    codec::encode(message).into()
}

fn own_vote(bus: &Bus, who: usize, decision: &Decision, slot: Slot, verdict: Verdict) -> Blob {
    let seat = &bus.seats[who];
    let charter = seat.transcript.roster().charter().digest();
    let motion = decision.motion(seat.transcript.group(), charter, slot);
    let expires = UnixTime(NOW.0 + 1_000_000);
    Blob::from(Vote::sign(&seat.identity, VoteContent { motion, verdict, expires }).unwrap().der().to_vec())
}

fn hear(bus: &mut Bus, sender: usize, message: &OpenMessage) -> AdmissionError {
    let sender = bus.seats[sender].identity.member();
    bus.input(0, Input::Open { sender, payload: open(message) }).unwrap_err()
}

fn say(bus: &mut Bus, which: usize, message: &GuestMessage) -> AdmissionError {
    let from = bus.strangers[which].identity.node();
    bus.input(0, Input::Guest { from, payload: codec::encode(message).into() }).unwrap_err()
}

fn request(bus: &Bus, which: usize, change: impl Fn(&mut GmcBody)) -> GuestMessage {
    let it = &bus.strangers[which];
    let mut body =
        GmcBody::propose(it.transcript.roster().charter(), &it.identity, 3, bus.time, &mut Dice(5));
    change(&mut body);
    GuestMessage::Request { cms: Blob::from(Request::sign(&it.identity, body).unwrap().der().to_vec()) }
}

#[test]
fn adm_01_malformed_words_are_refused() {
    let mut bus = Bus::new(3, 2);
    let from = person("dora", 40).node();
    let sender = bus.seats[1].identity.member();
    for bytes in [Bytes::new(), Bytes::from_static(&[1, 9, 9]), Bytes::from(vec![1; 70_000])] {
        let guest = bus.input(0, Input::Guest { from, payload: bytes.clone() });
        assert!(matches!(guest, Err(AdmissionError::WireMalformed(_))));
        let open = bus.input(0, Input::Open { sender, payload: bytes });
        assert!(matches!(open, Err(AdmissionError::WireMalformed(_))));
    }
}

#[test]
fn adm_02_a_forged_request_is_refused() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 1);
    let GuestMessage::Request { cms } = request(&bus, dora, |_| {}) else { panic!("a request") };
    let mut bytes = cms.0.to_vec();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    let error = say(&mut bus, dora, &GuestMessage::Request { cms: Blob::from(bytes) });
    assert!(matches!(error, AdmissionError::WireRequest(_)));
}

#[test]
fn adm_03_a_guest_cannot_ask_for_another() {
    let mut bus = Bus::new(3, 2);
    let (dora, emil) = (bus.stranger("dora", 40, 1), bus.stranger("emil", 50, 1));
    let request = request(&bus, dora, |_| {});
    assert!(matches!(say(&mut bus, emil, &request), AdmissionError::PeerNotHolder(_)));
}

#[test]
fn adm_04_a_request_fits_group_and_charter() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 1);
    let other = folkmoot_base::GroupId([1; 32]);
    let wrong = [
        request(&bus, dora, |body| body.membership.group = other),
        request(&bus, dora, |body| body.membership.charter = [1; 32]),
        request(&bus, dora, |body| body.not_after.0 += 86_400),
        request(&bus, dora, |body| body.membership.threshold = 1),
    ];
    for request in wrong {
        assert!(matches!(say(&mut bus, dora, &request), AdmissionError::PeerCharter(_)));
    }
}

#[test]
fn adm_05_the_term_is_now() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 1);
    let early = request(&bus, dora, |body| {
        body.not_before.0 += 86_400;
    });
    let late = request(&bus, dora, |body| {
        body.not_before.0 -= 86_400 * 2;
        body.not_after.0 = NOW.0 - 86_400;
    });
    for request in [early, late] {
        assert!(matches!(say(&mut bus, dora, &request), AdmissionError::PeerTerm(_)));
    }
}

#[test]
fn adm_06_a_request_admits_once() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let digest = bus.request_of(0, dora).unwrap();
    let admission = &bus.seats[0].admission;
    assert!(admission.votes_on(&digest).is_empty());
    let key = bus.seats[0].disk.keys().find(|key| key.table == "request").unwrap().clone();
    let stored = bus.seats[0].disk[&key].clone();
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    let target = bus.strangers[dora].identity.member();
    bus.command(0, Command::Expel(target)).unwrap();
    let proposal = bus.seats[1].admission.status(&bus.seats[1].transcript).proposals[0].proposal;
    bus.command(1, Command::Vote { motion: proposal, approve: true }).unwrap();
    assert!(!bus.admitted(dora));
    // contact(32) expires(8) length(4), after the version byte
    let cms = Blob::from(stored[45..].to_vec());
    assert!(matches!(say(&mut bus, dora, &GuestMessage::Request { cms }), AdmissionError::PeerUsed(_)));
}

#[test]
fn adm_07_a_flood_of_requests_is_bounded() {
    let mut bus = Bus::new(5, 2);
    let charter = Transcript::genesis(&bus.charter()).unwrap().roster().charter().clone();
    let strangers: Vec<_> = (0..160).map(|seed| person("bogus", 1_000 + seed)).collect();
    let mut full = 0;
    for round in 0..10_000_usize {
        let which = round % strangers.len();
        if round >= strangers.len() && round % 50 != 0 {
            continue;
        }
        let body = GmcBody::propose(&charter, &strangers[which], 3, bus.time, &mut Dice(round as u64 * 10));
        let cms = Blob::from(Request::sign(&strangers[which], body).unwrap().der().to_vec());
        let sender = bus.seats[1 + which % 4].identity.member();
        let payload = open(&OpenMessage::Request { cms });
        full += usize::from(
            bus.input(0, Input::Open { sender, payload }) == Err(AdmissionError::PeerTooManyRequests),
        );
    }
    let status = bus.seats[0].admission.status(&bus.seats[0].transcript);
    assert_eq!(status.requests.len(), limits::REQUESTS_MAX);
    assert!(full > 0);
    let stored = bus.seats[0].disk.keys().filter(|key| key.table == "request").count();
    assert_eq!(stored, limits::REQUESTS_MAX);
}

#[test]
fn adm_08_a_guest_that_speaks_too_often_is_not_heard() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 1);
    let mut deaf = 0;
    for _ in 0..10_000 {
        let from = bus.strangers[dora].identity.node();
        let heard = bus.input(0, Input::Guest { from, payload: Bytes::from_static(&[1, 9]) });
        deaf += usize::from(heard == Err(AdmissionError::PeerTooOften(from)));
    }
    assert_eq!(deaf, 10_000 - 8);
}

#[test]
fn adm_09_strangers_do_not_speak_to_members() {
    let mut bus = Bus::new(3, 2);
    let sender = person("dora", 40).member();
    let payload = open(&OpenMessage::Proposal { decision: Decision::change("threshold", "1") });
    assert_eq!(bus.input(0, Input::Open { sender, payload }), Err(AdmissionError::PeerNotMember(sender)));
}

fn admit_vote(bus: &Bus, who: usize, motion: Motion, expires: UnixTime) -> OpenMessage {
    let content = VoteContent { motion, verdict: Verdict::Approve, expires };
    let vote = Vote::sign(&bus.seats[who].identity, content).unwrap();
    OpenMessage::Vote { cms: Blob::from(vote.der().to_vec()) }
}

#[test]
fn adm_10_to_16_votes_for_anything_else_are_refused() {
    let mut bus = Bus::new(3, 2);
    let (dora, emil) = (bus.stranger("dora", 40, 0), bus.stranger("emil", 50, 0));
    let (group, digest) = (bus.seats[0].transcript.group(), bus.request_of(0, dora).unwrap());
    let charter = bus.seats[0].transcript.roster().charter().digest();
    let right = Motion::admit(group, charter, digest);
    let soon = UnixTime(NOW.0 + 5_000);

    let OpenMessage::Vote { cms } = admit_vote(&bus, 1, right, soon) else { panic!("a vote") };
    let mut forged = cms.0.to_vec();
    let last = forged.len() - 3;
    forged[last] ^= 1;
    let forged = OpenMessage::Vote { cms: Blob::from(forged) };
    assert!(matches!(hear(&mut bus, 1, &forged), AdmissionError::WireVote(_)), "ADM-10");

    let stranger = &bus.strangers[emil].identity;
    let content = VoteContent { motion: right, verdict: Verdict::Approve, expires: soon };
    let cms = Blob::from(Vote::sign(stranger, content).unwrap().der().to_vec());
    assert!(
        matches!(hear(&mut bus, 1, &OpenMessage::Vote { cms }), AdmissionError::PeerNotVoter(_)),
        "ADM-11"
    );

    let group_vote = admit_vote(&bus, 1, Motion { group: folkmoot_base::GroupId([3; 32]), ..right }, soon);
    assert!(matches!(hear(&mut bus, 1, &group_vote), AdmissionError::PeerVoteGroup(_)), "ADM-12");
    let charter_vote = admit_vote(&bus, 1, Motion { charter: [3; 32], ..right }, soon);
    assert!(matches!(hear(&mut bus, 1, &charter_vote), AdmissionError::PeerVoteCharter(_)), "ADM-13");
    let candidate = admit_vote(&bus, 1, Motion { subject: [3; 32], ..right }, soon);
    assert!(matches!(hear(&mut bus, 1, &candidate), AdmissionError::PeerVoteUnknown(_)), "ADM-14");
    let ended = admit_vote(&bus, 1, right, UnixTime(NOW.0 - 5_000));
    assert!(matches!(hear(&mut bus, 1, &ended), AdmissionError::PeerVoteEnded(_)), "ADM-15");

    vote(&mut bus, 1, dora, true);
    let content = VoteContent { motion: right, verdict: Verdict::Reject, expires: soon };
    let cms = Blob::from(Vote::sign(&bus.seats[1].identity, content).unwrap().der().to_vec());
    assert!(
        matches!(hear(&mut bus, 1, &OpenMessage::Vote { cms }), AdmissionError::PeerVotedAlready(_)),
        "ADM-16"
    );
    let emils = bus.seats[0].admission.status(&bus.seats[0].transcript);
    assert!(emils.requests.iter().all(|r| r.have == usize::from(r.request == digest)));
}

#[test]
fn adm_17_an_older_request_does_not_displace_a_newer() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 1);
    let older = request(&bus, dora, |body| {
        body.not_before.0 -= 10;
        body.not_after.0 -= 10;
    });
    assert!(matches!(say(&mut bus, dora, &older), AdmissionError::PeerOlder(_)));
}

#[test]
fn adm_20_and_22_a_certificate_stands_by_its_votes() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let it = &bus.strangers[dora].identity;
    let body = GmcBody::propose(bus.seats[0].transcript.roster().charter(), it, 3, bus.time, &mut Dice(5));
    let mut votes: Vec<VoteProof> = Vec::new();
    for who in [0, 1] {
        let gmc = folkmoot_identity::Gmc::compose(&body, &votes, it).unwrap();
        let from = it.node();
        let payload = codec::encode(&GuestMessage::Certificate { der: Blob(gmc.der().clone()) }).into();
        let seat = &mut bus.seats[0];
        let result = seat.admission.handle(
            bus.now,
            Input::Guest { from, payload },
            &seat.transcript,
            &seat.identity,
            &mut bus.dice,
        );
        assert!(matches!(result, Err(AdmissionError::PeerEntry(_))), "{} votes: {result:?}", votes.len());
        let content = VoteContent {
            motion: body.motion().unwrap(),
            verdict: Verdict::Approve,
            expires: UnixTime(NOW.0 + 500),
        };
        votes.push(Vote::sign(&bus.seats[who].identity, content).unwrap().proof());
    }
    let junk = GuestMessage::Certificate { der: Blob::from(vec![0x30, 0]) };
    assert!(matches!(say(&mut bus, dora, &junk), AdmissionError::PeerCertificate(_)));
}

#[test]
fn adm_31_a_decision_must_make_sense() {
    let mut bus = Bus::new(3, 2);
    for decision in [
        Decision::change("name", "other"),
        Decision::change("threshold", "4"),
        Decision::Electorate { voters: Vec::new() },
        Decision::Remove {
            member: person("x", 99).member(),
            admission: bus.seats[0].transcript.genesis_id(),
        },
    ] {
        let error = hear(&mut bus, 1, &OpenMessage::Proposal { decision });
        assert!(matches!(error, AdmissionError::PeerDecision(_)));
    }
}

#[test]
fn adm_32_proposals_of_one_member_are_bounded() {
    let mut bus = Bus::new(3, 2);
    let sender = bus.seats[1].identity.member();
    let mut refused = 0;
    for days in 1..100 {
        let decision = Decision::change("certificate_days", &days.to_string());
        let payload = open(&OpenMessage::Proposal { decision });
        refused += usize::from(
            bus.input(0, Input::Open { sender, payload }) == Err(AdmissionError::PeerTooManyProposals),
        );
    }
    assert_eq!(refused, 99 - folkmoot_admission::MEMBER_PROPOSALS_MAX);
}

#[test]
fn adm_33_to_35_decision_votes_fit_decision_and_slot() {
    let mut bus = Bus::new(3, 2);
    let (a, b) = (Decision::change("certificate_days", "40"), Decision::change("certificate_days", "50"));
    let first = Slot { serial: 0, ballot: 0 };
    let cms = own_vote(&bus, 1, &a, first, Verdict::Approve);
    let swapped = OpenMessage::DecisionVote { decision: b.clone(), cms: cms.clone() };
    assert!(matches!(hear(&mut bus, 1, &swapped), AdmissionError::PeerVoteDecision(_)), "ADM-33");
    let sender = bus.seats[1].identity.member();
    let payload = open(&OpenMessage::DecisionVote { decision: a.clone(), cms });
    bus.input(0, Input::Open { sender, payload }).unwrap();
    for (decision, verdict) in [(&b, Verdict::Approve), (&a, Verdict::Reject)] {
        let cms = own_vote(&bus, 1, decision, first, verdict);
        let second = OpenMessage::DecisionVote { decision: decision.clone(), cms };
        assert!(matches!(hear(&mut bus, 1, &second), AdmissionError::PeerTwoVotes(_)), "ADM-34");
    }
    for slot in [Slot { serial: 1, ballot: 0 }, Slot { serial: 0, ballot: 64 }] {
        let cms = own_vote(&bus, 2, &a, slot, Verdict::Approve);
        let wrong = OpenMessage::DecisionVote { decision: a.clone(), cms };
        assert!(matches!(hear(&mut bus, 2, &wrong), AdmissionError::PeerSlot { .. }), "ADM-35");
    }
}

#[test]
fn requests_and_proposals_close_in_time() {
    let mut bus = Bus::new(3, 2);
    bus.stranger("dora", 40, 0);
    bus.command(0, Command::Propose(Decision::change("threshold", "1"))).unwrap();
    bus.time = UnixTime(NOW.0 + 73 * 3_600);
    bus.strangers.clear();
    bus.pass(0);
    for seat in &bus.seats {
        let status = seat.admission.status(&seat.transcript);
        assert!(status.requests.is_empty() && status.proposals.is_empty());
        assert!(seat.disk.keys().all(|key| key.table == "vote"));
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
    let seat = &mut bus.seats[1];
    for command in
        [Command::Vote { motion, approve: true }, Command::Propose(Decision::change("threshold", "1"))]
    {
        seat.admission
            .handle(bus.now, Input::Command(command), &seat.transcript, &seat.identity, &mut bus.dice)
            .unwrap();
        let mut persisted = false;
        while let Some(output) = seat.admission.poll_output() {
            match output {
                Output::Persist(persist) => persisted |= persist.key.table == "vote",
                Output::Multicast(payload) => match codec::decode(&payload).unwrap() {
                    OpenMessage::Vote { .. } | OpenMessage::DecisionVote { .. } => assert!(persisted),
                    OpenMessage::Request { .. } | OpenMessage::Proposal { .. } => {}
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
    let seat = &bus.seats[0];
    for (table, key) in [("request", &b"rx"[..]), ("vote", b"ax"), ("vote", b"dx")] {
        let key = folkmoot_base::StoreKey { table, key: Bytes::from_static(key) };
        let stored = [(key, Bytes::from_static(b"junk"))];
        let loaded = Admission::load(Config::default(), &seat.transcript, &seat.identity, &stored);
        assert_eq!(loaded.err(), Some(AdmissionError::LocalCorrupt(table)));
    }
    assert_eq!(bus.now, Instant(0));
    assert!(!charter(&[person("a", 1)], 1, 1).is_empty());
}
