//! A member gets another key where the group's key or an authority signs certificates: the voters
//! approve, then the certificate is signed, then a decision takes both. The new key gets a share of
//! its own, and the old one's is worth nothing.

use super::{BEN, NAME, is_member, proposed};
use crate::common::town::{Plan, Town, agreed, denied, plan};
use crate::common::{Bus, Dice, open, person, player};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Command, Input, OpenMessage, Purpose, Reason, SignerBody, WireGrounds,
};
use folkmoot_base::{Danger, Mutant};
use folkmoot_identity::{Dealer, Gmc, GmcBody, Identity, Policy, Request, Scheme};
use folkmoot_transcript::{Item, Transcript, Unfit};

pub(super) fn request(transcript: &Transcript, time: folkmoot_base::UnixTime, new: &Identity) -> Request {
    // A serial number of its own.
    let mut dice = Dice(u64::from(new.member().0[0]) << 32);
    let body = GmcBody::propose(transcript.roster().charter(), new, 4, time, &mut dice);
    Request::sign(new, body.over(transcript.state().head())).unwrap()
}

pub(super) fn asked(bus: &Bus, new: &Identity) -> Request {
    request(&bus.players[0].transcript, bus.time, new)
}

pub(super) fn founded(scheme: Scheme, count: u64) -> Bus {
    let mut bus = Bus::silent(scheme, count, 2);
    bus.pass(20);
    assert!(bus.players[0].transcript.roster().sharing().is_some(), "{:#?}", bus.traces);
    bus
}

pub(super) fn yes(bus: &mut Bus, voters: &[usize]) {
    let motion = proposed(bus, voters[0]).expect("it is proposed");
    for who in voters {
        bus.command(*who, Command::Vote { motion, approve: true }).unwrap();
    }
}

/// The folder has its new key: what was the old one's alone is gone from it.
pub(super) fn takes_the_new_key(bus: &mut Bus, who: usize, new: &Identity) {
    let charter = bus.charter();
    let mut next = player(new.clone(), &charter);
    let old = &bus.players[who];
    next.transcript = old.transcript.clone();
    next.disk = old.disk.clone();
    next.disk.retain(|key, _| !["vote", "share"].contains(&key.table));
    bus.players[who] = next;
    bus.restart(who);
}

pub(super) fn holds(bus: &Bus, who: usize) -> bool {
    let player = &bus.players[who];
    player.admission.signing(bus.now, &player.transcript).holds
}

#[test]
fn id_86_where_the_groups_key_signs_a_new_key_gets_certificate_and_share() {
    for scheme in [Scheme::Frost, Scheme::TsDsa] {
        let (mut bus, new) = (founded(scheme, 4), person(NAME, 90));
        let old = bus.players[BEN].identity.clone();
        let before = bus.players[0].transcript.roster().sharing().unwrap().facts.clone();
        let asks = asked(&bus, &new);
        bus.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
        bus.pass(3);
        // Nothing is signed before the voters have said yes, and nobody votes on an admission.
        for who in 0..4 {
            assert!(bus.players[who].transcript.set().admit(&asks.digest()).is_none());
            let requests = bus.status(who).requests;
            assert_eq!(requests[0].rotates, Some(old.member()));
            let voted = bus.order(who, Command::Vote { motion: asks.digest(), approve: true });
            assert_eq!(voted, Err(AdmissionError::LocalRotates));
        }
        // Said again, and after a restart, it is the same proposal.
        bus.restart(BEN);
        bus.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
        assert_eq!(bus.status(0).proposals.len(), 1);
        yes(&mut bus, &[1]);
        bus.pass(3);
        assert!(is_member(&bus, 0, &old) && !is_member(&bus, 0, &new), "two of four are no quorum");
        yes(&mut bus, &[2]);
        bus.pass(8);
        for who in 0..3 {
            assert!(!is_member(&bus, who, &old) && is_member(&bus, who, &new), "{:#?}", bus.traces);
            let transcript = &bus.players[who].transcript;
            assert_eq!(transcript.state().successor(&old.member()), Some(new.member()));
            assert!(transcript.roster().may_vote(&new.member()) && bus.status(who).requests.is_empty());
            let gmc = Gmc::from_der(&transcript.certificate_of(&new.member()).unwrap()).unwrap();
            assert_eq!(gmc.check_issued(&before.key), Ok(()));
        }
        takes_the_new_key(&mut bus, BEN, &new);
        bus.pass(60);
        let after = bus.players[0].transcript.roster().sharing().unwrap().facts.clone();
        assert!(after.epoch != before.epoch && after.key == before.key, "{:#?}", bus.traces);
        assert!(after.holders.contains(&new.member()) && !after.holders.contains(&old.member()));
        assert!((0..4).all(|who| holds(&bus, who)), "everybody has a share");
        // It signs: the only others that answer are as many as sign less one.
        let signers = scheme.signers(2);
        for who in signers - 1..BEN {
            bus.players[who].up = false;
        }
        let dora = bus.stranger("dora", 40, 0);
        for voter in [0, BEN] {
            let motion = bus.request_of(voter, dora).expect("dora has asked");
            bus.command(voter, Command::Vote { motion, approve: true }).unwrap();
        }
        bus.pass(20);
        assert!(bus.admitted(dora), "{:#?}", bus.traces);
    }
}

/// Whoever has the old key and its share says that it is ready to sign, or calls for a signature,
/// and is not heard.
#[test]
fn id_86_the_old_key_and_its_share_sign_nothing_any_more() {
    let (mut bus, new) = (founded(Scheme::Frost, 4), person(NAME, 90));
    let old = bus.players[BEN].identity.clone();
    let asks = asked(&bus, &new);
    bus.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
    bus.pass(2);
    let thiefs = bus.players[BEN].disk.clone();
    yes(&mut bus, &[1, 2]);
    bus.pass(8);
    assert!(is_member(&bus, 0, &new) && thiefs.keys().any(|key| key.table == "share"));
    for purpose in [Purpose::Reshare { threshold: 2 }, Purpose::Certify { request: asks.digest() }] {
        let (session, start) = crate::common::signing::call(&bus, 0, purpose, 1);
        for body in [start, SignerBody::Ready { key: vec![7; 32].into() }] {
            let input = crate::common::signing::say_as(&bus, &old, session, body);
            for who in 0..3 {
                let heard = bus.input(who, input.clone());
                assert_eq!(heard, Err(AdmissionError::PeerNotMember(old.member())));
            }
        }
    }
    // A request of the old key's is not even opened.
    let back = asked(&bus, &old);
    let word = OpenMessage::Request {
        cms: back.der().to_vec().into(),
        voucher: None,
        endorsement: None,
        instead: None,
    };
    let sender = bus.players[0].identity.member();
    let heard = bus.input(1, Input::Open { sender, payload: open(&word) });
    assert!(matches!(heard, Err(AdmissionError::PeerCharter(_))), "{heard:?}");
}

/// What the old key said for one new key is said again for it later, or by a member for itself.
#[test]
fn id_86_a_word_for_a_new_key_is_not_used_twice() {
    let (mut bus, new) = (founded(Scheme::Frost, 4), person(NAME, 90));
    let asks = asked(&bus, &new);
    bus.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
    bus.pass(2);
    let effect = bus.status(0).proposals[0].effect.clone();
    yes(&mut bus, &[1, 2]);
    bus.pass(8);
    takes_the_new_key(&mut bus, BEN, &new);
    bus.pass(20);
    let sender = bus.players[2].identity.member();
    let again = OpenMessage::Proposal { effect: effect.clone() };
    let heard = bus.input(0, Input::Open { sender, payload: open(&again) });
    assert!(matches!(heard, Err(AdmissionError::PeerDecision(Unfit::NotMember(_)))), "{heard:?}");
    // The request in its own right is used.
    let word = OpenMessage::Request {
        cms: asks.der().to_vec().into(),
        voucher: None,
        endorsement: None,
        instead: None,
    };
    let heard = bus.input(0, Input::Open { sender, payload: open(&word) });
    assert!(matches!(heard, Err(AdmissionError::PeerUsed(_))), "{heard:?}");
    let item: Bytes = Item::Effect(effect).encode().into();
    assert!(!bus.take(0, &item));
}

/// Nothing comes of it: nobody is left with a request that looks like an admission.
#[test]
fn adm_94_the_request_of_a_new_key_ends_with_its_proposal() {
    let (mut bus, new) = (founded(Scheme::Frost, 4), person(NAME, 90));
    let asks = asked(&bus, &new);
    bus.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
    bus.pass(2);
    let motion = proposed(&bus, 0).unwrap();
    for who in 0..3 {
        let _ = bus.command(who, Command::Vote { motion, approve: false });
    }
    bus.pass(3);
    for who in 0..4 {
        assert_eq!(bus.status(who), folkmoot_admission::Status::default());
        assert!(!is_member(&bus, who, &new));
    }
}

fn two_of_two(danger: Option<Danger>) -> (Bus, Identity, Result<(), AdmissionError>) {
    let (mut bus, new) = (founded(Scheme::Frost, 2), person("founder2", 90));
    for player in &mut bus.players {
        player.transcript.endanger(Mutant::from(danger));
    }
    let asks = asked(&bus, &new);
    let said = bus.command(1, Command::Rotate(asks.der().to_vec().into()));
    (bus, new, said)
}

/// Without the rule the group has lost its key.
#[test]
fn line_91_two_who_hold_the_key_together_keep_their_keys() {
    let (_, _, said) = two_of_two(None);
    assert!(matches!(said, Err(AdmissionError::LocalNoRotation(Unfit::Rotation(_)))), "{said:?}");
    let (mut bus, new, said) = two_of_two(Some(Danger::LineLosesShares));
    assert_eq!(said, Ok(()));
    bus.pass(2);
    yes(&mut bus, &[0]);
    bus.pass(8);
    assert!(is_member(&bus, 0, &new), "the rule is off");
    takes_the_new_key(&mut bus, 1, &new);
    bus.pass(120);
    assert!(!holds(&bus, 1), "and nobody can give it a share");
}

fn founded_by(plan: &Plan) -> Town {
    let mut town = Town::found(plan, |_| {});
    town.pass(20);
    if plan.scheme.shared() {
        agreed(&town);
    }
    town
}

#[test]
fn adm_93_an_authority_signs_a_new_key_once_the_voters_have_approved_it() {
    for scheme in [Scheme::Plain, Scheme::Asm, Scheme::Frost] {
        let (mut town, new) = (founded_by(&plan(scheme)), person(NAME, 90));
        let old = town.bus.players[BEN].identity.clone();
        let asks = request(town.transcript(), town.bus.time, &new);
        town.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
        town.pass(3);
        // Not by a word of the old key's alone.
        if scheme == Scheme::Plain {
            let answers = town.ask(&asks, WireGrounds::Votes(Vec::new()));
            assert_eq!(denied(&answers), Reason::AwaitingVotes);
        }
        yes(&mut town.bus, &[1]);
        town.pass(8);
        assert!(town.issued_on_disk(0).is_empty() && is_member(&town.bus, 0, &old), "two of five");
        yes(&mut town.bus, &[2]);
        town.pass(12);
        for who in [0, 1, 2, 4] {
            assert!(
                !is_member(&town.bus, who, &old) && is_member(&town.bus, who, &new),
                "{scheme:?} {:#?} {:?}",
                town.bus.traces,
                town.desks[0].errors
            );
        }
        let gmc = Gmc::from_der(&town.transcript().certificate_of(&new.member()).unwrap()).unwrap();
        assert_eq!(gmc.check_central(town.transcript().roster().charter()), Ok(()));
        takes_the_new_key(&mut town.bus, BEN, &new);
        // Shares were dealt anew meanwhile; the new key asks the dealer for its own.
        town.link(0, BEN);
        town.pass(60);
        if scheme.shared() {
            let facts = &town.transcript().roster().sharing().unwrap().facts;
            let holds_share = |member| facts.holders.contains(&member);
            assert!(
                holds_share(new.member()) && !holds_share(old.member()),
                "{:#?} {:?} {:?}",
                town.bus.traces,
                town.desks[0].errors,
                town.bus.players.iter().map(|player| &player.errors).collect::<Vec<_>>()
            );
            assert!(holds(&town.bus, BEN));
        }
    }
}

/// Votes that the authority counts are on the new key, and not some others'.
#[test]
fn adm_93_votes_on_another_key_get_no_certificate() {
    let (mut town, new, other) = (founded_by(&plan(Scheme::Plain)), person(NAME, 90), person(NAME, 91));
    let asks = request(town.transcript(), town.bus.time, &new);
    town.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
    town.pass(2);
    town.desks[0].hears = false;
    yes(&mut town.bus, &[1, 2]);
    town.pass(2);
    let others = request(town.transcript(), town.bus.time, &other);
    assert_eq!(denied(&town.ask(&others, WireGrounds::Votes(Vec::new()))), Reason::AwaitingVotes);
    assert!(town.issued_on_disk(0).is_empty(), "it has not heard of the votes");
    town.desks[0].hears = true;
    town.pass(20);
    assert_eq!(denied(&town.ask(&others, WireGrounds::Votes(Vec::new()))), Reason::AwaitingVotes);
    assert!(is_member(&town.bus, 0, &new) && !is_member(&town.bus, 0, &other));
}

/// What cannot be is refused with the reason, and with what to do instead.
#[test]
fn line_91_where_no_new_key_could_have_what_the_old_one_had_it_is_refused() {
    let once = Plan { dealer: Some(Dealer::SetupOnly), founders: 5, threshold: 3, ..plan(Scheme::Shoup) };
    let by_list = |draft: &mut folkmoot_identity::CharterDraft| draft.policies.policy = Policy::Authority;
    let alone = Town::found(&plan(Scheme::Plain), by_list);
    for mut town in [founded_by(&once), alone] {
        town.pass(2);
        let new = person(NAME, 90);
        let asks = request(town.transcript(), town.bus.time, &new);
        let said = town.command(BEN, Command::Rotate(asks.der().to_vec().into()));
        let Err(error @ AdmissionError::LocalNoRotation(Unfit::Rotation(_))) = said else {
            panic!("{said:?}")
        };
        assert!(error.to_string().contains("make a new identity"), "{error}");
        assert!(proposed(&town.bus, 0).is_none() && town.bus.status(0).requests.is_empty());
    }
}
