//! Who is in: this follows from a set of transcript entries, and from nothing else.
//!
//! ```text
//! set of entries --> admissions - endings = members
//!                --> decisions, serial by serial = electorate, charter as changed so far
//! ```
//! Every effect is a set union or a minimum, so any order in which parents come before their
//! children gives the same roster, and the union of two sides of a split is the roster of the union
//! of their entries.

mod removals;
mod votes;

use crate::numbers::Numbers;
use crate::{AuthorityCertificate, CertificateError, Charter, Decision, Serial, Threshold};
use bytes::Bytes;
use folkmoot_base::{Digest, EntryId, MemberId, NodeId, UnixTime};
use folkmoot_signing::VerifyingKey;
use folkmoot_signing::shared::SharingFacts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One admission of one member: by founding or by an Admit entry. A member may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// Who.
    pub member: MemberId,
    /// The entry that admitted: Genesis or Admit.
    pub entry: EntryId,
    /// The name in charter or certificate.
    pub name: String,
    /// The member's public key.
    pub key: VerifyingKey,
    /// When its certificate ends; `UnixTime(u64::MAX)` for a founder, whose admission does not run
    /// out.
    pub not_after: UnixTime,
    /// The certificate (GMC, DER); none for a founder, who stands in the charter.
    pub certificate: Option<Bytes>,
    /// The certificate's serial number, if the group's key, or its authority's, has issued it.
    pub issued: Option<Serial>,
    /// The removals of this member that are in its past. Every other removal ends it (`TRN-59`).
    pub(crate) knows: BTreeSet<Removal>,
    /// The ends of this member's terms that are in its past: none of these ends it.
    pub(crate) outlived: BTreeSet<UnixTime>,
}

/// A decision that removes: its serial and its digest.
pub(crate) type Removal = (u64, Digest);

/// Why an admission no longer holds. Ordered: of two reasons the smaller is reported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Expelled by vote.
    Expelled {
        /// The Remove entry.
        entry: EntryId,
    },
    /// The certificate ran out.
    Expired {
        /// When, as the certificate says.
        at: UnixTime,
        /// The Expire entry.
        entry: EntryId,
    },
}

/// Who decides now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Electorate {
    /// How many decisions were taken; each uses up one.
    pub serial: u64,
    /// The voters in order; the first decides when exactly half agree.
    pub voters: Vec<MemberId>,
}

impl Electorate {
    /// Whether `yes` (distinct members) are a quorum: more than half of the voters, or exactly half
    /// including the first listed. Any two quorums share a voter.
    pub fn is_quorum(&self, yes: &BTreeSet<MemberId>) -> bool {
        let count = self.voters.iter().filter(|voter| yes.contains(voter)).count();
        let twice = count.saturating_mul(2);
        let first = self.voters.first().is_some_and(|first| yes.contains(first));
        twice > self.voters.len() || (first && twice == self.voters.len())
    }
}

/// What a decision does, once enough voters of one serial have signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    Remove(MemberId),
    Charter { field: String, value: String },
    Electorate(Vec<MemberId>),
    Sharing(Arc<SharedKey>),
}

/// The group's key as its members share it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedKey {
    /// What the sharing says of itself: share-epoch, key, threshold, holders.
    pub facts: SharingFacts,
    /// Its public part, as decided.
    pub public: Bytes,
    /// The certificate of the key (X.509, DER), signed by the key itself: a standard verifier
    /// trusts it. Empty if an authority signs certificates.
    pub authority: Bytes,
}

/// The state that a set of entries results in.
#[derive(Debug, Clone)]
pub struct Roster {
    founding: Arc<Charter>,
    founders: Vec<MemberId>,
    admissions: BTreeMap<(MemberId, EntryId), Arc<Admission>>,
    endings: BTreeMap<(MemberId, EntryId), Ending>,
    live: BTreeMap<MemberId, BTreeSet<EntryId>>,
    /// The decisions that removed each member, each with the first, by name, of the entries that
    /// carry it out.
    removals: BTreeMap<MemberId, BTreeMap<Removal, EntryId>>,
    /// The ends of admissions that ran out, and the entries that say so.
    expiries: BTreeMap<MemberId, BTreeSet<(UnixTime, EntryId)>>,
    requests: BTreeSet<Digest>,
    /// Requests that objections ended.
    refused: BTreeSet<Digest>,
    /// Serial numbers from refused CSRs.
    refused_csrs: BTreeSet<Serial>,
    /// Serial numbers under which the group's key has issued.
    issued: BTreeSet<Serial>,
    /// Of these, those whose holders were expelled, with the certificate's end.
    revoked: BTreeMap<Serial, UnixTime>,
    /// By serial, then by what is decided: more than one at a serial only if a voter signed two.
    decisions: BTreeMap<u64, BTreeMap<Digest, Effect>>,
    electorate: Electorate,
    charter: Arc<Charter>,
    sharing: Option<Arc<SharedKey>>,
}

impl Roster {
    /// The roster after Genesis.
    pub(crate) fn founded(charter: Charter, admissions: Vec<Admission>) -> Self {
        let founders: Vec<MemberId> = admissions.iter().map(|admission| admission.member).collect();
        let charter = Arc::new(charter);
        let mut roster = Self {
            founding: charter.clone(),
            electorate: Electorate { serial: 0, voters: founders.clone() },
            founders,
            admissions: BTreeMap::new(),
            endings: BTreeMap::new(),
            live: BTreeMap::new(),
            removals: BTreeMap::new(),
            expiries: BTreeMap::new(),
            requests: BTreeSet::new(),
            refused: BTreeSet::new(),
            refused_csrs: BTreeSet::new(),
            issued: BTreeSet::new(),
            revoked: BTreeMap::new(),
            decisions: BTreeMap::new(),
            charter,
            sharing: None,
        };
        for admission in admissions {
            roster.insert(Arc::new(admission));
        }
        roster
    }

    /// Whether it is a member.
    pub fn is_member(&self, member: &MemberId) -> bool {
        self.live.contains_key(member)
    }

    /// Whether it is a member's node: for a program that embeds both, node and member have one key.
    pub fn is_rostered(&self, node: &NodeId) -> bool {
        self.is_member(&node.member())
    }

    /// The admission by which it is a member: of several that hold, the one that ends last.
    pub fn member(&self, member: &MemberId) -> Option<&Admission> {
        let entries = self.live.get(member)?;
        let held = entries.iter().filter_map(|entry| self.admissions.get(&(*member, *entry)));
        held.max_by_key(|admission| (admission.not_after, admission.entry)).map(|admission| &**admission)
    }

    /// All members, sorted, each with [`Self::member`].
    pub fn members(&self) -> impl Iterator<Item = &Admission> {
        self.live.keys().filter_map(|member| self.member(member))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether nobody is left.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// For a former member: the last admission and how it ended.
    pub fn former(&self, member: &MemberId) -> Option<(&Admission, &Ending)> {
        if self.is_member(member) {
            return None;
        }
        let range = (*member, EntryId([0; 32]))..=(*member, EntryId([0xff; 32]));
        let ended = self
            .endings
            .range(range)
            .filter_map(|(key, ending)| Some((&**self.admissions.get(key)?, ending)));
        ended.max_by_key(|(admission, _)| (admission.not_after, admission.entry))
    }

    /// The key of one that is or was a member. A member id is a digest of its key, so there is only
    /// one for each.
    pub fn key_of(&self, member: &MemberId) -> Option<&VerifyingKey> {
        let first = self.admissions.range((*member, EntryId([0; 32]))..).next();
        first.filter(|((who, _), _)| who == member).map(|(_, admission)| &admission.key)
    }

    /// All former members, sorted, each with [`Self::former`].
    pub fn formers(&self) -> impl Iterator<Item = (&Admission, &Ending)> {
        let who: BTreeSet<MemberId> = self.endings.keys().map(|(member, _)| *member).collect();
        who.into_iter().filter_map(|member| self.former(&member))
    }

    /// Every admission that holds and ends at `time` or before: what an Expire entry may name.
    pub fn run_out(&self, time: UnixTime) -> impl Iterator<Item = &Admission> {
        let held =
            self.live.iter().flat_map(|(member, entries)| entries.iter().map(|entry| (*member, *entry)));
        held.filter_map(|key| self.admissions.get(&key))
            .map(|admission| &**admission)
            .filter(move |admission| admission.not_after <= time)
    }

    /// Whether this admission is there and has not ended.
    pub fn holds(&self, member: &MemberId, admission: &EntryId) -> bool {
        self.live.get(member).is_some_and(|entries| entries.contains(admission))
    }

    /// The admission that this entry made of this member, ended or not.
    pub fn admission(&self, member: &MemberId, entry: &EntryId) -> Option<&Admission> {
        self.admissions.get(&(*member, *entry)).map(|admission| &**admission)
    }

    /// Who decides.
    pub fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// Whether this member's vote counts: of the electorate, and still a member.
    pub fn may_vote(&self, member: &MemberId) -> bool {
        self.is_member(member) && self.electorate.voters.contains(member)
    }

    /// The key of a voter, if [`Self::may_vote`].
    pub fn voter_key(&self, member: &MemberId) -> Option<&VerifyingKey> {
        if !self.may_vote(member) {
            return None;
        }
        self.member(member).map(|admission| &admission.key)
    }

    /// Those of the electorate who are members.
    pub fn voters(&self) -> BTreeSet<MemberId> {
        self.electorate.voters.iter().filter(|voter| self.is_member(voter)).copied().collect()
    }

    /// The certificate of the key that signs certificates: the charter's authority's, or the
    /// group's own once it has one.
    ///
    /// # Errors
    /// [`CertificateError`] if the transcript accepted an invalid one: our bug.
    pub fn issuer(&self) -> Result<Option<AuthorityCertificate>, CertificateError> {
        if let Some(central) = self.charter.central() {
            return Ok(Some(central.certificate.clone()));
        }
        self.sharing.as_ref().map(|sharing| AuthorityCertificate::from_der(&sharing.authority)).transpose()
    }

    /// The change that is due to a threshold that follows the group's size, if one is due.
    pub fn threshold_update(&self) -> Option<Decision> {
        let next: Threshold = self.charter.threshold_rule().update(self.len())?;
        Some(Decision::change("threshold", &next.to_string()))
    }

    /// The charter as changed so far.
    pub fn charter(&self) -> &Charter {
        &self.charter
    }

    /// Whether the charter had the version with this digest before, and has another now. A version
    /// that was counted out, because two decisions of one serial stand, does not count.
    pub fn had_charter(&self, digest: &Digest) -> bool {
        let mut charter = (*self.founding).clone();
        let effects = self.decisions.values().flat_map(BTreeMap::values);
        for effect in effects {
            let Effect::Charter { field, value } = effect else { continue };
            if charter.digest() == *digest {
                break;
            }
            charter = charter.with_change(field, value).unwrap_or(charter);
        }
        charter.digest() == *digest && self.charter.digest() != *digest
    }

    /// The serial of the last decision on the list of those who need no votes; none if the list is
    /// as founded.
    fn listed_at(&self) -> Option<u64> {
        let changes = |effect: &Effect| matches!(effect, Effect::Charter { field, .. } if field == "list");
        let listed = self.decisions.iter().rev().find(|(_, decided)| decided.values().any(changes));
        listed.map(|(serial, _)| *serial)
    }

    /// The charter as founded.
    pub fn founding_charter(&self) -> &Charter {
        &self.founding
    }

    /// Those who signed the charter, in its order.
    pub fn founders(&self) -> &[MemberId] {
        &self.founders
    }

    /// How the members share the group's key now; none before the first sharing, or if the scheme
    /// has no such key.
    pub fn sharing(&self) -> Option<&Arc<SharedKey>> {
        self.sharing.as_ref()
    }

    /// Holders of shares of the group's key that have no vote any more. Once they are as many as
    /// the threshold, they could sign without the members (`TRN-53`).
    pub fn leavers_with_shares(&self) -> Vec<MemberId> {
        let holders = self.sharing.iter().flat_map(|sharing| &sharing.facts.holders);
        holders.filter(|holder| !self.may_vote(holder)).copied().collect()
    }

    /// The certificates of the group's key whose holders were expelled: serial number, and the
    /// certificate's end. It only grows.
    pub fn revoked(&self) -> &BTreeMap<Serial, UnixTime> {
        &self.revoked
    }

    /// Whether the group's key, or its authority, has admitted by a certificate of this serial
    /// number.
    pub fn has_issued(&self, serial: &Serial) -> bool {
        self.issued.contains(serial)
    }

    /// Whether the request with this digest has admitted somebody already.
    pub fn is_used(&self, request: &Digest) -> bool {
        self.requests.contains(request)
    }

    /// Whether objections have ended the request with this digest.
    pub fn is_refused(&self, request: &Digest) -> bool {
        self.refused.contains(request)
    }

    /// Whether objections have ended the CSR with this serial number.
    pub fn is_refused_csr(&self, serial: &Serial) -> bool {
        self.refused_csrs.contains(serial)
    }

    /// Whether the decision with this digest was taken at this serial.
    pub fn decided(&self, serial: u64, decision: &Digest) -> bool {
        self.decisions.get(&serial).is_some_and(|decided| decided.contains_key(decision))
    }

    /// Serials at which more than one decision stands: somebody signed two.
    pub fn contradictions(&self) -> impl Iterator<Item = u64> {
        self.decisions.iter().filter(|(_, decided)| decided.len() > 1).map(|(serial, _)| *serial)
    }

    /// How many admissions, ends of a term and decisions there were; the other numbers are left at
    /// zero.
    pub(crate) fn numbers(&self) -> Numbers {
        let effects = || self.decisions.values().flat_map(BTreeMap::values);
        Numbers {
            admissions: self.requests.len(),
            expiries: self.expiries.values().map(BTreeSet::len).sum(),
            decisions: effects().count(),
            removals: effects().filter(|effect| matches!(effect, Effect::Remove(_))).count(),
            charter_changes: effects().filter(|effect| matches!(effect, Effect::Charter { .. })).count(),
            electorates: effects().filter(|effect| matches!(effect, Effect::Electorate(_))).count(),
            ..Numbers::default()
        }
    }

    pub(crate) fn admit(&mut self, request: Digest, admission: Arc<Admission>) {
        self.requests.insert(request);
        self.insert(admission);
    }

    pub(crate) fn refuse(&mut self, request: Digest, csr: Option<Serial>) {
        self.refused.insert(request);
        self.refused_csrs.extend(csr);
    }

    /// Ends one admission. Of several endings the smallest stands.
    fn end(&mut self, member: MemberId, admission: EntryId, ending: Ending) {
        if let Some(entries) = self.live.get_mut(&member) {
            entries.remove(&admission);
            if entries.is_empty() {
                self.live.remove(&member);
            }
        }
        let told = self.endings.entry((member, admission)).or_insert_with(|| ending.clone());
        if ending < *told {
            *told = ending;
        }
        self.revoke(&(member, admission));
    }

    /// Notes the certificate of an admission that ended by expulsion. Of two with one serial number
    /// the later end counts.
    fn revoke(&mut self, key: &(MemberId, EntryId)) {
        let Some(Ending::Expelled { .. }) = self.endings.get(key) else { return };
        let Some(admission) = self.admissions.get(key) else { return };
        let Some(serial) = admission.issued else { return };
        let end = self.revoked.entry(serial).or_insert(admission.not_after);
        *end = admission.not_after.max(*end);
    }

    /// Takes a decision, normally the next one. If it is a second one at an old serial, all are
    /// counted again, so that the outcome does not depend on which came first.
    pub(crate) fn decide(&mut self, serial: u64, digest: Digest, effect: Effect, entry: EntryId) {
        if let Effect::Remove(member) = &effect {
            self.remove(*member, (serial, digest), entry);
        }
        let at_serial = self.decisions.entry(serial).or_default();
        if at_serial.contains_key(&digest) {
            return;
        }
        at_serial.insert(digest, effect.clone());
        if serial == self.electorate.serial {
            self.apply(&effect);
            self.electorate.serial = serial.saturating_add(1);
            return;
        }
        self.electorate = Electorate { serial: 0, voters: self.founders.clone() };
        self.charter = self.founding.clone();
        self.sharing = None;
        for (serial, decided) in self.decisions.clone() {
            decided.values().for_each(|effect| self.apply(effect));
            self.electorate.serial = serial.saturating_add(1);
        }
    }

    /// What an effect would make of electorate and charter: `None` if the charter cannot be changed
    /// so.
    pub(crate) fn outcome(&self, effect: &Effect) -> Option<(Vec<MemberId>, Arc<Charter>)> {
        let mut voters = self.electorate.voters.clone();
        let mut charter = self.charter.clone();
        match effect {
            Effect::Remove(member) => voters.retain(|voter| voter != member),
            Effect::Charter { field, value } => charter = Arc::new(charter.with_change(field, value).ok()?),
            Effect::Electorate(new) => voters.clone_from(new),
            Effect::Sharing(_) => {}
        }
        Some((voters, charter))
    }

    fn apply(&mut self, effect: &Effect) {
        if let Some((voters, charter)) = self.outcome(effect) {
            self.electorate.voters = voters;
            self.charter = charter;
        }
        if let Effect::Sharing(sharing) = effect {
            self.sharing = Some(sharing.clone());
        }
    }

    fn insert(&mut self, admission: Arc<Admission>) {
        let key = (admission.member, admission.entry);
        self.live.entry(key.0).or_default().insert(key.1);
        self.issued.extend(admission.issued);
        let endings = self.endings_of(&admission);
        self.admissions.insert(key, admission);
        endings.into_iter().for_each(|ending| self.end(key.0, key.1, ending));
    }
}

/// Equality of what the roster says, not of how it came about.
impl PartialEq for Roster {
    fn eq(&self, other: &Self) -> bool {
        self.admissions == other.admissions
            && self.endings == other.endings
            && self.refused == other.refused
            && self.refused_csrs == other.refused_csrs
            && self.electorate == other.electorate
            && self.charter.digest() == other.charter.digest()
            && self.sharing == other.sharing
    }
}

impl Eq for Roster {}
