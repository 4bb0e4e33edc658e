//! Every check on what guests and members say, by the number of its rule in docs/protocol/admission.md.

use crate::common::{Bus, Dice, NOW, open, own_vote, person, vote};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Applicant, Command, Config, Event, GuestMessage, Input, OpenMessage, Output, Phase,
    Reason,
};
use folkmoot_base::{Blob, Instant, UnixTime, codec, limits};
use folkmoot_identity::{
    CertificateError, Decision, Gmc, GmcBody, Motion, Request, Slot, Transcript, Verdict, Vote, VoteContent,
    VoteProof,
};

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

fn admit_vote(bus: &Bus, who: usize, motion: Motion, expires: UnixTime) -> OpenMessage {
    let content = VoteContent { motion, verdict: Verdict::Approve, expires };
    let vote = Vote::sign(&bus.seats[who].identity, content).unwrap();
    OpenMessage::Vote { cms: Blob::from(vote.der().to_vec()) }
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

/// A request of a key that nobody knows.
fn bogus(bus: &Bus, seed: u64) -> Blob {
    let (who, charter) = (person("bogus", 1_000 + seed), bus.seats[0].transcript.roster().charter().clone());
    let body = GmcBody::propose(&charter, &who, 3, bus.time, &mut Dice(seed));
    Blob::from(Request::sign(&who, body).unwrap().der().to_vec())
}

fn all_hear(bus: &mut Bus, sender: usize, cms: &Blob) {
    let sender = bus.seats[sender].identity.member();
    bus.everyone(&Input::Open { sender, payload: open(&OpenMessage::Request { cms: cms.clone() }) });
}

fn requests_open(bus: &Bus, who: usize) -> usize {
    let open = bus.seats[who].admission.status(&bus.seats[who].transcript).requests.len();
    let stored = bus.seats[who].disk.keys().filter(|key| key.table == "request").count();
    assert_eq!(open, stored);
    open
}

#[test]
fn adm_07_a_flood_of_10_000_requests_is_bounded_and_an_honest_one_gets_through() {
    let mut bus = Bus::new(4, 2);
    let known: Vec<Blob> = (0..150).map(|seed| bogus(&bus, seed)).collect();
    let oversize = Blob::from(vec![0x30; 70_000]);
    let guests: Vec<_> = (0..20).map(|seed| person("guest", 5_000 + seed).node()).collect();
    guests.iter().for_each(|guest| bus.input(0, Input::LinkUp(*guest)).unwrap());
    let mut dora = None;
    for round in 0..10_000_usize {
        let which = &known[round / 5 % known.len()];
        match round % 5 {
            // New at first, then the same again and again.
            0 => all_hear(&mut bus, 1 + round / 5 % 3, which),
            1 => {
                let mut forged = which.0.to_vec();
                let place = forged.len() - 1 - round % 60;
                forged[place] ^= 1 << (round % 8);
                all_hear(&mut bus, 1 + round % 3, &Blob::from(forged));
            }
            2 => all_hear(&mut bus, 1 + round % 3, &oversize),
            3 => {
                let from = guests[round / 5 % guests.len()];
                let payload = codec::encode(&GuestMessage::Request { cms: which.clone() }).into();
                assert!(bus.input(0, Input::Guest { from, payload }).is_err(), "another's request");
            }
            _ => all_hear(&mut bus, 1 + round % 3, &Blob::from(round.to_be_bytes().to_vec())),
        }
        if round == 5_000 {
            dora = Some(bus.stranger("dora", 40, 0));
        }
        assert!(bus.seats[0].errors.len() <= round + 1, "one refusal at most for each");
    }
    let dora = dora.unwrap();
    for who in 0..4 {
        assert_eq!(requests_open(&bus, who), limits::REQUESTS_MAX / 2 + 1);
        let errors = &bus.seats[who].errors;
        let full = errors.iter().filter(|error| **error == AdmissionError::PeerTooManyRequests).count();
        let forged = errors.iter().filter(|error| matches!(error, AdmissionError::WireRequest(_))).count();
        assert!(full >= 86 && forged >= 4_000, "{full} found no place, {forged} were forged");
    }
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
    assert_eq!(requests_open(&bus, 0), limits::REQUESTS_MAX / 2);
    let guests_deaf = bus.seats[0].errors.iter().filter(|e| matches!(e, AdmissionError::PeerTooOften(_)));
    assert_eq!(guests_deaf.count(), 2_000 - 20 * 8);
}

#[test]
fn adm_07_one_contact_has_32_places() {
    let mut bus = Bus::new(3, 2);
    for seed in 0..40 {
        let cms = bogus(&bus, seed);
        all_hear(&mut bus, 1, &cms);
    }
    assert_eq!(requests_open(&bus, 0), folkmoot_admission::CONTACT_REQUESTS_MAX);
    let again = bogus(&bus, 0);
    assert_eq!(bus.seats[0].errors.len(), 8);
    all_hear(&mut bus, 1, &again);
    assert_eq!(bus.seats[0].errors.len(), 8, "one that is open is no further one");
}

#[test]
fn adm_07_no_number_of_doors_opens_more_than_128() {
    let mut bus = Bus::new(6, 2);
    for seed in 0..6 * 30 {
        let cms = bogus(&bus, seed);
        let (sender, payload) =
            (bus.seats[seed as usize % 6].identity.member(), open(&OpenMessage::Request { cms }));
        let _ = bus.input(0, Input::Open { sender, payload });
    }
    let open = requests_open(&bus, 0);
    assert!((limits::REQUESTS_MAX / 2..=limits::REQUESTS_MAX).contains(&open), "{open}");
}

#[test]
fn adm_07_who_finds_no_place_asks_another_contact() {
    let bus = Bus::new(3, 2);
    let [full, other] = [0, 1].map(|who| bus.seats[who].identity.node());
    let (me, transcript) = (person("dora", 40), Transcript::genesis(&bus.charter()).unwrap());
    let mut applicant = Applicant::new(Config::default());
    let mut said = Vec::new();
    let mut give = |applicant: &mut Applicant, now: Instant, input: Input| {
        applicant.handle(now, input, &transcript, &me, &mut Dice(7)).unwrap();
        while let Some(output) = applicant.poll_output() {
            if let Output::Guest { to, payload } = output {
                said.push((to, payload));
            }
        }
        said.last().cloned()
    };
    give(&mut applicant, bus.now, Input::LinkUp(full));
    give(&mut applicant, bus.now, Input::LinkUp(other));
    let (to, payload) = give(&mut applicant, bus.now, Input::Clock(NOW)).unwrap();
    assert_eq!(to, full);
    let GuestMessage::Request { cms } = codec::decode(&payload).unwrap() else { panic!("a request") };
    let request = Request::from_der(&cms.0).unwrap().digest();
    let standing = GuestMessage::Standing { request, have: 0, need: 2, reason: Reason::Full };
    let no_place = |from| Input::Guest { from, payload: codec::encode(&standing).into() };
    // At once.
    assert_eq!(give(&mut applicant, bus.now, no_place(full)).unwrap(), (other, payload.clone()));
    // Where nobody has one, after a pause; one who comes meanwhile is asked at once.
    for _ in 0..100 {
        assert_eq!(give(&mut applicant, bus.now, no_place(other)).unwrap(), (other, payload.clone()));
    }
    let third = bus.seats[2].identity.node();
    assert_eq!(give(&mut applicant, bus.now, Input::LinkUp(third)).unwrap(), (third, payload.clone()));
    assert_eq!(give(&mut applicant, bus.now, no_place(third)).unwrap(), (third, payload.clone()));
    let due = applicant.poll_timeout().unwrap();
    assert!(due >= bus.now + Config::default().resend);
    let (to, again) = give(&mut applicant, due, Input::Timeout).unwrap();
    assert!(to != third && again == payload);
}

/// What a request costs is not its verification but that every member has it on disk before the ring goes on.
#[test]
fn adm_26_a_guest_asks_anew_no_sooner_than_it_may() {
    let mut bus = Bus::new(3, 2);
    let node = person("guest", 5_000).node();
    let member = node.member();
    let anew = |bus: &Bus, seconds| {
        let charter = bus.seats[0].transcript.roster().charter();
        let identity = person("guest", 5_000);
        let body =
            GmcBody::propose(charter, &identity, 3, UnixTime(NOW.0 - 100 + seconds), &mut Dice(seconds));
        let cms = Blob::from(Request::sign(&identity, body).unwrap().der().to_vec());
        Input::Guest { from: node, payload: codec::encode(&GuestMessage::Request { cms }).into() }
    };
    let first = anew(&bus, 0);
    bus.input(0, first.clone()).unwrap();
    bus.settle();
    let (words, written) = (bus.words - bus.lost.len(), bus.seats[0].disk.clone());
    for second in 1..7 {
        let newer = anew(&bus, second);
        assert_eq!(bus.input(0, newer), Err(AdmissionError::PeerTooSoon(member)));
    }
    bus.settle();
    let after = bus.words - bus.lost.len();
    assert_eq!(after, words, "nobody but the guest hears of it");
    assert!(bus.seats[0].disk == written, "and nothing is written");
    assert_eq!(bus.seats[0].admission.counters().too_soon, 6);
    bus.input(0, first).unwrap();
    bus.pass(10);
    let newer = anew(&bus, 7);
    bus.input(0, newer).unwrap();
    bus.settle();
    assert_ne!(bus.seats[2].disk.keys().collect::<Vec<_>>(), written.keys().collect::<Vec<_>>());
    assert_eq!(requests_open(&bus, 2), 1, "in place of the first");
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

/// Two strangers at the door of the first of three, and what a right vote on the first of them signs.
fn asked() -> (Bus, usize, Motion) {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    bus.stranger("emil", 50, 0);
    let (group, digest) = (bus.seats[0].transcript.group(), bus.request_of(0, dora).unwrap());
    let charter = bus.seats[0].transcript.roster().charter().digest();
    (bus, dora, Motion::admit(group, charter, digest))
}

const SOON: UnixTime = UnixTime(NOW.0 + 5_000);

fn no_votes(bus: &Bus) {
    let status = bus.seats[0].admission.status(&bus.seats[0].transcript);
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
    let sender = bus.seats[1].identity.member();
    bus.everyone(&Input::Open { sender, payload: open(&OpenMessage::Vote { cms }) });
    let have = |bus: &Bus| {
        let requests = bus.seats[0].admission.status(&bus.seats[0].transcript).requests;
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
    let cms = Blob::from(Vote::sign(&bus.seats[1].identity, content).unwrap().der().to_vec());
    assert!(matches!(hear(&mut bus, 1, &OpenMessage::Vote { cms }), AdmissionError::PeerVotedAlready(_)));
    let status = bus.seats[0].admission.status(&bus.seats[0].transcript);
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
    assert!(!bus.seats[0].transcript.roster().charter().minority_may_admit());
    let dora = bus.stranger("dora", 40, 0);
    let standing = |bus: &Bus| {
        let status = bus.seats[0].admission.status(&bus.seats[0].transcript);
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
    let charter = bus.seats[0].transcript.roster().charter();
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
        bus.seats[0].transcript.roster().charter(),
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
        votes.push(Vote::sign(&bus.seats[who].identity, content).unwrap().proof());
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
    let sender = bus.seats[1].identity.member();
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
