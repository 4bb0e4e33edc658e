//! A member's certificate ran out while it was away, and it does not know this yet. That it was
//! told to ask for admission is not forgotten.

use crate::common::people::{self, Dice, NOW, PEOPLE, charter, decide, decide_holding, expulsion, gmc, id};
use attach::{ToMember, ToNode, Upper, UpperOutput};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach as attach;
use folkmoot_base::{Instant, Locator, Says, StoreKey, UnixTime};
use folkmoot_identity::Minority;
use folkmoot_member::{Command, Config, Member, keep_voucher};
use folkmoot_transcript::{Ending, Item, Kept, PAST_SAID_SECONDS, Transcript, Voucher, Vouching};

const DORA: usize = 4;

/// Dora's member as she left it, and the transcript that the others have.
fn away() -> (Member, Transcript) {
    let charter = charter(2, Minority::Continue);
    let mut transcript = Transcript::founded(&charter).unwrap();
    let item = transcript.make_admit(gmc(&transcript, DORA, &[0], (1, NOW)).der(), &[]).unwrap();
    let taken = transcript.take(&item, Some(NOW)).unwrap();
    let stored: Vec<(StoreKey, Bytes)> = Kept::default()
        .after(&transcript, &item, &taken)
        .into_iter()
        .map(|persist| (persist.key, persist.value.unwrap()))
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
            UpperOutput::Node(ToNode::Word(said)) if matches!(said.word.says, Says::Join(_)) => joins += 1,
            _ => {}
        }
    }
    (requests, joins)
}

/// What she asks for once an item says that she is out, and how many times she asks for her group
/// once another item says that she is in again.
fn returns(dora: &mut Member, told: bool, out: &(Bytes, UnixTime), again: &Bytes) -> (usize, usize) {
    let (now, mut dice) = (Instant(1), Dice(2));
    let group = dora.transcript().group();
    dora.command(now, Command::Join { group }, &mut dice).unwrap();
    if told {
        dora.command(now, Command::Apply, &mut dice).unwrap();
    }
    dora.node(
        now,
        ToMember::Configuration {
            id: people::CONFIGURATION,
            nodes: vec![id(DORA).node()],
            patience: Duration::ZERO,
        },
        &mut dice,
    );
    let up = ToMember::LinkUp { node: id(0).node(), rostered: true, at: Locator::memory(1) };
    dora.node(now, up, &mut dice);
    assert_eq!(asks(dora).0, 0, "she takes herself for a member");
    dora.clock(now, out.1, &mut dice);
    assert_eq!(asks(dora).0, 0, "nobody has said otherwise");
    dora.node(now, ToMember::Item(out.0.clone()), &mut dice);
    let (requests, _) = asks(dora);
    dora.node(Instant(60_000_000), ToMember::Item(again.clone()), &mut dice);
    (requests, asks(dora).1)
}

/// The item that admits her again after this one.
fn again(transcript: &mut Transcript, (out, time): &(Bytes, UnixTime)) -> Bytes {
    assert!(transcript.take(out, Some(*time)).unwrap().went.contains(&id(DORA)));
    transcript.make_admit(gmc(transcript, DORA, &[0], (2, *time)).der(), &[]).unwrap()
}

/// The end of her term, and a time at which it is over for everybody.
fn expire(transcript: &Transcript) -> (Bytes, UnixTime) {
    let held = transcript.roster().member(&id(DORA)).unwrap();
    let item = Item::Past { time: UnixTime(held.ends.0 + 1) };
    (item.encode().into(), UnixTime(held.ends.0 + PAST_SAID_SECONDS - 1))
}

#[test]
fn who_was_told_to_ask_and_learns_that_its_certificate_ran_out_asks() {
    let (mut dora, mut transcript) = away();
    let expire = expire(&transcript);
    let again = again(&mut transcript, &expire);
    assert_eq!(returns(&mut dora, true, &expire, &again), (1, 1), "she means to be where she was");
    let (mut dora, _) = away();
    assert_eq!(returns(&mut dora, false, &expire, &again), (0, 0), "nobody told her to");
}

/// The same if she asked as a stranger, was admitted, and is still here when her term ends.
#[test]
fn who_was_admitted_since_it_asked_asks_again_when_its_certificate_runs_out() {
    let (_, mut transcript) = away();
    let admit = transcript.items().next().unwrap();
    let expire = expire(&transcript);
    let again = again(&mut transcript, &expire);
    let charter = charter(2, Minority::Continue);
    let mut dora = Member::new(Config::new(PEOPLE[DORA].clone(), charter), &[]).unwrap();
    let (now, mut dice) = (Instant(0), Dice(1));
    dora.clock(now, NOW, &mut dice);
    let group = dora.transcript().group();
    dora.command(now, Command::Join { group }, &mut dice).unwrap();
    dora.command(now, Command::Apply, &mut dice).unwrap();
    dora.node(
        now,
        ToMember::Configuration {
            id: people::CONFIGURATION,
            nodes: vec![id(DORA).node()],
            patience: Duration::ZERO,
        },
        &mut dice,
    );
    let up = ToMember::LinkUp { node: id(0).node(), rostered: true, at: Locator::memory(1) };
    dora.node(now, up, &mut dice);
    assert_eq!(asks(&mut dora), (1, 0), "as a stranger");
    dora.node(now, ToMember::Item(admit), &mut dice);
    assert_eq!(asks(&mut dora), (0, 1), "as a member");
    dora.clock(now, expire.1, &mut dice);
    dora.node(now, ToMember::Item(expire.0), &mut dice);
    assert_eq!(asks(&mut dora).0, 1, "as one whose term is over");
    dora.node(Instant(60_000_000), ToMember::Item(again), &mut dice);
    assert_eq!(asks(&mut dora).1, 1, "as a member again");
}

#[test]
fn who_was_expelled_does_not_ask_by_itself() {
    let (mut dora, mut transcript) = away();
    let out = (decide(&transcript, &expulsion(DORA), &[0, 1]), NOW);
    let again = again(&mut transcript, &out);
    assert_eq!(returns(&mut dora, true, &out, &again), (0, 0));
}

/// She was admitted, and a decision that does not hold her admission expels the voter who let her
/// in. Nobody decided against her: she goes on asking, and means to be where she was.
#[test]
fn mem_09_whose_admission_no_longer_counts_goes_on_asking() {
    let (mut dora, mut transcript) = away();
    let out = (decide_holding(&transcript, &expulsion(0), &[0, 1], Vec::new()), NOW);
    transcript.take(&out.0, Some(NOW)).unwrap();
    let ending = transcript.roster().former(&id(DORA)).unwrap().ending;
    assert_eq!(ending, Ending::Late);
    let again = transcript.make_admit(gmc(&transcript, DORA, &[1], (2, NOW)).der(), &[]).unwrap();
    assert_eq!(returns(&mut dora, true, &out, &again), (1, 1));
    let (mut dora, _) = away();
    assert_eq!(returns(&mut dora, false, &out, &again), (0, 0), "nobody told her to");
}

/// She was admitted, and the power went before her disk had lost what she had asked by. That is
/// no reason to ask again once she is expelled.
#[test]
fn mem_08_who_was_expelled_does_not_ask_by_what_its_disk_has_kept() {
    let (dora, mut transcript) = away();
    let charter = charter(2, Minority::Continue);
    let says = Vouching { serial: [1; 16], ends: UnixTime(u64::MAX), holder: None };
    let voucher = keep_voucher(&Voucher::sign(transcript.roster().charter().group(), says, &PEOPLE[0]));
    let mut asked: Vec<(StoreKey, Bytes)> = vec![(voucher.key, voucher.value.unwrap())];
    let mut stranger = Member::new(Config::new(PEOPLE[DORA].clone(), charter.clone()), &asked).unwrap();
    let (now, mut dice) = (Instant(0), Dice(1));
    stranger.clock(now, NOW, &mut dice);
    stranger.command(now, Command::Apply, &mut dice).unwrap();
    let up = ToMember::LinkUp { node: id(0).node(), rostered: true, at: Locator::memory(1) };
    stranger.node(now, up.clone(), &mut dice);
    while let Some(output) = stranger.poll_output() {
        if let UpperOutput::Persist(persist) = output {
            asked.extend(persist.value.map(|value| (persist.key, value)));
        }
    }
    assert_eq!(asked.len(), 2, "it has asked");
    let mut dora = Member::with_transcript(
        Config::new(PEOPLE[DORA].clone(), charter),
        dora.transcript().clone(),
        &asked,
    )
    .unwrap();
    let erased = core::iter::from_fn(|| dora.poll_output()).filter_map(|output| match output {
        UpperOutput::Persist(erase) => erase.value.is_none().then_some(erase.key),
        _ => None,
    });
    assert!(erased.eq([asked[0].0.clone(), asked[1].0.clone()]));
    dora.clock(now, NOW, &mut dice);
    dora.node(
        now,
        ToMember::Configuration {
            id: people::CONFIGURATION,
            nodes: vec![id(DORA).node()],
            patience: Duration::ZERO,
        },
        &mut dice,
    );
    dora.node(now, up, &mut dice);
    let out = decide(&transcript, &expulsion(DORA), &[0, 1]);
    transcript.take(&out, Some(NOW)).unwrap();
    dora.node(now, ToMember::Item(out), &mut dice);
    // Whatever comes next.
    let next = transcript.make_admit(gmc(&transcript, DORA - 1, &[0], (1, NOW)).der(), &[]);
    dora.node(Instant(1), ToMember::Item(next.unwrap()), &mut dice);
    dora.clock(Instant(2), NOW, &mut dice);
    let up = ToMember::LinkUp { node: id(0).node(), rostered: true, at: Locator::memory(1) };
    dora.node(Instant(3), up, &mut dice);
    assert_eq!(asks(&mut dora).0, 0);
}
