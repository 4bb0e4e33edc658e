//! Frames: how they follow each other, and what all kinds have in common.

use super::{FrameError, PAYLOAD_BYTES_MAX};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use folkmoot_base::codec::{self, Serialize, Size, Wire};
use folkmoot_base::limits::{MEMBERS_MAX, NODES_MAX};
use folkmoot_base::{NodeId, Party};

/// Longest head from a program to its node, in bytes: a signed word has a key and a signature.
pub const UP_HEAD_BYTES_MAX: usize = 8 * 1024;
/// Longest head from a node to a program, in bytes: a notice lists as many parties as a group may
/// have, up to three times.
pub const DOWN_HEAD_BYTES_MAX: usize = 104 * 1024;

const _: () = assert!(3 * MEMBERS_MAX * Party::BYTES + 1024 <= DOWN_HEAD_BYTES_MAX);
const _: () = assert!(NODES_MAX * size_of::<NodeId>() + 1024 <= DOWN_HEAD_BYTES_MAX);

/// Bytes of a length.
const LENGTH_BYTES: usize = 4;

/// The longest frame, less its first length, whose head has at most `head` bytes.
pub(super) const fn longest(head: usize) -> usize {
    LENGTH_BYTES + head + PAYLOAD_BYTES_MAX
}

/// Takes the next whole frame from the front of `stream`, without its length; `None` until all of
/// it is there. A frame of more than `most` bytes is refused as soon as its length is read, so
/// `stream` need never hold more than that.
///
/// # Errors
/// [`FrameError::TooLong`].
pub fn next_frame(stream: &mut BytesMut, most: usize) -> Result<Option<BytesMut>, FrameError> {
    let Some(length) = stream.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)) else {
        return Ok(None);
    };
    let got = usize::try_from(length).unwrap_or(usize::MAX);
    if got > most {
        return Err(FrameError::TooLong { got, most });
    }
    if stream.len().saturating_sub(LENGTH_BYTES) < got {
        return Ok(None);
    }
    stream.advance(LENGTH_BYTES);
    Ok(Some(stream.split_to(got)))
}

/// Appends the frame of this head to `out`, all but its payload, which is to follow.
pub(super) fn put<T: Serialize + Size>(head: &T, payload: usize, most: usize, out: &mut BytesMut) {
    // The version byte stands before the head.
    let bytes = head.tls_serialized_len().saturating_add(1);
    debug_assert!(bytes <= most, "a head of {bytes} bytes, where {most} are allowed");
    out.put_u32(to_u32(bytes.saturating_add(payload).saturating_add(LENGTH_BYTES)));
    out.put_u32(to_u32(bytes));
    codec::encode_into(head, out);
}

/// Lengths on this wire are bounded far below.
fn to_u32(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The head of a frame, and its payload: the rest of the same memory.
pub(super) fn split<T: Wire>(mut frame: BytesMut, most: usize) -> Result<(T, BytesMut), FrameError> {
    let length = frame.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)).ok_or(FrameError::Short)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > most {
        return Err(FrameError::TooLong { got: length, most });
    }
    if frame.len().saturating_sub(LENGTH_BYTES) < length {
        return Err(FrameError::Short);
    }
    frame.advance(LENGTH_BYTES);
    let head = codec::decode(&frame.split_to(length))?;
    Ok((head, frame))
}

/// Whether a payload has a length that its kind may have.
pub(super) fn check_payload(kind: &'static str, payload: &[u8], most: usize) -> Result<(), FrameError> {
    let got = payload.len();
    if got > most { Err(FrameError::Payload { kind, got, most }) } else { Ok(()) }
}

/// Whether a list has a length that its kind may have.
pub(super) fn check_list<T>(kind: &'static str, list: &[T], most: usize) -> Result<(), FrameError> {
    let got = list.len();
    if got > most { Err(FrameError::List { kind, got, most }) } else { Ok(()) }
}

/// No payload.
pub(super) const NOTHING: Bytes = Bytes::new();
