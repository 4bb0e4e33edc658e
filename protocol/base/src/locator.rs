//! Locators: where a transport finds a node.

use crate::codec::{DeserializeBytes, Serialize, Size};
use crate::digest;
use crate::limits::LOCATOR_BYTES_MAX;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use core::str::FromStr;
use std::io::Write;
use std::sync::Arc;

const MEMORY: &str = "memory";
const UDP: &str = "udp";

/// Where a transport finds a node, as in `udp/192.0.2.7:4803`; opaque to every layer but the
/// transports.
///
/// Its text is `scheme/rest`, at most [`LOCATOR_BYTES_MAX`] bytes. A scheme begins with a letter a
/// to z and goes on with such letters, digits, `+`, `.` and `-`; it names a transport. The rest has
/// at least one byte, and each is printable ASCII without spaces (21 to 7e). The first slash ends
/// the scheme; the rest may have more.
///
/// Two schemes are known here, and what is no address of theirs is no locator. A locator of another
/// scheme is its text: it is kept and handed on by nodes that have no such transport.
///
/// Each value has one text, and [`Self::from_str`] reads it back. It reads other spellings of the
/// known schemes too: `udp/[::ffff:192.0.2.7]:4803` is `udp/192.0.2.7:4803`.
///
/// Copies share what is on the heap, and those of the known schemes have nothing there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator(Place);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Memory(u32),
    Udp(SocketAddr),
    /// The whole text.
    Other(Arc<str>),
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
    /// A locator of a scheme that is not known here, by its digest: each is a host of its own.
    Other([u8; 32]),
}

impl Locator {
    /// A port of the in-process or simulated network: `memory/7`.
    pub const fn memory(port: u32) -> Self {
        Self(Place::Memory(port))
    }

    /// A UDP socket: `udp/192.0.2.7:4803`. An IPv4 address that is mapped into IPv6 is taken as
    /// what it is.
    pub fn udp(address: SocketAddr) -> Self {
        Self(Place::Udp(match (address.ip().to_canonical(), address) {
            // Its text has no flow, so the value has none.
            (IpAddr::V6(ip), SocketAddr::V6(v6)) => SocketAddrV6::new(ip, v6.port(), 0, v6.scope_id()).into(),
            (ip, _) => SocketAddr::new(ip, address.port()),
        }))
    }

    /// A locator of another scheme, whose text is one.
    pub(crate) fn other(text: String) -> Self {
        Self(Place::Other(text.into()))
    }

    /// The name of its transport.
    pub fn scheme(&self) -> &str {
        match &self.0 {
            Place::Memory(_) => MEMORY,
            Place::Udp(_) => UDP,
            Place::Other(text) => text.split_once('/').map_or("", |(scheme, _)| scheme),
        }
    }

    /// The port of the in-process network, if it is one.
    pub fn as_memory(&self) -> Option<u32> {
        match self.0 {
            Place::Memory(port) => Some(port),
            _ => None,
        }
    }

    /// The address of the UDP socket, if it is one; never IPv4 mapped into IPv6.
    pub fn as_udp(&self) -> Option<SocketAddr> {
        match self.0 {
            Place::Udp(address) => Some(address),
            _ => None,
        }
    }

    /// Whether anybody can be found there: an unspecified address (`0.0.0.0`, `[::]`) and port 0
    /// are where a socket is bound, and lead nowhere. Nobody dials such a locator or tells it.
    pub fn leads_somewhere(&self) -> bool {
        self.as_udp().is_none_or(|address| !address.ip().is_unspecified() && address.port() != 0)
    }

    /// Whether one host at most can be found there: not so at addresses of multicast, and at
    /// `255.255.255.255`. Nobody looks for a node at such a locator.
    pub fn is_of_one_host(&self) -> bool {
        self.as_udp().is_none_or(|address| match address.ip() {
            IpAddr::V4(ip) => !ip.is_multicast() && !ip.is_broadcast(),
            IpAddr::V6(ip) => !ip.is_multicast(),
        })
    }

    /// The locator of the same place in this zone of this machine (RFC 4007), if its address is
    /// good on one link only (`fe80::/10`).
    #[must_use]
    pub fn in_zone(&self, zone: u32) -> Self {
        match self.0 {
            Place::Udp(SocketAddr::V6(mut at)) if at.ip().is_unicast_link_local() => {
                at.set_scope_id(zone);
                Self(Place::Udp(at.into()))
            }
            _ => self.clone(),
        }
    }

    /// The zone of an address that is good on one link only; 0 where none is named.
    pub fn zone(&self) -> Option<u32> {
        match self.as_udp()? {
            SocketAddr::V6(at) if at.ip().is_unicast_link_local() => Some(at.scope_id()),
            _ => None,
        }
    }

    /// Bytes that no other locator has, for a MAC; they are made without its text.
    pub fn distinct(&self) -> ([u8; 23], &[u8]) {
        let fixed = |kind: u8, a: [u8; 16], b: [u8; 2], c: [u8; 4]| {
            let mut bytes = [kind; 23];
            let values = a.into_iter().chain(b).chain(c);
            bytes.iter_mut().skip(1).zip(values).for_each(|(byte, value)| *byte = value);
            bytes
        };
        match &self.0 {
            Place::Memory(port) => (fixed(0, [0; 16], [0; 2], port.to_be_bytes()), &[]),
            Place::Udp(SocketAddr::V4(at)) => {
                (fixed(4, at.ip().to_ipv6_mapped().octets(), at.port().to_be_bytes(), [0; 4]), &[])
            }
            Place::Udp(SocketAddr::V6(at)) => {
                (fixed(6, at.ip().octets(), at.port().to_be_bytes(), at.scope_id().to_be_bytes()), &[])
            }
            Place::Other(text) => ([1; 23], text.as_bytes()),
        }
    }

    /// The host at this locator: the locator without its port.
    pub fn host(&self) -> Host {
        match &self.0 {
            Place::Memory(port) => Host::Memory(*port),
            Place::Udp(address) => match address.ip() {
                IpAddr::V4(address) => Host::V4(address),
                IpAddr::V6(address) => {
                    let [a, b, c, d, ..] = address.segments();
                    Host::V6([a, b, c, d])
                }
            },
            Place::Other(text) => Host::Other(digest(&[text.as_bytes()])),
        }
    }
}

/// Why a text is not a locator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a locator; write udp/ADDRESS:PORT")]
pub struct LocatorError(pub String);

impl fmt::Display for Locator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Memory(port) => write!(out, "{MEMORY}/{port}"),
            Place::Udp(address) => write!(out, "{UDP}/{address}"),
            Place::Other(text) => out.write_str(text),
        }
    }
}

impl fmt::Debug for Locator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// On the wire: the length of the text in one byte, then the text.
impl Size for Locator {
    fn tls_serialized_len(&self) -> usize {
        self.to_string().len().saturating_add(1)
    }
}

impl Serialize for Locator {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        let text = self.to_string();
        let length = u8::try_from(text.len()).map_err(|_| tls_codec::Error::InvalidVectorLength)?;
        length.tls_serialize(writer)?;
        writer
            .write_all(text.as_bytes())
            .map_err(|_| tls_codec::Error::InvalidWriteLength("locator".into()))?;
        Ok(text.len().saturating_add(1))
    }
}

impl DeserializeBytes for Locator {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        let (length, rest) = u8::tls_deserialize_bytes(bytes)?;
        let (text, rest) = rest.split_at_checked(usize::from(length)).ok_or(tls_codec::Error::EndOfStream)?;
        let text = std::str::from_utf8(text).map_err(|_| tls_codec::Error::DecodingError("utf-8".into()))?;
        let locator: Self =
            text.parse().map_err(|error: LocatorError| tls_codec::Error::DecodingError(error.to_string()))?;
        Ok((locator, rest))
    }
}

impl FromStr for Locator {
    type Err = LocatorError;

    fn from_str(text: &str) -> Result<Self, LocatorError> {
        read(text).ok_or_else(|| LocatorError(text.chars().take(LOCATOR_BYTES_MAX).collect()))
    }
}

fn read(text: &str) -> Option<Locator> {
    let (scheme, rest) = text.split_once('/').filter(|_| text.len() <= LOCATOR_BYTES_MAX)?;
    if !is_scheme(scheme) || rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    match scheme {
        MEMORY => rest.parse().ok().map(Locator::memory),
        UDP => rest.parse().ok().map(Locator::udp),
        _ => Some(Locator(Place::Other(text.into()))),
    }
}

fn is_scheme(text: &str) -> bool {
    let rest = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-');
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(rest)
}

#[cfg(test)]
mod tests {
    use super::{Host, LOCATOR_BYTES_MAX, Locator};

    fn at(text: &str) -> Locator {
        text.parse().unwrap()
    }

    #[test]
    fn a_locator_is_a_scheme_and_a_rest_and_may_be_of_any_scheme() {
        let long = |length: usize| format!("x/{}", "y".repeat(length - 2));
        for text in [
            "udp/192.0.2.7:4803",
            "udp/[2001:db8::7]:4803",
            "udp/[fe80::1%3]:4803",
            "udp/0.0.0.0:0",
            "memory/7",
            "tor+tcp.v3-x/abc.onion:80/a,b?c#d~",
            "q//",
            &long(LOCATOR_BYTES_MAX),
        ] {
            let scheme = text.split_once('/').unwrap().0;
            assert_eq!((at(text).to_string().as_str(), at(text).scheme()), (text, scheme));
        }
        for text in [
            "",
            "/",
            "udp",
            "udp/",
            "/x",
            "UDP/192.0.2.7:1",
            "2p/x",
            "-p/x",
            "+p/x",
            "a_b/x",
            "ä/x",
            "x/ä",
            "x/a b",
            "x/a\tb",
            "x/\u{7f}",
            "x/\n",
            " x/a",
            "udp/host:1",
            "udp/192.0.2.7",
            "udp/192.0.2.7:65536",
            "memory/x",
            "memory/4294967296",
            &long(LOCATOR_BYTES_MAX + 1),
        ] {
            assert!(text.parse::<Locator>().is_err(), "{text}");
        }
    }

    /// Whatever the spelling and the way in: one value, one text.
    #[test]
    fn one_socket_is_one_locator() {
        for (spelling, text) in [
            ("udp/[::ffff:192.0.2.7]:4803", "udp/192.0.2.7:4803"),
            ("udp/[::ffff:c000:207]:04803", "udp/192.0.2.7:4803"),
            ("udp/[::ffff:192.0.2.7%3]:4803", "udp/192.0.2.7:4803"),
            ("udp/[2001:DB8:0::7]:4803", "udp/[2001:db8::7]:4803"),
            ("udp/[::ffff:0.0.0.0]:1", "udp/0.0.0.0:1"),
            ("memory/007", "memory/7"),
        ] {
            assert_eq!((at(spelling), at(spelling).to_string()), (at(text), text.to_owned()));
            if let Some(address) = spelling.strip_prefix("udp/") {
                assert_eq!(Locator::udp(address.parse().unwrap()), at(text));
            }
        }
        let ip = "2001:db8::7".parse().unwrap();
        let flowing = core::net::SocketAddrV6::new(ip, 4_803, 9, 0);
        assert_eq!(Locator::udp(flowing.into()), at("udp/[2001:db8::7]:4803"));
        assert_eq!(at("memory/7").as_memory(), Some(7));
        assert_eq!(
            (at("udp/192.0.2.7:1").as_memory(), at("memory/7").as_udp(), at("q/7").as_udp()),
            (None, None, None)
        );
    }

    #[test]
    fn distinct_bytes_are_of_one_locator() {
        let all = [
            "memory/7",
            "memory/8",
            "udp/192.0.2.7:1",
            "udp/192.0.2.7:2",
            "udp/192.0.2.8:1",
            "udp/[2001:db8::7]:1",
            "udp/[fe80::1%1]:1",
            "udp/[fe80::1%2]:1",
            "tcp/a",
            "tcp/b",
        ]
        .map(at);
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            assert_eq!(one.distinct() == other.distinct(), one == other, "{one} {other}");
        }
    }

    #[test]
    fn where_sockets_are_bound_leads_nowhere() {
        for text in [
            "udp/0.0.0.0:1",
            "udp/[::]:1",
            "udp/192.0.2.7:0",
            "udp/[2001:db8::7]:0",
            "udp/[::ffff:0.0.0.0]:1",
        ] {
            assert!(!at(text).leads_somewhere(), "{text}");
        }
        for text in ["udp/192.0.2.7:1", "udp/[::1]:1", "memory/0", "tcp/0.0.0.0:0"] {
            assert!(at(text).leads_somewhere(), "{text}");
        }
    }

    #[test]
    fn addresses_of_one_link_are_in_a_zone_of_this_machine() {
        let [near, far] = ["udp/[fe80::1%3]:1", "udp/[2001:db8::1]:1"].map(at);
        assert_eq!((near.zone(), near.in_zone(0).zone(), far.zone()), (Some(3), Some(0), None));
        assert_eq!((near.in_zone(0), near.in_zone(7)), (at("udp/[fe80::1]:1"), at("udp/[fe80::1%7]:1")));
        assert_eq!(far.in_zone(7), far);
    }

    #[test]
    fn multicast_and_broadcast_are_no_one_host() {
        for text in [
            "udp/224.0.0.1:1",
            "udp/239.255.255.250:1900",
            "udp/255.255.255.255:1",
            "udp/[ff02::1]:1",
            "udp/[::ffff:224.0.0.1]:1",
        ] {
            assert!(!at(text).is_of_one_host() && at(text).leads_somewhere(), "{text}");
        }
        for text in ["udp/192.0.2.255:1", "udp/[::1]:1", "udp/127.0.0.1:1", "memory/1", "dns/a:1"] {
            assert!(at(text).is_of_one_host(), "{text}");
        }
    }

    #[test]
    fn a_host_has_all_its_ports_and_a_locator_of_an_unknown_scheme_is_a_host() {
        let host = |text: &str| at(text).host();
        assert_eq!(host("udp/192.0.2.7:1"), host("udp/[::ffff:192.0.2.7]:2"));
        assert_eq!(host("udp/[2001:db8::7]:1"), host("udp/[2001:db8::8]:2"));
        assert_ne!(host("udp/[2001:db8::7]:1"), host("udp/[2001:db8:0:1::7]:1"));
        assert_eq!(host("tcp/192.0.2.7:1"), host("tcp/192.0.2.7:1"));
        assert_ne!(host("tcp/192.0.2.7:1"), host("tcp/192.0.2.7:2"));
        assert_ne!(host("tcp/192.0.2.7:1"), host("quic/192.0.2.7:1"));
        assert!(matches!(host("tcp/192.0.2.7:1"), Host::Other(_)));
    }
}
