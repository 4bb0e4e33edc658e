//! LINK-42: datagrams that came together, against the same datagrams one by one.

use crate::common::{Net, config, node_of, opened, place};
use crate::ringkey::{change, install, keys, linked, multicast, packet};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{NodeId, Train};
use folkmoot_link::{Channel, Input, LinkError, RingKeyChange};

/// What the longest datagrams here have.
const BYTES: usize = 90;
/// The header of a packet, and what sealing adds.
const AROUND: usize = 10 + 18;

fn ring() -> Net {
    let mut net = linked(3, |_| config());
    (0..3).for_each(|who| install(&mut net, who, keys(7, 1, &[1, 2, 3])));
    net
}

/// Packets of the first node in ring 7, each a datagram of [`BYTES`].
fn packets(net: &mut Net, numbers: core::ops::RangeInclusive<u32>) -> Vec<Bytes> {
    let body = vec![b'x'; BYTES - AROUND];
    let made = numbers.map(|number| multicast(net, 0, &packet(0, 7, number, &body)).1.remove(0));
    let made: Vec<Bytes> = made.collect();
    net.wire.clear();
    assert!(made.iter().all(|datagram| datagram.len() == BYTES));
    made
}

fn train(datagrams: &[Bytes]) -> Train {
    let whole = datagrams.concat();
    let length = whole.len();
    Train::new(whole, length, BYTES)
}

/// One call: node 1 takes the front of a train.
fn take(net: &mut Net, train: &mut Train) -> Result<(), LinkError> {
    let now = net.now;
    let party = &mut net.parties[1];
    let done = party.links.train(now, &place(0), (train, false), &mut party.dice);
    net.drain(1);
    done
}

fn heard(net: &Net) -> Vec<(NodeId, Channel, Bytes)> {
    net.parties[1].frames()
}

#[test]
fn link_42_packets_that_came_together_are_opened_where_they_are() {
    let mut net = ring();
    let mut last = packets(&mut net, 1..=5);
    last.push(multicast(&mut net, 0, &packet(0, 7, 6, b"short")).1.remove(0));
    let before = net.parties[1].links.counters().opened;
    let mut train = train(&last);
    take(&mut net, &mut train).unwrap();
    assert!(train.is_empty());
    let frames = heard(&net);
    assert_eq!(frames.len(), 6);
    assert_eq!(frames[5], (node_of(1), Channel::Ring, packet(0, 7, 6, b"short")));
    let places = frames.iter().map(|(_, _, frame)| frame.as_ptr() as usize);
    let apart: Vec<usize> = places.clone().zip(places.skip(1)).map(|(one, next)| next - one).collect();
    assert_eq!(apart, [BYTES; 5], "they are where they came");
    assert_eq!(net.parties[1].links.counters().opened, before + 6);
}

/// Forged ones, repeated ones, probes, datagrams of a link and those of no ring, anywhere among
/// packets: each has the effect that it has alone.
#[test]
fn link_42_whatever_is_among_them_is_heard_as_if_it_came_alone() {
    for seed in 0..200_u64 {
        let mut dice = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = |most: usize| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice >> 33) as usize % most
        };
        let kinds: Vec<usize> = (0..1 + draw(12)).map(|_| draw(8)).collect();
        let places: Vec<usize> = kinds.iter().map(|_| draw(BYTES)).collect();
        let mut results = Vec::new();
        for together in [false, true] {
            let mut net = ring();
            let good = packets(&mut net, 1..=12);
            let list: Vec<Bytes> = kinds
                .iter()
                .zip(&places)
                .zip(&good)
                .map(|((kind, place), packet)| other(&mut net, *kind, *place, packet, &good[0]))
                .collect();
            let mut errors = Vec::new();
            if together {
                let mut train = train(&list);
                while !train.is_empty() {
                    let left = train.count();
                    errors.extend(take(&mut net, &mut train).err());
                    assert!(train.count() < left);
                }
            } else {
                for bytes in &list {
                    let datagram = Input::Datagram { from: place(0), bytes: opened(bytes) };
                    errors.extend(net.input(1, datagram).err());
                }
            }
            let counters = net.parties[1].links.counters();
            results.push((heard(&net), errors, counters.opened, counters.replayed, counters.refused));
        }
        assert_eq!(results[0], results[1], "seed {seed}: {kinds:?}");
    }
}

/// A packet, or something else of the same length.
fn other(net: &mut Net, kind: usize, at: usize, packet: &Bytes, first: &Bytes) -> Bytes {
    let mut bytes = BytesMut::from(&packet[..]);
    match kind {
        0 => bytes[at] ^= 1,
        1 => return first.clone(),
        2 => bytes[2] = 0xaf, // The class of a probe; nobody sealed it as one.
        3 => bytes[4..8].fill(9),
        4 => {
            // A frame of the link itself.
            net.send(0, node_of(2), Channel::Transcript, &[7; BYTES - 33]).unwrap();
            let (_, _, sealed) = net.log.last().unwrap().clone();
            net.wire.clear();
            assert_eq!(sealed.len(), BYTES);
            return sealed;
        }
        _ => {}
    }
    bytes.freeze()
}

/// What a packet says may be what the next one's key needs: a COMMIT, for example.
#[test]
fn link_42_the_key_of_a_later_one_may_come_with_an_earlier_one() {
    let mut net = ring();
    let mut both = packets(&mut net, 1..=2);
    install(&mut net, 0, keys(8, 2, &[1, 2, 3]));
    let body = vec![b'y'; BYTES - AROUND];
    both.push(multicast(&mut net, 0, &packet(0, 8, 1, &body)).1.remove(0));
    let mut train = train(&both);
    take(&mut net, &mut train).unwrap();
    assert_eq!((heard(&net).len(), train.count()), (2, 1));
    change(&mut net, 1, RingKeyChange::Attempt(keys(8, 2, &[1, 2, 3])));
    take(&mut net, &mut train).unwrap();
    assert_eq!(heard(&net)[2], (node_of(1), Channel::Ring, packet(0, 8, 1, &body)));
    // Whoever has not got it says so, and goes on.
    let mut late = self::train(&[both.remove(2), both.remove(0)]);
    install(&mut net, 1, keys(9, 3, &[1, 2, 3]));
    install(&mut net, 1, keys(9, 3, &[1, 2, 3]));
    assert_eq!(take(&mut net, &mut late), Err(LinkError::WireOtherRing(place(0))));
    assert_eq!(late.count(), 1);
}
