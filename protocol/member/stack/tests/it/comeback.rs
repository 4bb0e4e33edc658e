//! A member's certificate ran out while it was away, and it does not know this yet. That it was
//! told to ask for admission is not forgotten.

use crate::common::people::{Dice, NOW, PEOPLE, charter, decide, expulsion, gmc, id};
use attach::{ToMember, ToNode, Upper, UpperOutput};
use bytes::Bytes;
use folkmoot_attach as attach;
use folkmoot_base::{Instant, Locator, StoreKey, UnixTime};
use folkmoot_identity::Minority;
use folkmoot_member::{Command, Config, Member};
use folkmoot_transcript::Transcript;

const DORA: usize = 4;

/// Dora's member as she left it, and the transcript that the others have.
fn away() -> (Member, Transcript) {
    let charter = charter(2, Minority::Continue);
    let mut transcript = Transcript::genesis(&charter).unwrap();
    let entry = transcript.make_admit(gmc(&transcript, DORA, &[0], 1).der(), &PEOPLE[0]).unwrap();
    transcript.append(&entry).unwrap();
    let stored: Vec<(StoreKey, Bytes)> = transcript
        .entries()
        .map(|entry| {
            let persist = Transcript::persist(entry);
            (persist.key, persist.value.unwrap())
        })
        .collect();
    let mut dora = Member::new(Config::new(PEOPLE[DORA].clone(), charter), &stored).unwrap();
    dora.clock(Instant(0), NOW, &mut Dice(1));
    (dora, transcript)
}

/// How many times she asks the member that she reached for admission, and her node for her group.
fn asks(dora: &mut Member) -> (usize, usize) {
    let (mut requests, mut joins) = (0, 0);
    while let Some(output) = dora.poll_output() {
        match output {
            UpperOutput::Node(ToNode::Guest { to, .. }) => {
                assert_eq!(to, id(0).node());
                requests += 1;
            }
            UpperOutput::Node(ToNode::Join { .. }) => joins += 1,
            _ => {}
        }
    }
    (requests, joins)
}

/// What she asks for once an entry says that she is out, and how many times she asks for her group
/// once another entry says that she is in again.
fn returns(dora: &mut Member, told: bool, out: &Bytes, again: &Bytes) -> (usize, usize) {
    let (now, mut dice) = (Instant(1), Dice(2));
    let group = dora.transcript().group();
    dora.command(now, Command::Join { group }, &mut dice);
    if told {
        dora.command(now, Command::Apply, &mut dice);
    }
    dora.node(now, ToMember::Configuration { nodes: vec![id(DORA).node()] }, &mut dice);
    let up = ToMember::LinkUp { node: id(0).node(), rostered: true, at: Locator::Memory(1) };
    dora.node(now, up, &mut dice);
    assert_eq!(asks(dora).0, 0, "she takes herself for a member");
    dora.node(now, ToMember::Entry(out.clone()), &mut dice);
    let (requests, _) = asks(dora);
    dora.node(Instant(60_000_000), ToMember::Entry(again.clone()), &mut dice);
    (requests, asks(dora).1)
}

/// The entry that admits her again after this one.
fn again(transcript: &mut Transcript, out: &Bytes) -> Bytes {
    transcript.append(out).unwrap();
    transcript.make_admit(gmc(transcript, DORA, &[0], 2).der(), &PEOPLE[0]).unwrap()
}

#[test]
fn who_was_told_to_ask_and_learns_that_its_certificate_ran_out_asks() {
    let (mut dora, mut transcript) = away();
    let held = transcript.roster().member(&id(DORA)).unwrap();
    let late = UnixTime(held.not_after.0 + 1);
    let expire = transcript.make_expire(id(DORA), held.entry, late, &PEOPLE[0]).unwrap();
    let again = again(&mut transcript, &expire);
    assert_eq!(returns(&mut dora, true, &expire, &again), (1, 1), "she means to be where she was");
    let (mut dora, _) = away();
    assert_eq!(returns(&mut dora, false, &expire, &again), (0, 0), "nobody told her to");
}

/// The same if she asked as a stranger, was admitted, and is still here when her term ends.
#[test]
fn who_was_admitted_since_it_asked_asks_again_when_its_certificate_runs_out() {
    let (_, mut transcript) = away();
    let admit = transcript.entries().nth(1).unwrap().clone();
    let held = transcript.roster().member(&id(DORA)).unwrap();
    let late = UnixTime(held.not_after.0 + 1);
    let expire = transcript.make_expire(id(DORA), held.entry, late, &PEOPLE[0]).unwrap();
    let again = again(&mut transcript, &expire);
    let charter = charter(2, Minority::Continue);
    let mut dora = Member::new(Config::new(PEOPLE[DORA].clone(), charter), &[]).unwrap();
    let (now, mut dice) = (Instant(0), Dice(1));
    dora.clock(now, NOW, &mut dice);
    let group = dora.transcript().group();
    dora.command(now, Command::Join { group }, &mut dice);
    dora.command(now, Command::Apply, &mut dice);
    dora.node(now, ToMember::Configuration { nodes: vec![id(DORA).node()] }, &mut dice);
    let up = ToMember::LinkUp { node: id(0).node(), rostered: true, at: Locator::Memory(1) };
    dora.node(now, up, &mut dice);
    assert_eq!(asks(&mut dora), (1, 0), "as a stranger");
    dora.node(now, ToMember::Entry(admit), &mut dice);
    assert_eq!(asks(&mut dora), (0, 1), "as a member");
    dora.node(now, ToMember::Entry(expire), &mut dice);
    assert_eq!(asks(&mut dora).0, 1, "as one whose term is over");
    dora.node(Instant(60_000_000), ToMember::Entry(again), &mut dice);
    assert_eq!(asks(&mut dora).1, 1, "as a member again");
}

#[test]
fn who_was_expelled_does_not_ask_by_itself() {
    let (mut dora, mut transcript) = away();
    let entry = decide(&transcript, &expulsion(&transcript, DORA), &[0, 1]);
    let again = again(&mut transcript, &entry);
    assert_eq!(returns(&mut dora, true, &entry, &again), (0, 0));
}
