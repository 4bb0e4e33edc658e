//! What voters say to one another about the next decision, and what they keep of it on disk.

use crate::Head;
use crate::proposal::{Commit, Judgement, Promise, Proposal, Report};
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};

/// What voters say to one another about the next decision.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum BallotMessage {
    /// The owner of a ballot proposes.
    #[tls_codec(discriminant = 1)]
    Proposal {
        /// What.
        proposal: Proposal,
        /// The judgements of a quorum on what it follows; none if it is fresh.
        judgements: Vec<Judgement>,
    },
    /// A voter promises, and shows the highest commit that it gave.
    #[tls_codec(discriminant = 2)]
    Promise {
        /// The head that is to be followed.
        parent: Head,
        /// The ballot.
        ballot: u32,
        /// The promise.
        promise: Promise,
        /// The proposal that the report is of.
        report: Option<Proposal>,
        /// The judgements of a quorum on it; none without a report.
        judgements: Vec<Judgement>,
    },
    /// A voter commits.
    #[tls_codec(discriminant = 3)]
    Commit {
        /// The head that is to be followed.
        parent: Head,
        /// To what, in which ballot.
        report: Report,
        /// The commit.
        commit: Commit,
    },
    /// A voter has found a fresh proposal right.
    #[tls_codec(discriminant = 4)]
    Judgement {
        /// The head that is to be followed.
        parent: Head,
        /// What, in which ballot.
        report: Report,
        /// The judgement.
        judgement: Judgement,
    },
}

impl BallotMessage {
    /// The head that is to be followed.
    pub fn parent(&self) -> Head {
        match self {
            Self::Proposal { proposal, .. } => proposal.parent(),
            Self::Promise { parent, .. } | Self::Commit { parent, .. } | Self::Judgement { parent, .. } => {
                *parent
            }
        }
    }
}

/// What a voter must not forget. One for each head; a new one replaces it. That of a line which was
/// left is kept as long as its person may come back to that head.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct BallotRecord {
    /// The head that is to be followed.
    pub parent: Head,
    /// The lowest ballot in which this voter may still commit.
    pub promised: u32,
    /// What it judged last. Since then it goes on with ballots until the number is decided.
    pub judged: Option<Report>,
    /// The highest commit that it gave.
    pub committed: Option<Proposal>,
    /// The judgements of a quorum on what it committed to; none if it has not.
    pub judgements: Vec<Judgement>,
    /// The last proposal that it made.
    pub proposed: Option<Proposal>,
    /// A commit that it gave before its disk was restored, to a proposal that it has not heard
    /// again with the judgements. Until it has, it can promise nothing: a promise would have to
    /// report that.
    pub owed: Option<Report>,
}

impl BallotRecord {
    /// That of a voter that has said nothing about what follows this head.
    pub fn new(parent: Head) -> Self {
        Self {
            parent,
            promised: 0,
            judged: None,
            committed: None,
            judgements: Vec::new(),
            proposed: None,
            owed: None,
        }
    }
}
