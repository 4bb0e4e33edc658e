//! The change being agreed: whose FLUSH_OK has come, whose is missing, and how long we wait.

use crate::message::FlushOk;
use core::time::Duration;
use folkmoot_base::limits::{MEMBERS_MAX, STEP_DEADLINE};
use folkmoot_base::{Cause, Digest, Instant, MemberId, Party, ViewId};
use std::collections::{BTreeMap, BTreeSet};

/// How long a FLUSH_OK may be missing before we complain, unless the charter allows longer steps.
/// It is twice a step. A party may hold its flush because its key agreement waits for another party
/// (rule H), and must first have had the time to have that one removed.
pub(crate) const FLUSH_DEADLINE: Duration = STEP_DEADLINE.saturating_mul(2);
/// Longest back-off between complaints, in deadlines.
const BACK_OFF_MAX: u32 = 8;
/// After so many changes a FLUSH_OK for a view that nobody announced is forgotten; also the most
/// such views.
pub(crate) const EARLY_VIEWS_MAX: usize = 200;

/// What each party last said. Two parties of one member speak each for itself.
pub(crate) type FlushOks = BTreeMap<Party, FlushOk>;

/// FLU-21: whether `party` has said this, or something later, before.
pub(crate) fn is_stale(flush_oks: &FlushOks, party: &Party, number: u32) -> bool {
    flush_oks.get(party).is_some_and(|last| number <= last.number)
}

/// The newest notice, not yet installed.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) view: ViewId,
    pub(crate) members: BTreeSet<Party>,
    pub(crate) cause: Cause,
    pub(crate) flush_oks: FlushOks,
    /// When to complain; `None` until our own FLUSH_OK is sent.
    pub(crate) deadline: Option<Instant>,
    back_off: u32,
}

impl Pending {
    pub(crate) fn new(view: ViewId, members: BTreeSet<Party>, cause: Cause, mut flush_oks: FlushOks) -> Self {
        flush_oks.retain(|party, _| members.contains(party));
        Self { view, members, cause, flush_oks, deadline: None, back_off: 1 }
    }

    /// The digest that all parties gave, once all have given the same.
    pub(crate) fn agreed(&self) -> Option<Digest> {
        let first = self.flush_oks.values().next()?.heads;
        let complete = self.flush_oks.len() == self.members.len();
        (complete && self.flush_oks.values().all(|said| said.heads == first)).then_some(first)
    }

    pub(crate) fn missing(&self) -> Vec<Party> {
        self.members.iter().filter(|party| !self.flush_oks.contains_key(*party)).copied().collect()
    }

    /// Starts the clock, if it is not running.
    pub(crate) fn wait(&mut self, now: Instant, patience: Duration) {
        if self.deadline.is_none() {
            self.deadline = Some(now + patience);
        }
    }

    /// If the deadline has passed: the parties to complain about. The next deadline is later.
    pub(crate) fn overdue(&mut self, now: Instant, me: &Party, patience: Duration) -> Option<Vec<Party>> {
        if self.deadline? > now {
            return None;
        }
        self.back_off = self.back_off.saturating_mul(2).min(BACK_OFF_MAX);
        self.deadline = Some(now + patience.saturating_mul(self.back_off));
        let missing = self.missing();
        let suspects = if missing.is_empty() { self.minority() } else { missing };
        Some(if suspects.contains(me) && self.flush_oks.contains_key(me) {
            Vec::new()
        } else {
            suspects.into_iter().filter(|suspect| suspect != me).collect()
        })
    }

    /// FLU-06: the parties whose heads differ from those that the most members gave through any of
    /// their parties. If two heads are as frequent, those of the smallest party count. Members are
    /// counted, as they are in the complaints themselves: otherwise one member could, through many
    /// ports, make the others complain about whom it likes.
    fn minority(&self) -> Vec<Party> {
        let mut counts: Vec<(Digest, BTreeSet<MemberId>)> = Vec::new();
        for (Party { member, .. }, FlushOk { heads, .. }) in &self.flush_oks {
            match counts.iter_mut().find(|(digest, _)| digest == heads) {
                Some((_, members)) => _ = members.insert(*member),
                None => counts.push((*heads, BTreeSet::from([*member]))),
            }
        }
        let most = counts.iter().map(|(_, members)| members.len()).max().unwrap_or(0);
        let kept = counts.into_iter().find(|(_, members)| members.len() == most);
        let Some((kept, _)) = kept else { return Vec::new() };
        self.flush_oks.iter().filter(|(_, said)| said.heads != kept).map(|(party, _)| *party).collect()
    }
}

/// FLUSH_OKs of parties that the notice has reached before us.
#[derive(Debug, Default)]
pub(crate) struct Unnoticed {
    views: BTreeMap<ViewId, (u64, FlushOks)>,
    changes: u64,
}

impl Unnoticed {
    /// What has come for `view`.
    pub(crate) fn of(&self, view: &ViewId) -> Option<&FlushOks> {
        self.views.get(view).map(|(_, flush_oks)| flush_oks)
    }

    /// Keeps a FLUSH_OK; `false` if there is no room.
    pub(crate) fn keep(&mut self, party: Party, flush_ok: FlushOk) -> bool {
        let view = flush_ok.view;
        if !self.views.contains_key(&view) && self.views.len() >= EARLY_VIEWS_MAX {
            return false;
        }
        let (_, flush_oks) = self.views.entry(view).or_insert_with(|| (self.changes, FlushOks::new()));
        if flush_oks.len() >= MEMBERS_MAX && !flush_oks.contains_key(&party) {
            return false;
        }
        flush_oks.insert(party, flush_ok);
        true
    }

    /// The FLUSH_OKs that are kept for `view`; those for older views are forgotten.
    pub(crate) fn take(&mut self, view: &ViewId) -> FlushOks {
        self.changes = self.changes.saturating_add(1);
        let flush_oks = self.views.remove(view).map_or_else(FlushOks::new, |(_, kept)| kept);
        let changes = self.changes;
        let fresh = |since: u64| changes.saturating_sub(since) <= EARLY_VIEWS_MAX as u64;
        self.views.retain(|kept, (since, _)| kept > view && fresh(*since));
        flush_oks
    }
}
