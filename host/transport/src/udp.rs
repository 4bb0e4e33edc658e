//! UDP: datagrams received many at a time (recvmmsg, GRO), sent many at a time (GSO) where the
//! system can. IP cuts nothing on the way: the sockets forbid it (IP_PMTUDISC_PROBE on Linux, set
//! by quinn-udp), and what an interface does not carry is an error that names the datagram's
//! length.
//!
//! A turn's datagrams are a multicast in turn to each peer; they are sent peer by peer, since only
//! neighbours to one address share a call ([`crate::trains`]).
//!
//! A socket that is bound to `[::]` has both families, where the system lets it. It hears IPv4 from
//! mapped addresses, which are IPv4 in a locator, and sends to such ones.

use crate::calls::Calls;
use crate::inbox::Inbox;
use crate::ready::Ready;
use crate::rooms::ROOM_BYTES;
use crate::trains::{Train, Trains};
use crate::{Arrival, BATCH_MAX, Counters, arrival, as_u64};
use bytes::Bytes;
use core::net::SocketAddr;
use folkmoot_base::{Locator, Pool};
use quinn_udp::{BATCH_SIZE, UdpSockRef};
use socket2::SockRef;
use std::io;

/// What we ask for as the socket's buffers, each way; the system may give less.
const SOCKET_BYTES: usize = 8 * 1024 * 1024;
/// What the system joined to so many bytes is handed on where it is; what is shorter is copied, so
/// that it does not keep a whole room.
const TRAIN_BYTES_MIN: usize = ROOM_BYTES / 2;

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
    socket: Ready,
    inbox: Inbox,
    local: SocketAddr,
    pool: Pool,
    trains: Trains,
    calls: Calls,
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
        Self::over(socket)
    }

    /// Over a socket that is bound and does not block.
    pub(crate) fn over(socket: std::net::UdpSocket) -> io::Result<Self> {
        let inbox = Inbox::new(&socket, BATCH_SIZE)?;
        let state = inbox.state();
        for (what, result) in [
            ("send", state.set_send_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES)),
            ("receive", state.set_recv_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES)),
        ] {
            if let Err(error) = result {
                tracing::debug!(%error, what, "the system gives no larger socket buffer");
            }
        }
        let local = socket.local_addr()?;
        let socket = Ready::new(socket)?;
        let (trains, calls) = (Trains::new(local), Calls::default());
        Ok(Self { socket, inbox, local, pool: Pool::default(), trains, calls })
    }

    pub(crate) fn local(&self) -> Locator {
        Locator::udp(self.local)
    }

    /// The address that it is bound to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.local
    }

    /// The socket, to set its options.
    pub(crate) fn sock_ref(&self) -> SockRef<'_> {
        SockRef::from(self.socket.socket())
    }

    pub(crate) async fn recv(
        &mut self,
        batch: &mut Vec<(Locator, Arrival)>,
        counters: &mut Counters,
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                ready = self.socket.readable() => ready?,
                ready = self.socket.has_room(), if self.trains.waits() => {
                    ready?;
                    self.flush(counters);
                    continue;
                }
            }
            self.drain_by(batch, Asks::IfReady, counters)?;
            if !batch.is_empty() {
                return Ok(());
            }
        }
    }

    /// Takes what the socket has, up to [`BATCH_MAX`], whatever the runtime has heard of it.
    pub(crate) fn drain(
        &mut self,
        batch: &mut Vec<(Locator, Arrival)>,
        counters: &mut Counters,
    ) -> io::Result<()> {
        self.drain_by(batch, Asks::Anyway, counters)
    }

    /// The same, if the runtime has heard that there is something.
    pub(crate) fn drain_ready(
        &mut self,
        batch: &mut Vec<(Locator, Arrival)>,
        counters: &mut Counters,
    ) -> io::Result<()> {
        self.drain_by(batch, Asks::IfReady, counters)
    }

    fn drain_by(
        &mut self,
        batch: &mut Vec<(Locator, Arrival)>,
        asks: Asks,
        counters: &mut Counters,
    ) -> io::Result<()> {
        while arrival::count(batch) < BATCH_MAX {
            match self.take(batch, asks, counters) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if provoked(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// One call to the system; whether there may be more. It fills the room that it is given while
    /// it can, so a room that is not full says that there is no more, and saves asking again.
    fn take(
        &mut self,
        batch: &mut Vec<(Locator, Arrival)>,
        asks: Asks,
        counters: &mut Counters,
    ) -> io::Result<bool> {
        let Self { socket, inbox, pool, .. } = self;
        let receives = &mut counters.receives;
        let mut count = 0;
        let mut recv = |socket: &std::net::UdpSocket| {
            *receives = receives.saturating_add(1);
            count = inbox.receive(socket, BATCH_SIZE)?;
            // This is how the runtime learns that it has to ask the system anew.
            if count < BATCH_SIZE { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        };
        let done = match asks {
            Asks::IfReady => socket.try_recv(recv),
            Asks::Anyway => recv(socket.socket()),
        };
        let more = done.is_ok();
        if count == 0 {
            done?;
        }
        for mut filled in inbox.filled(count) {
            let (from, length, size) = (Locator::udp(filled.from), filled.length, filled.size);
            if length >= TRAIN_BYTES_MIN {
                batch.push((from, Arrival::train(filled.keep(), length, size)));
                continue;
            }
            counters.copied = counters.copied.saturating_add(as_u64(length));
            for datagram in filled.bytes().chunks(size) {
                let mut bytes = pool.buffer(datagram.len());
                bytes.extend_from_slice(datagram);
                batch.push((from.clone(), Arrival::One(bytes)));
            }
        }
        Ok(more)
    }

    pub(crate) fn send(&mut self, batch: &mut [(Locator, Bytes)], counters: &mut Counters) {
        let Self { socket, inbox, calls, trains, .. } = self;
        let state = inbox.state();
        let (at, most) = ((socket.socket(), state), calls.most(state));
        let call = |trains: &[(SocketAddr, Train<'_>)], size| calls.call(at, trains, size);
        trains.send(batch, most, counters, call);
        self.socket.await_room(self.trains.waits());
    }

    /// The next locator to which the system would not send a datagram of so many bytes.
    pub(crate) fn too_long(&mut self) -> Option<(Locator, usize)> {
        self.trains.too_long()
    }

    /// The socket has room again.
    fn flush(&mut self, counters: &mut Counters) {
        let Self { socket, inbox, calls, trains, .. } = self;
        let state = inbox.state();
        let (at, most) = ((socket.socket(), state), calls.most(state));
        let call = |trains: &[(SocketAddr, Train<'_>)], size| calls.call(at, trains, size);
        trains.flush(most, counters, call);
        self.socket.await_room(self.trains.waits());
    }
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
