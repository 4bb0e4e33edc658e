//! Who left by its own word is told apart from who was lost, also if both happen at once, or while
//! tables are not merged (GRP-33).

use crate::bus::{Bus, Call, GROUP, Upper, member, node, said};
use crate::limits::{self, OTHER};
use crate::words::{AGAIN, two};
use folkmoot_base::{Cause, Danger, GroupId, Indication, Instant, Join, Party, Says};
use folkmoot_group::message::{self, Control};

/// The newest notice: who is gone, who of them left, and the cause.
#[derive(Default)]
struct Heard(Option<(Vec<Party>, Vec<Party>, Cause)>);

impl Upper for Heard {
    fn indication(&mut self, _: Instant, indication: Indication) {
        if let Indication::Notice { removed, left, cause, .. } = indication {
            self.0 = Some((removed, left, cause));
        }
    }

    fn calls(&mut self) -> Vec<Call> {
        Vec::new()
    }
}

fn join(bus: &mut Bus<Heard>, index: usize) {
    let configuration = bus.configuration(index);
    bus.say(index, Says::Join(Join { group: GROUP, node: node(index), configuration }));
    bus.settle();
}

fn joined(count: usize, danger: Option<Danger>) -> Bus<Heard> {
    let mut bus = Bus::new(count, danger, |_| Heard::default());
    bus.settle();
    for index in 0..count {
        join(&mut bus, index);
    }
    bus
}

fn leave(bus: &mut Bus<Heard>, index: usize) {
    bus.say(index, Says::Leave { group: GROUP });
    bus.pump(index);
}

/// What these nodes heard last, all the same.
fn heard(bus: &Bus<Heard>, nodes: &[usize]) -> (Vec<Party>, Vec<Party>, Cause) {
    let mut all = nodes.iter().map(|index| bus.hosts[*index].upper.0.clone().unwrap());
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first));
    first
}

fn members(all: &[usize]) -> Vec<Party> {
    all.iter().copied().map(member).collect()
}

#[test]
fn grp_33_a_leave_between_merges_is_a_leave_in_the_next_notice() {
    let mut bus = joined(4, None);
    leave(&mut bus, 1);
    bus.settle();
    assert_eq!(heard(&bus, &[0, 2]), (members(&[1]), members(&[1]), Cause::Leave));

    // The configuration changes while Ben's word waits for its place: it is ordered before the
    // States are, and takes effect with the merge.
    let mut bus = joined(4, None);
    leave(&mut bus, 1);
    bus.reconfigure(&[0; 4], 0);
    bus.settle();
    assert_eq!(heard(&bus, &[0, 2]), (members(&[1]), members(&[1]), Cause::Network));

    // Dora's node is lost at the same time. She said nothing.
    let mut bus = joined(4, None);
    leave(&mut bus, 1);
    bus.reconfigure(&[0, 0, 0, 1], 0);
    bus.settle();
    assert_eq!(heard(&bus, &[0, 2]), (members(&[1, 3]), members(&[1]), Cause::Network));
}

#[test]
fn grp_33_a_leave_counts_although_its_merge_was_interrupted() {
    let mut bus = joined(4, None);
    bus.reconfigure(&[0; 4], 0);
    leave(&mut bus, 1);
    // Ben's State, then his word, are ordered and heard; nobody else's State is.
    while bus.order(1) {}
    for index in 0..4 {
        while bus.deliver(index) {}
        assert!(!bus.hosts[index].group.is_settled());
    }
    bus.reconfigure(&[0, 1, 0, 0], 0);
    bus.settle();
    assert_eq!(heard(&bus, &[0, 2]), (members(&[1]), members(&[1]), Cause::Network));
}

/// Dora was in neither configuration in which Ben's word was ordered: she did not hear it. So his
/// node says it again in the next one; although he has said more since then.
#[test]
fn grp_33_a_leave_that_had_no_effect_is_said_again() {
    let mut bus = joined(4, None);
    bus.reconfigure(&[0, 0, 0, 1], 0);
    leave(&mut bus, 1);
    while bus.order(1) {}
    for index in 0..3 {
        while bus.deliver(index) {}
    }
    bus.say(1, Says::Leave { group: GroupId([9; 32]) });
    bus.pump(1);
    bus.reconfigure(&[0; 4], 0);
    bus.settle();
    for index in [0, 2, 3] {
        let (removed, left, _) = heard(&bus, &[index]);
        assert!(removed.contains(&member(1)) && left == members(&[1]), "{index}: {removed:?} {left:?}");
        assert!(!bus.hosts[index].group.members(GROUP).contains(&member(1)));
    }
}

/// It may have its place after the merge, and after later words.
#[test]
fn grp_33_a_leave_may_come_after_later_words_but_not_after_a_later_join() {
    let other = GroupId([9; 32]);
    let leave = |number: u64, group| Control::Party(said(limits::member(2), number, Says::Leave { group }));
    let (mut fed, _) = two();
    assert!(fed.control(OTHER, &leave(901, other)).is_err(), "it is not in that group");
    assert_eq!(fed.control(OTHER, &leave(900, GROUP)), Ok(()));
    assert_eq!(fed.group.members(GROUP), [limits::member(1)]);
    fed.number = 950;
    fed.join(OTHER, limits::member(2), GROUP);
    assert!(fed.control(OTHER, &leave(900, GROUP)).is_err());
    assert_eq!(fed.group.members(GROUP).len(), 2);
}

/// Ben's node stops at once. The others hear his word behind the signal that he is lost, and he
/// left. His word of an earlier stay, which a liar kept, says nothing about this one.
#[test]
fn grp_33_only_a_word_of_this_stay_counts() {
    let mut bus = joined(4, None);
    leave(&mut bus, 1);
    while bus.order(1) {}
    bus.reconfigure(&[0, 1, 0, 0], 1);
    bus.settle();
    let (removed, left, _) = heard(&bus, &[0, 2]);
    assert_eq!((removed, left), (members(&[1]), members(&[1])));

    for (danger, believed) in [(None, members(&[])), (AGAIN, members(&[1]))] {
        let mut bus = joined(4, danger);
        leave(&mut bus, 1);
        bus.settle();
        let word = bus.log(0).into_iter().find_map(bens_leave).unwrap();
        // The numbers of words are counted in each configuration.
        join(&mut bus, 1);
        bus.reconfigure(&[0; 4], 0);
        bus.settle();
        bus.forge(1, &word);
        bus.reconfigure(&[0, 1, 0, 0], 1);
        bus.settle();
        let (removed, left, _) = heard(&bus, &[0, 2]);
        assert_eq!((removed, left), (members(&[1]), believed), "{danger:?}");
    }
}

fn bens_leave(bytes: bytes::Bytes) -> Option<Control> {
    let Ok(message::Message::Control(control)) = message::decode(node(0), bytes) else { return None };
    let is = matches!(&*control, Control::Party(said) if matches!(said.word.says, Says::Leave { .. }));
    is.then_some(*control)
}
