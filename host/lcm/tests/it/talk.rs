//! Programs in one group hear each other. Each test has a network of its own, and a port of its own
//! where that cannot be made.

use crate::alone::alone;
use crate::heard::{all, next};
use folkmoot_lcm::{Bus, BusError, Capacity, Full, Heard, Pattern, Subscription};
use folkmoot_pubsub::{Address, Channel, SELF_TEST_CHANNEL};
use std::time::Duration;

fn address(test: u32) -> Address {
    // Tests of other builds on this host have other ports.
    let port = 20_000 + (std::process::id() * 8 + test) % 20_000;
    format!("udpm://239.255.76.67:{port}?ttl=0").parse().unwrap()
}

/// Runs the test of this name in a network of its own, on so many threads.
fn test(name: &str, threads: usize, body: impl Future<Output = ()>) {
    alone(name, || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(threads).enable_all().build().unwrap().block_on(body);
    });
}

fn channel(name: &str) -> Channel {
    Channel::new(name).unwrap()
}

fn payload(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place / 253) as u8 ^ place as u8).collect()
}

/// Publishes until it is heard: the system may drop any datagram.
async fn say(from: &Bus, to: &mut Subscription, name: &str, said: &[u8]) -> Heard {
    for _ in 0..50 {
        from.publish(channel(name), said).await.unwrap();
        let heard = async {
            loop {
                let heard = to.next().await.unwrap();
                if heard.channel == channel(name) {
                    return heard;
                }
            }
        };
        if let Ok(heard) = tokio::time::timeout(Duration::from_millis(200), heard).await {
            return heard;
        }
    }
    panic!("{name} was not heard");
}

#[test]
fn two_programs_hear_each_other_and_themselves() {
    test("talk::two_programs_hear_each_other_and_themselves", 2, async {
        let (anna, ben) = (Bus::join(address(0)).unwrap(), Bus::join(address(0)).unwrap());
        anna.self_test().await.unwrap();
        let (mut annas, mut bens) = (all(&anna), all(&ben));
        for length in [0, 100, 65_490, 65_491, 200_000, 3_000_000] {
            let (name, said) = (format!("L{length}"), payload(length));
            let heard = say(&anna, &mut bens, &name, &said).await;
            assert!(heard.payload == said, "{length}");
            assert!(heard.time > 1_600_000_000_000_000);
            let heard = say(&ben, &mut annas, &name, &said).await;
            assert!(heard.payload == said, "{length}");
        }
        assert!(ben.counters().messages >= 6 && ben.counters().bad == 0);
        drop(anna);
        assert!(annas.next().await.is_none() || annas.waiting().is_none(), "a bus that is gone says so");
    });
}

#[test]
fn subscriptions_are_by_pattern_and_end_when_they_are_dropped() {
    test("talk::subscriptions_are_by_pattern_and_end_when_they_are_dropped", 2, async {
        let bus = Bus::join(address(1)).unwrap();
        let pattern = |text: &str| bus.subscribe(Pattern::new(text).unwrap(), Capacity::default()).unwrap();
        let (mut one, mut family) = (pattern("POSE"), pattern("POSE.*"));
        say(&bus, &mut family, "POSE_2", b"second").await;
        assert_eq!(say(&bus, &mut one, "POSE", b"first").await.payload, "first");
        assert_eq!(next(&mut family).await.channel, channel("POSE"));
        assert!(one.waiting().is_none(), "POSE alone");
        drop(one);
        say(&bus, &mut family, "POSE", b"third").await;
    });
}

#[test]
fn a_slow_subscriber_sees_what_it_lost() {
    test("talk::a_slow_subscriber_sees_what_it_lost", 2, async {
        let bus = Bus::join(address(2)).unwrap();
        let small = Capacity { messages: 3, full: Full::DropNewest, ..Capacity::default() };
        let mut slow = bus.subscribe(Pattern::new("N").unwrap(), small).unwrap();
        let mut last =
            bus.subscribe(Pattern::new("N").unwrap(), Capacity { full: Full::DropOldest, ..small }).unwrap();
        let mut marks = bus.subscribe(Pattern::new("MARK").unwrap(), Capacity::default()).unwrap();
        for number in 0..20_u8 {
            bus.publish(channel("N"), &[number]).await.unwrap();
        }
        say(&bus, &mut marks, "MARK", b"").await;
        let numbers = |subscription: &mut Subscription| -> Vec<u8> {
            std::iter::from_fn(|| subscription.waiting()).map(|heard| heard.payload[0]).collect()
        };
        assert_eq!((numbers(&mut slow), slow.dropped()), (vec![0, 1, 2], 17));
        assert_eq!((numbers(&mut last), last.dropped()), (vec![17, 18, 19], 17));
        assert_eq!(bus.counters().missing, 0);
    });
}

#[test]
fn what_cannot_be_sent_is_refused() {
    test("talk::what_cannot_be_sent_is_refused", 1, async {
        let bus = Bus::join(address(3)).unwrap();
        let long = vec![0; (1 << 28) + 1];
        assert!(matches!(bus.publish(channel("A"), &long).await, Err(BusError::LocalTooLong(_))));
        // As liblcm's: others hear the self test.
        let other = Bus::join(address(3)).unwrap();
        let mut heard = all(&other);
        bus.self_test().await.unwrap();
        assert_eq!(next(&mut heard).await.channel, channel(SELF_TEST_CHANNEL));
    });
}
