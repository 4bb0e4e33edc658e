//! A ring of carriers with a charter of its own, which carries two groups with charters of theirs:
//! 0, 1 and 2 carry; 3 and 4 are the voters of the one group, 5 and 6 of the other.

mod liars;

use crate::net::papers::{admission_of, decision};
use crate::net::{NOW, Net, charter, charter_of, locator, person, seconds, stored};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base::limits::CHARTERS_MAX;
use folkmoot_base::{Danger, GroupId, Instant, StoreKey, UnixTime};
use folkmoot_node::{Config, Node, NodeError};
use folkmoot_transcript::{Item, Transcript};
use std::collections::BTreeSet;

const RING: [usize; 3] = [0, 1, 2];

fn charters() -> [Bytes; 2] {
    [charter_of("alpha", &[3, 4]), charter_of("beta", &[5, 6])]
}

fn groups() -> [GroupId; 2] {
    charters().map(|charter| Transcript::founded(&charter).unwrap().group())
}

/// Three carriers of both groups, in one ring. Nodes that are started later do as the last one.
fn carriers(seed: u64, dangers: [Option<Danger>; 3]) -> Net {
    let mut net = Net::new(3, seed);
    net.carries = charters().to_vec();
    for (who, danger) in dangers.into_iter().enumerate() {
        net.danger = danger.into();
        net.start(3, who, &(0..who).collect::<Vec<_>>());
    }
    let all = |net: &Net| net.together(&RING) && RING.iter().all(|who| settled(net, *who) == [true, true]);
    net.until(seconds(5), all).unwrap_or_else(|| panic!("{}", net.told()));
    net
}

/// Of which of the charters that a node carries all that carry it have the same tables.
fn settled(net: &Net, who: usize) -> Vec<bool> {
    let carries: Vec<(GroupId, bool)> = net.node(who).carries().collect();
    let of = |group: GroupId| carries.iter().find(|(id, _)| *id == group).map(|(_, settled)| *settled);
    groups().into_iter().filter_map(of).collect()
}

/// `who` is attached at a carrier, as a member by this charter, and joins its group.
fn sit(net: &mut Net, carrier: usize, who: usize, group: GroupId) {
    let party = person(who).member().into();
    net.tell(carrier, ToNode::Attach { party, charter: group });
    net.join_at(carrier, who, group);
}

/// All four voters are in their groups.
fn seated(seed: u64, dangers: [Option<Danger>; 3]) -> Net {
    let mut net = carriers(seed, dangers);
    let [alpha, beta] = groups();
    for (carrier, who, group) in [(0, 3, alpha), (1, 4, alpha), (1, 5, beta), (2, 6, beta)] {
        sit(&mut net, carrier, who, group);
    }
    let both = |net: &Net| told(net, 0, 3) == [3, 4] && told(net, 1, 5) == [5, 6];
    net.until(seconds(2), both).unwrap_or_else(|| panic!("{}", net.told()));
    net
}

/// The members in the last notice to `who`, who is attached there.
fn told(net: &Net, carrier: usize, who: usize) -> Vec<usize> {
    let notice = net.players[&carrier].told.get(&person(who).member());
    notice.into_iter().flatten().copied().collect()
}

fn transcript(net: &Net, carrier: usize, group: GroupId) -> &Transcript {
    net.node(carrier).carried(&group).expect("it is carried there")
}

fn is_in(net: &Net, group: GroupId, who: usize) -> Vec<bool> {
    let has = |carrier: &usize| transcript(net, *carrier, group).roster().is_member(&person(who).member());
    RING.iter().map(has).collect()
}

/// A member at a carrier says something about its charter.
fn say(net: &mut Net, carrier: usize, group: GroupId, item: Bytes) {
    net.tell(carrier, ToNode::Item(group, item));
    net.ms(1_000);
}

#[test]
fn node_30_a_ring_carries_groups_whose_members_have_no_part_in_it() {
    let mut net = seated(9_000, [None; 3]);
    let [alpha, beta] = groups();
    let people = |transcript: &Transcript| -> BTreeSet<usize> {
        let is = |who: &usize| transcript.roster().is_member(&person(*who).member());
        (0..12).filter(is).collect()
    };
    for carrier in RING {
        assert_eq!(people(net.node(carrier).transcript()), RING.into(), "nobody of the groups");
        assert_eq!(people(transcript(&net, carrier, alpha)), [3, 4].into(), "no carrier");
        assert_eq!(people(transcript(&net, carrier, beta)), [5, 6].into(), "no carrier");
    }
    assert_eq!((told(&net, 1, 4), told(&net, 2, 6)), (vec![3, 4], vec![5, 6]));

    // Each hears its own group's messages only.
    let before = net.delivered.len();
    for (carrier, who, group, text) in [(0, 3, alpha, "alpha says"), (2, 6, beta, "beta")] {
        let (party, payload) = (person(who).member().into(), Bytes::from_static(text.as_bytes()));
        net.tell(carrier, ToNode::Send { party, group, service: folkmoot_base::Service::Safe, payload });
    }
    net.ms(1_000);
    let mut lengths = net.delivered.split_off(before);
    lengths.sort_unstable();
    assert_eq!(lengths, [4, 4, 10, 10], "two of each group");
}

#[test]
fn node_31_voters_admit_and_expel_in_their_group_without_touching_the_ring() {
    let mut net = seated(9_001, [None; 3]);
    let [alpha, beta] = groups();
    let (installed, ring, other) =
        (net.installed(), net.node(0).transcript().mark(), transcript(&net, 0, beta).mark());
    let item = admission_of(transcript(&net, 0, alpha), person(7), &[3]);
    say(&mut net, 0, alpha, item.clone());
    assert_eq!((is_in(&net, alpha, 7), is_in(&net, beta, 7)), (vec![true; 3], vec![false; 3]));
    sit(&mut net, 2, 7, alpha);
    net.ms(1_000);
    assert_eq!((told(&net, 2, 7), told(&net, 0, 3)), (vec![3, 4, 7], vec![3, 4, 7]));

    let expels = decision(transcript(&net, 1, alpha), Some(4), NOW);
    say(&mut net, 1, alpha, expels);
    assert_eq!(is_in(&net, alpha, 4), [false; 3]);
    assert_eq!((told(&net, 0, 3), told(&net, 1, 5)), (vec![3, 7], vec![5, 6]));
    assert_eq!(net.installed(), installed, "the ring stands");
    for carrier in RING {
        assert_eq!(net.node(carrier).transcript().mark(), ring);
        assert_eq!(transcript(&net, carrier, beta).mark(), other);
    }
    // Its members are told of it, and nobody else. None of that belongs to the carrier's own member.
    let heard = &net.players[&0].acknowledged;
    assert!(!heard.iter().any(|(_, said)| *said == item), "the host is told nothing of it");
}

#[test]
fn node_30_a_carrier_that_is_expelled_leaves_the_ring_and_the_groups_go_on() {
    let mut net = seated(9_002, [None; 3]);
    let [alpha, _] = groups();
    let expels = decision(net.node(0).transcript(), Some(2), NOW);
    net.item(0, expels);
    net.until(seconds(10), |net| net.together(&[0, 1])).unwrap_or_else(|| panic!("{}", net.told()));
    let left = |net: &Net| told(net, 1, 5) == [5] && settled(net, 0) == [true, true];
    net.until(seconds(5), left).unwrap_or_else(|| panic!("{}", net.told()));
    assert_eq!(told(&net, 0, 3), [3, 4]);
    let item = admission_of(transcript(&net, 0, alpha), person(7), &[3]);
    say(&mut net, 0, alpha, item);
    sit(&mut net, 1, 7, alpha);
    net.ms(1_000);
    assert_eq!(told(&net, 0, 3), [3, 4, 7], "the group goes on at the others");
}

#[test]
fn node_32_who_carries_a_charter_later_has_its_transcript_from_the_others() {
    let mut net = Net::new(3, 9_003);
    let [alpha, beta] = groups();
    net.carries = charters().to_vec();
    net.start(3, 0, &[]);
    net.start(3, 1, &[0]);
    net.carries = vec![charters()[1].clone()];
    net.start(3, 2, &[0, 1]);
    let two = |net: &Net| net.together(&RING) && settled(net, 0) == [true, true];
    net.until(seconds(5), two).unwrap_or_else(|| panic!("{}", net.told()));
    sit(&mut net, 0, 3, alpha);
    sit(&mut net, 1, 4, alpha);
    sit(&mut net, 2, 6, beta);
    net.ms(1_000);
    assert_eq!(told(&net, 0, 3), [3, 4], "the third only orders its bytes");
    sit(&mut net, 2, 7, alpha);
    net.ms(1_000);
    assert_eq!((told(&net, 0, 3), told(&net, 2, 7)), (vec![3, 4], vec![]), "nobody is let in there");
    let item = admission_of(transcript(&net, 0, alpha), person(7), &[3]);
    say(&mut net, 0, alpha, item);
    assert!(net.node(2).carried(&alpha).is_none());

    net.carries = charters().to_vec();
    net.restart(3, 2, &[0, 1]);
    let three = |net: &Net| net.together(&RING) && RING.iter().all(|who| settled(net, *who) == [true, true]);
    net.until(seconds(20), three).unwrap_or_else(|| panic!("{}", net.told()));
    assert_eq!(is_in(&net, alpha, 7), [true; 3]);
    sit(&mut net, 2, 7, alpha);
    net.ms(1_000);
    assert_eq!((told(&net, 0, 3), told(&net, 2, 7)), (vec![3, 4, 7], vec![3, 4, 7]));
}

/// What was taken is on its disk under its charter, and what was missed comes again: also where the
/// decisions between are not kept any more.
#[test]
fn node_33_a_carrier_that_was_away_for_long_is_led_on_in_the_order_of_the_ring() {
    let mut net = seated(9_004, [None; 3]);
    let [alpha, beta] = groups();
    for number in 0..2 {
        let item = admission_of(transcript(&net, 0, alpha), person(7 + number), &[3]);
        say(&mut net, 0, alpha, item);
    }
    let disk = net.copy(2);
    net.stop(2, true);
    net.until(seconds(10), |net| net.together(&[0, 1]) && settled(net, 0) == [true, true]).expect("two");
    let alone = node_with(&disk, charters().to_vec()).unwrap();
    assert!(alone.carried(&alpha).unwrap().roster().is_member(&person(8).member()), "from its disk");
    assert_eq!(alone.carried(&beta).unwrap().mark(), transcript(&net, 0, beta).mark());

    for month in 0..5 {
        let time = UnixTime(NOW.0 + month * 31 * 86_400 + 1);
        let decided = decision(transcript(&net, 0, alpha), None, time);
        say(&mut net, 0, alpha, decided);
    }
    let away = alone.carried(&alpha).unwrap().state().head();
    assert!(transcript(&net, 0, alpha).has_left_behind(&away), "no single items lead there");
    net.start_on(3, 2, 2, &disk);
    let back = |net: &Net| net.together(&RING) && settled(net, 2) == [true, true];
    net.until(seconds(20), back).unwrap_or_else(|| panic!("{}", net.told()));
    assert_eq!(transcript(&net, 2, alpha).mark(), transcript(&net, 0, alpha).mark());
    assert_eq!(transcript(&net, 2, alpha).state().head().number, 5);
    // And that is on its disk, too.
    let again = node_with(&net.copy(2), charters().to_vec()).unwrap();
    assert_eq!(again.carried(&alpha).unwrap().state().head(), transcript(&net, 0, alpha).state().head());
}

/// Two voters sign two decisions with one number, on two sides of a cut. That is for the group's
/// people to see to: the ring stands, and so does the other group.
#[test]
fn node_34_a_fork_in_a_group_holds_up_that_group_alone() {
    let mut net = seated(9_005, [None; 3]);
    let [alpha, _] = groups();
    net.part(2, 0);
    net.part(2, 1);
    net.until(seconds(10), |net| net.together(&[0, 1]) && net.together(&[2])).expect("two rings");
    net.ms(1_000);
    for (carrier, time) in [(0, NOW), (2, UnixTime(NOW.0 + 1))] {
        let item = decision(transcript(&net, carrier, alpha), Some(4), time);
        say(&mut net, carrier, alpha, item);
    }
    let heads = [0, 2].map(|carrier| transcript(&net, carrier, alpha).state().head());
    assert!(heads[0].number == heads[1].number && heads[0] != heads[1]);
    net.cut.clear();
    net.until(seconds(20), |net| net.together(&RING)).unwrap_or_else(|| panic!("{}", net.told()));
    let installed = net.installed();
    net.until(seconds(5), |net| told(net, 1, 5) == [5, 6]).unwrap_or_else(|| panic!("{}", net.told()));
    net.ms(seconds(30));
    assert_eq!(net.installed(), installed, "nobody is left out of the ring for it");
    assert_eq!(settled(&net, 0), [false, true]);
}

#[test]
fn node_35_a_newcomer_asks_the_members_of_its_own_charter_at_its_own_node() {
    let mut net = seated(9_007, [None; 3]);
    let [alpha, beta] = groups();
    // 4 and 5 are at this carrier, by two charters; 7 comes to ask 4.
    let party = person(7).member().into();
    net.tell(1, ToNode::Attach { party, charter: alpha });
    let asks = |net: &mut Net, to: usize| {
        let (to, payload) = (person(to).node(), Bytes::from_static(b"may I?"));
        net.tell(1, ToNode::Guest { from: party, to, payload });
        core::mem::take(&mut net.players.get_mut(&1).unwrap().guests)
    };
    assert_eq!(asks(&mut net, 4), [(person(4).member(), person(7).node())]);
    for other in [5, 3, 0, 1] {
        assert_eq!(asks(&mut net, other), [], "{other} is of another charter, or elsewhere");
    }
    let sent: Vec<u64> = [0, 2].iter().map(|to| net.sent(1, *to)).collect();
    assert_eq!(asks(&mut net, 0), []);
    assert_eq!([0, 2].map(|to| net.sent(1, to)).to_vec(), sent, "nothing goes over links");
    assert!(net.node(1).carried(&beta).is_some());
}

fn node_with(disk: &[(StoreKey, Bytes)], carries: Vec<Bytes>) -> Result<Node, NodeError> {
    let mut config = Config::new(person(2).clone(), charter(3), locator(2));
    config.carries = carries;
    Node::new(config, disk, Instant(0), &mut crate::net::Dice(1))
}

#[test]
fn node_30_the_charters_are_named_by_whoever_runs_the_node_each_once_and_not_too_many() {
    let [alpha, beta] = charters();
    assert!(node_with(&[], vec![alpha.clone(), beta.clone()]).is_ok());
    let refused = |carries| matches!(node_with(&[], carries), Err(NodeError::LocalCharters));
    assert!(refused(vec![alpha.clone(), beta, alpha.clone()]), "twice");
    assert!(refused(vec![charter(3)]), "the ring's own");
    let many: Vec<Bytes> =
        (0..=CHARTERS_MAX).map(|number| charter_of(&format!("group{number}"), &[3])).collect();
    assert!(node_with(&[], many[1..].to_vec()).is_ok());
    assert!(refused(many));
    let broken = node_with(&[], vec![alpha.slice(1..)]);
    assert!(matches!(broken, Err(NodeError::LocalCarried(_))));
    // Nothing of a charter that is not carried any more is read.
    let mut net = seated(9_006, [None; 3]);
    let item = admission_of(transcript(&net, 0, groups()[0]), person(7), &[3]);
    assert!(Item::decode(&item).is_ok());
    say(&mut net, 0, groups()[0], item);
    let rows = stored(&net.players[&2].persists);
    assert!(rows.iter().any(|(place, _)| place.table == "carried"));
    assert!(node_with(&rows, Vec::new()).unwrap().carries().next().is_none());
}
