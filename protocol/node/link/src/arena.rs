//! Buffers for datagrams, cut from larger allocations: one allocation for many datagrams.

use crate::limits::CHUNK_BYTES;
use bytes::BytesMut;

/// Hands out empty buffers.
#[derive(Debug, Default)]
pub(crate) struct Arena(BytesMut);

impl Arena {
    /// An empty buffer with room for exactly `capacity` bytes, which is at most [`CHUNK_BYTES`].
    pub(crate) fn buffer(&mut self, capacity: usize) -> BytesMut {
        if self.0.capacity() < capacity {
            self.0 = BytesMut::with_capacity(CHUNK_BYTES.max(capacity));
        }
        let rest = self.0.split_off(capacity);
        core::mem::replace(&mut self.0, rest)
    }
}
