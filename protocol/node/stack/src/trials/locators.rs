//! Locators that peers and the disk name: which are refused, kept, told and dialled.

use super::{Counting, Node, NodeId, OTHER, link, node, node_with, refusal};
use crate::message::{Place, Sync};
use attach::{Ground, GroundOutput};
use base::{Instant, Locator, StoreKey, codec};
use bytes::Bytes;
use folkmoot_attach as attach;
use folkmoot_base as base;

/// As long as a locator may be, and of a transport that this release does not have.
fn unknown() -> String {
    format!("tor+tcp.v3-x/{}:80/a,b?c#d", "o".repeat(base::limits::LOCATOR_BYTES_MAX - 24))
}

fn says(who: NodeId, at: &str) -> Vec<u8> {
    codec::encode(&Sync::Locators(vec![Place { node: who, at: at.as_bytes().to_vec().into() }]))
}

/// The locators that the node dials when its look-up is due.
fn dialled(node: &mut Node) -> Vec<Locator> {
    dialled_at(node, 2_000_000)
}

fn dialled_at(node: &mut Node, now: u64) -> Vec<Locator> {
    node.timeout(Instant(now), &mut Counting(5));
    let said = std::iter::from_fn(|| node.poll_output());
    let to = said.filter_map(|output| match output {
        GroundOutput::Transmit(to, _) => Some(to),
        _ => None,
    });
    to.collect()
}

/// The locators that the node wants on disk.
fn kept(node: &mut Node) -> Vec<(StoreKey, Bytes)> {
    let said = std::iter::from_fn(|| node.poll_output());
    let rows = said.filter_map(|output| match output {
        GroundOutput::Persist(row) if row.key.table == "locator" => Some((row.key, row.value?)),
        _ => None,
    });
    rows.collect()
}

#[test]
fn node_04_a_guests_word_of_a_place_counts_only_where_there_is_no_other() {
    let (mut node, ben) = node();
    let (guest, stranger) = (NodeId([7; 32]), NodeId([8; 32]));
    node.transcript_frame(Instant(1), guest, &says(stranger, "memory/9"));
    assert!(dialled(&mut node).is_empty(), "nobody here has to find a stranger");
    node.transcript_frame(Instant(1), guest, &says(ben.node(), "memory/2"));
    node.transcript_frame(Instant(1), guest, &says(ben.node(), "memory/3"));
    assert_eq!(dialled(&mut node), [Locator::memory(2)], "the first word, as long as it may be true");
    assert!(kept(&mut node).is_empty(), "and not on disk");
    node.transcript_frame(Instant(1), ben.node(), &says(ben.node(), "memory/4"));
    assert_eq!(kept(&mut node).len(), 1, "a member's word replaces it");
    assert!(dialled(&mut node).contains(&Locator::memory(4)));
    node.transcript_frame(Instant(1), guest, &says(ben.node(), "memory/5"));
    assert!(!dialled(&mut node).contains(&Locator::memory(5)));
}

/// An insider tells of two places of an absent node in turn, a hundred times a second.
#[test]
fn node_40_whoever_tells_of_two_places_in_turn_costs_less_and_less() {
    let (mut node, ben) = node();
    let second = 1_000_000;
    let (mut writes, mut dials) = (Vec::new(), 0);
    for tenth in 0..6_000_u64 {
        let now = tenth * second / 10;
        for at in ["memory/4", "memory/5"] {
            node.transcript_frame(Instant(now), ben.node(), &says(ben.node(), at));
            node.timeout(Instant(now), &mut Counting(5));
            while let Some(output) = node.poll_output() {
                match output {
                    GroundOutput::Persist(row) if row.key.table == "locator" => writes.push(tenth),
                    GroundOutput::Transmit(..) => dials += 1,
                    _ => {}
                }
            }
        }
    }
    let late = writes.iter().filter(|tenth| **tenth >= 3_000).count();
    assert!(writes.len() < 40 && late < 20, "{} writes, {late} of them late", writes.len());
    assert!(dials < 1_500, "{dials}");
    // It is found all the same where it is, when somebody says so and the time has come.
    node.transcript_frame(Instant(700 * second), ben.node(), &says(ben.node(), "memory/6"));
    assert!(dialled_at(&mut node, 701 * second).contains(&Locator::memory(6)));
}

#[test]
fn node_05_what_is_no_locator_drops_nothing_behind_it() {
    let (mut node, ben) = node();
    let place = |at: &str| Place { node: ben.node(), at: at.as_bytes().to_vec().into() };
    let bytes = codec::encode(&Sync::Locators(vec![place("nowhere"), place("memory/4")]));
    node.transcript_frame(Instant(1), ben.node(), &bytes);
    assert_eq!(dialled(&mut node), [Locator::memory(4)]);
}

#[test]
fn node_05_what_is_no_locator_is_refused() {
    let (mut node, ben) = node();
    for at in [
        "carrier pigeon",
        "",
        "memory",
        "memory/x",
        "UDP/192.0.2.7:1",
        "udp/host.example:1",
        "x/\u{7f}",
        "udp/0.0.0.0:4803",
        "udp/[::]:4803",
        "udp/[::ffff:0.0.0.0]:4803",
        "udp/192.0.2.7:0",
        &format!("{}x", unknown()),
    ] {
        let refused = refusal(&mut node, ben.node(), &says(ben.node(), at));
        assert!(refused.is_some_and(|why| why.contains("NODE-05")), "{at}");
        assert!(node.reach.who(&Locator::memory(1)).is_none() && kept(&mut node).is_empty());
    }
    for at in ["memory/2", "udp/192.0.2.7:1", &unknown()] {
        assert_eq!(refusal(&mut node, ben.node(), &says(ben.node(), at)), None, "{at}");
    }
}

/// What the disk holds where `who` was last found.
fn on_disk(who: NodeId, at: &str) -> (StoreKey, Bytes) {
    let key = who.0.to_vec().into();
    (StoreKey { table: "locator", key }, at.as_bytes().to_vec().into())
}

#[test]
fn node_20_what_leads_nowhere_is_neither_dialled_nor_kept_nor_told() {
    let (ben, here) = (node().1.node(), "udp/192.0.2.9:4803");
    let own: Locator = "udp/0.0.0.0:4804".parse().unwrap();
    for nowhere in ["udp/0.0.0.0:4803", "udp/[::]:4803", "udp/192.0.2.7:0", "udp/[::ffff:0.0.0.0]:1"] {
        let (at, seed): (Locator, Locator) = (nowhere.parse().unwrap(), here.parse().unwrap());
        let stored = [on_disk(ben, nowhere)];
        let (mut node, _) = node_with(&[], own.clone(), &[at.clone(), seed.clone()], &stored);
        assert_eq!(
            (dialled(&mut node), node.reach.place_of(&ben, &OTHER, &node.peers)),
            (vec![seed], None),
            "{nowhere}"
        );
        for at in [&at, &"udp/192.0.2.8:4803".parse().unwrap()] {
            node.dial(Instant(3_000_000), at.clone(), &mut Counting(6));
        }
        let later = dialled_at(&mut node, 4_000_000);
        assert!(later.len() > 1 && later.iter().all(Locator::leads_somewhere), "{later:?}");
        link(&mut node, ben, &at);
        node.reached(Instant(3_000_000), ben, &at);
        assert_eq!(
            (kept(&mut node), node.reach.place_of(&ben, &OTHER, &node.peers)),
            (vec![], None),
            "{nowhere}"
        );
    }
    let (mut node, _) = node_with(&[], "udp/0.0.0.0:4803".parse().unwrap(), &[], &[on_disk(ben, here)]);
    assert_eq!(dialled(&mut node), [here.parse().unwrap()]);
    assert_eq!(node.reach.place_of(&ben, &OTHER, &node.peers).unwrap().at.0, here);
}

/// Of `fe80::2` in zone 3: whoever is heard there knows the link by another number, or by none.
#[test]
fn node_42_an_address_of_one_link_is_told_and_believed_on_that_link_alone() {
    let own: Locator = "udp/[::]:4803".parse().unwrap();
    let (mut node, ben) = node_with(&[], own, &[], &[on_disk(node().1.node(), "udp/[fe80::2%3]:1")]);
    let (ben, guest) = (ben.node(), NodeId([7; 32]));
    let at = |text: &str| text.parse::<Locator>().unwrap();
    for (heard, told) in [
        ("udp/[fe80::9%3]:1", Some("udp/[fe80::2]:1")),
        ("udp/[fe80::9%4]:1", None),
        ("udp/192.0.2.9:1", None),
    ] {
        link(&mut node, guest, &at(heard));
        let place = node.reach.place_of(&ben, &guest, &node.peers);
        assert_eq!(place.as_ref().map(|place| &place.at.0[..]), told.map(str::as_bytes), "{heard}");
        assert_eq!(node.reach.places_for(&guest, &node.peers), Vec::from_iter(place), "{heard}");
    }
    for (heard, believed) in [("udp/[fe80::9%4]:1", true), ("udp/192.0.2.9:1", false)] {
        let (mut node, _) = node_with(&[], at("udp/[::]:4803"), &[], &[]);
        link(&mut node, guest, &at(heard));
        node.transcript_frame(Instant(1), guest, &says(ben, "udp/[fe80::2%9]:1"));
        let looked = dialled(&mut node).contains(&at("udp/[fe80::2%4]:1"));
        assert_eq!(looked, believed, "{heard}");
    }
}

#[test]
fn node_21_what_has_another_transport_is_kept_and_told_and_not_dialled() {
    let contacts = ["quic/host.example:443", "udp/192.0.2.7:4803"];
    let (mut node, ben) = node_with(&contacts, Locator::memory(1), &[], &[]);
    let (ben, unknown) = (ben.node(), unknown());
    assert_eq!(refusal(&mut node, ben, &says(ben, &unknown)), None);
    let told = node.reach.place_of(&ben, &OTHER, &node.peers).unwrap();
    assert_eq!(told.at.0, unknown, "to the byte");
    assert_eq!(dialled(&mut node), [], "nor the contacts");
    let (mut node, _) = node_with(&contacts, Locator::memory(1), &[], &[on_disk(ben, &unknown)]);
    assert_eq!((node.reach.place_of(&ben, &OTHER, &node.peers), dialled(&mut node)), (Some(told), vec![]));
    node.transcript_frame(Instant(2), ben, &says(ben, "memory/2"));
    assert_eq!(kept(&mut node), [on_disk(ben, "memory/2")], "what can be dialled takes its place");
    node.timeout(Instant(4_000_000), &mut Counting(7));
    node.transcript_frame(Instant(4_000_000), ben, &says(ben, &unknown));
    assert_eq!(kept(&mut node), [], "never the other way");
    let udp = "udp/192.0.2.1:4803".parse().unwrap();
    let (mut node, _) = node_with(&contacts, udp, &[Locator::memory(3)], &[]);
    assert!(dialled(&mut node).iter().all(|at| at.to_string() == contacts[1]));
}
