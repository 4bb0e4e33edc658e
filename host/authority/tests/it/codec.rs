//! Every message reads as it was written, and nothing else does.

use folkmoot_authority::replicas::{Holding, Message};
use folkmoot_base::{Blob, ConfigurationId, GroupId, NodeId, ViewId};
use proptest::prelude::*;

fn view() -> impl Strategy<Value = ViewId> {
    (any::<[u8; 32]>(), any::<u64>(), any::<[u8; 16]>()).prop_map(|(id, number, nonce)| {
        let configuration = ConfigurationId { ring_seq: number, representative: NodeId(id), nonce };
        ViewId { configuration, order: number, group: GroupId(id) }
    })
}

fn blob() -> impl Strategy<Value = Blob> {
    prop::collection::vec(any::<u8>(), 0..40).prop_map(Blob::from)
}

fn holding() -> impl Strategy<Value = Holding> {
    let views = (prop::option::of(any::<u64>()), prop::option::of(view()));
    (views, any::<u64>(), any::<u64>(), any::<[u8; 32]>())
        .prop_map(|((since, epoch), length, floor, tip)| Holding { since, epoch, length, floor, tip })
}

fn messages() -> impl Strategy<Value = Message> {
    prop_oneof![
        (view(), holding()).prop_map(|(view, has)| Message::State { view, has }),
        (view(), any::<u64>(), prop::collection::vec(blob(), 0..5))
            .prop_map(|(view, from, records)| Message::Records { view, from, records }),
        (view(), blob()).prop_map(|(view, record)| Message::Propose { view, record }),
        (view(), any::<u64>(), any::<[u8; 32]>()).prop_map(|(view, place, tip)| Message::Kept {
            view,
            place,
            tip
        }),
    ]
}

proptest! {
    #[test]
    fn messages_read_as_they_were_written(message in messages()) {
        let bytes = message.encode();
        prop_assert_eq!(Message::decode(&bytes), Ok(message));
        prop_assert!(Message::decode(&bytes[..bytes.len() - 1]).is_err());
        prop_assert!(Message::decode(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn what_reads_is_written_as_it_was(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = Message::decode(&bytes) {
            prop_assert_eq!(message.encode(), bytes);
        }
    }
}
