//! Keys for all channels that a pattern names.

use super::helper::{Count, Ear, Mouth, domain, group, key, without};
use crate::helper::channel;
use folkmoot_pubsub::secured::{
    Cause, Danger, Domain, DomainError, Mode, OpenError, Right, SealError, Signing,
};

fn poses() -> Domain {
    group().with_channels("POSE.*").unwrap()
}

/// Somebody with this pattern's key, beside those of single channels.
fn mouth(pattern: Domain, names: &[&str]) -> Mouth {
    let mut mouth = Mouth::new(Mode::Own, 4, names);
    mouth.take(key(Mode::Own, pattern, 7), Cause::Joined);
    mouth
}

fn ear(pattern: Domain, names: &[&str]) -> Ear {
    let mut ear = Ear::new(Mode::Own, names);
    ear.take(key(Mode::Own, pattern, 7), Cause::Joined);
    ear
}

#[test]
fn pub_77_a_pattern_is_a_domain_with_a_spelling_of_its_own() {
    let urn = "urn:lcmsec:gkexchg_p:239.255.76.67:7667:POSE.*:4";
    let right: Right = urn.parse().unwrap();
    assert_eq!((right.domain, right.to_string()), (poses(), urn.to_owned()));
    assert_eq!(poses().to_string(), "239.255.76.67:7667::POSE.*");
    assert_eq!(poses().to_string().parse(), Ok(poses()));
    // A channel may be called so, and is another domain.
    let named: Right = "urn:lcmsec:gkexchg:239.255.76.67:7667:POSE.*:4".parse().unwrap();
    assert_eq!(named.domain.channel(), Some(&channel("POSE.*")));
    assert_ne!(named.domain, poses());
    for wrong in ["(", "a|%28", "%FF", &"a".repeat(64), ""] {
        let urn = format!("urn:lcmsec:gkexchg_p:239.255.76.67:7667:{wrong}:4");
        assert_eq!(urn.parse::<Right>(), Err(DomainError::Pattern), "{wrong}");
    }
    let brackets = group().with_channels("[A-C]_\\d+").unwrap();
    assert_eq!(brackets.to_string().parse(), Ok(brackets));
}

#[test]
fn pub_77_whoever_has_the_patterns_key_is_on_all_its_channels_and_on_no_other() {
    let (mut mouth, mut ear) = (mouth(poses(), &[]), ear(poses(), &[]));
    for name in ["POSE", "POSE_1", "POSE_NEW"] {
        for datagram in mouth.say(name, b"here") {
            assert_eq!(ear.hear(&datagram).unwrap(), Some((name.to_owned(), b"here".to_vec())));
        }
    }
    let none = |name: &str| SealError::LocalNoKey(domain(name));
    assert_eq!(mouth.try_say("SCAN", b""), Err(none("SCAN")));
    // Nobody has a right to what members themselves say.
    let all = group().with_channels(".*").unwrap();
    let mut of_all = self::mouth(all, &[]);
    for name in ["LCM_SELF_TEST", "folkmoot://exclusion"] {
        assert_eq!(of_all.try_say(name, b""), Err(none(name)));
    }
    let spoken = of_all.say("SCAN", b"to all");
    assert_eq!(ear.hear(&spoken[0]), Err(OpenError::LocalUnreadable(channel("SCAN"))));
}

#[test]
fn pub_77_what_is_said_on_a_channel_of_a_pattern_opens_on_no_other_of_it() {
    let said = mouth(poses(), &[]).say("POSE_1", b"here");
    // The name is hidden by a stream: whoever knows it writes another of the same length over it.
    let mut moved = said[0].clone();
    moved[12 + 5] ^= b'1' ^ b'2';
    let mut ear = ear(poses(), &[]);
    assert_eq!(ear.hear(&moved), Err(OpenError::PeerForged));
    let mut careless = Ear::with(Mode::Own, &[], without(Danger::AnyChannel));
    careless.take(key(Mode::Own, poses(), 7), Cause::Joined);
    let mut mouth = Mouth::with(Mode::Own, 4, &[], without(Danger::AnyChannel));
    mouth.take(key(Mode::Own, poses(), 7), Cause::Joined);
    let mut moved = mouth.say("POSE_1", b"here")[0].clone();
    moved[12 + 5] ^= b'1' ^ b'2';
    assert_eq!(careless.hear(&moved).unwrap(), Some(("POSE_2".to_owned(), b"here".to_vec())));
}

#[test]
fn pub_78_a_channel_with_a_right_of_its_own_is_sealed_for_those_alone() {
    let mut both = mouth(poses(), &["POSE_SECRET"]);
    let said = both.say("POSE_SECRET", b"for few");
    let mut few = ear(poses(), &["POSE_SECRET"]);
    assert_eq!(few.hear(&said[0]).unwrap(), Some(("POSE_SECRET".to_owned(), b"for few".to_vec())));
    assert_eq!(ear(poses(), &[]).hear(&said[0]), Err(OpenError::PeerEpoch));
    // Also while its key has not come.
    let mut early = mouth(poses(), &[]);
    early.sealer.expect(&domain("POSE_SECRET")).unwrap();
    assert_eq!(early.try_say("POSE_SECRET", b""), Err(SealError::LocalNoKey(domain("POSE_SECRET"))));
    // And a longer pattern comes before a shorter one.
    let longer = group().with_channels("POSE_S.*").unwrap();
    let mut nested = mouth(poses(), &[]);
    nested.sealer.expect(&longer).unwrap();
    assert!(nested.try_say("POSE_SCAN", b"").is_err());
    nested.take(key(Mode::Own, longer, 8), Cause::Joined);
    assert_eq!(ear(poses(), &[]).hear(&nested.say("POSE_SCAN", b"")[0]), Err(OpenError::PeerEpoch));
    // Nor is anybody heard there who has but the pattern, also before the channel's key has come.
    let said = mouth(poses(), &[]).say("POSE_SECRET", b"from many");
    assert_eq!(few.hear(&said[0]), Err(OpenError::PeerEpoch));
    let mut early = ear(poses(), &[]);
    early.opener.expect(&domain("POSE_SECRET")).unwrap();
    assert_eq!(early.hear(&said[0]), Err(OpenError::PeerEpoch));
}

#[test]
fn pub_25_a_signature_under_a_patterns_key_is_for_its_channel() {
    let signer = folkmoot_signing::plain::SigningKey::generate(&mut Count(1));
    let signed = |signing| {
        use folkmoot_pubsub::secured::{DomainKey, Material, Member, Suite};
        let material = Material::derive(Suite::Aes128, &poses(), &[7; 32]);
        let member = Member { sender: super::helper::id(4), key: Some(signer.verifying_key().clone()) };
        DomainKey::new(Mode::Own, poses(), &material, [member]).unwrap().with_signing(signing)
    };
    assert!(signed(Signing::Batches).is_none(), "an attestation does not say which channel");
    let mut mouth = Mouth::new(Mode::Own, 4, &[]);
    mouth.sealer = mouth.sealer.with_signatures(signer.clone());
    mouth.take(signed(Signing::Each).unwrap(), Cause::Joined);
    let mut ear = Ear::new(Mode::Own, &[]);
    ear.take(signed(Signing::Each).unwrap(), Cause::Joined);
    let mut said = mouth.say("POSE_1", b"here")[0].clone();
    let opened = ear.opener.receive(ear.now, crate::helper::sender(1), &mut said).unwrap().unwrap();
    let shown = opened.attribution.unwrap();
    assert_eq!(shown.domain, domain("POSE_1"));
    assert!(shown.verifies(b"here", signer.verifying_key()));
    let moved = folkmoot_pubsub::secured::Attribution { domain: domain("POSE_2"), ..shown };
    assert!(!moved.verifies(b"here", signer.verifying_key()));
}
