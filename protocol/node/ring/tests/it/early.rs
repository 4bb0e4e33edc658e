//! Services that wait for no place: what each waits for and what not, and the cases in recovery
//! that chance hardly draws (docs/protocol/order.md). Each of these also runs with a mutant.

use crate::calm::{HOP, delivered, is_token, whole_with};
use crate::harness::{World, check, node};
use crate::{is_data, is_record};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Instant, Service};
use folkmoot_ring::Phase;
use std::cell::RefCell;

fn services(world: &World, i: usize) -> Vec<Service> {
    delivered(world, i).iter().map(|delivery| delivery.service).collect()
}

fn is_packet(bytes: &Bytes) -> bool {
    is_data(bytes) && !is_record(bytes)
}

/// A member without the token sends, and the order stands still: no token goes anywhere.
fn although_the_order_stands_still(service: Service, danger: Option<Danger>) -> bool {
    let mut world = whole_with(4, 60, danger);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.submit(2, service, 100);
    world.run(Duration::from_micros(HOP + 10));
    let there =
        |i: usize| delivered(&world, i).first().is_some_and(|d| d.service == service && d.order.is_none());
    (0..4).all(there)
}

#[test]
fn ord_07_reliable_fifo_and_causal_are_everywhere_after_one_hop() {
    for service in [Service::Reliable, Service::Fifo, Service::Causal] {
        assert!(although_the_order_stands_still(service, None));
        assert!(!although_the_order_stands_still(service, Some(Danger::RingNothingEarly)));
    }
    assert!(!although_the_order_stands_still(Service::Agreed, None));
}

/// A safe message waits, since one member lacks it. Behind it in its stream FIFO waits, and
/// reliable does not.
#[test]
fn ord_07_fifo_waits_for_the_safe_message_in_front_of_it_and_reliable_does_not() {
    let mut world = whole_with(3, 61, None);
    world.drop_frame = Some(|_, to, bytes| to == 2 && is_packet(bytes));
    for service in [Service::Safe, Service::Fifo, Service::Reliable] {
        world.submit(0, service, 100);
        world.ms(20);
    }
    assert_eq!(services(&world, 1), [Service::Reliable]);
    world.drop_frame = None;
    world.ms(200);
    assert_eq!(services(&world, 1), [Service::Reliable, Service::Safe, Service::Fifo]);
    check::all(&world).unwrap();
}

/// A packet is lost on its way to one member. Behind it reliable is delivered there, FIFO waits.
#[test]
fn ord_07_reliable_waits_for_no_lost_packet_and_fifo_does() {
    for (service, count) in [(Service::Reliable, 1), (Service::Fifo, 0)] {
        let mut world = whole_with(3, 62, None);
        world.drop_frame = Some(|_, to, bytes| to == 1 && is_packet(bytes));
        world.submit(0, service, 100);
        world.run(Duration::from_micros(HOP / 2));
        world.drop_frame = Some(|_, to, bytes| to == 1 && (is_record(bytes) || is_token(bytes)));
        world.submit(0, service, 200);
        world.run(Duration::from_micros(10 * HOP));
        assert_eq!(delivered(&world, 1).len(), count, "{service:?}");
        world.drop_frame = None;
        world.ms(200);
        assert_eq!(delivered(&world, 1).len(), 2);
        check::all(&world).unwrap();
    }
}

/// c's FIFO message reaches b, who answers with an agreed one. a does not have c's yet, and passes
/// the token to b first. So with causal messages.
fn an_answer_comes_behind_what_it_answers(
    (question, answer): (Service, Service),
    danger: Option<Danger>,
) -> Result<(), String> {
    let mut world = whole_with(3, 63, danger);
    world.drop_frame = Some(|from, to, bytes| from == 2 && to == 0 && is_packet(bytes));
    world.submit(2, question, 100);
    world.run(Duration::from_micros(HOP + 10));
    world.submit(1, answer, 100);
    world.ms(10);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).ok_or("they do not go on")?;
    world.ms(500);
    check::all(&world)
}

#[test]
fn ord_02_an_answer_comes_behind_what_it_answers() {
    use Service::{Agreed, Causal, Fifo};
    for (talk, rule) in
        [((Fifo, Agreed), "ORD-02"), ((Causal, Agreed), "ORD-02"), ((Causal, Causal), "ORD-17")]
    {
        an_answer_comes_behind_what_it_answers(talk, None).unwrap();
        let why = an_answer_comes_behind_what_it_answers(talk, Some(Danger::RingOrdersAtOnce)).unwrap_err();
        assert!(why.starts_with(rule), "{why}");
    }
}

/// d's packet is lost to all, and its record is not: a hole. Behind the hole are c's FIFO message,
/// which only b delivered, and b's agreed answer. c and d are gone.
fn an_owed_message_comes_at_the_hole(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(4, 64, danger);
    world.drop_frame =
        Some(|from, to, bytes| from == 3 && is_packet(bytes) || from == 2 && to == 0 && is_packet(bytes));
    world.submit(3, Service::Agreed, 100);
    world.ms(60);
    world.submit(2, Service::Fifo, 100);
    world.run(Duration::from_micros(HOP + 10));
    assert_eq!(services(&world, 1), [Service::Fifo]);
    world.submit(1, Service::Agreed, 100);
    world.ms(60);
    assert!((0..2).all(|i| !services(&world, i).contains(&Service::Agreed)), "there is a hole");
    world.crash(2);
    world.crash(3);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).ok_or("they do not go on")?;
    assert_eq!(services(&world, 0).len(), 2);
    check::all(&world)
}

#[test]
fn ord_13_an_owed_message_comes_at_the_hole() {
    an_owed_message_comes_at_the_hole(None).unwrap();
    let why = an_owed_message_comes_at_the_hole(Some(Danger::RingForgetsOwed)).unwrap_err();
    assert!(why.starts_with("ORD-02"), "{why}");
}

thread_local! {
    static CAUGHT: RefCell<Option<Bytes>> = const { RefCell::new(None) };
}

/// c's FIFO message is lost to all, and c is gone. A copy of it comes late to b, which recovers
/// already.
fn a_late_packet_changes_no_recovery(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(3, 65, danger);
    world.drop_frame = Some(|from, _, bytes| {
        let lost = from == 2 && is_packet(bytes);
        if lost {
            CAUGHT.with_borrow_mut(|caught| *caught = Some(bytes.clone()));
        }
        lost
    });
    world.submit(2, Service::Fifo, 100);
    world.crash(2);
    world.drop_frame = None;
    let recovers = |world: &World| {
        world.nodes[1].ring.as_ref().is_some_and(|ring| ring.status().phase == Phase::Recover)
    };
    while !recovers(&world) {
        world.run(Duration::from_micros(10));
    }
    let late = CAUGHT.take().expect("it was lost");
    world.take(Instant(world.now), 1, node(0), late);
    world.settle(Duration::from_secs(10)).ok_or("they do not go on")?;
    check::all(&world)
}

#[test]
fn ord_09_a_late_packet_changes_no_recovery() {
    a_late_packet_changes_no_recovery(None).unwrap();
    let why = a_late_packet_changes_no_recovery(Some(Danger::RingTakesLate)).unwrap_err();
    assert!(why.starts_with("EVS 4"), "{why}");
}

/// c's safe message has no place when the ring ends. All have all ENDs, one installs and delivers
/// it. Another is cut off at that moment, and goes on alone.
fn what_an_attempt_promised_is_kept(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(4, 66, danger);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.submit(2, Service::Safe, 100);
    world.ms(1_200);
    world.drop_frame = None;
    let phase = |world: &World, i: usize| world.nodes[i].ring.as_ref().map(|ring| ring.status().phase);
    let installed = |world: &World, i: usize| !delivered(world, i).is_empty();
    while (0..4).all(|i| !installed(&world, i)) {
        world.run(Duration::from_micros(10));
    }
    let late = (0..4).find(|i| *i != 2 && phase(&world, *i) == Some(Phase::Recover));
    let late = late.expect("one has not installed it");
    let sides: Vec<usize> = (0..4).map(|i| usize::from(i == late)).collect();
    world.partition(&sides);
    world.ms(8_000);
    assert_eq!(phase(&world, late), Some(Phase::Operational));
    check::all(&world)
}

#[test]
fn ord_13_what_an_attempt_promised_is_kept_if_it_fails() {
    what_an_attempt_promised_is_kept(None).unwrap();
    let why = what_an_attempt_promised_is_kept(Some(Danger::RingForgetsLists)).unwrap_err();
    assert!(why.starts_with("EVS 7"), "{why}");
}

/// A member alone delivers everything at once, whatever its service.
#[test]
fn a_member_alone_delivers_every_service_in_the_order_of_sending() {
    let mut world = whole_with(1, 67, None);
    let all = [
        Service::Reliable,
        Service::Agreed,
        Service::Fifo,
        Service::Causal,
        Service::Safe,
        Service::Reliable,
    ];
    for service in all {
        world.submit(0, service, 30_000);
    }
    assert_eq!(services(&world, 0), all);
    check::all(&world).unwrap();
}
