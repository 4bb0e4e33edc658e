//! What outsiders, members of the group alone, and members of a channel try.

use super::helper::{Ear, Mouth, domain, group, id, key, members, of, without};
use crate::helper::payload;
use folkmoot_base::Instant;
use folkmoot_pubsub::secured::{
    Cause, Danger, DomainKey, Header, Material, Mode, OpenError, Part, Refused, Suite, Times, WINDOW,
};
use std::time::Duration;

const MODES: [Mode; 2] = [Mode::Own, Mode::Compatible];

/// Everything that counts a refusal.
fn counted(ear: &Ear) -> u64 {
    let Refused { plain, forged, names, unreadable, epochs, replayed, strangers, unsigned, .. } =
        ear.opener.refused();
    let plainly = ear.opener.counters();
    let refused = plain + forged + names + unreadable + epochs + replayed + strangers + unsigned;
    refused + plainly.bad + plainly.contradicted + plainly.crowded + plainly.stale
}

/// Where the bytes are that nobody reads in the compatible mode.
fn unread(mode: Mode, byte: usize, datagram: &[u8]) -> bool {
    let at = if datagram.starts_with(b"LC04") { 10 } else { 14 };
    mode == Mode::Compatible && (at..at + 2).contains(&byte)
}

#[test]
fn pub_18_a_bit_that_is_changed_anywhere_makes_a_message_that_is_dropped_and_counted() {
    for mode in MODES {
        for length in [0, 5, 2_000] {
            let made = Mouth::new(mode, 4, &["channel1"]).say("channel1", &payload(length, 1));
            for (place, datagram) in made.iter().enumerate() {
                let step = if length > 100 { 7 } else { 1 };
                // Of a long one the header, the name and some of the rest.
                for byte in (0..datagram.len()).filter(|byte| *byte < 40 || byte % step == 0) {
                    let mut altered = made.clone();
                    altered[place][byte] ^= 1 << (byte % 8);
                    let mut ear = Ear::new(mode, &["channel1"]);
                    let heard = ear.hear_all(&altered);
                    if unread(mode, byte, datagram) {
                        assert_eq!(heard.len(), 1);
                        continue;
                    }
                    assert!(heard.is_empty(), "{mode:?}, {length}: {byte} of {place}");
                    ear.now = ear.now + Duration::from_secs(60);
                    let _ = ear.hear(b"");
                    assert!(counted(&ear) > 1, "{mode:?}, {length}: {byte} of {place}");
                    // It spoils nothing: the honest one comes.
                    assert_eq!(ear.hear_all(&made), [payload(length, 1)]);
                }
            }
        }
    }
}

#[test]
fn without_the_tag_an_outsider_changes_what_is_said() {
    let mut made = Mouth::new(Mode::Own, 4, &["DRIVE"]).say("DRIVE", b"speed=10");
    let mut ear = Ear::with(Mode::Own, &["DRIVE"], without(Danger::BelievesAnything));
    // 12 bytes of header, 6 of the name.
    made[0][18 + 6] ^= b'1' ^ b'9';
    assert_eq!(ear.hear_all(&made), [b"speed=90"]);
    assert!(Ear::new(Mode::Own, &["DRIVE"]).hear_all(&made).is_empty());
}

/// Writes another name of the same length over the one that is hidden: whoever knows the first
/// needs no key for that.
fn renamed(datagram: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut renamed = datagram.to_vec();
    for (byte, (old, new)) in renamed[12..].iter_mut().zip(from.bytes().zip(to.bytes())) {
        *byte ^= old ^ new;
    }
    renamed
}

#[test]
fn pub_19_the_sealed_contents_of_two_channels_cannot_be_swapped() {
    for mode in MODES {
        // Two channels with one key, and two with one each.
        let one = Material::new(Suite::Aes128, &[7; 16], [8; 2]).unwrap();
        for same in [true, false] {
            let made = |name| {
                if same {
                    DomainKey::new(mode, domain(name), &one, members(&[4])).unwrap()
                } else {
                    key(mode, domain(name), 0)
                }
            };
            let (mut mouth, mut ear) = (Mouth::new(mode, 4, &[]), Ear::new(mode, &[]));
            for name in ["OPEN", "SHUT"] {
                mouth.take(made(name), Cause::Joined);
                ear.take(made(name), Cause::Joined);
            }
            let said = [mouth.say("OPEN", b"gate 1").remove(0), mouth.say("SHUT", b"gate 2").remove(0)];
            let swapped = [renamed(&said[0], "OPEN", "SHUT"), renamed(&said[1], "SHUT", "OPEN")];
            for lie in &swapped {
                let refused = ear.hear(lie).unwrap_err();
                // With a key each, its tag betrays it already.
                assert!(matches!(refused, OpenError::PeerForged | OpenError::PeerEpoch), "{refused:?}");
            }
            assert_eq!(ear.hear_all(&said), [b"gate 1", b"gate 2"]);
        }
    }
}

#[test]
fn without_the_name_under_the_seal_an_outsider_moves_a_message_to_another_channel() {
    let times = without(Danger::AnyChannel);
    let one = Material::new(Suite::Aes128, &[7; 16], [8; 2]).unwrap();
    let made = |name| DomainKey::new(Mode::Compatible, domain(name), &one, members(&[4])).unwrap();
    let mut mouth = Mouth::with(Mode::Compatible, 4, &[], times);
    let mut ear = Ear::with(Mode::Compatible, &[], times);
    for name in ["OPEN", "SHUT"] {
        mouth.take(made(name), Cause::Joined);
        ear.take(made(name), Cause::Joined);
    }
    let said = mouth.say("OPEN", b"gate 1").remove(0);
    let heard = ear.hear(&renamed(&said, "OPEN", "SHUT"));
    assert_eq!(heard, Ok(Some(("SHUT".to_owned(), b"gate 1".to_vec()))));
}

#[test]
fn pub_20_who_has_the_group_alone_reads_names_and_no_content() {
    for mode in MODES {
        let said = payload(3_000, 3);
        let mut mouth = Mouth::new(mode, 4, &["secret/plan", "open"]);
        let (long, short) = (mouth.say("secret/plan", &said), mouth.say("secret/plan", b"at dawn"));
        let name = crate::helper::channel("secret/plan");
        // Of the group, and of another channel: the name, and not what is said.
        for names in [&[][..], &["open"]] {
            let mut ear = Ear::new(mode, names);
            assert_eq!(ear.hear(&short[0]), Err(OpenError::LocalUnreadable(name)));
            let heard: Vec<_> = long.iter().map(|datagram| ear.hear(datagram)).collect();
            assert_eq!(heard.last(), Some(&Err(OpenError::LocalUnreadable(name))));
            assert_eq!((ear.opener.refused().unreadable, ear.opener.counters().messages), (2, 0));
        }
        // An outsider: no key at all, or keys of another group.
        let mut deaf = Ear::deaf(mode, Times::default());
        assert_eq!(deaf.hear(&short[0]), Err(OpenError::PeerEpoch));
        let mut foreign = Ear::deaf(mode, Times::default());
        foreign.take(key(mode, group(), 66), Cause::Joined);
        foreign.take(key(mode, domain("secret/plan"), 66), Cause::Joined);
        let refused = foreign.hear(&short[0]).unwrap_err();
        assert!(!matches!(refused, OpenError::LocalUnreadable(heard) if heard == name), "{refused:?}");
        // And nothing of either stands in the datagrams.
        for datagram in long.iter().chain(&short) {
            let has = |what: &[u8]| datagram.windows(what.len()).any(|part| part == what);
            assert!(!has(b"secret") && !has(b"dawn") && !has(&said[100..108]));
        }
    }
}

#[test]
fn pub_20_two_messages_have_their_names_hidden_differently() {
    let mut mouth = Mouth::new(Mode::Own, 4, &["POSE"]);
    let (one, two) = (mouth.say("POSE", b"").remove(0), mouth.say("POSE", b"").remove(0));
    assert_ne!(one[12..17], two[12..17]);
}

#[test]
fn pub_23_what_came_once_is_refused_and_counted() {
    let mut mouth = Mouth::new(Mode::Own, 4, &["a", "b"]);
    let mut ear = Ear::new(Mode::Own, &["a", "b"]);
    let short = mouth.say("a", b"fire");
    let long = mouth.say("b", &payload(5_000, 0));
    assert_eq!((ear.hear_all(&short).len(), ear.hear_all(&long).len()), (1, 1));
    for _ in 0..3 {
        assert_eq!(ear.hear(&short[0]), Err(OpenError::PeerReplayed(id(4), 0)));
        assert!(ear.hear_all(&long).is_empty());
    }
    // From another address it is the same.
    let mut again = short[0].clone();
    let opened = ear.opener.receive(ear.now, crate::helper::sender(99), &mut again);
    assert_eq!(opened, Err(OpenError::PeerReplayed(id(4), 0)));
    assert_eq!((ear.opener.refused().replayed, ear.opener.counters().messages), (7, 2));
    // Late is not again, up to the window.
    let late: Vec<_> = (0..WINDOW + 2).flat_map(|_| mouth.say("a", b"late")).collect();
    assert_eq!(ear.hear_all(late.iter().rev()).len(), usize::try_from(WINDOW).unwrap());
    assert_eq!(ear.opener.refused().replayed, 9);
}

#[test]
fn pub_23_recorded_messages_are_refused_after_a_restart_too() {
    let mut mouth = Mouth::new(Mode::Own, 4, &["a"]);
    let recorded = mouth.say("a", b"fire");
    // The listener starts anew. It has no key, so it joins, and its group has another one by that.
    let mut ear = Ear::deaf(Mode::Own, Times::default());
    assert_eq!(ear.hear(&recorded[0]), Err(OpenError::PeerEpoch));
    for domain in [group(), domain("a")] {
        ear.take(key(Mode::Own, domain, 1), Cause::Joined);
    }
    assert_eq!(ear.hear(&recorded[0]), Err(OpenError::PeerEpoch));
    // Also if the byte that names the key were the same.
    for tag in 0..=255 {
        let mut lie = recorded[0].clone();
        lie[10] = key(Mode::Own, group(), 1).tag();
        lie[11] = tag;
        assert!(ear.hear(&lie).is_err());
    }
}

#[test]
fn without_the_window_and_in_the_compatible_mode_a_recorded_message_counts_again() {
    let made = Mouth::new(Mode::Own, 4, &["a"]).say("a", b"fire");
    let mut ear = Ear::with(Mode::Own, &["a"], without(Danger::Replays));
    assert_eq!(ear.hear_all(made.iter().chain(&made)).len(), 2);
    let made = Mouth::new(Mode::Compatible, 4, &["a"]).say("a", b"fire");
    let mut ear = Ear::new(Mode::Compatible, &["a"]);
    assert_eq!(ear.hear_all(made.iter().chain(&made)).len(), 2);
}

#[test]
fn pub_24_a_sender_that_did_not_agree_is_refused() {
    // A member of the channel takes a number that nobody has, to be heard beside itself.
    let all = |seed| [of(Mode::Own, group(), seed, &[1, 2, 7]), of(Mode::Own, domain("a"), seed, &[1, 2, 7])];
    let some = |seed| [of(Mode::Own, group(), seed, &[1, 2]), of(Mode::Own, domain("a"), seed, &[1, 2])];
    let mut mouth = Mouth::new(Mode::Own, 7, &[]);
    all(5).into_iter().for_each(|key| mouth.take(key, Cause::Excluded));
    let made = mouth.say("a", b"I am 7");
    let mut ear = Ear::deaf(Mode::Own, Times::default());
    some(5).into_iter().for_each(|key| ear.take(key, Cause::Joined));
    assert_eq!(ear.hear(&made[0]), Err(OpenError::PeerStranger(id(7))));
    let long = mouth.say("a", &payload(2_000, 0));
    assert_eq!(ear.hear(&long[1]), Err(OpenError::PeerStranger(id(7))));
    assert_eq!((ear.opener.refused().strangers, ear.opener.held().0), (2, 0));
    let mut ear = Ear::deaf(Mode::Own, without(Danger::AnySender));
    some(5).into_iter().for_each(|key| ear.take(key, Cause::Joined));
    assert_eq!(ear.hear_all(&made), [b"I am 7"]);
}

#[test]
fn forged_fragments_of_another_sender_or_key_do_not_disturb_a_message() {
    let said = payload(4_000, 1);
    let made = Mouth::new(Mode::Own, 4, &["a"]).say("a", &said);
    let mut ear = Ear::new(Mode::Own, &["a"]);
    for datagram in &made {
        for (byte, change) in [(13, 1), (15, 1), (40, 1)] {
            let mut forged = datagram.clone();
            forged[byte] ^= change;
            if byte < 24 {
                let _ = ear.hear(&forged);
            }
        }
        if ear.hear(datagram).unwrap().is_some() {
            return;
        }
    }
    panic!("the message did not come");
}

#[test]
fn incomplete_messages_stay_within_the_bounds_of_the_plain_wire() {
    let mut ear = Ear::new(Mode::Own, &["a"]);
    let tags = [key(Mode::Own, group(), 0).tag(), key(Mode::Own, domain("a"), 0).tag()];
    for sequence in 0..20_000 {
        let part = Part::Fragment { size: 1 << 20, offset: 1_000, number: 1, count: 1_049 };
        let header = Header { sequence, sender: id(1 + u16::try_from(sequence % 9).unwrap()), tags, part };
        let forged = [header.encode(), vec![0; 1_000]].concat();
        ear.now = Instant(u64::from(sequence));
        assert_eq!(ear.hear(&forged), Ok(None));
        let (messages, bytes, _) = ear.opener.held();
        assert!(messages <= 8 && bytes <= 80 << 20);
    }
    assert_eq!(ear.opener.counters().crowded, 20_000 - 8);
}
