//! The bytes of datagrams, and what is refused at once.

use crate::helper::{Ear, channel, datagrams, forged, fragments, payload};
use folkmoot_pubsub::{
    Channel, ChannelError, Datagram, Fragment, Limits, MESSAGE_BYTES_MAX, Packets, Short, Sizes, TooLong,
    WireError,
};
use proptest::prelude::*;

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn the_vector_of_the_sheet_holds_in_both_directions() {
    let bytes = unhex("4c433032 00000007 6368616e6e656c3100 68656c6c6f");
    assert_eq!(datagrams("channel1", b"hello", 7, Sizes::LARGE), [&bytes[..]]);
    let short = Short { sequence: 7, channel: channel("channel1"), payload: b"hello" };
    assert_eq!(Datagram::decode(&bytes), Ok(Datagram::Short(short)));
}

#[test]
fn a_fragment_has_the_header_of_the_sheet() {
    let said = payload(65_491, 0);
    let made = datagrams("channel1", &said, 0x0102_0304, Sizes::LARGE);
    assert_eq!(made.len(), 2);
    // Name and NUL take 9 of the first one's 65,487 bytes.
    let first = unhex("4c433033 01020304 0000ffd3 00000000 0000 0002 6368616e6e656c3100");
    assert_eq!(made[0], [&first[..], &said[..65_478]].concat());
    let second = unhex("4c433033 01020304 0000ffd3 0000ffc6 0001 0002");
    assert_eq!(made[1], [&second[..], &said[65_478..]].concat());
}

#[test]
fn a_message_is_short_as_long_as_liblcm_says() {
    for (sizes, short, fragment) in [(Sizes::LARGE, 65_499, 65_487), (Sizes::SMALL, 1_435, 1_423)] {
        let of = |length: usize| datagrams("abc", &payload(length, 0), 0, sizes);
        assert_eq!(of(short - 4).len(), 1);
        assert_eq!(of(short - 4)[0].len(), short + 8);
        let two = of(short - 3);
        assert_eq!((two.len(), two[0].len()), (2, fragment + 20));
        assert_eq!(of(fragment * 2 - 4).len(), 2);
        assert_eq!(of(fragment * 2 - 3).len(), 3);
    }
}

#[test]
fn no_datagram_is_longer_than_the_interface_carries() {
    for bytes in [1_472, 548, 8_972] {
        let sizes = Sizes::of_datagram(bytes);
        let of = |length: usize| datagrams("abc", &payload(length, 0), 0, sizes);
        assert_eq!(of(bytes - 12).iter().map(Vec::len).collect::<Vec<_>>(), [bytes]);
        let cut = of(bytes * 10);
        let (last, others) = cut.split_last().unwrap();
        assert!(others.iter().all(|one| one.len() == bytes) && last.len() <= bytes, "a train");
        // Of 1,024 fragments; one byte more is cut as liblcm cuts it.
        let most = 1_024 * (bytes - 20) - 4;
        assert_eq!((of(most).len(), of(most)[5].len()), (1_024, bytes));
        assert_eq!(of(most + 1).len(), (most + 5).div_ceil(65_487));
        assert_eq!(of(most + 1)[0].len(), 65_507.min(most + 25));
    }
    assert_eq!(Sizes::of_datagram(65_508), Sizes::LARGE);
    assert_eq!(Sizes::of_datagram(0), Sizes::of_datagram(256), "a name and something to say fit");
}

#[test]
fn nothing_is_sent_that_liblcm_would_refuse() {
    let long = vec![0; MESSAGE_BYTES_MAX + 1];
    assert_eq!(Packets::new(channel("a"), &long, 0, Sizes::LARGE).unwrap_err(), TooLong(long.len()));
    // 65,535 fragments of 1,423 bytes.
    let most = 65_535 * 1_423 - 2;
    assert_eq!(Packets::new(channel("a"), &long[..most], 0, Sizes::SMALL).unwrap().count(), 65_535);
    assert!(Packets::new(channel("a"), &long[..most + 1], 0, Sizes::SMALL).is_err());
}

#[test]
fn pub_01_what_is_not_of_lcm_is_refused_and_counted() {
    let good = &datagrams("a", b"b", 0, Sizes::LARGE)[0];
    let (_, long) = fragments("a", 2, 0, 0);
    let mut ear = Ear::new();
    for cut in 0..8 {
        assert_eq!(ear.hear(1, &good[..cut]), Err(WireError::PeerForeign));
    }
    for cut in 0..20 {
        assert_eq!(ear.hear(1, &long[1][..cut]), Err(WireError::PeerForeign));
    }
    for magic in [0_u32, 0x4c43_3031, 0x4c43_3036, u32::MAX] {
        assert_eq!(
            ear.hear(1, &[&magic.to_be_bytes()[..], &good[4..]].concat()),
            Err(WireError::PeerForeign)
        );
    }
    assert_eq!((ear.counters().bad, ear.counters().secured), (32, 0));
    for magic in [0x4c43_3034_u32, 0x4c43_3035] {
        assert_eq!(
            ear.hear(1, &[&magic.to_be_bytes()[..], &good[4..]].concat()),
            Err(WireError::PeerSecured)
        );
    }
    assert_eq!((ear.counters().bad, ear.counters().secured), (32, 2));
    assert_eq!(ear.held(), (0, 0, 0));
}

#[test]
fn pub_02_a_channel_has_a_name_of_1_to_63_bytes() {
    assert_eq!(Channel::new(""), Err(ChannelError::Length(0)));
    assert_eq!(Channel::new([b'a'; 64]), Err(ChannelError::Length(64)));
    assert_eq!(Channel::new("a\0b"), Err(ChannelError::Nul));
    assert_eq!(Channel::new([0xff; 63]).unwrap().as_bytes(), [0xff; 63]);
    let head = |name: &[u8]| [&b"LC02\0\0\0\x01"[..], name].concat();
    let mut ear = Ear::new();
    assert_eq!(ear.hear(1, &head(b"\0said")), Err(WireError::PeerChannel(ChannelError::Length(0))));
    let long = [&[b'a'; 64][..], &[0]].concat();
    assert_eq!(ear.hear(1, &head(&long)), Err(WireError::PeerChannel(ChannelError::Length(64))));
    assert_eq!(ear.hear(1, &head(b"endless")), Err(WireError::PeerEndless));
    assert_eq!(ear.hear(1, &head(b"")), Err(WireError::PeerEndless));
    let (_, mut long) = fragments("a", 2, 0, 0);
    long[0][21] = b'b';
    long[0].truncate(22);
    assert_eq!(ear.hear(1, &long[0]), Err(WireError::PeerEndless));
    assert_eq!(ear.counters().bad, 5);
    assert_eq!(ear.hear(1, &head(&[&[b'a'; 63][..], &[0]].concat())).unwrap().unwrap().1, b"");
}

#[test]
fn pub_03_a_fragment_that_contradicts_itself_is_refused() {
    let (said, good) = fragments("a", 3, 0, 0);
    let size = u32::try_from(said.len()).unwrap();
    let lies = [
        ("count 0", forged(&good[1], None, None, None, Some(0))),
        ("beyond the last", forged(&good[1], None, None, Some(3), None)),
        ("ends beyond the message", forged(&good[1], None, Some(size - 3), None, None)),
        ("ends beyond 2^32", forged(&good[1], None, Some(u32::MAX), None, None)),
        ("the first does not begin the message", forged(&good[0], None, Some(1), None, None)),
        ("the last does not end it", forged(&good[2], Some(size + 1), None, None, None)),
        ("more fragments than bytes", forged(&good[1], Some(2_000), None, None, Some(2_002))),
        ("no data", good[1][..20].to_vec()),
        ("alone, and not the whole", forged(&good[0], None, None, None, Some(1))),
    ];
    let mut ear = Ear::new();
    for (about, lie) in &lies {
        assert_eq!(ear.hear(1, lie), Err(WireError::PeerContradicts), "{about}");
    }
    assert_eq!((ear.counters().bad, ear.held()), (9, (0, 0, 0)));
    assert_eq!(ear.hear_all(1, &good), [said]);
}

#[test]
fn pub_04_a_message_longer_than_the_limit_is_refused() {
    let limits = Limits { message_bytes: 10_000, ..Limits::default() };
    let of = |length: usize| datagrams("a", &payload(length, 0), 0, Sizes::SMALL);
    let mut ear = Ear::with(limits);
    for datagram in &of(10_001) {
        assert_eq!(ear.hear(1, datagram), Err(WireError::PeerTooLong(10_001)));
    }
    assert_eq!(ear.held(), (0, 0, 0));
    assert_eq!(ear.hear_all(1, &of(10_000)).len(), 1);
    // A header alone sets nothing aside.
    let lie = forged(&of(10_000)[1], Some(u32::MAX), None, None, None);
    assert_eq!(Ear::new().hear(1, &lie), Err(WireError::PeerTooLong(u32::MAX)));
    let small = Limits { sender_bytes: 9_999, ..Limits::default() };
    assert_eq!(Ear::with(small).hear(1, &of(10_000)[0]), Err(WireError::PeerTooLong(10_000)));
}

/// Names as programs have them, and others.
fn names() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1_u8..=255, 1..=63)
}

proptest! {
    #[test]
    fn what_is_cut_comes_together(name in names(), length in 0_usize..9_000, sequence in any::<u32>(), turn in any::<usize>()) {
        let said = payload(length, 9);
        let packets = Packets::new(Channel::new(&name).unwrap(), &said, sequence, Sizes::SMALL).unwrap();
        let mut made: Vec<Vec<u8>> = packets.map(|packet| [packet.head(), packet.data].concat()).collect();
        let middle = turn % made.len();
        made.rotate_left(middle);
        let mut ear = Ear::new();
        prop_assert_eq!(ear.hear_all(1, &made), [said]);
        prop_assert_eq!(ear.held(), (0, 0, 1));
    }

    #[test]
    fn what_is_read_is_written_as_it_came(name in names(), sequence: u32, said in prop::collection::vec(any::<u8>(), 0..200)) {
        let channel = Channel::new(&name).unwrap();
        let made = Packets::new(channel, &said, sequence, Sizes::LARGE).unwrap().next().unwrap();
        let bytes = [made.head(), made.data].concat();
        prop_assert_eq!(Datagram::decode(&bytes), Ok(Datagram::Short(Short { sequence, channel, payload: &said })));
    }

    #[test]
    fn a_fragment_is_read_as_it_was_cut(name in names(), sequence: u32, length in 1_500_usize..9_000) {
        let said = payload(length, 3);
        let channel = Channel::new(&name).unwrap();
        let made: Vec<Vec<u8>> = Packets::new(channel, &said, sequence, Sizes::SMALL).unwrap()
            .map(|packet| [packet.head(), packet.data].concat()).collect();
        let mut offset = 0;
        for (number, bytes) in made.iter().enumerate() {
            let Ok(Datagram::Fragment(fragment)) = Datagram::decode(bytes) else { panic!("no fragment") };
            prop_assert_eq!(fragment, Fragment {
                sequence,
                size: u32::try_from(length).unwrap(),
                offset,
                number: u16::try_from(number).unwrap(),
                count: u16::try_from(made.len()).unwrap(),
                channel: (number == 0).then_some(channel),
                data: fragment.data,
            });
            offset += u32::try_from(fragment.data.len()).unwrap();
        }
        prop_assert_eq!(offset, u32::try_from(length).unwrap());
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..100), long: bool) {
        let magic: &[u8] = if long { b"LC03" } else { b"LC02" };
        let _ = Ear::new().hear(1, &[magic, &bytes].concat());
        let _ = Ear::new().hear(1, &bytes);
    }
}
