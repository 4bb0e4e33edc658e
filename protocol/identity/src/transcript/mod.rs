//! The transcript: every founding, admission, removal and decision of a group, as a graph of signed
//! entries.
//!
//! ```text
//! Genesis <-- Admit <-- Decide ---.            while the group is split, each side has its head
//!                  ^               \
//!                   '-- Admit <-----+-- Admit  after the merge the next entry names both, and there is one again
//!                                        ^ head
//! ```
//! Promises: an entry stands or falls by its own past, so all who hold the same entries have the
//! same [`Roster`], whatever order they came in. Nothing is accepted that is not signed by a member
//! and, if the charter asks for votes, by enough voters. Two decisions of one electorate serial
//! cannot both find a quorum, so two sides of a split cannot expel each other. Bounds: at most
//! [`limits::ENTRIES_MAX`] entries, each of at most [`limits::ENTRY_BYTES_MAX`]; nothing is ever
//! dropped. Relies on: voters who sign at most one decision for each serial and ballot. Does not
//! rely on: clocks, order, delivery.

mod audit;
mod build;
mod decision;
mod entry;
mod error;
mod evidence;
mod file;
#[cfg(test)]
mod full;
mod graph;
mod judge;
mod load;
mod sharing;

pub use crate::numbers::Numbers;
pub use audit::{Audit, Blame, Contradiction, Flaw, Wrong};
pub use decision::{Decision, Plain};
pub use entry::{Body, DecisionVotes, ENTRY_LABEL, Entry, PARENTS_MAX};
pub use error::{BuildError, EntryError, LoadError};
pub use evidence::Evidence;
pub use file::{FILE_LABEL, FileError, FileReader};

use crate::roster::{Admission, Roster};
use crate::{Charter, Founder, SignedCharter};
use bytes::Bytes;
use folkmoot_base::{
    Cause, Danger, Digest, EntryId, GroupId, MemberId, Mutant, Persist, StoreKey, UnixTime, limits,
};
use graph::Graph;
use judge::Act;
use std::collections::{BTreeSet, VecDeque};

/// Most voters in an electorate: so many votes and names fit into one entry.
pub const VOTERS_MAX: usize = 256;
/// The store's table for entries; key: EntryId, value: the entry's bytes.
pub const TABLE: &str = "transcript";
/// Pasts of other branches that are kept ready; older ones are computed again from the graph.
const BRANCHES_MAX: usize = 8;

/// What an entry changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing that anyone need act upon: known before; the end of one of several admissions; or an
    /// admission that an expulsion had ended before it came (`TRN-59`).
    Nothing,
    /// A member was admitted, or a member's term renewed.
    Admitted {
        /// Who; its node has the same bytes.
        member: MemberId,
        /// The entry that admitted it: a removal will name it.
        admission: EntryId,
        /// Whether it was not a member before.
        new: bool,
    },
    /// A member is no longer one.
    Removed {
        /// Who.
        member: MemberId,
        /// Which admission ended.
        admission: EntryId,
        /// `Expelled` or `Expired`.
        cause: Cause,
    },
    /// A request was refused for good.
    Refused,
    /// The charter has a new version.
    CharterChanged,
    /// The electorate changed, or its serial moved on, without anyone leaving.
    ElectorateChanged,
    /// The members share the group's key in a new way.
    SharingChanged,
}

/// What [`Transcript::append`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The entry.
    pub id: EntryId,
    /// Whether it is new here: then store it ([`Transcript::persist`]) and pass it on.
    pub new: bool,
    /// Whether it says nothing new and its author was no longer a member. A former member can write
    /// any number of these over the past in which it was a member. They are wanted only for what
    /// was written over them.
    pub replay: bool,
    /// What it changed.
    pub change: Change,
}

/// The transcript of one group.
#[derive(Debug, Clone)]
pub struct Transcript {
    group: GroupId,
    genesis: EntryId,
    graph: Graph,
    /// What each entry does, by its place in the graph.
    acts: Vec<Act>,
    /// The state before any Act.
    founded: Roster,
    roster: Roster,
    branches: VecDeque<(EntryId, Roster)>,
    danger: Mutant,
}

impl Transcript {
    /// The transcript that this signed charter (CMS, DER) begins.
    ///
    /// # Errors
    /// `TRN-05` the charter or a founder's signature does not stand; `TRN-01` it is too long.
    pub fn genesis(signed_charter: &[u8]) -> Result<Self, EntryError> {
        let signed = SignedCharter::complete_from_der(signed_charter).map_err(EntryError::Charter)?;
        let charter = signed.charter().clone();
        let group = charter.group();
        let bytes = Entry::genesis(group, signed_charter).encode();
        if bytes.len() > limits::ENTRY_BYTES_MAX {
            return Err(EntryError::WireTooLong(bytes.len()));
        }
        let genesis = Entry::id_of(&bytes);
        let founders = founders(&charter, genesis);
        let mut graph = Graph::default();
        graph.insert(genesis, &[], bytes);
        let roster = Roster::founded(charter, founders);
        let founded = roster.clone();
        Ok(Self {
            group,
            genesis,
            graph,
            acts: vec![Act::Nothing],
            founded,
            roster,
            branches: VecDeque::new(),
            danger: Mutant::NONE,
        })
    }

    /// Makes it judge wrongly on purpose from now on, in tests of the tests.
    pub fn endanger(&mut self, danger: Mutant) {
        self.danger = danger;
    }

    /// The mutant for which the share-epoch in a certificate means nothing (`TRN-52` off).
    fn is_lax(&self) -> bool {
        self.danger.is(Danger::AdmissionNoShareEpoch)
    }

    /// Reads a transcript back from what [`Self::persist`] stored, in any order, verifying
    /// everything again.
    ///
    /// # Errors
    /// [`LoadError`] names the first entry that does not stand.
    pub fn load(entries: impl IntoIterator<Item = Bytes>) -> Result<Self, LoadError> {
        load::load(entries)
    }

    /// Reads back what a store holds of the transcript that this one, which has only its genesis,
    /// begins.
    ///
    /// # Errors
    /// [`LoadError`] names the first entry that does not stand.
    pub fn restore(self, stored: &[(StoreKey, Bytes)]) -> Result<Self, LoadError> {
        let entries = stored.iter().filter(|(key, _)| key.table == TABLE).map(|(_, value)| value.clone());
        Self::load(entries.chain(self.get(&self.genesis).cloned()))
    }

    /// Verifies an entry by its own past and takes it.
    ///
    /// # Errors
    /// [`EntryError`]; the transcript is then as it was. [`EntryError::MissingParents`] is not a
    /// refusal for good.
    pub fn append(&mut self, bytes: &[u8]) -> Result<Appended, EntryError> {
        let id = Entry::id_of(bytes);
        if self.graph.contains(&id) {
            return Ok(Appended { id, new: false, replay: false, change: Change::Nothing });
        }
        let entry = self.admissible(bytes)?;
        self.check_signature(&entry)?;
        let branch = self.branch(&entry.parents);
        let past = branch.as_ref().unwrap_or(&self.roster);
        let act = judge::judge(&self.group, id, &entry, past, self.is_lax())?;
        if let Some(mut past) = branch {
            act.apply(&mut past);
            self.remember(id, &entry.parents, past);
        }
        let replay = !self.roster.is_member(&entry.author) && act.is_known(&self.roster);
        let change = self.take(id, &act);
        self.graph.insert(id, &entry.parents, Bytes::copy_from_slice(bytes));
        self.acts.push(act);
        Ok(Appended { id, new: true, replay, change })
    }

    /// Whether the author that it names, who is or was a member, has signed it.
    pub fn is_signed(&self, entry: &Entry) -> bool {
        entry.group == self.group && self.check_signature(entry).is_ok()
    }

    /// What `append` checks before it looks at any state: form, group, parents, room.
    fn admissible(&self, bytes: &[u8]) -> Result<Entry, EntryError> {
        let entry = Entry::decode(bytes)?;
        if entry.group != self.group {
            return Err(EntryError::WireOtherGroup(entry.group));
        }
        if matches!(entry.body, Body::Genesis { .. }) {
            return Err(EntryError::WireOtherGenesis);
        }
        if entry.parents.is_empty() {
            return Err(EntryError::WireParents);
        }
        let missing = self.unknown(&entry.parents);
        if !missing.is_empty() {
            return Err(EntryError::MissingParents(missing));
        }
        if self.graph.len() >= limits::ENTRIES_MAX {
            return Err(EntryError::LocalFull);
        }
        Ok(entry)
    }

    /// Done before any past is computed: entries of somebody who never was a member, or has not
    /// signed, are not worth that.
    fn check_signature(&self, entry: &Entry) -> Result<(), EntryError> {
        let key = self.roster.key_of(&entry.author).ok_or(EntryError::PeerNotMember(entry.author))?;
        key.verify_wire(ENTRY_LABEL, &entry.signed_part(), &entry.signature)
            .map_err(|_| EntryError::WireSignature)
    }

    /// The roster of the past that ends in `parents`; `None` if that is all there is.
    fn branch(&self, parents: &[EntryId]) -> Option<Roster> {
        if self.graph.heads().iter().eq(parents.iter()) {
            return None;
        }
        if let [parent] = parents
            && let Some((_, ready)) = self.branches.iter().find(|(tip, _)| tip == parent)
        {
            return Some(ready.clone());
        }
        let mut roster = self.founded.clone();
        let in_past = self.graph.past_of(parents);
        for (act, _) in self.acts.iter().zip(&in_past).filter(|(_, in_past)| **in_past) {
            act.apply(&mut roster);
        }
        Some(roster)
    }

    fn remember(&mut self, tip: EntryId, parents: &[EntryId], roster: Roster) {
        self.branches.retain(|(tip, _)| !parents.contains(tip));
        if self.branches.len() >= BRANCHES_MAX {
            self.branches.pop_front();
        }
        self.branches.push_back((tip, roster));
    }

    /// Applies an act to the roster of everything, and says what that changed.
    fn take(&mut self, id: EntryId, act: &Act) -> Change {
        let target = match act {
            Act::Nothing | Act::Refuse { .. } => None,
            Act::Admit { admission, .. } => Some(admission.member),
            Act::Expire { member, .. } => Some(*member),
            Act::Decide { removed, .. } => removed.map(|(member, _)| member),
        };
        let was_member = target.is_some_and(|member| self.roster.is_member(&member));
        let charter = self.roster.charter().digest();
        let sharing = self.roster.sharing().cloned();
        act.apply(&mut self.roster);
        let gone = was_member && target.is_some_and(|member| !self.roster.is_member(&member));
        match act {
            Act::Nothing => Change::Nothing,
            Act::Refuse { .. } => Change::Refused,
            // It does not know of an expulsion that is here.
            Act::Admit { admission, .. } if !self.roster.holds(&admission.member, &id) => Change::Nothing,
            Act::Admit { admission, .. } => {
                Change::Admitted { member: admission.member, admission: id, new: !was_member }
            }
            Act::Expire { member, admission, .. } if gone => {
                Change::Removed { member: *member, admission: *admission, cause: Cause::Expired }
            }
            Act::Expire { .. } => Change::Nothing,
            Act::Decide { removed, .. } => match removed {
                Some((member, admission)) if gone => {
                    Change::Removed { member: *member, admission: *admission, cause: Cause::Expelled }
                }
                _ if charter != self.roster.charter().digest() => Change::CharterChanged,
                _ if sharing != self.roster.sharing().cloned() => Change::SharingChanged,
                _ => Change::ElectorateChanged,
            },
        }
    }

    /// The group whose transcript it is.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// The first entry.
    pub fn genesis_id(&self) -> EntryId {
        self.genesis
    }

    /// Who is in, by all entries here.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The entries that no other names: what the next entry will name.
    pub fn heads(&self) -> &BTreeSet<EntryId> {
        self.graph.heads()
    }

    /// SHA-256 over the sorted heads: equal where all entries are.
    pub fn heads_digest(&self) -> Digest {
        self.graph.heads_digest()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there is none, which does not happen.
    pub fn is_empty(&self) -> bool {
        self.graph.len() == 0
    }

    /// An entry's bytes.
    pub fn get(&self, id: &EntryId) -> Option<&Bytes> {
        self.graph.get(id)
    }

    /// All entries, parents before children.
    pub fn entries(&self) -> impl Iterator<Item = &Bytes> {
        self.graph.iter()
    }

    /// Those of `ids` that are not here: ask the peer that named them.
    pub fn unknown(&self, ids: &[EntryId]) -> Vec<EntryId> {
        ids.iter().filter(|id| !self.graph.contains(id)).copied().collect()
    }

    /// What somebody who has `have` and all their ancestors lacks: parents before children, at most
    /// `bytes_max` bytes but at least one entry, if any.
    ///
    /// `have` are the asker's heads. After a split none of these may be known here, so `have` also
    /// names older entries ([`Self::landmarks`]) and whatever came in earlier batches. Unknown ids
    /// count for nothing, so a batch may hold nothing new; the next one, asked for with its ids
    /// added, goes on from there. An empty batch: all is there.
    pub fn entries_after(&self, have: &[EntryId], bytes_max: usize) -> Vec<Bytes> {
        self.graph.after(have, bytes_max)
    }

    /// At most `most` entries at growing distances from the newest, the first entry last. Two
    /// members that share no head find by them what they share.
    pub fn landmarks(&self, most: usize) -> Vec<EntryId> {
        self.graph.landmarks(most)
    }

    /// Stores an entry.
    pub fn persist(bytes: &Bytes) -> Persist {
        Persist::put(TABLE, Bytes::copy_from_slice(&Entry::id_of(bytes).0), bytes.clone())
    }
}

fn founders(charter: &Charter, genesis: EntryId) -> Vec<Admission> {
    let admission = |founder: &Founder| Admission {
        member: founder.key.member_id(),
        entry: genesis,
        name: founder.name.clone(),
        key: founder.key.clone(),
        not_after: UnixTime(u64::MAX),
        certificate: None,
        issued: None,
        knows: BTreeSet::new(),
        outlived: BTreeSet::new(),
    };
    charter.founders().iter().map(admission).collect()
}
