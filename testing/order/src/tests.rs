//! The smallest schedules in which the rules as first written fail, at the install step alone; and
//! what a service does not wait for.

use crate::dice::Dice;
use crate::history::{Event, History};
use crate::install::Install;
use crate::nouns::{Packet, Per, Record, Service, Set};
use crate::plan::{Act, Plan};
use crate::rules::{Rule, Rules};
use crate::store::Store;
use crate::world::World;

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

fn packet(uid: usize, source: usize, number: usize, service: Service, names_of_c: usize) -> Packet {
    let names = Per::of(|node| if node == C { names_of_c } else { 0 });
    Packet { uid, source, number, service, names }
}

fn record(number: usize, source: usize) -> Record {
    Record { number, place: number, source, first: 1, last: 1, weak: Set::default() }
}

/// What a node that holds this delivers behind the signal.
fn installs(
    packets: &[Packet],
    records: &[Record],
    trusted: Set,
    owed: Set,
    without: Option<Rule>,
) -> Vec<usize> {
    let mut store = Store::new(8, Set::below(4));
    packets.iter().for_each(|packet| _ = store.keep_packet(*packet));
    records.iter().for_each(|record| store.keep_record(*record));
    let mut history = History::default();
    let mut step = Install::new(&mut store, Rules { without }, trusted, owed, &mut history);
    step.behind_the_signal().into_iter().map(|delivery| delivery.uid).collect()
}

fn sets(nodes: &[usize]) -> Set {
    nodes.iter().fold(Set::default(), |set, node| set.or(Set::one(*node)))
}

#[test]
fn ord_11_two_attempts_that_know_different_records_agree() {
    let p = packet(0, C, 1, Service::Causal, 0);
    let (y, x) = (packet(1, A, 1, Service::Agreed, 1), packet(2, B, 1, Service::Agreed, 0));
    let both = |without| {
        let first = installs(&[p, x, y], &[], sets(&[A, B]), sets(&[0]), without);
        let second = installs(&[p, x, y], &[record(1, C)], sets(&[A, B]), sets(&[0]), without);
        (first, second)
    };
    assert_eq!(both(None), (vec![0, 1, 2], vec![0, 1, 2]));
    assert_eq!(both(Some(Rule::BySender)), (vec![2, 0, 1], vec![0, 1, 2]));
}

#[test]
fn ord_10_past_a_hole_what_a_message_names_goes_before_it() {
    let (p, m) = (packet(0, C, 1, Service::Causal, 0), packet(1, A, 1, Service::Agreed, 1));
    let run = |without| installs(&[p, m], &[record(2, A)], sets(&[A, B]), sets(&[0]), without);
    assert_eq!(run(None), [0, 1]);
    assert_eq!(run(Some(Rule::Needs)), [1, 0]);
}

#[test]
fn ord_12_what_is_held_and_not_delivered_is_a_hole_of_its_stream() {
    let (a, f) = (packet(0, C, 1, Service::Agreed, 0), packet(1, C, 2, Service::Fifo, 0));
    let run = |without| installs(&[a, f], &[], sets(&[A, B]), Set::default(), without);
    assert_eq!(run(None), Vec::<usize>::new());
    assert_eq!(run(Some(Rule::Undelivered)), [1]);
}

#[test]
fn ord_10_past_a_hole_an_owed_message_comes_after_those_before_it_in_its_stream() {
    let (first, second) = (packet(0, C, 1, Service::Fifo, 0), packet(1, C, 2, Service::Fifo, 0));
    let record = Record { place: 2, first: 2, last: 2, ..record(2, C) };
    let run = |without| installs(&[first, second], &[record], sets(&[A, B]), sets(&[0, 1]), without);
    assert_eq!(run(None), [0, 1]);
    assert_eq!(run(Some(Rule::Needs)), [1, 0]);
}

/// A calm run of three nodes whose token is lost.
fn without_token() -> World {
    let mut dice = Dice(1);
    let mut plan = Plan::draw(&mut dice);
    plan.nodes = 3;
    plan.loss = 0;
    let mut world = World::with(plan, dice, Rules::default());
    world.nodes.iter_mut().for_each(|node| node.token = None);
    world
}

fn delivered(world: &World, node: usize) -> Vec<usize> {
    let uid = |event: &Event| match event {
        Event::Deliver(delivery) => Some(delivery.uid),
        _ => None,
    };
    world.history.logs[node].iter().filter_map(uid).collect()
}

#[test]
fn ord_07_reliable_fifo_and_causal_come_though_the_order_stands_still() {
    let mut world = without_token();
    for service in [Service::Reliable, Service::Fifo, Service::Causal, Service::Agreed, Service::Fifo] {
        world.act(Act::Say(B, service));
    }
    for _ in 0..10 {
        assert_eq!(world.tick(), Ok(()));
    }
    let mut had = delivered(&world, A);
    had.sort_unstable();
    assert_eq!(had, [0, 1, 2], "the agreed one waits, and the FIFO one behind it");
}

#[test]
fn ord_16_unreliable_is_sent_once_and_delays_nothing() {
    let mut world = without_token();
    world.net.loss = 1000;
    world.act(Act::Say(B, Service::Unreliable));
    world.net.loss = 0;
    world.act(Act::Say(B, Service::Fifo));
    for _ in 0..60 {
        assert_eq!(world.tick(), Ok(()));
    }
    assert_eq!(delivered(&world, A), [1]);
}
