//! What the ring promises, with one scenario for each promise; the random schedules are in
//! schedules.rs.

use crate::harness::{Event, Rng, World, check, node};
use crate::is_data;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::limits::{ORDERED_BYTES_MAX, SEND_QUEUE_BYTES_MAX};
use folkmoot_base::{Instant, Lead, NodeId, Service};
use folkmoot_ring::message::{Control, Frame, Join};
use folkmoot_ring::{Config, Output, Phase, Ring, RingError, SubmitError, stored_ring_seq};

fn whole(n: usize, seed: u64) -> World {
    let mut world = World::new(n, seed, None);
    world.settle(Duration::from_secs(5)).expect("a calm network settles");
    world
}

fn delivered(world: &World, i: usize) -> usize {
    let process = &world.processes[world.nodes[i].process];
    process.log.iter().filter(|(_, event)| matches!(event, Event::Deliver(_))).count()
}

#[test]
fn a_node_alone_forms_a_ring_and_hears_itself() {
    let mut world = World::new(1, 1, None);
    assert!(world.submit(0, Service::Safe, 100));
    let took = world.settle(Duration::from_secs(2)).unwrap();
    assert!(took < Duration::from_millis(400), "{took:?}");
    assert!(world.submit(0, Service::Agreed, 3_000_000));
    assert_eq!(delivered(&world, 0), 2);
    check::all(&world).unwrap();
}

#[test]
fn five_nodes_meet_within_a_second_and_agree() {
    let mut world = World::new(5, 2, None);
    let took = world.settle(Duration::from_secs(5)).unwrap();
    assert!(took < Duration::from_secs(1), "{took:?}");
    for round in 0..50 {
        for i in 0..5 {
            let service = if (i + round) % 3 == 0 { Service::Safe } else { Service::Agreed };
            world.submit(i, service, 10 + 200 * i);
        }
        world.ms(2);
    }
    world.ms(500);
    assert!((0..5).all(|i| delivered(&world, i) == 250));
    check::all(&world).unwrap();
}

#[test]
fn a_calm_ring_retransmits_nothing() {
    let mut world = whole(3, 3);
    for _ in 0..300 {
        for i in 0..3 {
            world.submit(i, Service::Agreed, 1_350);
        }
    }
    world.ms(1_000);
    for i in 0..3 {
        assert_eq!(delivered(&world, i), 900);
        assert_eq!(world.nodes[i].ring.as_ref().unwrap().status().retransmitted_packets, 0);
    }
}

#[test]
fn a_crash_is_noticed_within_the_token_loss_time_and_a_merge_takes_a_second() {
    let mut world = whole(3, 4);
    world.detect = (10_000_000, 10_000_001); // The links notice nothing.
    world.crash(2);
    let took = world.settle(Duration::from_secs(5)).unwrap();
    assert!(took < Duration::from_millis(2_000), "{took:?}");
    world.detect = (200_000, 300_000);
    world.start(2);
    let took = world.settle(Duration::from_secs(5)).unwrap();
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    check::all(&world).unwrap();
}

#[test]
fn large_messages_cross_a_lossy_network_whole() {
    let mut world = whole(3, 5);
    world.loss = 5;
    for i in 0..3 {
        assert!(world.submit(i, Service::Agreed, 1 << 20));
        assert!(world.submit(i, Service::Safe, 1 << 20));
    }
    world.settle(Duration::from_secs(60)).expect("1 MiB messages arrive");
    world.ms(2_000);
    assert!((0..3).all(|i| delivered(&world, i) == 6));
    check::all(&world).unwrap();
}

/// A message cut short by a change of configuration is sent again as a whole, and delivered once.
#[test]
fn a_half_sent_message_is_sent_again_in_the_next_configuration() {
    let mut world = whole(3, 6);
    world.submit(0, Service::Agreed, 2_000_000);
    world.ms(3);
    world.crash(2);
    world.settle(Duration::from_secs(20)).unwrap();
    world.ms(500);
    assert_eq!((delivered(&world, 0), delivered(&world, 1)), (1, 1));
    check::all(&world).unwrap();
}

/// A cut after half of the nodes got a safe packet: no node delivers it as regular unless every
/// node has it.
#[test]
fn a_safe_message_that_half_have_is_not_delivered_as_safe() {
    for seed in 0..20 {
        let mut world = whole(4, 100 + seed);
        // Packets reach only the near half.
        world.drop_frame = Some(|from, to, bytes| is_data(bytes) && (from < 2) != (to < 2));
        world.submit(0, Service::Safe, 500);
        world.ms(20 + seed * 3);
        world.partition(&[0, 0, 1, 1]);
        world.ms(3_000);
        for i in 0..4 {
            let process = &world.processes[world.nodes[i].process];
            let early = process.log.iter().any(
                |(_, e)| matches!(e, Event::Deliver(d) if !d.transitional && d.service == Service::Safe),
            );
            assert!(!early, "seed {seed}: n{i} delivered before all had it");
        }
        world.drop_frame = None;
        world.heal();
        world.settle(Duration::from_secs(20)).unwrap();
        check::all(&world).unwrap();
    }
}

#[test]
fn an_idle_ring_is_quiet_and_wakes_at_once() {
    let mut world = whole(3, 8);
    world.ms(2_000);
    let before = world.frames;
    world.ms(10_000);
    let idle = world.frames - before;
    assert!(idle < 10_000 / 100 * 5, "{idle} frames in ten idle seconds");
    let start = world.now;
    world.submit(2, Service::Agreed, 100);
    while delivered(&world, 1) == 0 && world.now < start + 1_000_000 {
        world.run(Duration::from_micros(100));
    }
    assert!(world.now - start < 5_000, "{} us", world.now - start);
}

#[test]
fn the_queue_is_bounded_and_says_so() {
    let mut ring = Ring::new(Config::new(node(0)), 0, Instant(0));
    let block = Bytes::from(vec![7_u8; ORDERED_BYTES_MAX]);
    assert_eq!(ring.submit(Instant(0), (0, 0), Service::Agreed, (Lead::NONE, block.clone())), Ok(()));
    assert_eq!(ring.submit(Instant(0), (0, 0), Service::Agreed, (Lead::NONE, block.clone())), Ok(()));
    assert_eq!(
        ring.submit(Instant(0), (0, 0), Service::Agreed, (Lead::NONE, block)),
        Err(SubmitError::LocalFull)
    );
    assert!(ring.status().queued_bytes <= SEND_QUEUE_BYTES_MAX);
    let long = Bytes::from(vec![7_u8; ORDERED_BYTES_MAX + 1]);
    assert!(matches!(
        ring.submit(Instant(0), (0, 0), Service::Agreed, (Lead::NONE, long)),
        Err(SubmitError::LocalTooLong { .. })
    ));
    let left = std::iter::from_fn(|| ring.poll_output()).any(|o| matches!(o, Output::Left { .. }));
    assert!(!left, "there is no ring yet");
}

#[test]
fn the_ring_number_is_on_disk_before_a_frame_shows_it() {
    let mut rng = Rng(9);
    let mut ring = Ring::new(Config::new(node(0)), 41, Instant(0));
    ring.peer(Instant(0), node(1), true);
    while ring.poll_output().is_some() {}
    let join = Join {
        hears: vec![node(0), node(1)],
        wants: vec![node(0), node(1)],
        bound: 0,
        number: 1,
        ring_seq: 777,
        current: None,
        last: None,
        trip: 0,
        entry: None,
    };
    ring.frame(Instant(1), node(1), Control::Join(join).encode(), &mut rng).unwrap();
    let outputs: Vec<Output> = std::iter::from_fn(|| ring.poll_output()).collect();
    let persisted = outputs.iter().rposition(
        |o| matches!(o, Output::Persist(p) if stored_ring_seq(p.value.as_deref()).is_ok_and(|seq| seq >= 778)),
    );
    let shown = outputs.iter().position(|o| {
        matches!(o, Output::Send { frame, .. } if matches!(Frame::decode(frame.clone()), Ok(Frame::Control(Control::Commit(_)))))
    });
    assert!(persisted.unwrap() < shown.unwrap());
    assert_eq!(ring.status().phase, Phase::Commit);
}

/// The same JOIN with the highest ring number that there is.
fn claims_the_highest_number(frame: Bytes) -> Bytes {
    match Frame::decode(frame.clone()) {
        Ok(Frame::Control(Control::Join(join))) => Control::Join(Join { ring_seq: 1 << 63, ..join }).encode(),
        _ => frame,
    }
}

#[test]
fn ring_21_who_lies_about_ring_numbers_ends_no_ring() {
    const LIAR: usize = 2;
    let long = Duration::from_secs(20);
    let mut world = whole(3, 9);
    world.liar = Some((LIAR, claims_the_highest_number));
    for _ in 0..3 {
        world.crash(1);
        world.settle(long).expect("a ring with the liar");
        world.start(1);
        world.settle(long).expect("a ring with the liar");
    }
    // Expelled. The others go on, also from what they keep on disk, and with somebody new.
    world.crash(LIAR);
    world.liar = None;
    world.settle(long).expect("a ring without the liar");
    for i in [0, 1] {
        world.crash(i);
        world.start(i);
        world.settle(long).expect("a ring after a restart");
    }
    world.nodes[LIAR].disk = None;
    world.start(LIAR);
    world.settle(long).expect("a ring with somebody new");
    check::all(&world).unwrap();
}

/// Numbers are written in advance, so that no node makes the others wait for its disk: a ring that
/// forms again needs no write at all between the last JOIN and the last COMMIT.
#[test]
fn a_commit_token_waits_for_no_disk() {
    let mut rng = Rng(9);
    let mut ring = Ring::new(Config::new(node(0)), 41, Instant(0));
    ring.peer(Instant(0), node(1), true);
    let mut writes = 0;
    for (number, at) in (0..100_u64).map(|i| (i + 1, Instant(i * 10_000_000))) {
        while ring.poll_output().is_some() {}
        let both = vec![node(0), node(1)];
        let (hears, wants) = (both.clone(), both);
        let join = Join {
            hears,
            wants,
            bound: 0,
            number,
            ring_seq: 42 + number,
            current: None,
            last: None,
            trip: 0,
            entry: None,
        };
        ring.frame(at, node(1), Control::Join(join).encode(), &mut rng).unwrap();
        let outputs: Vec<Output> = std::iter::from_fn(|| ring.poll_output()).collect();
        writes += outputs.iter().filter(|output| matches!(output, Output::Persist(_))).count();
    }
    assert!((1..=4).contains(&writes), "{writes} writes for 100 attempts");
}

#[test]
fn ring_03_frames_of_ineligible_nodes_are_refused_and_counted() {
    let mut ring = Ring::new(Config::new(node(0)), 0, Instant(0));
    let refused = ring.frame(Instant(0), node(1), Bytes::from_static(b"\x01\x01"), &mut Rng(1));
    assert_eq!(refused, Err(RingError::PeerIneligible { peer: node(1) }));
    assert_eq!(ring.status().refused_frames, 1);
}

#[test]
fn ring_04_a_join_that_leaves_its_sender_out_is_refused() {
    let (both, me) = (vec![node(0), node(1)], vec![node(0)]);
    for (hears, wants) in [(me.clone(), me.clone()), (both, me)] {
        assert_eq!(rule_broken_by(hears, wants), "RING-04");
    }
}

#[test]
fn ring_10_a_join_that_wants_whom_it_does_not_hear_is_refused() {
    assert_eq!(rule_broken_by(vec![node(1)], vec![node(0), node(1)]), "RING-10");
}

/// The rule that a JOIN of node 1 breaks.
fn rule_broken_by(hears: Vec<NodeId>, wants: Vec<NodeId>) -> &'static str {
    let mut ring = Ring::new(Config::new(node(0)), 0, Instant(0));
    ring.peer(Instant(0), node(1), true);
    let join = Join {
        hears,
        wants,
        bound: 0,
        number: 1,
        ring_seq: 1,
        current: None,
        last: None,
        trip: 0,
        entry: None,
    };
    match ring.frame(Instant(0), node(1), Control::Join(join).encode(), &mut Rng(1)) {
        Err(RingError::PeerIllegal { peer, rule }) if peer == node(1) => rule,
        other => panic!("taken: {other:?}"),
    }
}

/// A restart from an older disk: the nonce keeps the node's configurations apart, and the peers
/// tell it the number.
#[test]
fn a_restart_from_an_old_disk_meets_again() {
    let mut world = whole(3, 11);
    world.crash(1);
    world.settle(Duration::from_secs(10)).unwrap();
    world.nodes[1].disk = None;
    world.start(1);
    world.settle(Duration::from_secs(10)).unwrap();
    check::all(&world).unwrap();
}

/// A node that answers everything but drops one kind of frame is set aside, and the others go on
/// without it.
#[test]
fn a_node_that_is_silent_in_one_step_only_is_set_aside() {
    for kind in [2, 3] {
        for mute in 0..4 {
            let mut world = World::new(4, 20 + mute as u64, None);
            world.detect = (100_000_000, 100_000_001);
            world.mute = Some((mute, kind));
            world.ms(15_000);
            let others = (0..4).filter(|i| *i != mute).collect::<Vec<_>>();
            let longest = others.iter().map(|i| {
                let process = &world.processes[world.nodes[*i].process];
                process.log.iter().filter(|(_, e)| matches!(e, Event::Regular(_, m) if m.len() >= 3)).count()
            });
            assert!(longest.min().unwrap() >= 1, "kind {kind} of n{mute}: the others did not go on");
            world.mute = None;
            world.settle(Duration::from_secs(60)).expect("it comes back");
            check::all(&world).unwrap();
        }
    }
}
