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
    /// The interface that it speaks by and hears; none: the one that the routes of this host name.
    pub interface: Option<Interface>,
}

/// The name of a network interface, as in `eth0`: 1 to 15 bytes of visible ASCII.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// Zeros behind the name.
    bytes: [u8; 15],
}

impl Interface {
    /// The name.
    pub fn as_str(&self) -> &str {
        let name = self.bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        core::str::from_utf8(name).unwrap_or_default()
    }
}

impl FromStr for Interface {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::Interface(text.to_owned());
        let visible = |byte: &u8| byte.is_ascii_graphic() && !b"/&?".contains(byte);
        if text.is_empty() || !text.as_bytes().iter().all(visible) {
            return Err(wrong());
        }
        let mut bytes = [0; 15];
        bytes.get_mut(..text.len()).ok_or_else(wrong)?.copy_from_slice(text.as_bytes());
        Ok(Self { bytes })
    }
}

impl core::fmt::Debug for Interface {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(out)
    }
}

/// LCM's own group, on this host only.
impl Default for Address {
    fn default() -> Self {
        Self {
            group: SocketAddrV4::new(Ipv4Addr::new(239, 255, 76, 67), 7667),
            ttl: 0,
            receive_buffer: None,
            interface: None,
        }
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
    #[error(
        "{0} is not an option of an LCM address; there are ttl=0 to ttl=255, recv_buf_size=BYTES and interface=NAME"
    )]
    Option(String),
    /// No interface has such a name.
    #[error("{0} is not the name of a network interface, as in eth0: 1 to 15 visible characters")]
    Interface(String),
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
                ("interface", value) => address.interface = Some(value.parse()?),
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
        self.receive_buffer.map_or(Ok(()), |bytes| write!(out, "&recv_buf_size={bytes}"))?;
        self.interface.map_or(Ok(()), |name| write!(out, "&interface={}", name.as_str()))
    }
}
