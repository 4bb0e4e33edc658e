//! What ends admissions: removals, and terms that ran out. Both are kept, so that it does not
//! matter which came first.
//!
//! ```text
//! Admit E1 <-- Decide D (X removed) <-- Admit E3        E1 knows nothing of D: D ends it
//!        ^                                              E2, written later or on the other side of a split, neither
//!         '-- Admit E2                                  E3 has D in its past: voted for after the expulsion, it holds
//! ```

use super::{Admission, Ending, Removal, Roster};
use folkmoot_base::{Digest, EntryId, MemberId, UnixTime, digest};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a digest of removals begins with.
const REMOVALS_LABEL: &[u8] = b"folkmoot removals v1\0";

impl Roster {
    /// The decisions that removed this key: a digest over serial and digest of each, in that order.
    /// None if it was never removed.
    pub fn removals_of(&self, member: &MemberId) -> Option<Digest> {
        self.removals_before(member).last().copied()
    }

    /// Whether [`Self::removals_of`] was this before, and is not now.
    pub fn had_removals(&self, member: &MemberId, removals: Option<&Digest>) -> bool {
        let all = self.removals_before(member);
        let Some((_, before)) = all.split_last() else { return false };
        removals.is_none_or(|removals| before.contains(removals))
    }

    /// The digest after each removal.
    fn removals_before(&self, member: &MemberId) -> Vec<Digest> {
        let mut so_far = [0; 32];
        let mut next = |(serial, decision): &Removal| {
            so_far = digest(&[REMOVALS_LABEL, &so_far, &serial.to_be_bytes(), decision]);
            so_far
        };
        self.removals.get(member).into_iter().flat_map(|removals| removals.keys()).map(&mut next).collect()
    }

    /// Whether a list that names this key no longer lets it in, because it was expelled since the
    /// voters last decided the list. To be on a list is to have been voted for once. Anyone who is
    /// voted out is not on it until the list is voted on again.
    pub fn is_struck(&self, member: &MemberId) -> bool {
        let removed = self.removals.get(member).and_then(|removals| removals.keys().next_back());
        removed.is_some_and(|(removed, _)| self.listed_at().is_none_or(|listed| listed < *removed))
    }

    pub(crate) fn removals_known(&self, member: &MemberId) -> BTreeSet<Removal> {
        self.removals.get(member).map(|removals| removals.keys().copied().collect()).unwrap_or_default()
    }

    /// A decision removes a member: it ends every admission that does not know of it.
    pub(super) fn remove(&mut self, member: MemberId, removal: Removal, entry: EntryId) {
        let first = self.removals.entry(member).or_default().entry(removal).or_insert(entry);
        *first = entry.min(*first);
        for admission in self.admissions_of(&member) {
            if !admission.knows.contains(&removal) {
                self.end(member, admission.entry, Ending::Expelled { entry });
            }
        }
    }

    pub(crate) fn ends_known(&self, member: &MemberId) -> BTreeSet<UnixTime> {
        self.expiries.get(member).map(|ends| ends.iter().map(|(at, _)| *at).collect()).unwrap_or_default()
    }

    /// An admission has run out, and with it every other admission of the same member that ends no
    /// later and does not know of it.
    pub(crate) fn expire(&mut self, (member, admission): (MemberId, EntryId), at: UnixTime, entry: EntryId) {
        self.expiries.entry(member).or_default().insert((at, entry));
        self.end(member, admission, Ending::Expired { at, entry });
        for admission in self.admissions_of(&member) {
            if let Some(ending) = self.run_out_by(&admission) {
                self.end(member, admission.entry, ending);
            }
        }
    }

    /// What ends an admission that is being added.
    pub(super) fn endings_of(&self, admission: &Admission) -> Vec<Ending> {
        let removals = self.removals.get(&admission.member).into_iter().flatten();
        let unknown = removals.filter(|(removal, _)| !admission.knows.contains(*removal));
        let expelled = unknown.map(|(_, entry)| Ending::Expelled { entry: *entry });
        expelled.chain(self.run_out_by(admission)).collect()
    }

    fn run_out_by(&self, admission: &Admission) -> Option<Ending> {
        let expiries = self.expiries.get(&admission.member)?;
        let mut later = expiries.range((admission.not_after, EntryId([0; 32]))..);
        let (at, entry) = later.find(|(at, _)| !admission.outlived.contains(at))?;
        Some(Ending::Expired { at: *at, entry: *entry })
    }

    fn admissions_of(&self, member: &MemberId) -> Vec<Arc<Admission>> {
        let range = (*member, EntryId([0; 32]))..=(*member, EntryId([0xff; 32]));
        self.admissions.range(range).map(|(_, admission)| admission.clone()).collect()
    }
}
