//! Why an office could not be made, kept, or handed over.

use folkmoot_runtime::{StateError, StoreError};
use std::path::PathBuf;

/// Whose fault it is, and what to do. Nothing was changed on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// The folder has an office: it is never overwritten, since nobody could sign for its group any
    /// more.
    #[error("{path} holds the office of an authority already; choose another folder with --state")]
    LocalExists {
        /// Which folder.
        path: PathBuf,
    },
    /// The folder has none.
    #[error(
        "{path} holds no office of an authority. Make one (folkmoot authority new), or take one over (folkmoot authority take-over)"
    )]
    LocalNone {
        /// Which folder.
        path: PathBuf,
    },
    /// A file that holds secrets can be read by others, or is not the owner's alone.
    #[error("{path} has mode {mode:o}, so others may have read it; its mode must be 600")]
    LocalExposed {
        /// Which file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A file is not what it is taken for.
    #[error("{path}: {detail}")]
    LocalFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A replica that knows the log keeps its own.
    #[error("the replica of {path} knows the log already; take-log is only for a replica that does not")]
    LocalKnows {
        /// Which folder.
        path: PathBuf,
    },
    /// Whose log was to be taken knows none.
    #[error("{path} holds no log of a replica that has ever been ready")]
    LocalNoLog {
        /// Which folder.
        path: PathBuf,
    },
    /// Whose log was to be taken is of another group.
    #[error("{path} belongs to another group's charter, so its log is not this group's")]
    LocalOtherGroup {
        /// Which folder.
        path: PathBuf,
    },
    /// An office cannot be made so.
    #[error("{0}")]
    LocalOffice(String),
    /// The state folder.
    #[error(transparent)]
    State(#[from] StateError),
    /// The store in it.
    #[error(transparent)]
    Store(StoreError),
}

/// A folder with an office or a log is never restored from a backup.
impl From<StoreError> for AuthorityError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.never_restored())
    }
}
