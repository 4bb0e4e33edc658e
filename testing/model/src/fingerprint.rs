//! A state is recognised by a fingerprint of 128 bits. The chance that two of some fifty million
//! states share one is below 2⁻⁷⁶.

use crate::world::World;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher};

/// States that were met.
pub(crate) type Known = HashSet<u128, BuildHasherDefault<Lower>>;
/// The same, each with its number.
pub(crate) type Numbered = HashMap<u128, u32, BuildHasherDefault<Lower>>;

/// The state's.
pub(crate) fn fingerprint(world: &World) -> u128 {
    let mut bytes = Bytes(Vec::with_capacity(512));
    world.hash(&mut bytes);
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(&bytes.0);
        hasher.finish()
    };
    u128::from(half(1)) << 64 | u128::from(half(2))
}

/// Everything that a state consists of.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn finish(&self) -> u64 {
        0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn write_u8(&mut self, byte: u8) {
        self.0.push(byte);
    }
    // Tags of variants and lengths: all are small.
    fn write_isize(&mut self, number: isize) {
        self.0.push(u8::try_from(number).unwrap_or(u8::MAX));
    }
    fn write_usize(&mut self, number: usize) {
        self.0.push(u8::try_from(number).unwrap_or(u8::MAX));
    }
}

/// A fingerprint needs no more hashing.
#[derive(Default)]
pub(crate) struct Lower(u64);

impl Hasher for Lower {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte));
    }
}
