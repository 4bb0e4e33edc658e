//! What turns brought about, and the order in which it takes effect: keep, then transmit, then
//! tell (DECISIONS O4); or tell before transmit, if that is little.
//!
//! ```text
//!   turn, turn, ... --> [ gathered ] --disk is free--> [ on its way to the disk ] --> transmit, tell
//! ```
//! While the disk writes, the engine goes on, and what later turns bring about gathers behind what
//! is being written: nothing overtakes. So a slow disk delays what goes out, and no datagram or
//! timer waits to be taken. Bounds: if [`ROWS_MAX`] rows wait for the disk, the engine waits with
//! them; of datagrams that wait, [`TRANSMIT_BYTES_MAX`] bytes are kept, and more are lost, as in a
//! network.

use crate::engine::EVENTS_TOGETHER;
use crate::{RuntimeError, StoreError, Wire, Writer};
use bytes::Bytes;
use folkmoot_base::{Locator, Persist};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Events that wait for the application.
pub const EVENTS_WAITING_MAX: usize = 262_144;
/// Bytes of messages that wait for the application.
pub const EVENT_BYTES_WAITING_MAX: usize = 256 * 1024 * 1024;
/// Rows that wait for the disk before the engine waits for it.
pub(crate) const ROWS_MAX: usize = 4_096;
/// Bytes of datagrams that wait for the disk.
pub(crate) const TRANSMIT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// So few events are told before anything is transmitted.
const FEW_EVENTS: usize = 4;

/// So often in a row the engine lets the application run although it takes no events: one list of
/// [`EVENTS_TOGETHER`] may last it several times.
const IDLE_YIELDS_MAX: u32 = 4;

/// Says to a caller what it asked for.
pub(crate) type Answer = Box<dyn FnOnce() + Send>;

/// Events, each with the bytes that it keeps while it waits.
pub(crate) type Told<E> = VecDeque<(E, usize)>;

/// What some turns brought about.
struct Outcome<E> {
    persist: Vec<Persist>,
    /// Of commands and looks; given once all before them is on disk.
    answers: Vec<Answer>,
    transmit: Vec<(Locator, Bytes)>,
    /// Each goes by itself, behind the others.
    probes: Vec<(Locator, Bytes)>,
    /// Of both.
    transmit_bytes: usize,
    told: Told<E>,
}

impl<E> Default for Outcome<E> {
    fn default() -> Self {
        let (persist, answers, transmit, probes, transmit_bytes, told) = Default::default();
        Self { persist, answers, transmit, probes, transmit_bytes, told }
    }
}

/// What is on its way to the disk, to the network and to the application.
pub(crate) struct Outcomes<E> {
    store: Writer,
    events: mpsc::Sender<Told<E>>,
    /// Lists that the application has emptied: they are used again, for their room.
    spare: mpsc::Receiver<Told<E>>,
    gathered: Outcome<E>,
    /// What is being written, and what may go out when it is.
    flying: Option<(Written, Outcome<E>)>,
    /// Events for which the application has not made room yet.
    told: Told<E>,
    /// Events and bytes that wait, wherever.
    waiting: (usize, usize),
    /// Unreliable messages that were dropped, since too much waited.
    untold: u64,
    /// Datagrams that were dropped, since too many waited for the disk.
    unsent: u64,
}

impl<E> Outcomes<E> {
    pub(crate) fn new(store: Writer, events: mpsc::Sender<Told<E>>, spare: mpsc::Receiver<Told<E>>) -> Self {
        let (gathered, flying, told, waiting) = Default::default();
        Self { store, events, spare, gathered, flying, told, waiting, untold: 0, unsent: 0 }
    }

    pub(crate) fn persist(&mut self, persist: Persist) {
        self.gathered.persist.push(persist);
    }

    pub(crate) fn transmit(&mut self, to: Locator, datagram: Bytes) {
        if self.has_room(&datagram) {
            self.gathered.transmit.push((to, datagram));
        }
    }

    pub(crate) fn probe(&mut self, to: Locator, datagram: Bytes) {
        if self.has_room(&datagram) {
            self.gathered.probes.push((to, datagram));
        }
    }

    /// Takes the room for a datagram. Without room it is dropped, and counted.
    fn has_room(&mut self, datagram: &Bytes) -> bool {
        let bytes = self.gathered.transmit_bytes.saturating_add(datagram.len());
        let fits = bytes <= TRANSMIT_BYTES_MAX;
        if fits {
            self.gathered.transmit_bytes = bytes;
        } else {
            self.unsent = self.unsent.saturating_add(1);
        }
        fits
    }

    /// How many datagrams were dropped, since too many waited for the disk.
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        self.gathered.answers.push(answer);
    }

    pub(crate) fn event(&mut self, event: E, size: usize) {
        self.waiting = (self.waiting.0.saturating_add(1), self.waiting.1.saturating_add(size));
        self.gathered.told.push_back((event, size));
    }

    /// As [`Self::event`], of an unreliable message: dropped while half of the room is taken. So
    /// nobody can end a program by sending more of them than it reads.
    pub(crate) fn unreliable(&mut self, event: E, size: usize) {
        let (count, bytes) = self.waiting;
        if count < EVENTS_WAITING_MAX / 2 && bytes.saturating_add(size) < EVENT_BYTES_WAITING_MAX / 2 {
            self.event(event, size);
        } else {
            self.untold = self.untold.saturating_add(1);
        }
    }

    /// How many unreliable messages were dropped.
    pub(crate) fn untold(&self) -> u64 {
        self.untold
    }

    /// Whether the engine has to wait for the disk.
    pub(crate) fn is_behind(&self) -> bool {
        self.gathered.persist.len() > ROWS_MAX
    }

    /// Waits until the disk has what is being written. Dropped halfway, it loses nothing.
    pub(crate) async fn written(&mut self) -> Result<(), StoreError> {
        written(&mut self.flying).await
    }

    /// Waits until there is something to act on again: the disk has what is being written
    /// (`Some`), or the application has room for an event. Dropped halfway, it loses nothing.
    pub(crate) async fn ready(&mut self) -> Option<Result<(), StoreError>> {
        tokio::select! {
            result = written(&mut self.flying) => Some(result),
            // If the application has dropped its end, there is room for all.
            _ = self.events.reserve(), if !self.told.is_empty() => None,
        }
    }

    /// The disk has what was being written: the rest of it may go out.
    pub(crate) fn release(&mut self, wire: &mut impl Wire) {
        if let Some((_, outcome)) = self.flying.take() {
            self.go_out(outcome, wire);
        }
    }

    /// Acts on what was gathered, as far as the disk lets it.
    pub(crate) fn act(&mut self, wire: &mut impl Wire) -> Result<(), RuntimeError> {
        if self.flying.is_none() {
            let mut outcome = std::mem::take(&mut self.gathered);
            if outcome.persist.is_empty() {
                self.go_out(outcome, wire);
            } else {
                let answer = self.store.begin(std::mem::take(&mut outcome.persist))?;
                self.flying = Some((answer, outcome));
            }
        }
        self.tell();
        let (count, bytes) = self.waiting;
        if count > EVENTS_WAITING_MAX || bytes > EVENT_BYTES_WAITING_MAX {
            return Err(RuntimeError::LocalSlowReader(count));
        }
        Ok(())
    }

    /// Tells the application what was gathered before any of it is transmitted, if that is little
    /// and nothing waits. Returns whether it did. Both follow what is kept, and neither the other.
    pub(crate) fn tell_first(&mut self) -> bool {
        let Outcome { persist, transmit, told, .. } = &mut self.gathered;
        let free = self.flying.is_none() && self.told.is_empty() && persist.is_empty();
        if !free || transmit.is_empty() || !(1..=FEW_EVENTS).contains(&told.len()) {
            return false;
        }
        core::mem::swap(&mut self.told, told);
        self.tell();
        true
    }

    /// Lets the application run while it has no room for more, at most for as long as the engine
    /// worked: both may have one thread. An application that takes nothing meanwhile, since it has
    /// a thread of its own or does not read, costs [`IDLE_YIELDS_MAX`] looks at the other tasks.
    pub(crate) async fn give_way(&mut self, worked: Duration) {
        let (mut idle, mut began) = (0, None);
        while !self.told.is_empty() && idle < IDLE_YIELDS_MAX {
            if began.get_or_insert_with(Instant::now).elapsed() >= worked {
                return;
            }
            let before = self.told.len();
            tokio::task::yield_now().await;
            self.tell();
            idle = if self.told.len() < before { 0 } else { idle.saturating_add(1) };
        }
    }

    /// Acts on all that is left, and waits for the disk.
    pub(crate) async fn finish(&mut self, wire: &mut impl Wire) -> Result<(), RuntimeError> {
        self.act(wire)?;
        while self.flying.is_some() {
            self.written().await?;
            self.release(wire);
            self.act(wire)?;
        }
        Ok(())
    }

    fn go_out(&mut self, mut outcome: Outcome<E>, wire: &mut impl Wire) {
        outcome.answers.into_iter().for_each(|answer| answer());
        if !outcome.transmit.is_empty() {
            wire.send(&mut outcome.transmit);
        }
        outcome.probes.chunks_mut(1).for_each(|probe| wire.send(probe));
        if self.gathered.transmit.capacity() == 0 {
            // Its room is used again.
            outcome.transmit.clear();
            self.gathered.transmit = outcome.transmit;
        }
        if self.told.is_empty() {
            core::mem::swap(&mut self.told, &mut outcome.told);
        } else {
            self.told.append(&mut outcome.told);
        }
        if self.gathered.told.capacity() == 0 {
            self.gathered.told = outcome.told;
        }
        self.tell();
    }

    /// Hands over what the application has room for, many at a time: each time it may have to be
    /// woken.
    fn tell(&mut self) {
        while !self.told.is_empty() {
            // If the application has dropped its end, events have no reader: its choice.
            let room = match self.events.try_reserve() {
                Ok(room) => Some(room),
                Err(mpsc::error::TrySendError::Closed(())) => None,
                Err(mpsc::error::TrySendError::Full(())) => return,
            };
            let count = self.told.len().min(EVENTS_TOGETHER);
            let bytes: usize = self.told.iter().take(count).map(|(_, size)| size).sum();
            self.waiting = (self.waiting.0.saturating_sub(count), self.waiting.1.saturating_sub(bytes));
            let mut events = self.spare.try_recv().unwrap_or_default();
            if count == self.told.len() {
                core::mem::swap(&mut events, &mut self.told);
            } else {
                events.extend(self.told.drain(..count));
            }
            if let Some(room) = room {
                room.send(events);
            }
        }
    }
}

/// What a commit came to.
type Written = oneshot::Receiver<Result<(), StoreError>>;

async fn written<R>(flying: &mut Option<(Written, R)>) -> Result<(), StoreError> {
    match flying {
        Some((answer, _)) => answer.await.map_err(|_| StoreError::LocalStopped)?,
        None => std::future::pending().await,
    }
}
