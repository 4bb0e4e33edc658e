//! A member's own word that it leaves for good. The voters decide on it as on a removal; what is
//! theirs to decide is only that it goes, and never that it wished to.
//!
//! ```text
//! the member signs: group, since, until --> Change::Leave, approved by the voters --> in the decision
//! ```
//! The word brings its key along, so whoever has the decision can verify it. It ends at `until`,
//! because people change their minds; and it is worth nothing for a later membership of the same
//! key, because that began after `since`.

use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, MemberId, Proof, Signatures as _, UnixTime, digest};
use folkmoot_signing::{Prover, SigningKey, VerifyingKey};

/// The domain label of a member's word that it leaves.
const LEAVE_LABEL: &[u8] = b"folkmoot leave v1";

/// A member's own word that it leaves for good.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Leave {
    /// Who leaves.
    pub member: MemberId,
    /// The number of the last decision that it knew.
    pub since: u64,
    /// Until when it may be decided.
    pub until: UnixTime,
    /// Its signature, with the key that it is the member by.
    pub proof: Proof,
}

impl Leave {
    /// The word of this key's holder.
    pub fn sign(key: &SigningKey, group: GroupId, since: u64, until: UnixTime) -> Self {
        let proof = Prover::new(key.clone()).sign(LEAVE_LABEL, &covered(&group, since, until));
        Self { member: key.verifying_key().member_id(), since, until, proof }
    }

    /// `LINE-93`: whether the member itself has signed it, for this group.
    pub fn is_signed(&self, group: &GroupId) -> bool {
        let covered = covered(group, self.since, self.until);
        let key = VerifyingKey::from_spki_der(self.proof.key.0.as_ref());
        key.is_ok_and(|key| {
            key.member_id() == self.member
                && key.verify_wire(LEAVE_LABEL, &covered, &self.proof.signature).is_ok()
        })
    }

    /// What approvals of it name. They do not cover the signature.
    pub(crate) fn digest(&self) -> Digest {
        let (since, until) = (self.since.to_be_bytes(), self.until.0.to_be_bytes());
        digest(&[b"folkmoot leaving v1\0", &self.member.0, &since, &until])
    }
}

fn covered(group: &GroupId, since: u64, until: UnixTime) -> Vec<u8> {
    [&group.0[..], &since.to_be_bytes(), &until.0.to_be_bytes()].concat()
}
