//! What every transport promises, run over each of them: whole datagrams, who sent them, nothing
//! invented; faults on demand.

use bytes::Bytes;
use folkmoot_base::Locator;
use folkmoot_transport::{Arrival, Hub, PORT_MAX, Transport};
use std::time::Duration;
use tokio::time::{Instant, timeout};

fn pairs() -> Vec<(Transport, Transport)> {
    let hub = Hub::default();
    let udp = || Transport::udp("127.0.0.1:0".parse().unwrap()).unwrap();
    vec![(hub.open(1).unwrap(), hub.open(2).unwrap()), (udp(), udp())]
}

/// Receives until `count` came or nothing comes for a while.
async fn gather(transport: &mut Transport, count: usize) -> Vec<(Locator, Bytes)> {
    let mut batch = Vec::new();
    while batch.iter().map(|(_, arrival): &(Locator, Arrival)| arrival.count()).sum::<usize>() < count {
        if timeout(Duration::from_millis(300), transport.recv(&mut batch)).await.is_err() {
            break;
        }
    }
    apart(batch).collect()
}

fn apart(batch: Vec<(Locator, Arrival)>) -> impl Iterator<Item = (Locator, Bytes)> {
    let each = |(from, arrival): (Locator, Arrival)| {
        arrival.datagrams().map(move |datagram| (from.clone(), datagram.freeze()))
    };
    batch.into_iter().flat_map(each)
}

fn datagrams(to: Locator, sizes: impl IntoIterator<Item = usize>) -> Vec<(Locator, Bytes)> {
    let fill = |(number, size): (usize, usize)| (to.clone(), Bytes::from(vec![number as u8; size]));
    sizes.into_iter().enumerate().map(fill).collect()
}

#[tokio::test]
async fn datagrams_arrive_whole_with_their_sender() {
    for (mut a, mut b) in pairs() {
        let sizes = [1, 1400, 1400, 1400, 1400, 700, 1452, 3, 1452, 1452, 9].into_iter();
        let sent = datagrams(b.local(), sizes);
        a.send(&mut sent.clone());
        let came = gather(&mut b, sent.len()).await;
        let bytes =
            |list: &[(Locator, Bytes)]| list.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
        assert_eq!(bytes(&came), bytes(&sent));
        assert!(came.iter().all(|(from, _)| *from == a.local()));
        assert_eq!(a.counters().sent, sent.len() as u64);
        assert_eq!(b.counters().received, sent.len() as u64);
    }
}

#[tokio::test]
async fn equal_datagrams_to_one_place_go_in_few_calls() {
    let (mut a, mut b) = pairs().pop().unwrap();
    let sent = datagrams(b.local(), std::iter::repeat_n(1_400, 120));
    a.send(&mut sent.clone());
    assert_eq!(gather(&mut b, 120).await.len(), 120);
    // 3 trains where the system has GSO; one call each where it has not.
    let calls = a.counters().calls;
    assert!(calls <= 120);
    // The trains are long enough to be handed on where they came.
    assert!(b.counters().copied == 0 || calls == 120);
    assert_eq!(b.counters().received, 120);
}

/// What a node of a ring sends: each datagram to every peer in turn.
#[tokio::test]
async fn datagrams_to_several_places_in_turn_share_calls_and_keep_their_order() {
    let udp = || Transport::udp("127.0.0.1:0".parse().unwrap()).unwrap();
    let (mut a, mut b, mut c) = (udp(), udp(), udp());
    let each = |to| datagrams(to, std::iter::repeat_n(1_400, 40));
    let sent: Vec<_> = each(b.local()).into_iter().zip(each(c.local())).flat_map(|(b, c)| [c, b]).collect();
    a.send(&mut sent.clone());
    for port in [&mut b, &mut c] {
        let came: Vec<u8> = gather(port, 40).await.iter().map(|(_, bytes)| bytes[0]).collect();
        assert_eq!(came, (0..40).collect::<Vec<u8>>());
    }
    if cfg!(target_os = "linux") {
        assert!(a.counters().calls <= 4, "{} calls", a.counters().calls);
    }
}

#[tokio::test]
async fn sending_never_waits_and_counts_what_is_lost() {
    let hub = Hub::default();
    let (mut a, b) = (hub.open(1).unwrap(), hub.open(2).unwrap());
    a.send(&mut datagrams(b.local(), std::iter::repeat_n(10, PORT_MAX + 7)));
    assert_eq!((a.counters().sent, a.counters().dropped), (PORT_MAX as u64, 7));
    a.send(&mut datagrams(Locator::memory(99), [1]));
    a.send(&mut datagrams("udp/127.0.0.1:9".parse().unwrap(), [1]));
    assert_eq!(a.counters().dropped, 9);
    assert!(hub.open(2).is_err(), "one owner of a port");
    drop(b);
    assert!(hub.open(2).is_ok());
}

#[tokio::test]
async fn nobody_listening_is_no_error() {
    let mut a = Transport::udp("127.0.0.1:0".parse().unwrap()).unwrap();
    let gone = Transport::udp("127.0.0.1:0".parse().unwrap()).unwrap().local();
    for _ in 0..3 {
        a.send(&mut datagrams(gone.clone(), [100]));
    }
    let me = a.local();
    a.send(&mut datagrams(me, [5]));
    assert_eq!(gather(&mut a, 1).await.len(), 1);
}

#[tokio::test]
async fn a_cut_holds_both_ways_until_healed() {
    for (mut a, mut b) in pairs() {
        a.faults().cut([b.local()]);
        a.send(&mut datagrams(b.local(), [10, 10]));
        b.send(&mut datagrams(a.local(), [10]));
        assert_eq!(gather(&mut b, 1).await.len(), 0);
        assert_eq!(gather(&mut a, 1).await.len(), 0);
        assert_eq!(a.counters().faulted, 3);
        a.faults().heal();
        a.send(&mut datagrams(b.local(), [10]));
        b.send(&mut datagrams(a.local(), [10]));
        assert_eq!((gather(&mut b, 1).await.len(), gather(&mut a, 1).await.len()), (1, 1));
    }
}

#[tokio::test]
async fn what_is_too_long_for_the_path_is_lost_both_ways_and_the_rest_passes() {
    for (mut a, mut b) in pairs() {
        a.faults().longest(100);
        a.send(&mut datagrams(b.local(), [10, 101, 100]));
        b.send(&mut datagrams(a.local(), [101, 100]));
        let lengths = |came: Vec<(Locator, Bytes)>| -> Vec<usize> {
            came.iter().map(|(_, datagram)| datagram.len()).collect()
        };
        assert_eq!(lengths(gather(&mut b, 3).await), [10, 100]);
        assert_eq!(lengths(gather(&mut a, 2).await), [100]);
        assert_eq!(a.counters().faulted, 2);
        a.faults().heal();
        a.send(&mut datagrams(b.local(), [101]));
        assert_eq!(gather(&mut b, 1).await.len(), 1);
    }
}

#[tokio::test]
async fn dropping_drops_about_as_many_as_asked() {
    for (mut a, mut b) in pairs() {
        a.faults().drop_probability(0.5);
        for _ in 0..10 {
            a.send(&mut datagrams(b.local(), std::iter::repeat_n(10, 50)));
            let _ = gather(&mut b, 10).await;
        }
        let faulted = a.counters().faulted;
        assert!((150..350).contains(&faulted), "{faulted} of 500");
        a.faults().drop_probability(1.0);
        a.send(&mut datagrams(b.local(), [10]));
        assert_eq!(a.counters().faulted, faulted + 1);
    }
}

#[tokio::test]
async fn delay_delays_and_survives_cancelled_receives() {
    for (mut a, mut b) in pairs() {
        b.faults().delay(Duration::from_millis(80));
        let start = Instant::now();
        a.send(&mut datagrams(b.local(), [10, 20, 30]));
        let mut batch = Vec::new();
        while batch.len() < 3 && start.elapsed() < Duration::from_secs(2) {
            let _ = timeout(Duration::from_millis(7), b.recv(&mut batch)).await;
        }
        assert!(start.elapsed() >= Duration::from_millis(80));
        assert_eq!(apart(batch).map(|(_, bytes)| bytes.len()).collect::<Vec<_>>(), [10, 20, 30]);
    }
}

/// More than any interface carries: the system says so, and the transport hands it on.
#[tokio::test]
async fn what_the_system_refuses_for_its_length_is_told() {
    let mut one = Transport::udp(([127, 0, 0, 1], 0).into()).unwrap();
    let to = Transport::udp(([127, 0, 0, 1], 0).into()).unwrap().local();
    one.send(&mut [(to.clone(), vec![7; 65_530].into()), (to.clone(), vec![7; 1_452].into())]);
    assert_eq!((one.too_long(), one.too_long()), (Some((to, 65_530)), None));
    assert_eq!((one.counters().sent, one.counters().dropped), (1, 1));
}
