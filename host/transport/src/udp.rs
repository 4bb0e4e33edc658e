//! UDP: datagrams received many at a time (recvmmsg, GRO), sent many at a time (GSO) where the
//! system can.
//!
//! A turn's datagrams are a multicast in turn to each peer; they are sent peer by peer, since only
//! neighbours to one address share a call. What goes to one peer keeps its order.

use crate::{BATCH_MAX, Counters, as_u64};
use bytes::Bytes;
use core::net::SocketAddr;
use folkmoot_base::Locator;
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::io::{self, IoSliceMut};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// What we ask for as the socket's buffers, each way; the system may give less.
const SOCKET_BYTES: usize = 8 * 1024 * 1024;
/// Room for one received message: up to 64 datagrams that the system joined.
const MESSAGE_BYTES: usize = 65_536;
/// Most bytes in one GSO message: the largest IP packet less its headers.
const TRAIN_BYTES_MAX: usize = 65_000;

/// When the system is asked for datagrams.
#[derive(Debug, Clone, Copy)]
enum Asks {
    /// If the runtime has heard that there are some.
    IfReady,
    /// In any case: the runtime hears of them only when it polls the system.
    Anyway,
}

/// A bound socket.
pub(crate) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    local: SocketAddr,
    /// Where the system writes; copied out once, since what is received is opened at once and
    /// elsewhere.
    room: Vec<u8>,
    /// Equal-sized datagrams to one address, one after another.
    train: Vec<u8>,
    /// A batch, put in order of its addresses; empty between calls, kept for its room.
    sorted: Vec<(Locator, Bytes)>,
}

impl core::fmt::Debug for Socket {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Socket({})", self.local)
    }
}

impl Socket {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let socket = UdpSocket::from_std(socket)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        for (what, result) in [
            ("send", state.set_send_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES)),
            ("receive", state.set_recv_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES)),
        ] {
            if let Err(error) = result {
                tracing::debug!(%error, what, "the system gives no larger socket buffer");
            }
        }
        let local = socket.local_addr()?;
        let room = vec![0; BATCH_SIZE.saturating_mul(MESSAGE_BYTES)];
        Ok(Self { socket, state, local, room, train: Vec::new(), sorted: Vec::new() })
    }

    pub(crate) fn local(&self) -> Locator {
        Locator::Udp(self.local)
    }

    pub(crate) async fn recv(&mut self, batch: &mut Vec<(Locator, Bytes)>) -> io::Result<()> {
        loop {
            self.socket.readable().await?;
            self.drain_by(batch, Asks::IfReady)?;
            if !batch.is_empty() {
                return Ok(());
            }
        }
    }

    /// Takes what the socket has, up to [`BATCH_MAX`], whatever the runtime has heard of it.
    pub(crate) fn drain(&mut self, batch: &mut Vec<(Locator, Bytes)>) -> io::Result<()> {
        self.drain_by(batch, Asks::Anyway)
    }

    fn drain_by(&mut self, batch: &mut Vec<(Locator, Bytes)>, asks: Asks) -> io::Result<()> {
        while batch.len() < BATCH_MAX {
            match self.take(batch, asks) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if provoked(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// One call to the system.
    fn take(&mut self, batch: &mut Vec<(Locator, Bytes)>, asks: Asks) -> io::Result<()> {
        let (socket, state) = (&self.socket, &self.state);
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> =
            self.room.chunks_exact_mut(MESSAGE_BYTES).map(IoSliceMut::new).collect();
        let mut recv = || state.recv(UdpSockRef::from(socket), &mut slices, &mut metas);
        let count = match asks {
            Asks::IfReady => socket.try_io(Interest::READABLE, recv)?,
            Asks::Anyway => recv()?,
        };
        for (meta, message) in metas.iter().zip(&slices).take(count) {
            let Some(message) = message.get(..meta.len).filter(|message| !message.is_empty()) else {
                continue;
            };
            let from = Locator::Udp(meta.addr);
            let message = Bytes::copy_from_slice(message);
            let stride = meta.stride.clamp(1, meta.len);
            let starts = (0..meta.len).step_by(stride);
            batch.extend(starts.map(|at| (from, message.slice(at..at.saturating_add(stride).min(meta.len)))));
        }
        Ok(())
    }

    pub(crate) fn send(&mut self, batch: &[(Locator, Bytes)], counters: &mut Counters) {
        if batch.is_sorted_by_key(|(to, _)| *to) {
            return self.send_sorted(batch, counters);
        }
        let mut sorted = core::mem::take(&mut self.sorted);
        sorted.extend_from_slice(batch);
        sorted.sort_by_key(|(to, _)| *to);
        self.send_sorted(&sorted, counters);
        sorted.clear();
        self.sorted = sorted;
    }

    fn send_sorted(&mut self, mut batch: &[(Locator, Bytes)], counters: &mut Counters) {
        while let Some((to, first)) = batch.first() {
            let Locator::Udp(address) = *to else {
                counters.dropped = counters.dropped.saturating_add(1);
                batch = batch.get(1..).unwrap_or_default();
                continue;
            };
            let length = train_length(batch, self.state.max_gso_segments());
            let (train, rest) = batch.split_at_checked(length).unwrap_or((batch, &[]));
            if train.len() == 1 || !self.send_train(address, first.len(), train, counters) {
                for (_, datagram) in train {
                    self.send_one(address, datagram, counters);
                }
            }
            batch = rest;
        }
    }

    /// Sends equal-sized datagrams in one call; whether that is settled (sent, or dropped for lack
    /// of room).
    fn send_train(
        &mut self,
        address: SocketAddr,
        size: usize,
        train: &[(Locator, Bytes)],
        counters: &mut Counters,
    ) -> bool {
        self.train.clear();
        for (_, datagram) in train {
            self.train.extend_from_slice(datagram);
        }
        let transmit = transmit(address, &self.train, Some(size));
        let result = self.state.try_send(UdpSockRef::from(&self.socket), &transmit);
        counters.calls = counters.calls.saturating_add(1);
        let counter = match result {
            Ok(()) => &mut counters.sent,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => &mut counters.dropped,
            Err(error) => {
                tracing::debug!(%error, "a train of datagrams was refused; sending one by one");
                return false;
            }
        };
        *counter = counter.saturating_add(as_u64(train.len()));
        true
    }

    fn send_one(&mut self, address: SocketAddr, datagram: &[u8], counters: &mut Counters) {
        let result = self.state.try_send(UdpSockRef::from(&self.socket), &transmit(address, datagram, None));
        counters.calls = counters.calls.saturating_add(1);
        let counter = if result.is_ok() { &mut counters.sent } else { &mut counters.dropped };
        *counter = counter.saturating_add(1);
        if let Err(error) = result {
            tracing::trace!(%error, %address, "a datagram was not sent");
        }
    }
}

fn transmit(destination: SocketAddr, contents: &[u8], segment_size: Option<usize>) -> Transmit<'_> {
    Transmit { destination, ecn: None, contents, segment_size, src_ip: None }
}

/// How many datagrams from the front of `batch` can go as one: one address, one size but for a
/// shorter last.
fn train_length(batch: &[(Locator, Bytes)], most: usize) -> usize {
    let Some((to, first)) = batch.first() else { return 0 };
    let mut bytes = 0_usize;
    let mut length = 0_usize;
    for (other, datagram) in batch.iter().take(most.max(1)) {
        let more = bytes.saturating_add(datagram.len());
        let fits = other == to && datagram.len() <= first.len() && !datagram.is_empty();
        if length > 0 && (!fits || more > TRAIN_BYTES_MAX) {
            break;
        }
        bytes = more;
        length = length.saturating_add(1);
        if datagram.len() < first.len() {
            break;
        }
    }
    length
}

/// An error that a peer can provoke, by an ICMP message or a strange datagram.
fn provoked(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, NetworkDown,
        NetworkUnreachable,
    };
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
    )
}
