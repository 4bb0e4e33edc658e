//! Every frame survives the round trip. Input that is cut, lengthened or altered gives a typed
//! error or a legal frame, and no panic.

use bytes::{Bytes, BytesMut};
use folkmoot_base::limits::{LONG_FRAME_BYTES_MAX, NODES_MAX};
use folkmoot_base::{ConfigurationId, DecodeError, NodeId};
use folkmoot_ring::behind::join;
use folkmoot_ring::data::{Class, Head, PACKET_BYTES_MAX, Part, Record, RingHandle, put_piece};
use folkmoot_ring::given::{Given, Span};
use folkmoot_ring::message::{
    CommitToken, Control, Entry, Frame, Held, Hurry, Join, NOBODY, OldRing, Recent, Request, Token, Visited,
};
use folkmoot_ring::names::{Name, put_names};
use folkmoot_ring::{CONTRIBUTION_BYTES, Contribution};
use proptest::prelude::*;

fn id(seq: u64, representative: NodeId) -> ConfigurationId {
    ConfigurationId { ring_seq: seq, representative, nonce: [seq as u8; 16] }
}

fn nodes(n: usize) -> Vec<NodeId> {
    (0..n).map(|i| NodeId([i as u8; 32])).collect()
}

fn old_ring(seed: u64) -> OldRing {
    if seed.is_multiple_of(3) {
        return OldRing::default();
    }
    let safe = seed % 100;
    OldRing {
        id: Some(id(seed, NodeId([1; 32]))),
        safe,
        delivered: safe + 1,
        held: safe + 2,
        obligations: seed,
    }
}

fn entry(seed: u64) -> Entry {
    let contribution = Contribution::new([seed as u8; CONTRIBUTION_BYTES]);
    Entry { old_ring: old_ring(seed), contribution, mtu: seed as u16, trip: 9 }
}

fn controls() -> impl Strategy<Value = Control> {
    let join = (1..=NODES_MAX, any::<u8>(), any::<u32>(), 0..=1_u8).prop_map(|(n, wanted, seq, bound)| {
        let hears = nodes(n);
        let wants = hears.iter().take(usize::from(wanted) % n).copied().collect();
        let ring_seq = seq.into();
        Control::Join(Join {
            hears,
            wants,
            bound,
            number: 9,
            ring_seq,
            current: None,
            last: None,
            trip: 7,
            entry: (seq % 2 == 0).then(|| entry(seq.into())),
        })
    });
    let commit = (1..=NODES_MAX, any::<u32>(), any::<u64>()).prop_map(|(n, seq, seed)| {
        let members = nodes(n);
        let old_rings = (0..n as u64).map(|i| old_ring(seed.wrapping_add(i))).collect();
        let contributions = (0..n).map(|i| Contribution::new([i as u8 ^ 0x55; CONTRIBUTION_BYTES])).collect();
        let mtus = (0..n as u64).map(|i| seed.wrapping_add(i) as u16).collect();
        let trips = (0..n as u64).map(|i| (seed.wrapping_add(i) >> 16) as u16).collect();
        let id = id(seq.into(), members[0]);
        Control::Commit(CommitToken { id, members, old_rings, contributions, mtus, trips, rotation: 2 })
    });
    let token = (0..1_000_u32, 1..100_u32, 0..64_u32, 1..=NODES_MAX).prop_map(|(held, more, asked, n)| {
        let places = u64::from(held + more);
        let source = |number: u32| if number.is_multiple_of(2) { NOBODY } else { 7 };
        let mut requests: Vec<Request> =
            (1..=asked).map(|number| Request { source: source(number), number }).collect();
        requests.sort();
        let recent = Recent { number: 1, place: held + more, first: 9, count: 1 };
        let record = |passes: u16| (passes % 3 == 1).then_some(recent);
        let visited = |passes| Visited { held, passes, record: record(passes) };
        Control::Token(Token {
            ring: [7; 16],
            token_seq: places,
            records: places,
            places,
            members: (0..n as u16).map(visited).collect(),
            sent: 3,
            backlog: 4,
            quiet: 5,
            requests,
        })
    });
    let held = any::<u32>().prop_map(|held| Control::Held(Held { ring: [9; 16], held }));
    prop_oneof![join, commit, token, held, Just(Control::Hurry(Hurry { ring: [9; 16] }))]
}

fn begun(head: Head, class: Class) -> BytesMut {
    let mut frame = BytesMut::new();
    head.begin(class, &mut frame);
    frame
}

fn packets() -> impl Strategy<Value = Bytes> {
    let pieces = prop::collection::vec((0..200_usize, any::<(bool, bool, u16)>()), 1..6);
    let classes = prop::sample::select(vec![
        Class::Safe,
        Class::Agreed,
        Class::Causal,
        Class::Fifo,
        Class::Reliable,
        Class::Unreliable,
    ]);
    let given = (1..=100_usize, 1..1_000_u64).prop_map(|(count, first)| {
        let spans =
            (0..count as u64).map(|i| Span { source: i as u8 % 64, first, last: first + i }).collect();
        let head = Head { number: first, sender: 3, ring: RingHandle([3; 4]) };
        Given { ring: RingHandle([4; 4]), spans }.packet(head).frame
    });
    let messages = (1..1_000_u64, 0..64_u8, pieces, 0..4_u8, classes).prop_map(
        |(number, sender, pieces, kind, class)| {
            let head = Head { number, sender, ring: RingHandle([3; 4]) };
            let mut frame = begun(head, class);
            if class == Class::Causal {
                let others = (0..64).filter(|source| *source != sender && number % 7 > (*source % 7).into());
                put_names(&mut frame, others.map(|source| Name { source, number }));
            }
            let apart = matches!(class, Class::Reliable | Class::Unreliable);
            let alone = apart && pieces.iter().any(|(_, (first, last, _))| !(*first && *last));
            for (length, (first, last, message)) in pieces.into_iter().take(if alone { 1 } else { 9 }) {
                let length = if first || last { length } else { length + 1 };
                put_piece(&mut frame, Part { first, last, message }, &[&vec![0xab; length]]);
            }
            let record = Record { number, place: 5, source: sender, first: 7, count: 3 };
            let inner = if kind < 2 { frame.freeze() } else { record.frame(head.ring, BytesMut::new()) };
            let recovered = kind >= 2 || class != Class::Unreliable;
            if kind.is_multiple_of(2) || !recovered {
                return inner;
            }
            let mut outer = begun(head, Class::Recovered);
            outer.extend_from_slice(&inner);
            outer.freeze()
        },
    );
    prop_oneof![4 => messages, 1 => given]
}

fn frames() -> impl Strategy<Value = Bytes> {
    prop_oneof![controls().prop_map(|c| c.encode()), packets()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn ring_01_controls_survive_the_round_trip(control in controls()) {
        let bytes = control.encode();
        prop_assert!(bytes.len() <= LONG_FRAME_BYTES_MAX);
        prop_assert_eq!(Frame::decode(bytes), Ok(Frame::Control(control)));
    }

    #[test]
    fn ring_02_packets_survive_the_round_trip(bytes in packets()) {
        let Ok(Frame::Data(data, None)) = Frame::decode(bytes.clone()) else { panic!("refused") };
        prop_assert_eq!(&data.frame, &bytes);
        let inner = if data.class == Class::Recovered { data.recovered().unwrap() } else { data };
        let head = Head { number: inner.number, sender: inner.sender, ring: inner.ring };
        match (inner.record(), inner.given()) {
            (Some(record), _) => prop_assert_eq!(record.frame(inner.ring, BytesMut::new()), inner.frame),
            (_, Some(given)) => prop_assert_eq!(given.packet(head), inner),
            _ => {
                let mut again = begun(head, inner.class);
                if inner.class == Class::Causal {
                    put_names(&mut again, inner.names().collect::<Vec<_>>().into_iter());
                }
                inner.pieces().for_each(|piece| put_piece(&mut again, piece.part, &[&piece.bytes]));
                prop_assert_eq!(again.freeze(), inner.frame);
            }
        }
    }

    #[test]
    fn ring_02_a_record_behind_a_packet_survives_the_round_trip(bytes in packets(), number in 1..1_000_u64) {
        let Ok(Frame::Data(packet, None)) = Frame::decode(bytes.clone()) else { panic!("refused") };
        let record = Record { number, place: 5, source: packet.sender, first: 7, count: 3 };
        let record = record.frame(packet.ring, BytesMut::new());
        let joined = Frame::decode(join(&bytes, &record, BytesMut::new()));
        let in_stream = !matches!(
            packet.class,
            Class::Unreliable | Class::Record | Class::Recovered | Class::Given | Class::End
        );
        match joined {
            Ok(Frame::Data(first, Some(behind))) => {
                prop_assert!(in_stream);
                prop_assert_eq!((&first.frame, &behind.frame), (&bytes, &record));
            }
            other => prop_assert!(!in_stream, "{:?}", other),
        }
    }

    #[test]
    fn ring_01_cut_and_lengthened_frames_are_refused(bytes in frames(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(bytes.len());
        if let Ok(Frame::Control(_)) = Frame::decode(bytes.slice(..cut)) {
            prop_assert!(false, "a cut frame was taken");
        }
        let longer: Bytes = bytes.iter().copied().chain([0]).collect();
        prop_assert!(Frame::decode(longer).is_err());
    }

    #[test]
    fn ring_01_altered_frames_never_panic(bytes in frames(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = bytes.to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(Frame::Control(control)) = Frame::decode(bytes.clone().into()) {
            prop_assert_eq!(control.encode().to_vec(), bytes);
        }
    }

    #[test]
    fn ring_01_noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Frame::decode(bytes.into());
    }
}

#[test]
fn ring_01_overlong_frames_are_refused() {
    let long = Bytes::from(vec![1_u8; LONG_FRAME_BYTES_MAX + 1]);
    assert!(matches!(Frame::decode(long), Err(DecodeError::TooLong { .. })));
    let mut frame = begun(Head { number: 1, sender: 0, ring: RingHandle([0; 4]) }, Class::Agreed);
    put_piece(&mut frame, Part::WHOLE, &[&[0; PACKET_BYTES_MAX]]);
    assert!(Frame::decode(frame.freeze()).is_err(), "its recovered form would not fit a frame");
}

/// Reliable and unreliable messages are delivered on arrival: a packet has whole ones, or one piece
/// of one.
#[test]
fn ring_02_a_piece_of_a_reliable_message_shares_no_packet() {
    let head = Head { number: 1, sender: 0, ring: RingHandle([0; 4]) };
    let part = Part { first: true, last: false, message: 7 };
    for (class, parts, good) in [
        (Class::Reliable, [Part::WHOLE, Part::WHOLE], true),
        (Class::Reliable, [Part::WHOLE, part], false),
        (Class::Reliable, [part, Part::WHOLE], false),
        (Class::Unreliable, [Part::WHOLE, Part::WHOLE], true),
        (Class::Unreliable, [Part::WHOLE, part], false),
        (Class::Fifo, [Part::WHOLE, part], true),
    ] {
        let mut frame = begun(head, class);
        parts.iter().for_each(|part| put_piece(&mut frame, *part, &[b"words"]));
        assert_eq!(Frame::decode(frame.freeze()).is_ok(), good, "{class:?} {parts:?}");
    }
}

/// A causal packet names other streams, ascending, each once.
#[test]
fn ring_02_names_are_whole_ascending_and_of_other_streams() {
    let head = Head { number: 9, sender: 5, ring: RingHandle([0; 4]) };
    let frame = |names: &[(u8, u64)], cut: usize| {
        let mut frame = begun(head, Class::Causal);
        let names = names.iter().map(|(source, number)| Name { source: *source, number: *number });
        put_names(&mut frame, names);
        frame.truncate(frame.len() - cut);
        put_piece(&mut frame, Part::WHOLE, &[b"words"]);
        frame.freeze()
    };
    let all: Vec<(u8, u64)> = (0..64).filter(|source| *source != 5).map(|source| (source, 7)).collect();
    for good in [&[][..], &[(4, 1)], &[(4, 1), (6, u32::MAX.into())], &all] {
        let Ok(Frame::Data(data, None)) = Frame::decode(frame(good, 0)) else { panic!("refused: {good:?}") };
        let names: Vec<(u8, u64)> = data.names().map(|name| (name.source, name.number)).collect();
        assert_eq!((&names[..], data.pieces().count()), (good, 1));
    }
    let bad = [&[(5, 1)][..], &[(4, 0)], &[(64, 1)], &[(6, 1), (4, 1)], &[(4, 1), (4, 2)]];
    assert!(bad.iter().all(|bad| Frame::decode(frame(bad, 0)).is_err()));
    assert!(Frame::decode(frame(&[(1, 7), (2, 7)], 5)).is_err(), "fewer than it says");
    let long = Bytes::from([&frame(&[], 1)[..], &[255]].concat());
    assert!(Frame::decode(long).is_err(), "more than there is");
}

/// A record that goes behind a packet is of the packet's sender and ring, and nothing goes behind
/// it. What looks like a record, and is the end of a message, is no record.
#[test]
fn ring_02_what_stands_behind_a_packet_is_a_record_of_its_sender_and_ring() {
    let head = Head { number: 3, sender: 2, ring: RingHandle([3; 4]) };
    let packet = |class, words: &[u8]| {
        let mut frame = begun(head, class);
        put_piece(&mut frame, Part::WHOLE, &[words]);
        frame.freeze()
    };
    let record = |source, ring| {
        Record { number: 1, place: 5, source, first: 3, count: 1 }.frame(RingHandle(ring), BytesMut::new())
    };
    let joined = |packet: &[u8], behind: &[u8]| Frame::decode(join(packet, behind, BytesMut::new()));
    let agreed = packet(Class::Agreed, b"words");
    assert!(matches!(joined(&agreed, &record(2, [3; 4])), Ok(Frame::Data(_, Some(_)))));
    let both = join(&agreed, &record(2, [3; 4]), BytesMut::new());
    let bad = [
        joined(&agreed, &record(1, [3; 4])),
        joined(&agreed, &record(2, [4; 4])),
        joined(&agreed, &packet(Class::Agreed, b"12345678")),
        joined(&both, &record(2, [3; 4])),
        joined(&packet(Class::Unreliable, b"words"), &record(2, [3; 4])),
        joined(&agreed, &record(2, [3; 4])[..19]),
        Frame::decode([&begun(head, Class::Recovered)[..], &both].concat().into()),
    ];
    for (case, decoded) in bad.iter().enumerate() {
        assert!(decoded.is_err(), "{case}: {decoded:?}");
    }
    let words = [&b"words"[..], &[0; 2], &record(2, [3; 4])].concat();
    let Ok(Frame::Data(data, None)) = Frame::decode(packet(Class::Agreed, &words)) else {
        panic!("the end of a message was taken for a record")
    };
    assert_eq!(data.pieces().next().unwrap().bytes, words);
}

/// Nobody keeps unreliable packets, so nobody recovers them.
#[test]
fn ring_02_an_unreliable_packet_is_never_recovered() {
    let head = Head { number: 1, sender: 0, ring: RingHandle([0; 4]) };
    for (class, good) in [(Class::Unreliable, false), (Class::Reliable, true)] {
        let mut inner = begun(head, class);
        put_piece(&mut inner, Part::WHOLE, &[b"words"]);
        let mut frame = begun(head, Class::Recovered);
        frame.extend_from_slice(&inner);
        assert_eq!(Frame::decode(frame.freeze()).is_ok(), good, "{class:?}");
    }
}

#[test]
fn ring_02_spans_of_early_deliveries_are_whole_and_not_too_many() {
    let head = Head { number: 1, sender: 0, ring: RingHandle([0; 4]) };
    let span = Span { source: 1, first: 5, last: 9 };
    let frame = |spans: Vec<Span>| Given { ring: head.ring, spans }.packet(head).frame;
    assert!(Frame::decode(frame(vec![span; 100])).is_ok());
    let bad = [
        vec![],
        vec![span; 101],
        vec![Span { first: 10, ..span }],
        vec![Span { first: 0, ..span }],
        vec![Span { source: 64, ..span }],
    ];
    for spans in bad {
        assert!(Frame::decode(frame(spans.clone())).is_err(), "{spans:?}");
    }
}
