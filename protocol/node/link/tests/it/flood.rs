//! LINK-04, LINK-09 and hosts: whoever floods from one host keeps nobody else out.

use crate::common::{Named, Net, config, node_of, opened};
use folkmoot_base::limits::GUESTS_MAX;
use folkmoot_base::{Danger, Locator, Mutant};
use folkmoot_link::message::Datagram;
use folkmoot_link::{Channel, Config, Input};

fn udp(text: &str) -> Locator {
    format!("udp/{text}").parse().unwrap()
}

/// A Hello from `from` that answers its cookie, as anybody can send who hears at `from`.
fn hello(net: &mut Net, from: Locator, index: u32) {
    let say = |net: &mut Net, cookie| {
        let bytes = Datagram::Hello { from: index, cookie, noise: [3; 32] }.encode();
        let _ = net.input(0, Input::Datagram { from: from.clone(), bytes: opened(bytes) });
    };
    say(net, [0; 16]);
    let Ok(Datagram::Retry { cookie, .. }) = Datagram::decode(&net.log.last().unwrap().2) else {
        panic!("no cookie")
    };
    say(net, cookie);
}

/// For `ms`, a Hello comes every millisecond, each from another of these places.
fn flood(net: &mut Net, ms: u32, place: impl Fn(u32) -> Locator) {
    for _ in 0..ms {
        let number = u32::try_from(net.now.0 / 1_000).unwrap();
        hello(net, place(number), number);
        net.run_ms(1);
    }
}

/// Node 1 is flooded from `place`; node 2 dials it from `at`, and is up before 50 ms have passed.
fn an_honest_one_gets_in(at: &str, place: impl Fn(u32) -> Locator) {
    let mut net = Net::new(2);
    net.parties[1].at = udp(at);
    flood(&mut net, 2_000, &place);
    net.dial(1, 0);
    flood(&mut net, 50, &place);
    assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (1, 1), "kept out at {at}");
}

fn port(number: u32) -> u32 {
    1_024 + number % 60_000
}

#[test]
fn link_04_one_host_with_many_ports_keeps_nobody_out() {
    an_honest_one_gets_in("198.51.100.7:4803", |number| udp(&format!("192.0.2.66:{}", port(number))));
}

#[test]
fn link_04_one_network_of_ipv6_is_one_host() {
    an_honest_one_gets_in("[2001:db8:0:2::1]:4803", |number| {
        udp(&format!("[2001:db8:0:1::{:x}:{:x}]:4803", number >> 16, number & 0xffff))
    });
}

#[test]
fn link_04_a_mapped_address_is_the_host_that_it_names() {
    an_honest_one_gets_in("[::ffff:198.51.100.7]:4803", |number| {
        udp(&format!("[::ffff:192.0.2.66]:{}", port(number)))
    });
}

#[test]
fn link_04_many_hosts_keep_nobody_out_for_long() {
    let mut net = Net::new(2);
    net.parties[1].at = udp("198.51.100.7:4803");
    let place = |number: u32| udp(&format!("203.0.113.{}:{}", number % 40, port(number)));
    flood(&mut net, 2_000, place);
    net.dial(1, 0);
    flood(&mut net, 50, place);
    assert_eq!(net.parties[0].ups(), 1);
}

#[test]
fn link_04_hosts_that_send_more_get_less() {
    let mut net = Net::new(0);
    net.add(Named::new(1), config(), Default::default());
    let mut answered = [0_u64; 2];
    for round in 0..4_000_u32 {
        // The first host says three times as much as the second.
        let which = usize::from(round % 4 == 3);
        let from = udp(&format!("192.0.2.{which}:{}", port(round)));
        let busy = net.parties[0].links.counters().busy;
        hello(&mut net, from, round);
        answered[which] += u64::from(net.parties[0].links.counters().busy == busy);
        net.run_ms(1);
    }
    let [more, less] = answered;
    assert!(less * 10 >= more * 9, "{answered:?}: who says less is answered no less");
    assert!(more + less <= 128 + 4 * 100, "{answered:?}: and all together keep the bound");
}

#[test]
fn link_04_many_nodes_of_one_host_come_up_at_once() {
    let mut net = Net::new(60);
    for (port, party) in (4_000..).zip(&mut net.parties) {
        party.at = udp(&format!("127.0.0.1:{port}"));
    }
    (1..60).for_each(|index| net.dial(index, 0));
    net.run_ms(20);
    assert_eq!(net.parties[0].ups(), 59);
}

#[test]
fn link_04_a_flood_from_a_members_own_host_leaves_its_link_alone() {
    let mut net = Net::new(2);
    net.parties[1].at = udp("192.0.2.66:4803");
    net.dial(1, 0);
    net.run_ms(50);
    flood(&mut net, 3_000, |number| udp(&format!("192.0.2.66:{}", 10_000 + number % 50_000)));
    net.send(1, node_of(1), Channel::Ring, b"still here").unwrap();
    net.run_ms(5);
    assert_eq!((net.parties[0].frames().len(), net.parties[0].downs()), (1, 0));
}

#[test]
fn link_04_who_forges_an_address_uses_nothing_up_there() {
    let mut net = Net::new(2);
    net.parties[1].at = udp("198.51.100.7:4803");
    for number in 0..20_000_u32 {
        let from = udp(&format!("198.51.100.7:{}", port(number)));
        let bytes = Datagram::Hello { from: number, cookie: [9; 16], noise: [1; 32] }.encode();
        net.input(0, Input::Datagram { from, bytes: opened(bytes) }).unwrap();
    }
    net.dial(1, 0);
    net.run_ms(5);
    assert_eq!((net.parties[0].ups(), net.parties[0].links.counters().busy), (1, 0));
}

/// Nodes 2 to 51 dial node 1 from `place`, each again as soon as it is sent away. Five seconds
/// later node 52 dials once, from `at`; five more seconds later its link has never been down.
fn stays_among_50_strangers(danger: Mutant, at: &str, place: impl Fn(u16) -> Locator) -> bool {
    let mut net = Net::new(0);
    net.add(Named::new(1), Config { danger, ..config() }, Default::default());
    (2..53).for_each(|name| {
        net.add(Named::new(name), config(), Default::default());
    });
    for (number, party) in (0..50).zip(&mut net.parties[1..]) {
        party.at = place(number);
    }
    net.parties[51].at = udp(at);
    for round in 0..100 {
        for stranger in 1..51 {
            if net.parties[stranger].links.peers().count() == 0 {
                net.dial(stranger, 0);
            }
        }
        if round == 50 {
            net.dial(51, 0);
        }
        net.run_ms(100);
    }
    assert_eq!(net.parties[0].links.peers().count(), GUESTS_MAX);
    (net.parties[51].ups(), net.parties[51].downs()) == (1, 0)
}

#[test]
fn link_09_one_host_with_many_guests_keeps_nobody_out() {
    let stranger = |number: u16| udp(&format!("192.0.2.66:{}", 4_000 + number));
    let network = |number: u16| udp(&format!("[2001:db8:0:1::{number:x}]:4803"));
    let unshared = Mutant::from(Some(Danger::LinkGuestsUnshared));
    assert!(!stays_among_50_strangers(unshared, "198.51.100.7:4803", stranger), "and nothing else does it");
    assert!(stays_among_50_strangers(Mutant::NONE, "198.51.100.7:4803", stranger));
    assert!(stays_among_50_strangers(Mutant::NONE, "[2001:db8:0:2::1]:4803", network));
    assert!(!stays_among_50_strangers(Mutant::NONE, "[2001:db8:0:1:f::1]:4803", network), "the same host");
}
