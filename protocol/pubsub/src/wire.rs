//! Datagrams, read. Integers are big-endian.
//!
//! ```text
//! short    = "LC02" | sequence u32 | channel NUL | payload
//! fragment = "LC03" | sequence u32 | bytes of the message u32 | offset u32 | number u16 | count u16
//!            | channel NUL, in number 0 alone | data
//! ```

use crate::{Channel, WireError};

/// How a short message begins.
pub(crate) const SHORT: u32 = 0x4c43_3032;
/// How a fragment begins.
pub(crate) const FRAGMENT: u32 = 0x4c43_3033;
/// How a short message begins in LCM's secured form.
pub(crate) const SECURED_SHORT: u32 = 0x4c43_3034;
/// How a fragment begins in it.
pub(crate) const SECURED_FRAGMENT: u32 = 0x4c43_3035;

/// A datagram of LCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datagram<'a> {
    /// A whole message.
    Short(Short<'a>),
    /// A part of one.
    Fragment(Fragment<'a>),
}

/// A whole message in one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short<'a> {
    /// The sender's number for it.
    pub sequence: u32,
    /// The channel.
    pub channel: Channel,
    /// What it says.
    pub payload: &'a [u8],
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The sender's number for the message.
    pub sequence: u32,
    /// The message's length.
    pub size: u32,
    /// Where in the message the data begin.
    pub offset: u32,
    /// Which of the fragments it is, from 0.
    pub number: u16,
    /// How many there are.
    pub count: u16,
    /// The channel: in number 0 alone.
    pub channel: Option<Channel>,
    /// That part of the message.
    pub data: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Reads a datagram (PUB-01 to PUB-03).
    ///
    /// # Errors
    /// [`WireError`], but for `PeerTooLong`.
    pub fn decode(datagram: &'a [u8]) -> Result<Self, WireError> {
        let (magic, rest) = word(datagram)?;
        match magic {
            SHORT => {
                let (sequence, rest) = word(rest)?;
                let (channel, payload) = named(rest)?;
                Ok(Self::Short(Short { sequence, channel, payload }))
            }
            FRAGMENT => Ok(Self::Fragment(fragment(rest)?)),
            SECURED_SHORT | SECURED_FRAGMENT => Err(WireError::PeerSecured),
            _ => Err(WireError::PeerForeign),
        }
    }
}

fn fragment(rest: &[u8]) -> Result<Fragment<'_>, WireError> {
    let (sequence, rest) = word(rest)?;
    let (size, rest) = word(rest)?;
    let (offset, rest) = word(rest)?;
    let (number, rest) = half(rest)?;
    let (count, rest) = half(rest)?;
    let (channel, data) = match number {
        0 => named(rest).map(|(channel, data)| (Some(channel), data))?,
        _ => (None, rest),
    };
    let fragment = Fragment { sequence, size, offset, number, count, channel, data };
    if fragment.is_sound() { Ok(fragment) } else { Err(WireError::PeerContradicts) }
}

impl Fragment<'_> {
    /// Where its data end; `None` beyond what a message can have.
    pub(crate) fn end(&self) -> Option<u32> {
        self.offset.checked_add(u32::try_from(self.data.len()).ok()?)
    }

    /// Whether it is the last of its message.
    pub(crate) fn is_last(&self) -> bool {
        self.number.checked_add(1) == Some(self.count)
    }

    /// Whether header and length agree (PUB-03). All fragments but the first have data, the first
    /// begins the message and the last ends it.
    pub(crate) fn is_sound(&self) -> bool {
        let Some(end) = self.end().filter(|end| *end <= self.size) else { return false };
        self.number < self.count
            && u32::from(self.count) <= self.size.saturating_add(1)
            && (self.number > 0 || self.offset == 0)
            && (self.number == 0 || !self.data.is_empty())
            && (!self.is_last() || end == self.size)
    }
}

/// The name up to its NUL, and what follows (PUB-02).
pub(crate) fn named(bytes: &[u8]) -> Result<(Channel, &[u8]), WireError> {
    let end = bytes.iter().position(|byte| *byte == 0).ok_or(WireError::PeerEndless)?;
    let (name, rest) = bytes.split_at_checked(end).ok_or(WireError::PeerEndless)?;
    let channel = Channel::new(name).map_err(WireError::PeerChannel)?;
    Ok((channel, rest.get(1..).unwrap_or_default()))
}

pub(crate) fn word(bytes: &[u8]) -> Result<(u32, &[u8]), WireError> {
    let (word, rest) = bytes.split_first_chunk().ok_or(WireError::PeerForeign)?;
    Ok((u32::from_be_bytes(*word), rest))
}

pub(crate) fn half(bytes: &[u8]) -> Result<(u16, &[u8]), WireError> {
    let (half, rest) = bytes.split_first_chunk().ok_or(WireError::PeerForeign)?;
    Ok((u16::from_be_bytes(*half), rest))
}
