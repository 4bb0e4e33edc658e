//! Every frame reads back as it was written, and no other bytes read as it.

use bytes::Bytes;
use folkmoot_base::{ConfigurationId, DecodeError, GroupId, NodeId, Proof, Service, ViewId};
use folkmoot_flush::message::{
    BRINGS_BYTES_MAX, Control, FlushOk, For, Frame, Reach, Reached, Signed, ViewTag, data_header, decode,
    encode,
};
use proptest::prelude::*;

fn view() -> impl Strategy<Value = ViewId> {
    let configuration =
        (any::<u64>(), any::<[u8; 32]>(), any::<[u8; 16]>()).prop_map(|(ring_seq, representative, nonce)| {
            ConfigurationId { ring_seq, representative: NodeId(representative), nonce }
        });
    (configuration, any::<u64>(), any::<[u8; 32]>()).prop_map(|(configuration, order, group)| ViewId {
        configuration,
        order,
        group: GroupId(group),
    })
}

fn flush_ok() -> impl Strategy<Value = FlushOk> {
    let brings = prop::collection::vec(any::<u8>(), 0..=BRINGS_BYTES_MAX);
    (view(), any::<[u8; 32]>(), any::<[u8; 32]>(), brings).prop_map(|(view, heads, commitment, brings)| {
        let parties = (0..heads[0] % 5).map(u16::from);
        let reach = |place| Reach { place, reliable: 7, fifo: u32::from(heads[1]) };
        let reached = Reached { tag: ViewTag([heads[2]; 4]), parties: parties.map(reach).collect() };
        let reached = (heads[3] % 2 == 0).then_some(reached);
        FlushOk { view, number: u32::from(heads[4]), heads, brings: brings.into(), reached, commitment }
    })
}

fn control() -> impl Strategy<Value = Control> {
    let key = prop::collection::vec(any::<u8>(), 0..100);
    let signed = (flush_ok(), key).prop_map(|(ok, key)| {
        let proof = Proof { key: key.into(), signature: [7; 64].into() };
        Control::FlushOk(Box::new(Signed { ok, proof }))
    });
    let received = (view(), any::<[u8; 32]>());
    let received = received.prop_map(|(view, receipt)| Control::FlushReceived { view, receipt });
    prop_oneof![signed, received]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn words_have_one_encoding(control in control(), flip in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let bytes = encode(&control);
        prop_assert_eq!(decode(&bytes), Ok(Frame::Control(control.clone())));
        for length in 0..bytes.len() {
            prop_assert!(decode(bytes.slice(..length)).is_err(), "cut to {}", length);
        }
        let longer = Bytes::from([&bytes[..], &[0]].concat());
        prop_assert_eq!(decode(&longer), Err(DecodeError::Leftover(1)));
        let mut flipped = bytes.to_vec();
        let at = flip.index(flipped.len());
        flipped[at] ^= 1 << bit;
        prop_assert_ne!(decode(Bytes::from(flipped)).ok(), Some(Frame::Control(control)));
    }

    #[test]
    fn data_has_one_encoding(view in view(), which in 0..6_usize, keys in any::<bool>(), number in any::<u32>(), payload in prop::collection::vec(any::<u8>(), 0..64)) {
        let services = [
            Service::Unreliable, Service::Reliable, Service::Fifo, Service::Causal, Service::Agreed, Service::Safe,
        ];
        let (tag, service) = (ViewTag::of(&view), services[which]);
        let number = if (1..4).contains(&which) { number } else { 0 };
        let to = if keys { For::Keying } else { For::Session };
        let head = data_header(&tag, service, to, number);
        let bytes = Bytes::from([head.as_slice(), &payload].concat());
        let payload = Bytes::from(payload).into();
        prop_assert_eq!(decode(&bytes), Ok(Frame::Data { tag, number, service, to, payload }));
        for length in 0..head.as_slice().len() {
            prop_assert_eq!(decode(bytes.slice(..length)), Err(DecodeError::Malformed));
        }
    }

    #[test]
    fn different_views_have_different_tags(one in view(), other in view()) {
        prop_assert_eq!(one == other, ViewTag::of(&one) == ViewTag::of(&other));
    }

    #[test]
    fn any_bytes_give_a_frame_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(Frame::Control(control)) = decode(Bytes::from(bytes.clone())) {
            prop_assert_eq!(&encode(&control)[..], &bytes[..]);
        }
    }
}
