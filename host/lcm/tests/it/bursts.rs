//! Much that is said at a time, and what is longer or shorter than usual.

use crate::alone::is_alone;
use crate::heard::next;
use crate::run;
use folkmoot_lcm::{Bus, BusError, Capacity, Full, Pattern, Subscription};
use folkmoot_pubsub::{Address, Channel};
use std::net::UdpSocket;
use std::process::Command;

const PORT: u16 = 17_690;

pub(crate) fn address(test: u16, ttl: u8) -> Address {
    format!("udpm://239.255.76.67:{}?ttl={ttl}", PORT + test).parse().unwrap()
}

pub(crate) fn all(bus: &Bus) -> Subscription {
    let capacity = Capacity { messages: 10_000, ..Capacity::default() };
    bus.subscribe(Pattern::new(".*").unwrap(), capacity).unwrap()
}

pub(crate) fn ip(line: &str) {
    assert!(Command::new("ip").args(line.split(' ')).status().unwrap().success(), "{line}");
}

fn said(number: usize, length: usize) -> Vec<u8> {
    (0..length).map(|place| (place / 251 + place + number * 7) as u8).collect()
}

/// Runs of one size, sizes that change, and what goes alone: between them all that may stand beside
/// another in one call.
const LENGTHS: [usize; 24] = [
    10, 10, 10, 5, 900, 900, 1_400, 0, 20_000, 20, 70_000, 3, 1_400, 1_400, 1_400, 1_400, 700, 900, 65_000,
    65_000, 1, 2, 3, 200_000,
];

#[test]
fn a_burst_is_heard_in_its_order_whatever_its_sizes() {
    run("bursts::a_burst_is_heard_in_its_order_whatever_its_sizes", async || {
        // Where 65,536 bytes are carried, and where 1,500 are, as on most cables.
        for (test, ttl, mtu) in [(0, 0, None), (1, 1, Some(1_500))] {
            if let Some(mtu) = mtu.filter(|_| is_alone()) {
                ip(&format!("link set lo mtu {mtu}"));
            }
            let (anna, ben) =
                (Bus::join(address(test, ttl)).unwrap(), Bus::join(address(test, ttl)).unwrap());
            let mut heard = all(&ben);
            let messages: Vec<_> = (0..96).map(|number| said(number, LENGTHS[number % 24])).collect();
            let channels = ["A", "BB"].map(|name| Channel::new(name).unwrap());
            for burst in messages.chunks(24) {
                let each = burst.iter().enumerate();
                anna.publish_many(each.map(|(at, said)| (channels[at % 2], &said[..]))).await.unwrap();
                for (at, said) in burst.iter().enumerate() {
                    let heard = next(&mut heard).await;
                    assert!(heard.payload == *said && heard.channel == channels[at % 2], "{ttl} {at}");
                    assert_eq!(heard.missing, 0);
                }
            }
            assert_eq!((ben.counters().bad, ben.counters().missing), (0, 0));
        }
    });
}

#[test]
fn what_lies_in_its_room_is_not_written_over() {
    run("bursts::what_lies_in_its_room_is_not_written_over", async || {
        let (anna, ben) = (Bus::join(address(2, 0)).unwrap(), Bus::join(address(2, 0)).unwrap());
        let (mut heard, channel) = (all(&ben), Channel::new("A").unwrap());
        let mut kept = Vec::new();
        for number in 0..100 {
            let length = [40_000, 65_490, 32_800, 100][number % 4];
            anna.publish(channel, &said(number, length)).await.unwrap();
            kept.push((said(number, length), next(&mut heard).await.payload));
        }
        assert!(kept.iter().all(|(said, heard)| said == heard));
    });
}

#[test]
fn pub_14_what_lies_in_its_room_counts_in_its_queue() {
    run("bursts::pub_14_what_lies_in_its_room_counts_in_its_queue", async || {
        let (anna, ben) = (Bus::join(address(3, 0)).unwrap(), Bus::join(address(3, 0)).unwrap());
        let channel = Channel::new("A").unwrap();
        let capacity = Capacity { messages: 100, bytes: 120_000, full: Full::DropNewest };
        let mut heard = ben.subscribe(Pattern::new("A").unwrap(), capacity).unwrap();
        let mut end = ben.subscribe(Pattern::new("END").unwrap(), capacity).unwrap();
        for number in 0..5 {
            anna.publish(channel, &said(number, 50_000)).await.unwrap();
        }
        anna.publish(Channel::new("END").unwrap(), &[]).await.unwrap();
        next(&mut end).await;
        for number in 0..2 {
            assert!(heard.waiting().unwrap().payload == said(number, 50_000));
        }
        assert_eq!((heard.waiting().is_none(), heard.dropped()), (true, 3));
    });
}

#[test]
fn a_burst_ends_before_what_cannot_be_said() {
    run("bursts::a_burst_ends_before_what_cannot_be_said", async || {
        let (anna, ben) = (Bus::join(address(4, 0)).unwrap(), Bus::join(address(4, 0)).unwrap());
        let (mut heard, channel) = (all(&ben), Channel::new("A").unwrap());
        let long = vec![0; (1 << 28) + 1];
        let burst = [&b"1"[..], b"2", &long, b"4"].map(|said| (channel, said));
        assert!(matches!(anna.publish_many(burst).await, Err(BusError::LocalTooLong(_))));
        anna.publish(channel, b"5").await.unwrap();
        for said in ["1", "2", "5"] {
            assert_eq!(next(&mut heard).await.payload, said.as_bytes());
        }
        assert_eq!(ben.counters().missing, 0);
    });
}

#[test]
fn what_the_system_refused_is_not_sent_with_the_next_burst() {
    run("bursts::what_the_system_refused_is_not_sent_with_the_next_burst", async || {
        if !is_alone() {
            return;
        }
        let (anna, ben) = (Bus::join(address(5, 0)).unwrap(), Bus::join(address(5, 0)).unwrap());
        let (mut heard, channel) = (all(&ben), Channel::new("A").unwrap());
        for burst in [[&b"1"[..], b"2", b"3"], [b"1", b"22", b"3"]] {
            ip("link set lo down");
            let refused = anna.publish_many(burst.map(|said| (channel, said))).await;
            assert!(matches!(refused, Err(BusError::LocalSockets { .. })), "{refused:?}");
            assert!(anna.publish(channel, &[0; 200_000]).await.is_err());
            ip("link set lo up");
            anna.publish_many([(channel, &b"good"[..]), (channel, b"bye")]).await.unwrap();
            assert_eq!(next(&mut heard).await.payload, b"good"[..]);
            assert_eq!(next(&mut heard).await.payload, b"bye"[..]);
        }
    });
}

#[test]
fn the_longest_datagram_and_the_empty_one_are_heard_or_counted() {
    run("bursts::the_longest_datagram_and_the_empty_one_are_heard_or_counted", async || {
        let address = address(6, 0);
        let ben = Bus::join(address).unwrap();
        let mut heard = all(&ben);
        let foreign = UdpSocket::bind("0.0.0.0:0").unwrap();
        foreign.set_multicast_ttl_v4(0).unwrap();
        let longest = [&b"LC02\0\0\0\x07A\0"[..], &said(1, 65_497)].concat();
        assert_eq!(longest.len(), 65_507);
        for datagram in [&[][..], &[7; 65_507], b"LC02", &longest] {
            foreign.send_to(datagram, address.group).unwrap();
        }
        let heard = next(&mut heard).await;
        assert!(heard.payload == said(1, 65_497) && heard.sequence == 7);
        assert_eq!((ben.counters().bad, ben.counters().messages), (3, 1));
    });
}
