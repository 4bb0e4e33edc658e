//! Two processes with one identity: the later start wins, and the earlier process has proof of it.

use crate::common::{Named, Net, RING, config, node_of, place};
use folkmoot_base::{Danger, GroupId, Mutant, NodeId, SignatureBytes};
use folkmoot_link::message::Control;
use folkmoot_link::{Channel, Config, Credentials, Input, LinkError, Output, SignedStart, Start};

/// Who is where: a peer, and two processes of node 2.
const PEER: usize = 0;
const EARLIER: usize = 1;
const LATER: usize = 2;

/// A peer with this mistake, and two processes with one identity, none of them linked.
fn twins(danger: Option<Danger>) -> Net {
    let mut net = Net::new(0);
    let all = [node_of(1), node_of(2)];
    let danger = Mutant::from(danger);
    net.add(Named::new(1), Config { danger, started: 4, ..config() }, all.into());
    for started in [5, 9] {
        net.add(Named::new(2), Config { started, danger, ..config() }, all.into());
    }
    net
}

fn told(net: &Net, who: usize) -> Vec<u64> {
    let started = |output: &Output| match output {
        Output::Superseded { started } => Some(*started),
        _ => None,
    };
    net.parties[who].heard.iter().filter_map(started).collect()
}

fn named(net: &Net) -> bool {
    let twice = Output::Twice { node: node_of(2), at: place(EARLIER) };
    net.parties[PEER].heard.contains(&twice)
}

#[test]
fn link_25_the_process_that_started_later_has_the_link_whichever_dials_last() {
    for (first, last) in [(EARLIER, LATER), (LATER, EARLIER)] {
        let mut net = twins(None);
        net.dial(first, PEER);
        net.run_ms(50);
        net.dial(last, PEER);
        net.run_ms(700);
        assert!(!told(&net, EARLIER).is_empty() && told(&net, EARLIER).iter().all(|started| *started == 9));
        assert!(told(&net, LATER).is_empty() && named(&net));
        assert_eq!(net.parties[PEER].links.locator(&node_of(2)), Some(place(LATER)));
        let downs = usize::from(first == EARLIER);
        assert_eq!((net.parties[PEER].ups(), net.parties[PEER].downs()), (1 + downs, downs));
        net.send(PEER, node_of(2), Channel::Ring, b"to the later one").unwrap();
        net.run_ms(50);
        assert_eq!((net.parties[EARLIER].frames().len(), net.parties[LATER].frames().len()), (0, 1));
    }
}

/// How often the peer loses its link while both processes dial for 30 s, as nodes do.
fn losses(danger: Option<Danger>) -> usize {
    let mut net = twins(danger);
    for _ in 0..60 {
        for who in [EARLIER, LATER] {
            net.dial(who, PEER);
            net.run_ms(250);
        }
    }
    net.parties[PEER].downs()
}

#[test]
fn link_25_two_processes_that_do_not_stop_take_the_link_from_each_other_once() {
    let without = losses(Some(Danger::LinkAnyProcess));
    assert!(without >= 10, "the attack succeeds without the rule: {without}");
    assert_eq!(losses(None), 1);
}

#[test]
fn link_25_what_was_said_and_lost_is_said_again() {
    for back_again in [false, true] {
        let mut net = twins(None);
        net.dial(EARLIER, PEER);
        net.run_ms(50);
        net.cut.insert((place(PEER), place(EARLIER)));
        net.dial(LATER, PEER);
        net.run_ms(if back_again { 300 } else { 2_500 });
        assert!(told(&net, EARLIER).is_empty());
        net.cut.clear();
        if !back_again {
            net.dial(EARLIER, PEER);
        }
        net.run_ms(1_000);
        assert!(!told(&net, EARLIER).is_empty() && named(&net), "{back_again}");
        assert_eq!(net.parties[PEER].links.locator(&node_of(2)), Some(place(LATER)));
    }
}

/// A folder that was restored from a backup may have a lower number than its former process had.
#[test]
fn link_25_a_process_that_has_gone_keeps_nobody_out() {
    for rests in [false, true] {
        let mut net = twins(None);
        net.add(Named::new(3), config(), [node_of(1)].into());
        net.parties[PEER].roster.insert(node_of(3));
        net.dial(LATER, PEER);
        net.dial(3, PEER);
        net.run_ms(50);
        if rests {
            net.input(PEER, Input::Company { nodes: vec![node_of(2), node_of(3)] }).unwrap();
        }
        net.cut.extend([(place(LATER), place(PEER)), (place(PEER), place(LATER))]);
        for _ in 0..16 {
            net.send(3, node_of(1), Channel::Ring, b"the token of the rest").unwrap();
            net.run_ms(100);
        }
        for _ in 0..40 {
            if net.parties[EARLIER].ups() == 0 {
                net.dial(EARLIER, PEER);
            }
            net.send(3, node_of(1), Channel::Ring, b"the token of the rest").unwrap();
            net.run_ms(200);
        }
        assert_eq!(net.parties[PEER].links.locator(&node_of(2)), Some(place(EARLIER)), "{rests}");
        assert!(told(&net, EARLIER).is_empty(), "{rests}");
    }
}

#[test]
fn link_25_a_restart_at_the_same_locator_is_no_second_process() {
    let mut net = Net::pair();
    net.restart(1, Named::new(2));
    net.dial(1, 0);
    net.run_ms(5_500);
    assert!(!net.parties[0].heard.iter().any(|output| matches!(output, Output::Twice { .. })));
    assert!(net.parties.iter().all(|party| party.errors.is_empty()));
}

/// What the signature in a start covers.
fn signed(by: u8, group: GroupId, node: NodeId, start: Start) -> SignedStart {
    let started = start.started.to_be_bytes();
    let all = [&[start.role], &group.0[..], &start.hash, &start.key, &node.0, &start.to.0, &started].concat();
    let signature = Named::new(by).sign(b"folkmoot link v1", &all).unwrap();
    SignedStart { start, signature }
}

/// A peer, linked to a process of node 2 that started at 5, and to node 3, says this to it.
fn shown(danger: Option<Danger>, start: &SignedStart) -> (Vec<u64>, Vec<LinkError>, usize) {
    let mut net = twins(danger);
    net.dial(EARLIER, PEER);
    net.run_ms(50);
    let now = net.now;
    net.parties[PEER].links.danger_say(now, node_of(2), &Control::Superseded(start.clone()));
    net.drain(PEER);
    net.run_ms(50);
    (told(&net, EARLIER), net.parties[EARLIER].errors.clone(), net.parties[EARLIER].downs())
}

fn start(started: u64) -> Start {
    Start { role: 1, hash: [7; 32], to: node_of(1), started, key: [8; 32] }
}

#[test]
fn link_26_only_our_own_signature_over_a_later_start_stops_us() {
    let genuine = signed(2, RING, node_of(2), start(6));
    assert_eq!(shown(None, &genuine), (vec![6], vec![], 0));
    let forged = |signature: SignatureBytes| SignedStart { start: start(u64::MAX), signature };
    let lies = [
        signed(1, RING, node_of(2), start(6)),
        signed(2, GroupId([1; 32]), node_of(2), start(6)),
        signed(2, RING, node_of(1), start(6)),
        forged(genuine.signature.clone()),
    ];
    for lie in lies {
        let (told, errors, downs) = shown(None, &lie);
        assert_eq!((told, errors), (vec![], vec![LinkError::PeerFalseStart(node_of(1))]));
        assert_eq!(downs, 1, "a link over which something forged comes is ended");
        let (told, ..) = shown(Some(Danger::LinkBelievesStarts), &lie);
        assert_eq!(told, [lie.start.started], "the attack succeeds without the rule");
    }
}

#[test]
fn link_26_the_start_of_a_former_process_is_an_old_story() {
    for started in [0, 4] {
        let former = signed(2, RING, node_of(2), start(started));
        let (told, errors, downs) = shown(None, &former);
        assert_eq!((told, errors, downs), (vec![], vec![LinkError::PeerFalseStart(node_of(1))], 0));
        let (told, ..) = shown(Some(Danger::LinkBelievesStarts), &former);
        assert_eq!(told, [started], "the attack succeeds without the rule");
    }
}

#[test]
fn link_26_our_own_start_stops_nobody() {
    let mut net = twins(None);
    net.dial(EARLIER, PEER);
    net.run_ms(50);
    let own = net.parties[PEER].links.danger_start(&node_of(2)).unwrap();
    assert_eq!(own.start.started, 5);
    let now = net.now;
    net.parties[PEER].links.danger_say(now, node_of(2), &Control::Superseded(own));
    net.drain(PEER);
    net.run_ms(50);
    assert!(told(&net, EARLIER).is_empty());
    assert_eq!(net.parties[EARLIER].downs(), 0);
}
