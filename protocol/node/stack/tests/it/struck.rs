//! A node that is struck from the roster, and keeps its keys against the rules, on a network where
//! it hears all that goes to all.

use crate::multicast::ring_where;
use crate::net::papers::decision;
use crate::net::{NOW, Net, locator, person, seconds};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base::{Danger, Entropy, Instant, Mutant, Service, digest};

/// Who it is.
const STRUCK: usize = 3;

/// What is only heard needs no randomness.
struct Zeros;

impl Entropy for Zeros {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(0);
    }
}

/// These say something, and it goes to all.
fn talk(net: &mut Net, who: core::ops::Range<usize>) -> Vec<Bytes> {
    net.to_all.clear();
    for number in 0..20_u8 {
        for who in who.clone() {
            let (party, group) = (person(who).member().into(), net.group);
            let payload = Bytes::copy_from_slice(&digest(&[&[number, who as u8]]));
            net.tell(who, ToNode::Send { party, group, service: Service::Agreed, payload });
        }
        net.ms(10);
    }
    net.ms(100);
    net.to_all.clone()
}

/// How the ring is named in a datagram.
fn handle(datagram: &Bytes) -> Bytes {
    datagram.slice(4..8)
}

/// Whose packet it is: the people here stand in the order of their nodes.
fn sender(datagram: &Bytes) -> usize {
    usize::from(datagram[3])
}

/// This comes to a node by multicast: how many datagrams it then opens, and how many are of a ring
/// of which it has no keys.
fn hear(net: &mut Net, who: usize, datagram: &Bytes) -> (u64, u64) {
    let counts = |net: &Net| {
        let link = net.node(who).counters().link;
        (link.opened, link.other_ring)
    };
    let before = counts(net);
    let (now, party) = (Instant(net.now), &mut net.players.get_mut(&who).unwrap().party);
    party.datagram_to_all(now, locator(9), datagram.clone().into(), &mut Zeros);
    let after = counts(net);
    (after.0 - before.0, after.1 - before.1)
}

/// A decision strikes it. Those for whom `keeps` holds keep the keys of rings that are over. What
/// went to all before, and after.
fn strike(seed: u64, keeps: impl Fn(usize) -> bool) -> (Net, Vec<Bytes>, Vec<Bytes>) {
    let danger = |who: usize| Mutant::from(keeps(who).then_some(Danger::LinkKeepsRingKey));
    let mut net = ring_where(4, &[], seed, danger);
    let old = talk(&mut net, 0..4);
    let ring = handle(&old[0]);
    assert!(old.iter().all(|datagram| handle(datagram) == ring));
    assert!((0..4).all(|who| old.iter().any(|datagram| sender(datagram) == who)), "of each");

    let item = decision(net.node(0).transcript(), Some(STRUCK), NOW);
    net.item(0, item);
    let took = net.until(seconds(1), |net| net.together(&[0, 1, 2]));
    assert!(took.is_some_and(|took| took <= 200), "at once: {took:?}\n{}", net.told());
    net.ms(seconds(3));
    let new = talk(&mut net, 0..STRUCK);
    assert!(new.len() > 20 && new.iter().all(|datagram| handle(datagram) != ring), "{}", new.len());
    (net, old, new)
}

#[test]
fn link_28_a_struck_node_that_keeps_its_keys_opens_and_makes_nothing_of_the_next_ring() {
    let (mut net, old, new) = strike(9_700, |who| who == STRUCK);
    for datagram in &new {
        assert_eq!(hear(&mut net, STRUCK, datagram), (0, 1));
    }
    // What it has, its own packets among it, it sends to the others.
    let delivered = net.delivered.len();
    for datagram in &old {
        (0..STRUCK).for_each(|who| assert_eq!(hear(&mut net, who, datagram), (0, 1)));
    }
    // It names their ring, under the keys of its own.
    for datagram in &old {
        let forged = Bytes::from([&datagram[..4], &handle(&new[0]), &datagram[8..]].concat());
        (0..STRUCK).for_each(|who| assert_eq!(hear(&mut net, who, &forged), (0, 0)));
    }
    net.ms(seconds(1));
    assert_eq!(net.delivered.len(), delivered);
    assert!(net.together(&[0, 1, 2]), "{}", net.told());
    // It has kept its keys: it opens what others sealed under them.
    let others = old.iter().filter(|datagram| sender(datagram) != STRUCK);
    others.for_each(|datagram| assert_eq!(hear(&mut net, STRUCK, datagram), (1, 0)));
}

/// If the others kept the keys as well, it would go on among them.
#[test]
fn link_30_without_the_rule_a_struck_node_is_heard() {
    let (mut net, old, _) = strike(9_701, |_| true);
    for datagram in old.iter().filter(|datagram| sender(datagram) == STRUCK) {
        (0..STRUCK).for_each(|who| assert_eq!(hear(&mut net, who, datagram), (1, 0)));
    }
}
