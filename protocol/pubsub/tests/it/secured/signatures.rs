//! Who said it.

use super::helper::{Ear, Mouth, domain, group, id, key, without};
use crate::helper::payload;
use folkmoot_base::Instant;
use folkmoot_pubsub::Sizes;
use folkmoot_pubsub::secured::{
    BATCH_MAX, Cause, Danger, DomainKey, Material, Member, Mode, OpenError, SealError, Sealer, Signing,
    Suite, Times,
};
use folkmoot_signing::plain::SigningKey;

struct Count(u8);

impl folkmoot_base::Entropy for Count {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 = self.0.wrapping_mul(181).wrapping_add(7);
            *byte = self.0;
        }
    }
}

fn signer(number: u16) -> SigningKey {
    SigningKey::generate(&mut Count(number as u8))
}

/// The `epoch`-th key of the channel `a` among members 1 to 3, who sign.
fn of(epoch: u8, signing: Signing) -> DomainKey {
    let material = Material::derive(Suite::Aes128, &domain("a"), &[epoch]);
    let member = |number| Member { sender: id(number), key: Some(signer(number).verifying_key().clone()) };
    let key = DomainKey::new(Mode::Own, domain("a"), &material, (1..=3).map(member)).unwrap();
    key.with_signing(signing).unwrap()
}

fn signed() -> DomainKey {
    of(0, Signing::Each)
}

/// Member `number`, who has the key of member `signs`.
fn mouth_of(number: u16, signs: u16, signing: Signing) -> Mouth {
    let sealer = Sealer::new(Mode::Own, group(), id(number), Sizes::SMALL, Times::default());
    let mut mouth = Mouth { sealer: sealer.with_signatures(signer(signs)), now: Instant(0) };
    mouth.take(key(Mode::Own, group(), 0), Cause::Joined);
    mouth.take(of(0, signing), Cause::Joined);
    mouth
}

fn mouth(number: u16, signs: u16) -> Mouth {
    mouth_of(number, signs, Signing::Each)
}

fn ear_of(times: Times, signing: Signing) -> Ear {
    let mut ear = Ear::with(Mode::Own, &[], times);
    ear.take(of(0, signing), Cause::Joined);
    ear
}

fn ear(times: Times) -> Ear {
    ear_of(times, Signing::Each)
}

/// What attests everything so far.
fn attest(mouth: &mut Mouth) -> Vec<Vec<u8>> {
    let packets = mouth.sealer.attest(mouth.now, crate::helper::channel("a")).unwrap().unwrap();
    packets.map(|packet| [packet.head(), packet.data].concat()).collect()
}

#[test]
fn pub_25_a_member_cannot_speak_in_anothers_name_where_messages_are_signed() {
    // Member 3 has the channel's key, so it seals as 2; the signature it can only make as 3.
    let lie = mouth(2, 3).say("a", b"2 gives way");
    let mut honest = ear(Times::default());
    assert_eq!(honest.hear(&lie[0]), Err(OpenError::PeerUnsigned(id(2))));
    assert_eq!(honest.opener.refused().unsigned, 1);
    // The number is not used up by that.
    assert_eq!(honest.hear_all(&mouth(2, 2).say("a", b"truly 2")), [b"truly 2"]);
    assert_eq!(ear(without(Danger::AnySignature)).hear_all(&lie), [b"2 gives way"]);
}

#[test]
fn pub_25_what_is_signed_can_be_shown_to_others() {
    for length in [0, 5, 5_000] {
        let (mut mouth, mut ear) = (mouth(2, 2), ear(Times::default()));
        let said = payload(length, 1);
        let mut opened = None;
        for mut datagram in mouth.say("a", &said) {
            let heard = ear.opener.receive(Instant(0), crate::helper::sender(1), &mut datagram).unwrap();
            opened = heard.map(|heard| (heard.payload.to_vec(), heard.attribution.unwrap()));
        }
        let (content, shown) = opened.unwrap();
        assert_eq!((&content, shown.sender, shown.epoch), (&said, id(2), *signed().print()));
        assert!(shown.verifies(&said, signer(2).verifying_key()));
        assert!(!shown.verifies(&said, signer(3).verifying_key()));
        assert!(!shown.verifies(b"other", signer(2).verifying_key()));
        let mut other = shown;
        other.sequence += 1;
        assert!(!other.verifies(&said, signer(2).verifying_key()));
        assert_eq!(shown.domain, domain("a"));
        let moved = folkmoot_pubsub::secured::Attribution { domain: domain("b"), ..shown };
        assert!(!moved.verifies(&said, signer(2).verifying_key()));
    }
}

#[test]
fn a_signature_is_never_taken_for_content_nor_content_for_one() {
    let all = [Signing::Nobody, Signing::Each, Signing::Batches];
    for said in all {
        for heard in all {
            let made = mouth_of(2, 2, said).say("a", &[0; 70]);
            let expected = if said == heard {
                Ok(Some(("a".to_owned(), vec![0; 70])))
            } else {
                Err(OpenError::PeerForged)
            };
            assert_eq!(ear_of(Times::default(), heard).hear(&made[0]), expected);
        }
    }
}

#[test]
fn pub_25_a_batch_is_attested_and_a_forgery_among_it_is_not() {
    let (mut honest, mut liar) = (mouth_of(2, 2, Signing::Batches), mouth_of(2, 3, Signing::Batches));
    let mut ear = ear_of(Times::default(), Signing::Batches);
    let said: Vec<Vec<u8>> = (0..10).map(|number| payload(number * 300, 0)).collect();
    let made: Vec<Vec<Vec<u8>>> = said.iter().map(|said| honest.say("a", said)).collect();
    // Number 3 is lost, and number 11 is a lie of member 3.
    let lost = 3;
    for (_, datagrams) in made.iter().enumerate().filter(|(number, _)| *number != lost) {
        assert_eq!(ear.hear_all(datagrams).len(), 1, "heard at once");
    }
    (0..11).for_each(|_| drop(liar.say("a", b"")));
    assert_eq!(ear.hear_all(&liar.say("a", b"2 gives way")), [b"2 gives way"]);
    assert_eq!((honest.sealer.unattested(&crate::helper::channel("a")), ear.opener.attested()), (10, None));
    assert!(ear.hear_all(&attest(&mut honest)).is_empty(), "it is no message");
    assert_eq!(honest.sealer.unattested(&crate::helper::channel("a")), 0);
    let attested = ear.opener.attested().unwrap();
    assert_eq!(attested.sequences, [0, 1, 2, 4, 5, 6, 7, 8, 9]);
    assert_eq!((attested.channel.text().as_str(), attested.batch.sender), ("a", id(2)));
    let (key, epoch) = (signer(2).verifying_key().clone(), *of(0, Signing::Batches).print());
    for (number, said) in (0..).zip(&said) {
        assert!(attested.batch.verifies(&epoch, number, said, &key));
        assert!(!attested.batch.verifies(&epoch, number + 1, said, &key));
        assert!(!attested.batch.verifies(&[0; 32], number, said, &key));
        assert!(!attested.batch.verifies(&epoch, number, said, signer(3).verifying_key()));
    }
    assert!(!attested.batch.verifies(&epoch, 11, b"2 gives way", &key));
    // The liar attests it itself.
    let lie = attest(&mut liar);
    assert_eq!(ear.hear(&lie[0]), Err(OpenError::PeerUnsigned(id(2))));
    assert_eq!(ear.opener.attested(), None);
    let mut lax = ear_of(without(Danger::AnySignature), Signing::Batches);
    let made = liar.say("a", b"2 gives way");
    assert_eq!((lax.hear_all(&made).len(), lax.hear(&attest(&mut liar)[0])), (1, Ok(None)));
    assert_eq!(lax.opener.attested().unwrap().sequences, [13]);
}

#[test]
fn pub_25_what_waits_for_its_attestation_has_a_bound() {
    let (mut mouth, mut ear) = (mouth_of(2, 2, Signing::Batches), ear_of(Times::default(), Signing::Batches));
    for batch in 0..6_u64 {
        for _ in 0..BATCH_MAX {
            assert_eq!(ear.hear_all(&mouth.say("a", b"x")).len(), 1);
        }
        assert_eq!(mouth.try_say("a", b"x"), Err(SealError::LocalUnattested(domain("a"))));
        let lost = attest(&mut mouth);
        assert_eq!(ear.opener.refused().unattested, batch.saturating_sub(3) * 64);
        // The last one comes.
        if batch == 5 {
            assert!(ear.hear_all(&lost).is_empty());
        }
    }
    assert_eq!(ear.opener.attested().unwrap().sequences.len(), BATCH_MAX);
    // What is attested gives its place back.
    let mut ear = ear_of(Times::default(), Signing::Batches);
    for _ in 0..10 * BATCH_MAX {
        ear.hear_all(&mouth.say("a", b"x"));
        ear.hear_all(&attest(&mut mouth));
    }
    assert_eq!(ear.opener.refused().unattested, 0);
    let batches = std::iter::from_fn(|| ear.opener.attested()).count();
    assert_eq!(batches, 64, "of those that nobody asks for, the oldest give way");
    assert_eq!(mouth.sealer.attest(Instant(0), crate::helper::channel("a")).unwrap().map(|_| ()), None);
}

#[test]
fn pub_25_a_batch_is_attested_under_the_next_key_too() {
    let (mut mouth, mut ear) = (mouth_of(2, 2, Signing::Batches), ear_of(Times::default(), Signing::Batches));
    assert_eq!(ear.hear_all(&mouth.say("a", b"old")).len(), 1);
    mouth.take(of(1, Signing::Batches), Cause::Joined);
    ear.take(of(1, Signing::Batches), Cause::Joined);
    mouth.now = Instant(0) + Times::default().switch;
    ear.now = mouth.now;
    assert_eq!(ear.hear_all(&mouth.say("a", b"new")).len(), 1);
    let attestation = attest(&mut mouth);
    assert_eq!(attestation[0][11], of(1, Signing::Batches).tag());
    assert!(ear.hear_all(&attestation).is_empty());
    let attested = ear.opener.attested().unwrap();
    assert_eq!(attested.sequences.len(), 2);
    let key = signer(2).verifying_key().clone();
    assert!(attested.batch.verifies(of(0, Signing::Batches).print(), 0, b"old", &key));
    assert!(attested.batch.verifies(of(1, Signing::Batches).print(), 1, b"new", &key));
}

#[test]
fn who_cannot_sign_does_not_speak() {
    let mut silent = Mouth::new(Mode::Own, 2, &[]);
    silent.take(signed(), Cause::Joined);
    assert_eq!(silent.try_say("a", b"x"), Err(SealError::LocalNoSignature(domain("a"))));
    let of_group = key(Mode::Own, group(), 3);
    assert!(of_group.with_signing(Signing::Each).is_none());
    assert!(key(Mode::Compatible, domain("a"), 3).with_signing(Signing::Each).is_none());
}
