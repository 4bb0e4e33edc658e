//! Every check on what guests and members say, by the number of its rule in
//! docs/protocol/admission.md.

mod votes;

use crate::common::{Bus, Dice, HOST, NOW, change, open, person, vote, word};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Applicant, Command, Event, GuestMessage, Input, OpenMessage, Output, Phase, Reason,
};
use folkmoot_base::{Blob, Digest, Instant, UnixTime, codec, limits};
use folkmoot_identity::{CertificateError, Gmc, GmcBody, Mode, Request, Scheme, Verdict, VoteProof};
use folkmoot_transcript::{Change, Item, ItemError, SignedApproval, Transcript, Uncounted, admission};

fn hear(bus: &mut Bus, sender: usize, message: &OpenMessage) -> AdmissionError {
    let sender = bus.players[sender].identity.member();
    bus.input(0, Input::Open { sender, payload: open(message) }).unwrap_err()
}

fn say(bus: &mut Bus, which: usize, message: &GuestMessage) -> AdmissionError {
    let from = bus.strangers[which].identity.node();
    bus.input(0, Input::Guest { from, payload: codec::encode(message).into() }).unwrap_err()
}

fn request(bus: &Bus, which: usize, change: impl Fn(&mut GmcBody)) -> GuestMessage {
    let it = &bus.strangers[which];
    let charter = it.transcript.roster().charter();
    let body = GmcBody::propose(charter, &it.identity, 3, bus.time, &mut Dice(5));
    let mut body = body.over(it.transcript.state().head());
    change(&mut body);
    GuestMessage::Request {
        cms: Blob::from(Request::sign(&it.identity, body).unwrap().der().to_vec()),
        voucher: None,
        endorsement: None,
    }
}

#[test]
fn adm_01_malformed_words_are_refused() {
    let mut bus = Bus::new(3, 2);
    let from = person("dora", 40).node();
    let sender = bus.players[1].identity.member();
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
    let GuestMessage::Request { cms, .. } = request(&bus, dora, |_| {}) else { panic!("a request") };
    let mut bytes = cms.0.to_vec();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    let error = say(
        &mut bus,
        dora,
        &GuestMessage::Request { cms: Blob::from(bytes), voucher: None, endorsement: None },
    );
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
        request(&bus, dora, |body| body.membership.base.digest = [1; 32]),
        request(&bus, dora, |body| body.not_after.0 += 86_400),
        request(&bus, dora, |body| body.membership.scheme = Scheme::Asm),
        request(&bus, dora, |body| body.membership.mode = Mode::Centralised),
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

/// Its own clock has not reached what the contact's shows. Its person is told, once.
#[test]
fn adm_05_a_voter_whose_clock_is_behind_is_told() {
    let mut bus = Bus::new(3, 2);
    bus.input(1, Input::Clock(UnixTime(NOW.0 - 300))).unwrap();
    let told = |bus: &Bus| {
        let behind = |event: &&Event| matches!(event, Event::ClockBehind { .. });
        bus.players[1].events.iter().filter(behind).cloned().collect::<Vec<_>>()
    };
    let contact = bus.players[0].identity.member();
    bus.stranger("dora", 40, 0);
    bus.stranger("erik", 41, 0);
    assert!(
        matches!(told(&bus)[..], [Event::ClockBehind { than: Some(than), seconds }]
        if than == contact && (200..=300).contains(&seconds)),
        "{:?}",
        told(&bus)
    );
    assert_eq!((bus.status(1).requests.len(), bus.status(2).requests.len()), (0, 2));
    // The two others decide something. Its time has not come here either.
    let target = bus.players[2].identity.member();
    let change = Change::Electorate { voters: vec![contact, target] };
    bus.command(0, Command::Propose(change.into())).unwrap();
    let proposal = bus.status(2).proposals[0].proposal;
    bus.command(2, Command::Vote { motion: proposal, approve: true }).unwrap();
    let told = told(&bus);
    assert!(matches!(told[1..], [Event::ClockBehind { than: None, .. }]), "{told:?}");
}

#[test]
fn adm_06_a_request_admits_once() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let key = bus.players[0].disk.keys().find(|key| key.table == "request").unwrap().clone();
    let stored = bus.players[0].disk[&key].clone();
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    let target = bus.strangers[dora].identity.member();
    bus.command(0, Command::Expel(target)).unwrap();
    let proposal = bus.status(1).proposals[0].proposal;
    bus.command(1, Command::Vote { motion: proposal, approve: true }).unwrap();
    assert!(!bus.admitted(dora));
    // contact(32) expires(8) length(4), after the version byte; no voucher and no endorsement at the end
    let cms = Blob::from(stored[45..stored.len() - 2].to_vec());
    assert!(matches!(
        say(&mut bus, dora, &GuestMessage::Request { cms, voucher: None, endorsement: None }),
        AdmissionError::PeerUsed(_)
    ));
}

/// A request of a key that nobody knows.
fn bogus(bus: &Bus, seed: u64) -> Blob {
    let (who, transcript) = (person("bogus", 1_000 + seed), &bus.players[0].transcript);
    let body = GmcBody::propose(transcript.roster().charter(), &who, 3, bus.time, &mut Dice(seed));
    let body = body.over(transcript.state().head());
    Blob::from(Request::sign(&who, body).unwrap().der().to_vec())
}

fn all_hear(bus: &mut Bus, sender: usize, cms: &Blob) {
    let sender = bus.players[sender].identity.member();
    bus.everyone(&Input::Open {
        sender,
        payload: open(&OpenMessage::Request {
            cms: cms.clone(),
            voucher: None,
            endorsement: None,
            instead: None,
        }),
    });
}

fn requests_open(bus: &Bus, who: usize) -> usize {
    let open = bus.status(who).requests.len();
    let stored = bus.players[who].disk.keys().filter(|key| key.table == "request").count();
    assert_eq!(open, stored);
    open
}

#[test]
fn adm_07_a_flood_of_10_000_requests_is_bounded_and_an_honest_one_gets_through() {
    let mut bus = Bus::new(4, 2);
    let known: Vec<Blob> = (0..150).map(|seed| bogus(&bus, seed)).collect();
    let oversize = Blob::from(vec![0x30; 70_000]);
    let guests: Vec<_> = (0..20).map(|seed| person("guest", 5_000 + seed).node()).collect();
    guests.iter().for_each(|guest| bus.input(0, Input::LinkUp { node: *guest, host: HOST }).unwrap());
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
                let payload = codec::encode(&GuestMessage::Request {
                    cms: which.clone(),
                    voucher: None,
                    endorsement: None,
                })
                .into();
                assert!(bus.input(0, Input::Guest { from, payload }).is_err(), "another's request");
            }
            _ => all_hear(&mut bus, 1 + round % 3, &Blob::from(round.to_be_bytes().to_vec())),
        }
        if round == 5_000 {
            dora = Some(bus.stranger("dora", 40, 0));
        }
        assert!(bus.players[0].errors.len() <= round + 1, "one refusal at most for each");
    }
    let dora = dora.unwrap();
    for who in 0..4 {
        assert_eq!(requests_open(&bus, who), limits::REQUESTS_MAX / 2 + 1);
        let errors = &bus.players[who].errors;
        let full = errors.iter().filter(|error| **error == AdmissionError::PeerTooManyRequests).count();
        let forged = errors.iter().filter(|error| matches!(error, AdmissionError::WireRequest(_))).count();
        assert!(full >= 86 && forged >= 4_000, "{full} found no place, {forged} were forged");
    }
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
    assert_eq!(requests_open(&bus, 0), limits::REQUESTS_MAX / 2);
    let guests_deaf = bus.players[0].errors.iter().filter(|e| matches!(e, AdmissionError::PeerTooOften(_)));
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
    assert_eq!(bus.players[0].errors.len(), 8);
    all_hear(&mut bus, 1, &again);
    assert_eq!(bus.players[0].errors.len(), 8, "one that is open is no further one");
}

#[test]
fn adm_07_no_number_of_doors_opens_more_than_128() {
    let mut bus = Bus::new(6, 2);
    for seed in 0..6 * 30 {
        let cms = bogus(&bus, seed);
        let (sender, payload) = (
            bus.players[seed as usize % 6].identity.member(),
            open(&OpenMessage::Request { cms, voucher: None, endorsement: None, instead: None }),
        );
        let _ = bus.input(0, Input::Open { sender, payload });
    }
    let open = requests_open(&bus, 0);
    assert!((limits::REQUESTS_MAX / 2..=limits::REQUESTS_MAX).contains(&open), "{open}");
}

#[test]
fn adm_07_who_finds_no_place_asks_another_contact() {
    let bus = Bus::new(3, 2);
    let [full, other] = [0, 1].map(|who| bus.players[who].identity.node());
    let (me, transcript) = (person("dora", 40), Transcript::founded(&bus.charter()).unwrap());
    let mut applicant = Applicant::default();
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
    give(&mut applicant, bus.now, Input::LinkUp { node: full, host: HOST });
    give(&mut applicant, bus.now, Input::LinkUp { node: other, host: HOST });
    let (to, payload) = give(&mut applicant, bus.now, Input::Clock(NOW)).unwrap();
    assert_eq!(to, full);
    let GuestMessage::Request { cms, .. } = codec::decode(&payload).unwrap() else { panic!("a request") };
    let request = Request::from_der(&cms.0).unwrap().digest();
    let standing = GuestMessage::Standing { request, have: 0, need: 2, reason: Reason::Full };
    let no_place = |from| Input::Guest { from, payload: codec::encode(&standing).into() };
    // At once.
    assert_eq!(give(&mut applicant, bus.now, no_place(full)).unwrap(), (other, payload.clone()));
    // If no contact has room, after a pause; one that comes meanwhile is asked at once.
    for _ in 0..100 {
        assert_eq!(give(&mut applicant, bus.now, no_place(other)).unwrap(), (other, payload.clone()));
    }
    let third = bus.players[2].identity.node();
    assert_eq!(
        give(&mut applicant, bus.now, Input::LinkUp { node: third, host: HOST }).unwrap(),
        (third, payload.clone())
    );
    assert_eq!(give(&mut applicant, bus.now, no_place(third)).unwrap(), (third, payload.clone()));
    let due = applicant.poll_timeout().unwrap();
    assert!(due >= bus.now + core::time::Duration::from_secs(2));
    let (to, again) = give(&mut applicant, due, Input::Timeout).unwrap();
    assert!(to != third && again == payload);
}

/// The cost of a request is not its verification: every member has it on disk before the ring goes
/// on.
#[test]
fn adm_26_a_guest_asks_anew_no_sooner_than_it_may() {
    let mut bus = Bus::new(3, 2);
    let node = person("guest", 5_000).node();
    let member = node.member();
    let anew = |bus: &Bus, seconds| {
        let transcript = &bus.players[0].transcript;
        let (charter, identity) = (transcript.roster().charter(), person("guest", 5_000));
        let begins = UnixTime(NOW.0 - 100 + seconds);
        let body = GmcBody::propose(charter, &identity, 3, begins, &mut Dice(seconds));
        let body = body.over(transcript.state().head());
        let cms = Blob::from(Request::sign(&identity, body).unwrap().der().to_vec());
        Input::Guest {
            from: node,
            payload: codec::encode(&GuestMessage::Request { cms, voucher: None, endorsement: None }).into(),
        }
    };
    let first = anew(&bus, 0);
    bus.input(0, first.clone()).unwrap();
    bus.settle();
    let (words, written) = (bus.words - bus.lost.len(), bus.players[0].disk.clone());
    for second in 1..7 {
        let newer = anew(&bus, second);
        assert_eq!(bus.input(0, newer), Err(AdmissionError::PeerTooSoon(member)));
    }
    bus.settle();
    let after = bus.words - bus.lost.len();
    assert_eq!(after, words, "nobody but the guest hears of it");
    assert!(bus.players[0].disk == written, "and nothing is written");
    assert_eq!(bus.players[0].admission.counters().too_soon, 6);
    bus.input(0, first).unwrap();
    bus.pass(10);
    let newer = anew(&bus, 7);
    bus.input(0, newer).unwrap();
    bus.settle();
    assert_ne!(bus.players[2].disk.keys().collect::<Vec<_>>(), written.keys().collect::<Vec<_>>());
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
fn adm_28_a_guest_heeds_answers_about_its_own_request_alone() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let (from, phase) = (bus.players[0].identity.node(), bus.strangers[dora].applicant.phase());
    let reasons = [Reason::Objected, Reason::Stale, Reason::AwaitingVotes];
    let standing =
        reasons.map(|reason| GuestMessage::Standing { request: [7; 32], have: 9, need: 9, reason });
    let votes = GuestMessage::Votes { request: [7; 32], votes: Vec::new() };
    for answer in standing.into_iter().chain([votes]) {
        let input = Input::Guest { from, payload: codec::encode(&answer).into() };
        let it = &mut bus.strangers[dora];
        let heard = it.applicant.handle(bus.now, input, &it.transcript, &it.identity, &mut bus.dice);
        assert_eq!(heard, Err(AdmissionError::PeerOtherRequest(from)));
        assert!(it.applicant.poll_output().is_none());
        assert_eq!(it.applicant.phase(), phase);
    }
}

#[test]
fn adm_09_strangers_do_not_speak_to_members() {
    let mut bus = Bus::new(3, 2);
    let sender = person("dora", 40).member();
    let payload = open(&OpenMessage::Proposal { effect: change("threshold", "1") });
    assert_eq!(bus.input(0, Input::Open { sender, payload }), Err(AdmissionError::PeerNotMember(sender)));
}
