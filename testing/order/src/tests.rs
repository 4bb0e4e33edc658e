//! The smallest schedules in which the rules as first written fail, at the install step alone.

use crate::history::History;
use crate::install::Install;
use crate::nouns::{Packet, Per, Record, Service, Set};
use crate::rules::{Rule, Rules};
use crate::store::Store;

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
