//! A decision: one batch of what people approved and of what programs do without being asked.
//!
//! ```text
//! Decision n+1 = (group, n+1, digest of decision n, T, effects with their approvals, requests held, requests refused,
//!                 the electorate if it is another now, digest of State(n+1))
//! ```
//! Its digest covers all of that. It covers neither the ballot in which it was proposed nor the
//! commits that made it stand: these are beside it.

use crate::{Approval, Effect, Head, Refusal, Subject};
use folkmoot_base::SignatureBytes;
use folkmoot_base::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize, encode};
use folkmoot_base::{Digest, GroupId, MemberId, UnixTime, digest};
use folkmoot_identity::{Verdict, VoteKind};

/// Most effects in one decision.
pub const EFFECTS_MAX: usize = 32;
/// Most requests that one decision holds.
pub const HOLDS_MAX: usize = 512;
/// Most requests that one decision refuses.
pub const REFUSALS_MAX: usize = 32;

/// One approval as decisions carry it: what it is about stands beside it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Proof {
    /// Who approved.
    pub voter: MemberId,
    /// The last decision that the voter knew.
    pub base: Head,
    /// How often the voter had changed its mind.
    pub turn: u32,
    /// Until when it counts.
    pub expires: UnixTime,
    /// The voter's signature.
    pub signature: SignatureBytes,
}

/// An effect and those who approved it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Approved {
    /// What.
    pub effect: Effect,
    /// By whom, sorted by voter, each once.
    pub proofs: Vec<Proof>,
}

/// A request that objections end, and those who objected.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Refused {
    /// The digest of the request.
    pub request: Digest,
    /// The serial number that its CSR gives, if it is by CSR.
    pub csr: Option<[u8; 16]>,
    /// Who rejected it, sorted by voter, each once.
    pub proofs: Vec<Proof>,
}

/// A place of the electorate, for whoever checks the decisions that follow.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Elector {
    /// Whose place.
    pub member: MemberId,
    /// The key (SPKI); empty if the holder of the place is no member any more.
    pub key: Blob,
}

/// Who commits from now on, and how many of them it takes.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Electorate {
    /// 1: more than half of the places, or half with the first; 2: more than two thirds.
    pub quorum: u8,
    /// The places in order.
    pub places: Vec<Elector>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Decision {
    /// The group.
    pub group: GroupId,
    /// Its number: one more than its parent's.
    pub number: u64,
    /// The digest of the decision before it.
    pub parent: Digest,
    /// Its time.
    pub time: UnixTime,
    /// What people approved, in the order in which it is carried out.
    pub effects: Vec<Approved>,
    /// The requests that it holds, sorted, each once.
    pub holds: Vec<Digest>,
    /// The requests that it refuses, sorted, each once.
    pub refusals: Vec<Refused>,
    /// The electorate after it, if it is not the one before it.
    pub electorate: Option<Electorate>,
    /// The digest of the state after it.
    pub state: Digest,
}

impl Decision {
    /// SHA-256 of its encoding, which names it.
    pub fn digest(&self) -> Digest {
        digest(&[b"folkmoot decision v2\0", &encode(self)])
    }

    /// The requests that it holds or names: whoever applies it needs their certificates.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Digest> {
        self.holds.iter().chain(self.effects.iter().filter_map(|one| one.effect.change.request()))
    }

    /// Where it puts those who apply it.
    pub fn head(&self) -> Head {
        Head { number: self.number, digest: self.digest() }
    }
}

impl Proof {
    /// The approval that it proves.
    pub fn approval(&self, subject: Subject, verdict: Verdict) -> Approval {
        let Self { voter, base, turn, expires, .. } = *self;
        Approval { voter, base, subject, turn, verdict, expires }
    }

    /// What carries this approval.
    pub fn of(approval: &Approval, signature: SignatureBytes) -> Self {
        let Approval { voter, base, turn, expires, .. } = *approval;
        Self { voter, base, turn, expires, signature }
    }
}

impl Approved {
    /// The approvals, in order.
    pub fn approvals(&self) -> impl Iterator<Item = Approval> {
        let subject = self.effect.subject();
        self.proofs.iter().map(move |proof| proof.approval(subject, Verdict::Approve))
    }
}

impl Refused {
    /// What it refuses.
    pub fn refusal(&self) -> Refusal {
        Refusal { request: self.request, csr: self.csr }
    }

    /// The rejections, in order.
    pub fn rejections(&self) -> impl Iterator<Item = Approval> {
        let subject = Subject { kind: VoteKind::Admit, digest: self.request };
        self.proofs.iter().map(move |proof| proof.approval(subject, Verdict::Reject))
    }
}
