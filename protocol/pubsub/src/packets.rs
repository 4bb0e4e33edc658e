//! A message cut into datagrams, as liblcm cuts it. Nothing is copied but the headers.

use crate::wire::{FRAGMENT, SECURED_FRAGMENT, SECURED_SHORT, SHORT};
use crate::{CHANNEL_BYTES_MAX, Channel};

/// Longest message that LCM's library takes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 28;
/// Longest name as it is on the wire, with its NUL.
pub(crate) const NAME_BYTES_MAX: usize = CHANNEL_BYTES_MAX + 1;
/// Bytes of a secured fragment before the channel's name.
const FRAGMENT_HEADER: usize = 24;
/// Longest header: that of a first fragment, with the name and its NUL.
const HEAD_BYTES_MAX: usize = FRAGMENT_HEADER + NAME_BYTES_MAX;
/// What a secured header has beside a plain one: sender and tags.
const EXTRA_BYTES: usize = 4;

/// Bytes of a short message's header, and of a fragment's, before the name.
const SHORT_HEADER: usize = 8;
const PLAIN_FRAGMENT_HEADER: usize = 20;
/// Longest datagram of UDP.
const DATAGRAM_BYTES_MAX: usize = 65_507;
/// A message that would need more fragments is cut as [`Sizes::LARGE`] cuts it.
const FRAGMENTS_MANY: usize = 1_024;

/// How much goes into one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Most bytes of a short message: name, NUL and payload.
    short: usize,
    /// Most bytes of a fragment: its data, and in the first one name and NUL.
    fragment: usize,
    /// The same, of a message that would need many of these.
    long: usize,
}

impl Sizes {
    /// What liblcm takes where the system lets a datagram have 64 KiB.
    pub const LARGE: Self = Self { short: 65_499, fragment: 65_487, long: 65_487 };
    /// What it takes on macOS.
    pub const SMALL: Self = Self { short: 1_435, fragment: 1_423, long: 1_423 };

    /// Datagrams of so many bytes, so that IP need not cut them. Only a message that would need
    /// more than 1,024 of them is cut as [`Self::LARGE`]: a program of liblcm calls the system for
    /// each.
    pub const fn of_datagram(bytes: usize) -> Self {
        // Room for the longest header and name, and for something to say.
        let bytes = if bytes < 256 { 256 } else { bytes };
        let bytes = if bytes > DATAGRAM_BYTES_MAX { DATAGRAM_BYTES_MAX } else { bytes };
        let (short, fragment) = (bytes - SHORT_HEADER, bytes - PLAIN_FRAGMENT_HEADER);
        Self { short, fragment, long: Self::LARGE.long }
    }

    /// The same, with a longer header.
    const fn less(self, extra: usize) -> Self {
        let Self { short, fragment, long } = self;
        Self {
            short: short.saturating_sub(extra),
            fragment: fragment.saturating_sub(extra),
            long: long.saturating_sub(extra),
        }
    }
}

/// The message is longer than LCM takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message has {0} bytes; LCM takes at most {MESSAGE_BYTES_MAX}")]
pub struct TooLong(pub usize);

/// One datagram: a header that was made, and data that lie where they lay.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    head: [u8; HEAD_BYTES_MAX],
    length: usize,
    /// What follows the header.
    pub data: &'a [u8],
}

impl Packet<'_> {
    /// Bytes of the whole datagram.
    pub fn bytes(&self) -> usize {
        self.length.saturating_add(self.data.len())
    }

    /// The header, with the channel's name if the datagram has it.
    pub fn head(&self) -> &[u8] {
        self.head.get(..self.length).unwrap_or_default()
    }
}

/// Which header a datagram has.
#[derive(Debug, Clone, Copy)]
enum Form {
    Plain,
    /// With sender and tags.
    Secured([u8; EXTRA_BYTES]),
}

/// The datagrams of one message, in the order in which they are sent.
#[derive(Debug, Clone)]
pub struct Packets<'a> {
    form: Form,
    /// The name with its NUL, as it is sent.
    name: [u8; NAME_BYTES_MAX],
    named: usize,
    payload: &'a [u8],
    sequence: u32,
    /// Most bytes of a fragment: its data, and in the first one name and NUL.
    fragment: usize,
    /// How many datagrams there are: 0 means that it is a short message.
    count: u16,
    /// The next one.
    number: u16,
    /// How much of the payload is in those before it.
    offset: usize,
    ended: bool,
}

impl<'a> Packets<'a> {
    /// Cuts a message.
    ///
    /// # Errors
    /// It is too long.
    pub fn new(channel: Channel, payload: &'a [u8], sequence: u32, sizes: Sizes) -> Result<Self, TooLong> {
        let name = channel.with_nul();
        Self::cut(Form::Plain, &name, payload, sequence, sizes)
    }

    /// Cuts what was sealed: the name and the content, as they are sent.
    pub(crate) fn secured(
        extra: [u8; EXTRA_BYTES],
        name: &([u8; NAME_BYTES_MAX], usize),
        sealed: &'a [u8],
        sequence: u32,
        sizes: Sizes,
    ) -> Result<Self, TooLong> {
        Self::cut(Form::Secured(extra), name, sealed, sequence, sizes.less(EXTRA_BYTES))
    }

    fn cut(
        form: Form,
        &(name, named): &([u8; NAME_BYTES_MAX], usize),
        payload: &'a [u8],
        sequence: u32,
        sizes: Sizes,
    ) -> Result<Self, TooLong> {
        let long = TooLong(payload.len());
        if payload.len() > MESSAGE_BYTES_MAX {
            return Err(long);
        }
        let whole = payload.len().saturating_add(named);
        let many = whole.div_ceil(sizes.fragment) > FRAGMENTS_MANY;
        let fragment = if many { sizes.long } else { sizes.fragment };
        let count = if whole <= sizes.short { 0 } else { whole.div_ceil(fragment) };
        let count = u16::try_from(count).map_err(|_| long)?;
        let (number, offset, ended) = (0, 0, false);
        Ok(Self { form, name, named, payload, sequence, fragment, count, number, offset, ended })
    }

    /// Whether it is one datagram.
    pub fn is_short(&self) -> bool {
        self.count == 0
    }

    fn name(&self) -> &[u8] {
        self.name.get(..self.named).unwrap_or_default()
    }

    fn short(&self) -> Packet<'a> {
        let (magic, extra) = match &self.form {
            Form::Plain => (SHORT, &[][..]),
            Form::Secured(extra) => (SECURED_SHORT, &extra[..]),
        };
        packet(&[&magic.to_be_bytes(), &self.sequence.to_be_bytes(), extra, self.name()], self.payload)
    }

    fn fragment(&mut self) -> Option<Packet<'a>> {
        let (magic, extra) = match &self.form {
            Form::Plain => (FRAGMENT, &[][..]),
            Form::Secured(extra) => (SECURED_FRAGMENT, &extra[..]),
        };
        let name = if self.number == 0 { self.name() } else { &[] };
        let room = self.fragment.saturating_sub(name.len());
        let rest = self.payload.get(self.offset..)?;
        let data = rest.get(..room).unwrap_or(rest);
        // At most MESSAGE_BYTES_MAX, so both fit.
        let size = u32::try_from(self.payload.len()).ok()?.to_be_bytes();
        let offset = u32::try_from(self.offset).ok()?.to_be_bytes();
        let (magic, sequence) = (magic.to_be_bytes(), self.sequence.to_be_bytes());
        let (number, count) = (self.number.to_be_bytes(), self.count.to_be_bytes());
        let made = packet(&[&magic, &sequence, &size, extra, &offset, &number, &count, name], data);
        self.offset = self.offset.saturating_add(data.len());
        self.number = self.number.checked_add(1)?;
        Some(made)
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Packet<'a>;

    fn next(&mut self) -> Option<Packet<'a>> {
        if self.ended {
            return None;
        }
        let made = if self.count == 0 { Some(self.short()) } else { self.fragment() };
        self.ended = self.count == 0 || self.number == self.count;
        made
    }
}

fn packet<'a>(parts: &[&[u8]], data: &'a [u8]) -> Packet<'a> {
    let mut head = [0; HEAD_BYTES_MAX];
    let mut length = 0;
    for part in parts {
        let end = length + part.len();
        if let Some(place) = head.get_mut(length..end) {
            place.copy_from_slice(part);
            length = end;
        }
    }
    Packet { head, length, data }
}
