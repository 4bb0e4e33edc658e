//! Why a member does not start.

/// What is wrong with what a member starts from. Nothing a peer sends ends a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemberError {
    /// The charter given does not stand.
    #[error("the charter does not stand: {0}. Ask a founder for charter.cms as all founders signed it")]
    LocalCharter(#[from] folkmoot_identity::EntryError),
    /// The charter or an entry in the store does not stand: the store is damaged, or belongs to another group.
    #[error(
        "the stored transcript does not stand: {0}. Restore the state folder from a backup, or move it away and join again"
    )]
    StoreTranscript(#[from] folkmoot_identity::LoadError),
    /// Requests or votes in the store are damaged.
    #[error(
        "the stored votes do not stand: {0}. Restore the state folder from a backup, or move it away and join again"
    )]
    StoreVotes(#[from] folkmoot_admission::AdmissionError),
}
