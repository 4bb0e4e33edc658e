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
