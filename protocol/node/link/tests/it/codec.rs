//! Every message survives the round trip. Bytes that are cut, lengthened or altered give a typed
//! error or another legal value, never a panic.

use bytes::Bytes;
use folkmoot_base::{Algorithm, Blob, DecodeError, NodeId, SignatureBytes, codec};
use folkmoot_link::message::{Control, Datagram, Part, Proof, next_piece};
use folkmoot_link::{Exchange, SignedStart, Start, Versions};
use proptest::prelude::*;

fn part() -> impl Strategy<Value = Part> {
    (any::<u32>(), 1..=64_u8, any::<u8>(), prop::collection::vec(any::<u8>(), 1..1_444))
        .prop_map(|(to, parts, part, bytes)| Part { to, part: part % parts, parts, bytes: bytes.into() })
}

fn datagram() -> impl Strategy<Value = Datagram> {
    prop_oneof![
        (any::<u32>(), any::<[u8; 16]>(), any::<[u8; 32]>())
            .prop_map(|(from, cookie, noise)| Datagram::Hello { from, cookie, noise }),
        (any::<u32>(), any::<[u8; 16]>(), any::<u8>(), any::<bool>()).prop_map(
            |(from, cookie, fill, whole)| {
                let length = if whole { 1_216 } else { 0 };
                Datagram::HybridHello { from, cookie, noise: vec![fill; length].into() }
            }
        ),
        (any::<u32>(), any::<bool>()).prop_map(|(to, hybrid)| {
            let asks = if hybrid { Exchange::Hybrid } else { Exchange::Classical };
            Datagram::Refusal { to, asks }
        }),
        (any::<u32>(), any::<[u8; 16]>()).prop_map(|(to, cookie)| Datagram::Retry { to, cookie }),
        part().prop_map(Datagram::Reply),
        part().prop_map(Datagram::Finish),
    ]
}

fn start() -> impl Strategy<Value = SignedStart> {
    let signature = prop::collection::vec(any::<u8>(), 0..70);
    let parts = (any::<u8>(), any::<[u8; 32]>(), any::<[u8; 32]>(), any::<u64>(), any::<[u8; 32]>());
    (parts, signature).prop_map(|((role, hash, to, started, key), bytes)| SignedStart {
        start: Start { role, hash, to: NodeId(to), started, key },
        signature: SignatureBytes { algorithm: Algorithm::P256, bytes: bytes.into() },
    })
}

fn control() -> impl Strategy<Value = Control> {
    prop_oneof![
        any::<u64>().prop_map(Control::Ping),
        any::<u64>().prop_map(Control::Pong),
        Just(Control::Bye),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(|der| Control::Certificate(der.into())),
        any::<[u8; 32]>().prop_map(Control::Certified),
        start().prop_map(Control::Superseded),
        (any::<u32>(), any::<u16>()).prop_map(|(number, size)| Control::Probed { number, size }),
        (any::<[u8; 4]>(), any::<u32>()).prop_map(|(ring, number)| Control::Heard { ring, number }),
    ]
}

/// Decodes every cut, every lengthening and every flipped bit. Whatever decodes must encode to the
/// bytes that were given.
fn mistreat<T>(
    good: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
    encode: impl Fn(&T) -> Vec<u8>,
) {
    for length in 0..good.len() {
        if let Ok(value) = decode(&good[..length]) {
            assert_eq!(encode(&value), &good[..length]);
        }
    }
    let longer = [good, &[0]].concat();
    if let Ok(value) = decode(&longer) {
        assert_eq!(encode(&value), longer);
    }
    for bit in 0..good.len() * 8 {
        let mut bad = good.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        if let Ok(value) = decode(&bad) {
            assert_eq!(encode(&value), bad);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn link_01_datagrams_round_trip_and_bad_ones_are_refused(datagram in datagram()) {
        let bytes = datagram.encode();
        prop_assert_eq!(Datagram::decode(&bytes), Ok(datagram));
        let encode = |value: &Datagram| value.encode().to_vec();
        let head = &bytes[..bytes.len().min(80)];
        mistreat(head, |bytes| match Datagram::decode(&Bytes::copy_from_slice(bytes)) {
            // The body of a Data datagram is checked by its seal.
            Ok(Datagram::Data { .. }) => Err(DecodeError::Malformed),
            other => other,
        }, encode);
    }

    #[test]
    fn control_messages_round_trip_and_bad_ones_are_refused(message in control()) {
        let bytes = message.encode();
        prop_assert_eq!(Control::decode(&bytes), Ok(message));
        mistreat(&bytes, Control::decode, Control::encode);
    }

    #[test]
    fn proofs_round_trip_and_bad_ones_are_refused(
        index in any::<u32>(),
        started in any::<u64>(),
        versions in prop::collection::vec(any::<u8>(), 0..4),
        capabilities in any::<u64>(),
        certificate in prop::collection::vec(any::<u8>(), 0..60),
        signature in prop::collection::vec(any::<u8>(), 0..70),
    ) {
        let signature = SignatureBytes { algorithm: Algorithm::P256, bytes: signature.into() };
        let (versions, certificate) = (Versions::of(&versions), Blob::from(certificate));
        let proof = Proof { index, started, versions, capabilities, certificate, signature };
        let bytes = codec::encode(&proof);
        prop_assert_eq!(codec::decode::<Proof>(&bytes), Ok(proof));
        mistreat(&bytes, codec::decode::<Proof>, codec::encode);
    }

    /// Any bytes give pieces to the end, or an error; never a panic, never an endless loop.
    #[test]
    fn link_12_any_bytes_are_pieces_or_an_error(bytes in prop::collection::vec(0..12_u8, 0..200)) {
        let mut rest = Bytes::from(bytes);
        let mut length = rest.len();
        while let Ok(Some(piece)) = next_piece(&mut rest) {
            prop_assert!(rest.len() + piece.bytes.len() < length);
            length = rest.len();
        }
    }
}

/// LINK-01: a Hybrid Hello has its one length or is empty; a Refusal asks for a form that exists.
#[test]
fn link_01_hybrid_hellos_and_refusals_have_their_lengths() {
    let hello = |length| Datagram::HybridHello { from: 7, cookie: [1; 16], noise: vec![2; length].into() };
    for length in 0..1_430 {
        let legal = length == 0 || length == 1_216;
        assert_eq!(Datagram::decode(&hello(length).encode()).is_ok(), legal, "{length}");
    }
    for asks in 0..=255 {
        let bytes = Bytes::copy_from_slice(&[1, 7, 0, 0, 0, 7, asks]);
        assert_eq!(Datagram::decode(&bytes).is_ok(), (1..=2).contains(&asks), "{asks}");
    }
}

#[test]
fn unknown_versions_are_named() {
    assert_eq!(Datagram::decode(&Bytes::from_static(&[9, 1, 0, 0])), Err(DecodeError::Version(9)));
    let long = Bytes::from(vec![1; 2_000]);
    assert_eq!(Datagram::decode(&long), Err(DecodeError::TooLong { got: 2_000, most: 1_452 }));
}
