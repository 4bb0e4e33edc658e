//! What this machine's interfaces, addresses and routes are now, and when that changes.
//!
//! ```text
//!   kernel --"an interface, address or route is another"--> Changes::next, once for a burst of them
//! ```
//! Nothing of a notice is read: whoever hears one asks the system anew. So a notice that was lost
//! for want of room costs nothing, as the system says that it was.

pub use system::{Changes, way_to};

/// So long more notices are waited for after the first of a burst.
const BURST: core::time::Duration = core::time::Duration::from_millis(20);

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use super::BURST;
    use core::net::Ipv4Addr;
    use nix::errno::Errno;
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, sendto, socket,
    };
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::net::UnixDatagram as Datagrams;
    use tokio::net::UnixDatagram;

    /// Groups of rtnetlink(7): links, IPv4 addresses and routes, IPv6 addresses and routes.
    const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;
    const REQUEST: u16 = 1;
    const GET_ROUTE: u16 = 26;
    const NEW_ROUTE: u16 = 24;
    const DESTINATION: u16 = 1;
    const OUT_INTERFACE: u16 = 4;
    /// Bytes of the header of a message, and of what a route begins with.
    const HEADER: usize = 16;
    const ROUTE: usize = 12;

    /// Hears when an interface, an address or a route of this machine is another.
    ///
    /// The runtime has no type for sockets of this kind. One that waits for datagrams of any kind
    /// will do, and its address is never asked for.
    #[derive(Debug)]
    pub struct Changes(UnixDatagram);

    impl Changes {
        /// From now on. Call it inside a tokio runtime.
        ///
        /// # Errors
        /// What the system says.
        pub fn watch() -> io::Result<Self> {
            UnixDatagram::from_std(Datagrams::from(netlink(GROUPS)?)).map(Self)
        }

        /// The next change; one for a burst of them. What came since the last call counts.
        ///
        /// # Errors
        /// The system tells no more.
        pub async fn next(&mut self) -> io::Result<()> {
            while !self.drain()? {
                self.0.readable().await?;
            }
            tokio::time::sleep(BURST).await;
            self.drain().map(drop)
        }

        /// Reads whatever waits; whether anything did.
        fn drain(&self) -> io::Result<bool> {
            let (mut any, mut room) = (false, [0; 8_192]);
            loop {
                match self.0.try_recv(&mut room) {
                    Ok(_) => any = true,
                    // Some had no room: that is one more.
                    Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => any = true,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(any),
                    Err(error) => return Err(error),
                }
            }
        }
    }

    fn netlink(groups: u32) -> io::Result<OwnedFd> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Netlink, SockType::Datagram, flags, SockProtocol::NetlinkRoute)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
        Ok(socket)
    }

    /// The index of the interface by which datagrams to this address leave, whatever rules and
    /// tables say so; none if there is no way.
    ///
    /// # Errors
    /// The system does not answer.
    pub fn way_to(to: Ipv4Addr) -> io::Result<Option<u32>> {
        let asks = netlink(0)?;
        sendto(asks.as_raw_fd(), &request(to), &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        let mut room = [0; 2_048];
        // The answer is there when the request was sent.
        let length = recv(asks.as_raw_fd(), &mut room, MsgFlags::empty())?;
        Ok(room.get(..length).and_then(out_interface))
    }

    fn request(to: Ipv4Addr) -> Vec<u8> {
        let attribute: u16 = 8;
        let length = HEADER + ROUTE + usize::from(attribute);
        let mut request = Vec::with_capacity(length);
        request.extend(u32::try_from(length).unwrap_or_default().to_ne_bytes());
        request.extend(GET_ROUTE.to_ne_bytes());
        request.extend(REQUEST.to_ne_bytes());
        // Its number, and no port.
        request.extend([0; 8]);
        // IPv4, and all 32 bits of the address.
        request.extend([2, 32]);
        request.extend([0; ROUTE - 2]);
        request.extend(attribute.to_ne_bytes());
        request.extend(DESTINATION.to_ne_bytes());
        request.extend(to.octets());
        request
    }

    /// The interface in an answer; none if it is a refusal.
    pub(super) fn out_interface(answer: &[u8]) -> Option<u32> {
        let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
        if kind != NEW_ROUTE {
            return None;
        }
        let mut rest = answer.get(HEADER + ROUTE..)?;
        loop {
            let length = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
            let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?);
            if kind == OUT_INTERFACE {
                return rest.get(4..8)?.try_into().ok().map(u32::from_ne_bytes);
            }
            // A length that is none would never end.
            rest = rest.get(length.max(4).next_multiple_of(4)..)?;
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use core::net::Ipv4Addr;
    use std::io;

    /// So often somebody looks where the system tells nothing.
    const OFTEN: core::time::Duration = core::time::Duration::from_secs(5);

    /// Says now and then that something may have changed.
    #[derive(Debug)]
    pub struct Changes;

    impl Changes {
        /// From now on.
        ///
        /// # Errors
        /// None.
        pub fn watch() -> io::Result<Self> {
            Ok(Self)
        }

        /// The next time to look.
        ///
        /// # Errors
        /// None.
        pub async fn next(&mut self) -> io::Result<()> {
            tokio::time::sleep(OFTEN + super::BURST).await;
            Ok(())
        }
    }

    /// Not known here.
    ///
    /// # Errors
    /// None.
    pub fn way_to(_: Ipv4Addr) -> io::Result<Option<u32>> {
        Ok(None)
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::system::out_interface;
    use super::way_to;
    use core::net::Ipv4Addr;

    #[test]
    fn the_way_to_this_host_is_its_loopback() {
        let name = std::fs::read_to_string("/sys/class/net/lo/ifindex").unwrap();
        assert_eq!(way_to(Ipv4Addr::LOCALHOST).unwrap(), name.trim().parse().ok());
    }

    #[test]
    fn an_answer_that_is_cut_or_lies_names_no_interface() {
        let route = |attributes: &[u8]| {
            let mut answer = vec![0; 28];
            answer[4..6].copy_from_slice(&24_u16.to_ne_bytes());
            answer.extend(attributes);
            answer
        };
        let attribute = |length: u16, kind: u16, value: [u8; 4]| {
            let mut one = length.to_ne_bytes().to_vec();
            one.extend(kind.to_ne_bytes());
            one.extend(value);
            one
        };
        let out = attribute(8, 4, 7_u32.to_ne_bytes());
        assert_eq!(out_interface(&route(&out)), Some(7));
        let second = [attribute(8, 1, [239, 1, 1, 1]), out.clone()].concat();
        assert_eq!(out_interface(&route(&second)), Some(7));
        assert_eq!(out_interface(&route(&out[..6])), None);
        assert_eq!(out_interface(&route(&attribute(0, 1, [0; 4]))), None);
        let mut refused = route(&out);
        refused[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        assert_eq!(out_interface(&refused), None);
        for length in 0..second.len() + 28 {
            let _ = out_interface(&route(&second)[..length]);
        }
    }
}
