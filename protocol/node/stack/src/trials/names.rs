//! Host names at which somebody is looked for: which are asked for, when, and what is dialled.

use super::{Counting, Node, NodeId, OTHER, identity, link, node_with};
use crate::message::{Place, Sync};
use crate::{ADDRESSES_MAX, Config};
use attach::{Ground, GroundOutput, Resolved};
use base::{Danger, HostName, Instant, Locator, StoreKey, codec};
use folkmoot_attach as attach;
use folkmoot_base as base;

const ANNA: &str = "dns/anna.example.org:4803";

fn at(text: &str) -> Locator {
    text.parse().unwrap()
}

/// What the node asks for, and what it dials.
fn said(node: &mut Node) -> (Vec<String>, Vec<Locator>) {
    let (mut asks, mut dials) = (Vec::new(), Vec::new());
    while let Some(output) = node.poll_output() {
        match output {
            GroundOutput::Resolve(name) => asks.push(name.to_string()),
            GroundOutput::Transmit(to, _) if !dials.contains(&to) => dials.push(to),
            _ => {}
        }
    }
    (asks, dials)
}

/// The same in the round that is due at this time.
fn round(node: &mut Node, ms: u64) -> (Vec<String>, Vec<Locator>) {
    said(node);
    node.timeout(Instant(ms * 1_000), &mut Counting(5));
    said(node)
}

fn answer(node: &mut Node, ms: u64, name: &str, found: Resolved) -> Vec<Locator> {
    node.resolved(Instant(ms * 1_000), &at(name), found, &mut Counting(6));
    let (asks, dials) = said(node);
    assert!(asks.is_empty(), "{asks:?}");
    dials
}

/// At what times, in milliseconds, the node asks for anything while it runs until then.
fn asks_until(node: &mut Node, from: u64, until: u64) -> Vec<u64> {
    (from..until).step_by(50).filter(|ms| !round(node, *ms).0.is_empty()).collect()
}

#[test]
fn node_37_a_name_is_asked_for_and_asked_for_again_while_nobody_answers_there() {
    let (mut node, ben) = node_with(&[], Locator::memory(1), &[at(ANNA)], &[]);
    assert_eq!(round(&mut node, 1), (vec![ANNA.to_owned()], vec![]), "at once");
    assert_eq!(node.names()[0].places, []);
    let dials = answer(&mut node, 2, ANNA, Ok(vec![at("memory/7"), at("memory/8"), at("memory/7")]));
    assert_eq!(dials, [at("memory/7"), at("memory/8")], "each once, at once");
    let times = asks_until(&mut node, 50, 200_000);
    let pauses: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!((1_500..4_500).contains(&times[0]), "{times:?}");
    assert!(pauses.windows(2).all(|pair| pair[1] + 1_500 > pair[0]), "longer each time: {pauses:?}");
    assert!(pauses.iter().all(|pause| *pause < 33_000) && times.len() > 6, "{pauses:?}");
    // The same answer in another order changes nothing, another is dialled at once, and asked for again soon.
    assert_eq!(answer(&mut node, 200_000, ANNA, Ok(vec![at("memory/8"), at("memory/7")])), []);
    assert_eq!(answer(&mut node, 200_001, ANNA, Ok(vec![at("memory/9")])), [at("memory/9")]);
    assert!(asks_until(&mut node, 200_050, 205_000)[0] < 204_500);
    // Why there is none is told; what was known before stays.
    assert_eq!(answer(&mut node, 205_000, ANNA, Err("the name does not exist".into())), []);
    let named = &node.names()[0];
    assert_eq!(
        (named.places.clone(), named.why.as_deref()),
        (vec![at("memory/9")], Some("the name does not exist"))
    );
    // While somebody answers there, nobody is asked; then at once.
    link(&mut node, ben.node(), &at("memory/9"));
    assert_eq!(asks_until(&mut node, 205_050, 300_000), [0_u64; 0]);
    node.peers.down(&ben.node());
    assert!(asks_until(&mut node, 300_000, 302_500).len() == 1);
}

#[test]
fn node_37_names_among_the_contacts_are_asked_for_only_while_nobody_of_the_group_is_linked() {
    let contacts = [ANNA, "memory/9", "dns/Other.Spelling:1", "dns/192.0.2.300:1"];
    let (mut node, ben) = node_with(&contacts, Locator::memory(1), &[], &[]);
    let (asks, dials) = round(&mut node, 1);
    assert_eq!(
        (asks, dials),
        (vec![ANNA.to_owned()], vec![at("memory/9")]),
        "what is no name is passed over"
    );
    link(&mut node, ben.node(), &at("memory/5"));
    assert_eq!(asks_until(&mut node, 50, 60_000), [0_u64; 0]);
}

/// Whoever rules over the name of a contact can send this node's Hellos to a few places, and no
/// more.
#[test]
fn node_38_of_the_addresses_of_a_name_few_are_dialled_and_none_that_leads_to_nobody_or_to_many() {
    let own = at("udp/0.0.0.0:4803");
    let (mut node, _) = node_with(&[], own.clone(), &[at(ANNA)], &[]);
    assert_eq!(round(&mut node, 1).0, [ANNA]);
    let bad = [
        "udp/0.0.0.0:4803",
        "udp/[::]:4803",
        "udp/192.0.2.7:0",
        "udp/224.0.0.1:4803",
        "udp/[ff02::1]:4803",
        "udp/255.255.255.255:4803",
        "memory/1",
        "dns/other.example.org:4803",
        "tcp/192.0.2.7:4803",
    ];
    let liar: Vec<Locator> = bad
        .iter()
        .map(|text| at(text))
        .chain((1..=40).map(|host| at(&format!("udp/192.0.2.{host}:4803"))))
        .collect();
    let dials = answer(&mut node, 2, ANNA, Ok(liar));
    let wanted: Vec<Locator> = (1..=8).map(|host| at(&format!("udp/192.0.2.{host}:4803"))).collect();
    assert_eq!((&dials, wanted.len()), (&wanted, ADDRESSES_MAX));
    let nobody = bad.iter().map(|text| at(text)).collect();
    assert_eq!(answer(&mut node, 3, ANNA, Ok(nobody)), []);
    assert!(
        node.names()[0]
            .why
            .as_deref()
            .is_some_and(|why| why.contains("no address that this member can dial"))
    );
    assert_eq!(answer(&mut node, 4, "dns/other.example.org:4803", Ok(vec![at("udp/192.0.2.99:4803")])), []);
    assert_eq!(node.names().len(), 1, "nobody asked for that one");
    node.dial(Instant(5_000), own, &mut Counting(7));
    node.dial(Instant(5_000), at("udp/224.0.0.1:4803"), &mut Counting(7));
    let later: Vec<Locator> = (1_000..9_000).step_by(50).flat_map(|ms| round(&mut node, ms).1).collect();
    assert!(
        later.len() > 8 && later.iter().all(|at| wanted.contains(at)),
        "nor what leads to many: {later:?}"
    );
}

/// A full list of seeds, all of them names with eight addresses each.
#[test]
fn node_38_many_names_take_turns() {
    let name = |number: usize| at(&format!("dns/host{number}.example.org:4803"));
    let seeds: Vec<Locator> = (0..120).map(name).collect();
    let (mut node, _) = node_with(&[], at("udp/0.0.0.0:4803"), &seeds, &[]);
    assert_eq!(round(&mut node, 1).0.len(), 96, "and no more are known");
    for known in node.names() {
        let name = known.name.to_string();
        let number = name.strip_prefix("dns/host").unwrap().split('.').next().unwrap().to_owned();
        let places = (1..=8).map(|host| at(&format!("udp/10.0.{number}.{host}:4803"))).collect();
        answer(&mut node, 2, &name, Ok(places));
    }
    // Of all that the first answers let it dial at once, links begin no more than they can.
    let mut dialled = std::collections::BTreeSet::new();
    for ms in (20_000..300_000).step_by(50) {
        let (_, dials) = round(&mut node, ms);
        let fresh = dials.iter().filter(|at| !dialled.contains(*at)).count();
        assert!(fresh <= 16, "{fresh} in one round");
        dialled.extend(dials);
    }
    assert!(dialled.len() > 700, "{} of 768", dialled.len());
}

fn told(who: NodeId, text: &str) -> Vec<u8> {
    codec::encode(&Sync::Locators(vec![Place { node: who, at: text.as_bytes().to_vec().into() }]))
}

/// What a peer tells, and what the disk has of it, is kept and handed on as any locator of another
/// transport; and nobody's name server hears of it.
#[test]
fn node_39_names_that_peers_tell_are_not_asked_for() {
    let (mut node, ben) = node_with(&[], Locator::memory(1), &[], &[]);
    node.transcript_frame(Instant(1), ben.node(), &told(ben.node(), ANNA));
    assert_eq!(node.reach.place_of(&ben.node(), &OTHER, &node.peers).unwrap().at.0, ANNA.as_bytes());
    assert_eq!(asks_until(&mut node, 50, 60_000), [0_u64; 0]);
    let row =
        (StoreKey { table: "locator", key: ben.node().0.to_vec().into() }, ANNA.as_bytes().to_vec().into());
    let (mut node, _) = node_with(&[], Locator::memory(1), &[], &[row]);
    assert_eq!(asks_until(&mut node, 1, 60_000), [0_u64; 0]);
    assert_eq!(node.names(), []);
}

#[test]
fn node_39_without_the_rule_a_peer_has_whatever_name_it_likes_asked_for() {
    let (honest, ben) = node_with(&[], Locator::memory(1), &[], &[]);
    let config = Config { danger: Some(Danger::NodeAsksForAnyName).into(), ..honest.config };
    let mut node = Node::new(config, &[], Instant(0), &mut Counting(4)).unwrap();
    node.transcript_frame(Instant(1), ben.node(), &told(ben.node(), ANNA));
    assert!(!asks_until(&mut node, 50, 5_000).is_empty());
    assert!(HostName::of(&at(ANNA)).is_some() && identity("ben", 2).node() == ben.node());
}
