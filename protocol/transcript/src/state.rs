//! State(n): who is in and who decides, after n decisions.
//!
//! ```text
//! State(n) = number, time T, roster, places of the electorate with each voter's "since", charter, sharing,
//!            stamps, recent decisions, used and refused requests, revoked certificates
//! ```
//! Its digest is SHA-256 of its only encoding, and every decision carries the digest of the state
//! after it. So all who applied the same decisions agree on every byte of it, and a newcomer can
//! start from it.
//!
//! A *stamp* is the number of the decision that last changed a subject: the removal of a key, a
//! field of the charter, the electorate, the sharing. What was approved before that counts no more.

mod change;
mod encode;
mod next;
mod outcome;
mod request;
mod rotate;
mod sharing;
mod voters;

pub use change::VOTERS_MAX;
pub use encode::StateError;
pub(crate) use next::check_begin;
pub use next::{Batch, IDLE_SECONDS};

use crate::{Admit, Change, Electorate, Head, Refusal};
use folkmoot_base::{Danger, Digest, GroupId, MemberId, Mutant, UnixTime, codec, digest};
use folkmoot_identity::{Charter, Serial, SharedKey};
use folkmoot_signing::VerifyingKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::OnceLock;

/// A member, as the line holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The request that admitted it; the founding's digest for a founder.
    pub request: Digest,
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: VerifyingKey,
    /// When its term ends; `UnixTime(u64::MAX)` for a founder.
    pub ends: UnixTime,
    /// The serial number of its certificate, if the group's key or its authority's issued that.
    pub issued: Option<Serial>,
}

/// A place in the electorate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whose.
    pub voter: MemberId,
    /// The number of the decision since which it has it, or is a member again: what it approved
    /// before counts no more.
    pub since: u64,
}

/// What became of a key whose place another has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The key that has its place.
    pub by: MemberId,
    /// The number of the decision.
    pub number: u64,
}

/// So many keys whose places others have taken are remembered: the last ones.
pub const REPLACED_MAX: usize = 4_096;

/// When each subject last changed, by the number of the decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Stamps {
    removed: BTreeMap<MemberId, u64>,
    fields: BTreeMap<String, u64>,
    electorate: u64,
    sharing: u64,
    rejoin: u64,
}

/// The state after some number of decisions.
#[derive(Debug, Clone)]
pub struct State {
    head: Head,
    group: GroupId,
    time: UnixTime,
    founding: Arc<Charter>,
    charter: Arc<Charter>,
    changes: BTreeMap<String, String>,
    roster: BTreeMap<MemberId, Held>,
    places: Vec<Place>,
    sharing: Option<Arc<SharedKey>>,
    stamps: Stamps,
    /// Fields of the charter whose values name a key that was removed since the field was last
    /// decided, each with that key: it does not act by that field any more.
    struck: BTreeSet<(String, MemberId)>,
    /// The decisions that an approval may name as its base besides the head, and until when each
    /// was the head.
    recent: BTreeMap<u64, (Digest, UnixTime)>,
    /// Requests that have admitted somebody, until their terms end.
    used: BTreeMap<Digest, UnixTime>,
    /// Requests that objections ended, and at which number.
    refused: BTreeMap<Refusal, u64>,
    /// Certificates of the group's key whose holders were expelled, until their terms end.
    revoked: BTreeMap<Serial, UnixTime>,
    /// Where the members go: the first decision of another line after the fork.
    rejoin: Option<Head>,
    /// Keys whose places others have taken.
    replaced: BTreeMap<MemberId, Replaced>,
    /// A digest of every electorate so far, in order: a line that leaves one out has another.
    running: Digest,
    danger: Mutant,
    digest: OnceLock<Digest>,
}

impl State {
    /// Makes it judge wrongly on purpose from now on, in tests of the tests.
    pub fn endanger(&mut self, danger: Mutant) {
        self.danger = danger;
    }

    /// What it does wrong on purpose.
    pub(crate) fn danger(&self) -> Mutant {
        self.danger
    }

    /// Whether this is what it does wrong on purpose.
    pub(crate) fn is(&self, danger: Danger) -> bool {
        self.danger.is(danger)
    }

    /// State(0): the founders are the members and the voters.
    pub fn founded(charter: Charter) -> Self {
        let charter = Arc::new(charter);
        let founding = digest(&[b"folkmoot founding v1\0", &charter.group().0]);
        let member = |founder: &folkmoot_identity::Founder| {
            let held = Held {
                request: founding,
                name: founder.name.clone(),
                key: founder.key.clone(),
                ends: UnixTime(u64::MAX),
                issued: None,
            };
            (founder.key.member_id(), held)
        };
        let place = |founder: &folkmoot_identity::Founder| Place { voter: founder.key.member_id(), since: 0 };
        let mut state = Self {
            head: Head { number: 0, digest: founding },
            group: charter.group(),
            time: UnixTime(0),
            roster: charter.founders().iter().map(member).collect(),
            places: charter.founders().iter().map(place).collect(),
            founding: charter.clone(),
            charter,
            changes: BTreeMap::new(),
            sharing: None,
            stamps: Stamps::default(),
            struck: BTreeSet::new(),
            recent: BTreeMap::new(),
            used: BTreeMap::new(),
            refused: BTreeMap::new(),
            revoked: BTreeMap::new(),
            rejoin: None,
            replaced: BTreeMap::new(),
            running: [0; 32],
            danger: Mutant::NONE,
            digest: OnceLock::new(),
        };
        state.running = run(state.running, 0, &state.electorate());
        state
    }

    /// The last decision: number and digest. The digest is not part of the encoding, because the
    /// decision carries the digest of the state.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The group.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// The time of the last decision; zero for the founding.
    pub fn time(&self) -> UnixTime {
        self.time
    }

    /// The charter as changed so far.
    pub fn charter(&self) -> &Arc<Charter> {
        &self.charter
    }

    /// The fields of the charter that decisions have changed, each with its value now, as the
    /// charter writes it.
    pub fn changes(&self) -> &BTreeMap<String, String> {
        &self.changes
    }

    /// The charter as founded.
    pub fn founding_charter(&self) -> &Charter {
        &self.founding
    }

    /// The members that decisions hold, sorted.
    pub fn roster(&self) -> &BTreeMap<MemberId, Held> {
        &self.roster
    }

    /// The places of the electorate, in order.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// How the members share the group's key.
    pub fn sharing(&self) -> Option<&Arc<SharedKey>> {
        self.sharing.as_ref()
    }

    /// The certificates of the group's key whose holders were expelled, until their terms end.
    pub fn revoked(&self) -> &BTreeMap<Serial, UnixTime> {
        &self.revoked
    }

    /// The keys whose places others have taken, each with the key that took it.
    pub fn replaced(&self) -> &BTreeMap<MemberId, Replaced> {
        &self.replaced
    }

    /// Whose place a key had that is a member's no more: the key that has it now, after however
    /// many changes.
    pub fn successor(&self, former: &MemberId) -> Option<MemberId> {
        let first = self.replaced.get(former)?.by;
        // No key takes a place after it has lost one, so this ends.
        let chain = std::iter::successors(Some(first), |key| self.replaced.get(key).map(|one| one.by));
        chain.take(REPLACED_MAX).last()
    }

    /// The keys whose places others have taken, each with the key that has it now: former keys of
    /// people, told as such.
    pub fn former_keys(&self) -> BTreeMap<MemberId, MemberId> {
        let now = |member: &MemberId| Some((*member, self.successor(member)?));
        self.replaced.keys().filter_map(now).collect()
    }

    /// `LINE-90`: whether another key has taken the place of this one.
    pub fn is_former(&self, member: &MemberId) -> bool {
        self.replaced.contains_key(member) && !self.is(Danger::LineFormerReturns)
    }

    /// Where the last decision sends the members: the first decision of another line after the
    /// fork. Then nothing is decided here, unless that Rejoin [falls](Self::may_outlast).
    pub fn rejoin(&self) -> Option<Head> {
        self.rejoin
    }

    /// Whether nothing can follow, whatever the other line does.
    pub(crate) fn is_over(&self) -> bool {
        self.rejoin.is_some() && !self.may_outlast() && !self.is(Danger::LineGoesOn)
    }

    /// Whether this line would outlast the one that it goes over to, if that one went over to this:
    /// its decision at the fork has the lower digest.
    pub fn may_outlast(&self) -> bool {
        let ours = self.rejoin.and_then(|theirs| Some((self.decision_at(theirs.number)?, theirs)));
        ours.is_some_and(|(ours, theirs)| ours.digest < theirs.digest)
    }

    /// Whether this decision is the head or a recent decision of this line.
    pub fn has_on_line(&self, base: &Head) -> bool {
        *base == self.head || self.recent.get(&base.number).is_some_and(|(digest, _)| *digest == base.digest)
    }

    /// The decision of this number on this line, if it is recent enough to be known.
    pub fn decision_at(&self, number: u64) -> Option<Head> {
        if number == self.head.number {
            return Some(self.head);
        }
        self.recent.get(&number).map(|(digest, _)| Head { number, digest: *digest })
    }

    /// Whether this request has admitted somebody whose term has not ended.
    pub fn is_used(&self, request: &Digest) -> bool {
        self.used.contains_key(request)
    }

    /// How many requests have admitted somebody whose term has not ended.
    pub(crate) fn used(&self) -> usize {
        self.used.len()
    }

    /// Whether a decision has refused the request of this admission.
    pub fn is_refused(&self, admit: &Admit) -> bool {
        self.refused.keys().any(|refusal| refusal.covers(admit))
    }

    /// Whether a decision has refused exactly this.
    pub fn has_refused(&self, refusal: &Refusal) -> bool {
        self.refused.contains_key(refusal)
    }

    /// The stamp of a key's removal.
    pub fn removed_at(&self, member: &MemberId) -> u64 {
        self.stamps.removed.get(member).copied().unwrap_or_default()
    }

    /// The number of the last decision that removed a key which is still remembered.
    pub fn last_removal(&self) -> u64 {
        self.stamps.removed.values().max().copied().unwrap_or_default()
    }

    /// The stamp of the electorate.
    pub fn electorate_stamp(&self) -> u64 {
        self.stamps.electorate
    }

    /// The stamp of the sharing.
    pub fn sharing_stamp(&self) -> u64 {
        self.stamps.sharing
    }

    /// The stamp of what a change is about.
    pub fn stamp(&self, change: &Change) -> u64 {
        match change {
            Change::Remove { member } | Change::Rotate { member, .. } => self.removed_at(member),
            Change::Leave(leave) => self.removed_at(&leave.member),
            Change::Charter { field, .. } => {
                let field = String::from_utf8_lossy(&field.0);
                self.stamps.fields.get(field.as_ref()).copied().unwrap_or_default()
            }
            Change::Electorate { .. } => self.stamps.electorate,
            Change::Sharing { .. } => self.stamps.sharing,
            Change::Rejoin { .. } => self.stamps.rejoin,
            // That of the key, judged with the admission; and a Retime names the head.
            Change::Hold { .. } | Change::Retime { .. } => 0,
        }
    }

    /// The stamp of a change, with those of the removals of all keys that it names, in the
    /// admission that it names too: what was approved before such a removal acts no more.
    pub(crate) fn stamp_with(&self, change: &Change, named: Option<&Admit>) -> u64 {
        let stamp = self.stamp(change);
        // Whom a sharing names takes long to read, and most changes come after the last removal.
        if self.last_removal() <= stamp || self.is(Danger::LineNoNamedStamps) {
            return stamp;
        }
        let keys = change.keys(self.charter.scheme()).into_iter().chain(named.map(|named| named.member));
        keys.map(|key| self.removed_at(&key)).fold(stamp, u64::max)
    }

    /// Whether a removal has struck this key from the charter's list, which names it still.
    pub fn is_struck(&self, member: &MemberId) -> bool {
        self.struck.contains(&("list".to_owned(), *member))
    }

    /// The digest of every electorate so far, in order.
    pub(crate) fn running(&self) -> Digest {
        self.running
    }
}

/// [`State::running`] with one electorate more, which the decision of this number made.
pub(crate) fn run(running: Digest, number: u64, electorate: &Electorate) -> Digest {
    digest(&[b"folkmoot electorates v1\0", &running, &number.to_be_bytes(), &codec::encode(electorate)])
}

impl Refusal {
    /// Whether it ends this admission.
    pub fn covers(&self, admit: &Admit) -> bool {
        self.request == admit.request || (self.csr.is_some() && self.csr == admit.csr)
    }
}
