//! The installed view, and which of its parties are still with us.

use crate::View;
use crate::agree::Pending;
use crate::message::ViewTag;
use bytes::Bytes;
use folkmoot_base::{Danger, Digest, Mutant, Party, ViewId};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) id: ViewId,
    pub(crate) tag: ViewTag,
    pub(crate) members: BTreeSet<Party>,
    /// Came along with us ever since: neither lost nor removed.
    with_me: BTreeSet<Party>,
    /// Not removed by a notice: what they sent in the view still counts (for a lost one, until the
    /// next notice).
    heard: BTreeSet<Party>,
    /// Have said that they have installed it.
    received: BTreeSet<Party>,
    pub(crate) signalled: bool,
}

impl Installed {
    fn new(id: ViewId, members: BTreeSet<Party>) -> Self {
        Self {
            id,
            tag: ViewTag::of(&id),
            with_me: members.clone(),
            heard: members.clone(),
            received: BTreeSet::new(),
            signalled: false,
            members,
        }
    }

    /// Their nodes did not come along.
    pub(crate) fn lose(&mut self, lost: &BTreeSet<Party>) {
        self.with_me.retain(|party| !lost.contains(party));
    }

    /// A notice removed them, or does not list them.
    pub(crate) fn remove(&mut self, removed: &BTreeSet<Party>, members: &BTreeSet<Party>) {
        let stays = |party: &Party| members.contains(party) && !removed.contains(party);
        self.with_me.retain(stays);
        self.heard.retain(stays);
    }

    pub(crate) fn hears(&self, party: &Party) -> bool {
        self.heard.contains(party)
    }

    pub(crate) fn received(&mut self, party: Party) {
        if self.members.contains(&party) {
            self.received.insert(party);
        }
    }

    /// Whether all parties that are with us are known to have the view.
    pub(crate) fn is_stable(&self) -> bool {
        self.with_me.is_subset(&self.received)
    }
}

/// The step from one view to the next: what is installed, and what the layer above is told.
pub(crate) fn install(
    before: Option<&Installed>,
    pending: Pending,
    heads: Digest,
    me: Party,
    danger: Mutant,
) -> (Installed, View) {
    let Pending { view: id, members, cause, flush_oks, .. } = pending;
    let mut together: BTreeSet<Party> =
        before.map_or_else(BTreeSet::new, |before| before.with_me.intersection(&members).copied().collect());
    together.insert(me);
    if danger.is(Danger::FlushWholeTransitional) {
        together.clone_from(&members);
    }
    let departed =
        before.map_or_else(Vec::new, |before| before.members.difference(&together).copied().collect());
    let shown = |party: &&Party| !danger.is(Danger::FlushOmitsSelf) || **party != me;
    let brings = |party| flush_oks.get(party).map_or_else(Bytes::new, |said| said.brings.0.clone());
    let view = View {
        brought: members.iter().filter(shown).map(brings).collect(),
        id,
        members: members.iter().filter(shown).copied().collect(),
        arrived: members.difference(&together).copied().collect(),
        departed,
        transitional_set: together.into_iter().collect(),
        cause,
        heads,
        previous: before.map(|before| before.id),
    };
    (Installed::new(id, members), view)
}
