//! LINK-37 to LINK-39: packets of the ring to all in one datagram, where all hear it. Liars among
//! them: outsiders who send to all, and members who say that they hear.

use crate::common::{Net, config, everybody, node_of, opened, place};
use crate::ringkey::{install, keys, linked, multicast, packet};
use bytes::Bytes;
use folkmoot_base::{Danger, Locator, Mutant, NodeId};
use folkmoot_link::message::{Control, RING_PROBE};
use folkmoot_link::{Channel, Config, Input, LinkError, Output};

const RING: u8 = 8;

/// Three or more nodes in ring 7, whose host knows a place at which all are reached.
fn ring_with(count: u8, config: impl Fn(u8) -> Config) -> Net {
    let mut net = linked(count, config);
    net.run_ms(500); // Paths are tried.
    begin(&mut net, 7);
    net
}

fn ring(count: u8) -> Net {
    ring_with(count, |_| config())
}

/// A configuration of all begins.
fn begin(net: &mut Net, ring: u8) {
    let names: Vec<u8> = (1..=net.parties.len() as u8).collect();
    for who in 0..names.len() {
        install(net, who, keys(ring, 1, &names));
        let nodes: Vec<NodeId> = names.iter().map(|name| node_of(*name)).collect();
        let nodes = nodes.into_iter().filter(|node| *node != node_of(who as u8 + 1)).collect();
        net.input(who, Input::Company { nodes }).unwrap();
        net.input(who, Input::Everybody(Some(everybody()))).unwrap();
    }
}

fn reaches_all(net: &Net) -> Vec<bool> {
    net.parties.iter().map(|party| party.links.reaches_all().unwrap_or_default()).collect()
}

/// Node `who` sends a packet of this number to all others; to how many places it went.
fn says(net: &mut Net, who: usize, number: u32) -> usize {
    let (numbered, _) = multicast(net, who, &packet(who as u8, 7, number, &[7; 600]));
    assert!(numbered.is_some());
    let sent = |(_, from, bytes): &&(Locator, Locator, Bytes)| {
        *from == place(who) && bytes[1] == RING && bytes[8..12] == number.to_be_bytes() && bytes[2] == 0xa0
    };
    net.log.iter().filter(sent).count()
}

/// Who has the packet of this number.
fn heard(net: &Net, number: u32) -> Vec<usize> {
    let has = |who: &usize| {
        let frames = net.parties[*who].frames();
        frames
            .iter()
            .any(|(_, channel, frame)| *channel == Channel::Ring && frame[6..10] == number.to_be_bytes())
    };
    (0..net.parties.len()).filter(has).collect()
}

/// How many probes somebody has sent to all.
fn probes(net: &Net, who: usize) -> Vec<Bytes> {
    let probe = |(to, from, bytes): &(Locator, Locator, Bytes)| {
        (*to == everybody() && *from == place(who) && bytes[2] == RING_PROBE).then(|| bytes.clone())
    };
    net.log.iter().filter_map(probe).collect()
}

/// Sends a packet every 20 ms; when the first one went to so many places, in milliseconds.
fn until_sent_to(net: &mut Net, who: usize, places: usize, first: u32) -> Option<u64> {
    (0..250)
        .find(|turn| {
            let went = says(net, who, first + *turn as u32);
            net.run_ms(20);
            went == places
        })
        .map(|turn| turn * 20)
}

#[test]
fn link_38_a_packet_goes_to_all_in_one_datagram_once_all_have_answered() {
    let mut net = ring(4);
    assert_eq!(says(&mut net, 0, 1), 3, "to each by itself until then");
    net.run_ms(20);
    assert_eq!(reaches_all(&net), [true; 4]);
    assert_eq!(says(&mut net, 0, 2), 1);
    net.run_ms(20);
    assert_eq!((heard(&net, 1), heard(&net, 2)), (vec![1, 2, 3], vec![1, 2, 3]));
    assert_eq!(probes(&net, 0).iter().map(Bytes::len).collect::<Vec<_>>(), [1_452], "as long as any packet");
    assert_eq!(net.parties[0].links.counters().to_all, 1);
    // What was said is followed by one check. Then nobody says anything, and nobody asks anything.
    net.run_ms(20_000);
    assert_eq!(probes(&net, 0).len(), 2);
}

#[test]
fn link_38_it_works_in_one_direction_and_not_in_the_other() {
    let mut net = linked(3, |_| config());
    net.run_ms(500);
    net.deaf = [(0, 1), (0, 2), (1, 2)].into();
    begin(&mut net, 7);
    net.run_ms(2_000);
    assert_eq!(reaches_all(&net), [false, false, true]);
    assert_eq!((says(&mut net, 0, 1), says(&mut net, 1, 2), says(&mut net, 2, 3)), (2, 2, 1));
    net.run_ms(20);
    assert_eq!((heard(&net, 1), heard(&net, 2), heard(&net, 3)), (vec![1, 2], vec![0, 2], vec![0, 1]));
}

/// What one path carries limits what goes to all; what is longer goes to each by itself.
#[test]
fn link_38_probes_are_as_long_as_the_narrowest_path_carries() {
    let mut net = linked(3, |_| config());
    for (from, to) in [(0, 2), (2, 0)] {
        net.mtu.insert((place(from), place(to)), 1_260);
    }
    for _ in 0..40 {
        net.send(0, node_of(3), Channel::Ring, &[1; 1_300]).unwrap();
        net.send(2, node_of(1), Channel::Ring, &[1; 1_300]).unwrap();
        net.run_ms(100); // The path is found to be narrow.
    }
    net.parties.iter_mut().for_each(|party| party.heard.clear());
    begin(&mut net, 7);
    net.run_ms(50);
    assert_eq!(reaches_all(&net), [true; 3]);
    assert_eq!(probes(&net, 0)[0].len(), 1_252);
    assert_eq!(probes(&net, 1)[0].len(), 1_452);
    let long = packet(0, 7, 1, &[1; 1_300]);
    assert_eq!(multicast(&mut net, 0, &long).1.iter().filter(|bytes| bytes[1] == RING).count(), 1);
    net.run_ms(20);
    assert_eq!(heard(&net, 1), [1, 2], "the link to node 3 cuts it");
}

#[test]
fn link_38_without_a_place_or_a_ring_key_or_a_third_member_nothing_is_tried() {
    let mut alone = linked(2, |_| config());
    alone.run_ms(500);
    begin(&mut alone, 7);
    let mut nowhere = linked(3, |_| config());
    nowhere.run_ms(500);
    begin(&mut nowhere, 7);
    (0..3).for_each(|who| nowhere.input(who, Input::Everybody(None)).unwrap());
    for net in [&mut alone, &mut nowhere] {
        net.run_ms(30_000);
        assert!(net.parties.iter().all(|party| !party.links.reaches_all().unwrap_or_default()));
        assert!(probes(net, 0).len() <= 1, "{}", probes(net, 0).len());
    }
    let mut unkeyed = linked(3, |_| config());
    unkeyed.run_ms(500);
    begin(&mut unkeyed, 7);
    (0..3).for_each(|who| install(&mut unkeyed, who, keys(8, 1, &[])));
    unkeyed.run_ms(30_000);
    assert!(probes(&unkeyed, 0).len() <= 1);
}

/// Another configuration: packets go to each until all have answered in that one.
#[test]
fn link_38_each_configuration_is_tried_anew() {
    let mut net = ring(3);
    net.run_ms(20);
    assert_eq!(reaches_all(&net), [true; 3]);
    for who in 0..3 {
        net.input(who, Input::Company { nodes: Vec::new() }).unwrap();
    }
    assert_eq!(reaches_all(&net), [false; 3]);
    let together = |output: &Output| matches!(output, Output::Together { places } if places.is_empty());
    assert!(net.parties[0].heard.iter().any(together), "the host need not listen any more");
    net.deaf = [(0, 2)].into();
    begin(&mut net, 8);
    net.run_ms(2_000);
    assert_eq!(reaches_all(&net), [false, true, true]);
}

/// It stops in the middle for one member. Soon packets go to each again, sooner if it asks for what
/// it lacks; and multicast is tried again later, each time after a longer pause.
#[test]
fn link_39_whoever_misses_multicasts_gets_packets_by_itself_soon() {
    for asks in [false, true] {
        let mut net = ring(3);
        net.run_ms(1_000);
        assert_eq!(until_sent_to(&mut net, 0, 1, 1), Some(0));
        net.deaf.insert((0, 2));
        let mut back = None;
        for turn in 0..250 {
            if asks {
                net.parties[0].links.repeats();
                net.drain(0);
            }
            let went = says(&mut net, 0, 1_000 + turn);
            net.run_ms(20);
            if went == 2 {
                back = Some(turn * 20);
                break;
            }
        }
        let limit = if asks { 600 } else { 1_500 };
        assert!(back.is_some_and(|back| back <= limit), "{asks}: {back:?}");
        let before = probes(&net, 0).len();
        net.run_ms(9_000);
        assert_eq!(probes(&net, 0).len(), before, "nothing is tried in the pause");
        net.run_ms(300_000);
        let tried = probes(&net, 0).len() - before;
        assert!((12..=24).contains(&tried), "tries after 10, 20, 40 s and so on: {tried}");
        net.deaf.clear();
        net.run_ms(700_000);
        assert!(net.parties[0].links.reaches_all().unwrap_or_default(), "it works again");
    }
}

/// A single loss, of a probe or of an answer, changes nothing.
#[test]
fn link_39_what_is_lost_now_and_then_ends_nothing() {
    let mut net = ring(4);
    net.run_ms(50);
    net.loss = 5;
    let mut alone = 0;
    for turn in 0..1_500 {
        alone += usize::from(says(&mut net, 0, turn + 1) > 1);
        net.run_ms(20);
    }
    assert_eq!(alone, 0, "of 1,500 packets in 30 s");
}

/// An interface that carries less than the paths were found to: the system says so.
#[test]
fn link_39_what_the_system_does_not_send_goes_to_each() {
    let mut net = ring(3);
    net.run_ms(50);
    net.input(0, Input::TooLong { to: everybody(), bytes: 1_452 }).unwrap();
    assert_eq!(reaches_all(&net), [false, true, true]);
    assert_eq!(says(&mut net, 0, 1), 2);
}

fn hello() -> Vec<u8> {
    [&[1, 1, 0, 0, 0, 9][..], &[0; 16 + 32]].concat()
}

fn answers(net: &mut Net, bytes: &[u8], from: usize) -> (Result<(), LinkError>, usize) {
    let before = net.log.len();
    let result = net.input(1, Input::ToAll { from: place(from), bytes: opened(bytes) });
    (result, net.log.len() - before)
}

/// An outsider sends a Hello to all in somebody else's name: each would answer that one.
#[test]
fn link_37_nothing_but_packets_of_the_ring_comes_to_all() {
    let mut net = ring(3);
    net.run_ms(50);
    let at = net.parties[1].links.locator(&node_of(1));
    net.send(0, node_of(2), Channel::Transcript, b"for one").unwrap();
    let data = net.log.last().unwrap().2.clone();
    net.wire.clear();
    for bytes in [hello(), data.to_vec(), vec![], vec![1], vec![1, 7, 0, 0, 0, 1, 2], vec![0xff; 1_452]] {
        let (result, said) = answers(&mut net, &bytes, 77);
        assert_eq!((result, said), (Err(LinkError::WireToAll(place(77))), 0));
    }
    assert_eq!(net.parties[1].links.locator(&node_of(1)), at, "and it moves nobody");
    assert!(heard(&net, 1).is_empty());
}

#[test]
fn link_37_without_the_rule_an_outsider_makes_all_answer() {
    let danger = Mutant::from(Some(Danger::LinkTakesAnyToAll));
    let mut net = ring_with(3, |_| Config { danger, ..config() });
    net.run_ms(50);
    assert_eq!(answers(&mut net, &hello(), 77), (Ok(()), 1));
}

/// What an outsider forges or changes opens nowhere. What it sends again is a packet that the ring
/// has; a probe is answered once, and to its sender alone.
#[test]
fn link_37_an_outsider_forges_and_repeats_in_vain() {
    let mut net = ring(3);
    net.run_ms(50);
    let probe = probes(&net, 0)[0].clone();
    let mut forged = probe.to_vec();
    forged[11] ^= 3;
    assert_eq!(answers(&mut net, &forged, 77), (Err(LinkError::WireForged(place(77))), 0));
    for _ in 0..100 {
        assert_eq!(answers(&mut net, &probe, 77), (Err(LinkError::WireReplayed(place(77))), 0));
    }
    // Nor is a probe answered that comes to one alone: it says nothing of multicast.
    let alone = net.input(1, Input::Datagram { from: place(0), bytes: opened(&probe) });
    assert_eq!(alone, Err(LinkError::WireReplayed(place(0))));
    // Nor one of a ring that has ended.
    for who in 0..3 {
        install(&mut net, who, keys(9, 2, &[1, 2, 3]));
    }
    assert_eq!(answers(&mut net, &probe, 77), (Err(LinkError::WireOtherRing(place(77))), 0));
}

/// A member says that it heard what was never sent, or in another ring; somebody who is not in the
/// configuration says that it heard.
#[test]
fn link_38_only_answers_to_our_own_probes_count() {
    let mut net = linked(4, |_| config());
    net.run_ms(500);
    net.deaf = [(0, 1), (0, 2)].into();
    for who in 0..3 {
        install(&mut net, who, keys(7, 1, &[1, 2, 3]));
    }
    let nodes = vec![node_of(2), node_of(3)];
    net.input(0, Input::Company { nodes }).unwrap();
    net.input(0, Input::Everybody(Some(everybody()))).unwrap();
    net.run_ms(50);
    let sent = probes(&net, 0).len() as u32;
    assert!(sent > 0);
    let lies = [([7; 4], sent + 5), ([6; 4], 1), ([7; 4], 0)];
    for from in 1..4 {
        for (ring, number) in lies {
            let now = net.now;
            net.parties[from].links.danger_say(now, node_of(1), &Control::Heard { ring, number });
            net.drain(from);
        }
    }
    net.parties[3].links.danger_say(net.now, node_of(1), &Control::Heard { ring: [7; 4], number: 1 });
    net.drain(3);
    net.run_ms(10);
    assert!(!net.parties[0].links.reaches_all().unwrap_or_default());
    for from in 1..3 {
        let heard = Control::Heard { ring: [7; 4], number: sent };
        net.parties[from].links.danger_say(net.now, node_of(1), &heard);
        net.drain(from);
    }
    net.run_ms(2);
    assert!(net.parties[0].links.reaches_all().unwrap_or_default(), "whoever lies of itself gets nothing so");
}
