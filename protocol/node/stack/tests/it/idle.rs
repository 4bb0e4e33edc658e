//! What a ring costs in which nobody says anything, and what it finds out all the same.

use crate::net::{Net, seconds};

/// Datagrams that one member sends in a second, on average, while nobody says anything.
fn idle_rate(members: usize) -> f64 {
    let all: Vec<usize> = (0..members).collect();
    let mut net = Net::of(members, 7_000 + members as u64);
    net.until(seconds(20), |net| net.together(&all)).expect("one ring");
    net.ms(seconds(30));
    let sent = |net: &Net| -> u64 {
        all.iter().map(|from| all.iter().map(|to| net.sent(*from, *to)).sum::<u64>()).sum()
    };
    let (before, installed) = (sent(&net), net.installed());
    net.ms(seconds(60));
    assert_eq!(net.installed(), installed, "{}", net.told());
    (sent(&net) - before) as f64 / 60.0 / members as f64
}

/// Most of it is the token and its repeats; the links add two datagrams a second at most.
#[test]
fn link_24_an_idle_ring_costs_each_member_the_same_whatever_its_size() {
    for members in [5, 32] {
        let rate = idle_rate(members);
        assert!(rate <= 20.0, "{members} members: {rate:.1} datagrams a second from each");
    }
}
