//! Every message reads back as it was written, and no other bytes read as it.

use bytes::Bytes;
use folkmoot_base::{
    Blob, ConfigurationId, DecodeError, GroupId, Head, Join, MemberId, NodeId, Party, Proof, Said, Says,
    ViewId, Word,
};
use folkmoot_group::Mark;
use folkmoot_group::message::{
    Control, Declaration, Declared, GroupState, Joined, Message, Noticed, SignedJoin, Speaker, Stamp, State,
    data_lead, decode, encode, handle_of,
};
use proptest::prelude::*;

const NODE: NodeId = NodeId([9; 32]);

fn configuration() -> impl Strategy<Value = ConfigurationId> {
    (any::<u64>(), any::<[u8; 32]>(), any::<[u8; 16]>()).prop_map(|(ring_seq, representative, nonce)| {
        ConfigurationId { ring_seq, representative: NodeId(representative), nonce }
    })
}

fn view() -> impl Strategy<Value = ViewId> {
    (configuration(), any::<u64>(), any::<[u8; 32]>()).prop_map(|(configuration, order, group)| ViewId {
        configuration,
        order,
        group: GroupId(group),
    })
}

fn mark() -> impl Strategy<Value = Mark> {
    let names = prop::collection::vec(any::<[u8; 16]>(), 0..4);
    (any::<u64>(), any::<[u8; 32]>(), any::<[u8; 32]>(), names)
        .prop_map(|(number, digest, set, names)| Mark { head: Head { number, digest }, set, names })
}

fn party() -> impl Strategy<Value = Party> {
    (any::<[u8; 32]>(), any::<u16>()).prop_map(|(member, port)| Party::new(MemberId(member), port))
}

fn proof() -> impl Strategy<Value = Proof> {
    let key = prop::collection::vec(any::<u8>(), 0..100);
    (key, any::<u64>()).prop_map(|(key, seed)| {
        let mut signature = [0; 64];
        signature[..8].copy_from_slice(&seed.to_be_bytes());
        Proof { key: key.into(), signature: signature.into() }
    })
}

fn joined() -> impl Strategy<Value = Joined> {
    (party(), any::<u64>(), any::<u64>(), configuration(), proof()).prop_map(
        |(party, number, order, configuration, proof)| {
            let stamp = Stamp { ring_seq: number, order };
            Joined { party, stamp, join: SignedJoin { configuration, number, proof } }
        },
    )
}

fn says() -> impl Strategy<Value = Says> {
    let group = || any::<[u8; 32]>().prop_map(GroupId);
    prop_oneof![
        (group(), any::<[u8; 32]>().prop_map(NodeId), configuration())
            .prop_map(|(group, node, configuration)| Says::Join(Join { group, node, configuration })),
        group().prop_map(|group| Says::Leave { group }),
        view().prop_map(|view| Says::Refresh { view }),
        (configuration(), view(), party()).prop_map(|(configuration, view, suspect)| Says::Complain {
            configuration,
            view,
            suspect
        }),
    ]
}

fn declaration() -> impl Strategy<Value = Declaration> {
    let charters = prop::collection::vec(any::<[u8; 32]>().prop_map(GroupId), 0..4);
    let states = (configuration(), mark(), charters, prop::collection::vec(group_state(), 0..4));
    prop_oneof![
        (party(), any::<u64>()).prop_map(|(party, number)| Declaration::Detach { party, number }),
        states.prop_map(|(configuration, mark, charters, groups)| Declaration::State(State {
            configuration,
            mark,
            charters,
            groups
        })),
        (configuration(), any::<u32>(), mark())
            .prop_map(|(configuration, number, mark)| { Declaration::Mark { configuration, number, mark } }),
    ]
}

fn group_state() -> impl Strategy<Value = GroupState> {
    let noticed = prop::option::of((view(), any::<[u8; 32]>()));
    let stood = prop::collection::vec(any::<[u8; 8]>(), 0..4);
    (any::<[u8; 32]>(), noticed, stood, prop::collection::vec(joined(), 0..4)).prop_map(
        |(group, noticed, stood, members)| {
            let noticed = noticed.map(|(view, digest)| Noticed { view, digest });
            GroupState { group: GroupId(group), noticed, stood, members }
        },
    )
}

fn control() -> impl Strategy<Value = Control> {
    prop_oneof![
        (party(), any::<u64>(), says(), proof()).prop_map(|(party, number, says, proof)| {
            Control::Party(Said { word: Word { party, number, says }, proof })
        }),
        (declaration(), proof()).prop_map(|(says, proof)| Control::Node(Declared { says, proof })),
        prop::collection::vec(any::<u8>(), 0..64).prop_map(|item| Control::Item { item: Blob::from(item) }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn control_messages_have_one_encoding(control in control(), flip in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let bytes = encode(&control);
        prop_assert_eq!(decode(NODE, &bytes), Ok(Message::Control(Box::new(control.clone()))));
        for length in 0..bytes.len() {
            prop_assert!(decode(NODE, bytes.slice(..length)).is_err(), "cut to {}", length);
        }
        let longer = Bytes::from([&bytes[..], &[0]].concat());
        prop_assert_eq!(decode(NODE, &longer), Err(DecodeError::Leftover(1)));
        let mut flipped = bytes.to_vec();
        let at = flip.index(flipped.len());
        flipped[at] ^= 1 << bit;
        prop_assert_ne!(decode(NODE, Bytes::from(flipped)).ok(), Some(Message::Control(Box::new(control))));
    }

    #[test]
    fn data_has_one_encoding(group in any::<[u8; 32]>(), sender in party(), own in any::<bool>(),
                             payload in prop::collection::vec(any::<u8>(), 0..64)) {
        let (group, sender) = (GroupId(group), if own { NODE.member().into() } else { sender });
        let bytes = Bytes::from([data_lead(NODE, &group, &sender).as_slice(), &payload].concat());
        let sender = if own { Speaker::Own } else { Speaker::Other(handle_of(&sender.member.0), sender.port) };
        let rest = Bytes::from(payload.clone()).into();
        let expected = Message::Data { group: handle_of(&group.0), sender, payload: rest };
        prop_assert_eq!(decode(NODE, &bytes), Ok(expected));
        for length in 0..bytes.len() - payload.len() {
            prop_assert_eq!(decode(NODE, bytes.slice(..length)).ok(), None);
        }
    }

    #[test]
    fn any_bytes_give_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(Message::Control(control)) = decode(NODE, Bytes::from(bytes.clone())) {
            prop_assert_eq!(&encode(&control)[..], &bytes[..]);
        }
    }
}

#[test]
fn a_node_does_not_spell_out_its_own_key() {
    let long =
        |port: u8| Bytes::from([&[0xD1][..], &[1; 8], &handle_of(&NODE.0), &[0, port], b"payload"].concat());
    assert_eq!(decode(NODE, long(0)), Err(DecodeError::NotCanonical));
    assert!(decode(NODE, long(1)).is_ok());
}
