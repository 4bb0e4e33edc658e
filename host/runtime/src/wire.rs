//! What the engine asks of a transport: whole datagrams in batches, both ways.

use bytes::Bytes;
use folkmoot_base::Locator;
use std::future::Future;
use std::io;

/// A transport, as the engine sees it. Unreliable and unordered by nature: a lost batch is no error.
pub trait Wire: Send + 'static {
    /// Waits for datagrams and appends at least one, with who sent it. Dropped halfway, it loses nothing.
    ///
    /// # Errors
    /// What the system said; the engine goes on unless nothing else comes any more.
    fn recv(&mut self, batch: &mut Vec<(Locator, Bytes)>) -> impl Future<Output = io::Result<()>> + Send;

    /// Sends a batch. Datagrams that do not fit the system's buffers may be lost.
    ///
    /// # Errors
    /// What the system said.
    fn send(&mut self, batch: &[(Locator, Bytes)]) -> impl Future<Output = io::Result<()>> + Send;
}
