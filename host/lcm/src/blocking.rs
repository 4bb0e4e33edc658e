//! The same for programs without tokio: each call waits until it is done.
//!
//! ```text
//!   program's threads --wait--> Bus, Subscription ==> one thread of their own, which hears the group
//! ```
//! Do not call what is here inside of an asynchronous runtime: it would stop there, and tokio
//! panics.

use crate::typed::{Told, Typed, TypedSubscription, Wrong};
use crate::{BusError, Capacity, Heard, Membership, Pattern};
use core::time::Duration;
use folkmoot_pubsub::{Address, Channel};
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};

/// The thread that hears. It ends with the last bus and subscription that use it.
#[derive(Debug)]
struct Thread {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl Thread {
    fn start() -> std::io::Result<Arc<Self>> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("lcm").enable_all().build()?;
        Ok(Arc::new(Self { handle: runtime.handle().clone(), runtime: Some(runtime) }))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Waits for nothing, so it may happen anywhere.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One program's place in a group; with a [`Membership`], in a secured one.
#[derive(Debug)]
pub struct Bus<B = crate::Bus> {
    bus: B,
    thread: Arc<Thread>,
}

impl Bus {
    /// Joins the group.
    ///
    /// # Errors
    /// [`BusError::LocalSockets`].
    pub fn join(address: Address) -> Result<Self, BusError> {
        Self::join_by(address, async { crate::Bus::join(address) })
    }
}

impl<B: AsRef<crate::Bus>> Bus<B> {
    /// Joins the group in another way, for example by [`Membership::join`].
    ///
    /// # Errors
    /// What `join` says, and [`BusError::LocalSockets`] if the system has no thread to give.
    pub fn join_by<E: From<BusError>>(
        address: Address,
        join: impl Future<Output = Result<B, E>>,
    ) -> Result<Self, E> {
        let thread = Thread::start().map_err(|error| BusError::LocalSockets { address, error })?;
        let bus = thread.handle.block_on(join)?;
        Ok(Self { bus, thread })
    }

    /// The asynchronous bus, for what is not here. [`Self::wait`] waits for its answers.
    pub fn asynchronous(&self) -> &B {
        &self.bus
    }

    /// Waits for its end, for example that of [`Membership::leave`].
    pub fn end<F: Future>(self, end: impl FnOnce(B) -> F) -> F::Output {
        self.thread.handle.block_on(end(self.bus))
    }

    /// Waits for an answer of the asynchronous bus.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.thread.handle.block_on(future)
    }

    /// Says something on a channel.
    ///
    /// # Errors
    /// As [`crate::Bus::publish`].
    pub fn publish(&self, channel: Channel, payload: &[u8]) -> Result<(), BusError> {
        self.wait(self.bus.as_ref().publish(channel, payload))
    }

    /// Says a value on a channel.
    ///
    /// # Errors
    /// As [`crate::Bus::publish_typed`].
    pub fn publish_typed<T: Typed>(&self, channel: Channel, message: &T) -> Result<(), BusError> {
        self.wait(self.bus.as_ref().publish_typed(channel, message))
    }

    /// Hears the channels of this pattern from now on.
    ///
    /// # Errors
    /// The system does not let this program hear the group.
    pub fn subscribe(
        &self,
        pattern: Pattern,
        capacity: Capacity,
    ) -> Result<Waiting<crate::Subscription>, BusError> {
        // Inside of the runtime, where the reader is to run.
        let all = self.wait(async { self.bus.as_ref().subscribe(pattern, capacity) })?;
        Ok(Waiting { all, thread: Arc::clone(&self.thread) })
    }
}

impl AsRef<Self> for crate::Bus {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl AsRef<crate::Bus> for Membership {
    fn as_ref(&self) -> &crate::Bus {
        self.bus()
    }
}

/// A subscription that is waited for. As an iterator it waits for each message, and ends if no more
/// can come.
#[derive(Debug)]
pub struct Waiting<S> {
    all: S,
    thread: Arc<Thread>,
}

impl Waiting<crate::Subscription> {
    /// The same messages as values of a type.
    pub fn typed<T: Typed>(self) -> Waiting<TypedSubscription<T>> {
        Waiting { all: self.all.typed(), thread: self.thread }
    }
}

impl<S: Next> Waiting<S> {
    /// Waits for the next message so long; `None` if none comes, or no more can come.
    pub fn within(&mut self, patience: Duration) -> Option<S::Message> {
        let next = async { tokio::time::timeout(patience, self.all.next()).await.ok().flatten() };
        self.thread.handle.block_on(next)
    }

    /// The next message if one waits.
    pub fn waiting(&mut self) -> Option<S::Message> {
        self.all.waiting()
    }

    /// How many messages were dropped because this subscription's queue was full.
    pub fn dropped(&self) -> u64 {
        self.all.dropped()
    }
}

impl<T: Typed> Waiting<TypedSubscription<T>> {
    /// How many messages were none of the type.
    pub fn wrong(&self) -> Wrong {
        self.all.wrong()
    }
}

impl<S: Next> Iterator for Waiting<S> {
    type Item = S::Message;

    fn next(&mut self) -> Option<S::Message> {
        self.thread.handle.block_on(self.all.next())
    }
}

/// What a subscription gives: bytes, or values of a type.
pub trait Next {
    /// One of what comes.
    type Message;

    /// Waits for the next one; `None` if no more can come.
    fn next(&mut self) -> impl Future<Output = Option<Self::Message>>;

    /// The next one if one waits.
    fn waiting(&mut self) -> Option<Self::Message>;

    /// How many were dropped because the queue was full.
    fn dropped(&self) -> u64;
}

impl Next for crate::Subscription {
    type Message = Heard;

    fn next(&mut self) -> impl Future<Output = Option<Heard>> {
        Self::next(self)
    }

    fn waiting(&mut self) -> Option<Heard> {
        Self::waiting(self)
    }

    fn dropped(&self) -> u64 {
        Self::dropped(self)
    }
}

impl<T: Typed> Next for TypedSubscription<T> {
    type Message = Told<T>;

    fn next(&mut self) -> impl Future<Output = Option<Told<T>>> {
        Self::next(self)
    }

    fn waiting(&mut self) -> Option<Told<T>> {
        Self::waiting(self)
    }

    fn dropped(&self) -> u64 {
        Self::dropped(self)
    }
}
