//! An idealised view-synchronous layer below, random schedules over it, and the properties that
//! must hold.

pub mod model;
pub mod scene;
pub mod table;

use folkmoot_base::{
    ConfigurationId, Digest, Entropy, GroupId, MemberId, NodeId, Party, SignatureBytes, ViewId, digest,
    hmac_sha256,
};
use folkmoot_keying::{Credentials, Terms};
use std::collections::BTreeSet;

pub const GROUP: GroupId = GroupId([9; 32]);

/// A seeded stream (splitmix64): no security, only repeatable.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high + 1 - low)
    }
}

impl Entropy for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let bytes = self.next().to_be_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// Members are numbers, so that sorting them sorts their ids.
pub fn id(number: usize) -> MemberId {
    let mut id = [0; 32];
    id[31] = u8::try_from(number).unwrap();
    MemberId(id)
}

/// The only party of a member.
pub fn member(number: usize) -> Party {
    id(number).into()
}

/// Parties of which the first three are of one member.
pub fn of_one(number: usize) -> Party {
    if number < 3 { Party::new(id(0), u16::try_from(number).unwrap()) } else { member(number) }
}

/// The number of a party, of [`member`] or of [`of_one`].
pub fn number(party: &Party) -> usize {
    usize::from(party.member.0[31]) + usize::from(party.port)
}

/// Equal for all parties of a member.
pub fn certificate(member: &MemberId) -> Digest {
    digest(&[b"certificate", &member.0])
}

pub fn view_id(order: u64) -> ViewId {
    let configuration = ConfigurationId { ring_seq: order, representative: NodeId([1; 32]), nonce: [2; 16] };
    ViewId { configuration, order, group: GROUP }
}

/// Stand-in signatures: a MAC under a key that belongs to the member. Crate identity has the real
/// ones.
pub struct Stamper(pub usize);

impl Stamper {
    /// With the key of this party's member.
    pub fn of(party: &Party) -> Self {
        Self(usize::from(party.member.0[31]))
    }
}

/// A member under a charter, whose roster has lost some members.
pub struct Over<'a>(pub Stamper, pub &'a BTreeSet<usize>, pub Terms);

fn stamp(member: &MemberId, message: &[u8]) -> SignatureBytes {
    stamped(&digest(&[b"test key", &member.0]), message)
}

/// What anyone who has `key` can put in the place of a signature.
pub fn stamped(key: &[u8; 32], message: &[u8]) -> SignatureBytes {
    let mac = hmac_sha256(key, &[message]);
    let mut out = [0; 64];
    out[..32].copy_from_slice(&mac);
    out[32..].copy_from_slice(&mac);
    out.into()
}

impl Credentials for Stamper {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        stamp(&id(self.0), message)
    }
    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool {
        stamp(member, message) == *signature
    }
    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        (usize::from(member.0[31]) < 200).then(|| certificate(member))
    }
    fn terms(&self) -> Terms {
        Terms { charter_version: 1, ..Terms::default() }
    }
}

impl Over<'_> {
    fn has_lost(&self, member: &MemberId) -> bool {
        self.1.contains(&usize::from(member.0[31]))
    }
}

impl Credentials for Over<'_> {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        self.0.sign(message)
    }
    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool {
        !self.has_lost(member) && self.0.verify(member, message, signature)
    }
    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        self.0.certificate(member).filter(|_| !self.has_lost(member))
    }
    fn terms(&self) -> Terms {
        self.2
    }
}
