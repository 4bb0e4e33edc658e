//! Who said it.

use super::helper::{Ear, Mouth, domain, group, id, key, without};
use crate::helper::payload;
use folkmoot_base::Instant;
use folkmoot_pubsub::Sizes;
use folkmoot_pubsub::secured::{
    Cause, Danger, DomainKey, Material, Member, Mode, OpenError, SealError, Sealer, Signing, Suite, Times,
};
use folkmoot_signing::SigningKey;

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

/// The key of the channel `a` among members 1 to 3, who sign.
fn signed() -> DomainKey {
    let material = Material::derive(Suite::Aes128, &domain("a"), b"secret");
    let member = |number| Member { sender: id(number), key: Some(signer(number).verifying_key().clone()) };
    let key = DomainKey::new(Mode::Own, domain("a"), &material, (1..=3).map(member)).unwrap();
    key.with_signing(Signing::Each).unwrap()
}

fn mouth(number: u16, signs: u16) -> Mouth {
    let sealer = Sealer::new(Mode::Own, group(), id(number), Sizes::SMALL, Times::default());
    let mut mouth = Mouth { sealer: sealer.with_signatures(signer(signs)), now: Instant(0) };
    mouth.take(key(Mode::Own, group(), 0), Cause::Joined);
    mouth.take(signed(), Cause::Joined);
    mouth
}

fn ear(times: Times) -> Ear {
    let mut ear = Ear::with(Mode::Own, &[], times);
    ear.take(signed(), Cause::Joined);
    ear
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
    let unsigned = || {
        let material = Material::derive(Suite::Aes128, &domain("a"), b"secret");
        let members = (1..=3).map(|number| Member::from(id(number)));
        DomainKey::new(Mode::Own, domain("a"), &material, members).unwrap()
    };
    let mut plain = Mouth::new(Mode::Own, 2, &[]);
    plain.take(unsigned(), Cause::Joined);
    assert_eq!(ear(Times::default()).hear(&plain.say("a", &[0; 64])[0]), Err(OpenError::PeerForged));
    let mut listens = Ear::new(Mode::Own, &[]);
    listens.take(unsigned(), Cause::Joined);
    assert_eq!(listens.hear(&mouth(2, 2).say("a", b"x")[0]), Err(OpenError::PeerForged));
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
