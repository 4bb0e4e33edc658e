//! Bytes as a sequence of steps, so that one input can drive a machine: `op u8, length u16, bytes`,
//! one after another.

use bytes::Bytes;
use folkmoot_base::Entropy;

/// Most steps of one input.
const STEPS_MAX: usize = 96;

/// Reads steps until the bytes end; a length that runs over the end takes what is left.
pub(crate) fn steps(data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let ([op, high, low], after) = rest.split_first_chunk::<3>()?;
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (body, after) = after.split_at(length);
        rest = after;
        Some((*op, body))
    })
    .take(STEPS_MAX)
}

/// Writes what [`steps`] reads.
pub(crate) fn script<B: AsRef<[u8]>>(steps: impl IntoIterator<Item = (u8, B)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (op, body) in steps {
        let body = body.as_ref();
        out.push(op);
        out.extend(u16::try_from(body.len()).expect("steps of seeds are short").to_be_bytes());
        out.extend(body);
    }
    out
}

/// Own bytes of a step.
pub(crate) fn owned(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// The first two bytes of a step as a number: milliseconds, a place in a list.
pub(crate) fn number(body: &[u8]) -> u64 {
    body.iter().take(2).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Entropy from a number, so that every run of one input is the same (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let bytes = (z ^ (z >> 31)).to_be_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}
