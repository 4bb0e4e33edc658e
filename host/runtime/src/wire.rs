//! What the engine asks of a transport: whole datagrams in batches, both ways.

use bytes::Bytes;
use folkmoot_base::Locator;
use folkmoot_transport::{Arrival, Counters, Transport};
use std::future::Future;
use std::io;

/// A transport, as the engine sees it. Unreliable and unordered by nature: a lost datagram is no
/// error.
pub trait Wire: Send + 'static {
    /// Waits for datagrams and appends at least one, with who sent it. Dropped halfway, it loses
    /// nothing.
    ///
    /// # Errors
    /// What the system said; the engine goes on unless nothing else comes any more.
    fn recv(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> impl Future<Output = io::Result<()>> + Send;

    /// Appends what has come already, perhaps nothing, without waiting.
    ///
    /// # Errors
    /// As [`Self::recv`].
    fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> io::Result<()>;

    /// Sends a batch without waiting, what goes to one locator in its order; what does not fit is
    /// lost and counted. May leave the batch in another order.
    fn send(&mut self, batch: &mut [(Locator, Bytes)]);

    /// Joins the nodes at these places, so that all receive what one sends to all. Returns the
    /// locator for that, if there is one.
    fn together(&mut self, places: &[Locator]) -> Option<Locator> {
        let _ = places;
        None
    }

    /// Appends what has come to all, perhaps nothing, without waiting. [`Self::recv`] ends for it,
    /// too.
    fn take_to_all(&mut self, batch: &mut Vec<(Locator, Arrival)>) {
        let _ = batch;
    }

    /// Whether its socket is of the family of this address.
    fn sends_to(&self, at: &Locator) -> bool {
        let _ = at;
        true
    }

    /// The next locator to which the system would not send a datagram of so many bytes.
    fn too_long(&mut self) -> Option<(Locator, usize)> {
        None
    }

    /// What it did so far, if it counts.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

impl Wire for Transport {
    fn recv(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> impl Future<Output = io::Result<()>> + Send {
        Transport::recv(self, batch)
    }

    fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> io::Result<()> {
        Transport::take(self, batch)
    }

    fn send(&mut self, batch: &mut [(Locator, Bytes)]) {
        Transport::send(self, batch);
    }

    fn together(&mut self, places: &[Locator]) -> Option<Locator> {
        Transport::together(self, places)
    }

    fn take_to_all(&mut self, batch: &mut Vec<(Locator, Arrival)>) {
        Transport::take_to_all(self, batch);
    }

    fn sends_to(&self, at: &Locator) -> bool {
        Transport::sends_to(self, at)
    }

    fn too_long(&mut self) -> Option<(Locator, usize)> {
        Transport::too_long(self)
    }

    fn counters(&self) -> Counters {
        Transport::counters(self)
    }
}
