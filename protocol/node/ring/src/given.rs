//! ORD-13: survivors tell one another which packets of their old ring they delivered before these
//! had places. All survivors owe these messages to those that go on with them.
//!
//! ```text
//! given | ring handle 4 of the old ring | (sender index 1 | first number 4 | last number 4) ...
//! ```

use crate::data::{Class, Data, HEADER_BYTES, Head, RingHandle};
use bytes::{BufMut, BytesMut};
use folkmoot_base::limits::NODES_MAX;

/// Length of a span.
const SPAN_BYTES: usize = 9;
/// Most spans of one packet: it fits the smallest path.
pub(crate) const SPANS_MAX: usize = 100;
const HANDLE_BYTES: usize = 4;

/// Packets of one stream with consecutive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Whose stream: the index of the member in the old ring.
    pub source: u8,
    /// The number of the first.
    pub first: u64,
    /// The number of the last.
    pub last: u64,
}

/// What a member says that it delivered early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// In which ring.
    pub ring: RingHandle,
    /// At least one and at most 100.
    pub spans: Vec<Span>,
}

impl Given {
    /// Its packet, in the new ring.
    pub fn packet(&self, head: Head) -> Data {
        let body = self.spans.len().saturating_mul(SPAN_BYTES).saturating_add(HANDLE_BYTES);
        let mut frame = BytesMut::with_capacity(HEADER_BYTES.saturating_add(body));
        head.begin(Class::Given, &mut frame);
        frame.put_slice(&self.ring.0);
        for span in &self.spans {
            frame.put_u8(span.source);
            // Numbers are below the end of the range: PACKET_NUMBER_MAX.
            frame.put_u32(u32::try_from(span.first).unwrap_or(u32::MAX));
            frame.put_u32(u32::try_from(span.last).unwrap_or(u32::MAX));
        }
        head.end(Class::Given, frame)
    }
}

impl Data {
    /// What a packet says that its sender delivered early; `None` if it is not a legal one.
    pub fn given(&self) -> Option<Given> {
        let body = self.frame.get(HEADER_BYTES..).filter(|_| self.class == Class::Given)?;
        let (handle, rest) = body.split_first_chunk::<HANDLE_BYTES>()?;
        let (spans, left) = rest.as_chunks::<SPAN_BYTES>();
        let spans: Vec<Span> = spans.iter().map(|span| read(*span)).collect();
        let legal =
            |span: &Span| usize::from(span.source) < NODES_MAX && (1..=span.last).contains(&span.first);
        let count = (1..=SPANS_MAX).contains(&spans.len());
        let whole = left.is_empty() && count && spans.iter().all(legal);
        whole.then_some(Given { ring: RingHandle(*handle), spans })
    }
}

fn read([source, f0, f1, f2, f3, last @ ..]: [u8; SPAN_BYTES]) -> Span {
    let first = u32::from_be_bytes([f0, f1, f2, f3]).into();
    Span { source, first, last: u32::from_be_bytes(last).into() }
}
