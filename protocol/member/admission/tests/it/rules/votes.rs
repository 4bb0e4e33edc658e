//! Votes and decisions, rule by rule.

use super::*;

/// What `who` approves of a request, until then.
fn yes_until(bus: &Bus, who: usize, request: Digest, expires: UnixTime) -> SignedApproval {
    let player = &bus.players[who];
    player.transcript.approve(&player.identity, admission(request), Verdict::Approve, expires)
}

/// All take an item that this member has made.
fn all_take(bus: &mut Bus, item: &Bytes) {
    for who in 0..bus.players.len() {
        bus.take(who, item);
    }
    bus.settle();
}

/// Two strangers linked with the first of three, and the request of the first of them.
fn asked() -> (Bus, usize, Digest) {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    bus.stranger("emil", 50, 0);
    let digest = bus.request_of(0, dora).unwrap();
    (bus, dora, digest)
}

fn have(bus: &Bus, who: usize, request: Digest) -> Option<usize> {
    let requests = bus.status(who).requests;
    requests.iter().find(|open| open.request == request).map(|open| open.have)
}

const SOON: UnixTime = UnixTime(NOW.0 + 5_000);

#[test]
fn adm_11_only_voters_vote() {
    let (mut bus, dora, request) = asked();
    let subject = admission(request);
    let stranger = &bus.strangers[dora].identity;
    let said = bus.players[0].transcript.approve(stranger, subject, Verdict::Approve, SOON);
    let item = Bytes::from(Item::Approval(said).encode());
    let refused = bus.players[0].transcript.take(&item, Some(bus.time));
    assert_eq!(refused, Err(ItemError::NotVoter(stranger.member())));
    assert_eq!(have(&bus, 0, request), Some(0));
    // A member without a vote is told so: of a request, and of a proposal.
    for voter in [0, 1] {
        vote(&mut bus, voter, dora, true);
    }
    let identity = bus.strangers.remove(dora).identity;
    let mut member = crate::common::player(identity, &bus.charter());
    for item in bus.players[0].transcript.items().collect::<Vec<_>>() {
        member.transcript.take(&item, Some(bus.time)).unwrap();
    }
    bus.players.push(member);
    bus.command(0, Command::Propose(change("threshold", "1"))).unwrap();
    bus.pass(5);
    let motion = bus.status(3).proposals[0].proposal;
    for approve in [true, false] {
        let refused = bus.command(3, Command::Vote { motion, approve });
        assert_eq!(refused, Err(AdmissionError::LocalNotVoter));
    }
    assert_eq!(bus.status(0).proposals[0].have, 1);
    bus.pass(20);
    let motion = bus.request_of(3, 0).unwrap();
    let refused = bus.command(3, Command::Vote { motion, approve: true });
    assert_eq!(refused, Err(AdmissionError::LocalNotVoter));
    let said = word(&bus, 3, admission(motion), Verdict::Approve);
    assert!(!bus.take(0, &said), "whatever its machine says");
}

/// A yes is taken back as long as the request is open, and given again.
#[test]
fn a_yes_to_a_request_is_taken_back() {
    let (mut bus, dora, request) = asked();
    vote(&mut bus, 1, dora, true);
    assert_eq!(have(&bus, 2, request), Some(1));
    vote(&mut bus, 1, dora, false);
    assert_eq!(have(&bus, 2, request), Some(0));
    vote(&mut bus, 2, dora, true);
    assert!(!bus.admitted(dora), "one yes of two");
    vote(&mut bus, 1, dora, true);
    assert!(bus.admitted(dora));
}

#[test]
fn adm_15_votes_that_ran_out_are_refused() {
    let (mut bus, dora, request) = asked();
    let it = &bus.strangers[dora];
    let GuestMessage::Request { cms, .. } = super::request(&bus, dora, |_| {}) else { panic!("a request") };
    let own = Request::from_der(&cms.0).unwrap();
    let short = UnixTime(NOW.0 + 20);
    let mut votes: Vec<VoteProof> =
        [0, 1].map(|who| proof(&yes_until(&bus, who, own.digest(), short))).to_vec();
    votes.sort_by_key(|vote| vote.voter);
    let first = votes[0].voter;
    let gmc = Gmc::compose(own.body(), &votes, &it.identity).unwrap();
    let certificate = GuestMessage::Certificate { der: Blob(gmc.der().clone()) };
    bus.pass(81);
    assert_eq!(say(&mut bus, dora, &certificate), AdmissionError::PeerVoteEnded(first));
    assert!(!bus.admitted(dora));
    assert_eq!(have(&bus, 0, request), Some(0));
}

#[test]
fn adm_27_a_yes_that_no_certificate_could_carry_is_not_counted() {
    let (mut bus, dora, request) = asked();
    let early = yes_until(&bus, 1, request, UnixTime(NOW.0 - 30));
    let early = Item::Approval(early).encode().into();
    all_take(&mut bus, &early);
    assert_eq!(have(&bus, 0, request), Some(0));
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora), "the same voter's next vote counts");
}

#[test]
fn adm_27_a_yes_that_runs_out_is_counted_no_more() {
    let (mut bus, dora, request) = asked();
    let short = yes_until(&bus, 1, request, UnixTime(NOW.0 + 20));
    let short = Item::Approval(short).encode().into();
    all_take(&mut bus, &short);
    assert_eq!(have(&bus, 0, request), Some(1));
    // Clocks may differ by a minute.
    bus.pass(81);
    assert_eq!(have(&bus, 0, request), Some(0));
    vote(&mut bus, 2, dora, true);
    assert!(!bus.admitted(dora), "one vote of two");
    vote(&mut bus, 1, dora, true);
    assert!(bus.admitted(dora));
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
    let forbid = change("minority_may_admit", "false");
    let motion = forbid.subject().digest;
    bus.command(0, Command::Propose(forbid)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    assert!(!bus.players[0].transcript.roster().charter().minority_may_admit());
    let dora = bus.stranger("dora", 40, 0);
    let standing = |bus: &Bus| {
        let status = bus.status(0);
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
    let forbid = change("minority_may_admit", "false");
    let motion = forbid.subject().digest;
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
    let (it, transcript) = (&bus.strangers[dora].identity, &bus.players[0].transcript);
    let begins = UnixTime(NOW.0 - 800 * 86_400);
    let body = GmcBody::propose(transcript.roster().charter(), it, 3, begins, &mut Dice(5));
    let over = Gmc::compose(&body.over(transcript.state().head()), &[], it).unwrap();
    let over = GuestMessage::Certificate { der: Blob(over.der().clone()) };
    let refused = say(&mut bus, dora, &over);
    let ended = |error: &AdmissionError| {
        matches!(error, AdmissionError::PeerCertificate(CertificateError::PeerEnded(_)))
    };
    assert!(ended(&refused), "{refused:?}");
}

/// An approval as a certificate carries it.
fn proof(signed: &SignedApproval) -> VoteProof {
    let folkmoot_transcript::Approval { voter, base, turn, expires, .. } = signed.approval;
    let signature = folkmoot_identity::Signature::from_wire(&signed.signature).unwrap();
    VoteProof { voter, base, turn, expires, signature }
}

#[test]
fn adm_22_a_certificate_stands_by_its_votes() {
    let mut bus = Bus::new(3, 2);
    let dora = bus.stranger("dora", 40, 0);
    let GuestMessage::Request { cms, .. } = request(&bus, dora, |_| {}) else { panic!("a request") };
    let own = Request::from_der(&cms.0).unwrap();
    let bring = |bus: &mut Bus, votes: &[VoteProof]| {
        let mut votes = votes.to_vec();
        votes.sort_by_key(|vote| vote.voter);
        let gmc = Gmc::compose(own.body(), &votes, &bus.strangers[dora].identity).unwrap();
        let (from, der) = (gmc.node(), Blob(gmc.der().clone()));
        let payload = codec::encode(&GuestMessage::Certificate { der }).into();
        let said = bus.input(0, Input::Guest { from, payload });
        bus.settle();
        said
    };
    let votes = [0, 1].map(|who| proof(&yes_until(&bus, who, own.digest(), SOON)));
    for few in [&votes[..0], &votes[..1]] {
        let refused = bring(&mut bus, few);
        let policy = |error: &AdmissionError| {
            matches!(error, AdmissionError::PeerItem(ItemError::Late(Uncounted::Policy(_))))
        };
        assert!(refused.as_ref().is_err_and(policy), "{} votes: {refused:?}", few.len());
    }
    // Of two votes one is said to be by somebody else.
    let lent = [votes[0].clone(), VoteProof { voter: bus.players[2].identity.member(), ..votes[1].clone() }];
    assert!(matches!(bring(&mut bus, &lent), Err(AdmissionError::PeerItem(_))));
    assert!(!bus.admitted(dora));
    bring(&mut bus, &votes).unwrap();
    assert!(bus.admitted(dora));
}

#[test]
fn adm_31_a_decision_must_make_sense() {
    let mut bus = Bus::new(3, 2);
    for effect in [
        change("name", "other"),
        change("threshold", "4"),
        Change::Electorate { voters: Vec::new() }.into(),
        Change::Remove { member: person("x", 99).member() }.into(),
    ] {
        let error = hear(&mut bus, 1, &OpenMessage::Proposal { effect });
        assert!(matches!(error, AdmissionError::PeerDecision(_)));
    }
}

#[test]
fn adm_32_others_keep_out_no_voter() {
    let mut bus = Bus::new(6, 2);
    let senders: Vec<_> = bus.players[1..].iter().map(|player| player.identity.member()).collect();
    for days in 1..100 {
        let effect = change("certificate_days", &days.to_string());
        let payload = open(&OpenMessage::Proposal { effect });
        for sender in &senders {
            let _ = bus.input(0, Input::Open { sender: *sender, payload: payload.clone() });
        }
    }
    assert_eq!(bus.command(0, Command::Expel(senders[0])), Ok(()));
}

#[test]
fn adm_32_proposals_of_one_member_are_bounded() {
    let mut bus = Bus::new(3, 2);
    let sender = bus.players[1].identity.member();
    let mut refused = 0;
    for days in 1..100 {
        let effect = change("certificate_days", &days.to_string());
        let payload = open(&OpenMessage::Proposal { effect });
        refused += usize::from(
            bus.input(0, Input::Open { sender, payload }) == Err(AdmissionError::PeerTooManyProposals),
        );
    }
    assert_eq!(refused, 99 - folkmoot_admission::MEMBER_PROPOSALS_MAX);
}
