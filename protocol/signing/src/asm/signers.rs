//! Who signs: SL of the paper, fixed before the first round.

use super::{AsmError, ProvenKey};
use crate::base::{Digest, MemberId, digest};
use crate::{PrimeGroup, SIGNERS_MAX};

/// 1 to [`SIGNERS_MAX`] members of one group, sorted, with a proven key each, no two the same.
#[derive(Debug, Clone)]
pub struct Signers<G: PrimeGroup> {
    keys: Vec<ProvenKey<G>>,
    sum: G::Element,
}

impl<G: PrimeGroup> Signers<G> {
    /// Puts the keys in order. Two members with one key are one holder under two names. Keys that
    /// cancel out sign anything.
    ///
    /// # Errors
    /// [`AsmError::PeerSigners`].
    pub fn new(mut keys: Vec<ProvenKey<G>>) -> Result<Self, AsmError> {
        keys.sort_by_key(|key| key.member);
        let sum = keys.iter().fold(G::identity(), |sum, key| G::add(&sum, &key.key));
        let mut digests: Vec<Digest> = keys.iter().map(|key| key.digest).collect();
        digests.sort_unstable();
        let good = (1..=SIGNERS_MAX).contains(&keys.len())
            && keys
                .iter()
                .zip(keys.iter().skip(1))
                .all(|(a, b)| a.member < b.member && a.context == b.context)
            && digests.iter().zip(digests.iter().skip(1)).all(|(a, b)| a < b)
            && sum != G::identity();
        if good { Ok(Self { keys, sum }) } else { Err(AsmError::PeerSigners) }
    }

    /// Their names, in order.
    pub fn members(&self) -> Vec<MemberId> {
        self.keys.iter().map(|key| key.member).collect()
    }

    /// The key of one of them.
    pub fn key(&self, member: &MemberId) -> Option<&ProvenKey<G>> {
        let at = self.keys.binary_search_by_key(member, |key| key.member).ok()?;
        self.keys.get(at)
    }

    /// Y, the sum of their keys.
    pub(super) fn sum(&self) -> &G::Element {
        &self.sum
    }

    /// What a challenge covers besides R: group, label, every signer with its key, message.
    pub(super) fn subject(&self, label: &[u8], message: &[u8]) -> Digest {
        debug_assert!(
            label.starts_with(b"folkmoot") && !label.contains(&0),
            "labels name the project, without zeros"
        );
        let context = self.keys.first().map_or([0; 32], |key| key.context);
        let count = u16::try_from(self.keys.len()).unwrap_or(u16::MAX).to_be_bytes();
        let mut signers = Vec::new();
        for key in &self.keys {
            signers.extend_from_slice(&key.member.0);
            signers.extend_from_slice(&key.digest);
        }
        let parts: [&[u8]; 9] =
            [b"folkmoot asm subject v1", &[0], G::NAME, &[0], &context, label, &[0], &count, &signers];
        digest(&[&parts.concat(), message])
    }
}
