//! Buffers for packets, cut from larger allocations that are used again and again.

use bytes::BytesMut;
use std::collections::VecDeque;

/// Size of one allocation, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;
/// Most allocations that a pool keeps so as to use them again: more than the packets that one ring
/// keeps.
const CHUNKS_MAX: usize = 128;
/// How many chunks are looked at before another is allocated.
const LOOKS: usize = 4;

/// Hands out empty buffers.
///
/// A buffer belongs to a chunk. Once all buffers of a chunk are gone, its memory is handed out
/// again. So whoever keeps a few bytes of a buffer for long should copy them: they keep a whole
/// chunk.
#[derive(Debug, Default)]
pub struct Pool {
    chunk: Option<BytesMut>,
    /// Chunks that were cut up, the oldest first.
    used: VecDeque<BytesMut>,
    allocated: u64,
}

impl Pool {
    /// An empty buffer with room for exactly `capacity` bytes. One that does not fit a chunk is
    /// allocated by itself.
    pub fn buffer(&mut self, capacity: usize) -> BytesMut {
        if capacity > CHUNK_BYTES / 4 {
            self.allocated = self.allocated.saturating_add(1);
            return BytesMut::with_capacity(capacity);
        }
        if self.chunk.as_ref().is_none_or(|chunk| chunk.capacity() < capacity) {
            self.next_chunk();
        }
        let chunk = self.chunk.get_or_insert_default();
        let rest = chunk.split_off(capacity);
        core::mem::replace(chunk, rest)
    }

    /// How many allocations it made.
    pub fn allocated(&self) -> u64 {
        self.allocated
    }

    /// A chunk of which nobody has anything any more, else a new one. Looks at the oldest few: one
    /// of which somebody keeps a buffer does not stand in the way of the others.
    fn next_chunk(&mut self) {
        let mut next = None;
        for _ in 0..self.used.len().min(LOOKS) {
            let Some(mut chunk) = self.used.pop_front() else { break };
            if chunk.try_reclaim(CHUNK_BYTES) {
                next = Some(chunk);
                break;
            }
            self.used.push_back(chunk);
        }
        let next = next.unwrap_or_else(|| {
            self.allocated = self.allocated.saturating_add(1);
            BytesMut::with_capacity(CHUNK_BYTES)
        });
        if let Some(before) = self.chunk.replace(next) {
            self.used.push_back(before);
        }
        if self.used.len() > CHUNKS_MAX {
            self.used.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::{BufMut, Bytes};

    fn filled(pool: &mut Pool, byte: u8) -> Bytes {
        let mut buffer = pool.buffer(1_452);
        buffer.put_bytes(byte, 1_452);
        buffer.freeze()
    }

    #[test]
    fn memory_that_nobody_has_is_used_again() {
        let mut pool = Pool::default();
        let mut kept = VecDeque::new();
        for round in 0..10_000_u32 {
            kept.push_back((round as u8, filled(&mut pool, round as u8)));
            if kept.len() > 100 {
                kept.pop_front();
            }
            assert!(
                kept.iter().all(|(byte, bytes)| bytes.iter().all(|other| other == byte)) || round % 97 != 0
            );
        }
        assert!(pool.allocated() < 8, "{} allocations for 10,000 buffers", pool.allocated());
    }

    #[test]
    fn what_is_kept_for_long_costs_a_chunk_and_no_more() {
        let mut pool = Pool::default();
        let first = filled(&mut pool, 7);
        for _ in 0..100_000 {
            filled(&mut pool, 1);
        }
        assert!(first.iter().all(|byte| *byte == 7));
        assert!(pool.used.len() <= CHUNKS_MAX);
    }

    #[test]
    fn a_long_buffer_is_allocated_by_itself() {
        let mut pool = Pool::default();
        assert!(pool.buffer(1 << 20).capacity() >= 1 << 20);
        assert!(pool.buffer(0).is_empty());
    }
}
