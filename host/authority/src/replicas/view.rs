//! The view that a replica is in, and how far the state transfer in it has come.
//!
//! ```text
//! Telling --State of all--> Filling --the last Records--> Keeping --Kept of all--> in sync
//! ```

use super::message::Holding;
use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, ViewId};
use std::collections::{BTreeMap, BTreeSet};

/// A view, and how far it has come.
#[derive(Debug)]
pub(super) struct CurrentView {
    pub(super) id: ViewId,
    /// Those of the listed who are in it.
    pub(super) present: Vec<MemberId>,
    pub(super) quorum: bool,
    /// How many of those present know the log, where these are no quorum.
    pub(super) few: Option<usize>,
    /// The transitional signal came.
    pub(super) losing: bool,
    /// Every replica present has the log that stands on its disk.
    pub(super) in_sync: bool,
    /// Whether our own State is out.
    pub(super) told: bool,
    pub(super) states: BTreeMap<MemberId, Holding>,
    pub(super) step: Step,
    /// How far each has the log on disk.
    pub(super) kept: BTreeMap<MemberId, u64>,
    /// What we proposed.
    pub(super) proposed: BTreeSet<Digest>,
}

/// How far the state transfer has come.
#[derive(Debug)]
pub(super) enum Step {
    Telling,
    Filling(Box<Filling>),
    /// The log has had so many records since they stood.
    Keeping(u64),
}

/// What stands, and what of it has come.
#[derive(Debug)]
pub(super) struct Filling {
    pub(super) source: MemberId,
    pub(super) has: Holding,
    /// The next place to come.
    pub(super) next: u64,
    /// Places up to here are as they stand in our own log.
    pub(super) agreed: u64,
    /// What came beyond the source's floor: taken over at once with the epoch, or not at all.
    pub(super) rest: Vec<(Digest, Bytes)>,
}

impl CurrentView {
    pub(super) fn is_keeping(&self) -> bool {
        matches!(self.step, Step::Keeping(_))
    }

    /// The place up to which every disk of the view has the log.
    pub(super) fn kept_by_all(&self) -> u64 {
        let of = |member| self.kept.get(member).copied().unwrap_or_default();
        self.present.iter().map(of).min().unwrap_or_default()
    }

    /// Whether all have kept what stood when the view began.
    pub(super) fn is_in_sync_at(&self, by_all: u64) -> bool {
        let all = self.present.iter().all(|member| self.kept.contains_key(member));
        all && matches!(self.step, Step::Keeping(base) if by_all >= base)
    }

    /// AUTH-14: how many know the log, if these are too few. If any of them has once seen all in
    /// sync, then all had an epoch, and one that has none has lost its disk. If none has, then
    /// nothing was handed back yet, and all begin together.
    pub(super) fn few_know(&self, listed: &[MemberId]) -> Option<usize> {
        if self.states.values().all(|has| has.since.is_none()) {
            return (self.present.len() < listed.len()).then_some(0);
        }
        let know = self.states.iter().filter(|(_, has)| has.epoch.is_some());
        let know: Vec<MemberId> = know.map(|(member, _)| *member).collect();
        (!is_quorum(listed, &know)).then_some(know.len())
    }

    /// How far the state transfer has come: how many of those present have told their state;
    /// records that came, and all that come.
    pub(super) fn progress(&self) -> (usize, Option<(u64, u64)>) {
        let filling = match &self.step {
            Step::Filling(filling) => Some((filling.next.saturating_sub(1), filling.has.length)),
            _ => None,
        };
        (self.states.len(), filling)
    }
}

/// More than half of the listed, or exactly half with the first of them: as the electorate's
/// quorum, for the founders, for good.
pub(super) fn is_quorum(listed: &[MemberId], present: &[MemberId]) -> bool {
    let twice = present.len().saturating_mul(2);
    let first = listed.first().is_some_and(|first| present.contains(first));
    twice > listed.len() || (first && twice == listed.len())
}
