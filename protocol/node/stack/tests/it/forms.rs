//! Links by the form that the charter names: X25519 alone, or ML-KEM-768 as well; and what is
//! reported if two forms meet. And the same for wire versions.

use crate::net::{Dice, Net, charter_with, locator, person, seconds};
use folkmoot_attach::Ground as _;
use folkmoot_base::{Instant, Locator};
use folkmoot_node::{Config, Exchange, Node, REFUSALS_MAX, Refusal, Theirs, Versions};

fn refusals(net: &Net, who: usize) -> Vec<Refusal> {
    net.node(who).refusals(Instant(net.now))
}

/// Founders, a newcomer that has the charter, and its admission: one ring, over hybrid links only.
#[test]
fn a_ring_forms_and_admits_over_hybrid_links() {
    let mut net = Net::new(2, 9_000);
    net.hybrid_links = true;
    net.start(2, 0, &[]);
    net.start(2, 1, &[0]);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("the founders meet");
    net.start(2, 2, &[0]);
    net.ms(1_000);
    assert!(net.node(2).locator(&person(0).node()).is_some(), "a guest links, too");
    net.admit(2, 0);
    assert!(net.until(seconds(6), |net| net.together(&[0, 1, 2])).is_some(), "{}", net.told());
    for who in 0..3 {
        assert!(net.node(who).transcript().roster().charter().hybrid_links());
        assert_eq!(net.node(who).counters().link.other_form, 0);
        assert!(refusals(&net, who).is_empty());
    }
}

/// Two nodes that do not run on the same charter: each is told what the other asks for, whichever
/// dials, and no link comes up.
#[test]
fn node_07_who_links_by_the_other_form_is_told_and_forgotten() {
    for hybrid in [false, true] {
        let mut net = Net::new(2, 9_100);
        net.hybrid_links = hybrid;
        net.start(2, 0, &[1]);
        net.hybrid_links = !hybrid;
        net.start(2, 1, &[0]);
        net.ms(10_000);
        for (who, asks) in [(0, hybrid), (1, !hybrid)] {
            let told = refusals(&net, who);
            let theirs = Theirs::Form(if asks { Exchange::Classical } else { Exchange::Hybrid });
            assert_eq!(told.len(), 1, "{}", net.told());
            assert_eq!((told[0].at.clone(), told[0].theirs), (locator(1 - who), theirs));
            let words = if asks { "lacks ML-KEM-768 links" } else { "asks for ML-KEM-768 links" };
            assert!(
                told[0].to_string().contains(words) && told[0].to_string().contains("memory/"),
                "{}",
                told[0]
            );
            assert_eq!(net.node(who).locator(&person(1 - who).node()), None);
            assert!(net.players[&who].trace.iter().any(|line| line.contains("ML-KEM-768")));
        }
        // It comes back with the right charter: it is linked, and nothing more is reported of it.
        net.hybrid_links = hybrid;
        net.start(2, 1, &[0]);
        net.until(seconds(8), |net| net.together(&[0, 1])).expect("they meet");
        assert!(refusals(&net, 0).is_empty());
        // A node that never does is forgotten a minute after it went.
        let mut alone = Net::new(2, 9_200);
        alone.hybrid_links = hybrid;
        alone.start(2, 0, &[1]);
        alone.hybrid_links = !hybrid;
        alone.start(2, 1, &[]);
        alone.ms(3_000);
        assert_eq!(refusals(&alone, 0).len(), 1);
        alone.players.remove(&1);
        alone.ms(59_000);
        alone.ms(2_000);
        assert!(refusals(&alone, 0).is_empty());
    }
}

/// A node of a later release joins a ring of this one, and a node of this release one of the later.
/// A node that has dropped this version is refused, and both are told both lists.
#[test]
fn link_27_nodes_with_a_common_version_form_one_ring() {
    let (now, later, last) = (Versions::of(&[1]), Versions::of(&[1, 2]), Versions::of(&[2, 3]));
    for (most, newcomer) in [(now, later), (later, now)] {
        let mut net = Net::new(2, 9_300);
        net.versions = most;
        net.start(3, 0, &[]);
        net.start(3, 1, &[0]);
        net.until(seconds(3), |net| net.together(&[0, 1])).expect("two meet");
        net.versions = newcomer;
        net.start(3, 2, &[0]);
        assert!(net.until(seconds(6), |net| net.together(&[0, 1, 2])).is_some(), "{}", net.told());
    }
    let mut net = Net::new(2, 9_400);
    net.versions = now;
    net.start(2, 0, &[]);
    net.versions = last;
    net.start(2, 1, &[0]);
    net.ms(5_000);
    for (who, ours, theirs) in [(0, now, last), (1, last, now)] {
        let told = refusals(&net, who);
        assert_eq!(told.len(), 1, "{}", net.told());
        assert_eq!(told[0].theirs, Theirs::Versions { ours, theirs });
        assert_eq!(told[0].node, Some(person(1 - who).node()));
        let words = format!("speaks wire versions {theirs}, and this node speaks {ours}");
        assert!(told[0].to_string().contains(&words), "{}", told[0]);
        assert_eq!(net.node(who).locator(&person(1 - who).node()), None);
    }
    // Once it is updated, they meet and nothing more is reported.
    net.versions = later;
    net.start(2, 1, &[0]);
    net.until(seconds(8), |net| net.together(&[0, 1])).expect("they meet");
    assert!(refusals(&net, 0).is_empty());
}

/// Hellos of the other form from made-up addresses are counted and leave nothing. As many locators
/// as a node may be told to dial leave no more than the bound.
#[test]
fn node_07_refusals_are_bounded_and_strangers_leave_none() {
    let mut dice = Dice(1 << 40);
    let config = Config::new(person(0).clone(), charter_with(1, true), locator(0));
    let mut node = Node::new(config, &[], Instant(0), &mut dice).unwrap();
    let hello = |index: u32| [&[1, 1][..], &index.to_be_bytes(), &[0; 48]].concat();
    for index in 0..1_000 {
        node.datagram(Instant(1), Locator::memory(500 + index), hello(index)[..].into(), &mut dice);
    }
    assert_eq!(node.counters().link.other_form, 1_000);
    assert!(node.refusals(Instant(1)).is_empty());
    for place in 0..200 {
        node.member(Instant(2), folkmoot_attach::ToNode::Dial(Locator::memory(500 + place)), &mut dice);
        node.datagram(
            Instant(2 + u64::from(place)),
            Locator::memory(500 + place),
            hello(place)[..].into(),
            &mut dice,
        );
    }
    let told = node.refusals(Instant(300));
    assert!(!told.is_empty() && told.len() <= REFUSALS_MAX, "{}", told.len());
}
