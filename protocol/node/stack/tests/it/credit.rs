//! Credit of the parties at a node: by group, as much as has left, and no more for a liar.

use crate::multicast::ring_where;
use crate::net::{Net, person, seconds};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_attach::credit::{Purse, RESERVE, START};
use folkmoot_base::{Danger, GroupId, Mutant, Service};

/// A second group of the same ring.
const OTHER: GroupId = GroupId([0x77; 32]);
const WHO: usize = 0;

/// Three nodes, whose parties are in two groups.
fn two_groups(seed: u64, danger: Mutant) -> Net {
    let mut net = ring_where(3, &[], seed, |_| danger);
    (0..3).for_each(|who| net.join_at(who, who, OTHER));
    net.ms(2_000);
    net
}

fn send(net: &mut Net, group: GroupId, bytes: usize) {
    let (party, payload) = (person(WHO).member().into(), Bytes::from(vec![b'x'; bytes]));
    net.tell(WHO, ToNode::Send { party, group, service: Service::Agreed, payload });
}

/// Nothing leaves any more.
fn cut(net: &mut Net) {
    [(0, 1), (0, 2), (1, 2)].into_iter().for_each(|(a, b)| net.part(a, b));
}

fn queued(net: &Net) -> u64 {
    net.node(WHO).ring().queued_bytes as u64
}

#[test]
fn node_36_what_has_left_is_granted_to_its_sender_in_its_group() {
    let mut net = two_groups(12_000, Mutant::NONE);
    net.granted.clear();
    let (mut purse, before) = (Purse::default(), net.delivered.len());
    let (mut sent, mut heard) = (0, 0);
    while sent < 5_000 {
        while purse.may_send() && sent < 5_000 {
            purse.spend(1_000).unwrap();
            send(&mut net, OTHER, 1_000);
            sent += 1;
        }
        net.ms(1);
        assert!(net.now < 60_000_000, "{sent} were sent");
        for (who, group, grant) in &net.granted[heard..] {
            assert_eq!((*who, *group), (WHO, OTHER), "nobody else has sent anything");
            purse.add(*grant).expect("an honest grant");
        }
        heard = net.granted.len();
    }
    net.until(seconds(5), |net| net.delivered.len() - before >= 15_000).expect("all came to all");
    assert!((1..40).contains(&heard), "{heard} grants");
}

/// No member of the ring hears another, so nothing leaves. One group is full; a liar goes on, and
/// what it sends is not kept. The other group of the same party is not full.
#[test]
fn node_36_a_liar_fills_its_own_group_alone_and_that_to_its_credit() {
    let mut net = two_groups(12_001, Mutant::NONE);
    cut(&mut net);
    let (before, none) = (net.delivered.len(), queued(&net));
    (0..1_000).for_each(|_| send(&mut net, OTHER, 20_000));
    let full = queued(&net) - none;
    assert!(full <= START + RESERVE + 2 * 20_064, "{full} bytes");
    assert!(net.told().contains("without credit"), "{}", net.told());
    let group = net.group;
    send(&mut net, group, 333);
    assert!(queued(&net) - none > full, "the other group has credit");
    net.cut.clear();
    let came = |net: &Net| net.delivered[before..].iter().filter(|bytes| **bytes == 333).count() == 3;
    net.until(seconds(30), came).unwrap_or_else(|| panic!("{}", net.told()));
}

/// Without the rule the same liar takes what memory the node has for all.
#[test]
fn node_36_without_the_rule_a_liar_takes_the_memory_of_all() {
    let mut net = two_groups(12_002, Some(Danger::NodeLendsAnything).into());
    cut(&mut net);
    (0..1_000).for_each(|_| send(&mut net, OTHER, 20_000));
    assert!(queued(&net) > 15_000_000, "{}", queued(&net));
}
