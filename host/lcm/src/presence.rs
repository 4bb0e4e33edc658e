//! Where on this host a program meets its group: by which interface it speaks, and by which it
//! hears, whatever becomes of interfaces, addresses and routes.
//!
//! ```text
//!   route to the group, or --interface --> way (eth0) --.
//!                                          loopback ----+--> anchors: the group is joined there
//!   none, and TTL 0: the way is loopback                '--> the socket that speaks leaves by the way
//! ```
//! Linux stops a datagram of TTL 0 only where the group is joined on the interface that it leaves
//! by. So the socket that speaks is bound to one interface, and that one is joined before and left
//! after. If it goes away the system refuses the datagram. Anchors are sockets of their own that
//! hear nothing: a new one is there before the one before it goes.

use crate::Danger;
use core::net::Ipv4Addr;
use folkmoot_base::Mutant;
use folkmoot_pubsub::Address;
use socket2::{Domain, Protocol, Type};
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;

/// So often the addresses of this host are asked for at most because somebody else spoke.
const ASKED_AGAIN: Duration = Duration::from_millis(100);

/// A socket of UDP that waits for nothing.
pub(crate) fn socket() -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A program's place in its group.
#[derive(Debug)]
pub(crate) struct Presence {
    address: Address,
    danger: Mutant<Danger>,
    /// Whether this program hears the group.
    hears: AtomicBool,
    held: Mutex<Held>,
    own: Mutex<Own>,
}

/// What holds the group.
#[derive(Debug, Default)]
struct Held {
    /// The index of the interface that the socket speaks by; none if there is no way.
    way: Option<u32>,
    /// They hear nothing, and hold the group until they are dropped.
    anchors: Vec<socket2::Socket>,
}

/// The addresses of this host.
#[derive(Debug)]
struct Own {
    addresses: BTreeSet<Ipv4Addr>,
    asked: Instant,
}

impl Own {
    fn ask() -> Self {
        let four = |ip| match ip {
            IpAddr::V4(ip) => Some(ip),
            IpAddr::V6(_) => None,
        };
        let addresses = folkmoot_transport::addresses().into_iter().filter_map(four).collect();
        Self { addresses, asked: Instant::now() }
    }
}

impl Presence {
    /// Nowhere yet.
    pub(crate) fn new(address: Address, danger: Mutant<Danger>) -> Self {
        let (hears, held, own) = (AtomicBool::new(false), Mutex::default(), Mutex::new(Own::ask()));
        Self { address, danger, hears, held, own }
    }

    /// Whether this is an address of this host, as far as the system has told us.
    pub(crate) fn is_own(&self, ip: Ipv4Addr) -> bool {
        // A host that has no other address speaks from none. The system takes that from nobody else,
        // but in groups that no router carries.
        let local = self.address.group.ip().octets().starts_with(&[224, 0, 0]);
        let local = local && !self.danger.is(Danger::NamelessSource);
        if ip.is_loopback() || (ip.is_unspecified() && !local) {
            return true;
        }
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if !own.addresses.contains(&ip) && own.asked.elapsed() >= ASKED_AGAIN {
            *own = Own::ask();
        }
        own.addresses.contains(&ip)
    }

    /// The same at this very moment: an address that was ours a moment ago may be another's.
    pub(crate) fn is_own_now(&self, ip: Ipv4Addr) -> bool {
        let unproved = ip.is_loopback() || ip.is_unspecified() || self.danger.is(Danger::FormerSource);
        // The system gives a socket no address that is another's, unless somebody allowed that.
        let is_own = self.is_own(ip) && (unproved || std::net::UdpSocket::bind((ip, 0)).is_ok());
        is_own || self.danger.is(Danger::AnySource)
    }

    /// Whether there is a way to the group now. Whoever has no address is heard on no other host.
    pub(crate) fn has_way(&self) -> bool {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let named = self.address.ttl == 0 || own.addresses.iter().any(|ip| !ip.is_loopback());
        drop(own);
        named && self.held().way.is_some()
    }

    /// From now on it hears the group, too.
    ///
    /// # Errors
    /// As [`Self::renew`].
    pub(crate) fn hear(&self, speaks: &UdpSocket) -> io::Result<()> {
        self.hears.store(true, Ordering::Relaxed);
        let there = self.renew(speaks);
        // Whoever tries again begins anew.
        self.hears.store(there.is_ok(), Ordering::Relaxed);
        there
    }

    /// Takes its place anew, for a socket that speaks: interfaces, addresses or routes changed.
    ///
    /// # Errors
    /// The group cannot be joined on the interface that it would speak by. It does not speak then.
    pub(crate) fn renew(&self, speaks: &UdpSocket) -> io::Result<()> {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Own::ask();
        self.settle(speaks, &mut self.held())
    }

    /// The same if the way is another now; whether it was.
    pub(crate) fn follow(&self, speaks: &UdpSocket) -> io::Result<bool> {
        let mut held = self.held();
        let moved = system::way(&self.address)? != held.way;
        if moved {
            self.settle(speaks, &mut held)?;
        }
        Ok(moved)
    }

    fn settle(&self, speaks: &UdpSocket, held: &mut Held) -> io::Result<()> {
        let way = system::way(&self.address)?;
        let mut anchors = self.anchors(way)?;
        if self.danger.is(Danger::JoinsOnce) && !held.anchors.is_empty() {
            anchors = core::mem::take(&mut held.anchors);
        }
        system::speak_by(speaks, way.filter(|_| !self.danger.is(Danger::RouteChooses)))?;
        tracing::debug!(?way, "speaks to the group by this interface");
        *held = Held { way, anchors };
        Ok(())
    }

    /// Joins the group on loopback, and on the way to it if this program hears it, or if what it
    /// says has to stay on this host. Where nobody joins, the system makes no copy of what leaves:
    /// that is a quarter of what a short message costs.
    fn anchors(&self, way: Option<u32>) -> io::Result<Vec<socket2::Socket>> {
        let mut anchors = Vec::new();
        // Plain programs of this host meet here whatever the network does.
        anchors.extend(system::anchor(&self.address, system::loopback()).ok());
        match way {
            Some(_) if self.danger.is(Danger::JoinsNowhere) => {}
            Some(_) if self.address.ttl > 0 && !self.hears.load(Ordering::Relaxed) => {}
            Some(way) => anchors.push(system::anchor(&self.address, way)?),
            None if self.address.ttl == 0 => return Err(io::ErrorKind::NetworkUnreachable.into()),
            None => {}
        }
        Ok(anchors)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // It is replaced as a whole.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use core::net::Ipv4Addr;
    use folkmoot_pubsub::Address;
    use folkmoot_transport::way_to;
    use nix::net::if_::if_nametoindex;
    use socket2::InterfaceIndexOrAddress;
    use std::io;
    use tokio::net::UdpSocket;

    /// The index of the loopback interface in every network namespace.
    pub(super) fn loopback() -> u32 {
        if_nametoindex("lo").unwrap_or(1)
    }

    /// By which interface to speak; none if there is no way, and it would leave the host.
    pub(super) fn way(address: &Address) -> io::Result<Option<u32>> {
        let home = || (address.ttl == 0).then(loopback);
        match address.interface {
            Some(name) => Ok(if_nametoindex(name.as_str()).ok().or_else(home)),
            None => Ok(way_to(*address.group.ip())?.or_else(home)),
        }
    }

    pub(super) fn anchor(address: &Address, interface: u32) -> io::Result<socket2::Socket> {
        let anchor = super::socket()?;
        anchor.join_multicast_v4_n(address.group.ip(), &InterfaceIndexOrAddress::Index(interface))?;
        Ok(anchor)
    }

    pub(super) fn speak_by(speaks: &UdpSocket, way: Option<u32>) -> io::Result<()> {
        let (any, set) = (Ipv4Addr::UNSPECIFIED, rustix::net::sockopt::set_ip_multicast_if_with_ifindex);
        set(speaks, &any, &any, way.unwrap_or_default()).map_err(io::Error::from)
    }
}

/// As liblcm does it: the system chooses the interface.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use core::net::Ipv4Addr;
    use folkmoot_pubsub::Address;
    use std::io;
    use tokio::net::UdpSocket;

    pub(super) fn loopback() -> u32 {
        1
    }

    pub(super) fn way(_: &Address) -> io::Result<Option<u32>> {
        Ok(Some(0))
    }

    pub(super) fn anchor(address: &Address, _: u32) -> io::Result<socket2::Socket> {
        let anchor = super::socket()?;
        anchor.join_multicast_v4(address.group.ip(), &Ipv4Addr::UNSPECIFIED)?;
        Ok(anchor)
    }

    pub(super) fn speak_by(speaks: &UdpSocket, _: Option<u32>) -> io::Result<()> {
        drop(speaks);
        Ok(())
    }
}
