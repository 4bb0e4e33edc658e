//! LINK-34: a peer that is heard at another address is asked there, and until it answers from there
//! nothing else goes there.

use crate::common::{Named, Net, config, node_of, place};
use bytes::Bytes;
use folkmoot_base::{Danger, Locator, Mutant};
use folkmoot_link::message::Control;
use folkmoot_link::{Channel, Config, Input, limits};

/// The bytes of all datagrams that party `from` sent to `to`, by length.
fn sent(net: &Net, from: usize, to: &Locator) -> Vec<usize> {
    let from = place(from);
    net.log.iter().filter(|(at, by, _)| at == to && *by == from).map(|(.., bytes)| bytes.len()).collect()
}

fn at(net: &Net) -> Option<Locator> {
    net.parties[1].links.locator(&node_of(1))
}

/// Nodes 1 and 2 with a link; node 2 is as `danger` says.
fn pair(danger: Mutant) -> Net {
    let mut net = Net::new(0);
    let roster = || [node_of(1), node_of(2)].into();
    net.add(Named::new(1), config(), roster());
    net.add(Named::new(2), Config { danger, ..config() }, roster());
    net.dial(0, 1);
    net.run_ms(50);
    assert_eq!(at(&net), Some(place(0)));
    net
}

/// What node 1 sends to node 2 comes from place 70 first, without node 1 being there. Returns what
/// was sent.
fn copy_first(net: &mut Net) -> Bytes {
    net.send(0, node_of(2), Channel::Ring, b"copied").unwrap();
    let (.., bytes) = net.wire.remove(0);
    let from = place(70);
    net.input(1, Input::Datagram { from, bytes: bytes.as_ref().into() }).unwrap();
    bytes
}

#[test]
fn link_34_nothing_but_a_question_goes_to_an_address_before_its_answer() {
    let mut net = pair(Mutant::NONE);
    net.parties[0].at = place(70);
    net.send(0, node_of(2), Channel::Ring, b"moved").unwrap();
    let came = net.log.last().unwrap().2.len();
    net.run(core::time::Duration::from_micros(250));
    // It has come, and the answer to the question is on its way.
    net.send(1, node_of(1), Channel::Ring, &[7; 1_000]).unwrap();
    let there = sent(&net, 1, &place(70));
    assert!(there.len() == 1 && there[0] <= 3 * came, "{there:?}");
    net.run_ms(20);
    assert_eq!(at(&net), Some(place(70)));
    net.send(1, node_of(1), Channel::Ring, &[8; 1_000]).unwrap();
    net.run_ms(20);
    assert_eq!(net.parties[0].frames().last().unwrap().2, Bytes::from(vec![8; 1_000]));
    assert_eq!(net.parties[0].ups() + net.parties[1].ups(), 2);
}

#[test]
fn link_34_whoever_copies_a_datagram_moves_nobody() {
    for danger in [Mutant::NONE, Mutant::from(Some(Danger::LinkBelievesAddresses))] {
        let mut net = pair(danger);
        copy_first(&mut net);
        net.send(1, node_of(1), Channel::Ring, &[7; 1_000]).unwrap();
        let stolen = sent(&net, 1, &place(70)).iter().any(|bytes| *bytes > 1_000);
        assert_eq!(stolen, danger.is(Danger::LinkBelievesAddresses));
        net.run_ms(20);
        assert_eq!(net.parties[0].frames().is_empty(), stolen);
    }
}

#[test]
fn link_34_the_answer_counts_only_from_the_address_that_was_asked() {
    let mut net = pair(Mutant::NONE);
    copy_first(&mut net);
    let question = net.log.iter().rfind(|(to, ..)| *to == place(70)).unwrap().2.clone();
    // The liar hands the question on, and node 1 answers, from where it is.
    net.input(0, Input::Datagram { from: place(70), bytes: question.as_ref().into() }).unwrap();
    net.run_ms(20);
    assert_eq!(at(&net), Some(place(0)));
    // Node 2 is not moved for node 1 either.
    assert_eq!(net.parties[0].links.locator(&node_of(2)), Some(place(1)));
}

#[test]
fn link_34_a_guessed_answer_moves_nobody() {
    let mut net = pair(Mutant::NONE);
    // A member that sends in the name of an address at which it does not hear.
    net.parties[0].at = place(70);
    net.cut.insert((place(1), place(70)));
    for guess in [0, 1, net.now.0, u64::MAX] {
        let now = net.now;
        net.parties[0].links.danger_say(now, node_of(2), &Control::Pong(guess));
        net.drain(0);
        net.run_ms(10);
        assert_eq!(at(&net), Some(place(0)), "{guess}");
    }
}

#[test]
fn link_34_an_address_that_does_not_answer_is_asked_seldom_and_shortly() {
    let mut net = pair(Mutant::NONE);
    net.cut.extend([(place(1), place(70)), (place(1), place(71))]);
    let mut came = 0;
    for number in 0..100 {
        net.parties[0].at = place(70 + number / 3 % 2);
        net.send(0, node_of(2), Channel::Ring, b"spoofed").unwrap();
        came += net.log.last().unwrap().2.len();
        net.run_ms(10);
    }
    let there = [70, 71].map(|at| sent(&net, 1, &place(at))).concat();
    let most = 1_000 / usize::try_from(limits::MOVE_ASK.as_millis()).unwrap() + 1;
    assert!(!there.is_empty() && there.len() <= most, "{there:?}");
    assert!(there.iter().sum::<usize>() <= 3 * came);
    assert_eq!(at(&net), Some(place(0)));
    // Its link lives: it was heard. And as soon as it hears there, it is found there.
    assert_eq!(net.parties[1].downs(), 0);
    net.cut.clear();
    net.run(limits::MOVE_ASK);
    net.send(0, node_of(2), Channel::Ring, b"true").unwrap();
    net.run_ms(20);
    assert_eq!(at(&net), Some(net.parties[0].at.clone()));
}
