//! A record behind the last packet that leaves before it, in one frame: a lone message then needs
//! one datagram for each member, not two.
//!
//! ```text
//! joined | packet | two zero bytes | record
//! ```
//! No piece begins with two zero bytes (RING-02), so a packet ends there. Joined frames are never
//! kept, repeated or recovered: packet and record part where they come in.

use crate::data::{Class, Data, RECORD_BYTES, is_in_stream, packet_bytes};
use bytes::{BufMut as _, Bytes, BytesMut};
use folkmoot_base::DecodeError;
use folkmoot_base::limits::PATH_BYTES_BASE;

/// What stands between the two.
const MARK: [u8; 2] = [0; 2];
/// What a record adds to a packet.
const BEHIND_BYTES: usize = MARK.len() + RECORD_BYTES;

/// How long the two are together, if the record may go behind the packet: it is one of a stream,
/// and any path carries both.
pub(crate) fn joined_bytes(packet: &[u8]) -> Option<usize> {
    let together = packet.len().checked_add(BEHIND_BYTES)?;
    let fits = together <= packet_bytes(PATH_BYTES_BASE as u16);
    (is_in_stream(packet) && fits).then_some(together)
}

/// Both in one frame, in `room`, which is empty.
pub fn join(packet: &[u8], record: &[u8], mut room: BytesMut) -> Bytes {
    room.put_slice(packet);
    room.put_slice(&MARK);
    room.put_slice(record);
    room.freeze()
}

impl Data {
    /// Reads a frame that is DATA (RING-01, RING-02), and the record behind it, if there is one.
    /// That is of the packet's sender and ring.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub(crate) fn decode_joined(frame: Bytes) -> Result<(Self, Option<Self>), DecodeError> {
        let Some(end) = packet_end(&frame) else { return Ok((Self::decode(frame)?, None)) };
        let packet = Self::decode(frame.slice(..end))?;
        let record = Self::decode(frame.slice(end.saturating_add(MARK.len())..))?;
        let together =
            record.class == Class::Record && (record.sender, record.ring) == (packet.sender, packet.ring);
        if together { Ok((packet, Some(record))) } else { Err(DecodeError::Malformed) }
    }
}

/// Where the packet ends, if a record stands behind it. What only looks like a record is the end of
/// a piece.
fn packet_end(frame: &Bytes) -> Option<usize> {
    let end = frame.len().checked_sub(BEHIND_BYTES)?;
    let packet = frame.get(end..)?.starts_with(&MARK).then(|| Data::read(frame.clone()).ok())??;
    (packet.class.is_in_stream() && packet.pieces_end() == end).then_some(end)
}
