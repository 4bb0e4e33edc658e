//! What leads somebody on that has been away for so long that the decisions after its head are not
//! kept any more, or a newcomer to an old group; and what leads somebody over from another line.
//!
//! ```text
//! "folkmoot skip v1" 00 | handovers[Standing]  last(Standing) state(blob)
//! "folkmoot side v1" 00 | decisions[Standing]  last(Standing) state(blob)   the first is the one at the fork
//! ```

use crate::proposal::Standing;
use crate::{ItemError, Taken, Transcript};
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{DecodeError, Head, UnixTime};

/// The decisions that a package shows which leads on, the last one at the end; none if it leads
/// over, or is no package.
pub fn shown_by_package(bytes: &[u8]) -> Vec<Standing> {
    let body = bytes.strip_prefix(SKIP_LABEL);
    let package = body.and_then(|body| codec::decode_at_most::<Package>(body, PACKAGE_BYTES_MAX).ok());
    package.map_or_else(Vec::new, |Package { mut handovers, last, .. }| {
        handovers.push(last);
        handovers
    })
}

/// Whether these bytes begin as a package does. No item does.
pub fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(SKIP_LABEL) || bytes.starts_with(SIDE_LABEL)
}

/// What a package begins with that leads on; no item does.
const SKIP_LABEL: &[u8] = b"folkmoot skip v1\0";
/// What a package begins with that leads over.
const SIDE_LABEL: &[u8] = b"folkmoot side v1\0";
/// Longest package, in bytes.
pub const PACKAGE_BYTES_MAX: usize = 6 * 1024 * 1024;

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Package {
    handovers: Vec<Standing>,
    last: Standing,
    state: Blob,
}

impl Transcript {
    /// Whether somebody at this head needs a package: the decision that follows it is not kept, or
    /// not with the admissions that it holds or names. Whoever skipped has handovers without them.
    pub fn has_left_behind(&self, head: &Head) -> bool {
        let next = self.line().decisions().get(&head.number.saturating_add(1));
        let whole = |next: &Standing| {
            next.proposal.decision.requests().all(|request| self.papers(request).next().is_some())
        };
        head.number < self.state().head().number && !next.is_some_and(whole)
    }

    /// The package for somebody at this head; `None` if it would be too long.
    pub fn package(&self, head: &Head) -> Option<Bytes> {
        let (handovers, last) = self.line().handovers_since(head.number)?;
        self.pack(SKIP_LABEL, handovers, last)
    }

    /// The package for somebody on another line that comes to ours: from our decision `first` at
    /// the fork on. `None` if that is none of ours, is not kept any more, or the package would be
    /// too long.
    pub fn side_package(&self, first: &Head) -> Option<Bytes> {
        let ours = self.line().decisions().get(&first.number)?;
        let (decisions, last) = self.line().side_from(first.number).filter(|_| ours.head() == *first)?;
        self.pack(SIDE_LABEL, decisions, last)
    }

    fn pack(&self, label: &[u8], handovers: Vec<Standing>, last: Standing) -> Option<Bytes> {
        let state = Blob::from(self.state().encode());
        let package = codec::encode(&Package { handovers, last, state });
        let bytes = [label, &package].concat();
        (bytes.len() <= PACKAGE_BYTES_MAX).then(|| Bytes::from(bytes))
    }

    /// Goes on by a package ([`Self::skip`]), or over to another line ([`Self::meet`], with
    /// `resolves`). `clock` is what ours says, if there is one that counts.
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was. [`ItemError::needs_person`]: it stands, and
    /// our person has not said to go on to its last decision (`resolves`).
    pub fn take_package(
        &mut self,
        bytes: &[u8],
        resolves: Option<Head>,
        clock: Option<UnixTime>,
    ) -> Result<Taken, ItemError> {
        let before = self.roster().clone();
        let gone_on = self.go_by_package(bytes, resolves, clock)?;
        Ok(self.asked(&before, gone_on, clock))
    }

    fn go_by_package(
        &mut self,
        bytes: &[u8],
        resolves: Option<Head>,
        clock: Option<UnixTime>,
    ) -> Result<Taken, ItemError> {
        let skip = bytes.strip_prefix(SKIP_LABEL);
        let body = skip.or_else(|| bytes.strip_prefix(SIDE_LABEL)).ok_or(DecodeError::Malformed)?;
        let Package { handovers, last, state } = codec::decode_at_most(body, PACKAGE_BYTES_MAX)?;
        if skip.is_some() {
            let says = resolves == Some(last.head());
            return self.skip_if_may((&handovers, &last, &state.0), says, clock);
        }
        if resolves.is_none() {
            self.check_time(last.proposal.decision.time, self.sound(clock))?;
        }
        self.meet(&handovers, &last, &state.0, resolves)
    }
}
