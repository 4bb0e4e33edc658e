//! A member gets a key of another algorithm, in groups whose members have keys of several.
//!
//! ```text
//! ben: P-256 --> Ed25519 --> RSA --> P-256     each by the others' votes and his own, while one is away
//! ```

use super::signed::{asked, holds, takes_the_new_key, yes};
use super::{BEN, NAME, is_member, of_new_key, refuses_vote};
use crate::common::{Bus, Dice, LATER, NOW, open, player};
use bytes::Bytes;
use folkmoot_admission::{AdmissionError, Command, Config, Input, OpenMessage};
use folkmoot_base::{Danger, Mutant, UnixTime};
use folkmoot_identity::{
    Algorithms, CharterDraft, Founder, Identity, KeyAlgorithm, Scheme, SignedCharter, Verdict, VoteKind,
};
use folkmoot_transcript::{Change, Effect, Item, ROTATE_LABEL, Subject, Unfit};

const AWAY: usize = 0;

fn of(algorithm: KeyAlgorithm, name: &str, seed: u64) -> Identity {
    Identity::draw(algorithm, name, &mut Dice(seed * 1_000_000), NOW, LATER).unwrap()
}

/// Four founders with keys of these algorithms, and a charter that names them.
fn founded(scheme: Scheme, keys: [KeyAlgorithm; 4]) -> Bus {
    let founder = |(seed, algorithm)| of(algorithm, &format!("founder{seed}"), seed);
    let founders: Vec<Identity> = (1_u64..).zip(keys).map(founder).collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let name = folkmoot_base::GroupName::new("moot").unwrap();
    let mut draft = CharterDraft::new(name, 2, named, &mut Dice(77));
    (draft.scheme, draft.algorithms) = (scheme, Algorithms::new(keys));
    let all: Vec<&Identity> = founders.iter().collect();
    let charter = SignedCharter::sign(&draft.to_toml(), &all).unwrap().der().to_vec();
    let mut bus = Bus::silent(Scheme::Plain, 1, 1);
    bus.players = founders.into_iter().map(|founder| player(founder, &charter)).collect();
    bus.pass(20);
    assert_eq!(bus.players[1].transcript.roster().sharing().is_some(), scheme.shared());
    bus
}

/// What the new key signs, as the scheme has it.
fn asks(bus: &Bus, new: &Identity) -> Bytes {
    match bus.players[1].transcript.roster().charter().holder_signs() {
        true => of_new_key(bus, new, |_| ()),
        false => asked(bus, new).der().to_vec().into(),
    }
}

#[test]
fn id_86_a_member_of_a_plain_group_gets_a_key_of_another_algorithm() {
    goes_round(Scheme::Plain);
}

#[test]
fn id_86_a_member_of_a_frost_group_gets_a_key_of_another_algorithm() {
    goes_round(Scheme::Frost);
}

fn goes_round(scheme: Scheme) {
    use KeyAlgorithm::{Ed25519, P256, Rsa2048};
    let mut bus = founded(scheme, [P256, Ed25519, Rsa2048, P256]);
    let mut keys = vec![bus.players[BEN].identity.clone()];
    let mut said: Vec<(Identity, Bytes)> = Vec::new();
    for (seed, algorithm) in [(90, Ed25519), (91, Rsa2048), (92, P256)] {
        let new = of(algorithm, NAME, seed);
        let old = keys.last().unwrap().clone();
        // Not known to whoever is away, who comes back at the end; of the others all are needed.
        let paper = asks(&bus, &new);
        bus.players[AWAY].up = false;
        bus.command(BEN, Command::Rotate(paper)).unwrap();
        bus.pass(2);
        yes(&mut bus, &[1, 2]);
        bus.pass(60);
        for who in [1, 2] {
            assert!(is_member(&bus, who, &new) && !is_member(&bus, who, &old), "{:#?}", bus.traces);
        }
        let vote = votes_for_nothing(&mut bus, &old, &[1, 2]);
        said.push((old, vote));
        takes_the_new_key(&mut bus, BEN, &new);
        bus.pass(90);
        assert_eq!(holds(&bus, BEN), scheme.shared(), "{:#?}", bus.traces);
        // Whoever was away meets the old keys' words first, and takes the decision for them.
        bus.players[AWAY].up = true;
        bus.catch_up(1, AWAY);
        bus.everyone(&Input::Regrouped);
        bus.settle();
        keys.push(new);
        for (old, vote) in &said {
            refuses_vote(&bus, AWAY, old, vote);
        }
    }
    let state = bus.players[AWAY].transcript.state();
    for old in &keys[..3] {
        assert_eq!(state.successor(&old.member()), Some(keys[3].member()));
    }
    assert!(is_member(&bus, AWAY, &keys[3]) && keys[..3].iter().all(|old| !is_member(&bus, AWAY, old)));
}

/// A vote by the old key on what would stand, which nobody takes; and one in the new one's name.
fn votes_for_nothing(bus: &mut Bus, old: &Identity, by: &[usize]) -> Bytes {
    let expel = Effect::from(Change::Remove { member: bus.players[2].identity.member() });
    let subject = Subject { kind: VoteKind::Remove, digest: expel.subject().digest };
    let expires = UnixTime(bus.time.0 + 1_000);
    let vote = bus.players[1].transcript.approve(old, subject, Verdict::Approve, expires);
    let vote: Bytes = Item::Approval(vote).encode().into();
    for who in by {
        refuses_vote(bus, *who, old, &vote);
        let sender = old.member();
        let payload = open(&OpenMessage::Proposal { effect: expel.clone() });
        let heard = bus.input(*who, Input::Open { sender, payload });
        assert_eq!(heard, Err(AdmissionError::PeerNotMember(sender)));
    }
    vote
}

/// The program says which choice was wrong, and which are right. Ben's own program may say
/// otherwise: the others take neither certificate nor request.
#[test]
fn id_73_a_key_that_the_charter_does_not_name_takes_nobodys_place() {
    use KeyAlgorithm::{Ed25519, P256, Rsa2048};
    for scheme in [Scheme::Plain, Scheme::Frost] {
        let mut bus = founded(scheme, [P256, P256, Ed25519, P256]);
        let new = of(Rsa2048, NAME, 90);
        let paper = asks(&bus, &new);
        let refused = bus.command(BEN, Command::Rotate(paper.clone())).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a key of rsa-2048 was chosen, and this group's charter does not name that; no vote changes it (ID-73). \
             It names p256, ed25519. Choose one of them: folkmoot identity rotate --algorithm p256"
        );
        let danger = Mutant::from(Some(Danger::AdmissionAnyRotation));
        bus.restart_as(BEN, Config { danger, ..Config::default() });
        assert_eq!(bus.command(BEN, Command::Rotate(paper.clone())).unwrap_err(), refused);
        let (ben, request) = (bus.players[BEN].identity.clone(), asked(&bus, &new));
        let digest = request.digest();
        let covered = [&bus.players[1].transcript.group().0[..], &digest].concat();
        let signature = ben.key().sign_wire(ROTATE_LABEL, &covered);
        let effect = Effect::from(Change::Rotate { member: ben.member(), request: digest, signature });
        let certificate = of_new_key(&bus, &new, |_| ()).to_vec().into();
        let item: Bytes = Item::Admit { certificate, approvals: Vec::new() }.encode().into();
        let word = OpenMessage::Request {
            cms: request.der().to_vec().into(),
            voucher: None,
            endorsement: None,
            instead: None,
        };
        for who in 0..3 {
            assert!(!bus.take(who, &item), "its certificate is taken");
            let payload = open(&OpenMessage::Proposal { effect: effect.clone() });
            let heard = bus.input(who, Input::Open { sender: ben.member(), payload });
            let none = Err(AdmissionError::PeerDecision(Unfit::NoAdmit));
            assert_eq!(heard, if scheme.shared() { Ok(()) } else { none });
            let heard = bus.input(who, Input::Open { sender: ben.member(), payload: open(&word) });
            assert!(matches!(heard, Err(AdmissionError::PeerCharter(_))), "{heard:?}");
            let voted = bus.command(who, Command::Vote { motion: effect.subject().digest, approve: true });
            assert!(voted.is_err(), "{voted:?}");
        }
        bus.pass(10);
        assert!(!is_member(&bus, 0, &new) && is_member(&bus, 0, &ben));
    }
}
