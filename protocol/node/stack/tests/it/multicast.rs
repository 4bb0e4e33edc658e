//! Packets of the ring to all at once, where all hear it: whole rings under traffic, over networks
//! in which multicast works for all, for some, in one direction, or stops in the middle.

use crate::net::{EVERYWHERE, Net, person, seconds};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base::{Mutant, Service};
use std::collections::BTreeSet;

/// So many in one ring and one group; of multicasts these (from, to) are lost.
fn ring(count: usize, deaf: &[(usize, usize)], seed: u64) -> Net {
    ring_where(count, deaf, seed, |_| Mutant::NONE)
}

/// The same, in which this is wrong at each.
pub(crate) fn ring_where(
    count: usize,
    deaf: &[(usize, usize)],
    seed: u64,
    danger: impl Fn(usize) -> Mutant,
) -> Net {
    let all: Vec<usize> = (0..count).collect();
    let mut net = Net::new(count, seed);
    net.multicast = Some(deaf.iter().copied().collect());
    for who in &all {
        net.danger = danger(*who);
        net.start(count, *who, &(0..*who).collect::<Vec<_>>());
    }
    all.iter().for_each(|who| net.join(*who));
    let grouped = |net: &Net| all.iter().all(|who| net.players[who].notice.len() == count);
    let took = net.until(seconds(5), |net| net.together(&all) && grouped(net));
    assert!(took.is_some(), "{}", net.told());
    net.ms(seconds(2));
    net
}

/// Everybody sends a message of 700 bytes every 10 ms, so many times; all come everywhere.
fn talk(net: &mut Net, times: usize) {
    let (count, before) = (net.players.len(), net.delivered.len());
    for _ in 0..times {
        for who in 0..count {
            let (party, group) = (person(who).member().into(), net.group);
            let payload = Bytes::from(vec![who as u8; 700]);
            net.tell(who, ToNode::Send { party, group, service: Service::Agreed, payload });
        }
        net.ms(10);
    }
    let wanted = count * count * times;
    let took = net.until(seconds(5), |net| net.delivered.len() - before >= wanted);
    assert!(took.is_some(), "{} of {wanted}\n{}", net.delivered.len() - before, net.told());
}

fn reaches_all(net: &Net) -> Vec<bool> {
    net.players.keys().map(|who| net.node(*who).reaches_all().unwrap_or_default()).collect()
}

/// How many packets each sent to all so far.
fn to_all(net: &Net) -> Vec<u64> {
    net.players.keys().map(|who| net.node(*who).counters().link.to_all).collect()
}

#[test]
fn link_38_what_a_ring_sends_goes_to_all_at_once_and_comes() {
    for count in [3, 5, 8] {
        let mut net = ring(count, &[], 9_000 + count as u64);
        let installed = net.installed();
        assert_eq!(reaches_all(&net), vec![true; count], "{}", net.told());
        let before = to_all(&net);
        talk(&mut net, 100);
        for (who, (before, after)) in before.iter().zip(to_all(&net)).enumerate() {
            assert!(after - before >= 50, "{who} sent {} packets to all", after - before);
        }
        assert_eq!(net.installed(), installed, "{}", net.told());
    }
    let mut alone = ring(2, &[], 9_100);
    talk(&mut alone, 20);
    assert_eq!(to_all(&alone), [0, 0], "one receiver");
}

/// A ring of five sends less than without multicast, by what each packet cost three more times.
#[test]
fn link_38_a_ring_of_five_sends_fewer_datagrams() {
    let sent = |multicast: bool| {
        let mut net = ring(5, if multicast { &[] } else { &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)] }, 9_200);
        assert_eq!(reaches_all(&net), vec![multicast; 5]);
        let count = |net: &Net| -> u64 {
            (0..5).map(|from| (0..5).chain([EVERYWHERE]).map(|to| net.sent(from, to)).sum::<u64>()).sum()
        };
        let before = count(&net);
        talk(&mut net, 200);
        count(&net) - before
    };
    let (multicast, unicast) = (sent(true), sent(false));
    assert!(multicast * 4 < unicast * 3, "{multicast} with, {unicast} without");
}

/// One hears nothing that goes to all, or is not heard: whoever does not reach it sends to each.
#[test]
fn link_38_a_ring_with_a_member_that_hears_no_multicast_works() {
    for (deaf, reach) in [
        (vec![(0, 2), (1, 2), (3, 2)], [false, false, true, false]),
        (vec![(2, 0), (2, 1), (2, 3)], [true, true, false, true]),
        (vec![(1, 3)], [true, false, true, true]),
    ] {
        let mut net = ring(4, &deaf, 9_300);
        let installed = net.installed();
        assert_eq!(reaches_all(&net), reach, "{}", net.told());
        talk(&mut net, 300);
        assert_eq!(reaches_all(&net), reach);
        assert_eq!(net.installed(), installed, "{}", net.told());
    }
}

/// Multicast stops in the middle of traffic, for one member or for all. Nothing is lost, no
/// configuration ends, and after a second at most packets go to each by itself.
#[test]
fn link_39_multicast_that_stops_midway_costs_no_message_and_no_configuration() {
    let everybody: Vec<(usize, usize)> = (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).collect();
    for (seed, deaf) in [vec![(0, 3)], vec![(0, 3), (1, 3), (2, 3)], everybody].into_iter().enumerate() {
        let mut net = ring(4, &[], 9_400 + seed as u64);
        let installed = net.installed();
        talk(&mut net, 50);
        assert_eq!(reaches_all(&net), [true; 4]);
        let senders: BTreeSet<usize> = deaf.iter().map(|(from, _)| *from).collect();
        net.multicast = Some(deaf.into_iter().collect());
        talk(&mut net, 100);
        let reach: Vec<bool> = (0..4).map(|who| !senders.contains(&who)).collect();
        assert_eq!(reaches_all(&net), reach, "{}", net.told());
        let before = to_all(&net);
        talk(&mut net, 100);
        for who in senders {
            assert_eq!(to_all(&net)[who], before[who]);
        }
        assert_eq!(net.installed(), installed, "{}", net.told());
        net.multicast = Some(BTreeSet::new());
        net.ms(seconds(45));
        talk(&mut net, 50);
        assert_eq!(reaches_all(&net), [true; 4], "it is tried again");
        assert_eq!(net.installed(), installed, "{}", net.told());
    }
}

/// A member is lost, and one more comes: each configuration tries for itself.
#[test]
fn link_38_a_ring_that_changes_goes_on_by_multicast() {
    let mut net = ring(4, &[], 9_500);
    talk(&mut net, 20);
    net.players.remove(&1);
    let took = net.until(seconds(5), |net| net.together(&[0, 2, 3]));
    assert!(took.is_some(), "{}", net.told());
    net.ms(seconds(1));
    assert_eq!(reaches_all(&net), [true; 3], "{}", net.told());
    net.start(4, 1, &[0]);
    net.join(1);
    let took = net.until(seconds(10), |net| net.together(&[0, 1, 2, 3]));
    assert!(took.is_some(), "{}", net.told());
    net.ms(seconds(2));
    assert_eq!(reaches_all(&net), [true; 4], "{}", net.told());
    talk(&mut net, 50);
}

/// Every twentieth datagram is lost, whichever way it goes.
#[test]
fn link_39_a_ring_over_a_lossy_network_works() {
    let mut net = ring(4, &[], 9_600);
    let installed = net.installed();
    net.loss = 13;
    talk(&mut net, 300);
    assert_eq!(net.installed(), installed, "{}", net.told());
}
