//! A network inside one process: ports joined by bounded queues.

use crate::{Arrival, BATCH_MAX, Counters, PORT_MAX, Transport, Wire};
use bytes::Bytes;
use folkmoot_base::Locator;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{self, Receiver, Sender};

type Datagram = (Locator, Arrival);

/// A network inside this process. Clone it to hand it around.
#[derive(Debug, Clone, Default)]
pub struct Hub(Arc<Mutex<BTreeMap<u32, Sender<Datagram>>>>);

impl Hub {
    /// Opens the port `memory/number`; dropping the transport closes it.
    ///
    /// # Errors
    /// `AddrInUse` if it is open already.
    pub fn open(&self, number: u32) -> io::Result<Transport> {
        let mut ports = self.lock();
        if ports.contains_key(&number) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let (sender, receiver) = mpsc::channel(PORT_MAX);
        ports.insert(number, sender);
        Ok(Transport::over(Wire::Memory(Port { number, hub: self.clone(), receiver })))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Sender<Datagram>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open port.
#[derive(Debug)]
pub(crate) struct Port {
    number: u32,
    hub: Hub,
    receiver: Receiver<Datagram>,
}

impl Drop for Port {
    fn drop(&mut self) {
        self.hub.lock().remove(&self.number);
    }
}

impl Port {
    pub(crate) fn local(&self) -> Locator {
        Locator::memory(self.number)
    }

    pub(crate) async fn recv(&mut self, batch: &mut Vec<Datagram>) -> io::Result<()> {
        match self.receiver.recv_many(batch, BATCH_MAX).await {
            0 => Err(io::ErrorKind::BrokenPipe.into()),
            _ => Ok(()),
        }
    }

    pub(crate) fn take(&mut self, batch: &mut Vec<Datagram>) {
        let came = std::iter::from_fn(|| self.receiver.try_recv().ok()).take(BATCH_MAX);
        batch.extend(came);
    }

    pub(crate) fn send(&mut self, batch: &[(Locator, Bytes)], counters: &mut Counters) {
        let from = self.local();
        let ports = self.hub.lock();
        for (to, datagram) in batch {
            let port = to.as_memory().and_then(|number| ports.get(&number));
            let sent = port.is_some_and(|port| {
                port.try_send((from.clone(), Arrival::One(datagram.as_ref().into()))).is_ok()
            });
            let counter = if sent { &mut counters.sent } else { &mut counters.dropped };
            *counter = counter.saturating_add(1);
        }
        counters.calls = counters.calls.saturating_add(u64::from(!batch.is_empty()));
    }
}
