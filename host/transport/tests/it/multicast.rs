//! IP multicast on real sockets: on loopback, where every node has one address.

use bytes::Bytes;
use folkmoot_base::{GroupId, Locator};
use folkmoot_transport::{Arrival, Transport};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A ring of its own for each test, so that tests that run at once do not hear each other.
fn ring(test: u8) -> GroupId {
    let mut id = [test; 32];
    id[..4].copy_from_slice(&std::process::id().to_be_bytes());
    GroupId(id)
}

fn bound(ring: &GroupId) -> Transport {
    Transport::udp("127.0.0.1:0".parse().unwrap()).unwrap().multicast(ring)
}

/// So many that have joined one another, and where each sends to all.
fn joined(count: usize, ring: &GroupId) -> (Vec<Transport>, Vec<Option<Locator>>) {
    let mut all: Vec<Transport> = (0..count).map(|_| bound(ring)).collect();
    let places: Vec<Locator> = all.iter().map(Transport::local).collect();
    let others = |own: &Locator| places.iter().filter(|at| *at != own).cloned().collect::<Vec<_>>();
    let at = all.iter_mut().map(|one| one.together(&others(&one.local()))).collect();
    (all, at)
}

/// What has come to all at this one, until so many came or nothing comes for a while.
async fn heard(one: &mut Transport, count: usize) -> Vec<(Locator, Bytes)> {
    let (mut alone, mut all) = (Vec::new(), Vec::new());
    let end = Instant::now() + Duration::from_millis(500);
    while all.len() < count && Instant::now() < end {
        let _ = timeout(Duration::from_millis(100), one.recv(&mut alone)).await;
        one.take_to_all(&mut all);
    }
    assert!(alone.is_empty(), "what comes to all does not come to one alone");
    let each = |(from, arrival): (Locator, Arrival)| {
        arrival.datagrams().map(move |datagram| (from.clone(), datagram.freeze()))
    };
    all.into_iter().flat_map(each).collect()
}

fn said(at: &Option<Locator>, sizes: impl IntoIterator<Item = usize>) -> Vec<(Locator, Bytes)> {
    let each = |(number, size): (usize, usize)| (at.clone().unwrap(), Bytes::from(vec![number as u8; size]));
    sizes.into_iter().enumerate().map(each).collect()
}

#[tokio::test]
async fn what_is_sent_to_all_comes_to_each_of_the_others_and_not_back() {
    let (mut all, at) = joined(3, &ring(1));
    assert!(at.iter().all(|place| place.is_some() && *place == at[0]), "{at:?}");
    let sizes = [1, 700, 1_452, 1_452, 1_452, 9];
    all[0].send(&mut said(&at[0], sizes));
    let from = all[0].local();
    for one in &mut all[1..] {
        let came = heard(one, sizes.len()).await;
        assert_eq!(came.iter().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>(), sizes);
        assert!(came.iter().all(|(at, _)| *at == from), "it says who sent it");
    }
    assert!(heard(&mut all[0], 1).await.is_empty());
    assert_eq!(all[0].counters().sent, sizes.len() as u64);
}

/// A train of segments (UDP_SEGMENT) goes to all like to one.
#[tokio::test]
async fn trains_go_to_all() {
    let (mut all, at) = joined(4, &ring(2));
    all[3].send(&mut said(&at[3], std::iter::repeat_n(1_400, 100)));
    for one in &mut all[..3] {
        let came: Vec<u8> = heard(one, 100).await.iter().map(|(_, bytes)| bytes[0]).collect();
        assert_eq!(came, (0..100).collect::<Vec<u8>>());
    }
    if cfg!(target_os = "linux") {
        assert!(all[3].counters().calls <= 6, "{} calls", all[3].counters().calls);
    }
}

/// Whoever has left, is of another ring, or never asked for it hears nothing.
#[tokio::test]
async fn only_who_has_joined_that_ring_hears_it() {
    let ring_of_all = ring(3);
    let (mut all, at) = joined(3, &ring_of_all);
    let (mut others, _) = joined(3, &ring(4));
    assert_eq!(all[2].together(&[]), None);
    let mut never = Transport::udp("127.0.0.1:0".parse().unwrap()).unwrap();
    assert_eq!(never.together(&[all[0].local(), all[1].local()]), None);
    all[0].send(&mut said(&at[0], [10]));
    assert_eq!(heard(&mut all[1], 1).await.len(), 1);
    for deaf in [&mut all[2], &mut others[0], &mut never] {
        assert!(heard(deaf, 1).await.is_empty());
    }
    // What is sent to one still comes to that one.
    let to = all[2].local();
    all[0].send(&mut [(to, Bytes::from_static(b"alone"))]);
    let mut batch = Vec::new();
    timeout(Duration::from_secs(2), all[2].recv(&mut batch)).await.unwrap().unwrap();
    assert_eq!(batch.len(), 1);
}

/// In a ring of two a packet has one receiver. Nor is there a place for those of two families, or
/// of another transport.
#[tokio::test]
async fn there_is_no_place_for_two_or_for_those_who_cannot_be_reached_together() {
    let ring = ring(5);
    let (one, other) = (bound(&ring), bound(&ring));
    let mut mine = bound(&ring);
    let at = [one.local(), other.local()];
    assert!(mine.together(&at).is_some());
    assert_eq!(mine.together(&at[..1]), None);
    let six: Locator = "udp/[2001:db8::7]:4803".parse().unwrap();
    assert_eq!(mine.together(&[one.local(), six]), None);
    assert_eq!(mine.together(&[one.local(), Locator::memory(7)]), None);
    assert!(mine.together(&at).is_some(), "and then again");
}

#[tokio::test]
async fn faults_hold_for_what_goes_to_all() {
    let (mut all, at) = joined(3, &ring(6));
    // A cut from one: nothing goes to all, since that one is among them.
    let first = all[1].local();
    all[0].faults().cut([first]);
    all[0].send(&mut said(&at[0], [10]));
    assert!(heard(&mut all[2], 1).await.is_empty());
    all[0].faults().heal();
    let from = all[0].local();
    all[1].faults().cut([from]);
    all[2].faults().delay(Duration::from_millis(80));
    let start = Instant::now();
    all[0].send(&mut said(&at[0], [10]));
    assert_eq!(heard(&mut all[2], 1).await.len(), 1);
    assert!(start.elapsed() >= Duration::from_millis(80));
    assert!(heard(&mut all[1], 1).await.is_empty());
    // More than any interface carries: the system says so.
    all[0].send(&mut [(at[0].clone().unwrap(), vec![7; 65_530].into())]);
    assert_eq!(all[0].too_long(), Some((at[0].clone().unwrap(), 65_530)));
}
