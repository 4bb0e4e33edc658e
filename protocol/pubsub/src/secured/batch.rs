//! One signature for many messages, where a channel has that: messages leave unsigned, and now and
//! then their sender attests which they were.
//!
//! ```text
//! message     = AEAD(content | 0)
//! attestation = AEAD((sequence u32 | digest 32) for each message | signature | 1)
//! digest      = SHA-256(what names the key | content)
//! signature   = P-256, r ‖ s, under "folkmoot lcm batch v1", over sender u16 | all of these
//!               | the domain's text
//! ```

use super::{Domain, DomainKey, SIGNATURE_BYTES, SenderId};
use crate::Channel;
use folkmoot_base::{Digest, digest};
use folkmoot_signing::plain::{Signature, SigningKey, VerifyingKey};
use std::collections::VecDeque;

/// Most messages under one signature.
pub const BATCH_MAX: usize = 64;
/// How many messages of a sender wait for their attestation.
const WAITING_MAX: usize = 4 * BATCH_MAX;
/// What ends a message and an attestation, inside of the seal.
pub(super) const MESSAGE: u8 = 0;
pub(super) const ATTESTATION: u8 = 1;
const LABEL: &[u8] = b"folkmoot lcm batch v1";
const ENTRY_BYTES: usize = 36;

/// A message: its number, and a digest of key and content.
pub(super) type Entry = (u32, Digest);

/// What a sender attests with one signature, to be shown to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// On which channel.
    pub domain: Domain,
    /// Whose number it was.
    pub sender: SenderId,
    entries: Vec<Entry>,
    signature: Signature,
}

/// Messages of which it is known now who said them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attested {
    /// On which channel.
    pub channel: Channel,
    /// Their numbers.
    pub sequences: Vec<u32>,
    /// By whom, and the proof.
    pub batch: Batch,
}

pub(super) fn entry(under: &DomainKey, sequence: u32, content: &[u8]) -> Entry {
    (sequence, digest(&[under.print(), content]))
}

impl Batch {
    /// Whether the holder of `key` said this with the number `sequence`, under the key that `epoch`
    /// names.
    pub fn verifies(&self, epoch: &Digest, sequence: u32, content: &[u8], key: &VerifyingKey) -> bool {
        self.entries.contains(&(sequence, digest(&[epoch, content]))) && self.is_signed(key)
    }

    fn is_signed(&self, key: &VerifyingKey) -> bool {
        let said = said(&self.domain, self.sender, &bytes(&self.entries));
        key.verify(LABEL, &said, &self.signature).is_ok()
    }

    /// Reads an attestation that was opened, if its sender signed it (PUB-25).
    pub(super) fn read(under: &DomainKey, sender: SenderId, opened: &[u8], unverified: bool) -> Option<Self> {
        let at = opened.len().checked_sub(SIGNATURE_BYTES)?;
        let (listed, signature) = opened.split_at_checked(at)?;
        let (listed, rest) = listed.as_chunks::<ENTRY_BYTES>();
        if !rest.is_empty() || listed.is_empty() || listed.len() > BATCH_MAX {
            return None;
        }
        let entries: Option<Vec<Entry>> = listed.iter().map(read).collect();
        let signature = Signature::from_bytes(signature).ok()?;
        let batch = Self { domain: *under.domain(), sender, entries: entries?, signature };
        (unverified || batch.is_signed(under.member(sender)?.key.as_ref()?)).then_some(batch)
    }

    /// Takes what is attested out of what waits; their numbers.
    pub(super) fn claim(&self, waiting: &mut VecDeque<Entry>) -> Vec<u32> {
        let claimed = waiting.iter().filter(|entry| self.entries.contains(entry));
        let claimed: Vec<u32> = claimed.map(|(sequence, _)| *sequence).collect();
        waiting.retain(|entry| !self.entries.contains(entry));
        claimed
    }
}

/// An attestation, to be sealed.
pub(super) fn attestation(key: &SigningKey, domain: &Domain, sender: SenderId, entries: &[Entry]) -> Vec<u8> {
    let listed = bytes(entries);
    let signature = key.sign(LABEL, &said(domain, sender, &listed)).to_bytes();
    [&listed[..], &signature].concat()
}

/// Notes what waits for its attestation; whether another gave way.
pub(super) fn wait(waiting: &mut VecDeque<Entry>, entry: Entry) -> bool {
    let full = waiting.len() >= WAITING_MAX;
    if full {
        waiting.pop_front();
    }
    waiting.push_back(entry);
    full
}

fn read(entry: &[u8; ENTRY_BYTES]) -> Option<Entry> {
    let (sequence, digest) = entry.split_first_chunk()?;
    Some((u32::from_be_bytes(*sequence), digest.try_into().ok()?))
}

fn bytes(entries: &[Entry]) -> Vec<u8> {
    let bytes = |(sequence, digest): &Entry| [&sequence.to_be_bytes()[..], digest].concat();
    entries.iter().flat_map(bytes).collect()
}

fn said(domain: &Domain, sender: SenderId, listed: &[u8]) -> Vec<u8> {
    [&sender.get().to_be_bytes()[..], listed, domain.to_string().as_bytes()].concat()
}
