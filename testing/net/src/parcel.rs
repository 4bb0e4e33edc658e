//! What members send: a block that names the message, its length, and filler that no two messages
//! share. Long ones are made and read with copies and comparisons of whole blocks: they must not
//! hold up the engine, which is not optimised here.

use bytes::Bytes;
use folkmoot::Service;
use folkmoot_sim::payload::{self, BLOCK_BYTES};
use folkmoot_sim::record::MessageId;
use std::sync::LazyLock;

const LENGTH_BYTES: usize = 8;
/// The shortest message.
pub(crate) const SHORTEST: usize = BLOCK_BYTES + LENGTH_BYTES;
const FILLER_BYTES: usize = 4_096;

/// Bytes that do not repeat soon; twice, so that a whole piece begins anywhere in the first half.
static FILLER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice.to_be_bytes().first().copied().unwrap_or_default()
    };
    let once: Vec<u8> = (0..FILLER_BYTES).map(|_| draw()).collect();
    once.repeat(2)
});

/// The filler of a message, from its first piece on.
fn pieces(message: MessageId, length: usize) -> impl Iterator<Item = &'static [u8]> {
    let number = u64::from(message.number).wrapping_mul(31) + u64::from(message.player).wrapping_mul(7);
    let first = usize::try_from(number % FILLER_BYTES as u64).unwrap_or_default();
    let body = length.saturating_sub(SHORTEST);
    (0..body.div_ceil(FILLER_BYTES)).map(move |piece| {
        let bytes = (body - piece * FILLER_BYTES).min(FILLER_BYTES);
        let from = (first + piece * 13) % FILLER_BYTES;
        FILLER.get(from..from + bytes).unwrap_or_default()
    })
}

/// A message of `length` bytes.
pub(crate) fn make(message: MessageId, service: Service, length: usize) -> Bytes {
    let mut out = payload::make(message, service, BLOCK_BYTES).to_vec();
    out.extend_from_slice(&length.to_be_bytes());
    pieces(message, length).for_each(|piece| out.extend_from_slice(piece));
    out.into()
}

/// Which message it is, by its first block alone.
pub(crate) fn name(bytes: &[u8]) -> Option<(MessageId, Service)> {
    payload::read(bytes.get(..BLOCK_BYTES)?)
}

/// Which message it is; `None` if a single byte differs from what [`make`] made.
pub(crate) fn read(bytes: &[u8]) -> Option<(MessageId, Service)> {
    let (message, service) = name(bytes)?;
    let (length, mut body) = bytes.get(BLOCK_BYTES..)?.split_first_chunk::<LENGTH_BYTES>()?;
    for piece in pieces(message, bytes.len()) {
        body = body.strip_prefix(piece)?;
    }
    (body.is_empty() && *length == bytes.len().to_be_bytes()).then_some((message, service))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_is_read_back_and_no_byte_of_it_may_differ() {
        let message = MessageId { player: 2, life: 1, number: 7_777 };
        for length in [SHORTEST, 41, 399, 5_000, 100_000] {
            let bytes = make(message, Service::Fifo, length);
            assert_eq!(bytes.len(), length);
            assert_eq!(read(&bytes), Some((message, Service::Fifo)));
            for place in [0, BLOCK_BYTES, length / 2, length - 1] {
                let mut bad = bytes.to_vec();
                bad[place] ^= 1;
                assert_eq!(read(&bad), None, "{place} of {length}");
            }
            assert_eq!(read(&bytes[..length - 1]), None);
            assert_eq!(read(&[&bytes[..], &[0]].concat()), None);
        }
        let other = MessageId { number: 7_778, ..message };
        let (mine, theirs) = (make(message, Service::Fifo, 5_000), make(other, Service::Fifo, 5_000));
        assert_ne!(mine[SHORTEST..], theirs[SHORTEST..]);
    }
}
