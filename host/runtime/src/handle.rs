//! What the application holds: a handle to give orders and ask, and the receiving end of the queue
//! of events.

use crate::engine::{Counters, EVENTS_CHANNEL, Engine, ORDERS_WAITING_MAX, Order, Sending, Turn};
use crate::names::Names;
use crate::outcome::{Answer, Outcomes, Told};
use crate::sends::{Room, Submission};
use crate::thread::Thread;
use crate::{Clock, Generation, OsEntropy, RuntimeError, Store, UpperStack, Wire, Writer};
use folkmoot_attach::{Embedded, Ground};
use folkmoot_base::Instant;
use tokio::sync::{mpsc, oneshot};

/// Orders and questions for one running member. Cheap to clone; the member stops when the last one
/// is gone.
#[derive(Debug)]
pub struct Handle<G: Ground, U: UpperStack> {
    orders: mpsc::Sender<Order<G, U>>,
    /// Bounded by the room that each group has.
    sends: mpsc::UnboundedSender<Submission>,
    room: Room,
}

impl<G: Ground, U: UpperStack> Clone for Handle<G, U> {
    fn clone(&self) -> Self {
        Self { orders: self.orders.clone(), sends: self.sends.clone(), room: self.room.clone() }
    }
}

/// A running member: its events, and how it ended.
#[derive(Debug)]
pub struct Running<G: Ground, U: UpperStack> {
    /// For orders and questions.
    pub handle: Handle<G, U>,
    events: mpsc::Receiver<Told<U::Event>>,
    /// Events that were taken together, and are told one by one.
    taken: Told<U::Event>,
    /// Where their lists go when they are empty.
    emptied: mpsc::Sender<Told<U::Event>>,
    /// How the engine ended.
    end: Option<oneshot::Receiver<Result<(), RuntimeError>>>,
}

/// Starts the engine as a task of the current tokio runtime.
///
/// # Errors
/// [`RuntimeError::LocalStart`] without randomness, [`RuntimeError::Store`] without a thread for
/// the store.
pub fn start<G, U, W>(
    machine: Embedded<G, U>,
    wire: W,
    store: Store,
    clock: Clock,
    generation: Generation,
) -> Result<Running<G, U>, RuntimeError>
where
    G: Ground + Send + 'static,
    U: UpperStack + Send + 'static,
    U::Command: Send,
    U::Event: Send,
    W: Wire,
{
    let entropy = OsEntropy::new().map_err(RuntimeError::LocalStart)?;
    let (order, orders) = mpsc::channel(ORDERS_WAITING_MAX);
    let (send, sends) = mpsc::unbounded_channel();
    let (tell, events) = mpsc::channel(EVENTS_CHANNEL);
    let (emptied, spare) = mpsc::channel(EVENTS_CHANNEL);
    let outcomes = Outcomes::new(Writer::start(store)?, tell, spare);
    let (names, turn) = (Names::new(), Turn::default());
    let engine = Engine { machine, wire, clock, generation, entropy, orders, sends, outcomes, names, turn };
    let (ended, end) = oneshot::channel();
    // If nobody wants to know how it ended, that is their choice.
    tokio::spawn(async move { drop(ended.send(engine.run().await)) });
    let handle = Handle { orders: order, sends: send, room: Room::default() };
    Ok(Running { handle, events, taken: Told::new(), emptied, end: Some(end) })
}

impl<G: Ground, U: UpperStack> Running<G, U> {
    /// The next event; `None` when the member has stopped as told. After many events in a row it
    /// lets other tasks run, so that a program with one thread does not hold up its own engine
    /// (tokio's cooperative scheduling).
    ///
    /// # Errors
    /// Why the member stopped, once.
    pub async fn next(&mut self) -> Result<Option<U::Event>, RuntimeError> {
        tokio::task::coop::consume_budget().await;
        loop {
            if let Some((event, _)) = self.taken.pop_front() {
                return Ok(Some(event));
            }
            let Some(events) = self.events.recv().await else { break };
            let emptied = core::mem::replace(&mut self.taken, events);
            // If there are spare ones enough, it is not needed.
            let _ = self.emptied.try_send(emptied);
        }
        match self.end.take() {
            Some(end) => end.await.map_err(|_| RuntimeError::LocalFailed)?.map(|()| None),
            None => Ok(None),
        }
    }

    /// Has `thread` run the engine, which was started on it, to its end.
    pub(crate) fn run_on(&mut self, thread: Thread) -> Result<(), RuntimeError> {
        let (ended, relayed) = oneshot::channel();
        let end = self.end.replace(relayed);
        thread.run(async move {
            let Some(end) = end else { return };
            // An engine that says nothing of its end has failed, and the relay says so likewise.
            if let Ok(end) = end.await {
                drop(ended.send(end));
            }
        })
    }

    /// Stops the member and waits until everything it owed the disk is there.
    ///
    /// # Errors
    /// Why it could not go on to the end.
    pub async fn stop(mut self) -> Result<(), RuntimeError> {
        // A member that has stopped already is what was asked for.
        let _ = self.handle.orders.send(Order::Stop).await;
        match self.end.take() {
            Some(end) => end.await.map_err(|_| RuntimeError::LocalFailed)?,
            None => Ok(()),
        }
    }
}

impl<G: Ground, U: UpperStack> Handle<G, U> {
    /// Hands the member a command, and brings back its answer when all that it brought about at
    /// once is on disk: a vote whose command has returned is not lost by a crash (DECISIONS O4).
    /// Waits while [`ORDERS_WAITING_MAX`] are waiting.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`]; then it may or may not have been obeyed.
    pub async fn command(&self, command: U::Command) -> Result<U::Answer, RuntimeError> {
        let (done, answer) = oneshot::channel();
        self.orders.send(Order::Command(command, done)).await.map_err(|_| RuntimeError::Stopped)?;
        answer.await.map_err(|_| RuntimeError::Stopped)
    }

    /// Looks at the machine between two turns, and brings back what `look` made of it once all that
    /// it saw is on disk.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`].
    pub async fn look<R, F>(&self, look: F) -> Result<R, RuntimeError>
    where
        R: Send + 'static,
        F: FnOnce(&mut Embedded<G, U>, Instant, &mut OsEntropy) -> R + Send + 'static,
    {
        let (tell, answer) = oneshot::channel();
        let look = Box::new(move |machine: &mut Embedded<G, U>, now, entropy: &mut OsEntropy| {
            let seen = look(machine, now, entropy);
            let answer: Answer = Box::new(move || drop(tell.send(seen)));
            answer
        });
        self.orders.send(Order::Look(look)).await.map_err(|_| RuntimeError::Stopped)?;
        answer.await.map_err(|_| RuntimeError::Stopped)
    }

    /// What the engine and its transport did so far.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`].
    pub async fn counters(&self) -> Result<Counters, RuntimeError> {
        let (tell, answer) = oneshot::channel();
        self.orders.send(Order::Count(tell)).await.map_err(|_| RuntimeError::Stopped)?;
        answer.await.map_err(|_| RuntimeError::Stopped)
    }

    /// Sends one message: waits for a key and for room, returns when it is sealed (DECISIONS K5).
    /// Messages to other groups do not wait behind it. Of one group [`crate::SENDS_WAITING_MAX`]
    /// wait, and then the callers.
    ///
    /// # Errors
    /// [`RuntimeError::NotInGroup`] when the member is out of the group,
    /// [`RuntimeError::SendRefused`] when the member does not take the message,
    /// [`RuntimeError::Stopped`].
    pub async fn send(&self, message: Sending) -> Result<(), RuntimeError> {
        let (done, answer) = oneshot::channel();
        let place = Some(self.room.enter(message.group).await?);
        let message = Submission { message, done: Some(done), place };
        self.sends.send(message).map_err(|_| RuntimeError::Stopped)?;
        answer.await.map_err(|_| RuntimeError::Stopped)?
    }

    /// Queues one message: waits for room only. It goes out when there is a key, or is dropped if
    /// the member leaves.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`].
    pub async fn queue(&self, message: Sending) -> Result<(), RuntimeError> {
        let place = Some(self.room.enter(message.group).await?);
        let message = Submission { message, done: None, place };
        self.sends.send(message).map_err(|_| RuntimeError::Stopped)
    }

    /// Sends one message if it can go now.
    ///
    /// # Errors
    /// [`RuntimeError::NoEpoch`] while there is no key or while other messages wait, and as
    /// [`Self::send`].
    pub async fn try_send(&self, message: Sending) -> Result<(), RuntimeError> {
        let (done, answer) = oneshot::channel();
        let message = Submission { message, done: Some(done), place: None };
        self.orders.send(Order::Send(message)).await.map_err(|_| RuntimeError::Stopped)?;
        answer.await.map_err(|_| RuntimeError::Stopped)?
    }
}
