//! Keys that come and go, and numbers that end.

use super::helper::{Ear, Mouth, domain, group, id, key, of, without};
use crate::helper::channel;
use folkmoot_base::{Instant, Mutant};
use folkmoot_pubsub::Sizes;
use folkmoot_pubsub::secured::{
    Cause, Danger, InstallError, Mode, NUMBERS_MAX, OpenError, SealError, Sealer, Times,
};
use std::collections::BTreeSet;
use std::time::Duration;

fn both(seed: u8) -> [folkmoot_pubsub::secured::DomainKey; 2] {
    [key(Mode::Own, group(), seed), key(Mode::Own, domain("a"), seed)]
}

#[test]
fn pub_21_a_new_key_takes_over_without_a_gap_and_the_old_one_ends() {
    for mode in [Mode::Own, Mode::Compatible] {
        let both = |seed| [key(mode, group(), seed), key(mode, domain("a"), seed)];
        let (mut mouth, mut ear) = (Mouth::new(mode, 4, &["a"]), Ear::new(mode, &["a"]));
        let times = Times::default();
        both(1).into_iter().for_each(|key| mouth.take(key, Cause::Joined));
        // The listener has not got it yet: the speaker says it under the old one for a while.
        assert_eq!(ear.hear_all(&mouth.say("a", b"1")), [b"1"]);
        mouth.now = mouth.now + times.switch / 2;
        ear.now = mouth.now;
        both(1).into_iter().for_each(|key| ear.take(key, Cause::Joined));
        let old = mouth.say("a", b"2");
        mouth.now = Instant(0) + times.switch;
        let new = mouth.say("a", b"3");
        ear.now = mouth.now;
        assert_eq!(ear.hear_all(old.iter().chain(&new)), [b"2", b"3"]);
        // Another of the old one, at its last moment and after.
        let mut slow = Mouth::new(mode, 5, &["a"]);
        let (last, late) = (slow.say("a", b"4"), slow.say("a", b"5"));
        let ends = Instant(0) + times.switch / 2 + times.switch + times.overlap;
        assert_eq!(ear.opener.deadline(), Some(ends));
        assert_eq!(mouth.sealer.deadline(), Some(Instant(0) + times.switch + times.overlap));
        mouth.sealer.expire(ends);
        assert_eq!(mouth.sealer.deadline(), None);
        ear.now = ends - Duration::from_micros(1);
        assert_eq!(ear.hear_all(&last), [b"4"]);
        ear.now = ends;
        assert!(ear.hear_all(&late).is_empty());
        assert_eq!((ear.opener.deadline(), ear.hear_all(&mouth.say("a", b"6"))), (None, vec![b"6".to_vec()]));
        if mode == Mode::Own {
            assert_eq!(ear.opener.refused().epochs, 1);
        }
    }
}

#[test]
fn pub_21_without_tags_the_right_one_of_two_keys_is_found() {
    // What a wrong key shows is a name, too, one time in five.
    let mut ear = Ear::new(Mode::Compatible, &["a"]);
    let mut slow = Mouth::new(Mode::Compatible, 5, &["a"]);
    for domain in [group(), domain("a")] {
        ear.take(key(Mode::Compatible, domain, 1), Cause::Joined);
    }
    for number in 0..100_u8 {
        assert_eq!(ear.hear_all(&slow.say("a", &[number])), [[number]]);
    }
}

#[test]
fn pub_21_who_was_excluded_is_not_heard_and_hears_nothing() {
    let (mut mouth, mut ear) = (Mouth::new(Mode::Own, 4, &["a"]), Ear::new(Mode::Own, &["a"]));
    let mut excluded = Mouth::new(Mode::Own, 7, &["a"]);
    let mut listens = Ear::new(Mode::Own, &["a"]);
    assert_eq!(ear.hear_all(&excluded.say("a", b"before")), [b"before"]);
    let rest = [1, 2, 3, 4, 5];
    let new = || [of(Mode::Own, group(), 1, &rest), of(Mode::Own, domain("a"), 1, &rest)];
    new().into_iter().for_each(|key| mouth.take(key, Cause::Excluded));
    new().into_iter().for_each(|key| ear.take(key, Cause::Excluded));
    // At once, in its own name and in another's.
    assert_eq!(ear.hear(&excluded.say("a", b"after")[0]), Err(OpenError::PeerEpoch));
    let mut as_another = Mouth::new(Mode::Own, 2, &["a"]);
    assert_eq!(ear.hear(&as_another.say("a", b"after")[0]), Err(OpenError::PeerEpoch));
    assert_eq!(ear.opener.deadline(), None, "nothing of the old key is left");
    let said = mouth.say("a", b"among us");
    assert!(listens.hear_all(&said).is_empty());
    assert_eq!(ear.hear_all(&said), [b"among us"]);
    // If the old key counted on, the excluded would be heard as before.
    let mut ear = Ear::with(Mode::Own, &["a"], without(Danger::KeepsOldKeys));
    new().into_iter().for_each(|key| ear.take(key, Cause::Excluded));
    ear.now = Instant(0) + Duration::from_secs(3_600);
    assert_eq!(ear.hear_all(&excluded.say("a", b"after")), [b"after"]);
}

#[test]
fn pub_21_one_of_the_two_keys_may_be_new() {
    // The multicast group agrees anew, the channel does not, and the other way round.
    for (first, second) in [(0, 1), (1, 0)] {
        let (mut mouth, mut ear) = (Mouth::new(Mode::Own, 4, &["a"]), Ear::new(Mode::Own, &["a"]));
        let mut excluded = Mouth::new(Mode::Own, 5, &["a"]);
        mouth.take(both(1)[first].clone(), Cause::Excluded);
        ear.take(both(1)[first].clone(), Cause::Excluded);
        assert_eq!(ear.hear_all(&mouth.say("a", b"x")), [b"x"]);
        assert_eq!(ear.hear(&excluded.say("a", b"y")[0]), Err(OpenError::PeerEpoch));
        mouth.take(both(1)[second].clone(), Cause::Excluded);
        ear.take(both(1)[second].clone(), Cause::Excluded);
        assert_eq!(ear.hear_all(&mouth.say("a", b"z")), [b"z"]);
    }
}

#[test]
fn a_key_that_is_not_for_here_is_not_taken() {
    let (mut mouth, mut ear) = (Mouth::new(Mode::Own, 4, &["a"]), Ear::new(Mode::Own, &["a"]));
    let other: folkmoot_pubsub::secured::Domain = "239.255.76.68:7667".parse().unwrap();
    let cases = [
        (key(Mode::Compatible, group(), 1), InstallError::LocalMode(group())),
        (key(Mode::Own, other, 1), InstallError::LocalGroup(other)),
        (key(Mode::Own, group(), 0), InstallError::LocalRepeated(group())),
    ];
    for (key, refused) in cases {
        assert_eq!(mouth.sealer.install(Instant(0), key.clone(), Cause::Joined), Err(refused));
        assert_eq!(ear.opener.install(Instant(0), key, Cause::Joined), Err(refused));
    }
    let without_me = of(Mode::Own, group(), 1, &[1, 2]);
    let refused = Err(InstallError::LocalNotMember(group(), id(4)));
    assert_eq!(mouth.sealer.install(Instant(0), without_me, Cause::Joined), refused);
    let missing = mouth.try_say("b", b"x");
    assert_eq!(missing, Err(SealError::LocalNoKey(domain("b"))));
}

#[test]
fn pub_22_a_sender_refuses_before_its_numbers_come_again() {
    let times = Times { numbers: 100, ..Times::default() };
    let mut mouth = Mouth::with(Mode::Own, 4, &["a", "b"], times);
    for number in 0..100 {
        assert_eq!(mouth.sealer.worn().is_empty(), number < 75, "{number}");
        mouth.say(if number % 2 == 0 { "a" } else { "b" }, b"x");
    }
    assert_eq!(mouth.sealer.worn(), [domain("a"), domain("b"), group()]);
    assert_eq!(mouth.try_say("a", b"x"), Err(SealError::LocalSpent(domain("a"))));
    // A new key for the channel does not do: the names' one is used up, too.
    mouth.take(key(Mode::Own, domain("a"), 1), Cause::Excluded);
    assert_eq!(mouth.try_say("a", b"x"), Err(SealError::LocalSpent(group())));
    mouth.take(key(Mode::Own, group(), 1), Cause::Excluded);
    assert_eq!(mouth.say("a", b"x")[0][4..8], 100_u32.to_be_bytes());
    assert_eq!(mouth.try_say("b", b"x"), Err(SealError::LocalSpent(domain("b"))));
    // Where the old one would seal on for a while, the new one seals at once.
    mouth.take(key(Mode::Own, domain("b"), 1), Cause::Joined);
    assert_eq!(mouth.say("b", b"x")[0][11], key(Mode::Own, domain("b"), 1).tag());
    let most = Times { numbers: u64::MAX, ..Times::default() };
    assert_eq!((most.numbers.min(NUMBERS_MAX), Times::default().numbers), (1 << 31, 1 << 31));
}

#[test]
fn pub_22_no_key_has_one_nonce_twice() {
    let mut used = BTreeSet::new();
    let mut note = |print: [u8; 32], sender: u16, datagram: &[u8]| {
        let number = u32::from_be_bytes(datagram[4..8].try_into().unwrap());
        assert!(used.insert((print, sender, number)), "{number} of {sender} twice");
    };
    let mut seed = 0;
    for restart in 0..4 {
        // Each process joins, and so there are new keys.
        seed += 1;
        let mut mouths: Vec<Mouth> = (1..=4)
            .map(|number| {
                let sealer = Sealer::new(Mode::Own, group(), id(number), Sizes::SMALL, Times::default());
                Mouth { sealer, now: Instant(0) }
            })
            .collect();
        for step in 0..20_u8 {
            for (number, mouth) in (1..).zip(&mut mouths) {
                both(seed).into_iter().for_each(|key| mouth.take(key, Cause::Joined));
                for said in 0..100_u8 {
                    mouth.now = mouth.now + Duration::from_millis(1);
                    let old = said < 49 && step > 0;
                    let [group, over] = both(if old { seed - 1 } else { seed });
                    let made = mouth.say("a", &[restart, step, said]);
                    assert_eq!(made[0][10..12], [group.tag(), over.tag()]);
                    note(*group.print(), number, &made[0]);
                    note(*over.print(), number, &made[0]);
                }
            }
            seed += 1;
        }
    }
    assert_eq!(used.len(), 2 * 4 * 4 * 20 * 100);
}

#[test]
fn pub_22_no_process_takes_a_key_that_it_had() {
    let mut mouth = Mouth::new(Mode::Own, 4, &["a"]);
    for seed in 1..40 {
        mouth.take(key(Mode::Own, group(), seed), Cause::Joined);
    }
    for seed in 0..40 {
        let again = mouth.sealer.install(Instant(0), key(Mode::Own, group(), seed), Cause::Joined);
        assert_eq!(again, Err(InstallError::LocalRepeated(group())));
    }
}

#[test]
fn if_numbers_wrapped_an_outsider_would_read_the_difference_of_two_messages() {
    let times = Times { numbers: 10, danger: Mutant::from(Some(Danger::NumbersWrap)), ..Times::default() };
    let mut mouth = Mouth::with(Mode::Own, 4, &["a"], times);
    let said: Vec<Vec<u8>> = (0..11).map(|number| format!("pose {number:03}").into_bytes()).collect();
    let made: Vec<Vec<u8>> = said.iter().map(|said| mouth.say("a", said).remove(0)).collect();
    let differ =
        |one: &[u8], two: &[u8]| -> Vec<u8> { one.iter().zip(two).map(|(one, two)| one ^ two).collect() };
    assert_eq!(differ(&made[0][14..22], &made[10][14..22]), differ(&said[0], &said[10]));
    assert_ne!(differ(&made[0][14..22], &made[9][14..22]), differ(&said[0], &said[9]));
    assert_eq!(channel("a").text(), "a");
}
