//! What is missing is counted.

use crate::helper::{Ear, datagrams, fragments};
use folkmoot_pubsub::{Limits, Sizes};

fn say(ear: &mut Ear, from: u16, sequence: u32) -> u32 {
    ear.hear(from, &datagrams("a", b"x", sequence, Sizes::LARGE)[0]).unwrap().unwrap().2
}

#[test]
fn pub_10_gaps_in_a_senders_numbers_are_told_and_counted() {
    let mut ear = Ear::new();
    let missing: Vec<u32> = [5, 6, 9, 8, 8, 10].into_iter().map(|number| say(&mut ear, 1, number)).collect();
    assert_eq!(missing, [0, 0, 2, 0, 0, 0]);
    let counters = ear.counters();
    assert_eq!((counters.missing, counters.late, counters.repeated, counters.jumps), (1, 1, 1, 0));
    // Another sender has numbers of its own.
    assert_eq!((say(&mut ear, 2, 1_000_000), say(&mut ear, 2, 1_000_001)), (0, 0));
    assert_eq!((ear.counters().missing, ear.counters().messages), (1, 8));
}

#[test]
fn numbers_go_round() {
    let mut ear = Ear::new();
    for number in [u32::MAX - 1, u32::MAX, 0, 1] {
        assert_eq!(say(&mut ear, 1, number), 0);
    }
    assert_eq!((say(&mut ear, 1, 4), ear.counters().missing), (2, 2));
}

#[test]
fn a_program_that_starts_anew_on_the_same_port_is_no_loss() {
    let mut ear = Ear::new();
    say(&mut ear, 1, 500);
    assert_eq!((say(&mut ear, 1, 0), say(&mut ear, 1, 1)), (0, 0));
    assert_eq!((say(&mut ear, 1, 70_000), ear.counters().missing), (0, 0), "nor is a wild number");
    assert_eq!(ear.counters().jumps, 2);
}

#[test]
fn a_message_of_before_the_first_one_heard_was_not_missing() {
    let mut ear = Ear::new();
    say(&mut ear, 1, 10);
    say(&mut ear, 1, 12);
    say(&mut ear, 1, 9);
    assert_eq!((ear.counters().missing, ear.counters().late), (1, 1));
    // So many numbers back that nobody remembers.
    say(&mut ear, 1, 90);
    assert_eq!(ear.counters().missing, 78);
    say(&mut ear, 1, 26);
    assert_eq!((ear.counters().missing, ear.counters().jumps), (78, 1));
}

#[test]
fn a_message_that_lost_a_fragment_is_missing() {
    let mut ear = Ear::new();
    say(&mut ear, 1, 0);
    assert!(ear.hear_all(1, &fragments("a", 3, 0, 1).1[1..]).is_empty());
    assert_eq!((say(&mut ear, 1, 2), ear.counters().missing), (1, 1));
}

#[test]
fn pub_11_of_too_many_senders_the_one_silent_longest_is_forgotten() {
    let mut ear = Ear::with(Limits { senders: 100, ..Limits::default() });
    say(&mut ear, 1, 0);
    for port in 2..10_000 {
        say(&mut ear, port, 0);
        say(&mut ear, 1, u32::from(port) - 1);
        assert!(ear.held().2 <= 100);
    }
    let counters = ear.counters();
    assert_eq!((counters.missing, counters.jumps, counters.forgotten), (0, 0, 9_999 - 100));
    // The one that spoke all the time is known, one of the flood's first is not.
    assert_eq!((say(&mut ear, 1, 10_000), say(&mut ear, 2, 10)), (1, 0));
}
