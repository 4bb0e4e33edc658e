//! One test for each rule on what a peer sends: illegal input is refused or ignored, and the ring
//! is as it was.

use crate::harness::{Rng, node};
use crate::is_record;
use crate::pair::{ME, OUTSIDER, PEER, Pair, begun, data, join, picture};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::limits::ORDERED_BYTES_MAX;
use folkmoot_base::{ConfigurationId, Danger, Lead, Mutant, Service};
use folkmoot_ring::data::{Class, Head, Part, Record, RingHandle, put_piece};
use folkmoot_ring::message::{CommitToken, Control, Frame, Join, OldRing, Recent, Token, Visited};
use folkmoot_ring::names::{Name, put_names};
use folkmoot_ring::{Output, Phase};

#[test]
fn ring_05_packets_of_nodes_outside_the_ring_are_refused() {
    let mut pair = Pair::together();
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    let frame = data(pair.head(), &[(b"x", true, true)]);
    assert_eq!(pair.breaks(OUTSIDER, frame.clone()), "RING-05");
    assert_eq!(pair.sends(frame), ["x"]);
}

#[test]
fn ring_06_packets_numbered_by_nobody_are_refused() {
    let mut pair = Pair::together();
    let head = pair.head();
    for sender in [2, 3, 63] {
        let frame = data(Head { sender, ..head }, &[(b"x", true, true)]);
        assert_eq!(pair.breaks(PEER, frame), "RING-06");
    }
    assert_eq!(pair.sends(data(head, &[(b"x", true, true)])), ["x"]);
}

#[test]
fn ring_32_names_of_nobody_are_refused() {
    let mut pair = Pair::together();
    let head = pair.head();
    let frame = |source| {
        let mut frame = BytesMut::new();
        head.begin(Class::Causal, &mut frame);
        put_names(&mut frame, [Name { source, number: 1 }].into_iter());
        put_piece(&mut frame, Part::WHOLE, &[b"x"]);
        frame.freeze()
    };
    assert_eq!(pair.breaks(PEER, frame(2)), "RING-32");
    assert_eq!(pair.breaks(PEER, frame(63)), "RING-32");
    // What never comes is not refused: the others would take it. It waits for its place.
    assert_eq!(pair.sends(frame(1 - head.sender)), ["x"]);
}

#[test]
fn ring_07_tokens_come_from_the_member_before() {
    let mut pair = Pair::together();
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    let frame = Control::Token(pair.token()).encode();
    assert_eq!(pair.breaks(OUTSIDER, frame), "RING-07");
    pair.passes();
    assert_eq!(pair.ring.status().phase, Phase::Operational);
}

#[test]
fn ring_08_tokens_take_nothing_back_and_stay_within_the_store() {
    let mut pair = Pair::together();
    for _ in 0..10 {
        let frame = data(pair.head(), &[(b"x", true, true)]);
        pair.sends(frame);
    }
    for _ in 0..2 {
        let frame = data(pair.head(), &[(b"x", true, true)]);
        pair.hears(frame);
    }
    let record = pair.record(2);
    pair.hears(record);
    pair.passes();
    pair.passes();
    let good = pair.token();
    let far = pair.places + folkmoot_ring::STORE_PACKETS_MAX + 1;
    let visited = |held: u64, passes| Visited { held: held as u32, passes, record: None };
    let held = |held: u64| [1, 2].map(|passes| visited(held, passes)).into_iter().collect();
    for bad in [
        Token { records: pair.records - 1, ..good.clone() },
        Token { places: pair.places - 1, members: held(pair.places - 1), ..good.clone() },
        Token { members: held(pair.places - 1), ..good.clone() },
        Token { members: good.members[..1].iter().copied().collect(), ..good.clone() },
        Token { places: far, members: held(far), ..good },
    ] {
        assert_eq!(pair.breaks(PEER, Control::Token(bad).encode()), "RING-08");
    }
    pair.passes();
}

#[test]
fn ring_09_only_the_agreed_set_is_committed_at_our_turn_and_with_our_entry() {
    let mut pair = Pair::agreed();
    let good = pair.commit(vec![OldRing::default()], 1);
    let three = vec![node(PEER), node(ME), node(OUTSIDER)];
    let early = ConfigurationId { ring_seq: 1, ..good.id };
    for bad in [
        CommitToken { members: three, ..good.clone() },
        CommitToken { id: early, ..good.clone() },
        pair.commit(vec![OldRing::default(); 2], 1),
        pair.commit(vec![OldRing::default(); 2], 2),
    ] {
        pair.ignores(Control::Commit(bad));
    }
    let mine = pair.committed(OldRing::default());
    assert!(mine.id.is_some());
    let altered = OldRing { obligations: mine.obligations ^ 2, ..mine };
    for (old_rings, rotation) in [(vec![OldRing::default(), altered], 2), (vec![OldRing::default(), mine], 1)]
    {
        let bad = pair.commit(old_rings, rotation);
        pair.ignores(Control::Commit(bad));
    }
    let good = pair.commit(vec![OldRing::default(), mine], 2);
    pair.takes(Control::Commit(good));
    assert_eq!(pair.ring.status().phase, Phase::Recover);
}

/// The token goes round and says that packets are lacking, each time by another member.
#[test]
fn ring_23_who_names_another_at_each_visit_is_heard_once() {
    let mut pair = Pair::together();
    let first = pair.head();
    pair.sends(data(first, &[(b"x", true, true)]));
    let mut told = Vec::new();
    for visit in 0..30_u8 {
        pair.now = pair.now + Duration::from_millis(50);
        let mut token = pair.token();
        token.members[usize::from(visit % 2)].held -= 1;
        token.members[1 - usize::from(visit % 2)].held -= u32::from(visit % 2);
        pair.token_seq += 2;
        pair.takes_quietly(Control::Token(token));
        let said = pair.outputs().into_iter();
        told.extend(
            said.filter_map(|output| if let Output::Lacking(who) = output { Some(who) } else { None }),
        );
    }
    assert!(matches!(told.as_slice(), [Some(_)]), "{told:?}");
}

/// This node has taken part in attempts up to 100 at most.
#[test]
fn ring_21_an_attempt_is_not_far_above_the_last_one() {
    let mut pair = Pair::agreed();
    let good = pair.commit(vec![OldRing::default()], 1);
    for ring_seq in [(1 << 32) + 101, 1 << 62, 1 << 63] {
        let id = ConfigurationId { ring_seq, ..good.id };
        pair.ignores(Control::Commit(CommitToken { id, ..good.clone() }));
    }
    let id = ConfigurationId { ring_seq: 1 << 32, ..good.id };
    pair.takes(Control::Commit(CommitToken { id, ..good }));
    assert_eq!(pair.ring.status().phase, Phase::Commit);
}

/// DATA names its ring by four bytes. A COMMIT whose four bytes are those of the ring we leave is
/// ignored: late packets of one ring are never taken for the other's.
#[test]
fn ring_22_no_two_attempts_in_a_row_have_one_handle() {
    let mut pair = Pair::agreed();
    let good = pair.commit(vec![OldRing::default()], 1);
    let old = pair.ring.status().configuration.unwrap();
    let mut nonce = good.id.nonce;
    nonce[..4].copy_from_slice(&old.nonce[..4]);
    let id = ConfigurationId { nonce, ..good.id };
    pair.ignores(Control::Commit(CommitToken { id, ..good.clone() }));
    pair.takes(Control::Commit(good));
    assert_eq!(pair.ring.status().phase, Phase::Commit);
}

/// A representative that lies: its next ring has the handle of the one that it leaves. Without the
/// rule a packet that was late counts in the new ring, before all that the new ring has ordered.
#[test]
fn ring_22_without_the_rule_a_late_packet_counts_in_the_next_ring() {
    for danger in [Mutant::from(Some(Danger::RingAnyHandle)), Mutant::NONE] {
        let mut pair = Pair::alone_with(danger);
        pair.takes(Control::Join(join(1, &[PEER, ME])));
        pair.recover(OldRing::default());
        pair.install();
        let late = data(Head { number: 2, ..pair.head() }, &[(b"late", true, true)]);
        let old = pair.id;
        let again = Join { ring_seq: 100, current: Some(old), ..join(2, &[PEER, ME]) };
        pair.takes(Control::Join(again));
        assert_eq!(pair.ring.status().phase, Phase::Gather);
        let mut nonce = [9; 16];
        nonce[..4].copy_from_slice(&old.nonce[..4]);
        pair.next = ConfigurationId { ring_seq: 200, nonce, ..old };
        if danger == Mutant::NONE {
            let bad = pair.commit(vec![OldRing::default()], 1);
            pair.ignores(Control::Commit(bad));
            continue;
        }
        (pair.token_seq, pair.number, pair.records, pair.places) = (1, 0, 0, 0);
        pair.recover(OldRing::default());
        pair.install();
        pair.head();
        assert_eq!(pair.sends(late), ["late"], "a message of a ring that has ended");
    }
}

/// The same packet counts if its sender comes from our old configuration, and otherwise does not.
#[test]
fn ring_11_recovered_packets_count_from_survivors_only() {
    let old = Pair::alone().id;
    let head = Head { number: 1, sender: 0, ring: RingHandle::of(&old.nonce) };
    let packet = data(head, &[(b"old", true, true)]);
    let survivor = OldRing { id: Some(old), held: 1, ..OldRing::default() };
    let stranger = OldRing { id: Some(ConfigurationId { nonce: [9; 16], ..old }), ..survivor };
    for (old_ring, counts) in [(survivor, true), (stranger, false), (OldRing::default(), false)] {
        let (_, delivered) = Pair::installed(old_ring, Some(packet.clone()));
        assert_eq!(delivered.iter().any(|payload| payload == "old"), counts, "{old_ring:?}");
    }
}

#[test]
fn ring_12_messages_longer_than_any_may_be_are_dropped() {
    let piece = vec![7_u8; 1_024];
    for (length, kept) in [(ORDERED_BYTES_MAX, true), (ORDERED_BYTES_MAX + 1_024, false)] {
        let mut pair = Pair::together();
        let count = length / piece.len();
        let mut delivered = Vec::new();
        for i in 1..=count {
            let frame = data(pair.head(), &[(&piece, i == 1, i == count)]);
            delivered.extend(pair.sends(frame));
            if i % 1_000 == 0 {
                delivered.extend(pair.passes());
            }
        }
        assert_eq!(
            delivered.iter().map(Bytes::len).collect::<Vec<_>>(),
            if kept { vec![length] } else { vec![] }
        );
        // What follows is heard as before.
        let frame = data(pair.head(), &[(b"next", true, true)]);
        assert_eq!(pair.sends(frame), ["next"]);
    }
}

/// Pieces of several messages of one sender come one after another's: as many as it has lines.
#[test]
fn ring_12_messages_in_pieces_are_told_apart_and_bounded() {
    let piece = |message, first, last| Part { first, last, message };
    let frame = |pair: &mut Pair, part: Part, bytes: &[u8]| {
        let mut frame = begun(pair.head(), Class::Agreed);
        put_piece(&mut frame, part, &[bytes]);
        pair.sends(frame.freeze())
    };
    let mut pair = Pair::together();
    for message in 0..16 {
        assert!(frame(&mut pair, piece(message, true, false), &[message as u8]).is_empty());
    }
    assert_eq!(frame(&mut pair, Part::WHOLE, b"short"), ["short"], "it does not wait for the long ones");
    // A seventeenth makes the one go that began first.
    assert!(frame(&mut pair, piece(16, true, false), &[16]).is_empty());
    assert!(frame(&mut pair, piece(0, false, true), b"end").is_empty());
    for message in (1..=16).rev() {
        let whole = [&[message as u8][..], b"end"].concat();
        assert_eq!(frame(&mut pair, piece(message, false, true), b"end"), [whole]);
    }
}

/// An outsider that the peer does not hear asks for us: it is told so at once, and the ring goes
/// on.
#[test]
fn ring_18_who_asks_from_outside_is_told_that_the_ring_stands() {
    let mut pair = Pair::together();
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    pair.outputs();
    let ask = join(1, &[ME, OUTSIDER]);
    pair.ring.frame(pair.now, node(OUTSIDER), Control::Join(ask.clone()).encode(), &mut Rng(1)).unwrap();
    let said = |outputs: Vec<Output>| -> Vec<Join> {
        let join = |output| match output {
            Output::Send { to, frame } if to == node(OUTSIDER) => match Frame::decode(frame) {
                Ok(Frame::Control(Control::Join(join))) => Some(join),
                _ => None,
            },
            _ => None,
        };
        outputs.into_iter().filter_map(join).collect()
    };
    let [answer] = &said(pair.outputs())[..] else { panic!("not one answer") };
    assert_eq!((answer.bound, &answer.wants), (1, &vec![node(PEER), node(ME)]));
    assert_eq!(answer.hears, [node(PEER), node(ME), node(OUTSIDER)]);
    assert_eq!(pair.ring.status().phase, Phase::Operational);
    // No answer more often than is useful, and none to a node that stands elsewhere and hears us.
    pair.ring.frame(pair.now, node(OUTSIDER), Control::Join(ask).encode(), &mut Rng(1)).unwrap();
    pair.now = pair.now + Duration::from_millis(100);
    let stands = Join { wants: vec![node(OUTSIDER)], bound: 1, ..join(2, &[ME, OUTSIDER]) };
    pair.ring.frame(pair.now, node(OUTSIDER), Control::Join(stands).encode(), &mut Rng(1)).unwrap();
    assert_eq!(said(pair.outputs()), []);
    pair.passes();
}

/// A message that is submitted while the peer's illegal frames come is ordered all the same.
#[test]
fn refusals_do_not_stop_the_ring() {
    let mut pair = Pair::together();
    pair.ring.submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, Bytes::from_static(b"mine"))).unwrap();
    pair.outputs();
    let members = [Visited::default(); 2].into_iter().collect();
    let bad = Token { records: 0, places: 0, members, ..pair.token() };
    assert_eq!(pair.breaks(PEER, Control::Token(bad).encode()), "RING-08");
    assert_eq!(pair.passes(), ["mine"]);
}

/// A large message of one party of a node does not hold up another party's small one. Each party's
/// own messages keep their order.
#[test]
fn a_small_message_of_another_party_does_not_wait_for_all_of_a_large_one() {
    let mut pair = Pair::together();
    let large = Bytes::from(vec![1_u8; 1_000_000]);
    pair.ring.submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, large.clone())).unwrap();
    pair.ring
        .submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, Bytes::from_static(b"after it")))
        .unwrap();
    pair.ring.submit(pair.now, (1, 0), Service::Agreed, (Lead::NONE, Bytes::from_static(b"small"))).unwrap();
    let mut delivered = Vec::new();
    for _ in 0..40 {
        let token = pair.token();
        pair.token_seq += 2;
        pair.takes_quietly(Control::Token(token));
        for output in pair.outputs() {
            match output {
                Output::Deliver(delivery) => delivered.push(delivery.payload.freeze()),
                Output::Send { frame, .. } => {
                    if let Ok(Frame::Control(Control::Token(token))) = Frame::decode(frame) {
                        (pair.records, pair.places) = (token.records, token.places);
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!(delivered, [Bytes::from_static(b"small"), large, Bytes::from_static(b"after it")]);
}

/// Each message that waits leaves once, under the account that it was submitted for; a long one
/// when all of it has.
#[test]
fn node_36_each_message_leaves_the_queue_once_and_under_its_account() {
    let mut pair = Pair::together();
    let small = Bytes::from_static(b"small");
    let submitted = [(7, Bytes::from(vec![1_u8; 300_000])), (7, small.clone()), (8, small)];
    for (account, payload) in submitted {
        pair.ring.submit(pair.now, (0, account), Service::Agreed, (Lead::NONE, payload)).unwrap();
    }
    let now = (Lead::NONE, Bytes::from_static(b"now"));
    pair.ring.submit(pair.now, (0, 9), Service::Unreliable, now).unwrap();
    let mut left = std::collections::BTreeMap::<u32, (u64, u64)>::new();
    for visit in 0..40 {
        let token = pair.token();
        pair.token_seq += 2;
        pair.takes_quietly(Control::Token(token));
        for output in pair.outputs() {
            match output {
                Output::Left { account, messages, bytes } => {
                    let all = left.entry(account).or_default();
                    *all = (all.0 + messages, all.1 + bytes);
                }
                Output::Send { frame, .. } => {
                    if let Ok(Frame::Control(Control::Token(token))) = Frame::decode(frame) {
                        (pair.records, pair.places) = (token.records, token.places);
                    }
                }
                _ => {}
            }
        }
        assert!(visit > 0 || left.is_empty(), "132 packets a visit: the long one is not out yet");
    }
    assert_eq!(left, [(7, (2, 300_005)), (8, (1, 5))].into(), "what is unreliable never waits");
}

/// A member sends more packets than a node keeps, and orders none of them. The others' messages are
/// ordered all the same, and its own too once it makes records.
#[test]
fn ring_28_a_flood_without_records_takes_no_room_from_others() {
    let mut pair = Pair::together();
    let first = pair.number + 1;
    for _ in 0..2 * folkmoot_ring::STORE_PACKETS_MAX {
        let frame = data(pair.head(), &[(b"x", true, true)]);
        pair.hears(frame);
    }
    pair.ring.submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, Bytes::from_static(b"mine"))).unwrap();
    pair.outputs();
    assert_eq!(pair.passes(), ["mine"]);
    pair.number = first;
    let record = pair.record(1);
    assert_eq!(pair.hears(record), ["x"]);
    let kept = picture(&pair.ring).matches("frame: b").count();
    assert!(kept < 1_100, "{kept} packets are kept");
}

/// The peer makes a record of this node's packets, as DATA and on the token. This node gives its
/// packet a place itself all the same; with the rule off it never would.
#[test]
fn ord_01_nobody_else_gives_our_packets_places() {
    for (danger, ordered) in [(Mutant::NONE, true), (Mutant::from(Some(Danger::RingOrdersOthers)), false)] {
        let mut pair = Pair::alone_with(danger);
        pair.takes(Control::Join(join(1, &[PEER, ME])));
        pair.recover(OldRing::default());
        pair.install();
        let mut token = pair.token();
        let (number, place) = (token.records + 1, token.places + 1);
        (token.records, token.places) = (number, token.places + 200);
        let forged = Record { number, place, source: ME as u8, first: 2, count: 200 };
        let [number, place] = [number, place].map(|number| number as u32);
        token.members[ME].record = Some(Recent { number, place, first: 2, count: 200 });
        pair.hears(forged.frame(RingHandle::of(&pair.id.nonce), BytesMut::new()));
        pair.ring
            .submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, Bytes::from_static(b"mine")))
            .unwrap();
        pair.outputs();
        pair.takes_quietly(Control::Token(token));
        let record = |output| match output {
            Output::Multicast { frame, .. } => is_record(&frame),
            _ => false,
        };
        assert_eq!(pair.outputs().into_iter().any(record), ordered, "{danger:?}");
    }
}

/// The peer has sent a FIFO message, and never gives it a place, though the token goes round. What
/// this node sends after it would wait for ever: the ring forms anew.
#[test]
fn ord_06_a_packet_that_gets_no_place_ends_the_ring() {
    for unplaced in [true, false] {
        let mut pair = Pair::together();
        let mut frame = begun(pair.head(), Class::Fifo);
        put_piece(&mut frame, Part::WHOLE, &[b"early"]);
        let frame = frame.freeze();
        let heard = if unplaced { pair.hears(frame) } else { pair.sends(frame) };
        assert_eq!(heard, [&b"early"[..]]);
        pair.ring
            .submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, Bytes::from_static(b"answer")))
            .unwrap();
        for _ in 0..60 {
            pair.now = pair.now + Duration::from_millis(50);
            pair.passes();
            pair.ring.timeout(pair.now, &mut Rng(1));
        }
        assert_eq!(pair.ring.status().configuration != Some(pair.id), unplaced);
    }
}
