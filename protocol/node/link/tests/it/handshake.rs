//! Who gets a link, and what it costs: cookies, proofs, restarts, dials from both sides.

use crate::common::{Named, Net, certificate_of, config, node_of, opened, place};
use bytes::Bytes;
use folkmoot_link::message::Datagram;
use folkmoot_link::{Channel, Common, DownCause, Input, LinkError, Output, limits};

#[test]
fn a_dial_brings_both_up_with_names_and_certificates() {
    let net = Net::pair();
    let up = |node, at, name| Output::Up {
        node,
        at,
        certificate: certificate_of(name, false, 300),
        rostered_claim: false,
        common: Common { version: 1, capabilities: 0 },
    };
    assert!(net.parties[0].heard.contains(&up(node_of(2), place(1), 2)));
    assert!(net.parties[1].heard.contains(&up(node_of(1), place(0), 1)));
    assert!(net.parties.iter().all(|party| party.errors.is_empty()));
}

#[test]
fn certificates_travel_only_encrypted() {
    let net = Net::pair();
    let certificate = certificate_of(2, false, 300);
    for (_, _, bytes) in &net.log {
        assert!(!bytes.windows(20).any(|window| window == &certificate[10..30]));
    }
}

#[test]
fn long_certificates_cross_in_parts_under_loss() {
    let mut net = Net::new(0);
    let all: std::collections::BTreeSet<_> = [node_of(1), node_of(2)].into();
    net.add(Named { length: 20_000, ..Named::new(1) }, config(), all.clone());
    net.add(Named { length: limits::CERTIFICATE_BYTES_MAX, ..Named::new(2) }, config(), all);
    net.loss = 10;
    net.dial(0, 1);
    net.run_ms(4_900);
    assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (1, 1));
}

#[test]
fn link_02_a_hello_without_cookie_leaves_no_state() {
    let mut net = Net::new(1);
    for index in 1..1_000_u32 {
        let hello = Datagram::Hello { from: index, cookie: [0; 16], noise: [1; 32] }.encode();
        let before = net.log.len();
        net.input(0, Input::Datagram { from: place(77), bytes: opened(hello.clone()) }).unwrap();
        assert!(net.log[before].2.len() <= hello.len(), "a cookie is no amplifier");
    }
    assert_eq!(net.parties[0].links.counters().cookies, 999);
    assert_eq!(net.parties[0].links.poll_timeout(), None, "nothing to forget");
}

fn cookie(net: &mut Net, from: u32, index: u32) -> [u8; 16] {
    let hello = Datagram::Hello { from: index, cookie: [0; 16], noise: [1; 32] }.encode();
    net.input(0, Input::Datagram { from: place(from as usize), bytes: opened(hello) }).unwrap();
    match Datagram::decode(&net.log.last().unwrap().2) {
        Ok(Datagram::Retry { cookie, .. }) => cookie,
        other => panic!("no cookie: {other:?}"),
    }
}

#[test]
fn link_02_a_cookie_is_for_one_place_one_index_and_a_short_time() {
    let mut net = Net::new(1);
    let good = cookie(&mut net, 77, 5);
    let answered = |net: &mut Net, place_number: usize, index: u32| {
        let hello = Datagram::Hello { from: index, cookie: good, noise: [2; 32] }.encode();
        let _ = net.input(0, Input::Datagram { from: place(place_number), bytes: opened(hello) });
        matches!(Datagram::decode(&net.log.last().unwrap().2), Ok(Datagram::Reply(_)))
    };
    assert!(!answered(&mut net, 78, 5), "another place");
    assert!(!answered(&mut net, 77, 6), "another index");
    net.now = net.now + limits::COOKIE_LIFE * 3;
    assert!(!answered(&mut net, 77, 5), "too late");
    net.now = net.now - limits::COOKIE_LIFE * 3;
    assert!(answered(&mut net, 77, 5));
}

#[test]
fn link_03_only_the_place_we_dialled_can_say_try_again_and_not_often() {
    let mut net = Net::new(1);
    net.input(0, Input::Dial { at: place(50), node: None }).unwrap();
    let Ok(Datagram::Hello { from: index, .. }) = Datagram::decode(&net.log[0].2) else { panic!("no hello") };
    let retry = |to| Datagram::Retry { to, cookie: [8; 16] }.encode();
    for (from, to) in [(51, index), (50, index ^ 1)] {
        let refused = net.input(0, Input::Datagram { from: place(from), bytes: opened(retry(to)) });
        assert_eq!(refused, Err(LinkError::WireUnknown(place(from))));
    }
    for _ in 0..100 {
        net.input(0, Input::Datagram { from: place(50), bytes: opened(retry(index)) }).unwrap();
    }
    assert_eq!(net.log.len(), 1 + usize::from(limits::COOKIES_ANSWERED));
}

#[test]
fn link_04_a_flood_of_handshakes_is_bounded_and_does_not_stop_others() {
    let mut net = Net::new(2);
    for index in 100..400_u32 {
        let cookie = cookie(&mut net, index, index);
        let hello = Datagram::Hello { from: index, cookie, noise: [3; 32] }.encode();
        let _ = net.input(0, Input::Datagram { from: place(index as usize), bytes: opened(hello) });
    }
    assert!(net.parties[0].links.counters().busy >= 300 - limits::HALF_OPEN_MAX as u64);
    net.dial(1, 0);
    net.run_ms(3_000);
    assert_eq!(net.parties[0].ups(), 1, "the oldest half-open made room");
}

#[test]
fn link_05_a_signature_that_does_not_stand_brings_nobody_up() {
    for (dialler, answerer) in [(true, false), (false, true)] {
        let mut net = Net::new(0);
        net.add(Named { liar: dialler, ..Named::new(1) }, config(), Default::default());
        net.add(Named { liar: answerer, ..Named::new(2) }, config(), Default::default());
        net.dial(0, 1);
        net.run_ms(6_000);
        assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (0, 0));
        let seen = net.parties.iter().flat_map(|party| &party.errors);
        assert!(seen.into_iter().any(|error| matches!(error, LinkError::WireUnproved(_))));
        assert!(net.parties[0].heard.iter().any(|output| matches!(output, Output::Unreached { .. })));
    }
}

#[test]
fn another_ring_is_another_world() {
    let mut net = Net::new(1);
    let other = folkmoot_link::Config::new(folkmoot_base::GroupId([1; 32]));
    net.add(Named::new(2), other, Default::default());
    net.dial(0, 1);
    net.run_ms(6_000);
    assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (0, 0));
}

#[test]
fn the_wrong_answerer_and_ourselves_are_refused() {
    let mut net = Net::new(2);
    net.input(0, Input::Dial { at: place(1), node: Some(node_of(9)) }).unwrap();
    net.run_ms(500);
    let wanted = LinkError::PeerOther { wanted: node_of(9), peer: node_of(2) };
    assert!(net.parties[0].errors.contains(&wanted));
    net.dial(0, 0);
    net.run_ms(500);
    assert!(net.parties[0].errors.contains(&LinkError::LocalSelf(place(0))));
    assert_eq!(net.parties[0].ups(), 0);
}

#[test]
fn nobody_there_is_said_once() {
    let mut net = Net::new(1);
    net.input(0, Input::Dial { at: place(50), node: None }).unwrap();
    net.input(0, Input::Dial { at: place(50), node: None }).unwrap();
    net.run_ms(20_000);
    let unreached = Output::Unreached { at: place(50), node: None };
    assert_eq!(net.parties[0].heard.iter().filter(|output| **output == unreached).count(), 1);
    assert!(net.log.len() < 12, "back-off");
    assert_eq!(net.parties[0].links.poll_timeout(), None);
}

#[test]
fn link_06_a_restarted_peer_replaces_its_old_association_once_proved() {
    let mut net = Net::pair();
    net.restart(1, Named::new(2));
    net.dial(1, 0);
    net.run_ms(100);
    let heard = &net.parties[0].heard;
    let down =
        heard.iter().position(|output| matches!(output, Output::Down { cause: DownCause::Restarted, .. }));
    let up = heard.iter().rposition(|output| matches!(output, Output::Up { .. }));
    assert!(down.unwrap() < up.unwrap());
    net.send(0, node_of(2), Channel::Ring, b"to the new one").unwrap();
    net.run_ms(50);
    assert_eq!(net.parties[1].frames().len(), 1);
}

#[test]
fn link_06_an_unproved_handshake_changes_no_association() {
    let mut net = Net::pair();
    net.restart(1, Named { liar: true, ..Named::new(2) });
    net.dial(1, 0);
    net.run_ms(100);
    assert_eq!(net.parties[0].downs(), 0);
}

#[test]
fn link_07_dials_from_both_sides_end_in_one_link_and_lose_nothing() {
    for jitter in [0, 3, 20] {
        let mut net = Net::new(2);
        net.jitter_ms = jitter;
        net.dial(0, 1);
        net.dial(1, 0);
        let mut sent = [0_usize; 2];
        for round in 0..400_u32 {
            net.run_ms(10);
            for (index, sent) in sent.iter_mut().enumerate() {
                let to = node_of(2 - index as u8);
                *sent += usize::from(net.send(index, to, Channel::Ring, &round.to_be_bytes()).is_ok());
            }
        }
        net.run_ms(100);
        assert!(sent[0] > 380 && sent[1] > 380, "{sent:?}");
        assert_eq!((net.parties[1].frames().len(), net.parties[0].frames().len()), (sent[0], sent[1]));
        for party in &net.parties {
            assert_eq!((party.ups(), party.downs()), (1, 0));
        }
    }
}

#[test]
fn loss_copies_and_reordering_do_not_stop_a_handshake() {
    for seed in 1..60_u64 {
        let mut net = Net::new(3);
        net.dice.0 = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (net.loss, net.copies, net.jitter_ms) = (20, 20, 30);
        // A dial may fail for good; whoever wants the link dials again. So much loss may also end an
        // idle link that is up.
        let up = |net: &Net| net.parties.iter().all(|party| party.links.peers().count() == 2);
        let came = (0..100).any(|tenth| {
            if tenth % 51 == 0 {
                [(0, 1), (1, 2), (2, 0)].into_iter().for_each(|(from, to)| net.dial(from, to));
            }
            net.run_ms(100);
            up(&net)
        });
        assert!(came, "seed {seed}");
    }
}

#[test]
fn tampered_handshakes_bring_nobody_up_and_heal() {
    for kind in [3_u8, 4] {
        let mut net = Net::new(2);
        net.dial(0, 1);
        let mut spoilt = 0;
        for _ in 0..4_000 {
            net.run(core::time::Duration::from_micros(100));
            for (_, _, _, _, bytes) in &mut net.wire {
                if bytes.len() > 100 && bytes[1] == kind && spoilt < 2 && bytes[50] != 0xee {
                    let mut bad = bytes.to_vec();
                    bad[50] = 0xee;
                    *bytes = Bytes::from(bad);
                    spoilt += 1;
                }
            }
        }
        net.run_ms(3_000);
        assert!(spoilt > 0);
        assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (1, 1), "kind {kind}");
        let forged = net.parties.iter().flat_map(|party| &party.errors);
        assert!(forged.into_iter().any(|error| matches!(error, LinkError::WireForged(_))));
    }
}

#[test]
fn link_20_a_dial_to_a_live_link_is_nothing() {
    let mut net = Net::pair();
    let before = net.log.len();
    net.dial(0, 1);
    net.input(0, Input::Dial { at: place(40), node: Some(node_of(2)) }).unwrap();
    assert_eq!(net.log.len(), before);
}

#[test]
fn dials_are_bounded() {
    let mut net = Net::new(1);
    for number in 0..limits::DIALS_MAX {
        net.input(0, Input::Dial { at: place(100 + number), node: None }).unwrap();
    }
    assert_eq!(net.input(0, Input::Dial { at: place(99), node: None }), Err(LinkError::LocalDials));
}

/// The first cookie comes 400 ms after the last Hello.
#[test]
fn link_35_what_a_slow_path_answers_late_is_not_said_again_meanwhile() {
    let mut net = Net::new(1);
    net.input(0, Input::Dial { at: place(50), node: None }).unwrap();
    let Ok(Datagram::Hello { from: to, .. }) = Datagram::decode(&net.log[0].2) else { panic!("no hello") };
    net.run_ms(1_000);
    let before = net.log.len();
    let bytes = opened(Datagram::Retry { to, cookie: [8; 16] }.encode());
    net.input(0, Input::Datagram { from: place(50), bytes }).unwrap();
    net.run_ms(590);
    assert_eq!(net.log.len(), before + 1, "the answer to the cookie alone");
    net.run_ms(20);
    assert_eq!(net.log.len(), before + 2, "said again when an answer is late");
}
