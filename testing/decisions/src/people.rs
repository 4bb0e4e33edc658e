//! Everybody who occurs: a fixed list of keys, made once, and charters among them.

use folkmoot_base::{Entropy, GroupName, MemberId, digest};
use folkmoot_identity::{Charter, CharterDraft, Founder, Quorum, SigningKey, VerifyingKey};
use folkmoot_transcript::SignatureBytes;

/// How many people there are: at most five founders, and others who may come in.
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

struct Counted(u64);

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
        Self { keys: (0..PEOPLE).map(key).collect() }
    }

    /// The key of a person.
    pub fn key(&self, person: usize) -> Option<&VerifyingKey> {
        self.keys.get(person)
    }

    /// The member that a person is or would be.
    pub fn member(&self, person: usize) -> MemberId {
        self.key(person).map_or(MemberId([0; 32]), VerifyingKey::member_id)
    }

    /// Everybody.
    pub fn everybody(&self) -> Vec<MemberId> {
        self.keys.iter().map(VerifyingKey::member_id).collect()
    }

    /// A charter of the first `founders` people.
    ///
    /// # Errors
    /// The charter's own refusal, as text.
    pub fn charter(
        &self,
        founders: usize,
        threshold: u32,
        quorum: Quorum,
        objections: Option<u32>,
    ) -> Result<Charter, String> {
        let founder = |(person, key): (usize, &VerifyingKey)| Founder {
            name: format!("person {person}"),
            key: key.clone(),
        };
        let named = self.keys.iter().take(founders).enumerate().map(founder).collect();
        let name = GroupName::new("decisions").map_err(|why| why.to_string())?;
        let mut draft = CharterDraft::new(name, threshold, named, &mut Counted(1 << 48));
        draft.quorum = quorum;
        draft.policies.objections = objections;
        Charter::from_toml(&draft.to_toml()).map_err(|why| why.to_string())
    }
}

/// In the model nobody can forge, so a signature need not say anything.
pub(crate) fn signature() -> SignatureBytes {
    SignatureBytes::NONE
}
