//! Every message reads back as it was written, and no other bytes read as it.

use folkmoot_base::{Blob, ConfigurationId, GroupId, MemberId, NodeId, Party, SignatureBytes, ViewId, codec};
use folkmoot_letters::{
    Answer, AnswerBody, GuestMessage, Letter, LetterBody, MemberMessage, Sealed, Standing,
};
use proptest::prelude::*;

fn blob() -> impl Strategy<Value = Blob> {
    prop::collection::vec(any::<u8>(), 0..40).prop_map(Blob::from)
}

fn sealed() -> impl Strategy<Value = Sealed> {
    (blob(), blob()).prop_map(|(encapsulated, body)| Sealed { encapsulated, body })
}

fn view() -> impl Strategy<Value = ViewId> {
    (any::<[u8; 32]>(), any::<u64>(), any::<[u8; 16]>()).prop_map(|(id, number, nonce)| {
        let configuration = ConfigurationId { ring_seq: number, representative: NodeId(id), nonce };
        ViewId { configuration, order: number, group: GroupId(id) }
    })
}

fn signature() -> impl Strategy<Value = SignatureBytes> {
    prop::collection::vec(any::<u8>(), 64).prop_map(|bytes| <[u8; 64]>::try_from(bytes).unwrap().into())
}

fn guest_messages() -> impl Strategy<Value = GuestMessage> {
    let standings = prop::sample::select(vec![Standing::Delivered, Standing::Full, Standing::Refused]);
    prop_oneof![
        (any::<[u8; 32]>(), any::<[u8; 16]>())
            .prop_map(|(group, nonce)| GuestMessage::Ask { group: GroupId(group), nonce }),
        (view(), any::<[u8; 8]>(), blob(), any::<[u8; 32]>(), any::<[u8; 16]>(), signature()).prop_map(
            |(view, epoch, key, by, nonce, signature)| {
                GuestMessage::Key { view, epoch, key, by: MemberId(by), nonce, signature }
            }
        ),
        (any::<[u8; 32]>(), any::<[u8; 8]>(), sealed())
            .prop_map(|(group, epoch, sealed)| GuestMessage::Letter { group: GroupId(group), epoch, sealed }),
        (any::<[u8; 32]>(), standings)
            .prop_map(|(letter, standing)| GuestMessage::Standing { letter, standing }),
        (any::<[u8; 32]>(), any::<[u8; 32]>(), prop::collection::vec(any::<[u8; 32]>(), 0..4))
            .prop_map(|(group, letter, have)| GuestMessage::Poll { group: GroupId(group), letter, have }),
        (any::<[u8; 32]>(), sealed()).prop_map(|(letter, sealed)| GuestMessage::Answer { letter, sealed }),
    ]
}

fn member_messages() -> impl Strategy<Value = MemberMessage> {
    let letters = (view(), blob(), blob(), blob(), any::<[u8; 16]>(), signature()).prop_map(
        |(view, certificate, reply, text, nonce, signature)| {
            let body = LetterBody { view, epoch: [1; 8], certificate, nonce, reply, text };
            MemberMessage::Letter { letter: Letter { body, signature } }
        },
    );
    let answers = (any::<[u8; 32]>(), any::<u16>(), blob(), any::<[u8; 16]>(), signature()).prop_map(
        |(id, port, text, nonce, signature)| {
            let by = Party::new(MemberId(id), port);
            let body = AnswerBody { group: GroupId(id), letter: id, by, nonce, text };
            MemberMessage::Answer { answer: Answer { body, signature } }
        },
    );
    prop_oneof![letters, answers]
}

fn holds<T>(message: &T, extra: u8) -> Result<(), TestCaseError>
where
    T: codec::DeserializeBytes + codec::Serialize + codec::Size + PartialEq + core::fmt::Debug,
{
    let bytes = codec::encode(message);
    prop_assert_eq!(&codec::decode::<T>(&bytes).unwrap(), message);
    for end in 0..bytes.len() {
        prop_assert!(codec::decode::<T>(&bytes[..end]).is_err());
    }
    prop_assert!(codec::decode::<T>(&[bytes, vec![extra]].concat()).is_err());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn guest_messages_round_trip(message in guest_messages(), extra in any::<u8>()) {
        holds(&message, extra)?;
        prop_assert!(folkmoot_letters::is_guest_message(&codec::encode(&message)));
    }

    #[test]
    fn member_messages_round_trip(message in member_messages(), extra in any::<u8>()) {
        holds(&message, extra)?;
    }
}
