//! What a party says of a group: signed, numbered, and said again where it counts no more.

use crate::common::people::{self, Dice, NOW, PEOPLE, charter, id};
use core::time::Duration;
use folkmoot_attach::{ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{ConfigurationId, Instant, Join, Said, Says, UnixTime};
use folkmoot_identity::{Minority, Prover};
use folkmoot_member::{Command, Config, Member};

/// The first founder's program, started at this time, which wants to be in its group.
fn program(clock: UnixTime) -> Member {
    let config = Config::new(PEOPLE[0].clone(), charter(3, Minority::Continue));
    let (mut member, mut dice) = (Member::new(config, &[]).unwrap(), Dice(1 << 40));
    member.clock(Instant(1), clock, &mut dice);
    let group = member.home();
    member.command(Instant(1), Command::Join { group }, &mut dice).unwrap();
    member
}

/// The node is in this configuration now: what the party says.
fn configured(member: &mut Member, id: ConfigurationId) -> Vec<Said> {
    let nodes = vec![people::id(0).node()];
    let word = ToMember::Configuration { id, nodes, patience: Duration::ZERO };
    member.node(Instant(2), word, &mut Dice(2));
    said(member)
}

fn said(member: &mut Member) -> Vec<Said> {
    let word = |output| match output {
        UpperOutput::Node(ToNode::Word(said)) => Some(*said),
        _ => None,
    };
    core::iter::from_fn(|| member.poll_output()).filter_map(word).collect()
}

#[test]
fn mem_12_a_join_is_signed_for_its_node_and_configuration_and_said_again_in_the_next() {
    let mut member = program(NOW);
    let (party, group) = (member.party(), member.home());
    let mut last = 0;
    for ring_seq in 1..5 {
        let configuration = ConfigurationId { ring_seq, ..people::CONFIGURATION };
        // No time passes between them.
        let words = configured(&mut member, configuration);
        let [said] = &words[..] else { panic!("one word: {words:?}") };
        assert!(said.is_signed(&Prover::new(PEOPLE[1].key().clone())), "anybody can judge it");
        assert_eq!(said.word.party, party);
        let join = Join { group, node: id(0).node(), configuration };
        assert_eq!(said.word.says, Says::Join(join));
        assert!(said.word.number > last);
        last = said.word.number;
    }
    // A leave has a higher number than each of the joins that may have taken effect.
    member.command(Instant(3), Command::Leave { group }, &mut Dice(3)).unwrap();
    let leave = said(&mut member).pop().unwrap();
    assert_eq!(leave.word.says, Says::Leave { group });
    assert!(leave.word.number > last);
}

#[test]
fn mem_12_numbers_grow_over_a_restart() {
    let mut last = 0;
    for second in 0..3 {
        let mut member = program(UnixTime(NOW.0 + second));
        let first = configured(&mut member, people::CONFIGURATION).pop().unwrap().word.number;
        assert!(first > last, "after so many words in a second");
        let group = member.home();
        for _ in 0..50 {
            member.command(Instant(3), Command::Leave { group }, &mut Dice(3)).unwrap();
            member.command(Instant(3), Command::Join { group }, &mut Dice(3)).unwrap();
        }
        last = said(&mut member).pop().unwrap().word.number;
        assert!(last > first);
    }
}
