//! The folder of exclusions: what people put there is carried out, and what was heard lies there.
//!
//! ```text
//! EXCLUDED/1-9f21….statement     the root's statement; the name is for people
//! EXCLUDED/9f2185….statement     one that was heard: the first bytes of whom it names
//! ```
//! It is not in the state folder: whoever goes back to an older state still has the exclusions.

use folkmoot_base::{Digest, digest, hex};
use folkmoot_pubsub::discovery::message::{CERTIFICATE_BYTES_MAX, PROOFS_MAX};
use folkmoot_system::write_whole;
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// How the name of such a file ends.
pub const EXCLUSION_FILE_END: &str = "statement";
/// Most files that are read. A member keeps [`PROOFS_MAX`] exclusions; the others may be of
/// certificates that ended long ago (PUB-71). They stay, since a clock can be wrong.
const FILES_MAX: usize = 16 * PROOFS_MAX;

/// What lies in this folder under the name of an exclusion, each with its file: what it says, or
/// why it cannot be read. A folder that is not there has none.
///
/// # Errors
/// What the system says of the folder, or that more lies there than is read.
pub fn exclusions_in(folder: &Path) -> io::Result<Vec<(PathBuf, io::Result<Vec<u8>>)>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let named = paths.filter(|path| path.extension().is_some_and(|end| end == EXCLUSION_FILE_END));
    let mut all: Vec<PathBuf> = named.take(FILES_MAX.saturating_add(1)).collect();
    if all.len() > FILES_MAX {
        let text = format!(
            "more than {FILES_MAX} exclusions lie there. Move those away whose certificates have ended"
        );
        return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
    }
    all.sort();
    Ok(all.into_iter().map(|path| (path.clone(), read(&path))).collect())
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe would keep whoever opens it waiting.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(CERTIFICATE_BYTES_MAX).unwrap_or(u64::MAX);
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let fits = bytes.len() <= CERTIFICATE_BYTES_MAX;
    if fits { Ok(bytes) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "it is too long")) }
}

/// What a member knows of the folder.
#[derive(Debug)]
pub(super) struct Excluded {
    folder: PathBuf,
    /// Statements that lie there, by their SHA-256, and those that it could not keep or take.
    known: BTreeSet<Digest>,
}

impl Excluded {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, known: BTreeSet::new() }
    }

    /// What has come into the folder since the last time.
    pub(super) async fn fresh(&mut self) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = self.folder.clone();
        let read = tokio::task::spawn_blocking(move || exclusions_in(&folder)).await;
        let all = match read.map_err(io::Error::other).flatten() {
            Ok(all) => all,
            Err(error) => {
                tracing::warn!(%error, folder = %self.folder.display(), "the exclusions there cannot be read");
                return Vec::new();
            }
        };
        let mut read = Vec::new();
        for (path, statement) in all {
            match statement {
                Ok(statement) => read.push((path, statement)),
                Err(error) => tracing::warn!(%error, path = %path.display(), "this exclusion cannot be read"),
            }
        }
        let mut all = read;
        // What is there no more is written again.
        self.known = all
            .iter()
            .map(|(_, statement)| digest(&[statement]))
            .filter(|one| self.known.contains(one))
            .collect();
        all.retain(|(_, statement)| self.known.insert(digest(&[statement])));
        all
    }

    /// Writes these, each with whom it names, unless they lie there. `false` if the disk does not
    /// have them all.
    pub(super) async fn keep(&mut self, all: Vec<(Digest, Vec<u8>)>) -> bool {
        let mut kept = true;
        for (holder, statement) in all {
            let named = digest(&[&statement]);
            if self.known.contains(&named) {
                continue;
            }
            let folder = self.folder.clone();
            let write = tokio::task::spawn_blocking(move || write(&folder, &holder, &statement)).await;
            match write.map_err(io::Error::other).flatten() {
                Ok(()) => _ = self.known.insert(named),
                Err(error) => {
                    tracing::warn!(%error, folder = %self.folder.display(), "an exclusion is not written there");
                    kept = false;
                }
            }
        }
        kept
    }
}

fn write(folder: &Path, holder: &Digest, statement: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = hex(holder.get(..8).unwrap_or_default());
    write_whole(&folder.join(name).with_extension(EXCLUSION_FILE_END), statement)
}
