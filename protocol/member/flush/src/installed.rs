//! The installed view, and which of its parties are still with us.

use crate::View;
use crate::agree::{FlushOks, Pending};
use crate::early::{Early, Late, Numbers, highest};
use crate::message::{FlushOk, RECEIPT_BYTES, Reached, ViewTag};
use crate::receipts;
use bytes::Bytes;
use folkmoot_base::{Danger, Digest, Mutant, Party, ViewId};
use std::collections::{BTreeMap, BTreeSet};

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
    /// FLU-22: what each party committed to with the FLUSH_OK that counted.
    commitments: BTreeMap<Party, Digest>,
    /// Have shown that they have installed it.
    received: BTreeSet<Party>,
    /// All that are with us have shown it: looked up for each message that is sent.
    stable: bool,
    pub(crate) signalled: bool,
    /// Numbers of our own early messages.
    pub(crate) sent: Numbers,
    pub(crate) early: Early,
}

impl Installed {
    fn new(id: ViewId, members: BTreeSet<Party>, flush_oks: FlushOks) -> Self {
        let commits = |(party, said): (Party, FlushOk)| (party, said.commitment);
        Self {
            id,
            tag: ViewTag::of(&id),
            with_me: members.clone(),
            heard: members.clone(),
            commitments: flush_oks.into_iter().map(commits).collect(),
            received: BTreeSet::new(),
            stable: false,
            signalled: false,
            sent: Numbers::default(),
            early: Early::default(),
            members,
        }
    }

    /// Their nodes did not come along.
    pub(crate) fn lose(&mut self, lost: &BTreeSet<Party>) {
        self.with_me.retain(|party| !lost.contains(party));
        self.settle();
    }

    /// A notice removed them, or does not list them.
    pub(crate) fn remove(&mut self, removed: &BTreeSet<Party>, members: &BTreeSet<Party>) {
        let stays = |party: &Party| members.contains(party) && !removed.contains(party);
        self.with_me.retain(stays);
        self.heard.retain(stays);
        self.settle();
    }

    pub(crate) fn hears(&self, party: &Party) -> bool {
        self.heard.contains(party)
    }

    /// Whether it was of the view, and a notice removed it.
    pub(crate) fn is_removed(&self, party: &Party) -> bool {
        self.members.contains(party) && !self.heard.contains(party)
    }

    /// FLU-15 and FLU-11: that we leave this view, and how far we delivered early messages of
    /// removed parties.
    pub(crate) fn reached(&self) -> Reached {
        let gone = self.members.iter().enumerate().filter(|(_, party)| self.is_removed(party));
        Reached { tag: self.tag, parties: self.early.reach(gone) }
    }

    /// FLU-15: those who move to a next view together with us. Somebody who has been in another
    /// view meanwhile, as by a clock of its own that was wrong, is not among them.
    fn together(&self, next: &Pending, danger: Mutant) -> BTreeSet<Party> {
        let leaves = |party: &&Party| {
            let said = next.flush_oks.get(*party).and_then(|said| said.reached.as_ref());
            danger.is(Danger::FlushFromAnyView) || said.is_some_and(|left| left.tag == self.tag)
        };
        self.with_me.intersection(&next.members).filter(leaves).copied().collect()
    }

    /// FLU-11: what we kept of removed parties, and one of those that come along had delivered.
    pub(crate) fn release(&mut self, flush_oks: &FlushOks) -> Vec<Late> {
        let along = flush_oks.iter().filter(|(party, _)| self.with_me.contains(*party));
        let reached = along.filter_map(|(_, said)| said.reached.as_ref());
        let reaches = reached.filter(|reached| reached.tag == self.tag).flat_map(|reached| &reached.parties);
        let reached = highest(reaches, |place| self.members.iter().nth(place).copied());
        self.early.release(&reached)
    }

    /// FLU-22: whether `party` shows what it committed to.
    pub(crate) fn is_shown(&self, party: &Party, receipt: &[u8; RECEIPT_BYTES]) -> bool {
        let committed = self.commitments.get(party);
        committed.is_some_and(|committed| receipts::fits(committed, party, &self.id, receipt))
    }

    pub(crate) fn received(&mut self, party: Party) {
        if self.members.contains(&party) {
            self.received.insert(party);
            self.settle();
        }
    }

    /// Whether all parties that are with us are known to have the view.
    pub(crate) fn is_stable(&self) -> bool {
        self.stable
    }

    fn settle(&mut self) {
        self.stable = self.with_me.is_subset(&self.received);
    }
}

/// The step from one view to the next: what is installed, and what the layer above is told.
pub(crate) fn install(
    before: Option<&Installed>,
    pending: Pending,
    (heads, last): (Digest, Party),
    me: Party,
    danger: Mutant,
) -> (Installed, View) {
    let mut together = before.map_or_else(BTreeSet::new, |before| before.together(&pending, danger));
    together.insert(me);
    let Pending { view: id, members, cause, flush_oks, .. } = pending;
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
        last,
        previous: before.map(|before| before.id),
    };
    (Installed::new(id, members, flush_oks), view)
}
