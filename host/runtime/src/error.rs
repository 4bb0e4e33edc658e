//! Why the runtime refused or stopped. Every text says which file or setting, and what to do next.

use folkmoot_base::limits::CHARTERS_MAX;
use folkmoot_base::{GroupId, UnixTime};
use std::path::PathBuf;

/// Why a store could not be opened, read or written. Nothing was changed on disk by the attempt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file is damaged, cut short, or not ours.
    #[error(
        "the store {path} is damaged ({detail}). Keep a copy of it, then restore it from a backup (never an authority's folder, nor its \
         replica's: docs/cli.md), or move it away (with its -wal file, if there is one): the member then starts from its charter and fetches \
         the transcript from the others"
    )]
    LocalCorrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The same of an authority's folder, or its replica's: what it told since a backup was made,
    /// it would tell otherwise.
    #[error(
        "the store {path} is damaged ({detail}). Never restore this folder from a backup: what was issued since then could be issued a \
         second time. Keep a copy of it, and set it up anew as one that was lost (docs/cli.md, \"Replicas of an authority\")"
    )]
    LocalCorruptOffice {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Somebody else has had it for longer than one waits.
    #[error(
        "the store {path} was held by another program for a minute. End whatever else reads or writes it (a copy, a backup, sqlite3), and \
         start again"
    )]
    LocalBusy {
        /// Which file.
        path: PathBuf,
    },
    /// A newer release wrote the file.
    #[error(
        "the store {path} has format {found}; this release reads {known}. Use the newer release that wrote it"
    )]
    LocalFormat {
        /// Which file.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The format that this release reads and writes.
        known: i64,
    },
    /// The disk said no.
    #[error("the store {path} cannot be used ({detail}). Check the disk's free space and the file's owner")]
    LocalDisk {
        /// Which file.
        path: PathBuf,
        /// What the disk or SQLite said.
        detail: String,
        /// Whether time alone may mend it ([`folkmoot_system::is_passing`]).
        passing: bool,
    },
    /// The thread that writes the store is gone.
    #[error("the store's writer has stopped; restart the member")]
    LocalStopped,
}

impl StoreError {
    /// As [`RuntimeError::is_passing`].
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::LocalBusy { .. } | Self::LocalDisk { passing: true, .. })
    }

    /// As it is told of a folder that is never restored from a backup: an authority's, and its
    /// replica's.
    #[must_use]
    pub fn never_restored(self) -> Self {
        match self {
            Self::LocalCorrupt { path, detail } => Self::LocalCorruptOffice { path, detail },
            other => other,
        }
    }
}

/// Why a state folder could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another process runs on the same folder.
    #[error("{path} is in use by another process. Stop it, or choose another folder with --state")]
    LocalInUse {
        /// Which folder.
        path: PathBuf,
    },
    /// The folder or a file in it cannot be read or written.
    #[error("{path}: {detail}")]
    LocalFile {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        detail: String,
        /// Whether time alone may mend it ([`folkmoot_system::is_passing`]).
        passing: bool,
    },
    /// A secret lies open to others.
    #[error("{path} can be read by others (mode {mode:o}). Run: chmod 600 {path}")]
    LocalExposed {
        /// Which file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key is under a passphrase, and there is none.
    #[error(
        "{path} is encrypted, and no passphrase was given. Give it with --passphrase-file FILE or --passphrase-fd NUMBER, as the systemd \
         credential folkmoot-passphrase, or at a terminal, where it is asked for"
    )]
    LocalSealed {
        /// Which file.
        path: PathBuf,
    },
    /// The key is under another passphrase.
    #[error(
        "the passphrase does not open {path}. Try again. If it is forgotten, nobody can open the key any more, and only a vote leads back: \
         make a new identity in another folder (folkmoot identity new), ask for admission with it (folkmoot join), and have the members \
         expel the old one (folkmoot expel)"
    )]
    LocalPassphrase {
        /// Which file.
        path: PathBuf,
    },
    /// There is no identity yet.
    #[error("{path} holds no identity. Run: folkmoot --state {path} identity new NAME")]
    LocalNoIdentity {
        /// Which folder.
        path: PathBuf,
    },
    /// There is a key, and no certificate beside it.
    #[error(
        "{path} is missing beside its key. Copy it back: every group that has this identity knows it (folkmoot export, at any member), and so \
         does anyone who was given it. If nobody was, move identity.key away and make a new identity"
    )]
    LocalNoCertificate {
        /// Which file.
        path: PathBuf,
    },
    /// There is an identity already.
    #[error("{path} exists already; a key is never overwritten. Choose another folder with --state")]
    LocalExists {
        /// Which file.
        path: PathBuf,
    },
    /// There is no charter yet.
    #[error("{path} holds no charter. Run: folkmoot join CHARTER --at LOCATOR, or name one with --charter")]
    LocalNoCharter {
        /// Which folder.
        path: PathBuf,
    },
    /// Another charter stands in this folder.
    #[error(
        "{path} belongs to another group's charter. One folder serves one charter: choose another with --state"
    )]
    LocalOtherCharter {
        /// Which file.
        path: PathBuf,
    },
    /// The content of a file does not stand.
    #[error("{path} cannot be used: {detail}")]
    LocalMalformed {
        /// Which file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
}

impl StateError {
    /// As [`RuntimeError::is_passing`].
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::LocalFile { passing: true, .. })
    }
}

/// Why a node does not carry the charters that it was told to carry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CarryError {
    /// The file holds no charter, or one that is not valid.
    #[error(
        "{path} is no charter that a node can carry: {detail}. Ask a founder of that group for charter.cms as all founders signed it"
    )]
    LocalNotCharter {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// It is the charter of the node's own ring.
    #[error("{path} is the charter of this node's own ring, whose group it carries anyway. Leave it out")]
    LocalOwn {
        /// Which file.
        path: PathBuf,
    },
    /// Two files are one charter.
    #[error("{first} and {second} are the same charter. Name it once")]
    LocalTwice {
        /// The file that was named first.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// There are more than a node carries.
    #[error(
        "{count} charters are too many: a node carries at most {CHARTERS_MAX} beside its own ring's. Name fewer here, and the others at \
         another ring"
    )]
    LocalTooMany {
        /// How many were named.
        count: usize,
    },
    /// A party is to live on the node by a charter that the node does not carry.
    #[error(
        "this node does not carry the charter of the group {group}. Name its file among those that the node carries"
    )]
    LocalNotCarried {
        /// The group that the charter founds.
        group: GroupId,
    },
}

/// Why the runtime did not start, refused a call, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state folder.
    #[error(transparent)]
    State(#[from] StateError),
    /// The charters to carry.
    #[error(transparent)]
    Carry(#[from] CarryError),
    /// The transport.
    #[error("transport: {detail}")]
    LocalTransport {
        /// What the system said, and what to do.
        detail: String,
        /// Whether time alone may mend it ([`folkmoot_system::is_passing`]).
        passing: bool,
    },
    /// The stacks did not start from what the folder holds.
    #[error("the member cannot start: {0}")]
    LocalStart(String),
    /// The application did not take its events; by Spread's custom, it is let go rather than the
    /// ring held up.
    #[error("the application left {0} events waiting; it must take them faster")]
    LocalSlowReader(usize),
    /// Another process with the same identity started later, and proved it (LINK-26).
    #[error(
        "another process with this identity was started later (at {0}, by its clock), so this one has stopped: an identity may run only \
         once. If its folder is a copy of this one, stop that process and remove the copy; if you then want this one, start it again. If \
         nobody made a copy, somebody has stolen the key: ask the members to expel this identity (folkmoot expel)"
    )]
    LocalSuperseded(UnixTime),
    /// The machine goes on from a snapshot, so what this process has in memory may be in use a
    /// second time ([`crate::Generation`]).
    #[error(
        "this machine was resumed from a snapshot (or moved to another host while it ran), so this member has stopped: the keys in its memory \
         may have been used since by another run of the same snapshot. Start it again. If this machine runs twice now, stop one of the two: \
         an identity may run only once"
    )]
    LocalResumed,
    /// There is no key now, or the queue is full: `try_send` does not wait.
    #[error("there is no key at the moment; wait, or use send")]
    NoEpoch,
    /// The member is not in that group (any more); held messages are dropped.
    #[error("this member is no longer in the group's view; the message was dropped")]
    NotInGroup,
    /// The member refused the message.
    #[error("the message was not sent: {0}")]
    SendRefused(folkmoot_base::Refused),
    /// A proof was asked for of a message that its sender did not sign.
    #[error("the message is not signed, so it proves nothing: every member of its view could have made it")]
    NotSigned,
    /// A proof was asked for of what does not stand.
    #[error("no proof can be made: {0}")]
    LocalProof(String),
    /// The runtime has ended: its own program says why.
    #[error("the member has stopped. Its output or its log says why")]
    Stopped,
    /// The member does not do what was ordered, and nothing has changed.
    #[error(transparent)]
    Refused(#[from] folkmoot_base::Refused),
    /// The engine ended without a word.
    #[error("the member has ended without a reason, which is a bug")]
    LocalFailed,
}

impl RuntimeError {
    /// Whether time alone may mend it, and nobody need decide anything: whoever starts it again
    /// later may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            Self::State(error) => error.is_passing(),
            Self::LocalTransport { passing, .. } => *passing,
            _ => false,
        }
    }

    /// As [`StoreError::never_restored`].
    #[must_use]
    pub fn never_restored(self) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.never_restored()),
            other => other,
        }
    }
}
