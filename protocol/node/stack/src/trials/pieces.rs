//! Long items, on a node alone.

use super::{node, refusal_at};
use crate::message::{ITEM_PIECES_MAX, PIECE_BYTES, Sync};
use crate::parts::{INCOMING_GUESTS_MAX, INCOMING_LIFE, INCOMING_MAX};
use crate::{Node, PIECES_MAX};
use base::{Instant, Locator, NodeId, codec, digest};
use folkmoot_base as base;

fn guest(number: u8) -> NodeId {
    NodeId([number; 32])
}

fn link(node: &mut Node, peer: NodeId) {
    super::link(node, peer, &Locator::memory(9));
}

fn piece(item: &[u8], index: usize) -> Vec<u8> {
    let chunk = item.chunks(PIECE_BYTES).nth(index).unwrap().to_vec();
    let (of, index) = (item.len().div_ceil(PIECE_BYTES), u16::try_from(index).unwrap());
    let of = u16::try_from(of).unwrap();
    codec::encode(&Sync::Piece { name: digest(&[item]), of, index, bytes: chunk.into() })
}

/// How many bytes of long items the node keeps.
fn kept(node: &Node) -> usize {
    node.pieces.bytes()
}

#[test]
fn node_12_a_long_item_is_put_together_in_order_and_verified() {
    let (mut node, ben) = node();
    link(&mut node, ben.node());
    let item = vec![7; 3 * PIECE_BYTES - 5];
    let mut says = |index| refusal_at(&mut node, Instant(1), ben.node(), &piece(&item, index));
    assert_eq!(says(1), None, "not begun");
    assert_eq!(says(0), None);
    assert_eq!(says(2), None, "out of turn");
    assert_eq!(says(0), None, "once more");
    assert_eq!(says(1), None);
    // It is whole, and no item.
    assert!(says(2).unwrap().contains("NODE-03"));
    assert_eq!(kept(&node), 0);
}

#[test]
fn node_12_pieces_of_another_item_are_refused() {
    let (mut node, ben) = node();
    link(&mut node, ben.node());
    let item = vec![7; 2 * PIECE_BYTES];
    assert_eq!(refusal_at(&mut node, Instant(1), ben.node(), &piece(&item, 0)), None);
    let name = digest(&[&item]);
    let other = Sync::Piece { name, of: 2, index: 1, bytes: vec![8; PIECE_BYTES].into() };
    let said = refusal_at(&mut node, Instant(1), ben.node(), &codec::encode(&other));
    assert!(said.unwrap().contains("NODE-12"));
    assert_eq!(kept(&node), 0);
}

#[test]
fn node_12_long_items_have_bounds() {
    let (mut node, _) = node();
    let item = |number: u8| vec![number; 3 * PIECE_BYTES];
    for number in 0..=u8::try_from(INCOMING_GUESTS_MAX).unwrap() {
        link(&mut node, guest(number));
        let said = refusal_at(&mut node, Instant(1), guest(number), &piece(&item(number), 0));
        assert_eq!(said.is_some(), usize::from(number) == INCOMING_GUESTS_MAX, "{said:?}");
    }
    assert_eq!(kept(&node), INCOMING_GUESTS_MAX * PIECE_BYTES);
    // Each has one: another takes its place.
    assert_eq!(refusal_at(&mut node, Instant(1), guest(0), &piece(&item(9), 0)), None);
    assert_eq!(kept(&node), INCOMING_GUESTS_MAX * PIECE_BYTES);
    // What stands still makes room, and what a link brought goes with it.
    let later = Instant(1) + INCOMING_LIFE;
    let last = guest(u8::try_from(INCOMING_GUESTS_MAX).unwrap());
    assert_eq!(refusal_at(&mut node, later, last, &piece(&item(5), 0)), None);
    assert_eq!(kept(&node), PIECE_BYTES);
    node.link_down(later, last, folkmoot_link::DownCause::PeerHungUp);
    assert_eq!(kept(&node), 0);
}

#[test]
fn node_12_guests_take_no_room_from_members() {
    let (mut node, ben) = node();
    for number in 0..INCOMING_GUESTS_MAX {
        let number = u8::try_from(number).unwrap();
        link(&mut node, guest(number));
        let item = vec![number; 2 * PIECE_BYTES];
        assert_eq!(refusal_at(&mut node, Instant(1), guest(number), &piece(&item, 0)), None);
    }
    link(&mut node, ben.node());
    assert_eq!(refusal_at(&mut node, Instant(1), ben.node(), &piece(&[1; 2 * PIECE_BYTES], 0)), None);
    assert_eq!(kept(&node), (INCOMING_GUESTS_MAX + 1) * PIECE_BYTES);
    const ITEMS: usize = (INCOMING_MAX + INCOMING_GUESTS_MAX) * ITEM_PIECES_MAX * PIECE_BYTES;
    const { assert!(ITEMS + PIECES_MAX * PIECE_BYTES <= 17 * 1024 * 1024) }
}

/// A package may be longer than any item, and comes alone.
#[test]
fn node_12_of_packages_one_comes_at_a_time() {
    let (mut node, ben) = node();
    link(&mut node, guest(1));
    link(&mut node, ben.node());
    let long = vec![7; (ITEM_PIECES_MAX + 1) * PIECE_BYTES];
    assert_eq!(refusal_at(&mut node, Instant(1), ben.node(), &piece(&long, 0)), None);
    let other = vec![8; (ITEM_PIECES_MAX + 1) * PIECE_BYTES];
    assert!(refusal_at(&mut node, Instant(1), guest(1), &piece(&other, 0)).is_some());
    assert_eq!(refusal_at(&mut node, Instant(1), guest(1), &piece(&other[..2 * PIECE_BYTES], 0)), None);
}

#[test]
fn node_12_a_guest_is_answered_so_often() {
    let (mut node, ben) = node();
    let stranger = guest(1);
    for peer in [stranger, ben.node()] {
        link(&mut node, peer);
    }
    let fetch = codec::encode(&Sync::Fetch(node.transcript().part([0; 32])));
    let mut refused = |peer: NodeId, at: u64| {
        (0..100).filter(|_| refusal_at(&mut node, Instant(at), peer, &fetch).is_some()).count()
    };
    assert_eq!((refused(stranger, 1), refused(ben.node(), 1)), (68, 0));
    assert_eq!(refused(stranger, 2_000_000), 68, "a second later as often again");
}
