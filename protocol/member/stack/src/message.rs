//! How two members of a group wrap their messages to each other, on top of the order that their
//! nodes give.
//!
//! ```text
//! payload = 1 ‖ admission message                       any member -> all members, outside views, not sealed, signed inside
//!         | 2 ‖ flush frame                             any member -> all members
//!                 data of a flush frame = 1 ‖ keying message    any member of the view -> all of it
//!                                       | 2 ‖ sealed message    any member of the view -> all of it
//! ```

use bytes::Bytes;
use folkmoot_base::limits::ORDERED_BYTES_MAX;
use folkmoot_flush::DATA_HEADER_BYTES;
use folkmoot_session::SEALED_BYTES_MAX;

const OPEN: u8 = 1;
const FLUSH: u8 = 2;
const KEYING: u8 = 1;
const SEALED: u8 = 2;

// The longest sealed message fits, and the group layer has a kilobyte for its own head.
const _: () = assert!(SEALED_BYTES_MAX + 2 + DATA_HEADER_BYTES + 1024 <= ORDERED_BYTES_MAX);

/// A payload of the group layer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// An admission message.
    Open(Bytes),
    /// A frame of the flush layer.
    Flush(Bytes),
}

/// The data of a flush frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// A message of the keying layer.
    Keying(Bytes),
    /// A sealed application message.
    Sealed(Bytes),
}

impl Payload {
    /// Reads a payload without copying it; `None` for a kind that this release does not know (rule
    /// MEM-01).
    pub(crate) fn decode(bytes: &Bytes) -> Option<Self> {
        match *bytes.first()? {
            OPEN => Some(Self::Open(bytes.slice(1..))),
            FLUSH => Some(Self::Flush(bytes.slice(1..))),
            _ => None,
        }
    }
}

impl Data {
    /// Reads the data of a flush frame without copying it; `None` for an unknown kind (rule
    /// MEM-02).
    pub(crate) fn decode(bytes: &Bytes) -> Option<Self> {
        match *bytes.first()? {
            KEYING => Some(Self::Keying(bytes.slice(1..))),
            SEALED => Some(Self::Sealed(bytes.slice(1..))),
            _ => None,
        }
    }
}

/// An admission message as a payload.
pub(crate) fn open(message: &[u8]) -> Bytes {
    joined(&[&[OPEN], message])
}

/// A flush frame as a payload.
pub(crate) fn flush(frame: &[u8]) -> Bytes {
    joined(&[&[FLUSH], frame])
}

/// A keying message as data of a flush frame.
pub(crate) fn keying(message: &[u8]) -> Bytes {
    joined(&[&[KEYING], message])
}

/// A sealed message as a payload: the header of its flush frame and the sealed bytes, put together
/// in one copy.
pub(crate) fn sealed(flush_header: &[u8], sealed: &[u8]) -> Bytes {
    joined(&[&[FLUSH], flush_header, &[SEALED], sealed])
}

fn joined(parts: &[&[u8]]) -> Bytes {
    parts.concat().into()
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Data, Payload};

    #[test]
    fn mem_01_unknown_payloads_are_refused() {
        assert_eq!(Payload::decode(&Bytes::new()), None);
        for kind in (0..=255_u8).filter(|kind| !matches!(kind, 1 | 2)) {
            assert_eq!(Payload::decode(&vec![kind, 7].into()), None);
        }
        assert_eq!(Payload::decode(&super::open(b"a")), Some(Payload::Open(Bytes::from_static(b"a"))));
        assert_eq!(Payload::decode(&super::flush(b"b")), Some(Payload::Flush(Bytes::from_static(b"b"))));
    }

    #[test]
    fn mem_02_unknown_data_is_refused() {
        assert_eq!(Data::decode(&Bytes::new()), None);
        for kind in (0..=255_u8).filter(|kind| !matches!(kind, 1 | 2)) {
            assert_eq!(Data::decode(&vec![kind, 7].into()), None);
        }
        assert_eq!(Data::decode(&super::keying(b"a")), Some(Data::Keying(Bytes::from_static(b"a"))));
        let Some(Payload::Flush(frame)) = Payload::decode(&super::sealed(b"head", b"b")) else {
            panic!("flush")
        };
        assert_eq!(Data::decode(&frame.slice(4..)), Some(Data::Sealed(Bytes::from_static(b"b"))));
    }
}
