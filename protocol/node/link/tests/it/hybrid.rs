//! Handshakes with ML-KEM-768: either both ends agree on the keys or no link comes up, and no
//! message can make a link weaker.

use crate::common::{Named, Net, config, node_of, opened, place};
use bytes::Bytes;
use folkmoot_link::message::Datagram;
use folkmoot_link::{Channel, Config, Exchange, Input, LinkError, Output, limits};

use Exchange::{Classical, Hybrid};

fn net(exchanges: [Exchange; 2]) -> Net {
    let mut net = Net::new(0);
    for (name, exchange) in [1, 2].into_iter().zip(exchanges) {
        net.add(Named::new(name), Config { exchange, ..config() }, [1, 2].map(node_of).into());
    }
    net
}

fn ups(net: &Net) -> [usize; 2] {
    [net.parties[0].ups(), net.parties[1].ups()]
}

fn refused(net: &Net, who: usize) -> Vec<Output> {
    let refused = |output: &&Output| matches!(output, Output::Refused { .. });
    net.parties[who].heard.iter().filter(refused).cloned().collect()
}

/// How many datagrams of this kind crossed.
fn count(net: &Net, kind: u8) -> usize {
    net.log.iter().filter(|(_, _, bytes)| bytes[1] == kind).count()
}

#[test]
fn a_hybrid_link_comes_up_and_carries_frames() {
    let mut net = net([Hybrid, Hybrid]);
    net.dial(0, 1);
    net.run_ms(50);
    assert_eq!((ups(&net), count(&net, 1), count(&net, 6), count(&net, 7)), ([1, 1], 0, 2, 0));
    assert_eq!(net.log[0].2.len(), 22, "the first Hello is an empty one");
    for (from, to) in [(0, 2), (1, 1)] {
        net.send(from, node_of(to), Channel::Ring, b"hello").unwrap();
        net.run_ms(50);
        assert_eq!(net.parties[1 - from].frames().len(), 1);
    }
    assert!(net.parties.iter().all(|party| party.errors.is_empty()));
}

#[test]
fn hybrid_links_come_up_over_bad_networks_and_from_both_sides() {
    for seed in 1..=20 {
        let mut net = net([Hybrid, Hybrid]);
        net.dice.0 = 0x1234_5678 + seed;
        (net.loss, net.copies, net.jitter_ms) = (20, 20, 30);
        net.dial(0, 1);
        net.dial(1, 0);
        net.run_ms(4_900);
        assert_eq!(net.parties.iter().map(|party| party.links.peers().count()).sum::<usize>(), 2, "{seed}");
    }
}

/// LINK-02: a Hello from an address that does not answer costs no state, and gets no answer longer
/// than itself, however short it is.
#[test]
fn link_02_a_hybrid_hello_without_cookie_leaves_no_state() {
    let mut net = net([Hybrid, Hybrid]);
    for noise in [Bytes::new(), vec![1; 1_216].into()] {
        for cookie in [[0; 16], [7; 16]] {
            let hello = Datagram::HybridHello { from: 5, cookie, noise: noise.clone() }.encode();
            let before = net.log.len();
            net.input(0, Input::Datagram { from: place(77), bytes: opened(hello.clone()) }).unwrap();
            assert_eq!(net.log.len(), before + 1);
            assert!(net.log[before].2.len() <= hello.len(), "a cookie is no amplifier");
        }
    }
    // An empty Hello with a good cookie only gets that cookie again.
    let Ok(Datagram::Retry { cookie, .. }) = Datagram::decode(&net.log.last().unwrap().2) else { panic!() };
    let hello = Datagram::HybridHello { from: 5, cookie, noise: Bytes::new() }.encode();
    net.input(0, Input::Datagram { from: place(77), bytes: opened(hello) }).unwrap();
    assert!(matches!(Datagram::decode(&net.log.last().unwrap().2), Ok(Datagram::Retry { .. })));
    assert_eq!(net.parties[0].links.poll_timeout(), None, "nothing to forget");
}

/// LINK-04: the bounds hold for hybrid handshakes, including those with invalid keys.
#[test]
fn link_04_a_flood_of_hybrid_handshakes_is_bounded_and_does_not_stop_others() {
    let mut net = net([Hybrid, Hybrid]);
    for index in 100..400_u32 {
        let from = place(index as usize);
        let ask = Datagram::HybridHello { from: index, cookie: [0; 16], noise: Bytes::new() }.encode();
        net.input(0, Input::Datagram { from: from.clone(), bytes: opened(ask) }).unwrap();
        let Ok(Datagram::Retry { cookie, .. }) = Datagram::decode(&net.log.last().unwrap().2) else {
            panic!()
        };
        let fill = if index % 2 == 0 { 3 } else { 0xff };
        let hello = Datagram::HybridHello { from: index, cookie, noise: vec![fill; 1_216].into() }.encode();
        let _ = net.input(0, Input::Datagram { from, bytes: opened(hello) });
    }
    let replies: std::collections::BTreeSet<_> =
        net.log.iter().filter(|(_, _, bytes)| bytes[1] == 3).map(|(to, _, _)| to.clone()).collect();
    assert!(replies.len() <= limits::HALF_OPEN_MAX, "{}", replies.len());
    net.dial(1, 0);
    net.run_ms(3_000);
    assert_eq!(net.parties[0].ups(), 1, "the oldest half-open made room");
}

/// LINK-21, LINK-22: the two forms do not link, whoever dials. The answerer says why and counts it.
/// The dialler reports it once, and dials on as before until it gives up.
#[test]
fn link_21_a_handshake_of_the_other_form_is_refused_with_the_reason() {
    for (dialler, answerer, kind) in [(Classical, Hybrid, 6), (Hybrid, Classical, 1)] {
        let mut net = net([dialler, answerer]);
        net.dial(0, 1);
        net.run_ms(20_000);
        assert_eq!(ups(&net), [0, 0]);
        assert_eq!(count(&net, kind), 0, "no Hello of the other form is ever said");
        assert_eq!(count(&net, 3) + count(&net, 4) + count(&net, 5), 0);
        assert_eq!(refused(&net, 0), [Output::Refused { at: place(1), node: None, asks: answerer }]);
        let counters = net.parties[1].links.counters();
        assert_eq!((counters.other_form as usize, counters.cookies), (count(&net, 7), 0));
        assert!(counters.other_form > 2, "the dial went on");
        let error = LinkError::WireOtherForm { at: place(0), theirs: dialler };
        assert!(net.parties[1].errors.iter().all(|one| *one == error), "{:?}", net.parties[1].errors);
        let end = net.parties[0].heard.iter().rev().find_map(|output| match output {
            Output::Trace(text) => Some(text.clone()),
            _ => None,
        });
        assert!(end.unwrap().contains("ML-KEM-768"), "the end of the dial says why");
        assert!(net.parties[0].heard.contains(&Output::Unreached { at: place(1), node: None }));
        // An absent node is not made to send more than was sent in its name, and nothing is kept.
        for (_, to, bytes) in net.log.iter().filter(|(_, _, bytes)| bytes[1] == 7) {
            assert_eq!((to.clone(), bytes.len()), (place(1), 7));
        }
        assert!(net.parties.iter().all(|party| party.links.poll_timeout().is_none()));
    }
}

/// LINK-22: a forged Refusal, as anyone on the path may write it, stops no dial and weakens none.
#[test]
fn link_22_a_forged_refusal_stops_and_weakens_nothing() {
    for (own, asks) in [(Hybrid, Classical), (Classical, Hybrid)] {
        let mut net = net([own, own]);
        net.cut.insert((place(0), place(1)));
        net.dial(0, 1);
        let index = match Datagram::decode(&net.log[0].2) {
            Ok(Datagram::Hello { from, .. } | Datagram::HybridHello { from, .. }) => from,
            other => panic!("{other:?}"),
        };
        let refusal = |to, asks| Datagram::Refusal { to, asks }.encode();
        let unknown = [
            (place(7), refusal(index, asks)),
            (place(1), refusal(index ^ 1, asks)),
            (place(1), refusal(index, own)),
        ];
        for (from, bytes) in unknown {
            assert_eq!(
                net.input(0, Input::Datagram { from: from.clone(), bytes: opened(bytes) }),
                Err(LinkError::WireUnknown(from))
            );
        }
        assert!(refused(&net, 0).is_empty());
        for _ in 0..100 {
            net.input(0, Input::Datagram { from: place(1), bytes: opened(refusal(index, asks)) }).unwrap();
        }
        assert_eq!((refused(&net, 0).len(), net.log.len()), (1, 1), "told once, answered never");
        net.cut.clear();
        net.run_ms(3_000);
        assert_eq!(ups(&net), [1, 1], "and the dial reaches whom it was for");
        let late = net.input(0, Input::Datagram { from: place(1), bytes: opened(refusal(index, asks)) });
        assert_eq!(late, Err(LinkError::WireUnknown(place(1))));
    }
}

/// LINK-23: whichever byte of whichever datagram of the handshake is altered, no node comes up with
/// keys that the other does not have. When nothing is altered any more, both come up.
#[test]
fn link_23_altered_handshakes_bring_nobody_up_with_other_keys_and_heal() {
    let mut honest = net([Hybrid, Hybrid]);
    honest.dial(0, 1);
    honest.run_ms(50);
    let said: Vec<Bytes> =
        honest.log.iter().map(|(_, _, bytes)| bytes.clone()).take_while(|b| b[1] != 5).collect();
    assert_eq!(said.iter().map(|bytes| bytes[1]).collect::<Vec<_>>(), [6, 2, 6, 3, 3, 4]);
    for (number, bytes) in said.iter().enumerate() {
        for at in 0..bytes.len() {
            let mut net = net([Hybrid, Hybrid]);
            net.dial(0, 1);
            let mut spoilt = false;
            while !spoilt && net.now.0 < 5_000_000 {
                let passed = net.log.len() - net.wire.len();
                if let Some((_, _, _, _, wire)) = net.wire.get_mut(number.wrapping_sub(passed)) {
                    let mut bad = wire.to_vec();
                    bad[at] ^= 1;
                    *wire = bad.into();
                    spoilt = true;
                }
                net.run(core::time::Duration::from_micros(100));
            }
            assert!(spoilt, "datagram {number}");
            net.run_ms(3);
            // A node that is up by now either has the same keys as the other, or hears nothing and
            // is heard by nobody.
            for from in 0..2 {
                let _ = net.send(from, node_of(2 - from as u8), Channel::Ring, b"x");
            }
            net.run_ms(2_500);
            assert_eq!(ups(&net), [1, 1], "datagram {number}, byte {at}");
            assert!(net.parties.iter().all(|party| party.downs() == 0), "datagram {number}, byte {at}");
        }
    }
}

/// LINK-16: new keys for a link that is up come by the same form.
#[test]
fn link_16_new_keys_are_hybrid_too() {
    let mut net = Net::new(0);
    for name in [1, 2] {
        let config = Config { exchange: Hybrid, rekey_after: 40, ..config() };
        net.add(Named::new(name), config, [1, 2].map(node_of).into());
    }
    net.dial(0, 1);
    net.run_ms(50);
    for _ in 0..60 {
        net.send(0, node_of(2), Channel::Ring, b"x").unwrap();
        net.run_ms(10);
    }
    net.run_ms(1_000);
    assert!(net.parties[0].links.counters().handshakes >= 2);
    assert_eq!((ups(&net), count(&net, 1)), ([1, 1], 0));
    assert_eq!(net.parties[1].frames().len(), 60);
}
