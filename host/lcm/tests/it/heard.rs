//! What a program hears, for the tests.

use core::time::Duration;
use folkmoot_lcm::{Bus, Capacity, Heard, Pattern, Subscription};

pub(crate) fn all(bus: &Bus) -> Subscription {
    bus.subscribe(Pattern::new(".*").unwrap(), Capacity::default()).unwrap()
}

pub(crate) async fn next(subscription: &mut Subscription) -> Heard {
    tokio::time::timeout(Duration::from_secs(10), subscription.next()).await.expect("it comes").unwrap()
}
