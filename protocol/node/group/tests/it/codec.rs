//! Every message reads back as it was written, and no other bytes read as it.

use bytes::Bytes;
use folkmoot_base::{Blob, ConfigurationId, DecodeError, GroupId, Head, MemberId, NodeId, Party, ViewId};
use folkmoot_group::Mark;
use folkmoot_group::message::{
    Control, GroupState, Joined, Message, Noticed, Speaker, Stamp, State, data_lead, decode, encode,
    handle_of,
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

fn joined() -> impl Strategy<Value = Joined> {
    (party(), any::<u64>(), any::<u64>())
        .prop_map(|(party, ring_seq, order)| Joined { party, stamp: Stamp { ring_seq, order } })
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
    let id = any::<[u8; 32]>;
    let both = move || (party(), id().prop_map(GroupId));
    let charters = prop::collection::vec(id().prop_map(GroupId), 0..4);
    let states = (configuration(), mark(), charters, prop::collection::vec(group_state(), 0..4));
    prop_oneof![
        both().prop_map(|(member, group)| Control::Join { party: member, group }),
        both().prop_map(|(member, group)| Control::Leave { party: member, group }),
        both().prop_map(|(member, group)| Control::Refresh { party: member, group }),
        party().prop_map(|member| Control::Detach { party: member }),
        (party(), view(), party()).prop_map(|(party, view, suspect)| Control::Complain {
            party,
            view,
            suspect
        }),
        prop::collection::vec(any::<u8>(), 0..64).prop_map(|item| Control::Item { item: Blob::from(item) }),
        states.prop_map(|(configuration, mark, charters, groups)| Control::State(State {
            configuration,
            mark,
            charters,
            groups
        })),
        (configuration(), mark()).prop_map(|(configuration, mark)| Control::Mark { configuration, mark }),
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
