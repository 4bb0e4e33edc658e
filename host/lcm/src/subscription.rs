//! A subscription, as its program sees it.

use crate::hub::Hub;
use crate::queue::{Heard, Queue, State};
use std::sync::{Arc, Mutex, PoisonError};

/// The messages of some channels, from now on. They end when this is dropped.
#[derive(Debug)]
pub struct Subscription {
    hub: Arc<Mutex<Hub>>,
    number: u64,
    queue: Arc<Queue>,
}

impl Subscription {
    pub(crate) fn new(hub: Arc<Mutex<Hub>>, number: u64, queue: Arc<Queue>) -> Self {
        Self { hub, number, queue }
    }

    /// Waits for the next message; `None` if no more can come. Safe to cancel.
    pub async fn next(&mut self) -> Option<Heard> {
        // A flood leaves no moment in which there is nothing to read. Timers and signals have a turn
        // all the same.
        tokio::task::coop::consume_budget().await;
        loop {
            match self.queue.take() {
                Ok(heard) => return Some(heard),
                Err(State::Closed) => return None,
                Err(State::Open) => self.queue.changed().await,
            }
        }
    }

    /// The next message if one waits.
    pub fn waiting(&mut self) -> Option<Heard> {
        self.queue.take().ok()
    }

    /// How many messages were dropped because this subscription's queue was full.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner).unsubscribe(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capacity, Pattern};
    use core::time::Duration;
    use folkmoot_pubsub::Channel;

    #[tokio::test]
    async fn a_flood_does_not_keep_timers_from_their_turn() {
        let (hub, queue) = (Arc::default(), Arc::new(Queue::new(Capacity::default())));
        let mut flooded = Subscription::new(Arc::clone(&hub), 0, Arc::clone(&queue));
        let channel = Channel::new("A").unwrap();
        let from = core::net::SocketAddrV4::new(core::net::Ipv4Addr::LOCALHOST, 1);
        let heard = || Heard {
            channel,
            payload: Default::default(),
            time: 0,
            from,
            sequence: 0,
            missing: 0,
            sender: None,
            attribution: None,
        };
        hub.lock().unwrap().subscribe(Pattern::new("A").unwrap(), queue);
        let read = async {
            for _ in 0..10_000_000 {
                hub.lock().unwrap().deliver(&channel, heard);
                flooded.next().await.unwrap();
            }
        };
        let ended = tokio::time::timeout(Duration::from_millis(50), read).await;
        assert!(ended.is_err(), "the timer had no turn in ten million messages");
    }
}
