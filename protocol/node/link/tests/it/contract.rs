//! The promise: a frame names its true sender, is unchanged, comes at most once, and comes on a
//! channel that its sender may use. What outsiders and guests do costs bounded state.

use crate::common::{Named, Net, certificate_of, config, node_of, opened, place};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::Locator;
use folkmoot_base::limits::{FRAME_BYTES_MAX, GUESTS_MAX, LONG_FRAME_BYTES_MAX};
use folkmoot_link::{Channel, DownCause, Input, LinkError, Output, limits};
use proptest::prelude::*;

fn is_data(bytes: &Bytes) -> bool {
    bytes[1] == 5
}

fn down(node: u8, cause: DownCause) -> Output {
    Output::Down { node: node_of(node), cause }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the network does: what arrives was sent by the named sender, and arrives once.
    #[test]
    fn frames_arrive_unchanged_at_most_once(
        seed in 1..u64::MAX,
        faults in (0..40_u64, 0..40_u64, 0..40_u64),
        lengths in prop::collection::vec(prop_oneof![0..60_usize, 1_000..6_000_usize, 60_000..65_000_usize], 1..40),
    ) {
        let mut net = Net::pair();
        net.dice.0 = seed;
        (net.loss, net.copies, net.jitter_ms) = faults;
        let mut sent = Vec::new();
        for (number, length) in lengths.iter().enumerate() {
            let mut frame = vec![number as u8; *length];
            frame.extend_from_slice(&(number as u32).to_be_bytes());
            if net.send(0, node_of(2), Channel::Ring, &frame).is_ok() {
                sent.push(Bytes::from(frame));
            }
            if number % 3 == 0 {
                net.run_ms(5);
            }
        }
        net.run_ms(200);
        let came = net.parties[1].frames();
        let mut left = sent.clone();
        for (from, channel, frame) in &came {
            prop_assert_eq!((*from, *channel), (node_of(1), Channel::Ring));
            let at = left.iter().position(|sent| sent == frame);
            prop_assert!(at.is_some(), "a frame that was not sent, or came twice");
            left.swap_remove(at.unwrap());
        }
        if faults.0 == 0 {
            prop_assert!(left.is_empty(), "{} lost without loss", left.len());
        }
    }

    /// A flipped bit anywhere in any datagram changes nothing but a counter.
    #[test]
    fn link_10_tampered_datagrams_are_refused(seed in 1..u64::MAX, length in 1..1_400_usize) {
        let mut net = Net::pair();
        net.send(0, node_of(2), Channel::Ring, &vec![7; length]).unwrap();
        let (_, _, _, from, good) = net.wire.remove(0);
        let mut bad = good.to_vec();
        let bit = seed as usize % (bad.len() * 8);
        bad[bit / 8] ^= 1 << (bit % 8);
        let refused = net.input(1, Input::Datagram { from: from.clone(), bytes: opened(bad) });
        prop_assert!(refused.is_err());
        prop_assert!(net.parties[1].frames().is_empty());
        net.input(1, Input::Datagram { from, bytes: opened(good) }).unwrap();
        prop_assert_eq!(net.parties[1].frames().len(), 1);
    }
}

#[test]
fn link_10_replayed_datagrams_change_nothing() {
    let mut net = Net::pair();
    for number in 0..50_u8 {
        net.send(0, node_of(2), Channel::Ring, &[number]).unwrap();
        net.run_ms(1);
    }
    let heard = net.parties[1].heard.len();
    let log = net.log.clone();
    let locator = net.parties[1].links.locator(&node_of(1));
    for (_, _, bytes) in log.iter().filter(|(to, _, bytes)| *to == place(1) && is_data(bytes)) {
        let result = net.input(1, Input::Datagram { from: place(66), bytes: opened(bytes.clone()) });
        assert_eq!(result, Err(LinkError::WireReplayed(place(66))));
    }
    assert_eq!(net.parties[1].heard.len(), heard);
    assert_eq!(net.parties[1].links.locator(&node_of(1)), locator);
    for (_, _, bytes) in log.iter().filter(|(to, _, bytes)| *to == place(1) && !is_data(bytes)) {
        let _ = net.input(1, Input::Datagram { from: place(0), bytes: opened(bytes.clone()) });
    }
    net.run_ms(100);
    assert_eq!((net.parties[1].ups(), net.parties[1].downs()), (1, 0));
}

#[test]
fn garbage_from_anywhere_costs_nothing() {
    let mut net = Net::pair();
    let before = net.parties[1].heard.len();
    for number in 0..20_000_u64 {
        let length = (net.dice.next() % 1_600) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| (net.dice.next() >> 30) as u8).collect();
        if let [version, kind, ..] = &mut bytes[..] {
            (*version, *kind) = (1, (number % 7) as u8);
        }
        let _ = net.input(1, Input::Datagram { from: place(500), bytes: opened(bytes) });
    }
    assert_eq!(net.parties[1].heard.len(), before);
    net.send(0, node_of(2), Channel::Ring, b"still there").unwrap();
    net.run_ms(20);
    assert_eq!(net.parties[1].frames().len(), 1);
}

#[test]
fn small_frames_share_a_datagram() {
    let mut net = Net::pair();
    net.run_ms(20);
    let before = net.log.len();
    let (now, party) = (net.now, &mut net.parties[0]);
    for number in 0..100_u32 {
        party.links.send(now, node_of(2), Channel::Ring, &[b"head", &number.to_be_bytes()]).unwrap();
    }
    net.drain(0);
    assert_eq!(net.log.len() - before, 1, "100 frames of 8 bytes are one datagram");
    net.run_ms(10);
    let frames = net.parties[1].frames();
    assert_eq!(frames.len(), 100);
    assert_eq!(&frames[99].2[..], [b"head".as_slice(), &99_u32.to_be_bytes()].concat());
}

#[test]
fn link_11_the_address_follows_what_is_authentic() {
    let mut net = Net::pair();
    net.parties[0].at = place(70);
    net.send(0, node_of(2), Channel::Ring, b"moved").unwrap();
    net.run_ms(20);
    assert_eq!(net.parties[1].links.locator(&node_of(1)), Some(place(70)));
    net.send(1, node_of(1), Channel::Ring, b"found").unwrap();
    net.run_ms(20);
    assert_eq!(net.parties[0].frames().len(), 1);
    assert_eq!(net.parties[0].ups(), 1);
}

#[test]
fn link_13_fragments_that_never_complete_are_bounded_and_forgotten() {
    let mut net = Net::pair();
    for _ in 0..limits::ASSEMBLIES_MAX + 5 {
        net.send(0, node_of(2), Channel::Ring, &vec![1; LONG_FRAME_BYTES_MAX]).unwrap();
        // Only the first datagram of each arrives.
        let first = net.wire.remove(0);
        net.wire.clear();
        net.wire.push(first);
        net.run_ms(2);
    }
    assert_eq!(net.parties[1].links.counters().fragments_lost, 5);
    net.run_ms(3_000);
    assert_eq!(net.parties[1].links.counters().fragments_lost, 5 + limits::ASSEMBLIES_MAX as u64);
    assert!(net.parties[1].frames().is_empty());
    let long = vec![0; LONG_FRAME_BYTES_MAX + 3];
    let refused = net.send(0, node_of(2), Channel::Ring, &long);
    assert_eq!(refused, Err(LinkError::LocalTooLong { excess_bytes: 3 }));
}

/// Node 1 has nobody on its roster; node 2 dialled it.
fn guest() -> Net {
    let mut net = Net::new(0);
    net.add(Named::new(1), config(), Default::default());
    net.add(Named::new(2), config(), [node_of(1)].into());
    net.dial(1, 0);
    net.run_ms(50);
    net
}

#[test]
fn link_14_a_guest_on_the_ring_channel_is_dropped_and_counted() {
    let mut net = guest();
    net.send(1, node_of(1), Channel::Ring, b"let me").unwrap();
    net.send(1, node_of(1), Channel::Admission, b"please").unwrap();
    net.run_ms(20);
    let frames = net.parties[0].frames();
    assert_eq!(frames, [(node_of(2), Channel::Admission, Bytes::from_static(b"please"))]);
    assert_eq!(net.parties[0].links.counters().out_of_turn, 1);
    let refused = net.send(0, node_of(2), Channel::Ring, b"no");
    assert_eq!(refused, Err(LinkError::LocalToGuest(node_of(2), Channel::Ring)));
    net.input(0, Input::Standing { node: node_of(2), member: true }).unwrap();
    net.send(1, node_of(1), Channel::Ring, b"now").unwrap();
    net.run_ms(20);
    assert_eq!(net.parties[0].frames().len(), 2);
    net.input(0, Input::Standing { node: node_of(2), member: false }).unwrap();
    net.send(1, node_of(1), Channel::Ring, b"and no more").unwrap();
    net.run_ms(20);
    assert_eq!(net.parties[0].frames().len(), 2);
}

#[test]
fn link_14_guests_are_few_bytes() {
    let mut net = guest();
    for _ in 0..600 {
        net.send(1, node_of(1), Channel::Admission, &[1; 1_000]).unwrap();
        net.send(1, node_of(1), Channel::Transcript, &[2; 1_000]).unwrap();
    }
    net.send(1, node_of(1), Channel::Admission, &vec![3; 20_000]).unwrap();
    net.run_ms(100);
    let count = |channel| net.parties[0].frames().iter().filter(|(_, on, _)| *on == channel).count();
    assert!((60..80).contains(&count(Channel::Admission)), "{}", count(Channel::Admission));
    assert!((250..290).contains(&count(Channel::Transcript)), "{}", count(Channel::Transcript));
    assert!(net.parties[0].links.counters().too_much > 800);
    // Limits do not hold for a peer that we dialled.
    for _ in 0..600 {
        net.send(0, node_of(2), Channel::Transcript, &[2; 1_000]).unwrap();
    }
    net.run_ms(100);
    assert_eq!(net.parties[1].frames().len(), 600);
}

#[test]
fn link_09_guests_are_few_and_members_pass_them_by() {
    let mut net = Net::new(1);
    net.parties[0].roster.insert(node_of(200));
    for name in 2..(GUESTS_MAX as u8 + 12) {
        let index = net.add(Named::new(name), config(), Default::default());
        net.dial(index, 0);
        net.run_ms(30);
    }
    assert_eq!(net.parties[0].links.peers().count(), GUESTS_MAX);
    let member = net.add(Named::new(200), config(), Default::default());
    net.dial(member, 0);
    net.run_ms(30);
    assert!(net.parties[0].links.peers().any(|(node, is_member)| node == node_of(200) && is_member));
    assert!(net.parties[0].heard.contains(&down(GUESTS_MAX as u8 + 10, DownCause::Evicted)), "the newest");
    net.run(limits::GUEST_STAY);
    let late = net.add(Named::new(201), config(), Default::default());
    net.dial(late, 0);
    net.run_ms(30);
    assert!(net.parties[0].links.peers().any(|(node, _)| node == node_of(201)), "an old guest made room");
}

#[test]
fn link_15_an_idle_link_stays_up_and_a_silent_one_goes_down_in_time() {
    let mut net = Net::pair();
    net.run(Duration::from_secs(60));
    assert_eq!((net.parties[0].downs(), net.parties[1].downs()), (0, 0));
    net.loss = 20;
    net.run(Duration::from_secs(30));
    assert_eq!((net.parties[0].downs(), net.parties[1].downs()), (0, 0), "a fifth lost");
    net.loss = 100;
    net.run(config().silence + Duration::from_millis(1));
    assert!(net.parties[0].heard.contains(&down(2, DownCause::Silent)));
    assert!(net.parties[1].heard.contains(&down(1, DownCause::Silent)));
    assert_eq!(net.parties[0].links.poll_timeout(), None);
    net.loss = 0;
    net.dial(1, 0);
    net.run_ms(50);
    assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (2, 2), "and comes back");
}

#[test]
fn link_08_a_peer_that_lost_its_association_is_found_again() {
    // Node 1 hears node 2. Node 2 hears nothing, gives up, and dials again once the path is free.
    for cut in [(0, 1), (1, 0)] {
        let mut net = Net::pair();
        net.cut.insert((place(cut.0), place(cut.1)));
        net.run_ms(1_600);
        net.cut.clear();
        net.dial(cut.1, cut.0);
        net.run_ms(1_600);
        for party in 0..2_usize {
            let to = node_of(2 - party as u8);
            net.send(party, to, Channel::Ring, b"again").unwrap();
        }
        net.run_ms(20);
        assert_eq!((net.parties[0].frames().len(), net.parties[1].frames().len()), (1, 1));
    }
}

#[test]
fn link_16_new_keys_come_before_the_old_are_spent() {
    let mut net = Net::new(0);
    let all: std::collections::BTreeSet<_> = [node_of(1), node_of(2)].into();
    for name in [1, 2] {
        let config = folkmoot_link::Config { rekey_after: 100, ..config() };
        net.add(Named::new(name), config, all.clone());
    }
    net.dial(0, 1);
    net.run_ms(50);
    for number in 0..1_000_u32 {
        net.send(0, node_of(2), Channel::Ring, &number.to_be_bytes()).unwrap();
        net.send(1, node_of(1), Channel::Ring, &number.to_be_bytes()).unwrap();
        net.run_ms(2);
    }
    for party in &net.parties {
        assert_eq!((party.frames().len(), party.ups(), party.downs()), (1_000, 1, 0));
        assert!(party.links.counters().handshakes > 4);
    }
}

#[test]
fn link_16_spent_keys_seal_nothing_more() {
    let mut net = Net::new(0);
    let all: std::collections::BTreeSet<_> = [node_of(1), node_of(2)].into();
    for name in [1, 2] {
        let config = folkmoot_link::Config { rekey_after: 100, ..config() };
        net.add(Named::new(name), config, all.clone());
    }
    net.dial(0, 1);
    net.run_ms(50);
    net.loss = 100;
    for _ in 0..205 {
        let _ = net.send(0, node_of(2), Channel::Ring, b"x");
    }
    assert!(net.parties[0].heard.contains(&down(2, DownCause::Spent)));
}

#[test]
fn link_17_another_certificate_is_told_and_retold() {
    let mut net = Net::pair();
    net.loss = 100;
    let gmc = certificate_of(1, true, 9_000);
    net.input(0, Input::Certificate(gmc.clone())).unwrap();
    net.run_ms(20);
    net.loss = 0;
    net.run_ms(1_000);
    let told = Output::Certificate { node: node_of(1), certificate: gmc, rostered_claim: true };
    assert_eq!(net.parties[1].heard.iter().filter(|output| **output == told).count(), 1);
    let before = net.log.len();
    net.run_ms(400);
    assert!(net.log.len() - before < 8, "acknowledged, not repeated");
    net.input(0, Input::Certificate(certificate_of(3, true, 100))).unwrap();
    net.run_ms(20);
    assert!(net.parties[1].errors.contains(&LinkError::PeerForeignCertificate(node_of(1))));
}

#[test]
fn link_18_goodbye_is_heard_at_once() {
    let mut net = Net::pair();
    net.input(0, Input::Hangup { node: node_of(2) }).unwrap();
    net.run_ms(5);
    assert!(net.parties[0].heard.contains(&down(2, DownCause::HungUp)));
    assert!(net.parties[1].heard.contains(&down(1, DownCause::PeerHungUp)));
    assert_eq!(net.send(0, node_of(2), Channel::Ring, b""), Err(LinkError::LocalNoLink(node_of(2))));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let play = || {
        let mut net = Net::new(3);
        (net.loss, net.copies, net.jitter_ms) = (10, 10, 10);
        net.dial(0, 1);
        net.dial(2, 1);
        net.dial(1, 2);
        net.run_ms(3_000);
        let _ = net.send(0, node_of(2), Channel::Ring, &[5; FRAME_BYTES_MAX]);
        net.run_ms(500);
        net.log
    };
    let (first, second): (Vec<(Locator, Locator, Bytes)>, _) = (play(), play());
    assert!(first.len() > 20 && first == second);
}
