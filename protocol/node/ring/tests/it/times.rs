//! RING-29, RING-30: how long a ring waits, and who can make it wait.

use crate::harness::{Rng, node};
use crate::pair::{ME, OUTSIDER, PEER, Pair, join};
use core::time::Duration;
use folkmoot_base::{Danger, Mutant};
use folkmoot_ring::message::{Ask, Control, Frame, Join, OldRing};
use folkmoot_ring::{Output, Phase};

/// In one ring with a peer that names the first of these round trips, in milliseconds. This node
/// has measured the second.
fn ring(danger: Mutant, trips: [u16; 2]) -> Pair {
    let mut pair = Pair::alone_with(danger);
    pair.trips = trips;
    pair.ring.trip(node(PEER), Duration::from_millis(trips[1].into()));
    pair.takes(Control::Join(join(1, &[PEER, ME])));
    pair.recover(OldRing::default());
    pair.install();
    pair
}

/// The frames that this node sends until it gathers, as nothing comes; and when it does.
fn until_lost(pair: &mut Pair) -> (Duration, Vec<Frame>) {
    let (began, mut sent) = (pair.now, Vec::new());
    while pair.ring.status().phase == Phase::Operational {
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
        sent.extend(pair.outputs().into_iter().filter_map(|output| match output {
            Output::Send { frame, .. } => Some(Frame::decode(frame).unwrap()),
            _ => None,
        }));
    }
    (pair.now.since(began), sent)
}

fn loss(danger: Option<Danger>, trips: [u16; 2]) -> u128 {
    until_lost(&mut ring(danger.into(), trips)).0.as_millis()
}

#[test]
fn ring_29_who_alone_names_a_long_time_slows_nothing() {
    let usual = loss(None, [0, 0]);
    assert!((300..700).contains(&usual), "{usual}");
    assert!(loss(Some(Danger::RingLongestTrip), [u16::MAX, 0]) > 3_000);
    assert_eq!(loss(None, [u16::MAX, 0]), usual);
}

#[test]
fn ring_29_a_ring_waits_as_long_as_its_paths_need_and_no_longer_than_the_ceiling() {
    let far = loss(None, [600, 600]);
    assert!((1_200..2_500).contains(&far), "{far}");
    let most = loss(None, [u16::MAX, u16::MAX]);
    assert!((3_000..5_500).contains(&most), "{most}");
}

#[test]
fn ring_29_a_ring_whose_paths_become_slow_waits_longer_at_once() {
    let mut pair = ring(Mutant::NONE, [0, 0]);
    pair.ring.trip(node(PEER), Duration::from_millis(600));
    pair.passes();
    assert!(until_lost(&mut pair).0.as_millis() > 1_200);
}

fn is_ask(frame: &Frame) -> bool {
    matches!(frame, Frame::Control(Control::Ask(ask)) if ask.answer == 0)
}

#[test]
fn ring_30_who_says_nothing_when_asked_is_left_out_at_once() {
    let mut pair = ring(Mutant::NONE, [0, 0]);
    let (_, sent) = until_lost(&mut pair);
    assert!(sent.iter().filter(|frame| is_ask(frame)).count() >= 3, "{sent:?}");
    let gathered = pair.now;
    while pair.ring.status().phase != Phase::Operational {
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
    }
    assert_eq!(pair.ring.status().members, [node(ME)]);
    assert!(pair.now.since(gathered) < Duration::from_millis(20));
}

#[test]
fn ring_30_who_answers_is_not_left_out() {
    let mut pair = ring(Mutant::NONE, [0, 0]);
    let answer = Control::Ask(Ask { ring: pair.id.nonce, answer: 1 });
    let mut answered = false;
    while pair.ring.status().phase == Phase::Operational {
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
        let asked = pair.outputs().iter().any(|output| {
            matches!(output, Output::Send { frame, .. } if is_ask(&Frame::decode(frame.clone()).unwrap()))
        });
        if asked {
            assert!(!answered, "whoever answered is not asked again");
            answered = true;
            pair.takes(answer.clone());
        }
    }
    pair.takes(Control::Join(join(2, &[PEER, ME])));
    assert!(answered && pair.ring.status().phase == Phase::Gather);
    assert!(pair.ring.status().set_aside.is_empty());
    pair.next.ring_seq += 100;
    pair.next.nonce = [8; 16];
    pair.committed(OldRing::default());
}

#[test]
fn ring_30_an_ask_is_answered_and_makes_nobody_ask_while_the_token_comes() {
    let mut pair = ring(Mutant::NONE, [0, 0]);
    pair.takes_quietly(Control::Ask(Ask { ring: pair.id.nonce, answer: 0 }));
    let said: Vec<Frame> = pair
        .outputs()
        .into_iter()
        .filter_map(|output| match output {
            Output::Send { to, frame } if to == node(PEER) => Some(Frame::decode(frame).unwrap()),
            _ => None,
        })
        .collect();
    let ring = pair.id.nonce;
    assert_eq!(said, [Frame::Control(Control::Ask(Ask { ring, answer: 1 }))]);
    pair.ignores(Control::Ask(Ask { ring, answer: 1 }));
    pair.ignores(Control::Ask(Ask { ring: [0; 16], answer: 0 }));
}

/// Another node, far away, stays in a ring of its own. The peer is near, so it chose soon; it does
/// not hear that node, and gives up this one after 800 ms if that has not chosen by then.
#[test]
fn ring_15_who_has_long_round_trips_chooses_with_those_who_have_short_ones() {
    let (far, away) = (OUTSIDER, OUTSIDER + 1);
    let mut pair = Pair::alone();
    pair.ring.peer(pair.now, node(far), true);
    pair.ring.path(pair.now, node(far), 1_452);
    pair.ring.trip(node(far), Duration::from_millis(1_100));
    pair.outputs();
    let until = pair.now + Duration::from_millis(800);
    let mut wants = Vec::new();
    for number in 1.. {
        let hears = [PEER, ME, away].map(node).to_vec();
        pair.takes_quietly(Control::Join(Join {
            wants: [PEER, ME].map(node).to_vec(),
            hears,
            ..join(number, &[])
        }));
        let stays =
            Join { wants: [far, away].map(node).to_vec(), bound: 1, ..join(number, &[ME, far, away]) };
        pair.ring.frame(pair.now, node(far), Control::Join(stays).encode(), &mut Rng(1)).unwrap();
        for output in pair.outputs() {
            if let Output::Send { frame, .. } = output
                && let Ok(Frame::Control(Control::Join(said))) = Frame::decode(frame)
            {
                wants = said.wants;
            }
        }
        if pair.now >= until {
            break;
        }
        pair.now = pair.now + Duration::from_millis(50);
        pair.ring.timeout(pair.now, &mut Rng(1));
    }
    assert_eq!(wants, [node(PEER), node(ME)]);
}

fn patience(danger: Option<Danger>, trips: [u16; 2]) -> u128 {
    ring(danger.into(), trips).ring.patience().as_millis()
}

#[test]
fn ring_33_the_layers_above_wait_as_long_as_the_ring_needs() {
    assert_eq!(patience(None, [0, 0]), 0);
    assert_eq!(patience(None, [600, 600]), 6 * 600);
    assert_eq!(patience(None, [1_000, 1_000]), 6 * 1_000);
    assert_eq!(patience(Some(Danger::RingNearPatience), [600, 600]), 0);
}

#[test]
fn ring_33_a_liar_makes_nobody_wait_and_two_only_up_to_the_ceiling() {
    assert_eq!(patience(None, [u16::MAX, 0]), 0);
    assert_eq!(patience(Some(Danger::RingLongestTrip), [u16::MAX, 0]), 6 * 1_500);
    assert_eq!(patience(None, [u16::MAX, u16::MAX]), 6 * 1_500);
}

/// How long this node, whose own paths are short, waits in a gather for one that is silent.
fn patience_of_a_gather(named: [u16; 2]) -> Duration {
    let mut pair = Pair::alone();
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    let hears = [PEER, ME, OUTSIDER];
    for (from, trip) in [(PEER, named[0]), (OUTSIDER, named[1])] {
        let join = Control::Join(Join { trip, ..join(1, &hears) });
        pair.ring.frame(pair.now, node(from), join.encode(), &mut Rng(1)).unwrap();
    }
    let began = pair.now;
    while pair.ring.status().set_aside.is_empty() && pair.now.since(began) < Duration::from_secs(60) {
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
    }
    pair.now.since(began)
}

/// It is near to all others, and these are far from each other.
#[test]
fn ring_29_a_gather_waits_as_long_as_two_of_the_others_need() {
    let usual = patience_of_a_gather([0, 0]);
    assert!(usual < Duration::from_secs(3), "{usual:?}");
    assert_eq!(patience_of_a_gather([u16::MAX, 0]), usual, "one alone may lie");
    assert!(patience_of_a_gather([800, 800]) > usual * 2);
    assert_eq!(patience_of_a_gather([u16::MAX; 2]), patience_of_a_gather([1_500; 2]));
}

/// What was measured before the process stood still holds nobody up.
#[test]
fn ring_29_a_gather_waits_no_longer_than_round_trips_take_now() {
    let gathers = |known: [u64; 2]| {
        let mut pair = Pair::alone();
        pair.ring.trip(node(PEER), Duration::from_millis(known[0]));
        pair.takes(Control::Join(join(1, &[PEER, ME])));
        assert_eq!(pair.ring.status().phase, Phase::Gather);
        pair.takes(Control::Join(Join { wants: vec![node(PEER)], ..join(2, &[PEER, ME]) }));
        pair.ring.trip(node(PEER), Duration::from_millis(known[1]));
        let began = pair.now;
        while pair.ring.status().phase != Phase::Operational {
            pair.now = pair.ring.poll_timeout().unwrap();
            pair.ring.timeout(pair.now, &mut Rng(1));
        }
        pair.now.since(began)
    };
    let (quick, slow) = (gathers([200, 200]), gathers([1_500, 1_500]));
    assert!(slow >= quick * 3, "{quick:?} {slow:?}");
    assert!(gathers([1_500, 200]) <= quick + quick / 4, "{:?} {quick:?}", gathers([1_500, 200]));
}
