//! Who is in, as the other layers ask: what State(n) holds, and what counts beside it.
//!
//! ```text
//! State(n) + Set --> Roster    members and their terms, who may vote, whose votes suffice
//! ```
//! It is made anew whenever state or membership changes, so that asking costs nothing. Who was a
//! member is remembered for people: the last [`FORMERS_MAX`] of them. Nothing is judged by that.

use crate::{Change, Replaced, Set, State};
use folkmoot_base::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Cause, Digest, Head, MemberId, NodeId, UnixTime};
use folkmoot_identity::{
    AuthorityCertificate, CertificateError, Charter, RevocationBody, RevocationError, Rule, Serial, SharedKey,
};
use folkmoot_signing::VerifyingKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Held;

/// Most former members that are remembered.
pub const FORMERS_MAX: usize = 1_024;

/// Why somebody is no longer a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Ending {
    /// Expelled by the decision with this number.
    #[tls_codec(discriminant = 1)]
    Expelled {
        /// The number.
        number: u64,
    },
    /// The certificate ran out.
    #[tls_codec(discriminant = 2)]
    Expired {
        /// When, as the certificate says.
        at: UnixTime,
    },
    /// The admission no longer counts, and no decision holds it.
    #[tls_codec(discriminant = 3)]
    Late,
    /// Another key took its place, by the decision with this number: its holder is a member still.
    #[tls_codec(discriminant = 4)]
    Replaced {
        /// The number.
        number: u64,
        /// The key that took its place.
        by: MemberId,
    },
}

impl Ending {
    /// The cause that other layers are told.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Expired { .. } => Cause::Expired,
            Self::Expelled { .. } | Self::Replaced { .. } => Cause::Expelled,
            Self::Late => Cause::Late,
        }
    }
}

/// Somebody who was a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    /// The last admission.
    pub held: Held,
    /// How it ended.
    pub ending: Ending,
}

/// A former member on disk.
#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct FormerWire {
    request: Digest,
    name: Blob,
    key: Blob,
    ends: UnixTime,
    issued: Option<[u8; 16]>,
    ending: Ending,
}

impl Former {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Held { request, name, key, ends, issued } = &self.held;
        folkmoot_base::codec::encode(&FormerWire {
            request: *request,
            name: Blob::from(name.as_bytes().to_vec()),
            key: Blob::from(key.spki_der().to_vec()),
            ends: *ends,
            issued: *issued,
            ending: self.ending,
        })
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let wire: FormerWire = folkmoot_base::codec::decode(bytes).ok()?;
        let held = Held {
            request: wire.request,
            name: String::from_utf8(wire.name.0.to_vec()).ok()?,
            key: VerifyingKey::from_spki_der(&wire.key.0).ok()?,
            ends: wire.ends,
            issued: wire.issued,
        };
        Some(Self { held, ending: wire.ending })
    }
}

/// Who is in, at one head and by one set.
#[derive(Debug, Clone)]
pub struct Roster {
    state: Arc<State>,
    electorate: Vec<MemberId>,
    members: BTreeMap<MemberId, Held>,
    /// What counts and no decision holds, and the time that is past.
    standing: Standings,
    hidden: BTreeSet<MemberId>,
    /// The serial numbers of certificates that count and that no decision holds.
    serials: BTreeSet<Serial>,
    formers: BTreeMap<MemberId, Former>,
}

impl Roster {
    /// `hidden` are out by decisions that wait for the clock.
    pub(crate) fn new(state: &State, set: &Set, hidden: &BTreeSet<MemberId>) -> Self {
        let mut members = set.members(state);
        members.retain(|member, _| !hidden.contains(member));
        Self {
            electorate: state.places().iter().map(|place| place.voter).collect(),
            members,
            standing: standing(set),
            hidden: hidden.clone(),
            serials: set.counted().filter_map(|admit| admit.issued).collect(),
            formers: BTreeMap::new(),
            state: Arc::new(state.clone()),
        }
    }

    /// Whether it would be the same if it were made anew.
    pub(crate) fn is_of(&self, state: &State, set: &Set, hidden: &BTreeSet<MemberId>) -> bool {
        self.state.head() == state.head() && self.standing == standing(set) && self.hidden == *hidden
    }

    /// The roster after a change. Those who are members no more are remembered.
    pub(crate) fn follow(&self, state: &State, set: &Set, hidden: &BTreeSet<MemberId>) -> Self {
        let mut next = Self::new(state, set, hidden);
        next.formers.clone_from(&self.formers);
        let gone = self.members.iter().filter(|(member, _)| !next.members.contains_key(*member));
        for (member, held) in gone {
            let ending = self.ending((member, held), state, set, hidden);
            let former = Former { held: held.clone(), ending };
            next.formers.insert(*member, former);
        }
        next.formers.retain(|member, _| !next.members.contains_key(member));
        next.bound();
        next
    }

    pub(crate) fn recall(&mut self, member: MemberId, former: Former) {
        if !self.members.contains_key(&member) {
            self.formers.insert(member, former);
            self.bound();
        }
    }

    fn bound(&mut self) {
        while self.formers.len() > FORMERS_MAX {
            let first = self.formers.iter().min_by_key(|(_, former)| former.held.ends);
            let Some(member) = first.map(|(member, _)| *member) else { return };
            self.formers.remove(&member);
        }
    }

    /// How somebody went: `hidden` are out now by decisions that wait for the clock.
    fn ending(
        &self,
        (member, held): (&MemberId, &Held),
        state: &State,
        set: &Set,
        hidden: &BTreeSet<MemberId>,
    ) -> Ending {
        let number = state.removed_at(member);
        if let Some(Replaced { by, number }) = state.replaced().get(member).copied() {
            return Ending::Replaced { number, by };
        }
        if number > self.state.removed_at(member) {
            return Ending::Expelled { number };
        }
        if hidden.contains(member) {
            return Ending::Expelled { number: state.head().number.saturating_add(1) };
        }
        if held.ends < set.time(state) { Ending::Expired { at: held.ends } } else { Ending::Late }
    }

    /// The last decision.
    pub fn head(&self) -> Head {
        self.state.head()
    }

    /// What the decisions made of the founding.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether it is a member.
    pub fn is_member(&self, member: &MemberId) -> bool {
        self.members.contains_key(member)
    }

    /// Whether it is a member's node: for a program that embeds both, node and member have one key.
    pub fn is_rostered(&self, node: &NodeId) -> bool {
        self.is_member(&node.member())
    }

    /// The admission by which it is a member: of several the one that ends last.
    pub fn member(&self, member: &MemberId) -> Option<&Held> {
        self.members.get(member)
    }

    /// All members, sorted, each with [`Self::member`].
    pub fn members(&self) -> &BTreeMap<MemberId, Held> {
        &self.members
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether nobody is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// For a former member: the last admission and how it ended.
    pub fn former(&self, member: &MemberId) -> Option<&Former> {
        self.formers.get(member)
    }

    /// The former members that are remembered, sorted.
    pub fn formers(&self) -> &BTreeMap<MemberId, Former> {
        &self.formers
    }

    /// The key of one that is a member, or was one and is remembered.
    pub fn key_of(&self, member: &MemberId) -> Option<&VerifyingKey> {
        let held = self.member(member).or_else(|| self.former(member).map(|former| &former.held));
        held.map(|held| &held.key)
    }

    /// The voters in order: the first decides when exactly half agree.
    pub fn electorate(&self) -> &[MemberId] {
        &self.electorate
    }

    /// Whether this member's approvals and commits count.
    pub fn may_vote(&self, member: &MemberId) -> bool {
        self.state.may_vote(member)
    }

    /// The key of a voter, if [`Self::may_vote`].
    pub fn voter_key(&self, member: &MemberId) -> Option<&VerifyingKey> {
        self.state.roster().get(member).filter(|_| self.may_vote(member)).map(|held| &held.key)
    }

    /// Those who [`Self::may_vote`].
    pub fn voters(&self) -> BTreeSet<MemberId> {
        self.state.voters()
    }

    /// Whether `yes` are a quorum of the electorate: two quorums share a voter.
    pub fn is_quorum(&self, yes: &BTreeSet<MemberId>) -> bool {
        self.state.is_quorum(yes)
    }

    /// Whether the approvals of `yes` suffice for this change.
    pub fn carries(&self, change: &Change, yes: &BTreeSet<MemberId>) -> bool {
        self.state.carries(change, yes).is_ok()
    }

    /// How many approvals an effect takes, at the least.
    pub fn decision_need(&self) -> usize {
        self.state.decision_need()
    }

    /// How many approvals this change takes if `yes` are for it already: more than these, if these
    /// do not suffice.
    pub fn change_need(&self, change: &Change, yes: &BTreeSet<MemberId>) -> usize {
        let remove = self.charter().policies().remove.as_ref();
        let rule = remove.filter(|_| change.goes().is_some()).map_or(0, Rule::least);
        let least = self.decision_need().max(rule);
        let yes = self.voting(yes);
        if self.carries(change, &yes) { least } else { least.max(yes.len().saturating_add(1)) }
    }

    /// Whether the approvals of `yes` let `holder` in.
    pub fn lets_in(&self, holder: &MemberId, yes: &BTreeSet<MemberId>) -> bool {
        self.state.lets_in(holder, &self.voting(yes)).is_ok()
    }

    fn voting(&self, yes: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
        yes.iter().filter(|voter| self.may_vote(voter)).copied().collect()
    }

    /// How many approvals an admission takes if `yes` are for it already: more than these, if these
    /// do not admit.
    pub fn admission_need(&self, yes: &BTreeSet<MemberId>) -> usize {
        if self.is_for_authority() {
            return 0;
        }
        let least = self.charter().policies().least(self.threshold());
        let least = if self.charter().minority_may_admit() { least } else { least.max(self.decision_need()) };
        let admits = || {
            let policy = self.charter().policies().let_in(None, &self.voting(yes), self.threshold());
            policy.is_ok() && (self.charter().minority_may_admit() || self.is_quorum(yes))
        };
        if admits() { least } else { least.max(yes.len().saturating_add(1)) }
    }

    /// How many approvals it takes, before any quorum.
    pub fn threshold(&self) -> usize {
        self.state.threshold()
    }

    /// How many voters there are, if they are fewer than the charter asks for and it says who
    /// admits then.
    pub fn below_threshold(&self) -> Option<usize> {
        self.state.below_threshold()
    }

    /// Whether the charter's authority admits without approvals.
    pub fn is_for_authority(&self) -> bool {
        self.state.is_for_authority()
    }

    /// The charter as changed so far.
    pub fn charter(&self) -> &Charter {
        self.state.charter()
    }

    /// The charter as founded.
    pub fn founding_charter(&self) -> &Charter {
        self.state.founding_charter()
    }

    /// How the members share the group's key now.
    pub fn sharing(&self) -> Option<&Arc<SharedKey>> {
        self.state.sharing()
    }

    /// Holders of shares of the group's key that have no vote any more.
    pub fn leavers_with_shares(&self) -> Vec<MemberId> {
        self.state.leavers_with_shares()
    }

    /// The certificates of the group's key whose holders were expelled, until their terms end.
    pub fn revoked(&self) -> &BTreeMap<Serial, UnixTime> {
        self.state.revoked()
    }

    /// The certificate of the key that signs certificates: the charter's authority's, or the
    /// group's own once it has one.
    ///
    /// # Errors
    /// [`CertificateError`] if the state holds an invalid one: our bug.
    pub fn issuer(&self) -> Result<Option<AuthorityCertificate>, CertificateError> {
        if let Some(central) = self.charter().central() {
            return Ok(Some(central.certificate.clone()));
        }
        self.sharing().map(|sharing| AuthorityCertificate::from_der(&sharing.authority)).transpose()
    }

    /// The number of the newest list of revoked certificates: that of the last decision that
    /// removed a key. Zero if no certificate is revoked.
    pub fn revocation_number(&self) -> u64 {
        if self.revoked().is_empty() { 0 } else { self.state.last_removal() }
    }

    /// The list of certificates of the group's key, or of its authority's, whose holders were
    /// expelled, without those that have run out by `this_update`. `None` if there are none.
    ///
    /// # Errors
    /// [`RevocationError`]: our bug, or too many.
    pub fn revocations(&self, this_update: UnixTime) -> Result<Option<RevocationBody>, RevocationError> {
        let Some(authority) = self.issuer().map_err(RevocationError::LocalAuthority)? else {
            return Ok(None);
        };
        if self.revoked().is_empty() {
            return Ok(None);
        }
        let serials = self.revoked().iter().filter(|(_, ends)| **ends >= this_update);
        let serials = serials.map(|(serial, _)| *serial).collect();
        RevocationBody::new(authority, this_update, self.revocation_number(), serials).map(Some)
    }

    /// Whether the group's key, or its authority, has admitted by a certificate of this serial
    /// number that is still known.
    pub fn has_issued(&self, serial: &Serial) -> bool {
        let held = self.state.roster().values().any(|held| held.issued == Some(*serial));
        held || self.revoked().contains_key(serial) || self.serials.contains(serial)
    }

    /// Whether the request with this digest admits somebody, or has done so.
    pub fn is_used(&self, request: &Digest) -> bool {
        self.state.is_used(request) || self.standing.0.contains(request)
    }

    /// Whether a list that names this key no longer lets it in: it was expelled since the voters
    /// last decided the list.
    pub fn is_struck(&self, member: &MemberId) -> bool {
        self.state.is_struck(member)
    }
}

type Standings = (BTreeSet<Digest>, UnixTime);

fn standing(set: &Set) -> Standings {
    (set.counted().map(|admit| admit.request).collect(), set.past())
}
