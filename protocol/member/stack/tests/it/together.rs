//! MEM-02: short messages share a seal, and keep their order and their numbers.

use crate::common::Moot;
use crate::common::people::Dice;
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_attach::credit::{Grant, OPEN_MAX, START};
use folkmoot_base::limits::UNRELIABLE_BYTES_MAX;
use folkmoot_base::{GroupId, Service};
use folkmoot_identity::Minority;
use folkmoot_member::{Command, Event, SendError};

/// How many sealed messages this member has made.
fn seals(moot: &Moot, number: usize) -> u64 {
    moot.sealed_by_epoch(number).values().sum()
}

#[test]
fn mem_02_short_messages_share_a_seal_and_keep_order_and_numbers() {
    let mut dice = Dice(5);
    let mut moot = Moot::new(3, 3, Minority::Continue, None);
    moot.settle(&mut dice);
    // 40 of 30 bytes fit one seal with their lengths, 43 do not; the long one goes alone.
    let mut texts: Vec<String> = (0..43).map(|number| format!("{number:030}")).collect();
    texts.push("x".repeat(5_000));
    texts.push("last".into());
    moot.send(0, "alone");
    moot.send_together(0, &texts);
    moot.settle(&mut dice);
    let all: Vec<String> = std::iter::once("alone".to_owned()).chain(texts).collect();
    for number in 0..3 {
        assert_eq!(moot.texts(number), all);
        let numbers = moot.chairs[number].events.iter().filter_map(|event| match event {
            Event::Message { origin, .. } => Some(origin.number),
            _ => None,
        });
        assert!(numbers.eq(0..46), "each text has its own number");
    }
    assert_eq!(seals(&moot, 0), 5, "one, 42, one, the long one, the last");
}

/// The group has no credit. What is unreliable does not wait for what waits.
#[test]
fn ord_16_unreliable_passes_what_waits_for_the_ring_and_is_not_too_long() {
    let mut dice = Dice(7);
    let mut moot = Moot::new(3, 3, Minority::Continue, None);
    moot.settle(&mut dice);
    let say = |moot: &mut Moot, service, text: Vec<u8>| {
        let (group, payload) = (moot.group, Bytes::from(text));
        moot.command(0, Command::Send { group, service, payload, signed: false });
    };
    say(&mut moot, Service::Agreed, vec![b'y'; 64 * 1024]);
    say(&mut moot, Service::Agreed, b"held".into());
    say(&mut moot, Service::Unreliable, b"now".into());
    say(&mut moot, Service::Unreliable, vec![b'x'; UNRELIABLE_BYTES_MAX + 1]);
    moot.settle(&mut dice);
    let long = "y".repeat(64 * 1024);
    assert_eq!(moot.texts(1), [long.as_str(), "now"]);
    assert_eq!(moot.failures(0), [SendError::LocalTooLongUnreliable(UNRELIABLE_BYTES_MAX + 1)]);
    let group = moot.group;
    moot.hear(0, ToMember::Credit { group, grant: Grant(2 * START) });
    moot.settle(&mut dice);
    assert_eq!(moot.texts(1), [long.as_str(), "now", "held"]);
}

/// The first has credit, and the last has not: all go, and share seals as ever. Then all wait.
#[test]
fn att_10_texts_that_are_sent_together_are_not_cut_in_two_by_their_credit() {
    let mut dice = Dice(10);
    let mut moot = Moot::new(3, 3, Minority::Continue, None);
    moot.settle(&mut dice);
    moot.send(0, &"y".repeat(60_000));
    let texts: Vec<String> = (0..128).map(|number| format!("{number:0100}")).collect();
    moot.send_together(0, &texts);
    moot.settle(&mut dice);
    assert_eq!(moot.texts(1)[1..], texts);
    assert_eq!(seals(&moot, 0), 11, "the long one, and 13 of 100 bytes in each");
    moot.send_together(0, &texts);
    moot.settle(&mut dice);
    assert_eq!(moot.texts(1).len(), 129, "there was no grant");
}

/// A node that grants what it may not is not believed, and the next honest grant counts.
#[test]
fn att_11_a_member_believes_no_grant_that_is_too_large_or_comes_again() {
    let mut dice = Dice(8);
    let mut moot = Moot::new(3, 3, Minority::Continue, None);
    moot.settle(&mut dice);
    moot.send(0, &"y".repeat(64 * 1024));
    moot.send(0, "held");
    let group = moot.group;
    for grant in [START, 0, OPEN_MAX + 1_000_000, u64::MAX].map(Grant) {
        moot.hear(0, ToMember::Credit { group, grant });
        assert!(!moot.chairs[0].member.can_send(group), "{grant:?}");
    }
    moot.settle(&mut dice);
    assert_eq!(moot.texts(1).len(), 1);
    moot.hear(0, ToMember::Credit { group, grant: Grant(2 * START) });
    moot.settle(&mut dice);
    assert_eq!(moot.texts(1).len(), 2);
    assert!(moot.chairs[0].member.can_send(moot.group));
}

/// Credit for another group is no credit, and what was granted before a leave is gone with it.
#[test]
fn att_12_a_grant_counts_in_its_own_group_alone_and_until_the_party_is_out() {
    let mut dice = Dice(9);
    let mut moot = Moot::new(3, 3, Minority::Continue, None);
    moot.settle(&mut dice);
    let (group, long) = (moot.group, "y".repeat(64 * 1024));
    moot.send(0, &long);
    moot.hear(0, ToMember::Credit { group: GroupId([9; 32]), grant: Grant(2 * START) });
    assert!(!moot.chairs[0].member.can_send(group));
    moot.command(0, Command::Leave { group });
    moot.settle(&mut dice);
    moot.hear(0, ToMember::Credit { group, grant: Grant(4 * START) });
    moot.command(0, Command::Join { group });
    moot.settle(&mut dice);
    assert!(moot.chairs[0].member.can_send(group), "a new account has what each has at first");
    moot.send(0, &long);
    assert!(!moot.chairs[0].member.can_send(group), "and no more");
}

/// What is refused is refused from there on, and each of these is told; what is held keeps its
/// order.
#[test]
fn mem_02_without_a_quorum_each_of_them_is_refused() {
    let mut dice = Dice(6);
    let mut moot = Moot::new(3, 3, Minority::ReadOnly, None);
    moot.settle(&mut dice);
    moot.split(&[2].into());
    moot.settle(&mut dice);
    let texts: Vec<String> = ["a", "b", "c"].map(String::from).into();
    moot.send_together(2, &texts);
    assert_eq!(moot.failures(2).len(), 3);
    moot.send_together(0, &texts);
    moot.settle(&mut dice);
    assert_eq!((moot.texts(0), moot.texts(1)), (texts.clone(), texts));
}
