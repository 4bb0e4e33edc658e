//! Where the charter says that somebody of the group may be found.

use crate::net::{Net, locator, papers, person, seconds};
use folkmoot_base::{Locator, Persist, UnixTime};

/// A newcomer that was told nothing but the charter finds the founder whom the charter names.
#[test]
fn node_16_a_newcomer_finds_the_group_by_its_charter_alone() {
    let mut net = Net::naming(2, &[0], 16_000);
    net.start(2, 0, &[]);
    net.start(2, 1, &[]);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("the founders meet");
    net.start(2, 2, &[]);
    net.ms(1_000);
    net.admit(2, 0);
    assert!(net.until(seconds(6), |net| net.together(&[0, 1, 2])).is_some(), "{}", net.told());
}

/// What was given by hand is dialled first, and alone if it answers.
#[test]
fn node_16_contacts_are_dialled_only_while_nobody_of_the_group_is_linked() {
    let mut net = Net::naming(2, &[1], 16_100);
    net.start(2, 0, &[]);
    net.start(2, 2, &[0]);
    net.ms(20_000);
    assert!(net.node(2).locator(&person(0).node()).is_some());
    assert_eq!(net.sent(2, 1), 0, "its seed answered");
    assert!(net.sent(0, 1) > 0, "a guest is nobody of the group");
    net.start(2, 1, &[]);
    net.until(seconds(6), |net| net.together(&[0, 1])).expect("the founders meet");
    let dialled = |net: &Net| net.sent(3, 1);
    net.start(2, 3, &[4]);
    assert_eq!(dialled(&net), 0, "not at once");
    net.until(seconds(6), |net| net.node(3).locator(&person(1).node()).is_some()).expect("its seed is dead");
}

/// A voted list of contacts is what a member goes by that comes back when all have moved.
#[test]
fn node_16_changed_contacts_hold_at_the_next_start() {
    let mut net = Net::naming(2, &[5], 16_200);
    net.start(2, 0, &[1]);
    net.start(2, 1, &[0]);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("the founders meet");
    let transcript = net.node(0).transcript();
    let time = UnixTime(transcript.state().time().0 + 1);
    let change = papers::changing(transcript, "contacts", &locator(1).to_string(), time);
    net.item(0, change);
    let names = |net: &Net, who: usize| {
        let charter = net.node(who).transcript().roster().charter().clone();
        charter.contacts().iter().filter_map(folkmoot_identity::Contact::locator).collect::<Vec<_>>()
    };
    net.until(seconds(3), |net| names(net, 0) == [locator(1)] && names(net, 1) == [locator(1)])
        .expect("it is decided");
    // It has forgotten where everybody is, and was told nothing.
    net.players.get_mut(&0).unwrap().persists.retain(|one| one.key.table != "locator");
    net.part(0, 1);
    net.restart(2, 0, &[]);
    assert_eq!((names(&net, 0), net.node(0).locator(&person(1).node())), (vec![locator(1)], None));
    let before = net.sent(0, 1);
    net.ms(3_000);
    assert!(net.sent(0, 1) > before && net.sent(0, 5) == 0, "{}", net.told());
}

/// Two know each other by one host name alone. Both move at the same time, and whoever rules over
/// the name says so only later.
#[test]
fn node_37_two_that_move_at_once_find_each_other_by_name_once_the_name_has_moved() {
    let name: Locator = "dns/anna.example.org:4803".parse().unwrap();
    let mut net = Net::new(2, 16_400);
    net.names.insert(name.clone(), vec![locator(0)]);
    net.start(2, 0, &[]);
    net.seeds.push(name.clone());
    net.start(2, 1, &[]);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("the founders meet");
    let asked = net.asked.len();
    net.ms(120_000);
    assert_eq!(net.asked.len(), asked, "somebody answers there");
    for (who, to) in [(0, 20), (1, 21)] {
        net.moved.insert(who, locator(to));
    }
    net.until(seconds(10), |net| net.ring(0).as_deref() == Some(&[0])).expect("they have lost each other");
    net.ms(60_000);
    assert!(!net.together(&[0, 1]) && net.node(1).locator(&person(0).node()).is_none(), "{}", net.told());
    net.names.insert(name, vec![locator(20)]);
    let took = net.until(seconds(60), |net| net.together(&[0, 1]));
    assert!(took.is_some_and(|ms| ms < 40_000), "{took:?} {}", net.told());
    let asked = u64::try_from(net.asked.len()).unwrap();
    assert!(asked < 20, "{asked} times in three minutes");
}

/// Two members never had the transport by which the third is found; who has it later learns of it.
#[test]
fn node_21_a_locator_of_another_transport_goes_from_node_to_node_and_to_disk() {
    let mut net = Net::naming(3, &[], 16_300);
    let (third, at) = (person(2).node(), b"tor+tcp/abc.onion:4803".to_vec());
    let row = Persist::put("locator", third.0.to_vec(), at.clone());
    net.start(3, 0, &[]);
    net.players.get_mut(&0).unwrap().persists.push(row.clone());
    net.restart(3, 0, &[]);
    net.start(3, 1, &[0]);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("two meet");
    let has = |net: &Net, who: usize| net.players[&who].persists.contains(&row);
    net.until(seconds(3), |net| has(net, 1)).expect("the second is told, and keeps it");
    assert_eq!((net.sent(0, 2), net.sent(1, 2)), (0, 0));
    net.start(3, 2, &[1]);
    assert!(net.until(seconds(6), |net| net.together(&[0, 1, 2])).is_some(), "{}", net.told());
}
