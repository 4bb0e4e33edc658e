//! Why a node does not start.

use folkmoot_base::limits::CHARTERS_MAX;

/// What is wrong with the data that a node starts from. Nothing that a peer sends ends a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The given charter is not valid.
    #[error("the charter is not valid: {0}. Ask a founder for charter.cms as all founders signed it")]
    LocalCharter(#[from] folkmoot_identity::CharterError),
    /// A charter that the node is to carry is not valid.
    #[error(
        "a charter that this node is to carry is not valid: {0}. Ask a founder for charter.cms as all founders signed it"
    )]
    LocalCarried(#[source] folkmoot_identity::CharterError),
    /// The charters that the node is to carry are too many, or one is named twice.
    #[error(
        "a node carries at most {CHARTERS_MAX} charters, each once, and its ring's own by itself: name others, or fewer"
    )]
    LocalCharters,
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
