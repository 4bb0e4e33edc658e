//! Why a node does not start.

/// What is wrong with the data that a node starts from. Nothing that a peer sends ends a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The given charter is not valid.
    #[error("the charter is not valid: {0}. Ask a founder for charter.cms as all founders signed it")]
    LocalCharter(#[from] folkmoot_identity::CharterError),
    /// The line in the store is not valid: the store is damaged, or belongs to
    /// another group.
    #[error(
        "the stored transcript is not valid: {0}. Move the store away (member.sqlite, with its -wal file, if there is one) and start \
         again: the others have the transcript. An authority's folder, or its replica's, is set up anew as one that was lost, never restored"
    )]
    StoreTranscript(#[from] folkmoot_transcript::ItemError),
    /// The ring number in the store is damaged.
    #[error(
        "the stored ring number is damaged: {0}. Move the store away (member.sqlite, with its -wal file, if there is one) and start \
         again: the others have the transcript. An authority's folder, or its replica's, is set up anew as one that was lost, never restored"
    )]
    StoreRing(#[from] folkmoot_ring::StoredError),
}
