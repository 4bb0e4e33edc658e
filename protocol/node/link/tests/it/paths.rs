//! LINK-31 to LINK-33, LINK-40, LINK-41: how long a datagram a path carries is found out, and
//! nothing longer is sent.

use crate::common::{Named, Net, config, node_of, place};
use core::time::Duration;
use folkmoot_base::{Danger, Mutant};
use folkmoot_link::message::{Control, Probe};
use folkmoot_link::{Channel, Config, Input, LinkError, Output, limits};

/// What node `who` was told of the path to the node with `name`, in order.
fn told(net: &Net, who: usize, name: u8) -> Vec<u16> {
    let path = |output: &Output| match output {
        Output::Path { node, mtu } if *node == node_of(name) => Some(*mtu),
        _ => None,
    };
    net.parties[who].heard.iter().filter_map(path).collect()
}

/// The path between the first two carries so much, both ways.
fn narrow(net: &mut Net, mtu: usize) {
    net.mtu.insert((place(0), place(1)), mtu);
    net.mtu.insert((place(1), place(0)), mtu);
}

/// Two nodes whose path carries so much, and how long it took until both were told.
fn pair(mtu: usize) -> (Net, u64) {
    let mut net = Net::new(2);
    narrow(&mut net, mtu);
    net.dial(0, 1);
    for ms in 0..3_000 {
        if !told(&net, 0, 2).is_empty() && !told(&net, 1, 1).is_empty() {
            return (net, ms);
        }
        net.run_ms(1);
    }
    panic!("nothing was told of a path that carries {mtu}");
}

/// Datagrams of at least so many bytes that node `who` sent from the log's entry `from` on.
fn long(net: &Net, who: usize, from: usize, bytes: usize) -> usize {
    net.log[from..].iter().filter(|(_, at, datagram)| *at == place(who) && datagram.len() >= bytes).count()
}

/// Frames of many lengths arrive, and what is longer than the path carries is not sent.
fn carries(net: &mut Net, mtu: usize) {
    let before = net.log.len();
    let heard = net.parties[1].frames().len();
    let lengths = [1, 500, 700, 1_100, 1_200, 1_300, 1_419, 3_000, 65_536];
    for length in lengths {
        net.send(0, node_of(2), Channel::Ring, &vec![3; length]).unwrap();
        net.run_ms(5);
    }
    let frames = net.parties[1].frames();
    assert!(frames[heard..].iter().map(|(_, _, frame)| frame.len()).eq(lengths), "{mtu}");
    // The check of the path itself is as long as the path carries.
    assert_eq!(long(net, 0, before, mtu + 1), 0, "{mtu}");
}

#[test]
fn link_31_a_path_is_tried_with_the_full_size_first_which_takes_a_round_trip() {
    let (net, ms) = pair(1_452);
    assert!(ms <= 2, "{ms} ms");
    assert_eq!((told(&net, 0, 2), told(&net, 1, 1)), (vec![1_452], vec![1_452]));
    assert_eq!((long(&net, 0, 0, 1_000), long(&net, 1, 0, 1_000)), (1, 1));
    let path = net.parties[0].links.path(&node_of(2)).unwrap();
    assert!(path.validated && path.rtt.is_some_and(|rtt| rtt <= Duration::from_micros(400)), "{path:?}");
}

#[test]
fn link_31_what_a_narrow_path_carries_is_found_and_nothing_longer_is_sent() {
    for (carried, found) in [
        (1_451, 1_444),
        (1_400, 1_392),
        (1_372, 1_372),
        (1_352, 1_352),
        (1_280, 1_252),
        (1_232, 1_232),
        (1_200, 1_200),
        (1_100, 1_000),
        (640, 640),
    ] {
        let (mut net, ms) = pair(carried);
        assert!(ms <= 250, "{carried}: {ms} ms");
        net.run_ms(4_000);
        assert_eq!(told(&net, 0, 2).last(), Some(&found), "{carried}");
        carries(&mut net, found.into());
        // The search has ended.
        let before = net.log.len();
        net.run_ms(60_000);
        assert!(long(&net, 0, before, 640) <= 1, "{carried}");
    }
}

#[test]
fn link_31_loss_does_not_make_a_path_narrow() {
    let mut full = 0;
    for seed in 1..60_u64 {
        let mut net = Net::new(2);
        net.dice.0 = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        net.dial(0, 1);
        net.run(Duration::from_micros(700));
        net.loss = 20;
        net.run_ms(4_000);
        full += usize::from(told(&net, 0, 2).last() == Some(&1_452));
    }
    assert!(full >= 58, "{full} of 59");
}

#[test]
fn link_31_a_slow_path_is_waited_for() {
    let mut net = Net::new(2);
    net.delay = 300_000;
    net.dial(0, 1);
    net.run_ms(4_000);
    assert_eq!((told(&net, 0, 2), told(&net, 1, 1)), (vec![1_452], vec![1_452]));
}

/// A peer answers no probe: its path is told in any case.
#[test]
fn link_31_who_answers_no_probe_is_not_waited_for_long() {
    let (net, ms) = pair(600);
    assert!(ms <= 2_950, "{ms} ms");
    assert_eq!(told(&net, 0, 2), [1_200]);
}

/// Answers that nobody asked for, for sizes that were never probed or under other numbers, and
/// probes answered without a question.
#[test]
fn link_31_only_the_answer_to_a_probe_of_this_search_counts() {
    let (mut net, _) = pair(1_252);
    net.run_ms(3_000);
    let lie = |net: &mut Net, number: u32, size: u16| {
        let now = net.now;
        net.parties[1].links.danger_say(now, node_of(1), &Control::Probed { number, size });
        net.drain(1);
        net.run_ms(5);
    };
    // No search is on its way.
    for number in 0..60 {
        for size in [0, 1, 1_252, 1_372, 1_452, u16::MAX] {
            lie(&mut net, number, size);
        }
    }
    assert_eq!(told(&net, 0, 2), [1_252]);
    // A check is on its way, of the size 1,252: answers of earlier searches, and of other sizes.
    net.send(0, node_of(2), Channel::Ring, &[3; 1_100]).unwrap();
    for number in 0..60 {
        for size in [0, 640, 1_253, 1_372, 1_452, u16::MAX] {
            lie(&mut net, number, size);
        }
    }
    net.run_ms(3_000);
    assert_eq!(told(&net, 0, 2), [1_252]);
}

/// Forged by somebody who has no key: it does not open. Replayed: it came before.
#[test]
fn link_31_forged_and_replayed_answers_are_refused() {
    let (mut net, _) = pair(1_452);
    let mut answers: Vec<_> = net.log.iter().filter(|(_, from, _)| *from == place(1)).cloned().collect();
    narrow(&mut net, 1_252);
    net.run_ms(600);
    net.send(0, node_of(2), Channel::Ring, &[3; 1_400]).unwrap();
    for (to, from, bytes) in answers.drain(..) {
        if to == place(0) && bytes.get(1) == Some(&5) {
            let replay = net.input(0, Input::Datagram { from: from.clone(), bytes: bytes.as_ref().into() });
            assert!(matches!(replay, Err(LinkError::WireReplayed(_))), "{replay:?}");
            let mut forged = bytes.to_vec();
            forged[13] = 0xff;
            let refused = net.input(0, Input::Datagram { from, bytes: forged.as_slice().into() });
            assert!(matches!(refused, Err(LinkError::WireForged(_))), "{refused:?}");
        }
    }
    net.run_ms(3_000);
    assert_eq!(told(&net, 0, 2), [1_452, 1_252]);
}

#[test]
fn link_32_a_path_that_narrows_is_found_out_while_it_is_used_and_not_before() {
    let (mut net, _) = pair(1_452);
    narrow(&mut net, 1_372);
    net.run_ms(30_000);
    assert_eq!(told(&net, 0, 2), [1_452], "nothing long was sent");
    net.send(0, node_of(2), Channel::Ring, &[3; 1_400]).unwrap();
    net.run_ms(450);
    assert_eq!(told(&net, 0, 2), [1_452, 1_372]);
    carries(&mut net, 1_372);
    // It carries more again: this is tried once in a while.
    narrow(&mut net, 1_452);
    net.run_ms(599_000 - 500);
    assert_eq!(told(&net, 0, 2), [1_452, 1_372]);
    net.run_ms(3_000);
    assert_eq!(told(&net, 0, 2), [1_452, 1_372, 1_452]);
}

#[test]
fn link_32_a_path_that_is_used_is_checked_twice_a_second_at_most() {
    let (mut net, _) = pair(1_452);
    let before = net.log.len();
    for _ in 0..1_000 {
        net.send(0, node_of(2), Channel::Ring, &[3; 1_000]).unwrap();
        net.run_ms(10);
    }
    let checks = long(&net, 0, before, 1_452);
    assert!((15..=20).contains(&checks), "{checks} checks in 10 s");
}

#[test]
fn link_32_what_the_system_does_not_send_is_known_at_once() {
    let (mut net, _) = pair(1_452);
    narrow(&mut net, 1_350);
    let too_long = |net: &mut Net, bytes| net.input(0, Input::TooLong { to: place(1), bytes }).unwrap();
    too_long(&mut net, 1_452);
    assert!(net.parties[0].links.path(&node_of(2)).unwrap().mtu <= 1_200);
    for bytes in [1_444, 1_392, 1_372, 1_352] {
        too_long(&mut net, bytes);
    }
    net.run_ms(2);
    assert_eq!(told(&net, 0, 2).last(), Some(&1_252));
    carries(&mut net, 1_252);
    // Of somewhere else, or of what is longer than anything that is sent: nothing.
    net.input(0, Input::TooLong { to: place(7), bytes: 700 }).unwrap();
    too_long(&mut net, 9_000);
    assert_eq!(net.parties[0].links.path(&node_of(2)).unwrap().mtu, 1_252);
}

/// Each answer is smaller than the probe, and a flood of probes gets few of them.
#[test]
fn link_33_a_flood_of_probes_is_not_amplified() {
    let (mut net, _) = pair(1_452);
    let before = net.log.len();
    let padding = vec![0; 700].into();
    let probe = Control::Probe(Probe { number: 7, padding });
    let tiny = Control::Probe(Probe { number: 7, padding: vec![0; 10].into() });
    for _ in 0..1_000 {
        let now = net.now;
        net.parties[0].links.danger_say(now, node_of(2), &probe);
        net.parties[0].links.danger_say(now, node_of(2), &tiny);
        net.drain(0);
        net.run_ms(1);
    }
    let sent = |who: usize| -> usize {
        let by = net.log[before..].iter().filter(|(_, at, _)| *at == place(who));
        by.map(|(_, _, datagram)| datagram.len()).sum()
    };
    let most = limits::PROBES_ANSWERED_BURST + limits::PROBES_ANSWERED_PER_SECOND + 5;
    assert!(sent(1) <= most as usize * 60, "{} bytes for {}", sent(1), sent(0));
}

/// A guest's path is not tried: it has what every path is taken to carry.
#[test]
fn link_33_guests_get_no_probes() {
    let mut net = Net::new(2);
    net.parties.iter_mut().for_each(|party| party.roster.clear());
    net.dial(0, 1);
    net.run_ms(1_000);
    assert_eq!(long(&net, 0, 0, 640) + long(&net, 1, 0, 640), 0);
    assert_eq!(net.parties[0].links.path(&node_of(2)).unwrap().mtu, 1_200);
}

/// Before any ping or probe was answered.
#[test]
fn link_40_the_handshake_says_how_long_a_round_trip_takes() {
    let mut net = Net::new(2);
    net.delay = 100_000;
    net.dial(0, 1);
    let mut first = [None; 2];
    for _ in 0..600 {
        net.run_ms(1);
        for (at, trip) in first.iter_mut().enumerate() {
            let peer = node_of(if at == 0 { 2 } else { 1 });
            *trip = trip.or_else(|| net.parties[at].links.path(&peer).map(|path| (path.trip, path.rtt)));
        }
    }
    for trip in first {
        let (trip, measured) = trip.unwrap();
        assert!(measured.is_none() && (195..=230).contains(&trip.as_millis()), "{trip:?} {measured:?}");
    }
}

/// A round trip, in ms.
const LONG: u64 = 200;

/// Two nodes, far from each other, whose path carries so much.
fn far(mtu: usize, danger: Option<Danger>) -> Net {
    let mut net = Net::new(0);
    for name in [1, 2] {
        let config = Config { danger: Mutant::from(danger), ..config() };
        net.add(Named::new(name), config, [1, 2].map(node_of).into());
    }
    net.delay = LONG * 1_000 / 2;
    narrow(&mut net, mtu);
    net.dial(0, 1);
    net
}

/// How long it takes until both know what their path carries, in ms, and what they are told then.
fn known(net: &mut Net) -> (u64, Vec<u16>) {
    for ms in 0..3_000 {
        let told = [told(net, 0, 2), told(net, 1, 1)].concat();
        if told.len() >= 2 {
            return (ms, told);
        }
        net.run_ms(1);
    }
    panic!("nothing was told");
}

#[test]
fn link_41_over_a_long_path_smaller_sizes_do_not_wait_for_the_largest() {
    let wide = known(&mut far(1_452, None)).0;
    for (carried, found) in [(1_451, 1_444), (1_400, 1_392), (1_280, 1_252), (1_200, 1_200)] {
        let (ms, told) = known(&mut far(carried, None));
        assert!(ms <= wide + LONG / 8 + 2, "{carried}: {ms} ms, {wide} ms for a wide path");
        assert_eq!(told, [found; 2]);
        let (late, _) = known(&mut far(carried, Some(Danger::LinkSizesWait)));
        assert!(late >= ms + LONG, "{carried}: {late} ms without the rule");
    }
}

/// In one datagram each, and no more than TCP sends at once to whom it knows nothing of.
#[test]
fn link_41_the_probes_of_a_wide_path_are_few() {
    let mut net = far(1_452, None);
    net.run_ms(4_000);
    for who in [0, 1] {
        let probes = net.log.iter().filter(|(_, at, datagram)| *at == place(who) && datagram.len() >= 640);
        let bytes: usize = probes.clone().map(|(_, _, datagram)| datagram.len()).sum();
        assert!(probes.count() <= 11 && bytes <= 10 * 1_460, "{bytes}");
    }
}

/// The search goes on for the larger sizes, and takes back nothing.
#[test]
fn link_41_loss_does_not_make_a_long_path_narrow() {
    let mut full = 0;
    for seed in 1..60_u64 {
        let mut net = far(1_452, None);
        net.dice.0 = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        net.run_ms(2 * LONG + 50);
        net.loss = 20;
        net.run_ms(6_000);
        full += usize::from(told(&net, 0, 2).last() == Some(&1_452));
    }
    assert!(full >= 58, "{full} of 59");
}

/// A peer answers before any probe of this search can have come there: it is told what every path
/// is taken to carry, no less, and more as soon as that is answered.
#[test]
fn link_41_who_answers_small_sizes_early_gets_small_datagrams_until_it_answers_others() {
    let mut net = far(1_452, None);
    while net.parties[0].links.path(&node_of(2)).is_none() {
        net.run_ms(1);
    }
    for number in 0..60 {
        for size in [640, 1_000] {
            let now = net.now;
            net.parties[1].links.danger_say(now, node_of(1), &Control::Probed { number, size });
        }
    }
    net.drain(1);
    net.run_ms(4_000);
    let told = told(&net, 0, 2);
    assert_eq!((told.first(), told.iter().min(), told.last()), (Some(&1_200), Some(&1_200), Some(&1_452)));
}
