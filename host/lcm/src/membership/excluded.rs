//! The folder of exclusions: what people put there is carried out, and what was heard lies there.
//!
//! ```text
//! EXCLUDED/1-9f21….statement     the root's statement; the name is for people
//! EXCLUDED/9f2185….statement     one that was heard: the first bytes of whom it names
//! ```
//! It is not in the state folder: whoever goes back to an older state still has the exclusions.

use folkmoot_base::{Digest, UnixTime, digest, hex};
use folkmoot_pubsub::discovery::Exclusion;
use folkmoot_pubsub::discovery::message::{CERTIFICATE_BYTES_MAX, PROOFS_MAX};
use folkmoot_system::write_whole;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// How the name of such a file ends.
pub const EXCLUSION_FILE_END: &str = "statement";
/// Most files that are read. A member keeps [`PROOFS_MAX`] exclusions; the others may be of
/// certificates that ended long ago (PUB-71). They stay, since a clock can be wrong.
pub const EXCLUSION_FILES_MAX: usize = 16 * PROOFS_MAX;

/// What lies in this folder under the name of an exclusion, each with its file: what it says, or
/// why it cannot be read. A folder that is not there has none.
///
/// Of more than [`EXCLUSION_FILES_MAX`] files one more than that.
///
/// # Errors
/// What the system says of the folder.
pub fn exclusions_in(folder: &Path) -> io::Result<Vec<(PathBuf, io::Result<Vec<u8>>)>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let named = paths.filter(|path| path.extension().is_some_and(|end| end == EXCLUSION_FILE_END));
    let mut all: Vec<PathBuf> = named.take(EXCLUSION_FILES_MAX.saturating_add(1)).collect();
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
    /// What lies there, by its SHA-256: whom it excludes; `None` if our root has not made it.
    known: BTreeMap<Digest, Option<Exclusion>>,
}

/// What lies in the folder: a statement, by its SHA-256.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) statement: Vec<u8>,
    named: Digest,
}

impl Excluded {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, known: BTreeMap::new() }
    }

    /// What lies in the folder now.
    pub(super) async fn read(&mut self) -> Vec<Found> {
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
                Ok(statement) => read.push(Found { path, named: digest(&[&statement]), statement }),
                Err(error) => tracing::warn!(%error, path = %path.display(), "this exclusion cannot be read"),
            }
        }
        // What is there no more is written again.
        let there: BTreeSet<Digest> = read.iter().map(|one| one.named).collect();
        self.known.retain(|named, _| there.contains(named));
        read
    }

    /// Of what lies there, what is to be carried out at this time: not yet done, and of a
    /// certificate that has not ended long ago (PUB-71). At each look anew: a clock that was ahead
    /// may have been put right, and room may have come. Each is judged once, by `judge`.
    pub(super) fn open(
        &mut self,
        all: Vec<Found>,
        wall: UnixTime,
        judge: impl Fn(&[u8]) -> Option<Exclusion>,
        done: impl Fn(&Digest) -> bool,
    ) -> Vec<Vec<u8>> {
        let mut open = Vec::new();
        for Found { path, statement, named } in all {
            let judged = *self.known.entry(named).or_insert_with(|| {
                let judged = judge(&statement);
                if judged.is_none() {
                    tracing::warn!(path = %path.display(), "this is no exclusion of our root");
                }
                judged
            });
            if judged.is_some_and(|out| !out.is_over(wall) && !done(&out.holder)) {
                open.push(statement);
            }
        }
        open
    }

    /// Writes these, each with whom it names, unless they lie there. `false` if the disk does not
    /// have them all.
    pub(super) async fn keep(&mut self, all: Vec<(Exclusion, Vec<u8>)>) -> bool {
        let mut kept = true;
        for (out, statement) in all {
            let named = digest(&[&statement]);
            if self.known.contains_key(&named) {
                continue;
            }
            let folder = self.folder.clone();
            let write = tokio::task::spawn_blocking(move || write(&folder, &out.holder, &statement)).await;
            match write.map_err(io::Error::other).flatten() {
                Ok(()) => _ = self.known.insert(named, Some(out)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pub_76_what_lies_there_is_offered_until_it_is_done_whatever_the_clock_does_meanwhile() {
        let mut excluded = Excluded::new("x".into());
        let found = || {
            let one = |name: &str| Found {
                path: name.into(),
                statement: name.as_bytes().to_vec(),
                named: digest(&[name.as_bytes()]),
            };
            ["thief", "nobody"].map(one).into()
        };
        let judge = |statement: &[u8]| {
            (statement == b"thief").then_some(Exclusion { holder: [7; 32], until: Some(UnixTime(5_000)) })
        };
        let mut open = |wall: u64, done: bool| excluded.open(found(), UnixTime(wall), judge, |_| done).len();
        assert_eq!(open(1_000, false), 1);
        assert_eq!(open(1_010, true), 0, "it is carried out");
        // The clock jumps, the machine forgets, and the clock is put right.
        assert_eq!(open(90_000, false), 0, "nobody takes that certificate");
        assert_eq!(open(1_020, false), 1, "somebody would take it again");
    }
}
