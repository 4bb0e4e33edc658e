//! Log files, whole and damaged.

use crate::helper::{channel, payload};
use folkmoot_pubsub::MESSAGE_BYTES_MAX;
use folkmoot_pubsub::log::{Event, HEADER_BYTES, Step, step};
use proptest::prelude::*;

/// What a reader finds in a file that it reads in pieces: the numbers of events, their payloads,
/// and how many bytes it skipped.
fn read(file: &[u8], piece: usize) -> (Vec<(i64, Vec<u8>)>, usize) {
    let (mut events, mut skipped) = (Vec::new(), 0);
    let (mut from, mut to) = (0, 0);
    loop {
        match step(&file[from..to], to == file.len()) {
            Step::Event { event, bytes } => {
                events.push((event.number, event.payload.to_vec()));
                from += bytes;
            }
            Step::Skip(bytes) => {
                assert!(bytes > 0);
                skipped += bytes;
                from += bytes;
            }
            Step::More(bytes) => {
                assert!(to < file.len() && bytes > to - from, "it asks only for what it lacks");
                to = file.len().min(to.max(from + bytes).max(to + piece));
            }
            Step::End => break,
        }
    }
    assert_eq!(from, file.len());
    (events, skipped)
}

fn event(number: i64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Event { number, time: 1_000 * number, channel: channel("POSE"), payload }.encode(&mut out).unwrap();
    out
}

fn events(count: i64) -> Vec<Vec<u8>> {
    (0..count).map(|number| event(number, &payload(40 + usize::try_from(number).unwrap(), 5))).collect()
}

fn numbers(file: &[u8]) -> Vec<i64> {
    let whole = read(file, file.len());
    assert_eq!(whole, read(file, 1));
    whole.0.into_iter().map(|(number, _)| number).collect()
}

#[test]
fn an_event_has_the_bytes_of_lcms_logs() {
    let mut out = Vec::new();
    let event =
        Event { number: 2, time: 0x0102_0304_0506_0708, channel: channel("channel1"), payload: b"hello" };
    event.encode(&mut out).unwrap();
    let head = b"\xed\xa1\xda\x01\0\0\0\0\0\0\0\x02\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\x08\0\0\0\x05";
    assert_eq!(out, [&head[..], b"channel1hello"].concat());
    assert_eq!(step(&out, true), Step::Event { event, bytes: out.len() });
    assert_eq!(step(&out, false), Step::More(out.len() + 4), "what follows is looked at");
    assert_eq!((step(&[], true), step(&[], false)), (Step::End, Step::More(HEADER_BYTES)));
}

#[test]
fn no_event_is_written_that_lcm_would_not_read() {
    let long = vec![0; MESSAGE_BYTES_MAX + 1];
    let event = Event { number: 0, time: 0, channel: channel("a"), payload: &long };
    assert!(event.encode(&mut Vec::new()).is_err());
}

#[test]
fn pub_12_lengths_that_no_event_has_are_no_event() {
    let good = event(7, b"x");
    for (place, length) in
        [(20, 0_i32), (20, 64), (20, -1), (20, i32::MAX), (24, -1), (24, i32::MIN), (24, (1 << 28) + 1)]
    {
        let mut lie = event(3, b"lie");
        lie[place..place + 4].copy_from_slice(&length.to_be_bytes());
        // Nothing is asked for that the lie would have.
        assert_eq!(step(&lie, false), Step::Skip(4), "{place} {length}");
        assert_eq!(numbers(&[lie, good.clone()].concat()), [7], "{place} {length}");
    }
    let mut nul = event(3, b"lie");
    nul[29] = 0;
    assert_eq!(numbers(&[nul, good].concat()), [7], "NUL in the name");
}

#[test]
fn pub_13_damage_costs_no_event_but_the_damaged() {
    let all = events(6);
    for (about, place, bytes) in [
        ("the magic", 0, &b"\0"[..]),
        ("the length of the name", 20, &[0, 0, 0, 60]),
        ("the payload's length, too short", 24, &[0, 0, 0, 3]),
        ("the payload's length, longer than the next", 24, &[0, 0, 0, 150]),
        ("the payload's length, longer than the file", 24, &[1, 0, 0, 0]),
    ] {
        let mut damaged = all.clone();
        damaged[2][place..place + bytes.len()].copy_from_slice(bytes);
        let heard = numbers(&damaged.concat());
        let without: Vec<i64> = heard.iter().copied().filter(|number| *number != 2).collect();
        assert_eq!(without, [0, 1, 3, 4, 5], "{about}");
    }
    // Bytes between, before and after; an event that is cut off.
    let junk = [&b"junk"[..], &[0xed, 0xa1, 0xda]].concat();
    let file = [&junk[..], &all[0], &junk, &all[1], &all[2], &junk].concat();
    assert_eq!(numbers(&file), [0, 1, 2]);
    for cut in 1..all[2].len() {
        let file = [&all[0][..], &all[1], &all[2][..cut]].concat();
        assert_eq!(numbers(&file), [0, 1], "cut after {cut}");
        let file = [&all[0][..], &all[2][..cut], &all[1]].concat();
        let heard = numbers(&file);
        assert!(heard == [0, 1] || heard == [0, 2, 1], "cut after {cut} in the middle: {heard:?}");
    }
    // What a message says may look like an event.
    let inner = event(99, b"inner");
    assert_eq!(numbers(&[all[0].clone(), event(1, &inner), all[2].clone()].concat()), [0, 1, 2]);
}

proptest! {
    #[test]
    fn what_is_written_is_read(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 0..20), piece in 1_usize..200) {
        let numbered = payloads.into_iter().zip(0_i64..).map(|(payload, number)| (number, payload));
        let expected: Vec<(i64, Vec<u8>)> = numbered.collect();
        let file: Vec<u8> = expected.iter().flat_map(|(number, payload)| event(*number, payload)).collect();
        prop_assert_eq!(read(&file, piece), (expected, 0));
    }

    #[test]
    fn no_damage_does_harm(place in 0_usize..400, change in prop::collection::vec(any::<u8>(), 1..40), piece in 1_usize..500) {
        let mut file = events(5).concat();
        let end = (place + change.len()).min(file.len());
        let place = place.min(end);
        file.splice(place..end, change);
        let (events, skipped) = read(&file, piece);
        let taken: usize = events.iter().map(|(_, payload)| HEADER_BYTES + 4 + payload.len()).sum();
        prop_assert!(taken <= file.len() && skipped <= file.len());
        prop_assert!(events.len() >= 2, "damage of 40 bytes costs at most what it touches and one more");
    }
}
