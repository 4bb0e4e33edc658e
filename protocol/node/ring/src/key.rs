//! The ring key: one key for each configuration and sender, so that a packet is sealed once for all
//! who get it.
//!
//! ```text
//! COMMIT 1: each member adds 32 random bytes --> COMMIT 2: all of them come round
//!   ring secret = HKDF-Extract("folkmoot ring v1 secret", id, members, contributions)
//!   key of a sender = HKDF-Expand(ring secret, "folkmoot ring v1 sender", id, sender)
//! ```
//! This layer makes keys and says when they begin and end ([`KeyChange`]). The link layer seals. A
//! commit token travels over sealed links between members only, so whoever is outside knows no
//! contribution. Why it is done so: docs/decisions/0037-ring-key.md.
//! Source: HKDF, RFC 5869.

use crate::data::RingHandle;
use crate::message::CommitToken;
use folkmoot_base::codec::tls_codec::Error;
use folkmoot_base::codec::{DeserializeBytes, Serialize, Size};
use folkmoot_base::{ConfigurationId, Digest, Entropy, NodeId, Secret, draw, hmac_sha256};
use std::io::Write;

/// Length of a contribution.
pub const CONTRIBUTION_BYTES: usize = 32;

/// In a smaller ring a packet has one receiver at most, and there the link's own keys do.
const MEMBERS_MIN: usize = 3;

const SECRET: &[u8] = b"folkmoot ring v1 secret";
const SENDER: &[u8] = b"folkmoot ring v1 sender";
const NAME: &[u8] = b"folkmoot ring v1 name of a contribution";

/// What one member adds to the secret of one attempt (RING-24).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contribution(Secret<[u8; CONTRIBUTION_BYTES]>);

impl Contribution {
    /// These bytes.
    pub fn new(bytes: [u8; CONTRIBUTION_BYTES]) -> Self {
        Self(Secret::new(bytes))
    }

    /// A new one.
    pub(crate) fn draw(entropy: &mut dyn Entropy) -> Self {
        Self::new(draw(entropy))
    }

    /// Names it, and says nothing of it.
    fn name(&self) -> Digest {
        hmac_sha256(self.0.expose(), &[NAME])
    }
}

impl Size for Contribution {
    fn tls_serialized_len(&self) -> usize {
        CONTRIBUTION_BYTES
    }
}

impl Serialize for Contribution {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, Error> {
        self.0.expose().tls_serialize(writer)
    }
}

impl DeserializeBytes for Contribution {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (bytes, rest) = DeserializeBytes::tls_deserialize_bytes(bytes)?;
        Ok((Self::new(bytes), rest))
    }
}

/// The keys of one attempt: of each member the one under which it seals what it numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingKeys {
    /// Which ring, as DATA names it.
    pub ring: RingHandle,
    /// By index among the members. Empty in a ring of one or two, which needs none.
    pub senders: Vec<(NodeId, Secret<[u8; 32]>)>,
    /// Names what this node contributed, for checkers of RING-24.
    pub contributed: Option<Digest>,
}

/// What becomes of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyChange {
    /// All contributions to this attempt are known: open with its keys from now on, beside those of
    /// the configuration that is installed.
    Attempt(RingKeys),
    /// The attempt is the configuration now: seal with its keys from now on, and erase those of the
    /// one before.
    Installed,
    /// The attempt has failed: erase its keys.
    Failed,
}

impl RingKeys {
    /// The keys of the attempt that `token` makes known at `me`, once it is complete.
    pub(crate) fn of(token: &CommitToken, me: &NodeId) -> Self {
        let ring = RingHandle::of(&token.id.nonce);
        let contributed = token.contribution(me).map(Contribution::name);
        if token.members.len() < MEMBERS_MIN {
            return Self { ring, senders: Vec::new(), contributed };
        }
        let secret = secret(token);
        let key = |node: &NodeId| (*node, sender_key(&secret, &token.id, node));
        Self { ring, senders: token.members.iter().map(key).collect(), contributed }
    }
}

fn secret(token: &CommitToken) -> Secret<[u8; 32]> {
    let id = id_bytes(&token.id);
    let count = u8::try_from(token.members.len()).unwrap_or(u8::MAX).to_be_bytes();
    let mut parts: Vec<&[u8]> = vec![&id, &count];
    parts.extend(token.members.iter().map(|node| node.0.as_slice()));
    parts.extend(token.contributions.iter().map(|contribution| contribution.0.expose().as_slice()));
    Secret::new(hmac_sha256(SECRET, &parts))
}

fn sender_key(secret: &Secret<[u8; 32]>, id: &ConfigurationId, node: &NodeId) -> Secret<[u8; 32]> {
    Secret::new(hmac_sha256(secret.expose(), &[SENDER, &id_bytes(id), &node.0, &[1]]))
}

/// Ring number, representative, nonce.
fn id_bytes(id: &ConfigurationId) -> [u8; 56] {
    let mut out = [0; 56];
    let bytes = id.ring_seq.to_be_bytes().into_iter().chain(id.representative.0).chain(id.nonce);
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    out
}

#[cfg(test)]
mod tests {
    use super::{Contribution, RingKeys};
    use crate::message::CommitToken;
    use folkmoot_base::{ConfigurationId, NodeId, hex};

    fn token() -> CommitToken {
        CommitToken {
            id: ConfigurationId { ring_seq: 5, representative: NodeId([1; 32]), nonce: [9; 16] },
            members: [1, 2, 3].map(|byte| NodeId([byte; 32])).to_vec(),
            old_rings: Vec::new(),
            contributions: [0x11, 0x22, 0x33].map(|byte| Contribution::new([byte; 32])).to_vec(),
            mtus: vec![1_452; 3],
            trips: vec![0; 3],
            rotation: 2,
        }
    }

    fn keys(token: &CommitToken) -> Vec<String> {
        RingKeys::of(token, &NodeId([1; 32])).senders.iter().map(|(_, key)| hex(key.expose())).collect()
    }

    /// Worked out by another program, from docs/protocol/ring.md.
    #[test]
    fn ring_24_keys_are_those_of_hkdf() {
        let expected = [
            "2abd7fa3dc308f1e8883ea85b958fee847540e3e20e8f10a1a59c436816e6b93",
            "fabcc902e608e0787a54b5c2e3e132121bf1ff30882b75e48efca1427f0a1f51",
            "f77f3428cfccc06e33234a3964509173d82112a67e2c7694e44e2ee9d18f51cf",
        ];
        assert_eq!(keys(&token()), expected);
    }

    /// Whoever lacks one contribution, or has those of another attempt, has no key.
    #[test]
    fn ring_24_each_contribution_and_the_configuration_count() {
        let good = keys(&token());
        let mut others = vec![token(), token(), token(), token(), token()];
        others[0].contributions[1] = Contribution::new([0x23; 32]);
        others[1].contributions.swap(0, 1);
        others[2].id.nonce = [8; 16];
        others[3].id.ring_seq = 6;
        others[4].members[2] = NodeId([4; 32]);
        for other in &others {
            assert!(keys(other).iter().all(|key| !good.contains(key)), "{other:?}");
        }
    }

    #[test]
    fn ring_24_a_ring_of_two_has_no_keys() {
        let mut token = token();
        token.members.pop();
        token.contributions.pop();
        assert_eq!(keys(&token), Vec::<String>::new());
    }
}
