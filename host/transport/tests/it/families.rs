//! A socket of IPv6 and one of IPv4: each has one locator, and both reach each other.

use bytes::Bytes;
use folkmoot_base::Locator;
use folkmoot_transport::Transport;
use std::time::Duration;
use tokio::time::timeout;

fn bound(address: &str) -> Transport {
    Transport::udp(address.parse().unwrap()).unwrap()
}

/// Where this port is found at that address.
fn at(address: &str, of: &Transport) -> Locator {
    let local = of.local().to_string();
    format!("udp/{address}:{}", local.rsplit_once(':').unwrap().1).parse().unwrap()
}

/// One datagram, as it came; nothing if none comes for a while.
async fn one(transport: &mut Transport) -> Option<(Locator, Bytes)> {
    let mut batch = Vec::new();
    let _ = timeout(Duration::from_millis(500), transport.recv(&mut batch)).await;
    let (from, arrival) = batch.pop()?;
    Some((from, arrival.datagrams().next()?.freeze()))
}

#[tokio::test]
async fn a_socket_of_both_families_and_one_of_ipv4_know_each_other_by_ipv4_locators() {
    let (mut both, mut four) = (bound("[::]:0"), bound("127.0.0.1:0"));
    let (at_both, at_four) = (at("127.0.0.1", &both), four.local());
    both.send(&mut [(at_four.clone(), Bytes::from_static(b"there"))]);
    assert_eq!(one(&mut four).await, Some((at_both.clone(), Bytes::from_static(b"there"))));
    four.send(&mut [(at_both, Bytes::from_static(b"back"))]);
    assert_eq!(one(&mut both).await, Some((at_four, Bytes::from_static(b"back"))));
}

#[tokio::test]
async fn a_socket_of_both_families_reaches_ipv6_as_before() {
    let (mut both, mut six) = (bound("[::]:0"), bound("[::1]:0"));
    let (at_both, at_six) = (at("[::1]", &both), six.local());
    both.send(&mut [(at_six.clone(), Bytes::from_static(b"there"))]);
    assert_eq!(one(&mut six).await, Some((at_both.clone(), Bytes::from_static(b"there"))));
    six.send(&mut [(at_both, Bytes::from_static(b"back"))]);
    assert_eq!(one(&mut both).await, Some((at_six, Bytes::from_static(b"back"))));
}

/// It would cost the others their trains if the system were asked.
#[tokio::test]
async fn what_a_socket_has_no_family_for_is_dropped_and_the_rest_goes() {
    let (mut four, mut other) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let nowhere = ["udp/[::1]:4803", "udp/0.0.0.0:4803", "udp/127.0.0.1:0", "quic/127.0.0.1:4803"];
    let lost = nowhere.iter().map(|at| (at.parse().unwrap(), Bytes::from_static(b"lost")));
    let good = (other.local(), Bytes::from_static(b"good"));
    let mut batch: Vec<_> = lost.flat_map(|lost| [lost.clone(), good.clone(), lost]).collect();
    four.send(&mut batch);
    assert_eq!((four.counters().sent, four.counters().dropped), (4, 8));
    assert_eq!(one(&mut other).await.unwrap().1, "good");
    assert!(four.counters().calls <= 4);
}
