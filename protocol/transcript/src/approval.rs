//! What a voter says about one subject.
//!
//! ```text
//! Approval = (voter, base, kind, subject, turn, verdict, expires)
//! ```
//! The base is the last decision that the voter knew. An approval counts only for what has not
//! changed since. Of a voter's approvals of one subject only one stands: the one over the latest
//! base; of equal bases the one with the highest turn; of equal turns a no; of two noes, or two
//! yeses, the one with the lower digest. The base comes first because the oldest base is forgotten
//! first: what stands is never forgotten before what it replaced. So the union of two sets of
//! approvals is the same whatever order they came in, before or after any decision.

use crate::Head;
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize, encode};
use folkmoot_base::{Digest, MemberId, UnixTime, digest};
use folkmoot_identity::{Verdict, VoteKind};
use std::cmp::Ordering;

/// How long an approval may count after its base, or after it is signed if its base is the head, in
/// seconds: 90 days.
pub const LIFE_SECONDS: u64 = 90 * 86_400;

/// What is approved.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
pub struct Subject {
    /// The kind of question.
    pub kind: VoteKind,
    /// The digest of what is asked: of a request, of an effect.
    pub digest: Digest,
}

/// One voter's yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Approval {
    /// Who.
    pub voter: MemberId,
    /// The last decision that the voter knew.
    pub base: Head,
    /// What.
    pub subject: Subject,
    /// How often the voter has changed its mind about this subject.
    pub turn: u32,
    /// Yes or no.
    pub verdict: Verdict,
    /// Until when it counts.
    pub expires: UnixTime,
}

impl Approval {
    /// Whether it is a yes.
    pub fn is_yes(&self) -> bool {
        self.verdict == Verdict::Approve
    }

    /// Its name: a digest of all that it says, without any signature.
    pub fn digest(&self) -> Digest {
        digest(&[b"folkmoot approval v1\0", &encode(self)])
    }

    /// Whether it stands in place of `other`, by the same voter on the same subject.
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        let rank = |one: &Self| (one.base.number, one.turn, !one.is_yes());
        match rank(self).cmp(&rank(other)) {
            Ordering::Equal => self.digest() < other.digest(),
            order => order.is_gt(),
        }
    }
}
