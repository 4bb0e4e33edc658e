//! LCM's log files: events one after another, without head or tail. Integers are big-endian.
//!
//! ```text
//! event = eda1da01 | number i64 | time i64, microseconds since 1970 | bytes of the channel i32
//!         | bytes of the payload i32 | channel, without NUL | payload
//! ```
//! A reader hands [`step`] what it has of the file, and does what that says. It finds its way again
//! after damage (PUB-12, PUB-13): an event is believed if another one, or the end of the file,
//! follows it; or if no event that is so followed begins inside of it.

use crate::packets::MESSAGE_BYTES_MAX;
use crate::{Channel, TooLong};

const MAGIC: [u8; 4] = 0xeda1_da01_u32.to_be_bytes();
/// Bytes of an event before its channel's name.
pub const HEADER_BYTES: usize = 28;

/// A message in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Which event of the log it is.
    pub number: i64,
    /// When it was received, in microseconds since 1970.
    pub time: i64,
    /// On which channel.
    pub channel: Channel,
    /// What it says.
    pub payload: &'a [u8],
}

impl Event<'_> {
    /// Appends the event as a log has it.
    ///
    /// # Errors
    /// The payload is longer than any message.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let long = TooLong(self.payload.len());
        let bytes = i32::try_from(self.payload.len()).ok();
        let bytes = bytes.filter(|_| self.payload.len() <= MESSAGE_BYTES_MAX).ok_or(long)?;
        let name = self.channel.as_bytes();
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(&self.time.to_be_bytes());
        // At most 63.
        out.extend_from_slice(&i32::try_from(name.len()).map_err(|_| long)?.to_be_bytes());
        out.extend_from_slice(&bytes.to_be_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(self.payload);
        Ok(())
    }
}

/// What a reader does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// Here is an event. Then drop so many bytes.
    Event {
        /// The event.
        event: Event<'a>,
        /// How long it is in the file.
        bytes: usize,
    },
    /// Drop so many bytes: they are damaged.
    Skip(usize),
    /// Read on, until there are so many bytes, or the file ends.
    More(usize),
    /// There is nothing more.
    End,
}

/// Looks at the bytes from where the reader is. `last`: the file ends with them.
pub fn step(buffer: &[u8], last: bool) -> Step<'_> {
    if buffer.is_empty() {
        return if last { Step::End } else { Step::More(HEADER_BYTES) };
    }
    match find(buffer, 0) {
        Some(0) => at_event(buffer, last),
        Some(place) => Step::Skip(place),
        None if last => Step::Skip(buffer.len()),
        // The magic may have begun.
        None if buffer.len() < MAGIC.len() => Step::More(HEADER_BYTES),
        None => Step::Skip(buffer.len() - (MAGIC.len() - 1)),
    }
}

/// The same where an event seems to begin.
fn at_event(buffer: &[u8], last: bool) -> Step<'_> {
    if buffer.len() < HEADER_BYTES {
        return if last { Step::Skip(buffer.len()) } else { Step::More(HEADER_BYTES) };
    }
    let Some(head) = Head::of(buffer) else { return Step::Skip(MAGIC.len()) };
    let known = head.end().saturating_add(MAGIC.len());
    if buffer.len() < known && !last {
        return Step::More(known);
    }
    let event = head.event(buffer);
    if let Some(event) = event.filter(|_| head.is_followed(buffer, last)) {
        return Step::Event { event, bytes: head.end() };
    }
    match (followed_inside(buffer, head.end(), last), event) {
        (Inside::Found(place), _) => Step::Skip(place),
        (Inside::More(bytes), _) => Step::More(bytes),
        (Inside::Nothing, Some(event)) => Step::Event { event, bytes: head.end() },
        (Inside::Nothing, None) => Step::Skip(head.end().min(buffer.len())),
    }
}

/// What is inside of a doubtful event.
enum Inside {
    /// Here begins an event that is followed by another, or by the end.
    Found(usize),
    /// So many bytes are needed to know.
    More(usize),
    Nothing,
}

fn followed_inside(buffer: &[u8], end: usize, last: bool) -> Inside {
    let mut from = MAGIC.len();
    while let Some(place) = find(buffer, from).filter(|place| *place < end) {
        from = place + MAGIC.len();
        let inner = buffer.get(place..).unwrap_or_default();
        if inner.len() < HEADER_BYTES && !last {
            return Inside::More(place.saturating_add(HEADER_BYTES));
        }
        let Some(head) = Head::of(inner) else { continue };
        let known = head.end().saturating_add(MAGIC.len());
        if inner.len() < known && !last {
            return Inside::More(place.saturating_add(known));
        }
        if head.event(inner).is_some() && head.is_followed(inner, last) {
            return Inside::Found(place);
        }
    }
    Inside::Nothing
}

fn find(buffer: &[u8], from: usize) -> Option<usize> {
    let rest = buffer.get(from..)?;
    rest.windows(MAGIC.len()).position(|window| window == MAGIC).map(|place| from + place)
}

/// The header of an event.
#[derive(Debug, Clone, Copy)]
struct Head {
    number: i64,
    time: i64,
    name: usize,
    payload: usize,
}

impl Head {
    /// `None` if there is none, or if a length is none that an event has (PUB-12).
    fn of(buffer: &[u8]) -> Option<Self> {
        let rest = buffer.strip_prefix(&MAGIC)?;
        let (number, rest) = rest.split_first_chunk()?;
        let (time, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (payload, _) = rest.split_first_chunk()?;
        let length = |bytes: &[u8; 4], most: usize| {
            usize::try_from(i32::from_be_bytes(*bytes)).ok().filter(|length| *length <= most)
        };
        Some(Self {
            number: i64::from_be_bytes(*number),
            time: i64::from_be_bytes(*time),
            name: length(name, crate::CHANNEL_BYTES_MAX).filter(|length| *length > 0)?,
            payload: length(payload, MESSAGE_BYTES_MAX)?,
        })
    }

    fn end(&self) -> usize {
        HEADER_BYTES.saturating_add(self.name).saturating_add(self.payload)
    }

    /// `None` if its end is missing, or if the channel's name is none.
    fn event<'a>(&self, buffer: &'a [u8]) -> Option<Event<'a>> {
        let (name, payload) = buffer.get(HEADER_BYTES..self.end())?.split_at_checked(self.name)?;
        let channel = Channel::new(name).ok()?;
        Some(Event { number: self.number, time: self.time, channel, payload })
    }

    fn is_followed(&self, buffer: &[u8], last: bool) -> bool {
        let rest = buffer.get(self.end()..);
        rest.is_some_and(|rest| rest.starts_with(&MAGIC) || (last && rest.is_empty()))
    }
}
