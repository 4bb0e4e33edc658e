//! Which wire version two nodes use, and what becomes of two that share none.

use crate::common::{Named, Net, config, node_of, opened, place};
use core::time::Duration;
use folkmoot_base::{Danger, DecodeError, Mutant};
use folkmoot_link::{Channel, Common, Config, LinkError, Output, Versions};
use std::collections::BTreeSet;

fn speaks(versions: &[u8], capabilities: u64) -> Config {
    Config { versions: Versions::of(versions), capabilities, ..config() }
}

/// Two members of one ring, each with its settings; the first dials.
fn meet(one: Config, other: Config) -> Net {
    let mut net = Net::new(0);
    let roster = || [node_of(1), node_of(2)].into();
    net.add(Named::new(1), one, roster());
    net.add(Named::new(2), other, roster());
    net.dial(0, 1);
    net.run_ms(6_000);
    net
}

fn common(net: &Net, who: usize) -> Vec<Common> {
    let up = |output: &Output| match output {
        Output::Up { common, .. } => Some(*common),
        _ => None,
    };
    net.parties[who].heard.iter().filter_map(up).collect()
}

#[test]
fn link_27_the_highest_common_version_seals_all_data() {
    let lists: [(&[u8], &[u8], u8); 4] =
        [(&[1], &[1], 1), (&[1, 2], &[1], 1), (&[1, 2, 3], &[2, 3, 9], 3), (&[64], &[1, 64], 64)];
    for (ours, theirs, version) in lists {
        for (one, other) in [(ours, theirs), (theirs, ours)] {
            let mut net = meet(speaks(one, 0b011), speaks(other, 0b110));
            let expected = vec![Common { version, capabilities: 0b010 }];
            assert_eq!((common(&net, 0), common(&net, 1)), (expected.clone(), expected));
            net.send(0, node_of(2), Channel::Ring, b"hello").unwrap();
            net.run_ms(50);
            assert_eq!(net.parties[1].frames().len(), 1);
            let data = net.log.iter().filter(|(_, _, bytes)| bytes[1] == 5);
            assert!(data.clone().count() > 2 && data.into_iter().all(|(_, _, bytes)| bytes[0] == version));
            let handshake = net.log.iter().filter(|(_, _, bytes)| bytes[1] != 5);
            assert!(handshake.into_iter().all(|(_, _, bytes)| bytes[0] == 1), "the same in all versions");
        }
    }
}

#[test]
fn link_27_without_a_common_version_both_are_told_both_lists() {
    let net = meet(speaks(&[1, 2], 0), speaks(&[3, 4], 0));
    let told = |who: usize, peer: u8, ours: &[u8], theirs: &[u8]| {
        let (ours, theirs) = (Versions::of(ours), Versions::of(theirs));
        let error = LinkError::PeerVersions { at: place(1 - who), peer: node_of(peer), ours, theirs };
        assert!(net.parties[who].errors.contains(&error), "{:?}", net.parties[who].errors);
        error.to_string()
    };
    assert!(told(0, 2, &[1, 2], &[3, 4]).contains("speaks wire versions 3, 4, and this node speaks 1, 2"));
    told(1, 1, &[3, 4], &[1, 2]);
    assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (0, 0));
    let unreached = |output: &Output| matches!(output, Output::Unreached { .. });
    assert_eq!(net.parties[0].heard.iter().filter(|output| unreached(output)).count(), 1);
    let empty = meet(speaks(&[0, 65], 0), speaks(&[1], 0));
    assert_eq!((empty.parties[0].ups(), empty.parties[1].ups()), (0, 0), "no version at all");
}

/// Somebody between the two cannot move data to another version, and a handshake has none.
#[test]
fn link_27_data_of_another_version_is_refused() {
    let mut net = meet(speaks(&[1, 2], 0), speaks(&[1, 2], 0));
    net.send(0, node_of(2), Channel::Ring, b"hello").unwrap();
    let (_, _, to, from, bytes) = net.wire.last().unwrap().clone();
    let mut other = bytes.to_vec();
    other[0] = 1;
    let refused = net.input(1, folkmoot_link::Input::Datagram { from: from.clone(), bytes: opened(other) });
    assert_eq!(refused, Err(LinkError::WireMalformed(from, DecodeError::Version(1))));
    assert!(to == place(1) && net.parties[1].frames().is_empty());
    net.run_ms(50);
    assert_eq!(net.parties[1].frames().len(), 1, "the genuine one opens");
}

/// A peer that seals under a version which was not agreed on.
#[test]
fn link_27_a_peer_that_seals_another_version_is_not_heard() {
    let liar = || Config { danger: Mutant::from(Some(Danger::LinkAnyVersion)), ..speaks(&[1, 2], 0) };
    let heard = |victim: Config| {
        let mut net = meet(liar(), victim);
        // It may not even be linked.
        let _ = net.send(0, node_of(2), Channel::Ring, b"in no version of ours");
        net.run_ms(50);
        net.parties[1].frames().len()
    };
    assert_eq!(heard(liar()), 1, "without the rule it is heard");
    assert_eq!(heard(speaks(&[1, 2], 0)), 0);
}

/// Nobody on the way can take a version away: if a byte of a sealed part of the handshake is
/// changed, no link comes up.
#[test]
fn link_27_nobody_on_the_way_takes_a_version_away() {
    const REPLY: u8 = 3;
    const FINISH: u8 = 4;
    for kind in [REPLY, FINISH] {
        let whole = meet(speaks(&[1, 2], 0), speaks(&[1, 2], 0));
        assert_eq!(whole.parties[0].ups(), 1);
        let long = whole.log.iter().filter(|(_, _, bytes)| bytes[1] == kind).map(|(_, _, bytes)| bytes.len());
        for at in (8..long.min().unwrap()).step_by(7) {
            assert_eq!(ups_with_changed(kind, at), (0, 0), "byte {at} of a datagram of kind {kind}");
        }
    }
}

/// How many links come up if this byte of all datagrams of this kind is changed on the way.
fn ups_with_changed(kind: u8, at: usize) -> (usize, usize) {
    let mut net = Net::new(2);
    net.dial(0, 1);
    let mut changed = BTreeSet::new();
    for _ in 0..500 {
        for (_, number, _, _, bytes) in &mut net.wire {
            if bytes[1] == kind && changed.insert(*number) {
                let mut other = bytes.to_vec();
                other[at] ^= 3;
                *bytes = other.into();
            }
        }
        net.run(Duration::from_micros(100));
    }
    assert!(!changed.is_empty());
    (net.parties[0].ups(), net.parties[1].ups())
}
