//! What a member knows of the charter's authority: which of its nodes are linked, what the member
//! handed in, and what came back.

use core::time::Duration;
use folkmoot_base::{Bucket, Digest, Instant, NodeId};
use folkmoot_identity::Dealer;
use folkmoot_transcript::Roster;
use std::collections::BTreeMap;

/// How often a member says that it is here.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// When a request is handed in next, and how often that was done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) next: Instant,
    pub(crate) tries: u32,
    /// Whether there were no grounds here the last time. If so, we coordinate the session that
    /// makes them.
    pub(crate) bare: bool,
}

/// What a member knows of the authority.
#[derive(Debug, Default)]
pub(crate) struct AtAuthority {
    /// Its nodes that are linked here.
    pub(crate) linked: BTreeMap<NodeId, Bucket>,
    pub(crate) asked: BTreeMap<Digest, Asked>,
    /// When it last said anything here.
    pub(crate) heard: Option<Instant>,
    pub(crate) beat: Option<Instant>,
}

impl AtAuthority {
    pub(crate) fn due(&self) -> Option<Instant> {
        if self.linked.is_empty() {
            return None;
        }
        self.asked.values().map(|asked| asked.next).chain(self.beat).min()
    }

    pub(crate) fn is_linked(&self) -> bool {
        !self.linked.is_empty()
    }

    /// Its nodes that are linked here, and when one of them last said anything.
    pub(crate) fn reached(&self) -> (Vec<NodeId>, Option<Instant>) {
        (self.linked.keys().copied().collect(), self.heard)
    }

    pub(crate) fn node(&self, tries: u32) -> Option<NodeId> {
        let at = usize::try_from(tries).ok()?.checked_rem(self.linked.len())?;
        self.linked.keys().nth(at).copied()
    }
}

/// Whether this node speaks for the charter's authority.
pub(crate) fn speaks(roster: &Roster, node: &NodeId) -> bool {
    roster.charter().central().is_some_and(|central| central.speaks(&node.member()))
}

/// Whether the authority, and not the members, is to make the sharing that is wanted.
pub(crate) fn is_dealers(roster: &Roster) -> bool {
    let dealer = roster.charter().central().and_then(|central| central.dealer);
    match dealer {
        Some(Dealer::Keeps) => true,
        Some(Dealer::SetupOnly) => roster.sharing().is_none(),
        None => false,
    }
}
