//! What members say to each other in a run: blocks that name their message, so that a checker knows
//! every piece of a plaintext when it meets one where none may be.
//!
//! ```text
//! block of 32 bytes:  marker 12 | player 1 | life 2 | number 4 | service 1 | size 4 | index 4 | check 4
//! ```
//! A message is `size` bytes of blocks 0, 1, 2, …; the last one may be cut. The shortest message is
//! one block.

use crate::record::MessageId;
use bytes::Bytes;
use folkmoot_base::Service;

/// Begins every block; appears nowhere but in plaintext.
pub const MARKER: [u8; 12] = *b"~moot-plain~";
/// Bytes of one block, and of the shortest message.
pub const BLOCK_BYTES: usize = 32;

/// All service levels, weakest first.
pub const SERVICES: [Service; 6] =
    [Service::Unreliable, Service::Reliable, Service::Fifo, Service::Causal, Service::Agreed, Service::Safe];

/// The plaintext of `message`: `size` bytes, at least one block.
pub fn make(message: MessageId, service: Service, size: usize) -> Bytes {
    let size = size.max(BLOCK_BYTES);
    let mut out = Vec::with_capacity(size.saturating_add(BLOCK_BYTES));
    let mut index = 0_u32;
    while out.len() < size {
        out.extend_from_slice(&block(message, service, size, index));
        index = index.saturating_add(1);
    }
    out.truncate(size);
    out.into()
}

/// Reads what [`make`] wrote; `None` if a single byte differs.
pub fn read(bytes: &[u8]) -> Option<(MessageId, Service)> {
    let rest = bytes.strip_prefix(&MARKER)?;
    let (&[player, l1, l0, n3, n2, n1, n0, service, s3, s2, s1, s0], _) = rest.split_first_chunk::<12>()?;
    let message = MessageId {
        player,
        life: u16::from_be_bytes([l1, l0]),
        number: u32::from_be_bytes([n3, n2, n1, n0]),
    };
    let service = SERVICES.into_iter().find(|known| *known as u8 == service)?;
    let size = usize::try_from(u32::from_be_bytes([s3, s2, s1, s0])).ok()?;
    (size == bytes.len() && make(message, service, size) == bytes).then_some((message, service))
}

/// Whether a marker lies anywhere in `bytes`.
pub fn shows_plaintext(bytes: &[u8]) -> bool {
    let [first, ..] = MARKER;
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        let (_, tail) = rest.split_at(at);
        if tail.starts_with(&MARKER) {
            return true;
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    false
}

fn block(message: MessageId, service: Service, size: usize, index: u32) -> [u8; BLOCK_BYTES] {
    let mut out = [0; BLOCK_BYTES];
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let mix = message.number.wrapping_mul(0x9e37_79b9) ^ index.wrapping_mul(0x85eb_ca6b) ^ size;
    let parts: [&[u8]; 8] = [
        &MARKER,
        &[message.player],
        &message.life.to_be_bytes(),
        &message.number.to_be_bytes(),
        &[service as u8],
        &size.to_be_bytes(),
        &index.to_be_bytes(),
        &mix.to_be_bytes(),
    ];
    for (to, from) in out.iter_mut().zip(parts.into_iter().flatten()) {
        *to = *from;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: MessageId = MessageId { player: 3, life: 2, number: 77 };

    #[test]
    fn reads_back_every_size_and_refuses_every_change() {
        for size in [0, 32, 33, 64, 1_399, 5_000] {
            let bytes = make(ID, Service::Causal, size);
            assert_eq!(bytes.len(), size.max(BLOCK_BYTES));
            assert_eq!(read(&bytes), Some((ID, Service::Causal)));
            let mut bad = bytes.to_vec();
            let last = bad.len() - 1;
            bad[last] ^= 1;
            assert_eq!(read(&bad), None);
            assert_eq!(read(&bytes[..last]), None);
        }
    }

    #[test]
    fn finds_plaintext_in_any_piece_of_two_blocks() {
        let bytes = make(ID, Service::Safe, 4_000);
        assert!(shows_plaintext(&bytes[1_000..1_000 + 2 * BLOCK_BYTES]));
        assert!(!shows_plaintext(&[b'~'; 100]));
    }
}
