//! What a key is for, who may send, and how a certificate says so.
//!
//! ```text
//! urn:lcmsec:gkexchg_g:239.255.76.67:7667:4              the group, as sender 4
//! urn:lcmsec:gkexchg:239.255.76.67:7667:channel1:4       a channel of it
//! urn:lcmsec:gkexchg:ff15%3A%3A4c43:7667:robot%3Apose:4  what has a `:` in it is escaped
//! urn:lcmsec:gkexchg_p:239.255.76.67:7667:POSE.*:4       all channels that a pattern names
//! ```

use super::escape::{escape, unescape};
use crate::{Channel, Pattern};
use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroU16;
use core::str::FromStr;

/// How each URN of LCMsec begins.
pub(crate) const URN: &str = "urn:lcmsec:";
const GROUP: &str = "gkexchg_g:";
const CHANNEL: &str = "gkexchg:";
/// Not of LCMsec.
const PATTERN: &str = "gkexchg_p:";

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
/// key seals what is said there; or all channels that a pattern names. As text:
/// `239.255.76.67:7667`, `239.255.76.67:7667:channel1` or `239.255.76.67:7667::POSE.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain {
    group: SocketAddr,
    of: Of,
}

/// What of a multicast group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Of {
    Names,
    Channel(Channel),
    /// The text of a [`Pattern`].
    Channels(Channel),
}

/// Why a text is no domain or no right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// It begins otherwise.
    #[error("a right begins with urn:lcmsec:gkexchg_g:, urn:lcmsec:gkexchg: or urn:lcmsec:gkexchg_p:")]
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
    /// The pattern is none, or is not in its one spelling.
    #[error(
        "its pattern is not a regular expression of 1 to 63 bytes, each escaped if and only if it has to be"
    )]
    Pattern,
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
            _ => Ok(Self { group, of: Of::Names }),
        }
    }

    /// This channel of the same multicast group.
    #[must_use]
    pub fn with_channel(self, channel: Channel) -> Self {
        Self { of: Of::Channel(channel), ..self }
    }

    /// All channels of the same multicast group that this pattern names ([`Pattern`]).
    ///
    /// # Errors
    /// [`DomainError::Pattern`].
    pub fn with_channels(self, pattern: &str) -> Result<Self, DomainError> {
        let text = Pattern::new(pattern).ok().and_then(|_| Channel::new(pattern).ok());
        Ok(Self { of: Of::Channels(text.ok_or(DomainError::Pattern)?), ..self })
    }

    /// The multicast group of it.
    #[must_use]
    pub fn of_group(self) -> Self {
        Self { of: Of::Names, ..self }
    }

    /// Address and port.
    pub fn address(&self) -> SocketAddr {
        self.group
    }

    /// The channel, if it is one's.
    pub fn channel(&self) -> Option<&Channel> {
        match &self.of {
            Of::Channel(channel) => Some(channel),
            Of::Names | Of::Channels(_) => None,
        }
    }

    /// The pattern, if it is one's.
    pub fn pattern(&self) -> Option<Pattern> {
        self.pattern_text().and_then(|text| Pattern::new(&text).ok())
    }

    /// The pattern as it was given.
    pub fn pattern_text(&self) -> Option<String> {
        match &self.of {
            Of::Channels(text) => Some(text.text()),
            Of::Names | Of::Channel(_) => None,
        }
    }

    /// Whether it is the multicast group's own, whose key hides names.
    pub fn is_of_names(&self) -> bool {
        self.of == Of::Names
    }

    fn parse(parts: &[&str]) -> Result<Self, DomainError> {
        let (address, port, channel, pattern) = match parts {
            [address, port] => (address, port, None, None),
            [address, port, channel] => (address, port, Some(channel), None),
            [address, port, "", pattern] => (address, port, None, Some(pattern)),
            _ => return Err(DomainError::Parts),
        };
        let ip = unescape(address).and_then(|ip| String::from_utf8(ip).ok());
        let ip: IpAddr = ip.and_then(|ip| ip.parse().ok()).ok_or(DomainError::Address)?;
        if escape(ip.to_string().as_bytes()) != **address {
            return Err(DomainError::Address);
        }
        let domain = Self::group(SocketAddr::new(ip, number(port).ok_or(DomainError::Port)?))?;
        if let Some(pattern) = pattern {
            let text = unescape(pattern).and_then(|text| String::from_utf8(text).ok());
            return domain.with_channels(&text.ok_or(DomainError::Pattern)?);
        }
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
        match &self.of {
            Of::Names => Ok(()),
            Of::Channel(channel) => write!(out, ":{}", escape(channel.as_bytes())),
            Of::Channels(text) => write!(out, "::{}", escape(text.as_bytes())),
        }
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
        let kinds = [(GROUP, 3), (CHANNEL, 4), (PATTERN, 4)];
        let kind = kinds.iter().find_map(|(kind, count)| Some((*kind, *count, rest.strip_prefix(kind)?)));
        let (kind, count, rest) = kind.ok_or(DomainError::Urn)?;
        let parts: Vec<&str> = rest.split(':').collect();
        match parts.split_last() {
            Some((sender, domain)) if parts.len() == count => {
                let mut domain = domain.to_vec();
                if kind == PATTERN {
                    domain.insert(2, "");
                }
                let domain = Domain::parse(&domain)?;
                let sender = number(sender).and_then(SenderId::new).ok_or(DomainError::Sender)?;
                Ok(Self { domain, sender })
            }
            _ => Err(DomainError::Parts),
        }
    }
}

impl core::fmt::Display for Right {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { domain, sender } = self;
        match &domain.of {
            Of::Names => write!(out, "{URN}{GROUP}{domain}:{sender}"),
            Of::Channel(_) => write!(out, "{URN}{CHANNEL}{domain}:{sender}"),
            Of::Channels(text) => {
                let group = domain.of_group();
                write!(out, "{URN}{PATTERN}{group}:{}:{sender}", escape(text.as_bytes()))
            }
        }
    }
}

/// A number from 1 to 65535 in its one spelling.
fn number(text: &str) -> Option<u16> {
    let number: u16 = text.parse().ok()?;
    (number != 0 && number.to_string() == text).then_some(number)
}
