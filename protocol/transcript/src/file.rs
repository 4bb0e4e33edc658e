//! A transcript as a file, for somebody outside the group.
//!
//! ```text
//! "folkmoot transcript v2" 00 | sections: kind 1, length 4, bytes
//! 1 charter (CMS)     2 handover, each     3 last decision     4 state after it     5 item of the set, each
//! 6 item of an admission that the state holds, each     7 evidence of a fork, each     8 end, empty
//! ```
//! The order is that of the kinds. Handovers are the last decisions under each electorate. A group
//! that has decided nothing has no sections 2, 3, 4, 6 and 7. Nothing is signed as a whole: every
//! part proves itself.

mod reader;

pub use reader::FileReader;

use crate::proposal::Standing;
use crate::{Fork, Head, ITEM_BYTES_MAX, KnownHead, State, Transcript};
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, digest};
use std::collections::BTreeSet;

/// What a file begins with.
pub const FILE_LABEL: &[u8] = b"folkmoot transcript v2\0";
/// Longest state, in bytes.
pub const STATE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most handovers of one file.
pub const HANDOVERS_MAX: usize = 100_000;
/// Most items of the set in one file.
pub const ITEMS_MAX: usize = 4 * 1024 * 1024;
/// Longest signed charter, in bytes.
const CHARTER_BYTES_MAX: usize = 48 * 1024;
/// Kind and length.
const HEAD_BYTES: usize = 5;

const CHARTER: u8 = 1;
const HANDOVER: u8 = 2;
const LAST: u8 = 3;
const STATE: u8 = 4;
const OPEN: u8 = 5;
const HELD: u8 = 6;
const FORK: u8 = 7;
const END: u8 = 8;

/// A section of kind 7.
#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Evidence {
    /// The decision on this line, if no section before has it.
    ours: Option<Standing>,
    /// The other.
    theirs: Standing,
}

impl Transcript {
    /// The transcript as a file.
    pub fn file(&self) -> Vec<u8> {
        let mut out = FILE_LABEL.to_vec();
        section(&mut out, CHARTER, self.signed_charter().der());
        if let Some((handovers, last)) = self.line().handovers_since(0) {
            handovers.iter().for_each(|one| section(&mut out, HANDOVER, &codec::encode(one)));
            section(&mut out, LAST, &codec::encode(&last));
            section(&mut out, STATE, &self.state().encode());
        }
        let mut items: Vec<Bytes> =
            self.set_items(&BTreeSet::new()).into_iter().map(|(_, item)| item).collect();
        items.sort_by_cached_key(|item| place_of(item));
        items.iter().for_each(|item| section(&mut out, OPEN, item));
        let held: BTreeSet<Digest> = self.state().roster().values().map(|held| held.request).collect();
        for paper in held.iter().flat_map(|request| self.papers(request).take(1)) {
            section(&mut out, HELD, paper);
        }
        let mut shown = 0;
        for fork in self.line().forks().values() {
            let number = fork.ours.head().number;
            if let Some(evidence) = self.evidence(fork, shown == number) {
                section(&mut out, FORK, &codec::encode(&evidence));
                shown = number;
            }
        }
        section(&mut out, END, &[]);
        out
    }

    /// A fork as a file shows it, `shown` if the file has our side of it by then: none if nothing
    /// shows any more that our side is on the line.
    fn evidence(&self, fork: &Fork, shown: bool) -> Option<Evidence> {
        let (ours, theirs) = (fork.ours.clone(), fork.theirs.clone());
        let head = self.state().head();
        let in_file = shown || ours.head() == head || ours.proposal.decision.electorate.is_some();
        if in_file {
            return self.has_on_line(&ours.head()).then_some(Evidence { ours: None, theirs });
        }
        self.state().has_on_line(&ours.head()).then_some(Evidence { ours: Some(ours), theirs })
    }

    /// Whether this decision is on the line, as far as the line still shows it.
    pub fn has_on_line(&self, head: &Head) -> bool {
        self.head_at(head.number) == Some(*head)
    }

    /// The decision of this number on the line, as far as the line still shows it.
    pub fn head_at(&self, number: u64) -> Option<Head> {
        let kept = || self.line().decisions().get(&number).map(Standing::head);
        let founding = || State::founded(self.signed_charter().charter().clone()).head();
        self.state().decision_at(number).or_else(kept).or_else(|| (number == 0).then(founding))
    }

    /// Whether a head that is known from elsewhere is on the line, as far as the line still shows
    /// it.
    pub fn knows(&self, head: &KnownHead) -> bool {
        self.head_at(head.number()).is_some_and(|ours| head.names(&ours))
    }
}

/// Where an item stands among those of the set: by kind, then by digest. What approvals need comes
/// before them, and what needs approvals after them.
fn place_of(item: &[u8]) -> (u8, Digest) {
    // The version comes first.
    (item.get(1).copied().unwrap_or_default(), digest(&[item]))
}

fn section(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The longest section of a kind; none for a kind that there is not.
fn longest(kind: u8) -> Option<usize> {
    match kind {
        CHARTER => Some(CHARTER_BYTES_MAX),
        HANDOVER | LAST | OPEN | HELD => Some(ITEM_BYTES_MAX),
        STATE => Some(STATE_BYTES_MAX),
        FORK => Some(ITEM_BYTES_MAX.saturating_mul(2)),
        END => Some(0),
        _ => None,
    }
}
