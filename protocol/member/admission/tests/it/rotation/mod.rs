//! A member gets another key: its new key signs, its old key gives its word, a quorum decides.

mod dealt;
mod mixed;
mod signed;

use crate::common::{Bus, Dice, person};
use bytes::Bytes;
use folkmoot_admission::{AdmissionError, Closed, Command, Config, Event, Input, OpenMessage};
use folkmoot_base::{Danger, Digest, MemberId, Mutant, UnixTime};
use folkmoot_identity::{Gmc, GmcBody, Identity, Scheme, Verdict};
use folkmoot_transcript::{Change, ItemError, ROTATE_LABEL, Unfit};

const BEN: usize = 3;
/// What he is called.
const NAME: &str = "founder4";

fn founded(scheme: Scheme) -> Bus {
    let mut bus = Bus::silent(scheme, 4, 2);
    bus.pass(12);
    bus
}

/// The certificate of a new key: as proposed, but for `change`.
fn of_new_key(bus: &Bus, new: &Identity, change: impl Fn(&mut GmcBody)) -> Bytes {
    let roster = bus.players[0].transcript.roster();
    let body = GmcBody::propose(roster.charter(), new, 4, bus.time, &mut Dice(77));
    let mut body = body.over(roster.head());
    change(&mut body);
    Gmc::compose_bare(&body, new, &mut Dice(88)).unwrap().der().clone()
}

/// What is proposed at a member: the name of the proposal that gives ben another key.
fn proposed(bus: &Bus, who: usize) -> Option<Digest> {
    let is = |change: &Change| matches!(change, Change::Rotate { .. });
    bus.status(who).proposals.iter().find(|one| is(&one.effect.change)).map(|one| one.proposal)
}

/// A vote of a former key is refused as such.
fn refuses_vote(bus: &Bus, who: usize, old: &Identity, vote: &Bytes) {
    let heard = bus.players[who].transcript.clone().take(vote, Some(bus.time)).map(|taken| taken.new);
    assert_eq!(heard, Err(ItemError::NotVoter(old.member())), "the vote of a former key is taken");
}

fn is_member(bus: &Bus, who: usize, of: &Identity) -> bool {
    bus.players[who].transcript.roster().is_member(&of.member())
}

#[test]
fn id_86_another_key_takes_the_members_place_by_a_quorum() {
    for scheme in [Scheme::Plain, Scheme::Asm] {
        takes_the_members_place(scheme);
    }
}

fn takes_the_members_place(scheme: Scheme) {
    let (mut bus, new) = (founded(scheme), person(NAME, 90));
    let old = bus.players[BEN].identity.clone();
    let certificate = of_new_key(&bus, &new, |_| ());
    bus.command(BEN, Command::Rotate(certificate.clone())).unwrap();
    bus.pass(2);
    let motion = proposed(&bus, 0).expect("it is proposed");
    // Ben's own machine has approved it. Said again it is the same proposal.
    bus.command(BEN, Command::Rotate(certificate)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(3);
    assert!(is_member(&bus, 0, &old) && !is_member(&bus, 0, &new), "half, without the first, is no quorum");
    bus.command(2, Command::Vote { motion, approve: true }).unwrap();
    bus.pass(5);
    for who in 0..3 {
        assert!(!is_member(&bus, who, &old) && is_member(&bus, who, &new), "{:#?}", bus.traces);
        let roster = bus.players[who].transcript.roster();
        assert!(roster.may_vote(&new.member()) && !roster.may_vote(&old.member()));
        let closed = |event: &Event| matches!(event, Event::ProposalClosed { proposal, why: Closed::Granted, .. } if *proposal == motion);
        assert!(bus.players[who].events.iter().any(closed));
        assert_eq!(bus.players[who].admission.poll_timeout(), None, "something is still at work");
    }
    // From the decision on the old key says nothing any more.
    let expel = bus.command(BEN, Command::Expel(bus.players[0].identity.member()));
    assert!(expel.is_err() || proposed(&bus, 0).is_none());
    bus.pass(5);
    assert!(bus.status(0).proposals.is_empty(), "{:#?}", bus.status(0).proposals);
    let again = of_new_key(&bus, &person(NAME, 91), |_| ());
    let refused = bus.command(BEN, Command::Rotate(again)).unwrap_err();
    assert_eq!(refused, AdmissionError::LocalNotMember(old.member()));
}

#[test]
fn id_86_what_is_no_other_key_is_refused() {
    let (mut bus, new) = (founded(Scheme::Plain), person(NAME, 90));
    let refused =
        |bus: &mut Bus, certificate: Bytes| bus.command(BEN, Command::Rotate(certificate)).unwrap_err();
    let taken = of_new_key(&bus, &bus.players[1].identity.clone(), |_| ());
    assert!(matches!(refused(&mut bus, taken), AdmissionError::LocalRotation(_)));
    let good = of_new_key(&bus, &new, |_| ());
    let mut bad = good.to_vec();
    *bad.last_mut().unwrap() ^= 1;
    assert!(matches!(refused(&mut bus, bad.into()), AdmissionError::PeerCertificate(_)));
    // Where others sign the certificate, what the new key signs is a request.
    let mut shared = founded(Scheme::Frost);
    assert!(matches!(refused(&mut shared, good), AdmissionError::WireRequest(_)));
    bus.pass(2);
    assert_eq!(proposed(&bus, 0), None);
}

/// Ben may not be called otherwise by it, nor does any program approve that.
fn tries_another_name(voters: Option<Danger>) -> bool {
    let (mut bus, new) = (founded(Scheme::Plain), person("founder1", 90));
    let certificate = of_new_key(&bus, &new, |_| ());
    let refused = bus.command(BEN, Command::Rotate(certificate.clone())).unwrap_err();
    assert!(matches!(refused, AdmissionError::LocalRotation(_)), "{refused:?}");
    let danger = |danger| Config { danger: Mutant::from(danger), ..Config::default() };
    bus.restart_as(BEN, danger(Some(Danger::AdmissionAnyRotation)));
    for who in 0..3 {
        bus.restart_as(who, danger(voters));
    }
    bus.pass(5);
    bus.command(BEN, Command::Rotate(certificate)).unwrap();
    bus.pass(2);
    let motion = proposed(&bus, 0).expect("it is proposed");
    for who in 1..3 {
        let voted = bus.command(who, Command::Vote { motion, approve: true });
        assert_eq!(voted.is_ok(), voters.is_some(), "{voted:?}");
    }
    bus.pass(10);
    is_member(&bus, 0, &new)
}

#[test]
fn id_88_another_key_is_of_the_same_name() {
    assert!(!tries_another_name(None));
    assert!(tries_another_name(Some(Danger::AdmissionAnyRotation)), "the rule is off, and the liar succeeds");
}

/// `ID-89`: it stays in the set until its term ends, and names nobody. While somebody wants it, or
/// wants it again, it does: people are to compare both keys.
#[test]
fn id_89_nobody_asks_for_the_key_of_a_rejected_proposal() {
    for scheme in [Scheme::Plain, Scheme::Asm] {
        let (mut bus, new) = (founded(scheme), person(NAME, 90));
        let certificate = of_new_key(&bus, &new, |_| ());
        bus.command(BEN, Command::Rotate(certificate)).unwrap();
        bus.pass(2);
        let motion = proposed(&bus, 0).unwrap();
        let unasked = |bus: &Bus| {
            let of = |who: usize| bus.players[who].transcript.unasked_keys();
            (1..4).for_each(|who| assert_eq!(of(who), of(0)));
            of(0).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(unasked(&bus), [], "it is proposed");
        for who in [0, 1] {
            bus.command(who, Command::Vote { motion, approve: false }).unwrap();
        }
        bus.pass(3);
        assert_eq!((proposed(&bus, 0), unasked(&bus)), (None, vec![new.member()]));
        // It does not come in by that, nor is what is said of it said of a member.
        assert!(!is_member(&bus, 0, &new) && is_member(&bus, 0, &bus.players[BEN].identity));
        // A voter changes its mind: the key is asked for again.
        let effect = bus.players[1].transcript.set().effects().next().unwrap().clone();
        let yes = crate::common::word(&bus, 1, effect.subject(), Verdict::Approve);
        (0..4).for_each(|who| assert!(bus.take(who, &yes)));
        assert_eq!(unasked(&bus), []);
    }
}

/// A thief of the old key wants his own in its place, while ben wants his. Both are shown, each
/// with its key, and the voters' choice ends the other.
#[test]
fn id_86_of_two_keys_that_one_key_asks_for_the_voters_choose() {
    let (mut bus, new, thiefs) = (founded(Scheme::Plain), person(NAME, 90), person(NAME, 91));
    for one in [&thiefs, &new] {
        let certificate = of_new_key(&bus, one, |_| ());
        bus.command(BEN, Command::Rotate(certificate)).unwrap();
        bus.pass(2);
    }
    let open: Vec<(Digest, MemberId)> = bus
        .status(0)
        .proposals
        .iter()
        .map(|one| {
            let Change::Rotate { request, .. } = &one.effect.change else { panic!("{one:?}") };
            (one.proposal, bus.players[0].transcript.set().admit(request).unwrap().member)
        })
        .collect();
    assert_eq!(open.len(), 2, "people see both keys");
    let motion = open.iter().find(|(_, key)| *key == new.member()).unwrap().0;
    for who in 1..3 {
        bus.command(who, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(5);
    for who in 0..3 {
        assert!(is_member(&bus, who, &new) && !is_member(&bus, who, &thiefs));
        assert!(bus.status(who).proposals.is_empty(), "the other is over");
    }
}

/// Somebody else's word moves nobody: the effect is not of the old key's hand.
#[test]
fn id_86_nobody_gives_another_member_a_key() {
    let (mut bus, new) = (founded(Scheme::Plain), person(NAME, 90));
    let (liar, ben) = (bus.players[2].identity.clone(), bus.players[BEN].identity.member());
    let certificate = of_new_key(&bus, &new, |_| ());
    let request = Gmc::from_der(&certificate).unwrap().body().request_digest().unwrap();
    let item =
        folkmoot_transcript::Item::Admit { certificate: certificate.to_vec().into(), approvals: Vec::new() };
    for who in 0..4 {
        bus.take(who, &item.encode().into());
    }
    let covered = [&bus.players[0].transcript.group().0[..], &request].concat();
    let signature = liar.key().sign_wire(ROTATE_LABEL, &covered);
    let effect = Change::Rotate { member: ben, request, signature }.into();
    bus.command(2, Command::Propose(effect)).unwrap();
    bus.pass(2);
    if let Some(motion) = proposed(&bus, 0) {
        for who in 0..2 {
            let _ = bus.command(who, Command::Vote { motion, approve: true });
        }
    }
    bus.pass(10);
    for who in 0..4 {
        let roster = bus.players[who].transcript.roster();
        assert!(roster.is_member(&ben) && !roster.is_member(&new.member()));
    }
}

/// Ben's program is his own: it proposes a key whose term is longer than the charter's.
fn tries_a_long_term(voters: Option<Danger>) -> bool {
    let (mut bus, new) = (founded(Scheme::Plain), person(NAME, 90));
    let danger = |danger| Config { danger: Mutant::from(danger), ..Config::default() };
    bus.restart_as(BEN, danger(Some(Danger::AdmissionAnyRotation)));
    for who in 0..3 {
        bus.restart_as(who, danger(voters));
    }
    bus.pass(5);
    let certificate = of_new_key(&bus, &new, |body| body.not_after = UnixTime(body.not_after.0 + 86_400));
    bus.command(BEN, Command::Rotate(certificate)).unwrap();
    bus.pass(2);
    let motion = proposed(&bus, 0).expect("it is proposed");
    for who in 0..2 {
        let voted = bus.command(who, Command::Vote { motion, approve: true });
        if voters.is_none() {
            assert_eq!(voted, Err(AdmissionError::LocalDecision(Unfit::NoAdmit)));
        }
    }
    bus.pass(10);
    is_member(&bus, 0, &new)
}

#[test]
fn id_87_a_program_approves_no_key_that_lacks_more_than_votes() {
    assert!(!tries_a_long_term(None));
    assert!(tries_a_long_term(Some(Danger::AdmissionAnyRotation)), "the rule is off, and the liar succeeds");
}

/// A proposal alone admits nobody, and an order of a stranger's makes none.
#[test]
fn id_86_a_proposal_without_its_certificate_is_refused() {
    let mut bus = founded(Scheme::Plain);
    let (ben, request) = (bus.players[BEN].identity.clone(), [7; 32]);
    let covered = [&bus.players[0].transcript.group().0[..], &request].concat();
    let signature = ben.key().sign_wire(ROTATE_LABEL, &covered);
    let effect = Change::Rotate { member: ben.member(), request, signature }.into();
    let payload = crate::common::open(&OpenMessage::Proposal { effect });
    let refused = bus.input(0, Input::Open { sender: ben.member(), payload }).unwrap_err();
    assert_eq!(refused, AdmissionError::PeerDecision(Unfit::NoAdmit));
}
