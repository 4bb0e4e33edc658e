//! Fragments that are lost, come twice, out of order, or from a liar.

use crate::helper::{Ear, datagrams, forged, fragments, payload};
use folkmoot_base::Instant;
use folkmoot_pubsub::{Danger, Limits, Sizes};
use proptest::prelude::*;
use std::time::Duration;

#[test]
fn every_size_comes_whole_however_its_fragments_are_turned() {
    for length in (0..200_000).step_by(7_919).chain([65_490, 65_491, 130_965, 130_966, 199_999]) {
        let said = payload(length, 7);
        let made = datagrams("channel1", &said, 3, Sizes::LARGE);
        for turned in [made.clone(), made.iter().rev().cloned().collect()] {
            let mut ear = Ear::new();
            assert!(ear.hear_all(1, &turned) == [&said[..]], "{length}");
            assert_eq!(ear.held(), (0, 0, 1), "{length}");
        }
    }
}

#[test]
fn a_message_that_lacks_a_fragment_never_comes() {
    let (_, made) = fragments("a", 5, 0, 0);
    for gone in 0..5 {
        let mut ear = Ear::new();
        let left = made.iter().enumerate().filter(|(number, _)| *number != gone).map(|(_, one)| one);
        // Those that did come, three times.
        let left: Vec<Vec<u8>> = left.cloned().collect();
        assert!(ear.hear_all(1, left.iter().chain(&left).chain(&left)).is_empty());
        assert_eq!(ear.counters().duplicates, 8);
    }
}

#[test]
fn senders_whose_fragments_are_mixed_do_not_disturb_each_other() {
    let (one, ones) = fragments("a", 4, 1, 9);
    let (two, twos) = fragments("a", 4, 2, 9);
    let mut ear = Ear::new();
    for (mine, yours) in ones.iter().zip(&twos).take(3) {
        assert_eq!((ear.hear(1, mine), ear.hear(2, yours)), (Ok(None), Ok(None)));
    }
    assert_eq!(ear.hear_all(1, &ones[3..]), [one]);
    assert_eq!(ear.hear_all(2, &twos[3..]), [two]);
    assert_eq!(ear.counters().contradicted, 0);
}

#[test]
fn pub_05_fragments_that_do_not_fit_together_are_dropped_and_the_newer_begins() {
    let (said, good) = fragments("a", 4, 0, 0);
    let size = u32::try_from(said.len()).unwrap();
    let lies = [
        ("another length", forged(&good[1], Some(size + 1), None, None, None)),
        ("another count", forged(&good[1], None, None, None, Some(5))),
        ("an overlap", forged(&good[1], None, Some(1_420), None, None)),
        ("a gap", forged(&good[1], None, Some(1_422), None, None)),
        ("a shorter one between", good[1][..1_400].to_vec()),
        (
            "a last one elsewhere",
            [&forged(&good[3], None, Some(size - 10), None, None)[..20], &[0; 10]].concat(),
        ),
    ];
    for (about, lie) in &lies {
        let mut ear = Ear::new();
        assert_eq!(ear.hear_all(1, [&good[0], &good[2], lie]), [] as [Vec<u8>; 0], "{about}");
        assert_eq!(ear.counters().contradicted, 1, "{about}");
        assert_eq!(ear.held().0, 1, "{about}: the lie is what is held now");
        // The sender repeats itself: the lie gives way, and the message comes as it was said.
        let heard = ear.hear_all(1, good.iter().chain(&good));
        assert!(!heard.is_empty() && heard.iter().all(|heard| *heard == said), "{about}");
        assert_eq!(ear.counters().contradicted, 2, "{about}");
    }
}

#[test]
fn pub_06_a_fragment_that_comes_again_with_other_bytes_begins_anew() {
    let (said, good) = fragments("a", 3, 0, 0);
    let (other, others) = fragments("a", 3, 200, 0);
    let mut ear = Ear::new();
    assert!(ear.hear_all(1, [&good[0], &good[0], &good[1], &good[0]]).is_empty());
    assert_eq!((ear.counters().duplicates, ear.counters().contradicted), (2, 0));
    // The same sender and number, another message.
    assert!(ear.hear_all(1, &others[..1]).is_empty());
    assert_eq!((ear.counters().contradicted, ear.held().0), (1, 1));
    assert!(ear.hear_all(1, &others[1..]) == [other], "nothing is left of the one before");
    let mut renamed = good.clone();
    renamed[0][20] = b'b';
    let mut ear = Ear::new();
    assert!(ear.hear_all(1, [&good[0], &renamed[0], &good[1]]).is_empty());
    assert_eq!(ear.counters().contradicted, 1);
    assert_eq!(ear.hear(1, &good[2]), Ok(Some(("b".into(), said, 0))));
}

#[test]
fn without_the_checks_on_fragments_a_message_comes_that_nobody_said() {
    let heard = |danger: Option<Danger>, datagrams: &[&Vec<u8>]| {
        let mut ear = Ear::with(Limits { danger: danger.into(), ..Limits::default() });
        ear.hear_all(1, datagrams.iter().copied())
    };
    let (said, good) = fragments("a", 4, 0, 0);
    // The liar's second fragment lies over the first, and leaves a gap where it belongs.
    let lie = forged(&good[1], None, Some(5), None, None);
    let datagrams = [&good[0], &lie, &good[2], &good[3]];
    let wrong = heard(Some(Danger::AnyPlace), &datagrams);
    assert!(wrong.len() == 1 && wrong[0].len() == said.len() && wrong[0] != said);
    assert!(heard(None, &datagrams).is_empty());
    // It says one fragment twice, and keeps another back.
    let datagrams = [&good[0], &good[1], &good[1], &good[3]];
    let wrong = heard(Some(Danger::CountsTwice), &datagrams);
    assert!(wrong.len() == 1 && wrong[0] != said);
    assert!(heard(None, &datagrams).is_empty());
}

#[test]
fn pub_07_a_sender_crowds_out_only_itself() {
    let limits = Limits { sender_messages: 3, sender_bytes: 1 << 20, ..Limits::default() };
    let mut ear = Ear::with(limits);
    let (honest, whole) = fragments("a", 3, 1, 0);
    assert!(ear.hear_all(7, &whole[..2]).is_empty());
    for sequence in 0..1_000 {
        assert!(ear.hear_all(1, &fragments("a", 2, 2, sequence).1[..1]).is_empty());
        assert!(ear.held().0 <= 4 && ear.held().1 < (1 << 20) + 5_000);
    }
    assert_eq!(ear.counters().crowded, 997);
    // By bytes: each message says that it has 600 kB.
    for sequence in 2_000..2_010 {
        let lie = &datagrams("a", &payload(600_000, 0), sequence, Sizes::LARGE)[1];
        assert!(ear.hear_all(1, [lie]).is_empty());
        assert!(ear.held().1 < (1 << 20) + 10_000, "{:?}", ear.held());
    }
    assert_eq!(ear.hear_all(7, &whole[2..]), [honest]);
    // What is newest of the flood is there still.
    let last = datagrams("a", &payload(600_000, 0), 2_009, Sizes::LARGE);
    assert_eq!(ear.hear_all(1, &last).len(), 1);
}

#[test]
fn without_a_bound_for_each_sender_a_flood_crowds_out_another() {
    let limits = Limits { sender_messages: usize::MAX, messages: 10, ..Limits::default() };
    let heard = |limits: Limits| {
        let mut ear = Ear::with(limits);
        let (_, whole) = fragments("a", 3, 1, 0);
        ear.hear_all(7, &whole[..2]);
        for sequence in 0..20 {
            ear.hear_all(1, &fragments("a", 2, 2, sequence).1[..1]);
        }
        ear.hear_all(7, &whole[2..]).len()
    };
    assert_eq!((heard(limits), heard(Limits { sender_messages: 8, ..limits })), (0, 1));
}

#[test]
fn pub_08_of_all_incomplete_messages_the_one_that_waits_longest_gives_way() {
    let limits = Limits { messages: 50, bytes: 4 << 20, ..Limits::default() };
    let mut ear = Ear::with(limits);
    let (said, whole) = fragments("a", 40, 1, 0);
    // A flood from as many addresses as there are; the honest sender's fragments are among it.
    for (number, fragment) in whole.iter().enumerate() {
        let heard = ear.hear_all(9, [fragment]);
        assert_eq!(heard.len(), usize::from(number == 39));
        assert!(heard.is_empty() || heard == [said.clone()]);
        for liar in 0..40 {
            let port = u16::try_from(1_000 + number * 40 + liar).unwrap();
            assert!(ear.hear_all(port, &fragments("a", 2, 3, 5).1[..1]).is_empty());
            assert!(ear.held().0 <= 50 && ear.held().1 <= 4 << 20);
        }
    }
    assert!(ear.counters().crowded > 1_000);
    // By bytes: each says that it has 1 MB.
    for liar in 0..20 {
        let lie = &datagrams("a", &payload(1_000_000, 0), 1, Sizes::LARGE)[3];
        assert!(ear.hear_all(liar, [lie]).is_empty());
        assert!(ear.held().1 <= 4 << 20);
    }
    // One that waits too long among too many is gone.
    let (_, late) = fragments("a", 2, 4, 1);
    ear.hear_all(9, &late[..1]);
    for port in 20_000..20_050 {
        ear.hear_all(port, &fragments("a", 2, 3, 5).1[..1]);
    }
    assert!(ear.hear_all(9, &late[1..]).is_empty());
}

#[test]
fn pub_16_forged_lengths_push_out_no_long_message() {
    let heard = |danger: Option<Danger>| {
        let mut ear = Ear::with(Limits { danger: danger.into(), ..Limits::default() });
        let said = payload(3_000_000, 1);
        let mut whole = datagrams("a", &said, 0, Sizes::LARGE);
        let last = whole.pop().unwrap();
        assert!(ear.hear_all(7, &whole).is_empty());
        // Each from another address, and each says that it has 60 MiB.
        for liar in 1_000..1_900 {
            let lie = forged(
                &datagrams("a", &payload(200_000, 0), 1, Sizes::LARGE)[0],
                Some(60 << 20),
                None,
                None,
                Some(965),
            );
            assert!(ear.hear_all(liar, [&lie]).is_empty());
            assert!(ear.held().1 <= 160 << 20);
        }
        ear.hear_all(7, [&last]) == [said]
    };
    assert_eq!((heard(None), heard(Some(Danger::BelievesLengths))), (true, false));
}

#[test]
fn pub_09_a_message_does_not_wait_for_ever() {
    let (said, good) = fragments("a", 3, 0, 0);
    let (_, other) = fragments("b", 2, 0, 1);
    let mut ear = Ear::new();
    let patience = Limits::default().patience;
    ear.hear_all(1, &good[..1]);
    ear.now = ear.now + patience;
    ear.hear_all(1, &good[1..2]);
    ear.now = ear.now + patience;
    ear.hear_all(2, &other[..1]);
    assert_eq!((ear.held().0, ear.counters().stale), (2, 0), "each fragment begins the time anew");
    ear.now = ear.now + Duration::from_micros(1);
    assert!(ear.hear_all(1, &good[2..]).is_empty());
    assert_eq!((ear.held().0, ear.counters().stale), (2, 1), "what came before is gone");
    assert_eq!(ear.hear_all(1, &good[..2]), [said]);
    // Whatever comes next makes room.
    ear.now = ear.now + patience + Duration::from_micros(1);
    assert_eq!(ear.held().0, 1);
    assert!(ear.hear(3, b"LC02").is_err());
    assert_eq!((ear.held().0, ear.held().1, ear.counters().stale), (0, 0, 2));
    ear.now = Instant(0);
    assert!(ear.hear_all(1, &good[..1]).is_empty(), "a clock that goes back does no harm");
}

proptest! {
    /// Fragments of two messages of one sender with one number, and of one with another number, in
    /// any order: what comes is one of the three. (Of two that have one number and one length too,
    /// a mixture can come: plain fragments say no more.)
    #[test]
    fn no_mixture_ever_comes(picks in prop::collection::vec((0_usize..3, 0_usize..4), 0..80)) {
        let (one, ones) = fragments("a", 4, 1, 0);
        let two = payload(one.len() + 1, 99);
        let twos = datagrams("a", &two, 0, Sizes::SMALL);
        let (three, threes) = fragments("b", 4, 200, 1);
        let mut ear = Ear::new();
        for (which, number) in picks {
            let datagram = [&ones, &twos, &threes][which].get(number).unwrap();
            for heard in ear.hear_all(1, [datagram]) {
                prop_assert!([&one, &two, &three].contains(&&heard));
            }
        }
    }

    /// Each fragment comes at least once, in any order.
    #[test]
    fn fragments_in_any_order_are_the_message(
        order in Just((0_usize..12).chain(0..12).collect::<Vec<_>>()).prop_shuffle()
    ) {
        let (said, made) = fragments("a", 12, 1, 0);
        let mut ear = Ear::new();
        let heard = ear.hear_all(1, order.iter().map(|number| &made[*number]));
        prop_assert!(!heard.is_empty() && heard.iter().all(|heard| *heard == said));
        prop_assert_eq!(ear.counters().contradicted, 0);
    }

    /// Whatever headers say, what is held stays within the limits.
    #[test]
    fn lying_headers_stay_within_the_limits(
        lies in prop::collection::vec((0_u16..6, 0_u32..4, 0_u32..40_000, 0_u32..40_000, 0_u16..8, 0_u16..300, 0_usize..90), 0..120)
    ) {
        let limits = Limits {
            message_bytes: 30_000, sender_messages: 2, sender_bytes: 40_000, messages: 4, bytes: 60_000, senders: 3,
            ..Limits::default()
        };
        let mut ear = Ear::with(limits);
        for (port, sequence, size, offset, number, count, length) in lies {
            let mut lie = [&b"LC03"[..], &sequence.to_be_bytes(), &[0; 12]].concat();
            lie = forged(&lie, Some(size), Some(offset), Some(number), Some(count));
            if number == 0 {
                lie.extend_from_slice(b"a\0");
            }
            lie.extend(std::iter::repeat_n(7, length));
            let _ = ear.hear(port, &lie);
            let (messages, bytes, senders) = ear.held();
            prop_assert!(messages <= 4 && bytes <= 60_000 && senders <= 3);
        }
    }
}
