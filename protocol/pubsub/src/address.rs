//! Where a group meets: LCM's URLs, as in `udpm://239.255.76.67:7667?ttl=0`.

use core::net::{Ipv4Addr, SocketAddrV4};
use core::str::FromStr;

/// Where a group meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The multicast group and its port.
    pub group: SocketAddrV4,
    /// How many networks a datagram may cross; 0: it stays on this host.
    pub ttl: u8,
    /// The size asked of the system for the buffer of what was received.
    pub receive_buffer: Option<u32>,
}

/// LCM's own group, on this host only.
impl Default for Address {
    fn default() -> Self {
        Self { group: SocketAddrV4::new(Ipv4Addr::new(239, 255, 76, 67), 7667), ttl: 0, receive_buffer: None }
    }
}

/// Why a text is no address of a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It does not begin as it should.
    #[error(
        "an LCM address begins with udpm://, as in udpm://239.255.76.67:7667?ttl=0; other providers are not supported"
    )]
    Provider,
    /// The group is not an IPv4 multicast address with a port.
    #[error("{0} is not an IPv4 multicast address and a port, as in 239.255.76.67:7667")]
    Group(String),
    /// An option is unknown, or its value is wrong.
    #[error("{0} is not an option of an LCM address; there are ttl=0 to ttl=255 and recv_buf_size=BYTES")]
    Option(String),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let rest = text.strip_prefix("udpm://").ok_or(AddressError::Provider)?;
        let (group, options) = rest.split_once('?').unwrap_or((rest, ""));
        let mut address = Self::default();
        if !group.is_empty() {
            address.group = self::group(group).ok_or_else(|| AddressError::Group(group.to_owned()))?;
        }
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let wrong = || AddressError::Option(option.to_owned());
            match option.split_once('=').ok_or_else(wrong)? {
                ("ttl", value) => address.ttl = value.parse().map_err(|_| wrong())?,
                ("recv_buf_size", value) => {
                    address.receive_buffer = Some(value.parse().map_err(|_| wrong())?);
                }
                _ => return Err(wrong()),
            }
        }
        Ok(address)
    }
}

fn group(text: &str) -> Option<SocketAddrV4> {
    let group: SocketAddrV4 = text.parse().ok()?;
    (group.ip().is_multicast() && group.port() != 0).then_some(group)
}

impl core::fmt::Display for Address {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "udpm://{}?ttl={}", self.group, self.ttl)?;
        self.receive_buffer.map_or(Ok(()), |bytes| write!(out, "&recv_buf_size={bytes}"))
    }
}
