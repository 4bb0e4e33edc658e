//! What a key is for, who may send, and how a certificate says so.
//!
//! ```text
//! urn:lcmsec:gkexchg_g:239.255.76.67:7667:4              the group, as sender 4
//! urn:lcmsec:gkexchg:239.255.76.67:7667:channel1:4       a channel of it
//! urn:lcmsec:gkexchg:ff15%3A%3A4c43:7667:robot%3Apose:4  what has a `:` in it is escaped
//! ```

use super::escape::{escape, unescape};
use crate::Channel;
use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroU16;
use core::str::FromStr;

/// How each URN of LCMsec begins.
pub(crate) const URN: &str = "urn:lcmsec:";
const GROUP: &str = "gkexchg_g:";
const CHANNEL: &str = "gkexchg:";

/// A sender's number in a multicast group. Zero is nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SenderId(NonZeroU16);

impl SenderId {
    /// The lowest number.
    pub const FIRST: Self = Self(NonZeroU16::MIN);

    /// The sender of this number.
    pub fn new(number: u16) -> Option<Self> {
        NonZeroU16::new(number).map(Self)
    }

    /// Its number.
    pub fn get(self) -> u16 {
        self.0.get()
    }
}

impl core::fmt::Display for SenderId {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(out)
    }
}

/// What has a key of its own: a multicast group, whose key hides names, or a channel of it, whose
/// key seals what is said there. As text: `239.255.76.67:7667` or `239.255.76.67:7667:channel1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain {
    group: SocketAddr,
    channel: Option<Channel>,
}

/// Why a text is no domain or no right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// It begins otherwise.
    #[error("a right begins with urn:lcmsec:gkexchg_g: or urn:lcmsec:gkexchg:")]
    Urn,
    /// It has more parts or fewer.
    #[error("it has too many or too few parts between its colons; a colon in a name is written %3A")]
    Parts,
    /// The address is none, is not of multicast, or is not in its one spelling.
    #[error("its address is not a multicast address in its shortest form, a colon written as %3A")]
    Address,
    /// The port is none.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// The channel's name is none, or is not in its one spelling.
    #[error("its channel is not a name of 1 to 63 bytes, each escaped if and only if it has to be")]
    Channel,
    /// The sender is none.
    #[error("its sender is not a number from 1 to 65535")]
    Sender,
}

impl Domain {
    /// The multicast group with this address and port.
    ///
    /// # Errors
    /// [`DomainError::Address`], [`DomainError::Port`].
    pub fn group(group: SocketAddr) -> Result<Self, DomainError> {
        // A scope or a flow is of one host, and would make two domains of one.
        let group = SocketAddr::new(group.ip(), group.port());
        match (group.ip().is_multicast(), group.port()) {
            (false, _) => Err(DomainError::Address),
            (_, 0) => Err(DomainError::Port),
            _ => Ok(Self { group, channel: None }),
        }
    }

    /// This channel of the same multicast group.
    #[must_use]
    pub fn with_channel(self, channel: Channel) -> Self {
        Self { channel: Some(channel), ..self }
    }

    /// The multicast group of it.
    #[must_use]
    pub fn of_group(self) -> Self {
        Self { channel: None, ..self }
    }

    /// Address and port.
    pub fn address(&self) -> SocketAddr {
        self.group
    }

    /// The channel, if it is one's.
    pub fn channel(&self) -> Option<&Channel> {
        self.channel.as_ref()
    }

    fn parse(parts: &[&str]) -> Result<Self, DomainError> {
        let (address, port, channel) = match parts {
            [address, port] => (address, port, None),
            [address, port, channel] => (address, port, Some(channel)),
            _ => return Err(DomainError::Parts),
        };
        let ip = unescape(address).and_then(|ip| String::from_utf8(ip).ok());
        let ip: IpAddr = ip.and_then(|ip| ip.parse().ok()).ok_or(DomainError::Address)?;
        if escape(ip.to_string().as_bytes()) != **address {
            return Err(DomainError::Address);
        }
        let domain = Self::group(SocketAddr::new(ip, number(port).ok_or(DomainError::Port)?))?;
        let Some(channel) = channel else { return Ok(domain) };
        let channel = unescape(channel).and_then(|name| Channel::new(name).ok());
        Ok(domain.with_channel(channel.ok_or(DomainError::Channel)?))
    }
}

impl FromStr for Domain {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        Self::parse(&text.split(':').collect::<Vec<_>>())
    }
}

impl core::fmt::Display for Domain {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "{}:{}", escape(self.group.ip().to_string().as_bytes()), self.group.port())?;
        self.channel.map_or(Ok(()), |channel| write!(out, ":{}", escape(channel.as_bytes())))
    }
}

/// The right to send and to listen in a domain, as a sender. As text it is a URN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Right {
    /// Where.
    pub domain: Domain,
    /// As which sender.
    pub sender: SenderId,
}

impl FromStr for Right {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let rest = text.strip_prefix(URN).ok_or(DomainError::Urn)?;
        let (rest, count) = match (rest.strip_prefix(GROUP), rest.strip_prefix(CHANNEL)) {
            (Some(rest), _) => (rest, 3),
            (None, Some(rest)) => (rest, 4),
            (None, None) => return Err(DomainError::Urn),
        };
        let parts: Vec<&str> = rest.split(':').collect();
        match parts.split_last() {
            Some((sender, domain)) if parts.len() == count => {
                let domain = Domain::parse(domain)?;
                let sender = number(sender).and_then(SenderId::new).ok_or(DomainError::Sender)?;
                Ok(Self { domain, sender })
            }
            _ => Err(DomainError::Parts),
        }
    }
}

impl core::fmt::Display for Right {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let kind = if self.domain.channel.is_some() { CHANNEL } else { GROUP };
        write!(out, "{URN}{kind}{}:{}", self.domain, self.sender)
    }
}

/// A number from 1 to 65535 in its one spelling.
fn number(text: &str) -> Option<u16> {
    let number: u16 = text.parse().ok()?;
    (number != 0 && number.to_string() == text).then_some(number)
}
