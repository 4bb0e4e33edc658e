//! The promise, as stories: all members read a letter, and its writer reads the answers, whatever
//! is lost on the way.

use crate::common::{Moot, epoch};
use folkmoot_letters::{ANSWERS_MAX, DRAFTS_MAX, LetterEvent, LettersError, Standing, WriterEvent};
use proptest::prelude::*;

fn contains(all: &[bytes::Bytes], text: &[u8]) -> bool {
    all.iter().any(|one| one.windows(text.len()).any(|part| part == text))
}

#[test]
fn a_letter_is_read_by_all_members_and_its_answer_by_the_writer() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    let letter = moot.write(dora, b"may I come by?");
    moot.run(5_000);
    for member in 0..3 {
        assert_eq!(moot.letters(member), [("dora".to_owned(), b"may I come by?".to_vec())], "{member}");
    }
    moot.answer(1, letter, b"do, on Sunday").unwrap();
    moot.answer(2, letter, b"bring cake").unwrap();
    moot.run(5_000);
    let said = |name: &str, text: &[u8]| (name.to_owned(), text.to_vec());
    assert_eq!(moot.answers(dora), [said("founder2", b"do, on Sunday"), said("founder3", b"bring cake")]);
    for member in &moot.members {
        let answered = member.events.iter().filter(|event| matches!(event, LetterEvent::Answered { .. }));
        assert_eq!(answered.count(), 2);
        assert_eq!(member.errors, []);
    }
    assert_eq!(moot.strangers[dora].errors, []);
    for text in [&b"may I come"[..], b"on Sunday", b"bring cake", b"dora"] {
        assert!(!contains(&moot.seen, text), "sealed on every link");
    }
    assert!(
        contains(&moot.ordered, b"may I come") && contains(&moot.ordered, b"on Sunday"),
        "session's to seal"
    );
}

#[test]
fn a_key_that_changes_under_way_is_asked_for_again() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    moot.write(dora, b"hello");
    assert!(moot.step() && moot.step(), "ask, key; the letter waits on the wire");
    moot.epoch = epoch(moot.group, 2);
    moot.run(5_000);
    assert_eq!(moot.letters(0).len(), 1);
    let stands = |standing| {
        moot.strangers[dora]
            .events
            .iter()
            .any(|event| matches!(event, WriterEvent::Standing { standing: it, .. } if *it == standing))
    };
    assert!(stands(Standing::Stale) && stands(Standing::Delivered));
}

#[test]
fn another_contact_goes_on_where_one_is_lost_or_has_no_key() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0, 1]);
    moot.members[0].inside = false;
    let letter = moot.write(dora, b"hello");
    moot.run(20_000);
    assert_eq!((moot.letters(0).len(), moot.letters(1).len()), (0, 1));
    let (gone, now) = (moot.members[1].identity.node(), moot.now);
    moot.answer(2, letter, b"good day").unwrap();
    moot.wire.clear();
    moot.strangers[dora].writer.link_down(now, &gone);
    moot.strangers[dora].writer.link_up(now, moot.members[2].identity.node());
    moot.members[0].inside = true;
    moot.drain_writer(dora);
    moot.run(30_000);
    assert_eq!(moot.answers(dora), [("founder3".to_owned(), b"good day".to_vec())]);
    assert_eq!((moot.letters(1).len(), moot.letters(2).len()), (1, 1), "and nobody reads it twice");
}

#[test]
fn bounds_hold_and_say_so() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    let letters: Vec<_> = (0..DRAFTS_MAX).map(|number| moot.write(dora, &[number as u8])).collect();
    let group = moot.group;
    let more = |moot: &mut Moot, text: &'static [u8]| {
        let one = &mut moot.strangers[dora];
        one.writer.write(moot.now, (group, text.into()), &one.identity, &mut moot.dice)
    };
    assert_eq!(more(&mut moot, b"ninth"), Err(LettersError::LocalFull(DRAFTS_MAX)));
    assert_eq!(more(&mut moot, b""), Err(LettersError::LocalText(0)));
    moot.run(60_000);
    assert_eq!(moot.letters(0).len(), DRAFTS_MAX);
    for number in 0..ANSWERS_MAX {
        moot.answer(0, letters[0], &[number as u8]).unwrap();
        moot.run(1_000);
    }
    assert_eq!(moot.answer(0, letters[0], b"more"), Err(LettersError::LocalFull(ANSWERS_MAX)));
    assert_eq!(moot.answer(0, [9; 32], b"to whom?"), Err(LettersError::UnknownLetter));
    assert_eq!(moot.answer(0, letters[0], &[0; 8_193]), Err(LettersError::LocalText(8_193)));
    moot.run(10_000);
    assert_eq!(moot.answers(dora).len(), ANSWERS_MAX);
    assert!(more(&mut moot, b"an answered one makes room").is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is lost, doubled or late: a letter is delivered once to each member, and answered
    /// once.
    #[test]
    fn losses_and_repeats_change_nothing_in_the_end(fates in prop::collection::vec(0..5_u8, 1..60)) {
        let mut moot = Moot::new(true);
        let dora = moot.stranger("dora", 9, &[0, 1]);
        let letter = moot.write(dora, b"hello");
        let (mut fates, mut answered) = (fates.into_iter(), false);
        for _ in 0..400 {
            let Some((from, to, payload)) = moot.wire.pop_front() else {
                moot.run(500);
                if moot.letters(2).len() == 1 && !answered {
                    answered = moot.answer(2, letter, b"yes").is_ok();
                }
                if !moot.answers(dora).is_empty() {
                    break;
                }
                continue;
            };
            match fates.next().unwrap_or(4) {
                0 | 1 => {}
                2 => moot.wire.push_back((from, to, payload)),
                3 => {
                    moot.bring(from, to, payload.clone());
                    moot.bring(from, to, payload);
                }
                _ => moot.bring(from, to, payload),
            }
        }
        moot.run(10_000);
        prop_assert_eq!(moot.answers(dora).len(), 1);
        for member in 0..3 {
            prop_assert_eq!(moot.letters(member).len(), 1);
        }
    }
}
