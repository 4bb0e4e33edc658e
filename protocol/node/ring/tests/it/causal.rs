//! Causal messages (ORD-17): what they wait for, what not, and what becomes of them in recovery.
//! Tests that end in a check run with a mutant too.

use crate::calm::{HOP, delivered, is_token, whole_with};
use crate::harness::{World, check, index};
use crate::{is_data, is_record};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::{Danger, Service};
use folkmoot_ring::data::{Class, Head, put_piece};
use folkmoot_ring::message::Frame;
use folkmoot_ring::names::{Name, put_names};

/// Who sent what this node delivered, in its order.
fn senders(world: &World, i: usize) -> Vec<usize> {
    delivered(world, i).iter().map(|delivery| index(&delivery.sender)).collect()
}

fn is_packet(bytes: &Bytes) -> bool {
    is_data(bytes) && !is_record(bytes)
}

fn hops(world: &mut World, count: u64) {
    world.run(Duration::from_micros(count * HOP + 10));
}

/// a's causal message is late at c. b has it, and answers. No token goes anywhere.
fn an_answer_waits_for_the_question(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(4, 100, danger);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.hold_frame = Some(|from, to, bytes| from == 0 && to == 2 && is_packet(bytes));
    world.submit(0, Service::Causal, 100);
    hops(&mut world, 1);
    world.submit(1, Service::Causal, 100);
    hops(&mut world, 1);
    assert_eq!(senders(&world, 3), [0, 1]);
    check::all(&world)?;
    assert_eq!(senders(&world, 2), [], "the answer waits");
    world.hold_frame = None;
    world.release();
    hops(&mut world, 1);
    assert_eq!(senders(&world, 2), [0, 1]);
    check::all(&world)
}

#[test]
fn ord_17_an_answer_waits_for_the_question_although_the_order_stands_still() {
    an_answer_waits_for_the_question(None).unwrap();
    let why = an_answer_waits_for_the_question(Some(Danger::RingCausalAsFifo)).unwrap_err();
    assert!(why.starts_with("ORD-17"), "{why}");
}

/// What a had sent as FIFO, and what b had not delivered, does not hold b's message up.
#[test]
fn ord_17_causal_waits_for_nothing_that_its_sender_had_not() {
    let mut world = whole_with(4, 101, None);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.hold_frame = Some(|from, to, bytes| from == 0 && to >= 2 && is_packet(bytes));
    world.submit(0, Service::Fifo, 100);
    hops(&mut world, 1);
    world.submit(1, Service::Causal, 100);
    world.submit(0, Service::Causal, 100);
    hops(&mut world, 1);
    world.submit(3, Service::Causal, 100);
    hops(&mut world, 1);
    assert_eq!(senders(&world, 2), [1, 3]);
    check::all(&world).unwrap();
}

/// b has a's agreed message at its place. c lacks it.
#[test]
fn ord_17_causal_waits_for_the_agreed_message_that_its_sender_had() {
    let mut world = whole_with(3, 102, None);
    world.drop_frame = Some(|from, to, bytes| from == 0 && to == 2 && is_packet(bytes));
    world.submit(0, Service::Agreed, 100);
    while senders(&world, 1).is_empty() {
        hops(&mut world, 1);
    }
    world.drop_frame = Some(|from, to, bytes| is_token(bytes) || from == 0 && to == 2 && is_packet(bytes));
    world.submit(1, Service::Causal, 100);
    hops(&mut world, 2);
    assert_eq!(senders(&world, 2), [], "it waits");
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).expect("they go on");
    assert_eq!(senders(&world, 2), [0, 1]);
    check::all(&world).unwrap();
}

/// One name for what is new since the last message; the second message names nothing again.
#[test]
fn ord_17_a_packet_names_what_is_new_and_nothing_twice() {
    use std::cell::RefCell;
    thread_local! {
        static NAMES: RefCell<Vec<Vec<Name>>> = const { RefCell::new(Vec::new()) };
    }
    let mut world = whole_with(3, 103, None);
    world.drop_frame = Some(|from, to, bytes| {
        if let (1, 0, Ok(Frame::Data(data, _))) = (from, to, Frame::decode(bytes.clone()))
            && data.class == Class::Causal
        {
            NAMES.with_borrow_mut(|names| names.push(data.names().collect()));
        }
        false
    });
    for (who, service) in [(0, Service::Causal), (0, Service::Fifo), (2, Service::Causal)] {
        world.submit(who, service, 100);
        hops(&mut world, 1);
    }
    for who in [1, 1, 0, 1] {
        world.submit(who, Service::Causal, 100);
        world.ms(200);
    }
    // The first number of a stream is that of END.
    let name = |source, number| Name { source, number };
    let expected = [vec![name(0, 3), name(2, 2)], vec![], vec![name(0, 5)]];
    assert_eq!(NAMES.take(), expected);
    check::all(&world).unwrap();
}

/// d's causal message reaches c and b, and c's answer reaches b alone. Both senders are gone, and a
/// lacks both messages. c's stream comes first.
fn owed_messages_come_in_causal_order(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(4, 104, danger);
    world.drop_frame = Some(|from, to, bytes| is_token(bytes) || from >= 2 && to == 0 && is_packet(bytes));
    world.submit(3, Service::Causal, 100);
    hops(&mut world, 1);
    world.submit(2, Service::Causal, 100);
    hops(&mut world, 1);
    assert_eq!(senders(&world, 1), [3, 2]);
    world.crash(2);
    world.crash(3);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).ok_or("they do not go on")?;
    assert_eq!(senders(&world, 0).len(), 2);
    check::all(&world)
}

#[test]
fn ord_13_owed_messages_come_in_causal_order() {
    owed_messages_come_in_causal_order(None).unwrap();
    let why = owed_messages_come_in_causal_order(Some(Danger::RingCausalAsFifo)).unwrap_err();
    assert!(why.starts_with("ORD-17"), "{why}");
}

/// d's message reaches c alone, and c's answer reaches a and b. c and d are gone: nobody can have
/// what the answer needs.
fn what_names_a_lost_message_is_lost(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(4, 105, danger);
    world.drop_frame = Some(|from, to, bytes| is_token(bytes) || from == 3 && to < 2 && is_packet(bytes));
    world.submit(3, Service::Causal, 100);
    hops(&mut world, 1);
    world.submit(2, Service::Causal, 100);
    hops(&mut world, 1);
    world.crash(2);
    world.crash(3);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).ok_or("they do not go on")?;
    check::all(&world)?;
    assert!((0..2).all(|i| senders(&world, i).is_empty()));
    Ok(())
}

#[test]
fn ord_12_what_names_a_lost_message_is_lost_with_it() {
    what_names_a_lost_message_is_lost(None).unwrap();
    let why = what_names_a_lost_message_is_lost(Some(Danger::RingCausalAsFifo)).unwrap_err();
    assert!(why.starts_with("ORD-17"), "{why}");
}

/// b has d's message, and a holds c's answer, which nobody else has. The senders are gone.
#[test]
fn ord_12_what_recovery_completes_is_delivered_behind_the_signal() {
    let mut world = whole_with(4, 106, None);
    world.drop_frame = Some(|from, to, bytes| {
        let lost = matches!((from, to), (3, 0) | (2, 1));
        is_token(bytes) || lost && is_packet(bytes)
    });
    world.submit(3, Service::Causal, 100);
    hops(&mut world, 1);
    world.submit(2, Service::Causal, 100);
    hops(&mut world, 1);
    assert_eq!((senders(&world, 0), senders(&world, 1)), (vec![], vec![3]));
    world.crash(2);
    world.crash(3);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).expect("they go on");
    assert_eq!((senders(&world, 0), senders(&world, 1)), (vec![3, 2], vec![3, 2]));
    check::all(&world).unwrap();
}

/// b names a's packet 999,999, which never comes.
fn names_what_never_comes(bytes: Bytes) -> Bytes {
    let Ok(Frame::Data(data, _)) = Frame::decode(bytes.clone()) else { return bytes };
    if data.class != Class::Causal || data.sender != 1 {
        return bytes;
    }
    let head = Head { number: data.number, sender: data.sender, ring: data.ring };
    let mut frame = BytesMut::new();
    head.begin(Class::Causal, &mut frame);
    put_names(&mut frame, [Name { source: 0, number: 999_999 }].into_iter());
    data.pieces().for_each(|piece| put_piece(&mut frame, piece.part, &[&piece.bytes]));
    frame.freeze()
}

/// b lies. Its message waits at the others while it has no place, and so does what b sends behind
/// it; nothing else waits. With its place it is delivered.
fn a_name_that_never_comes(danger: Option<Danger>) -> bool {
    let mut world = whole_with(4, 107, danger);
    world.liar = Some((1, names_what_never_comes));
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.submit(1, Service::Causal, 100);
    world.submit(1, Service::Fifo, 100);
    world.submit(2, Service::Causal, 100);
    hops(&mut world, 1);
    world.submit(3, Service::Causal, 100);
    hops(&mut world, 1);
    assert_eq!([0, 2, 3].map(|i| senders(&world, i)), [[2, 3], [2, 3], [2, 3]].map(Vec::from));
    let installed = world.installed();
    world.drop_frame = None;
    world.ms(100);
    world.submit(2, Service::Agreed, 100);
    world.ms(500);
    assert_eq!(world.installed(), installed, "no ring ended");
    [0, 2, 3].into_iter().all(|i| {
        let mut all = senders(&world, i);
        all.sort_unstable();
        all == [1, 1, 2, 2, 3]
    })
}

#[test]
fn ring_32_who_names_what_never_comes_holds_up_itself_alone() {
    assert!(a_name_that_never_comes(None));
    assert!(!a_name_that_never_comes(Some(Danger::RingPlacesWaitForNames)));
}
