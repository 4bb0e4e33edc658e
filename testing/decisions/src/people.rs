//! Everybody who occurs: a fixed list of keys, made once.

use folkmoot_base::{Entropy, MemberId, digest};
use folkmoot_identity::{SigningKey, VerifyingKey};
use folkmoot_transcript::SignatureBytes;

/// How many people there are: at most five founders, and others who may come in. Each has a second
/// key, to go on with when the first one is rotated.
pub const PEOPLE: usize = 10;

/// Random bits from a number (SplitMix64).
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        let sides = u64::try_from(sides.max(1)).unwrap_or(1);
        usize::try_from(self.next() % sides).unwrap_or_default()
    }

    /// Yes, so many times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.roll(of.len()))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

/// Bits that are the same in each run.
pub(crate) struct Counted(pub(crate) u64);

impl Entropy for Counted {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 = self.0.wrapping_add(1);
            let block = digest(&[&self.0.to_be_bytes()]);
            chunk.iter_mut().zip(block).for_each(|(to, from)| *to = from);
        }
    }
}

/// The keys of everybody, in an order that all runs share.
#[derive(Debug, Clone)]
pub struct People {
    keys: Vec<VerifyingKey>,
}

impl Default for People {
    fn default() -> Self {
        Self::new()
    }
}

impl People {
    /// Makes the keys.
    pub fn new() -> Self {
        let key = |person| {
            let seed = u64::try_from(person).unwrap_or_default() << 32;
            SigningKey::generate(&mut Counted(seed)).verifying_key().clone()
        };
        Self { keys: (0..2 * PEOPLE).map(key).collect() }
    }

    /// The key of a person; from [`PEOPLE`] on the second keys.
    pub fn key(&self, person: usize) -> Option<&VerifyingKey> {
        self.keys.get(person)
    }

    /// The first and the second key of a person.
    pub fn keys(&self, person: usize) -> [MemberId; 2] {
        [self.member(person), self.member(PEOPLE + person)]
    }

    /// The member that a person is or would be.
    pub fn member(&self, person: usize) -> MemberId {
        self.key(person).map_or(MemberId([0; 32]), VerifyingKey::member_id)
    }

    /// Everybody, by the first keys.
    pub fn everybody(&self) -> Vec<MemberId> {
        self.keys.iter().take(PEOPLE).map(VerifyingKey::member_id).collect()
    }
}

/// In the model nobody can forge, so a signature need not say anything.
pub(crate) fn signature() -> SignatureBytes {
    SignatureBytes::NONE
}
