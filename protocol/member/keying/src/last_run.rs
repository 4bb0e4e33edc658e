//! What a party keeps of its last run, and what it tells the others about it.
//!
//! ```text
//!  1 | run 32 | rank u32 | module's name ...        goes with FLUSH_OK; empty: the party keeps nothing
//!                                                  among distant members, behind a share (shares.rs)
//! ```
//! Every party of a coming view says beforehand what it keeps. So when the view is there, all know
//! from which run the next one starts, and which parties are new to it. Nobody infers this from the
//! kind of change. Bytes that make no sense mean that their sender keeps nothing, which is always
//! possible.

use crate::agreement::{Kept, ModuleName, Origin};
use crate::base::{Digest, Party};
use crate::shares;
use bytes::Bytes;
use std::collections::BTreeSet;

const VERSION: u8 = 1;

/// The state from the last run that was confirmed.
pub(crate) struct LastRun {
    /// The run: its key epoch's public name.
    pub(crate) run: Digest,
    pub(crate) kept: Kept,
}

impl LastRun {
    /// The bytes that go with FLUSH_OK.
    pub(crate) fn brings(&self) -> Bytes {
        let head = [VERSION].into_iter().chain(self.run).chain(self.kept.rank().to_be_bytes());
        head.chain(self.kept.module().as_str().bytes()).collect()
    }

    /// What each of `members` holds of this run, if all do and `module` can start from it.
    pub(crate) fn origins(&self, members: &[Party], module: ModuleName) -> Option<Vec<Option<Origin>>> {
        if self.kept.module() != module {
            return None;
        }
        let origin = |member| Some(Some(Origin { run: self.run, rank: self.kept.rank_of(member)? }));
        members.iter().map(origin).collect()
    }
}

/// What the parties of a view hold that a run of `module` can start from. If two parties claim one
/// place in a run, nobody's claim to that run counts. One of them lies, and only the parties of
/// that run know which one, so it is not worth a complaint. All parties come to the same result.
pub(crate) fn origins(brought: &[Bytes], module: ModuleName) -> Vec<Option<Origin>> {
    let said: Vec<_> = brought.iter().map(|said| origin(said, module)).collect();
    let mut places = BTreeSet::new();
    let twice = said.iter().flatten().filter(|origin| !places.insert(**origin));
    let void: BTreeSet<Digest> = twice.map(|origin| origin.run).collect();
    said.into_iter().map(|origin| origin.filter(|origin| !void.contains(&origin.run))).collect()
}

fn origin(brought: &[u8], module: ModuleName) -> Option<Origin> {
    let (version, rest) = shares::split(brought).1.split_first()?;
    let (run, rest) = rest.split_first_chunk::<32>()?;
    let (rank, name) = rest.split_first_chunk::<4>()?;
    let known = *version == VERSION && name == module.as_str().as_bytes();
    known.then(|| Origin { run: *run, rank: u32::from_be_bytes(*rank) })
}
