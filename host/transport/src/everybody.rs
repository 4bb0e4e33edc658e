//! IP multicast: a second socket, which receives what the members of one ring send to all, and how
//! the first one sends there.
//!
//! ```text
//!   first socket --> 239.192/14 or ff15::/16, port 4805 --interface towards the others--> second socket of each
//! ```
//! The address follows from the ring's group, so all its nodes find the same one. It is used within
//! one network only (TTL 1). Whether all hear what goes there is not known here; the links try it.

use crate::udp::Socket;
use crate::{Arrival, Counters, arrival, as_u64};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use folkmoot_base::{GroupId, Locator, digest};
use socket2::{Domain, Protocol, SockRef, Type};
use std::io;

/// The port of every multicast address.
pub const MULTICAST_PORT: u16 = 4805;
/// Routers pass nothing on.
const HOPS: u32 = 1;

/// The multicast addresses of one ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meeting {
    four: Ipv4Addr,
    six: Ipv6Addr,
}

impl Meeting {
    pub(crate) fn of(group: &GroupId) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, ..] = digest(&[b"folkmoot multicast v1", &group.0]);
        let pair = |high: u8, low: u8| u16::from_be_bytes([high, low]);
        // Organization-local (RFC 2365); site-local, not permanently assigned (RFC 4291).
        let four = Ipv4Addr::new(239, 192 | (a & 3), b, c);
        let [first, second, third] = [pair(a, b), pair(c, d), pair(e, f)];
        let six = Ipv6Addr::new(0xff15, first, second, third, pair(g, h), pair(i, j), pair(k, l), pair(m, n));
        Self { four, six }
    }
}

/// What comes to all.
#[derive(Debug, Default)]
pub(crate) struct Everybody {
    /// None: this transport has no multicast.
    meeting: Option<Meeting>,
    joined: Option<Joined>,
    /// What it did, but for what it sent.
    counters: Counters,
}

#[derive(Debug)]
struct Joined {
    socket: Box<Socket>,
    /// Where this node itself sends from.
    own: SocketAddr,
    /// Datagrams just received.
    fresh: Vec<(Locator, Arrival)>,
}

impl Everybody {
    pub(crate) fn of(meeting: Meeting) -> Self {
        Self { meeting: Some(meeting), ..Self::default() }
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// Joins the others, which are at these places: from now on what comes to all comes here.
    /// Returns where to send to all; `None` if there is no such place.
    pub(crate) fn join(&mut self, first: &Socket, places: &[Locator]) -> Option<Locator> {
        self.joined = None;
        let meeting = self.meeting.filter(|_| places.len() > 1)?;
        match enter(meeting, first, places) {
            Ok((at, joined)) => {
                self.joined = Some(joined);
                Some(Locator::udp(at))
            }
            Err(error) => {
                tracing::debug!(%error, "no multicast here");
                None
            }
        }
    }

    /// Waits until something has come to all. Dropped halfway, it loses nothing.
    pub(crate) async fn recv(&mut self) -> io::Result<()> {
        let Some(joined) = &mut self.joined else { return core::future::pending().await };
        joined.socket.recv(&mut joined.fresh, &mut self.counters).await
    }

    /// What has come to all, without what this node sent itself.
    pub(crate) fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>) {
        let Some(joined) = &mut self.joined else { return };
        if joined.fresh.is_empty()
            && let Err(error) = joined.socket.drain_ready(&mut joined.fresh, &mut self.counters)
        {
            tracing::debug!(%error, "multicast");
        }
        let own = Locator::udp(joined.own);
        let before = batch.len();
        batch.extend(joined.fresh.drain(..).filter(|(from, _)| *from != own));
        let came = as_u64(arrival::count(batch.get(before..).unwrap_or_default()));
        self.counters.received = self.counters.received.saturating_add(came);
    }
}

/// Opens the second socket, and sets the first one to send there by the interface that leads to all
/// the others.
fn enter(meeting: Meeting, first: &Socket, places: &[Locator]) -> io::Result<(SocketAddr, Joined)> {
    let local = first.address();
    let mut own = None;
    let mut same_host = false;
    for place in places {
        let place = place.as_udp().ok_or_else(|| unusable("not all are reached by UDP"))?;
        let towards = own_address(local, place)?;
        if own.is_some_and(|own| own != towards) {
            return Err(unusable("the others are reached by several interfaces"));
        }
        own = Some(towards);
        same_host |= place.ip() == towards;
    }
    let own = own.ok_or_else(|| unusable("there is nobody"))?;
    let sender = first.sock_ref();
    let (at, socket) = match own {
        IpAddr::V4(own) => (meeting.four.into(), enter_four(&sender, meeting.four, own, same_host)?),
        IpAddr::V6(own) => (meeting.six.into(), enter_six(&sender, meeting.six, own, same_host)?),
    };
    socket.set_nonblocking(true)?;
    let socket = Box::new(Socket::over(socket.into())?);
    let own = SocketAddr::new(own, local.port());
    Ok((SocketAddr::new(at, MULTICAST_PORT), Joined { socket, own, fresh: Vec::new() }))
}

fn enter_four(
    sender: &SockRef<'_>,
    group: Ipv4Addr,
    own: Ipv4Addr,
    same_host: bool,
) -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    listen(&socket, group.into())?;
    socket.join_multicast_v4(&group, &own)?;
    sender.set_multicast_if_v4(&own)?;
    sender.set_multicast_ttl_v4(HOPS)?;
    sender.set_multicast_loop_v4(same_host)?;
    Ok(socket)
}

fn enter_six(
    sender: &SockRef<'_>,
    group: Ipv6Addr,
    own: Ipv6Addr,
    same_host: bool,
) -> io::Result<socket2::Socket> {
    let interface = interface_of(own);
    let socket = socket2::Socket::new(Domain::IPV6, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_only_v6(true)?;
    listen(&socket, group.into())?;
    socket.join_multicast_v6(&group, interface)?;
    sender.set_multicast_if_v6(interface)?;
    sender.set_multicast_hops_v6(HOPS)?;
    sender.set_multicast_loop_v6(same_host)?;
    Ok(socket)
}

/// Several nodes of one host may listen there. On Linux nothing comes to this socket but what was
/// sent to that address; elsewhere, to that port.
fn listen(socket: &socket2::Socket, group: IpAddr) -> io::Result<()> {
    socket.set_reuse_address(true)?;
    let all = match group {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let address = if cfg!(target_os = "linux") { group } else { all };
    socket.bind(&SocketAddr::new(address, MULTICAST_PORT).into())
}

/// The address of ours from which a datagram to `place` leaves. Nothing is sent.
fn own_address(local: SocketAddr, place: SocketAddr) -> io::Result<IpAddr> {
    let own = local.ip().to_canonical();
    if !own.is_unspecified() {
        let alike = own.is_ipv4() == place.is_ipv4();
        return if alike { Ok(own) } else { Err(unusable("the others are of another family")) };
    }
    let any = if place.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let probe = std::net::UdpSocket::bind(SocketAddr::new(any, 0))?;
    probe.connect(place)?;
    Ok(probe.local_addr()?.ip())
}

/// The number of the interface that has this address; 0 lets the system choose one.
fn interface_of(own: Ipv6Addr) -> u32 {
    let table = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let of = |line: &str| {
        let mut fields = line.split_whitespace();
        let is_own = u128::from_str_radix(fields.next()?, 16) == Ok(own.to_bits());
        u32::from_str_radix(fields.next()?, 16).ok().filter(|_| is_own)
    };
    table.lines().find_map(of).unwrap_or_default()
}

fn unusable(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

#[cfg(test)]
mod tests {
    use super::Meeting;
    use folkmoot_base::GroupId;

    #[test]
    fn each_ring_has_addresses_of_its_own_in_the_ranges_for_this() {
        let all: std::collections::BTreeSet<String> = (0..200)
            .map(|number| {
                let Meeting { four, six } = Meeting::of(&GroupId([number; 32]));
                assert!(four.octets()[0] == 239 && (192..196).contains(&four.octets()[1]), "{four}");
                assert!(six.segments()[0] == 0xff15, "{six}");
                format!("{four} {six}")
            })
            .collect();
        assert!(all.len() > 198);
        assert_eq!(Meeting::of(&GroupId([1; 32])), Meeting::of(&GroupId([1; 32])));
    }
}
