//! The two sockets of a program in a group, set as liblcm sets its own: one speaks, and one hears.
//! By which interface, [`Presence`] says.

use crate::Danger;
use crate::outgoing::{Outgoing, TOGETHER_MAX};
use crate::presence::{Presence, socket};
use crate::voice::SIZES;
use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use folkmoot_base::Mutant;
use folkmoot_pubsub::{Address, Packet, Packets, Sizes};
use folkmoot_transport::{send_several, send_train, takes_no_trains};
use socket2::{SockAddr, SockRef};
use std::io::{self, IoSlice};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// What is asked for as the buffer of what was received, if the address does not say. The system
/// may give less.
const RECEIVE_BYTES: usize = 4 << 20;

/// So much of one message leaves at once, which is half of the receive buffer that is asked for;
/// and how long it rests after that.
const BURST_BYTES: usize = RECEIVE_BYTES / 2;
const BURST_PAUSE: Duration = Duration::from_millis(5);

/// Bytes of the headers of IPv4 and UDP.
const BELOW_BYTES: usize = 28;

/// The socket that speaks to the group.
#[derive(Debug)]
pub(crate) struct Mouth {
    speaks: UdpSocket,
    presence: Arc<Presence>,
    group: SocketAddr,
    to: SockAddr,
    /// Longest datagram that may be in a train; 0 if the system takes no trains.
    longest: AtomicUsize,
    /// What leaves together; kept for its room.
    out: tokio::sync::Mutex<Outgoing>,
}

/// Opens a socket that hears the group. Call it inside a tokio runtime.
pub(crate) fn hear(address: &Address) -> io::Result<UdpSocket> {
    let hears = socket()?;
    hears.set_reuse_address(true)?;
    // macOS and the BSDs want this, too, before several programs may listen.
    #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
    hears.set_reuse_port(true)?;
    let wanted = address.receive_buffer.and_then(|bytes| usize::try_from(bytes).ok());
    if let Err(error) = hears.set_recv_buffer_size(wanted.unwrap_or(RECEIVE_BYTES)) {
        tracing::debug!(%error, "the system gives no larger receive buffer");
    }
    hears.bind(&SocketAddr::V4(address.group).into())?;
    // Linux hands a socket whatever comes to a group that somebody on its host is in.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    hears.join_multicast_v4(address.group.ip(), &Ipv4Addr::UNSPECIFIED)?;
    UdpSocket::from_std(hears.into())
}

impl Mouth {
    /// Call it inside a tokio runtime.
    pub(crate) fn open(address: &Address, danger: Mutant<Danger>) -> io::Result<Self> {
        let speaks = socket()?;
        speaks.set_multicast_ttl_v4(address.ttl.into())?;
        speaks.set_multicast_loop_v4(true)?;
        // So that the port is known before the first word.
        speaks.bind(&SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)).into())?;
        let group = SocketAddr::V4(address.group);
        let longest = carried(address).map_or(0, |bytes| bytes.saturating_sub(BELOW_BYTES));
        let (longest, out) = (AtomicUsize::new(longest), tokio::sync::Mutex::default());
        let presence = Arc::new(Presence::new(*address, danger));
        let speaks = UdpSocket::from_std(speaks.into())?;
        presence.renew(&speaks)?;
        Ok(Self { speaks, presence, group, to: group.into(), longest, out })
    }

    /// Takes its place anew: interfaces, addresses or routes of this host changed.
    pub(crate) fn renew(&self) {
        if let Err(error) = self.presence.renew(&self.speaks) {
            tracing::debug!(%error, "no way to the group");
        }
    }

    /// Takes its place as one that hears the group, too.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn hear(&self) -> io::Result<()> {
        self.presence.hear(&self.speaks)
    }

    pub(crate) fn presence(&self) -> &Arc<Presence> {
        &self.presence
    }

    /// Sends the datagrams of one message.
    pub(crate) async fn send(&self, packets: Packets<'_>) -> io::Result<()> {
        if packets.is_short() {
            for packet in packets {
                self.send_one(&packet).await?;
            }
            return Ok(());
        }
        let mut burst = self.burst().await;
        burst.add(packets).await?;
        burst.end().await
    }

    /// Several messages, in as few calls as they need.
    pub(crate) async fn burst(&self) -> Burst<'_> {
        let mut out = self.out.lock().await;
        // What somebody left who was cancelled.
        out.clear();
        Burst { mouth: self, out }
    }

    /// Sends one datagram, as soon as there is room.
    async fn send_one(&self, packet: &Packet<'_>) -> io::Result<()> {
        let parts = [IoSlice::new(packet.head()), IoSlice::new(packet.data)];
        let send = || send_train(&SockRef::from(&self.speaks), &self.to, &parts, None);
        match self.speaks.async_io(Interest::WRITABLE, send).await {
            Err(error) if self.has_moved(&error) => self.speaks.async_io(Interest::WRITABLE, send).await,
            sent => sent,
        }
    }

    /// Whether the interface is gone that it spoke by, and it speaks by another one now.
    fn has_moved(&self, error: &io::Error) -> bool {
        error.kind() != io::ErrorKind::WouldBlock && self.presence.follow(&self.speaks).unwrap_or(false)
    }

    async fn send_all(&self, out: &Outgoing) -> io::Result<()> {
        if let Some(size) = out.size(self.longest()) {
            let parts = [IoSlice::new(out.bytes())];
            let send = || send_train(&SockRef::from(&self.speaks), &self.to, &parts, Some(size));
            match self.speaks.async_io(Interest::WRITABLE, send).await {
                // From now on one by one.
                Err(error) if takes_no_trains(&error) => self.longest.store(0, Ordering::Relaxed),
                Err(error) if self.has_moved(&error) => {}
                sent => return sent,
            }
        }
        let parts: Vec<[IoSlice<'_>; 1]> = out.each(0).map(|one| [IoSlice::new(one)]).collect();
        let messages: Vec<&[IoSlice<'_>]> = parts.iter().map(|part| &part[..]).collect();
        let to = vec![self.group; messages.len()];
        let mut sent = 0;
        while let Some((rest, to)) =
            messages.get(sent..).zip(to.get(sent..)).filter(|(rest, _)| !rest.is_empty())
        {
            let send = || send_several(&SockRef::from(&self.speaks), to, rest, None);
            let count = match self.speaks.async_io(Interest::WRITABLE, send).await {
                Err(error) if self.has_moved(&error) => continue,
                count => count?,
            };
            sent = sent.saturating_add(count.max(1));
        }
        Ok(())
    }

    fn longest(&self) -> usize {
        self.longest.load(Ordering::Relaxed)
    }

    /// The port that others hear this program from.
    pub(crate) fn port(&self) -> io::Result<u16> {
        self.speaks.local_addr().map(|address| address.port())
    }
}

/// Messages that leave together. What was added and not ended is not sent.
pub(crate) struct Burst<'a> {
    mouth: &'a Mouth,
    out: tokio::sync::MutexGuard<'a, Outgoing>,
}

impl Burst<'_> {
    /// Adds the datagrams of a message. Those before it leave if it has no room beside them. A long
    /// message rests now and then, so that the buffers of those who hear it keep up.
    pub(crate) async fn add(&mut self, packets: Packets<'_>) -> io::Result<()> {
        let mut said = 0_usize;
        for packet in packets {
            if said >= BURST_BYTES {
                self.flush().await?;
                tokio::time::sleep(BURST_PAUSE).await;
                said = 0;
            }
            said = said.saturating_add(packet.data.len());
            let long = packet.bytes() > TOGETHER_MAX;
            if long || !self.out.takes(&packet, self.mouth.longest()) {
                self.flush().await?;
            }
            if long {
                self.mouth.send_one(&packet).await?;
            } else {
                self.out.put(&packet);
            }
        }
        Ok(())
    }

    /// Sends what still waits.
    pub(crate) async fn end(mut self) -> io::Result<()> {
        self.flush().await
    }

    async fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let sent = self.mouth.send_all(&self.out).await;
        self.out.clear();
        sent
    }
}

/// How messages are cut: so that IP need not cut datagrams again, if they leave this host.
pub(crate) fn sizes(address: &Address) -> Sizes {
    let leaves = address.ttl > 0 && SIZES == Sizes::LARGE;
    match carried(address).filter(|_| leaves) {
        Some(bytes) => Sizes::of_datagram(bytes.saturating_sub(BELOW_BYTES)),
        None => SIZES,
    }
}

/// How many bytes the interface on the way to the group carries, if the system says so.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn carried(address: &Address) -> Option<usize> {
    use nix::sys::socket::{getsockopt, sockopt::IpMtu};
    let asks = socket().ok()?;
    asks.connect(&SocketAddr::V4(address.group).into()).ok()?;
    usize::try_from(getsockopt(&asks, IpMtu).ok()?).ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn carried(_: &Address) -> Option<usize> {
    None
}

/// How large the buffer of what was received is.
pub(crate) fn receive_buffer(hears: &UdpSocket) -> io::Result<usize> {
    SockRef::from(hears).recv_buffer_size()
}
