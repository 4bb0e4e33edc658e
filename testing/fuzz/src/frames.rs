//! Decoders of the layers' messages, each alone.

use crate::script::owned;
use crate::values::canonical;
use bytes::BytesMut;
use folkmoot_admission::{GuestMessage, OpenMessage};
use folkmoot_base::{
    Blob, ConfigurationId, Digest, GroupId, MemberId, NodeId, Party, Proof as SignedBy, Signatures, ViewId,
};
use folkmoot_flush::message::{Control as FlushControl, Frame as FlushFrame};
use folkmoot_group::message::{Control as GroupControl, Message as GroupMessage};
use folkmoot_keying::message::Envelope;
use folkmoot_link::message::{Control as LinkControl, Datagram, Proof, next_piece};
use folkmoot_node::Sync;
use folkmoot_ring::behind::join;
use folkmoot_ring::data::{Class, HEADER_BYTES, Head, put_piece};
use folkmoot_ring::message::Frame;
use folkmoot_ring::names::put_names;

/// Link: a datagram, the sealed frames in it, the links' own words, the proof in a handshake.
pub fn link_message(data: &[u8]) {
    match Datagram::decode(&owned(data)) {
        Ok(sealed @ Datagram::Data { .. }) => assert_eq!(sealed.encode()[..], data[..6]),
        Ok(sealed @ Datagram::Ring(_)) => assert_eq!(sealed.encode()[..], data[..12]),
        Ok(datagram) => assert_eq!(datagram.encode(), data),
        Err(_) => {}
    }
    let mut rest = owned(data);
    let mut taken = 0;
    while let Ok(Some(piece)) = next_piece(&mut rest) {
        taken += piece.bytes.len() + 3 + piece.fragment.map_or(0, |_| 6);
    }
    assert_eq!(taken + rest.len(), data.len(), "pieces and what is left are all there is");
    canonical::<Proof>(data);
    if let Ok(control) = LinkControl::decode(data) {
        assert_eq!(control.encode(), data);
    }
}

/// Ring: any frame.
pub fn ring_frame(data: &[u8]) {
    match Frame::decode(owned(data)) {
        Ok(Frame::Control(control)) => assert_eq!(control.encode(), data),
        Ok(Frame::Data(packet, Some(record))) => {
            assert_eq!(join(&packet.frame, &record.frame, BytesMut::new()), data);
        }
        Ok(Frame::Data(packet, None)) => {
            assert_eq!(packet.frame, data);
            match packet.class {
                Class::Recovered => assert!(packet.recovered().is_ok()),
                Class::End => assert_eq!(data.len(), HEADER_BYTES),
                Class::Record => {
                    let record = packet.record().unwrap();
                    assert_eq!(record.frame(packet.ring, BytesMut::new()), data);
                }
                Class::Given => {
                    let head = Head { number: packet.number, sender: packet.sender, ring: packet.ring };
                    assert_eq!(packet.given().unwrap().packet(head).frame, data);
                }
                Class::Causal => {
                    let head = Head { number: packet.number, sender: packet.sender, ring: packet.ring };
                    let mut again = BytesMut::new();
                    head.begin(Class::Causal, &mut again);
                    put_names(&mut again, packet.names().collect::<Vec<_>>().into_iter());
                    packet.pieces().for_each(|piece| put_piece(&mut again, piece.part, &[&piece.bytes]));
                    assert_eq!(again, data);
                }
                Class::Unreliable | Class::Reliable | Class::Fifo | Class::Agreed | Class::Safe => {
                    let length: usize = packet.pieces().map(|p| p.bytes.len() + p.part.header_bytes()).sum();
                    assert_eq!(HEADER_BYTES + length, data.len(), "pieces fill the packet");
                }
            }
        }
        Err(_) => {}
    }
}

/// Group: any message, from a node with the key that the data names and from another.
pub fn group_message(data: &[u8]) {
    use folkmoot_group::message::{Speaker, data_lead, decode, encode};
    let id = |handle: &[u8]| {
        let mut id = [0; 32];
        id.iter_mut().zip(handle).for_each(|(to, from)| *to = *from);
        id
    };
    let own = data.get(9..17).map(|handle| NodeId(id(handle)));
    for node in [Some(NodeId([7; 32])), own].into_iter().flatten() {
        match decode(node, owned(data)) {
            Ok(GroupMessage::Control(control)) => {
                assert_eq!(encode(&control), data);
                canonical::<GroupControl>(data);
            }
            Ok(GroupMessage::Data { group, sender, payload }) => {
                let sender = match sender {
                    Speaker::Own => node.member().into(),
                    Speaker::Other(handle, port) => Party::new(MemberId(id(&handle)), port),
                };
                let lead = data_lead(node, &GroupId(id(&group)), &sender);
                assert_eq!([lead.as_slice(), &payload].concat(), data);
            }
            Err(_) => {}
        }
    }
}

/// Flush: any frame.
pub fn flush_frame(data: &[u8]) {
    use folkmoot_flush::message::{data_header, decode, encode};
    match decode(owned(data)) {
        Ok(FlushFrame::Control(control)) => {
            assert_eq!(encode(&control), data);
            canonical::<FlushControl>(data);
        }
        Ok(FlushFrame::Data { tag, number, service, to, payload }) => {
            let head = data_header(&tag, service, to, number);
            assert_eq!([head.as_slice(), &payload[..]].concat(), data);
        }
        Err(_) => {}
    }
}

/// Keying: the envelope.
pub fn keying_envelope(data: &[u8]) {
    if let Ok(envelope) = Envelope::decode(data) {
        assert_eq!(folkmoot_base::codec::encode(&envelope), data);
        let _ = envelope.signed_content(&[0; 32], 1);
    }
}

/// Admission: words to and from guests, open words among members.
pub fn admission_message(data: &[u8]) {
    canonical::<GuestMessage>(data);
    canonical::<OpenMessage>(data);
}

/// Node: words on the transcript channel.
pub fn node_sync(data: &[u8]) {
    if let Some(sync) = canonical::<Sync>(data) {
        let _ = sync.within_bounds();
    }
}

/// A view of `group`, the `order`-th.
pub(crate) fn view_id(group: folkmoot_base::GroupId, order: u64) -> ViewId {
    ViewId { configuration: configuration(1), order, group }
}

/// A configuration by number.
pub(crate) fn configuration(number: u64) -> ConfigurationId {
    ConfigurationId { ring_seq: number, representative: node(1), nonce: [7; 16] }
}

/// Every signature is good: what is said is to be judged, not who said it.
#[derive(Debug)]
pub(crate) struct AnySignature;

impl Signatures for AnySignature {
    fn sign(&self, _: &'static [u8], _: &[u8]) -> SignedBy {
        SignedBy { key: Blob::default(), signature: [1; 64].into() }
    }

    fn verify(&self, _: &Digest, _: &'static [u8], _: &[u8], _: &SignedBy) -> bool {
        true
    }
}

/// A node by number.
pub(crate) fn node(number: u8) -> NodeId {
    NodeId([number; 32])
}

/// A member by number: the one of the node with that number.
pub(crate) fn member(number: u8) -> MemberId {
    node(number).member()
}

/// A program of that member.
pub(crate) fn party(number: u8, port: u16) -> Party {
    Party::new(member(number), port)
}
