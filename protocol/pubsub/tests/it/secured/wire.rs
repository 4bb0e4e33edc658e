//! The bytes of secured datagrams.

use super::helper::{Ear, Mouth, domain, group, id, members};
use crate::helper::{channel, datagrams, payload, sender};
use folkmoot_base::{Instant, unhex};
use folkmoot_pubsub::secured::{
    Cause, DomainKey, Header, Material, Mode, OpenError, Opener, Part, Sealer, Suite, Times,
};
use folkmoot_pubsub::{ChannelError, Limits, SELF_TEST_CHANNEL, SELF_TEST_PAYLOAD, Sizes, WireError};
use proptest::prelude::*;

fn bytes(first: u8) -> Vec<u8> {
    (first..first + 16).collect()
}

/// The sheet's keys, at a sender whose next number is 7.
fn of_the_sheet(mode: Mode) -> (Sealer, Opener) {
    let made = |domain, first, salt| {
        let material = Material::new(Suite::Aes128, &bytes(first), salt).unwrap();
        DomainKey::new(mode, domain, &material, members(&[4])).unwrap()
    };
    let keys = || [made(group(), 0, [0xa0, 0xa1]), made(domain("channel1"), 0x10, [0xb0, 0xb1])];
    let mut sealer = Sealer::new(mode, group(), id(4), Sizes::LARGE, Times::default());
    let mut opener = Opener::new(mode, group(), Limits::default(), Times::default());
    for (one, two) in keys().into_iter().zip(keys()) {
        sealer.install(Instant(0), one, Cause::Joined).unwrap();
        opener.install(Instant(0), two, Cause::Joined).unwrap();
    }
    for _ in 0..7 {
        sealer.seal(Instant(0), channel("channel1"), b"").unwrap();
    }
    (sealer, opener)
}

#[test]
fn the_vectors_of_the_sheet_hold_in_both_modes_and_directions() {
    let compatible =
        "4c433034 00000007 0004 0000 a047f1b05b587c6bb5 64bc09a3801ad2c380609eb6719601b9bf1168757d";
    let own = "4c433034 00000007 0004 TAGS 3c7c08b0df2c8c8308 a211e5f5fa418d9135ea65a6a592bb31b47f6cad25";
    for (mode, vector) in [(Mode::Compatible, compatible), (Mode::Own, own)] {
        let (mut sealer, mut opener) = of_the_sheet(mode);
        let mut packets = sealer.seal(Instant(0), channel("channel1"), b"hello").unwrap();
        let packet = packets.next().unwrap();
        let mut made = [packet.head(), packet.data].concat();
        assert!(packets.next().is_none());
        let tags = format!("{:02x}{:02x}", made[10], made[11]);
        let vector = vector.replace("TAGS", &tags).replace(' ', "");
        assert_eq!(made, unhex(&vector).unwrap());
        let opened = opener.receive(Instant(0), sender(1), &mut made).unwrap().unwrap();
        assert_eq!((opened.channel, opened.sender, opened.sequence), (channel("channel1"), Some(id(4)), 7));
        assert_eq!(&*opened.payload, b"hello");
    }
}

#[test]
fn in_the_compatible_mode_nobody_reads_the_two_bytes_behind_the_sender() {
    let (mut sealer, mut opener) = of_the_sheet(Mode::Compatible);
    let packet = sealer.seal(Instant(0), channel("channel1"), b"hello").unwrap().next().unwrap();
    let mut made = [packet.head(), packet.data].concat();
    made[10..12].copy_from_slice(&[0xde, 0xad]);
    assert!(opener.receive(Instant(0), sender(1), &mut made).unwrap().is_some());
}

#[test]
fn a_secured_fragment_has_the_header_of_the_sheet() {
    let (mut sealer, mut opener) = of_the_sheet(Mode::Compatible);
    let said = payload(65_495 - 9 - 16 + 1, 0);
    let packets = sealer.seal(Instant(0), channel("channel1"), &said).unwrap();
    let made: Vec<Vec<u8>> = packets.map(|packet| [packet.head(), packet.data].concat()).collect();
    // The tag counts; name and NUL take 9 of the first one's 65,483 bytes.
    let size = u32::try_from(said.len() + 16).unwrap();
    let first = unhex("4c43303500000007").unwrap();
    let first = [
        &first[..],
        &size.to_be_bytes(),
        &unhex("0004000000000000 00000002".replace(' ', "").as_str()).unwrap(),
    ]
    .concat();
    assert_eq!(made[0][..24], first);
    assert_eq!((made.len(), made[0].len()), (2, 24 + 65_483));
    let second = unhex("0004000000 00ffc2 00010002".replace(' ', "").as_str()).unwrap();
    assert_eq!(made[1][12..24], second);
    let mut heard = Vec::new();
    for datagram in made.iter().rev() {
        if let Some(opened) = opener.receive(Instant(0), sender(1), &mut datagram.clone()).unwrap() {
            heard.push(opened.payload.to_vec());
        }
    }
    assert!(heard == [said]);
}

#[test]
fn a_message_is_short_as_long_as_lcmsec_says() {
    for (sizes, short) in [(Sizes::LARGE, 65_495), (Sizes::SMALL, 1_431)] {
        let mut mouth = Mouth::new(Mode::Own, 1, &["abc"]);
        mouth.sealer = Sealer::new(Mode::Own, group(), id(1), sizes, Times::default());
        mouth.take(super::helper::key(Mode::Own, group(), 0), Cause::Joined);
        mouth.take(super::helper::key(Mode::Own, domain("abc"), 0), Cause::Joined);
        let one = mouth.say("abc", &payload(short - 4 - 16, 0));
        assert_eq!((one.len(), one[0].len()), (1, short + 12));
        assert_eq!(mouth.say("abc", &payload(short - 4 - 15, 0)).len(), 2);
    }
}

#[test]
fn pub_17_what_is_not_of_the_secured_form_is_refused_and_counted() {
    let (mut mouth, mut ear) = (Mouth::new(Mode::Own, 1, &["a"]), Ear::new(Mode::Own, &["a"]));
    let (short, long) = (&mouth.say("a", b"b")[0], &mouth.say("a", &payload(2_000, 0))[1]);
    for (good, header) in [(short, 12), (long, 24)] {
        for cut in 0..header {
            assert_eq!(ear.hear(&good[..cut]), Err(WireError::PeerForeign.into()), "{cut}");
        }
        let nobody = match header {
            12 => [&good[..8], &[0, 0], &good[10..]].concat(),
            _ => [&good[..12], &[0, 0], &good[14..]].concat(),
        };
        assert_eq!(ear.hear(&nobody), Err(WireError::PeerNobody.into()));
    }
    for magic in [0_u32, 0x4c43_3031, 0x4c43_3036, u32::MAX] {
        let foreign = [&magic.to_be_bytes()[..], &short[4..]].concat();
        assert_eq!(ear.hear(&foreign), Err(WireError::PeerForeign.into()));
    }
    assert_eq!((ear.opener.counters().bad, ear.opener.refused().plain), (42, 0));
    for plain in datagrams("a", &payload(2_000, 0), 0, Sizes::SMALL) {
        assert_eq!(ear.hear(&plain), Err(WireError::PeerPlain.into()));
    }
    // The self test alone is heard without a seal, and says nothing else.
    let test = &datagrams(SELF_TEST_CHANNEL, SELF_TEST_PAYLOAD, 0, Sizes::LARGE)[0];
    assert_eq!(ear.hear(test), Ok(Some((SELF_TEST_CHANNEL.to_owned(), SELF_TEST_PAYLOAD.to_vec()))));
    let other = &datagrams(SELF_TEST_CHANNEL, b"obey", 0, Sizes::LARGE)[0];
    assert_eq!(ear.hear(other), Err(WireError::PeerPlain.into()));
    assert_eq!((ear.opener.counters().bad, ear.opener.refused().plain), (42, 3));
    assert_eq!((ear.hear_all([short]), ear.opener.held().0), (vec![b"b".to_vec()], 0));
}

#[test]
fn pub_04_a_content_may_be_as_long_as_a_plain_one() {
    let most = Limits::default().message_bytes;
    let (mut mouth, mut ear) = (Mouth::new(Mode::Own, 1, &["A"]), Ear::new(Mode::Own, &["A"]));
    let heard = ear.hear_all(&mouth.say("A", &vec![7; most]));
    assert!(heard.len() == 1 && heard[0].len() == most);
    let long = mouth.say("A", &vec![7; most + 100]);
    assert!(matches!(ear.hear(&long[0]), Err(OpenError::Wire(WireError::PeerTooLong(_)))));
}

#[test]
fn pub_20_a_name_that_does_not_end_is_refused() {
    let (mut mouth, mut ear) = (Mouth::new(Mode::Own, 1, &["a"]), Ear::new(Mode::Own, &["a"]));
    let good = &mouth.say("a", b"content")[0];
    // Without the NUL, so that whatever comes behind counts as name, until a zero or 64 bytes.
    let endless = [&good[..13], &[good[13] ^ 1], &good[14..]].concat();
    let refused = ear.hear(&endless).unwrap_err();
    assert!(matches!(refused, OpenError::PeerName | OpenError::LocalUnreadable(_)), "{refused:?}");
    assert_eq!(ear.hear(&good[..13]), Err(OpenError::PeerName));
    // Nothing but the NUL.
    let empty = [&good[..12], &[good[12] ^ b'a'], &good[13..]].concat();
    assert_eq!(ear.hear(&empty), Err(OpenError::PeerName));
    assert_eq!(channel("a").as_bytes(), b"a");
    assert!(folkmoot_pubsub::Channel::new("") == Err(ChannelError::Length(0)));
}

fn parts() -> impl Strategy<Value = Part> {
    let fragment = (any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>())
        .prop_map(|(size, offset, number, count)| Part::Fragment { size, offset, number, count });
    prop_oneof![Just(Part::Whole), fragment]
}

proptest! {
    #[test]
    fn what_is_sealed_is_opened(name in prop::collection::vec(1_u8..=255, 1..=63), length in 0_usize..6_000, turn: usize, own: bool, chacha: bool) {
        let (mode, suite) = (if own { Mode::Own } else { Mode::Compatible }, if chacha { Suite::ChaCha20 } else { Suite::Aes128 });
        let channel = folkmoot_pubsub::Channel::new(&name).unwrap();
        let mut sealer = Sealer::new(mode, group(), id(300), Sizes::SMALL, Times::default());
        let mut opener = Opener::new(mode, group(), Limits::default(), Times::default());
        for domain in [group(), group().with_channel(channel)] {
            let made = || DomainKey::new(mode, domain, &Material::derive(suite, &domain, b"secret"), members(&[300])).unwrap();
            sealer.install(Instant(0), made(), Cause::Joined).unwrap();
            opener.install(Instant(0), made(), Cause::Joined).unwrap();
        }
        let said = payload(length, 9);
        let packets = sealer.seal(Instant(0), channel, &said).unwrap();
        let mut made: Vec<Vec<u8>> = packets.map(|packet| [packet.head(), packet.data].concat()).collect();
        let middle = turn % made.len();
        made.rotate_left(middle);
        let mut heard = Vec::new();
        for datagram in &mut made {
            if let Some(opened) = opener.receive(Instant(0), sender(1), datagram).unwrap() {
                prop_assert_eq!(opened.channel, channel);
                heard.push(opened.payload.to_vec());
            }
        }
        prop_assert_eq!(heard, [said]);
    }

    #[test]
    fn a_header_is_read_as_it_was_written(sequence: u32, number in 1_u16.., tags: [u8; 2], part in parts(), rest in prop::collection::vec(any::<u8>(), 0..30)) {
        let header = Header { sequence, sender: id(number), tags, part };
        let bytes = [header.encode(), rest.clone()].concat();
        prop_assert_eq!(Header::decode(&bytes), Ok((header, &rest[..])));
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..100), long: bool, own: bool) {
        let mode = if own { Mode::Own } else { Mode::Compatible };
        let mut ear = Ear::new(mode, &["a"]);
        let magic: &[u8] = if long { b"LC05" } else { b"LC04" };
        let _ = ear.hear(&[magic, &bytes].concat());
        let _ = ear.hear(&bytes);
    }
}
