//! The two sockets of a program in a group, set as liblcm sets its own: one speaks, and one hears.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use folkmoot_pubsub::{Address, Packet};
use socket2::{Domain, Protocol, SockAddr, SockRef, Type};
use std::io::{self, IoSlice};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// What is asked for as the buffer of what was received, if the address does not say. The system
/// may give less.
const RECEIVE_BYTES: usize = 4 << 20;

/// The socket that speaks to the group.
#[derive(Debug)]
pub(crate) struct Mouth {
    speaks: UdpSocket,
    group: SockAddr,
}

/// Opens a socket that hears the group. Call it inside a tokio runtime.
pub(crate) fn hear(address: &Address) -> io::Result<UdpSocket> {
    let hears = new()?;
    hears.set_reuse_address(true)?;
    // macOS and the BSDs want this, too, before several programs may listen.
    #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
    hears.set_reuse_port(true)?;
    let wanted = address.receive_buffer.and_then(|bytes| usize::try_from(bytes).ok());
    if let Err(error) = hears.set_recv_buffer_size(wanted.unwrap_or(RECEIVE_BYTES)) {
        tracing::debug!(%error, "the system gives no larger receive buffer");
    }
    hears.bind(&SocketAddr::V4(address.group).into())?;
    hears.join_multicast_v4(address.group.ip(), &Ipv4Addr::UNSPECIFIED)?;
    UdpSocket::from_std(hears.into())
}

impl Mouth {
    /// Call it inside a tokio runtime.
    pub(crate) fn open(address: &Address) -> io::Result<Self> {
        let speaks = new()?;
        speaks.set_multicast_ttl_v4(address.ttl.into())?;
        speaks.set_multicast_loop_v4(true)?;
        speaks.join_multicast_v4(address.group.ip(), &Ipv4Addr::UNSPECIFIED)?;
        // So that the port is known before the first word.
        speaks.bind(&SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)).into())?;
        Ok(Self { speaks: UdpSocket::from_std(speaks.into())?, group: SocketAddr::V4(address.group).into() })
    }

    /// Sends one datagram, as soon as there is room.
    pub(crate) async fn send(&self, packet: &Packet<'_>) -> io::Result<()> {
        let parts = [IoSlice::new(packet.head()), IoSlice::new(packet.data)];
        let send = || SockRef::from(&self.speaks).send_to_vectored(&parts, &self.group);
        self.speaks.async_io(Interest::WRITABLE, send).await.map(drop)
    }

    /// The port that others hear this program from.
    pub(crate) fn port(&self) -> io::Result<u16> {
        self.speaks.local_addr().map(|address| address.port())
    }
}

/// How large the buffer of what was received is.
pub(crate) fn receive_buffer(hears: &UdpSocket) -> io::Result<usize> {
    SockRef::from(hears).recv_buffer_size()
}

fn new() -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}
