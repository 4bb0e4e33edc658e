//! The promise: what a member sealed opens at every member, once, unaltered; nothing else opens
//! anywhere.

use crate::common::{
    AES, GROUP, Hears, Texts, config, key, member, members, message, opened, sessions, view,
};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{Cipher, Danger, GroupId, Mutant, Pool, Service};
use folkmoot_session::{
    Bundle, Config, HEADER_BYTES, HoldError, OpenError, Opened, PLAIN_BYTES, SealError, Session,
    SessionError, TAG_BYTES, WINDOW,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_one_seals_all_open(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..20)) {
        let mut sessions = opened(3, None);
        for (turn, text) in texts.iter().enumerate() {
            let from = turn % 3;
            let sealed = sessions[from].text(text).unwrap();
            prop_assert_eq!(sealed.len(), HEADER_BYTES + PLAIN_BYTES + text.len() + TAG_BYTES);
            for session in &mut sessions {
                let sender = member(u8::try_from(from).unwrap() + 1);
                let shared = session.hear(sender, sealed.clone()).unwrap();
                prop_assert_eq!(&message(shared)[..], &text[..]);
            }
        }
    }

    /// Random steps: no (key, counter) pair is ever used twice, whatever is stopped, opened or
    /// closed between them.
    #[test]
    fn ses_04_no_counter_twice_in_an_epoch(steps in prop::collection::vec(0..6_u8, 1..80)) {
        let mut session = sessions(1, None).remove(0);
        let (mut order, mut seen) = (0, BTreeSet::new());
        for step in steps {
            match step {
                0 => {
                    order += 1;
                    session.open_epoch(view(order), &members(2), &key(1), AES).unwrap();
                }
                1 => session.stop(),
                2 => session.close_previous(),
                3 => prop_assert!(order == 0 || session.open_epoch(view(order), &members(2), &key(1), AES).is_err()),
                _ => if let Ok(sealed) = session.text(b"x") {
                    prop_assert!(seen.insert(sealed[..HEADER_BYTES].to_vec()), "a nonce came twice");
                },
            }
        }
    }
}

/// Bytes that nobody else has are opened where they are; others stay as they are.
#[test]
fn owned_bytes_are_opened_in_place_and_shared_ones_are_left_alone() {
    let mut sessions = opened(2, None);
    let sealed = sessions[0].text(b"once").unwrap();
    let before = sealed.to_vec();
    let shared = message(sessions[1].hear(member(1), sealed.clone()).unwrap());
    assert_eq!((&shared[..], &sealed[..]), (&b"once"[..], &before[..]));
    let copied = sessions[1].counters().copied;
    assert_eq!(copied, sealed.len() as u64);
    let owned = BytesMut::from(&sessions[0].text(b"again").unwrap()[..]);
    let place = owned.as_ptr_range();
    let opened = sessions[1].open(member(1), Service::Agreed, owned, &|_, _, _| false).unwrap();
    let text = message(opened);
    assert_eq!(&text[..], b"again");
    assert!(place.contains(&text.as_ptr()) && sessions[1].counters().copied == copied);
    let own = message(sessions[0].hear(member(1), sealed).unwrap());
    assert_eq!(&own[..], b"once");
}

#[test]
fn ses_02_a_message_opens_under_its_senders_key_alone() {
    let mut sessions = opened(3, None);
    let sealed = sessions[0].text(b"mine").unwrap();
    assert_eq!(sessions[2].hear(member(2), sealed.clone()), Err(OpenError::WireForged));
    assert_eq!(sessions[2].hear(member(3), sealed.clone()), Err(OpenError::WireForged));
    assert_eq!(sessions[2].hear(member(9), sealed.clone()), Err(OpenError::PeerNotSender(member(9))));
    assert!(sessions[2].hear(member(1), sealed).is_ok(), "the refusal cost the true sender nothing");
}

#[test]
fn ses_03_every_altered_byte_is_refused() {
    let mut sessions = opened(2, None);
    let sealed = sessions[0].text(b"to be altered").unwrap();
    for at in 0..sealed.len() {
        for bit in 0..8 {
            let mut altered = sealed.to_vec();
            altered[at] ^= 1 << bit;
            match sessions[1].hear(member(1), altered.into()) {
                Ok(Opened::Message(_)) => panic!("byte {at} bit {bit} was taken"),
                Ok(Opened::Held) => assert!((0..8).contains(&at), "only another epoch's tag is held"),
                Err(_) => {}
            }
        }
    }
    assert!(sessions[1].hear(member(1), sealed).is_ok());
}

#[test]
fn ses_03_another_view_list_or_key_opens_nothing() {
    let sealed = opened(2, None)[0].text(b"here only").unwrap();
    let mut other = Session::new(member(2), GROUP, config(None));
    for (view, list, key) in
        [(view(2), members(2), key(1)), (view(1), members(3), key(1)), (view(1), members(2), key(2))]
    {
        other.open_epoch(view, &list, &key, AES).unwrap();
        assert_eq!(other.hear(member(1), sealed.clone()), Ok(Opened::Held), "an unknown epoch, never tried");
        // Even under the right tag it does not open.
        let mine = other.text(b"").unwrap();
        let mut forged = sealed.to_vec();
        forged[..8].copy_from_slice(&mine[..8]);
        assert_eq!(other.hear(member(1), forged.into()), Err(OpenError::WireForged));
    }
}

/// Several texts are sealed once. Each has its number, and none of the numbers comes again.
#[test]
fn several_texts_are_sealed_together_and_keep_their_numbers() {
    let mut sessions = opened(2, None);
    let texts: [&[u8]; 3] = [b"one", b"", b"three"];
    let mut bundle = Bundle::with_room(100, &mut Pool::default());
    texts.iter().for_each(|text| bundle.push(text));
    let sealed = sessions[0].seal(b"before", bundle.body()).unwrap();
    assert_eq!(&sealed[..6], b"before");
    let alone = sessions[0].text(b"four").unwrap();
    for to in [1, 0] {
        let mut heard = Vec::new();
        for sealed in [sealed.slice(6..), alone.clone()] {
            let Ok(Opened::Message(message)) = sessions[to].hear(member(1), sealed) else { panic!("opens") };
            heard.extend(message.texts().map(|(origin, text)| (origin.number, text)));
        }
        let expected = [(0, &b"one"[..]), (1, b""), (2, b"three"), (3, b"four")];
        assert!(heard.iter().map(|(number, text)| (*number, &text[..])).eq(expected), "{heard:?}");
    }
}

/// A member that lies gives a message the number of a text that another of its seals had, by a
/// session that it restarts.
#[test]
fn ses_06_no_text_has_a_number_that_another_had() {
    let liar = || opened(2, None).remove(0);
    let two = |session: &mut Session| {
        let mut bundle = Bundle::with_room(100, &mut Pool::default());
        [b"one", b"two"].iter().for_each(|text| bundle.push(*text));
        session.seal(&[], bundle.body()).unwrap()
    };
    let (mut first, mut second) = (liar(), liar());
    let numbers_0_and_1 = two(&mut first);
    second.text(b"0").unwrap();
    let number_1 = second.text(b"1").unwrap();
    let replayed = Err(OpenError::PeerReplayed(member(1)));
    for (taken, refused) in [(&numbers_0_and_1, &number_1), (&number_1, &numbers_0_and_1)] {
        let mut honest = opened(2, None).remove(1);
        assert!(matches!(honest.hear(member(1), taken.clone()), Ok(Opened::Message(_))));
        assert_eq!(honest.hear(member(1), refused.clone()), replayed);
    }
    // With the rule off, both are heard.
    let mut believes = opened(2, Some(Danger::SessionNoReplayCheck)).remove(1);
    for sealed in [numbers_0_and_1, number_1] {
        assert!(matches!(believes.hear(member(1), sealed), Ok(Opened::Message(_))));
    }
}

/// An own message that comes back as it left is not opened; one that does not is, and is refused.
#[test]
fn own_messages_come_back_without_being_opened() {
    let mut session = opened(2, None).remove(0);
    let sealed: Vec<Bytes> = (0..4_u8).map(|text| session.text(&[text]).unwrap()).collect();
    let mut altered = sealed[1].to_vec();
    *altered.last_mut().unwrap() ^= 1;
    assert_eq!(message(session.hear(member(1), sealed[0].clone()).unwrap()), [0][..]);
    assert_eq!(session.counters().opened, 0);
    assert_eq!(session.hear(member(1), altered.into()), Err(OpenError::WireForged));
    // The second never comes back whole: the third is found all the same.
    assert_eq!(message(session.hear(member(1), sealed[2].clone()).unwrap()), [2][..]);
    assert_eq!(session.hear(member(1), sealed[2].clone()), Err(OpenError::PeerReplayed(member(1))));
    assert_eq!(session.counters().opened, 0);
    assert_eq!(message(session.hear(member(1), sealed[1].clone()).unwrap()), [1][..]);
    assert_eq!(session.counters().opened, 0, "late, since another overtook it");
}

#[test]
fn ses_06_replays_are_refused() {
    let mut sessions = opened(2, None);
    let first = sessions[0].text(b"0").unwrap();
    assert!(sessions[1].hear(member(1), first.clone()).is_ok());
    let replayed = Err(OpenError::PeerReplayed(member(1)));
    assert_eq!(sessions[1].hear(member(1), first.clone()), replayed);
    let late = sessions[0].text(b"1").unwrap();
    let mut last = Bytes::new();
    for _ in 0..WINDOW - 1 {
        last = sessions[0].text(b"n").unwrap();
    }
    assert!(sessions[1].hear(member(1), last.clone()).is_ok());
    assert!(sessions[1].hear(member(1), late.clone()).is_ok(), "within the window");
    assert_eq!(sessions[1].hear(member(1), late), replayed);
    assert_eq!(sessions[1].hear(member(1), first), replayed, "behind the window");
    assert_eq!(sessions[1].hear(member(1), last), replayed);
}

#[test]
fn ses_07_nothing_is_sealed_after_stop() {
    let mut sessions = opened(2, None);
    let before = sessions[0].text(b"before").unwrap();
    sessions.iter_mut().for_each(Session::stop);
    assert_eq!(sessions[0].text(b"after"), Err(SealError::NoEpoch));
    assert!(!sessions[0].can_seal());
    assert!(sessions[1].hear(member(1), before).is_ok(), "opening goes on");
    sessions[0].hold(Bytes::from_static(b"after")).unwrap();
    assert_eq!(sessions[0].take_held(), None);
    sessions[0].open_epoch(view(2), &members(1), &key(2), AES).unwrap();
    assert_eq!(sessions[0].take_held().as_deref(), Some(b"after".as_slice()));
}

#[test]
fn ses_07_ex_members_open_nothing_later() {
    let mut sessions = opened(3, None);
    for session in &mut sessions[..2] {
        session.stop();
        session.open_epoch(view(2), &members(2), &key(2), AES).unwrap();
    }
    let sealed = sessions[0].text(b"without you").unwrap();
    assert_eq!(sessions[2].hear(member(1), sealed.clone()), Ok(Opened::Held));
    assert!(sessions[2].held().is_none());
    // The old key under the new view and list does not help.
    sessions[2].open_epoch(view(2), &members(3), &key(1), AES).unwrap();
    assert_eq!(sessions[2].hear(member(1), sealed), Ok(Opened::Held));
}

#[test]
fn ses_08_epochs_end_in_time() {
    let mut session = Session::new(
        member(1),
        GROUP,
        Config { seals_per_epoch_max: 8, held_bytes_max: 100, danger: Mutant::NONE },
    );
    session.open_epoch(view(1), &members(1), &key(1), AES).unwrap();
    for sealed in 0..8 {
        assert_eq!(session.poll_refresh(), sealed == 6, "asked for once, at three quarters");
        session.text(b"x").unwrap();
    }
    assert_eq!(session.text(b"x"), Err(SealError::EpochSpent));
    session.hold(Bytes::from_static(b"x")).unwrap();
    assert_eq!(session.take_held(), None);
    session.open_epoch(view(1), &members(1), &key(2), AES).unwrap();
    assert!(session.take_held().is_some());
    assert!(session.text(b"x").is_ok());
}

#[test]
fn the_previous_epoch_opens_until_closed() {
    let mut sessions = opened(2, None);
    let old = [sessions[0].text(b"a").unwrap(), sessions[0].text(b"b").unwrap()];
    sessions[1].open_epoch(view(1), &members(2), &key(2), AES).unwrap();
    assert!(sessions[1].hear(member(1), old[0].clone()).is_ok());
    sessions[1].close_previous();
    assert_eq!(sessions[1].hear(member(1), old[1].clone()), Err(OpenError::WireClosedEpoch));
    sessions[0].close();
    assert_eq!(sessions[0].text(b"c"), Err(SealError::NoEpoch));
    assert_eq!(sessions[0].hear(member(1), old[1].clone()), Err(OpenError::WireClosedEpoch));
}

#[test]
fn ses_05_an_epoch_opens_once() {
    let mut session = opened(2, None).remove(0);
    let again = Err(SessionError::LocalReused);
    assert_eq!(session.open_epoch(view(1), &members(2), &key(1), AES), again);
    session.open_epoch(view(2), &members(2), &key(1), AES).unwrap();
    session.close_previous();
    assert_eq!(session.open_epoch(view(1), &members(2), &key(1), AES), again);
    let bad = Err(SessionError::LocalMembers);
    assert_eq!(session.open_epoch(view(3), &[member(9)], &key(1), AES), bad);
    assert_eq!(session.open_epoch(view(3), &[member(1), member(1)], &key(1), AES), bad);
    let mut other = Session::new(member(1), GroupId([8; 32]), config(None));
    assert_eq!(other.open_epoch(view(1), &members(2), &key(1), AES), Err(SessionError::LocalOtherGroup));
}

#[test]
fn ses_09_data_of_an_epoch_not_open_is_held_and_bounded() {
    let mut sessions = opened(2, None);
    sessions[0].open_epoch(view(2), &members(2), &key(2), AES).unwrap();
    let early = [sessions[0].text(b"1").unwrap(), sessions[0].text(b"2").unwrap()];
    for sealed in &early {
        assert_eq!(sessions[1].hear(member(1), sealed.clone()), Ok(Opened::Held));
    }
    let mut full = false;
    for _ in 0..100 {
        full |= sessions[1].hear(member(1), Bytes::from(vec![2; 64])) == Err(OpenError::WireHeldFull);
    }
    assert!(full, "bounded");
    sessions[1].open_epoch(view(2), &members(2), &key(2), AES).unwrap();
    let (sender, text) = sessions[1].held().unwrap();
    assert_eq!((sender, text.unwrap().payload.as_ref()), (member(1), b"1".as_slice()));
    assert_eq!(sessions[1].held().unwrap().1.unwrap().payload.as_ref(), b"2");
    assert!(sessions[1].held().is_none(), "what waited for other epochs is gone");
    assert_eq!(sessions[1].hear(member(1), early[0].clone()), Err(OpenError::PeerReplayed(member(1))));
}

/// A flood of what may be lost leaves room for what may not.
#[test]
fn ses_09_unreliable_messages_fill_half_of_what_is_held() {
    let mut session = opened(2, None).remove(1);
    let mut hear = |service| {
        session.open(member(1), service, Bytes::from(vec![2; 64]), &|_, _, _| false) == Ok(Opened::Held)
    };
    let loose = (0..100).filter(|_| hear(Service::Unreliable)).count();
    let others = (0..100).filter(|_| hear(Service::Fifo)).count();
    assert_eq!((loose, others), (4_096 / 2 / 128, 4_096 / 2 / 128));
}

#[test]
fn ses_10_held_sends_are_bounded_and_keep_their_order() {
    let mut session = sessions(1, None).remove(0);
    let mut held = 0_u8;
    while session.hold(Bytes::from(vec![held; 100])).is_ok() {
        held += 1;
    }
    assert_eq!(session.hold(Bytes::from(vec![0; 100])), Err(HoldError::Full));
    assert_eq!(usize::from(held), 4_096 / 164);
    session.open_epoch(view(1), &members(1), &key(1), AES).unwrap();
    for expected in 0..held / 2 {
        assert_eq!(session.take_held().unwrap()[0], expected);
    }
    assert_eq!(session.drop_held().len(), usize::from(held - held / 2));
    assert_eq!(session.take_held(), None);
    let long = Bytes::from(vec![0; folkmoot_base::limits::MESSAGE_BYTES_MAX + 3]);
    assert_eq!(session.text(&long), Err(SealError::LocalTooLong { excess_bytes: 3 }));
    assert_eq!(session.hold(long), Err(HoldError::LocalTooLong { excess_bytes: 3 }));
}

#[test]
fn mutants_break_exactly_what_they_name() {
    let mut sealing = opened(2, Some(Danger::SessionSealsAfterRemoval)).remove(0);
    sealing.stop();
    assert!(sealing.text(b"after").is_ok());

    let mut twice = opened(2, Some(Danger::SessionNoReplayCheck));
    let sealed = twice[0].text(b"again").unwrap();
    assert!(twice[1].hear(member(1), sealed.clone()).is_ok());
    assert!(twice[1].hear(member(1), sealed).is_ok());

    let mut plain = opened(2, Some(Danger::SessionPlain));
    let mut sealed = plain[0].text(b"readable").unwrap().to_vec();
    assert!(sealed.windows(8).any(|part| part == b"readable"));
    sealed[HEADER_BYTES + PLAIN_BYTES] ^= 1;
    assert!(plain[1].hear(member(1), sealed.into()).is_ok());
}

#[test]
fn ses_11_every_cipher_seals_and_none_opens_anothers() {
    for cipher in Cipher::ALL {
        let mut both = sessions(2, None);
        both.iter_mut().for_each(|one| one.open_epoch(view(1), &members(2), &key(1), *cipher).unwrap());
        let sealed = both[0].text(b"a word").unwrap();
        for other in Cipher::ALL.iter().filter(|other| *other != cipher) {
            let mut stranger = Session::new(member(2), GROUP, config(None));
            stranger.open_epoch(view(1), &members(2), &key(1), *other).unwrap();
            // For this session it is another epoch: the message waits for a key that never comes.
            assert_eq!(stranger.hear(member(1), sealed.clone()), Ok(Opened::Held), "{cipher:?}");
            let mut disguised = sealed.to_vec();
            disguised[..8].copy_from_slice(&stranger.text(b"").unwrap()[..8]);
            assert_eq!(stranger.hear(member(1), disguised.into()), Err(OpenError::WireForged));
        }
        assert_eq!(message(both[1].hear(member(1), sealed).unwrap()), "a word");
    }
}

/// A group changes from one cipher to the other: what was sealed before still opens, until the
/// previous epoch is closed.
#[test]
fn ses_11_a_group_moves_from_one_cipher_to_the_other() {
    let mut both = opened(2, None);
    let before = both[0].text(b"before").unwrap();
    let chacha = Cipher::ChaCha20Poly1305;
    both.iter_mut().for_each(|one| one.open_epoch(view(1), &members(2), &key(2), chacha).unwrap());
    let after = both[0].text(b"after").unwrap();
    assert_eq!(message(both[1].hear(member(1), before).unwrap()), "before");
    assert_eq!(message(both[1].hear(member(1), after).unwrap()), "after");
}
