//! One way over the bridge, and what is counted on it.

use super::super::failed;
use super::Sides;
use crate::args::lcm::Channels;
use crate::exit::{Exit, Failure};
use crate::show::many_of;
use folkmoot_lcm::{Bus, BusError, Heard, Subscription};
use folkmoot_pubsub::secured::SealError;
use folkmoot_pubsub::{Channel, MANAGEMENT_PREFIX, SELF_TEST_CHANNEL};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// What went one way, and what did not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Way {
    messages: u64,
    bytes: u64,
    /// On channels that the certificate does not name.
    not_permitted: u64,
    /// Before there was a key, or after it was used up.
    no_key: u64,
    /// The system refused them, or they are too long.
    failed: u64,
    /// The queue was full.
    dropped: u64,
}

/// Both ways.
#[derive(Debug, Default)]
pub(super) struct Ways([Mutex<Way>; 2]);

impl Ways {
    pub(super) fn outward(&self) -> Way {
        let Self([outward, _]) = self;
        *outward.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn inward(&self) -> Way {
        let Self([_, inward]) = self;
        *inward.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Way {
    pub(super) fn words(&self) -> String {
        let all = [
            (self.not_permitted, "on channels that the certificate does not name"),
            (self.no_key, "without a key"),
            (self.failed, "refused by the system"),
            (self.dropped, "dropped here, because the queue was full"),
        ];
        let told = all.into_iter().filter(|(count, _)| *count > 0);
        let told: String = told.map(|(count, how)| format!("; {count} {how}")).collect();
        format!("{}, {}{told}", many_of(self.messages, "message"), many_of(self.bytes, "byte"))
    }

    pub(super) fn value(&self) -> Value {
        json!({
            "messages": self.messages,
            "bytes": self.bytes,
            "not_permitted": self.not_permitted,
            "no_key": self.no_key,
            "failed": self.failed,
            "dropped": self.dropped,
        })
    }

    /// Counts what became of a message.
    fn count(&mut self, bytes: usize, said: Result<(), BusError>) {
        let counter = match said {
            Ok(()) => {
                self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
                &mut self.messages
            }
            Err(BusError::LocalSeal(SealError::LocalNoKey(_) | SealError::LocalSpent(_))) => &mut self.no_key,
            Err(error) => {
                tracing::debug!(%error, "a message does not go over");
                &mut self.failed
            }
        };
        *counter = counter.saturating_add(1);
    }
}

/// From plain programs to other bridges.
pub(super) async fn outward(sides: Arc<Sides>, mut heard: Subscription) -> Failure {
    let Ways([way, _]) = &sides.ways;
    while let Some(message) = next(&mut heard, &sides.channels, way).await {
        if stays(&message.channel) || !sides.heard.said_here(&sides.inside, message.from, sides.json) {
            continue;
        }
        if sides.others.stands_by() || sides.others.said(message.from) {
            continue;
        }
        if !sides.outside.may(&message.channel) {
            let mut way = lock(way);
            way.not_permitted = way.not_permitted.saturating_add(1);
            continue;
        }
        if let Err(failure) = carry(sides.outside.membership.bus(), &message, way).await {
            return failure;
        }
    }
    ended("inside")
}

/// From other bridges to plain programs.
pub(super) async fn inward(sides: Arc<Sides>, mut heard: Subscription) -> Failure {
    let Ways([_, way]) = &sides.ways;
    while let Some(message) = next(&mut heard, &sides.channels, way).await {
        let own = message.sender.is_none_or(|sender| sender == sides.outside.sender);
        let from_here = message.sender.is_some_and(|sender| sides.others.is(sender));
        if stays(&message.channel) || own || from_here || sides.others.stands_by() {
            continue;
        }
        if let Err(failure) = carry(&sides.inside, &message, way).await {
            return failure;
        }
    }
    ended("outside")
}

/// The next message of a channel that goes over. What the queue dropped before it is counted.
async fn next(heard: &mut Subscription, channels: &Channels, way: &Mutex<Way>) -> Option<Heard> {
    loop {
        let next = heard.next().await;
        lock(way).dropped = heard.dropped();
        if next.as_ref().is_none_or(|message| channels.keeps(&message.channel)) {
            return next;
        }
    }
}

/// Fails if nothing can go over any more.
async fn carry(to: &Bus, message: &Heard, way: &Mutex<Way>) -> Result<(), Failure> {
    let said = to.publish(message.channel, &message.payload).await;
    if let Err(error @ BusError::LocalResumed) = said {
        return Err(failed(error));
    }
    lock(way).count(message.payload.len(), said);
    Ok(())
}

fn lock(way: &Mutex<Way>) -> std::sync::MutexGuard<'_, Way> {
    // Counters are whole after each change.
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is of one side alone (PUB-67).
fn stays(channel: &Channel) -> bool {
    channel.as_bytes() == SELF_TEST_CHANNEL.as_bytes() || channel.as_bytes().starts_with(MANAGEMENT_PREFIX)
}

fn ended(side: &str) -> Failure {
    Failure::new(
        Exit::Unreachable,
        format!("nothing from the group {side} is heard any longer. Start the bridge anew"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pub_67_what_is_of_one_side_stays_there() {
        let channel = |name: &str| Channel::new(name).unwrap();
        assert!(stays(&channel("LCM_SELF_TEST")) && stays(&channel("folkmoot://bridge")));
        assert!(!stays(&channel("POSE")) && !stays(&channel("LCM_SELF_TEST_2")));
    }

    #[test]
    fn each_message_is_counted_once_with_what_became_of_it() {
        let mut way = Way::default();
        way.count(7, Ok(()));
        let group: folkmoot_pubsub::secured::Domain = "239.255.76.67:7667".parse().unwrap();
        way.count(9, Err(BusError::LocalSeal(SealError::LocalNoKey(group))));
        way.count(9, Err(BusError::LocalSeal(SealError::LocalCipher)));
        way.dropped = 1;
        assert_eq!(
            way.words(),
            "1 message, 7 bytes; 1 without a key; 1 refused by the system; 1 dropped here, because the queue was full"
        );
    }
}
