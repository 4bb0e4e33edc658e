//! Messages of a type: what an `.lcm` file defines, on channels.
//!
//! What generated types call is here, too, so that a program needs no crate but this one.

use crate::{Bus, BusError, Heard, Subscription};
use core::marker::PhantomData;
use folkmoot_pubsub::Channel;
pub use folkmoot_pubsub::typed::{DecodeError, EncodeError, Fixed, Reader, Typed, Writer};

/// A message that is none of the type.
#[derive(Debug, Clone, thiserror::Error)]
#[error("a message on {} is no {name}: {error}", heard.channel.text())]
pub struct Undecoded {
    /// The message as it was heard.
    pub heard: Box<Heard>,
    /// The type's name.
    pub name: &'static str,
    /// Why.
    pub error: DecodeError,
}

/// A message of a type, and how it was heard: who sent it, when, and what is missing before it.
pub type Told<T> = Result<(Heard, T), Undecoded>;

/// How many messages were none of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wrong {
    /// Messages of another type, or of another version of it.
    pub other: u64,
    /// Messages with the type's fingerprint that are damaged, or of a program that lies.
    pub malformed: u64,
}

impl Wrong {
    /// The message as one of the type; it is counted if it is none.
    fn judge<T: Typed>(&mut self, heard: Heard) -> Told<T> {
        match T::decode(&heard.payload) {
            Ok(message) => Ok((heard, message)),
            Err(error) => {
                let counter = match error {
                    DecodeError::PeerFingerprint { .. } => &mut self.other,
                    _ => &mut self.malformed,
                };
                *counter = counter.saturating_add(1);
                Err(Undecoded { heard: Box::new(heard), name: T::NAME, error })
            }
        }
    }
}

/// The messages of some channels as values of a type.
#[derive(Debug)]
pub struct TypedSubscription<T> {
    all: Subscription,
    wrong: Wrong,
    of: PhantomData<fn() -> T>,
}

impl<T: Typed> TypedSubscription<T> {
    /// Waits for the next message; `None` if no more can come. What is none of the type is an
    /// error, is counted, and ends nothing. Safe to cancel.
    pub async fn next(&mut self) -> Option<Told<T>> {
        let heard = self.all.next().await?;
        Some(self.wrong.judge(heard))
    }

    /// The next message if one waits.
    pub fn waiting(&mut self) -> Option<Told<T>> {
        let heard = self.all.waiting()?;
        Some(self.wrong.judge(heard))
    }

    /// How many messages were none of the type.
    pub fn wrong(&self) -> Wrong {
        self.wrong
    }

    /// How many messages were dropped because this subscription's queue was full.
    pub fn dropped(&self) -> u64 {
        self.all.dropped()
    }
}

impl Subscription {
    /// The same messages as values of a type.
    pub fn typed<T: Typed>(self) -> TypedSubscription<T> {
        TypedSubscription { all: self, wrong: Wrong::default(), of: PhantomData }
    }
}

impl Bus {
    /// Says a value on a channel, as [`Bus::publish`] says bytes.
    ///
    /// # Errors
    /// Its arrays are not as long as it says, or what [`Bus::publish`] refuses.
    pub async fn publish_typed<T: Typed>(&self, channel: Channel, message: &T) -> Result<(), BusError> {
        self.publish(channel, &message.encode()?).await
    }
}
