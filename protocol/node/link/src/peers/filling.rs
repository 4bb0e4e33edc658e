//! The datagram that is being filled for one peer.

use crate::message::{FRAME_HEADER_BYTES, Lane, TAG_BYTES, begin_data, put_frame};
use crate::out::Out;
use bytes::BytesMut;
use folkmoot_base::limits::DATAGRAM_BYTES_MAX;

/// The frames that wait for a peer's next datagram.
#[derive(Debug, Default)]
pub(super) struct Filling {
    packet: Option<BytesMut>,
    /// Already in the list of peers to flush.
    queued: bool,
    next_fragment: u32,
}

impl Filling {
    /// Puts a short frame into the datagram that is being filled, if there is one with room.
    /// Returns how many bytes it has copied. `mtu` is the longest datagram that the path carries.
    pub(super) fn pack(&mut self, mtu: usize, lane: Lane, parts: &[&[u8]]) -> Option<usize> {
        let packet = self.packet.as_mut().filter(|_| self.queued)?;
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let full = packet.len().saturating_add(length).saturating_add(FRAME_HEADER_BYTES + TAG_BYTES);
        if full > mtu {
            return None;
        }
        put_frame(packet, lane, parts, length);
        Some(length)
    }

    /// Whether the datagram has room for so many bytes more.
    pub(super) fn has_room(&self, mtu: usize, bytes: usize) -> bool {
        let filled = self.packet.as_ref().map_or(0, |packet| packet.len());
        filled.saturating_add(bytes).saturating_add(TAG_BYTES) <= mtu
    }

    /// The datagram being filled.
    pub(super) fn packet(&mut self, out: &mut Out) -> &mut BytesMut {
        self.packet.get_or_insert_with(|| {
            let mut packet = out.buffer(DATAGRAM_BYTES_MAX);
            begin_data(&mut packet);
            packet
        })
    }

    /// Takes the datagram, to seal it.
    pub(super) fn take(&mut self) -> Option<BytesMut> {
        self.packet.take()
    }

    /// Puts the peer into the list of those to flush. Returns whether it was not there.
    pub(super) fn queue(&mut self) -> bool {
        !core::mem::replace(&mut self.queued, true)
    }

    /// The peer has left the list of those to flush.
    pub(super) fn unqueue(&mut self) {
        self.queued = false;
    }

    /// The id of the next frame that is cut into fragments.
    pub(super) fn next_fragment(&mut self) -> u32 {
        let id = self.next_fragment;
        self.next_fragment = id.wrapping_add(1);
        id
    }
}
