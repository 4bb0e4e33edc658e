//! Why a member does not start.

/// What is wrong with what a member starts from. Nothing a peer sends ends a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemberError {
    /// The charter given does not stand.
    #[error("the charter does not stand: {0}. Ask a founder for charter.cms as all founders signed it")]
    LocalCharter(#[from] folkmoot_identity::EntryError),
    /// The charter or an entry in the store does not stand: the store is damaged, or belongs to
    /// another group.
    #[error(
        "the stored transcript does not stand: {0}. Move the store away (member.sqlite, with its -wal file, if there is one) and start \
         again: the others have the transcript. An authority's folder, or its replica's, is never restored from a backup"
    )]
    StoreTranscript(#[from] folkmoot_identity::LoadError),
    /// Requests or votes in the store are damaged.
    #[error(
        "the stored votes do not stand: {0}. Move the store away (member.sqlite, with its -wal file, if there is one) and start \
         again: the voters vote once more"
    )]
    StoreVotes(#[from] folkmoot_admission::AdmissionError),
    /// The authority's office in the store is damaged, or must not run so.
    #[error("{0}{then}", then = after_office(.0))]
    StoreOffice(#[source] folkmoot_admission::AdmissionError),
}

/// What to do about an office that is damaged; of the others the text says it itself.
fn after_office(error: &folkmoot_admission::AdmissionError) -> &'static str {
    match error {
        folkmoot_admission::AdmissionError::LocalCorrupt(_) => {
            ". Never restore this folder from a backup: set it up anew as one that was lost (docs/cli.md, \"Replicas of an authority\")"
        }
        _ => "",
    }
}
