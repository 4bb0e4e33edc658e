//! What has TTL 0 stays on its host, whatever becomes of interfaces and routes.

use crate::alone::is_alone;
use crate::bursts::{address, all, ip};
use crate::heard::next;
use crate::run;
use folkmoot_base::Mutant;
use folkmoot_lcm::{Bus, Channel, Danger};
use std::net::UdpSocket;
use std::time::Duration;

const MESSAGE: [u8; 1_000] = [7; 1_000];

/// Bytes that left by an interface: the ninth number of its line.
fn left(interface: &str) -> u64 {
    let all = std::fs::read_to_string("/proc/self/net/dev").unwrap();
    let numbers = all.lines().find_map(|line| line.trim().strip_prefix(&format!("{interface}:")));
    numbers.and_then(|numbers| numbers.split_whitespace().nth(8)).unwrap().parse().unwrap()
}

/// An interface from which everything leaves the host, and the best way to the group.
fn add(interface: &str, host: u8, metric: u8) {
    ip(&format!("link add {interface} type veth peer name {interface}x"));
    ip(&format!("link set {interface}x up"));
    ip(&format!("addr add 10.66.{host}.1/24 dev {interface}"));
    ip(&format!("link set {interface} up"));
    ip(&format!("route add 224.0.0.0/4 dev {interface} metric {metric}"));
}

#[test]
fn pub_74_no_message_of_ttl_0_leaves_the_host_whatever_becomes_of_routes() {
    run("stays::pub_74_no_message_of_ttl_0_leaves_the_host_whatever_becomes_of_routes", async || {
        if !is_alone() {
            return;
        }
        ip("route del 224.0.0.0/4 dev lo");
        add("far", 1, 9);
        let foreign = UdpSocket::bind("0.0.0.0:0").unwrap();
        foreign.set_multicast_ttl_v4(0).unwrap();
        let (place, before) = (address(7, 0), left("far"));
        (0..100).for_each(|_| _ = foreign.send_to(&MESSAGE, place.group).unwrap());
        assert!(left("far") - before > 100_000, "where nobody is in the group it leaves");

        let channel = Channel::new("A").unwrap();
        // Messages about who is in the group leave, and are short.
        let quiet = |interface: &str| left(interface) < 20_000;
        let before = left("far");
        let anna = Bus::join(place).unwrap();
        let say = async |bus: &Bus| {
            for _ in 0..100 {
                bus.publish(channel, &MESSAGE).await.unwrap();
            }
            bus.publish_many([(channel, &MESSAGE[..]); 100]).await.unwrap();
        };
        say(&anna).await;
        assert!(left("far") - before < 20_000, "nobody listens");
        let ben = Bus::join(place).unwrap();
        let mut heard = all(&ben);
        add("farther", 2, 3);
        say(&anna).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        say(&anna).await;
        assert!(quiet("farther"), "a better route came");
        ip("link del farther");
        say(&anna).await;
        add("farther", 2, 3);
        say(&anna).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        say(&anna).await;
        assert!(quiet("farther") && left("far") - before < 40_000, "an interface was made anew");
        ip("link set far down");
        ip("link set farther down");
        anna.publish(channel, b"no network").await.unwrap();
        while next(&mut heard).await.payload != b"no network"[..] {}
    });
}

/// Whether what it says now leaves the host.
async fn leaks(bus: &Bus, interfaces: &[&str]) -> bool {
    let all = || interfaces.iter().map(|interface| left(interface)).sum::<u64>();
    let (before, channel) = (all(), Channel::new("A").unwrap());
    for _ in 0..100 {
        bus.publish(channel, &MESSAGE).await.unwrap();
    }
    all() - before > 20_000
}

/// Without each check: whether anything leaves the host at first, when a better route has just
/// come, and when that was followed.
const WITHOUT: [(Option<Danger>, [bool; 3]); 4] = [
    (None, [false, false, false]),
    (Some(Danger::JoinsNowhere), [true, true, true]),
    (Some(Danger::RouteChooses), [false, true, false]),
    (Some(Danger::JoinsOnce), [false, false, true]),
];

#[test]
fn pub_74_without_each_check_what_has_ttl_0_leaves_the_host() {
    run("stays::pub_74_without_each_check_what_has_ttl_0_leaves_the_host", async || {
        if !is_alone() {
            return;
        }
        ip("route del 224.0.0.0/4 dev lo");
        add("far", 1, 9);
        for (number, (danger, expected)) in (1..).zip(WITHOUT) {
            // One that leaves a group late holds it for nobody else.
            let mut place = address(8, 0);
            place.group.set_ip([239, 255, 77, number].into());
            let bus = Bus::join_with(place, Mutant::from(danger)).unwrap();
            let at_first = leaks(&bus, &["far"]).await;
            add("farther", 2, 3);
            let in_between = leaks(&bus, &["far", "farther"]).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let followed = leaks(&bus, &["far", "farther"]).await;
            assert_eq!([at_first, in_between, followed], expected, "{danger:?}");
            drop(bus);
            ip("link del farther");
        }
    });
}
