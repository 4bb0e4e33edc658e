//! What a program says comes back to it, because others on its host shall hear it, too.

use core::net::{Ipv4Addr, SocketAddrV4};
use std::net::UdpSocket;

/// Tells a program's own datagrams from those of others, by port and address. Which addresses this
/// host has can change at any time.
#[derive(Debug, Default)]
pub(crate) struct Itself {
    /// The last address that was asked for, and whether it was this host's.
    last: Option<(Ipv4Addr, bool)>,
}

impl Itself {
    /// Whether the socket with this port said it. A program on another host may have the same port.
    pub(crate) fn said(&mut self, port: u16, from: SocketAddrV4) -> bool {
        from.port() == port && self.is_here(*from.ip())
    }

    fn is_here(&mut self, address: Ipv4Addr) -> bool {
        match self.last {
            Some((last, here)) if last == address => here,
            _ => {
                // The system gives a socket no address that is another's.
                let here = UdpSocket::bind((address, 0)).is_ok();
                self.last = Some((address, here));
                here
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itself_is_its_port_at_an_address_of_this_host() {
        let at = |text: &str| text.parse().unwrap();
        let mut itself = Itself::default();
        assert!(itself.said(7, at("127.0.0.1:7")));
        assert!(!itself.said(7, at("127.0.0.1:8")));
        // TEST-NET-1 (RFC 5737) is nobody's.
        assert!(!itself.said(7, at("192.0.2.1:7")));
        assert!(itself.said(7, at("127.0.0.1:7")));
    }
}
