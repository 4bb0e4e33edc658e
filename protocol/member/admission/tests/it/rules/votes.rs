//! Votes and decisions, rule by rule.

use super::*;

fn admit_vote(bus: &Bus, who: usize, motion: Motion, expires: UnixTime) -> OpenMessage {
    let content = VoteContent { motion, verdict: Verdict::Approve, expires };
    let vote = Vote::sign(&bus.players[who].identity, content).unwrap();
    OpenMessage::Vote { cms: Blob::from(vote.der().to_vec()) }
}

/// Two strangers linked with the first of three, and what a right vote on the first of them signs.
fn asked() -> (Bus, usize, Motion) {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    bus.stranger("emil", 50, 0);
    let (group, digest) = (bus.players[0].transcript.group(), bus.request_of(0, dora).unwrap());
    let charter = bus.players[0].transcript.roster().charter().digest();
    (bus, dora, Motion::admit(group, charter, digest))
}

const SOON: UnixTime = UnixTime(NOW.0 + 5_000);

fn no_votes(bus: &Bus) {
    let status = bus.players[0].admission.status(&bus.players[0].transcript);
    assert!(status.requests.iter().all(|request| request.have == 0));
}

#[test]
fn adm_10_a_forged_vote_is_refused() {
    let (mut bus, _, right) = asked();
    let OpenMessage::Vote { cms } = admit_vote(&bus, 1, right, SOON) else { panic!("a vote") };
    let mut forged = cms.0.to_vec();
    let last = forged.len() - 3;
    forged[last] ^= 1;
    let forged = OpenMessage::Vote { cms: Blob::from(forged) };
    assert!(matches!(hear(&mut bus, 1, &forged), AdmissionError::WireVote(_)));
    no_votes(&bus);
}

#[test]
fn adm_11_only_voters_vote() {
    let (mut bus, dora, right) = asked();
    let stranger = &bus.strangers[dora].identity;
    let content = VoteContent { motion: right, verdict: Verdict::Approve, expires: SOON };
    let cms = Blob::from(Vote::sign(stranger, content).unwrap().der().to_vec());
    assert!(matches!(hear(&mut bus, 1, &OpenMessage::Vote { cms }), AdmissionError::PeerNotVoter(_)));
    no_votes(&bus);
}

#[test]
fn adm_12_votes_of_another_group_are_refused() {
    let (mut bus, _, right) = asked();
    let wrong = admit_vote(&bus, 1, Motion { group: folkmoot_base::GroupId([3; 32]), ..right }, SOON);
    assert!(matches!(hear(&mut bus, 1, &wrong), AdmissionError::PeerVoteGroup(_)));
    no_votes(&bus);
}

#[test]
fn adm_13_votes_under_another_charter_are_refused() {
    let (mut bus, _, right) = asked();
    let wrong = admit_vote(&bus, 1, Motion { charter: [3; 32], ..right }, SOON);
    assert!(matches!(hear(&mut bus, 1, &wrong), AdmissionError::PeerVoteCharter(_)));
    no_votes(&bus);
}

#[test]
fn adm_14_votes_on_another_candidate_are_refused() {
    let (mut bus, _, right) = asked();
    let wrong = admit_vote(&bus, 1, Motion { subject: [3; 32], ..right }, SOON);
    assert!(matches!(hear(&mut bus, 1, &wrong), AdmissionError::PeerVoteUnknown(_)));
    no_votes(&bus);
}

#[test]
fn adm_15_votes_that_ran_out_are_refused() {
    let (mut bus, _, right) = asked();
    let wrong = admit_vote(&bus, 1, right, UnixTime(NOW.0 - 5_000));
    assert!(matches!(hear(&mut bus, 1, &wrong), AdmissionError::PeerVoteEnded(_)));
    no_votes(&bus);
}

#[test]
fn adm_27_a_yes_that_no_certificate_could_carry_is_not_counted() {
    let (mut bus, dora, right) = asked();
    let early = admit_vote(&bus, 1, right, UnixTime(NOW.0 - 30));
    assert!(matches!(hear(&mut bus, 1, &early), AdmissionError::PeerVoteEnded(_)));
    no_votes(&bus);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora), "the same voter's next vote counts");
}

#[test]
fn adm_27_a_yes_that_runs_out_is_counted_no_more() {
    let (mut bus, dora, right) = asked();
    let OpenMessage::Vote { cms } = admit_vote(&bus, 1, right, UnixTime(NOW.0 + 20)) else {
        panic!("a vote")
    };
    let sender = bus.players[1].identity.member();
    bus.everyone(&Input::Open { sender, payload: open(&OpenMessage::Vote { cms }) });
    let have = |bus: &Bus| {
        let requests = bus.players[0].admission.status(&bus.players[0].transcript).requests;
        requests.iter().find(|request| request.request == right.subject).map(|request| request.have)
    };
    assert_eq!(have(&bus), Some(1));
    bus.pass(25);
    assert_eq!(have(&bus), Some(0));
    vote(&mut bus, 2, dora, true);
    assert!(!bus.admitted(dora), "one vote of two");
    vote(&mut bus, 1, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn adm_16_the_first_vote_stands() {
    let (mut bus, dora, right) = asked();
    vote(&mut bus, 1, dora, true);
    let content = VoteContent { motion: right, verdict: Verdict::Reject, expires: SOON };
    let cms = Blob::from(Vote::sign(&bus.players[1].identity, content).unwrap().der().to_vec());
    assert!(matches!(hear(&mut bus, 1, &OpenMessage::Vote { cms }), AdmissionError::PeerVotedAlready(_)));
    let status = bus.players[0].admission.status(&bus.players[0].transcript);
    assert!(status.requests.iter().all(|r| r.have == usize::from(r.request == right.subject)));
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
fn adm_18_where_a_minority_may_not_admit_the_votes_are_a_quorum() {
    let mut bus = Bus::new(4, 1);
    let forbid = Decision::change("minority_may_admit", "false");
    let motion = forbid.digest();
    bus.command(0, Command::Propose(forbid)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    assert!(!bus.players[0].transcript.roster().charter().minority_may_admit());
    let dora = bus.stranger("dora", 40, 0);
    let standing = |bus: &Bus| {
        let status = bus.players[0].admission.status(&bus.players[0].transcript);
        (status.requests[0].have, status.requests[0].need)
    };
    assert_eq!(standing(&bus), (0, 2));
    vote(&mut bus, 2, dora, true);
    assert_eq!(standing(&bus), (1, 2));
    vote(&mut bus, 3, dora, true);
    assert_eq!(standing(&bus), (2, 3), "half without the first listed");
    assert!(!bus.admitted(dora));
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::CollectingVotes { have: 2, need: 3 });
    vote(&mut bus, 0, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn adm_18_two_who_said_no_can_refuse_for_four() {
    let mut bus = Bus::new(4, 1);
    let forbid = Decision::change("minority_may_admit", "false");
    let motion = forbid.digest();
    bus.command(0, Command::Propose(forbid)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 0, dora, false);
    vote(&mut bus, 1, dora, false);
    let refused = Event::Refused { reason: Reason::Rejected, have: 0, need: 2 };
    assert!(bus.strangers[dora].events.contains(&refused));
}

#[test]
fn adm_20_a_certificate_has_its_one_form_and_its_term_is_now() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let junk = GuestMessage::Certificate { der: Blob::from(vec![0x30, 0]) };
    assert!(matches!(say(&mut bus, dora, &junk), AdmissionError::PeerCertificate(_)));
    let it = &bus.strangers[dora].identity;
    let charter = bus.players[0].transcript.roster().charter();
    let body = GmcBody::propose(charter, it, 3, UnixTime(NOW.0 - 800 * 86_400), &mut Dice(5));
    let over = Gmc::compose(&body, &[], it).unwrap();
    let over = GuestMessage::Certificate { der: Blob(over.der().clone()) };
    let refused = say(&mut bus, dora, &over);
    let ended = |error: &AdmissionError| {
        matches!(error, AdmissionError::PeerCertificate(CertificateError::PeerEnded(_)))
    };
    assert!(ended(&refused), "{refused:?}");
}

#[test]
fn adm_22_a_certificate_stands_by_its_votes() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let body = GmcBody::propose(
        bus.players[0].transcript.roster().charter(),
        &bus.strangers[dora].identity,
        3,
        bus.time,
        &mut Dice(5),
    );
    let mut votes: Vec<VoteProof> = Vec::new();
    for who in [0, 1] {
        let gmc = Gmc::compose(&body, &votes, &bus.strangers[dora].identity).unwrap();
        let certificate = GuestMessage::Certificate { der: Blob(gmc.der().clone()) };
        let refused = say(&mut bus, dora, &certificate);
        assert!(matches!(refused, AdmissionError::PeerEntry(_)), "{} votes: {refused:?}", votes.len());
        let motion = body.motion().unwrap();
        let content = VoteContent { motion, verdict: Verdict::Approve, expires: SOON };
        votes.push(Vote::sign(&bus.players[who].identity, content).unwrap().proof());
    }
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
            admission: bus.players[0].transcript.genesis_id(),
        },
    ] {
        let error = hear(&mut bus, 1, &OpenMessage::Proposal { decision });
        assert!(matches!(error, AdmissionError::PeerDecision(_)));
    }
}

#[test]
fn adm_32_proposals_of_one_member_are_bounded() {
    let mut bus = Bus::new(3, 2);
    let sender = bus.players[1].identity.member();
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
fn adm_33_a_vote_is_on_the_decision_that_came_with_it() {
    let mut bus = Bus::new(3, 2);
    let (a, b) = (Decision::change("certificate_days", "40"), Decision::change("certificate_days", "50"));
    let cms = own_vote(&bus, 1, &a, Slot { serial: 0, ballot: 0 }, Verdict::Approve);
    let swapped = OpenMessage::DecisionVote { decision: b, cms };
    assert!(matches!(hear(&mut bus, 1, &swapped), AdmissionError::PeerVoteDecision(_)));
}

#[test]
fn adm_34_one_approval_in_a_ballot() {
    let mut bus = Bus::new(3, 2);
    let (a, b) = (Decision::change("certificate_days", "40"), Decision::change("certificate_days", "50"));
    let first = Slot { serial: 0, ballot: 0 };
    let cms = own_vote(&bus, 1, &a, first, Verdict::Approve);
    let sender = bus.players[1].identity.member();
    let payload = open(&OpenMessage::DecisionVote { decision: a.clone(), cms });
    bus.input(0, Input::Open { sender, payload }).unwrap();
    for (decision, verdict) in [(&b, Verdict::Approve), (&a, Verdict::Reject)] {
        let cms = own_vote(&bus, 1, decision, first, verdict);
        let second = OpenMessage::DecisionVote { decision: decision.clone(), cms };
        assert!(matches!(hear(&mut bus, 1, &second), AdmissionError::PeerTwoVotes(_)));
    }
}

#[test]
fn adm_35_decision_votes_are_of_the_present_serial() {
    let mut bus = Bus::new(3, 2);
    let a = Decision::change("certificate_days", "40");
    for slot in [Slot { serial: 1, ballot: 0 }, Slot { serial: 0, ballot: 64 }] {
        let cms = own_vote(&bus, 2, &a, slot, Verdict::Approve);
        let wrong = OpenMessage::DecisionVote { decision: a.clone(), cms };
        assert!(matches!(hear(&mut bus, 2, &wrong), AdmissionError::PeerSlot { .. }));
    }
}
