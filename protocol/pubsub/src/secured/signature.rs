//! Signatures by sender, where a channel has them: so it can be shown who said something, also to
//! somebody who was not there.
//!
//! ```text
//! signature = P-256, r ‖ s, under "folkmoot lcm message v1", over
//!             what names the key (32) | sender u16 | sequence u32 | SHA-256 of the content (32)
//!             | the channel's domain, as text
//! sealed    = AEAD(content | signature)
//! ```

use super::{Domain, DomainKey, SenderId};
use crate::Channel;
use folkmoot_base::{Digest, digest};
use folkmoot_signing::plain::{Signature, SigningKey, VerifyingKey};

/// Bytes by which a signed content is longer.
pub const SIGNATURE_BYTES: usize = folkmoot_signing::plain::SIGNATURE_BYTES;
const LABEL: &[u8] = b"folkmoot lcm message v1";

/// Who said something, to be shown to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribution {
    /// On which channel.
    pub domain: Domain,
    /// What names the key that it was said under.
    pub epoch: Digest,
    /// Whose number it was.
    pub sender: SenderId,
    /// Its number for the message.
    pub sequence: u32,
    /// Its signature.
    pub signature: Signature,
}

impl Attribution {
    /// Whether the holder of `key` said this.
    pub fn verifies(&self, content: &[u8], key: &VerifyingKey) -> bool {
        let said = said(&self.domain, &self.epoch, (self.sender, self.sequence), content);
        key.verify(LABEL, &said, &self.signature).is_ok()
    }
}

pub(crate) fn sign(
    key: &SigningKey,
    under: &DomainKey,
    (sender, sequence, channel): (SenderId, u32, &Channel),
    content: &[u8],
) -> [u8; SIGNATURE_BYTES] {
    let domain = under.domain().with_channel(*channel);
    key.sign(LABEL, &said(&domain, under.print(), (sender, sequence), content)).to_bytes()
}

/// Content and attribution of what was opened, if its sender signed it (PUB-25).
pub(crate) fn read(
    under: &DomainKey,
    (sender, sequence, channel): (SenderId, u32, &Channel),
    opened: &[u8],
    unverified: bool,
) -> Option<(usize, Attribution)> {
    let length = opened.len().checked_sub(SIGNATURE_BYTES)?;
    let (content, signature) = opened.split_at_checked(length)?;
    let signature = Signature::from_bytes(signature).ok()?;
    let key = under.member(sender)?.key.as_ref();
    let (domain, epoch) = (under.domain().with_channel(*channel), *under.print());
    let attribution = Attribution { domain, epoch, sender, sequence, signature };
    let verifies = unverified || attribution.verifies(content, key?);
    verifies.then_some((length, attribution))
}

fn said(domain: &Domain, epoch: &Digest, (sender, sequence): (SenderId, u32), content: &[u8]) -> Vec<u8> {
    let (domain, content) = (domain.to_string(), digest(&[content]));
    let (sender, sequence) = (sender.get().to_be_bytes(), sequence.to_be_bytes());
    [&epoch[..], &sender, &sequence, &content, domain.as_bytes()].concat()
}
