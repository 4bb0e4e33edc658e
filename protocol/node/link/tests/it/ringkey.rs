//! LINK-28 to LINK-30: packets under the ring key. Liars among them: whoever changes, forges or
//! repeats, and whoever has only other keys.

use crate::common::{Named, Net, Party, config, node_of, opened, place};
use bytes::{BufMut, Bytes, BytesMut};
use folkmoot_base::{Danger, DecodeError, Mutant, NodeId, Secret, digest};
use folkmoot_link::message::Datagram;
use folkmoot_link::{
    Channel, Config, DownCause, Input, LinkError, Numbered, Output, RingHeader, RingKeyChange, RingKeys,
};
use std::collections::BTreeSet;

const DATA: u8 = 5;
const RING: u8 = 8;
/// Most rings whose keys are kept.
const RINGS_MAX: usize = 2;

/// The keys of the ring with this handle; members are the nodes with these names, in their order.
pub(crate) fn keys(ring: u8, secret: u8, names: &[u8]) -> RingKeys {
    let key = |name: &u8| (node_of(*name), Secret::new(digest(&[&[ring, secret, *name]])));
    RingKeys { ring: [ring; 4], senders: names.iter().map(key).collect() }
}

pub(crate) fn packet(sender: u8, ring: u8, number: u32, body: &[u8]) -> Bytes {
    let mut out = BytesMut::new();
    out.put_slice(&[0xa0, sender, ring, ring, ring, ring]);
    out.put_u32(number);
    out.put_slice(body);
    out.freeze()
}

/// Nodes with links to one another, and no keys yet.
pub(crate) fn linked(count: u8, config: impl Fn(u8) -> Config) -> Net {
    let mut net = Net::new(0);
    for name in 1..=count {
        net.add(Named::new(name), config(name), (1..=count).map(node_of).collect());
    }
    for from in 0..usize::from(count) {
        for to in 0..from {
            net.dial(from, to);
        }
        net.run_ms(20);
    }
    net
}

pub(crate) fn change(net: &mut Net, who: usize, change: RingKeyChange) {
    net.input(who, Input::RingKey(change)).unwrap();
}

pub(crate) fn install(net: &mut Net, who: usize, keys: RingKeys) {
    change(net, who, RingKeyChange::Attempt(keys));
    change(net, who, RingKeyChange::Installed);
}

/// Three nodes in ring 7.
fn ring() -> Net {
    let mut net = linked(3, |_| config());
    (0..3).for_each(|who| install(&mut net, who, keys(7, 1, &[1, 2, 3])));
    net
}

/// Node `who` hands a packet out for all others. Returns its number if it was sealed under the ring
/// key, and the datagrams that went out.
pub(crate) fn multicast(net: &mut Net, who: usize, packet: &[u8]) -> (Option<Numbered>, Vec<Bytes>) {
    let to: Vec<NodeId> =
        (0..net.parties.len()).filter(|i| *i != who).map(|i| node_of(i as u8 + 1)).collect();
    let before = net.log.len();
    let numbered = net.parties[who].links.multicast(net.now, &to, packet);
    net.drain(who);
    (numbered, net.log[before..].iter().map(|(_, _, bytes)| bytes.clone()).collect())
}

/// Gives node `who` these bytes as if they came from the place of `from`.
fn gives(net: &mut Net, who: usize, from: usize, bytes: impl AsRef<[u8]>) -> Result<(), LinkError> {
    net.input(who, Input::Datagram { from: place(from), bytes: opened(bytes) })
}

/// How many rings' keys a node has.
fn kept(party: &Party) -> usize {
    format!("{:?}", party.links).matches("RingSeal(").count()
}

fn heard(net: &Net, who: usize) -> Vec<(NodeId, Channel, Bytes)> {
    net.parties[who].frames()
}

#[test]
fn link_28_a_packet_is_sealed_once_and_each_opens_the_same_bytes() {
    let mut net = ring();
    let sealed = net.parties[0].links.counters().sealed;
    let said = packet(0, 7, 1, b"one for all");
    let (numbered, out) = multicast(&mut net, 0, &said);
    assert_eq!(numbered.unwrap().nonce, [0, 0, 0, 0, 0, 0, 0, 0xa0, 0, 0, 0, 1]);
    assert_eq!(out.len(), 2);
    assert_eq!(out[0], out[1]);
    assert_eq!(out[0].as_ptr(), out[1].as_ptr(), "the same memory, not a copy");
    assert_eq!(&out[0][..12], [&[1, RING][..], &said[..10]].concat());
    assert_eq!(out[0].len(), said.len() + 18);
    assert_eq!(net.parties[0].links.counters().sealed, sealed + 1);
    net.run_ms(5);
    for who in [1, 2] {
        assert_eq!(heard(&net, who), [(node_of(1), Channel::Ring, said.clone())]);
    }
    assert_eq!(
        Datagram::decode(&out[0]),
        Ok(Datagram::Ring(RingHeader { class: 0xa0, sender: 0, ring: [7; 4], number: 1 }))
    );
}

/// Somebody who sees every datagram and has no key.
#[test]
fn link_28_an_outsider_changes_cuts_and_forges_in_vain() {
    let mut net = ring();
    let (_, out) = multicast(&mut net, 0, &packet(0, 7, 1, b"a message of some length"));
    net.wire.clear();
    for at in 0..out[0].len() {
        for mask in [1, 0x80, 0xff] {
            let mut bytes = out[0].to_vec();
            bytes[at] ^= mask;
            assert!(gives(&mut net, 1, 0, &bytes).is_err(), "byte {at} ^ {mask}");
        }
        assert!(gives(&mut net, 1, 0, &out[0][..at]).is_err(), "cut at {at}");
    }
    let long = [&out[0][..], &[0]].concat();
    assert_eq!(gives(&mut net, 1, 0, long), Err(LinkError::WireForged(place(0))));
    let mut invented = vec![1, RING];
    invented.extend_from_slice(&packet(0, 7, 2, &[0; 40]));
    assert_eq!(gives(&mut net, 1, 0, invented), Err(LinkError::WireForged(place(0))));
    let mut other = out[0].to_vec();
    other[0] = 2;
    let version = LinkError::WireMalformed(place(0), DecodeError::Version(2));
    assert_eq!(gives(&mut net, 1, 0, other), Err(version));
    assert!(heard(&net, 1).is_empty());
    gives(&mut net, 1, 0, &out[0]).unwrap();
    assert_eq!(heard(&net, 1).len(), 1, "the genuine one opens");
}

/// What comes again is for the ring to drop, which knows what it has. It comes from anywhere, so it
/// says nothing of a link.
#[test]
fn link_28_a_repeated_packet_keeps_no_link_up_and_moves_nobody() {
    let mut net = ring();
    let (_, out) = multicast(&mut net, 0, &packet(0, 7, 1, b"word"));
    net.run_ms(5);
    let at = net.parties[1].links.locator(&node_of(1));
    for who in 0..3 {
        net.cut.extend((0..3).map(|other| (place(who), place(other))));
    }
    for _ in 0..20 {
        gives(&mut net, 1, 9, &out[0]).unwrap();
        assert!(net.parties[1].links.locator(&node_of(1)).is_none_or(|now| Some(now) == at));
        net.run_ms(100);
    }
    let down = Output::Down { node: node_of(1), cause: DownCause::Silent };
    assert!(net.parties[1].heard.contains(&down));
    assert_eq!(heard(&net, 1).iter().filter(|(_, _, frame)| frame.ends_with(b"word")).count(), 21);
}

/// Nor does a packet that goes out count as said on a link: whoever only multicasts is pinged, and
/// pings.
#[test]
fn link_28_whoever_only_multicasts_stays_linked() {
    let mut net = ring();
    for number in 1..200 {
        multicast(&mut net, 0, &packet(0, 7, number, b"word"));
        net.run_ms(50);
    }
    assert!(net.parties.iter().all(|party| party.downs() == 0));
}

/// A packet of ours that comes back opens nowhere here.
#[test]
fn link_28_our_own_packet_is_not_taken() {
    let mut net = ring();
    let (_, out) = multicast(&mut net, 0, &packet(0, 7, 1, b"word"));
    assert_eq!(gives(&mut net, 0, 1, &out[0]), Err(LinkError::WireForged(place(1))));
}

/// Node 3 has the keys of an older ring, those of an attempt that failed, and (because it lies)
/// takes them for those of the ring that the others have installed.
#[test]
fn link_28_whoever_has_only_other_keys_opens_nothing() {
    for (secret, named) in [(2, 7), (1, 8)] {
        let mut net = linked(3, |_| config());
        (0..2).for_each(|who| install(&mut net, who, keys(7, 1, &[1, 2, 3])));
        let mut theirs = keys(named, secret, &[1, 2, 3]);
        theirs.ring = [7; 4];
        install(&mut net, 2, theirs);
        let (_, out) = multicast(&mut net, 0, &packet(0, 7, 1, b"not for 3"));
        assert_eq!(gives(&mut net, 2, 0, &out[0]), Err(LinkError::WireForged(place(0))));
        let (_, forged) = multicast(&mut net, 2, &packet(2, 7, 1, b"of 3"));
        assert_eq!(gives(&mut net, 1, 2, &forged[0]), Err(LinkError::WireForged(place(2))));
        net.run_ms(5);
        assert!(heard(&net, 2).is_empty());
        assert!(heard(&net, 1).iter().all(|(from, _, _)| *from == node_of(1)));
    }
}

/// A node that is struck from the roster gets nothing any more, and the next ring has no key for
/// it.
#[test]
fn link_28_a_node_that_is_struck_gets_nothing_and_is_not_heard() {
    let mut net = ring();
    for who in [0, 1] {
        net.input(who, Input::Standing { node: node_of(3), member: false }).unwrap();
    }
    let (_, out) = multicast(&mut net, 0, &packet(0, 7, 1, b"word"));
    assert_eq!(out.len(), 1, "to node 2 alone");
    for who in [0, 1] {
        install(&mut net, who, keys(9, 3, &[1, 2]));
    }
    let (_, out) = multicast(&mut net, 0, &packet(0, 9, 1, b"later"));
    assert_eq!(gives(&mut net, 2, 0, &out[0]), Err(LinkError::WireOtherRing(place(0))));
    let (_, stale) = multicast(&mut net, 2, &packet(2, 7, 1, b"of the struck one"));
    assert_eq!(gives(&mut net, 0, 2, &stale[0]), Err(LinkError::WireOtherRing(place(2))));
    assert_eq!(net.parties[0].links.counters().other_ring, 1);
}

/// A member that still recovers opens what those who have installed the ring seal.
#[test]
fn link_28_an_attempts_packets_open_before_it_is_installed_here() {
    let mut net = ring();
    install(&mut net, 0, keys(8, 2, &[1, 2, 3]));
    change(&mut net, 1, RingKeyChange::Attempt(keys(8, 2, &[1, 2, 3])));
    let (new, _) = multicast(&mut net, 0, &packet(0, 8, 1, b"new ring"));
    let (own, _) = multicast(&mut net, 1, &packet(1, 8, 1, b"too early"));
    assert!(new.is_some() && own.is_none(), "who recovers seals nothing under the key");
    let (old, _) = multicast(&mut net, 2, &packet(2, 7, 1, b"old ring"));
    assert!(old.is_some());
    net.run_ms(5);
    let frames: BTreeSet<Bytes> = heard(&net, 1).into_iter().map(|(_, _, frame)| frame.slice(10..)).collect();
    assert_eq!(frames, [&b"new ring"[..], b"old ring"].map(Bytes::from_static).into());
}

/// The token goes before the packets that follow it.
#[test]
fn link_28_what_was_handed_in_before_goes_first() {
    let mut net = ring();
    let to = [node_of(2), node_of(3)];
    let links = &mut net.parties[0].links;
    links.multicast(net.now, &to, &packet(0, 7, 1, b"first"));
    links.send(net.now, node_of(2), Channel::Ring, &[b"token"]).unwrap();
    links.multicast(net.now, &to, &packet(0, 7, 2, b"second"));
    let before = net.log.len();
    net.drain(0);
    let kinds: Vec<u8> = net.log[before..].iter().map(|(_, _, bytes)| bytes[1]).collect();
    assert_eq!(kinds, [RING, RING, DATA, RING, RING]);
}

/// The ring key is for a number of our own that is new. All else goes under the keys of the links.
#[test]
fn link_29_a_number_is_sealed_once() {
    let mut net = ring();
    let first = packet(0, 7, 5, b"first");
    assert!(multicast(&mut net, 0, &first).0.is_some());
    for again in [first, packet(0, 7, 5, b"other"), packet(0, 7, 4, b"lower"), packet(1, 7, 6, b"theirs")] {
        let (numbered, out) = multicast(&mut net, 0, &again);
        assert!(numbered.is_none() && out.iter().all(|bytes| bytes[1] == DATA), "{again:?}");
    }
    assert!(multicast(&mut net, 0, &packet(0, 8, 6, b"other ring")).0.is_none());
    assert!(multicast(&mut net, 0, b"short").0.is_none());
    let safe = [&[0xa1][..], &packet(0, 7, 5, b"another class")[1..]].concat();
    assert!(multicast(&mut net, 0, &safe).0.is_some());
    assert!(multicast(&mut net, 0, &packet(0, 7, 6, b"next")).0.is_some());
    net.run_ms(5);
    assert_eq!(heard(&net, 1).len(), 9, "all come, under whatever key");
}

#[test]
fn link_29_without_the_rule_a_number_is_sealed_twice() {
    let danger = Mutant::from(Some(Danger::RingSealsRepeats));
    let mut net = linked(3, |_| Config { danger, ..config() });
    (0..3).for_each(|who| install(&mut net, who, keys(7, 1, &[1, 2, 3])));
    let one = multicast(&mut net, 0, &packet(0, 7, 1, b"one")).0.unwrap();
    let two = multicast(&mut net, 0, &packet(0, 7, 1, b"two")).0.unwrap();
    let theirs = multicast(&mut net, 1, &packet(0, 7, 1, b"one")).0.unwrap();
    assert!(one == two && one == theirs, "a checker sees it");
}

/// Without a key of the ring, in a ring of two for example, a packet goes as any frame does.
#[test]
fn link_29_without_a_ring_key_packets_go_over_the_links() {
    let mut net = linked(2, |_| config());
    (0..2).for_each(|who| install(&mut net, who, keys(7, 1, &[])));
    let said = packet(0, 7, 1, b"word");
    let (numbered, out) = multicast(&mut net, 0, &said);
    assert!(numbered.is_none() && out.len() == 1 && out[0][1] == DATA);
    net.run_ms(5);
    assert_eq!(heard(&net, 1), [(node_of(1), Channel::Ring, said)]);
    // Nor are keys taken among which we are not.
    install(&mut net, 0, keys(7, 1, &[2, 3, 4]));
    assert_eq!(kept(&net.parties[0]), 0);
}

/// Node 2, then with the mutant: late packets of the ring before.
#[test]
fn link_30_keys_end_with_their_ring() {
    for danger in [Mutant::NONE, Mutant::from(Some(Danger::LinkKeepsRingKey))] {
        let mut net =
            linked(3, |name| Config { danger: if name == 2 { danger } else { Mutant::NONE }, ..config() });
        (0..3).for_each(|who| install(&mut net, who, keys(7, 1, &[1, 2, 3])));
        let (_, late) = multicast(&mut net, 0, &packet(0, 7, 1, b"late"));
        let (_, later) = multicast(&mut net, 0, &packet(0, 7, 2, b"later"));
        net.wire.clear();
        // While the next ring is agreed on, its packets count.
        change(&mut net, 1, RingKeyChange::Attempt(keys(8, 2, &[1, 2, 3])));
        gives(&mut net, 1, 0, &late[0]).unwrap();
        change(&mut net, 1, RingKeyChange::Installed);
        let taken = gives(&mut net, 1, 0, &later[0]);
        if danger == Mutant::NONE {
            assert_eq!(taken, Err(LinkError::WireOtherRing(place(0))));
            assert_eq!(kept(&net.parties[1]), 1);
        } else {
            assert_eq!(taken, Ok(()), "without the rule the old key opens");
        }
    }
}

/// Attempts come and fail: their keys go, and there are never more than two rings' keys.
#[test]
fn link_30_keys_of_attempts_that_fail_are_erased_and_few() {
    let mut net = ring();
    for attempt in 10..60_u8 {
        let them = keys(attempt, 4, &[1, 2, 3]);
        change(&mut net, 0, RingKeyChange::Attempt(them.clone()));
        install(&mut net, 1, them);
        assert!(net.parties.iter().all(|party| kept(party) <= RINGS_MAX));
        let (_, out) = multicast(&mut net, 1, &packet(1, attempt, 1, b"word"));
        net.wire.clear();
        gives(&mut net, 0, 1, &out[0]).unwrap();
        if attempt % 2 == 0 {
            change(&mut net, 0, RingKeyChange::Failed);
            assert_eq!(kept(&net.parties[0]), 1);
            assert_eq!(gives(&mut net, 0, 1, &out[0]), Err(LinkError::WireOtherRing(place(1))));
        }
    }
    let (still, _) = multicast(&mut net, 0, &packet(0, 7, 1, b"the ring that is installed here"));
    assert!(still.is_some());
}
