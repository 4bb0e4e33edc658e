//! Several programs of one member: one of them alone is the voter.

use crate::common::people::{self, Dice, NOW, PEOPLE, charter, id};
use core::time::Duration;
use folkmoot_attach::{ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{Instant, Says};
use folkmoot_identity::Minority;
use folkmoot_member::{Command, Config, Event, Member};

/// A program of the first founder.
fn program(port: u16) -> (Member, Dice) {
    let mut config = Config::new(PEOPLE[0].clone(), charter(3, Minority::Continue));
    config.port = port;
    let (mut member, mut dice) = (Member::new(config, &[]).unwrap(), Dice(1 << 40 | u64::from(port)));
    member.clock(Instant(1), NOW, &mut dice);
    member.node(
        Instant(1),
        ToMember::Configuration {
            id: people::CONFIGURATION,
            nodes: vec![id(0).node()],
            patience: Duration::ZERO,
        },
        &mut dice,
    );
    while member.poll_output().is_some() {}
    (member, dice)
}

/// What it keeps on disk, what it sends as the voter, and what it is told about it.
fn acts(port: u16, command: Command) -> (usize, usize, Option<String>) {
    let (mut member, mut dice) = program(port);
    let answer = member.command(Instant(2), command, &mut dice);
    member.timeout(Instant(60_000_000), &mut dice);
    let (mut kept, mut sent) = (0, 0);
    while let Some(output) = member.poll_output() {
        match output {
            UpperOutput::Persist(_) => kept += 1,
            UpperOutput::Node(ToNode::Send { .. } | ToNode::Item(..) | ToNode::Guest { .. }) => sent += 1,
            _ => {}
        }
    }
    (kept, sent, answer.err().map(|refused| refused.to_string()))
}

/// Two machines with one voter's key would each sign: one may sign for one decision and one for
/// another. So it is port 0, or nobody. The rule off: a second machine with port 0 signs as the
/// first does.
#[test]
fn mem_11_only_port_0_takes_part_in_admission() {
    let expel = || Command::Expel { member: id(2) };
    for machine in [acts(0, expel()), acts(0, expel())] {
        let (kept, sent, told) = machine;
        assert!(kept > 0 && sent > 0 && told.is_none(), "{kept} {sent} {told:?}");
    }
    for command in [expel(), Command::Renew, Command::Apply] {
        let (kept, sent, told) = acts(7, command);
        assert_eq!((kept, sent), (0, 0));
        assert_eq!(told.unwrap(), "the member's first program asks, votes and proposes: port 0");
    }
}

/// Where there is nobody to vote there is nothing to show: no open requests, no signing sessions.
/// The program is in the group all the same.
#[test]
fn mem_11_another_port_is_a_member_like_any() {
    let (mut member, mut dice) = program(7);
    let group = member.home();
    member.command(Instant(2), Command::Join { group }, &mut dice).unwrap();
    let outputs: Vec<_> = core::iter::from_fn(|| member.poll_output()).collect();
    let joins = |output: &&UpperOutput<Event>| matches!(output, UpperOutput::Node(ToNode::Word(said)) if said.word.party == member.party() && matches!(said.word.says, Says::Join(_)));
    assert_eq!(outputs.iter().filter(joins).count(), 1, "{outputs:?}");
    assert_eq!((member.party().port, member.petitions().len()), (7, 0));
    assert!(member.signing(Instant(3)).is_none());
}
