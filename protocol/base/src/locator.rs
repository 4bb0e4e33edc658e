//! Locators: where a transport finds a node.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::str::FromStr;

/// Where a transport finds a node; opaque to every layer but the transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Locator {
    /// A port of the in-process or simulated network: `memory/7`.
    Memory(u32),
    /// A UDP socket: `udp/192.0.2.7:4803`.
    Udp(SocketAddr),
}

/// Whom a locator belongs to, as far as an address tells. One host has as many ports as it likes:
/// what is counted for each sender is counted for each host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A place in the in-process or simulated network: each is a host of its own.
    Memory(u32),
    /// An address of IPv4, also one that is mapped into IPv6.
    V4(Ipv4Addr),
    /// The first 64 bits of an address of IPv6: whoever has one address there may have them all.
    V6([u16; 4]),
}

impl Locator {
    /// The host at this locator: the locator without its port.
    pub fn host(&self) -> Host {
        match self {
            Self::Memory(port) => Host::Memory(*port),
            Self::Udp(address) => match address.ip().to_canonical() {
                IpAddr::V4(address) => Host::V4(address),
                IpAddr::V6(address) => {
                    let [a, b, c, d, ..] = address.segments();
                    Host::V6([a, b, c, d])
                }
            },
        }
    }
}

/// Why a text is not a locator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a locator; write udp/ADDRESS:PORT")]
pub struct LocatorError(pub String);

impl fmt::Display for Locator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(port) => write!(out, "memory/{port}"),
            Self::Udp(address) => write!(out, "udp/{address}"),
        }
    }
}

impl FromStr for Locator {
    type Err = LocatorError;

    fn from_str(text: &str) -> Result<Self, LocatorError> {
        let refuse = || LocatorError(text.to_owned());
        let (kind, place) = text.split_once('/').ok_or_else(refuse)?;
        match kind {
            "memory" => place.parse().map(Self::Memory).map_err(|_| refuse()),
            "udp" => place.parse().map(Self::Udp).map_err(|_| refuse()),
            _ => Err(refuse()),
        }
    }
}
