//! Publish and subscribe under the group's own decisions: whom the members admit, and with which
//! roles, says who may be on which channel. No certificate of X.509, and no root.
//!
//! ```text
//!   transcript --Roster--> Snapshot <--judge-- LCM's discovery (protocol/pubsub)
//!        `--- whoever is out, or has other roles --> look again --> a key without it
//! claim = member 32 | admission 32 | SHA-256 of the roles 32 | sender u16
//! ```
//! A claim stands where a certificate stands: it is signed with the member's identity key, as all
//! that discovery says is, and it counts while the transcript of whoever judges it agrees. Whoever
//! is admitted anew, or has other roles, has another claim.

pub use folkmoot_lcm::*;

use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, UnixTime, digest};
use folkmoot_pubsub::discovery::{Exclusion, Papers, Standing};
use folkmoot_pubsub::secured::{Credentials, Domain, Grants, Right, SenderId};
use folkmoot_runtime::{MemberHandle, RuntimeError as Error};
use folkmoot_signing::plain::{Signature, SigningKey, VerifyingKey};
use folkmoot_transcript::{Held, Roster};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Bytes of a claim.
const CLAIM_BYTES: usize = 32 + 32 + 32 + 2;

/// What one member's transcript says of another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    /// What admitted it.
    request: Digest,
    key: VerifyingKey,
    roles: Vec<String>,
    ends: UnixTime,
    /// It is a member now.
    here: bool,
}

/// Who is in, as the member that runs here knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Snapshot(BTreeMap<MemberId, Known>);

impl Snapshot {
    fn of(roster: &Roster) -> Self {
        // Topics take keys on P-256 alone: whoever has another takes no part in them.
        let known = |member: &MemberId, held: &Held, here| {
            let known = Known {
                request: held.request,
                key: held.key.as_p256()?.clone(),
                roles: roster.charter().policies().roles_of(member),
                ends: held.ends,
                here,
            };
            Some((*member, known))
        };
        let formers = roster.formers().iter().filter_map(|(member, one)| known(member, &one.held, false));
        let members = roster.members().iter().filter_map(|(member, held)| known(member, held, true));
        // Whoever is in again counts as that.
        Self(formers.chain(members).collect())
    }

    /// What the holder of a claim may, if the transcript agrees with all of it.
    fn granted(&self, grants: &Grants, claim: &Claim) -> Option<(Vec<Right>, UnixTime)> {
        let known = self.0.get(&claim.member)?;
        let holds = known.here && known.request == claim.request && roles_digest(&known.roles) == claim.roles;
        let roles = known.roles.iter().map(String::as_str);
        let rights = grants.rights(roles, claim.sender).ok().filter(|_| holds)?;
        Some((rights, known.ends))
    }

    /// Whether the transcript says that a claim no longer holds. Of somebody whom it does not know
    /// yet it says nothing, and nothing of another admission than the last.
    fn is_over(&self, claim: &Claim) -> bool {
        self.0.get(&claim.member).is_some_and(|known| {
            let same = known.request == claim.request;
            same && (!known.here || roles_digest(&known.roles) != claim.roles)
        })
    }
}

/// What a claim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claim {
    member: MemberId,
    request: Digest,
    roles: Digest,
    sender: SenderId,
}

impl Claim {
    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != CLAIM_BYTES {
            return None;
        }
        let (member, rest) = bytes.split_first_chunk()?;
        let (request, rest) = rest.split_first_chunk()?;
        let (roles, sender) = rest.split_first_chunk()?;
        let sender = SenderId::new(u16::from_be_bytes(*sender.first_chunk()?))?;
        Some(Self { member: MemberId(*member), request: *request, roles: *roles, sender })
    }

    fn bytes(&self) -> Bytes {
        let Self { member, request, roles, sender } = self;
        [&member.0[..], request, roles, &sender.get().to_be_bytes()].concat().into()
    }

    fn of(member: MemberId, known: &Known, attempt: u16) -> Self {
        let mark = digest(&[b"folkmoot lcm sender v1\0", &member.0, &known.request, &attempt.to_be_bytes()]);
        let number = u16::from_be_bytes(*mark.first_chunk().unwrap_or(&[0, 1]));
        let sender = SenderId::new(number).unwrap_or(SenderId::FIRST);
        Self { member, request: known.request, roles: roles_digest(&known.roles), sender }
    }
}

fn roles_digest(roles: &[String]) -> Digest {
    let mut parts: Vec<&[u8]> = vec![b"folkmoot lcm roles v1\0"];
    roles.iter().for_each(|role| parts.extend([role.as_bytes(), b"\0"]));
    digest(&parts)
}

/// The transcript's word, in place of certificates.
#[derive(Clone)]
pub struct RosterPapers {
    moot: MemberHandle,
    known: Arc<RwLock<Snapshot>>,
    grants: Grants,
    own: Claim,
    claim: Bytes,
    key: SigningKey,
}

/// Names no secret.
impl core::fmt::Debug for RosterPapers {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "RosterPapers({} as {}, ..)", self.own.member, self.own.sender)
    }
}

impl RosterPapers {
    /// Of the member behind `moot`, where `grants` says which roles may be on which channels: all
    /// members have the same grants. `key` is its identity key, on P-256. `None` while it
    /// is not admitted.
    /// `attempt` grows by one when another member turns out to have the same sender number.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn of(
        moot: MemberHandle,
        me: MemberId,
        grants: Grants,
        key: SigningKey,
        attempt: u16,
    ) -> Result<Option<Self>, Error> {
        let known = snapshot(&moot).await?;
        let own = known.0.get(&me).filter(|known| known.here);
        let Some(own) = own.map(|known| Claim::of(me, known, attempt)) else { return Ok(None) };
        let known = Arc::new(RwLock::new(known));
        Ok(Some(Self { moot, known, grants, own, claim: own.bytes(), key }))
    }

    /// Reads the transcript again; whether anybody came, went, or has other roles. If so, call
    /// `Membership::look_again`. Until the next call the word of the last one counts.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn refresh(&self) -> Result<bool, Error> {
        let fresh = snapshot(&self.moot).await?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let changed = *known != fresh;
        *known = fresh;
        Ok(changed)
    }

    /// The number that this member speaks under.
    pub fn sender(&self) -> SenderId {
        self.own.sender
    }

    fn known(&self) -> RwLockReadGuard<'_, Snapshot> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn snapshot(moot: &MemberHandle) -> Result<Snapshot, Error> {
    moot.look(|machine, _, _| Snapshot::of(machine.upper.member.transcript().roster())).await
}

impl Credentials for RosterPapers {
    fn rights(&self) -> Vec<Right> {
        self.known().granted(&self.grants, &self.own).map(|(rights, _)| rights).unwrap_or_default()
    }

    fn key(&self) -> &SigningKey {
        &self.key
    }

    fn key_of(&self, certificate: &[u8]) -> Option<VerifyingKey> {
        let claim = Claim::read(certificate)?;
        self.known().0.get(&claim.member).map(|known| known.key.clone())
    }

    /// The claim itself: whoever hears of it asks its own transcript.
    fn lapsed(&self, _: &Domain, certificate: &[u8]) -> Option<Bytes> {
        let claim = Claim::read(certificate)?;
        self.known().is_over(&claim).then(|| claim.bytes())
    }
}

impl Papers for RosterPapers {
    fn certificate(&self) -> &[u8] {
        &self.claim
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.key.sign_raw(message).to_bytes().to_vec()
    }

    fn judge(&self, domain: &[u8], certificate: &[u8], _: Option<UnixTime>) -> Option<Standing> {
        let domain: Domain = core::str::from_utf8(domain).ok()?.parse().ok()?;
        let claim = Claim::read(certificate)?;
        let (rights, ends) = self.known().granted(&self.grants, &claim)?;
        let right = rights.iter().find(|right| right.domain == domain)?;
        Some(Standing { uid: right.sender.get(), until: (ends.0 < u64::MAX).then_some(ends) })
    }

    fn verify(&self, certificate: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = self.key_of(certificate).zip(Signature::from_bytes(signature).ok());
        key.is_some_and(|(key, signature)| key.verify_raw(message, &signature).is_ok())
    }

    fn judge_exclusion(&self, _: &[u8], statement: &[u8]) -> Option<Exclusion> {
        let claim = Claim::read(statement)?;
        let out = Exclusion { holder: self.holder(statement), until: None };
        self.known().is_over(&claim).then_some(out)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use folkmoot_pubsub::Channel;

    struct Seed(u8);

    impl folkmoot_base::Entropy for Seed {
        fn fill(&mut self, out: &mut [u8]) {
            out.fill(self.0);
            self.0 = self.0.wrapping_add(1);
        }
    }

    fn known(roles: &[&str], here: bool) -> Known {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        let key = SigningKey::generate(&mut Seed(7)).verifying_key().clone();
        Known { request: [3; 32], key, roles, ends: UnixTime(u64::MAX), here }
    }

    fn of(known: Known) -> (Snapshot, MemberId) {
        let member = MemberId([9; 32]);
        (Snapshot(BTreeMap::from([(member, known)])), member)
    }

    fn grants() -> Grants {
        let group: Domain = "239.255.76.67:7667".parse().unwrap();
        let channel = |name| Channel::new(name).unwrap();
        Grants::new(group).to_all(channel("POSE")).with("driver", channel("STEER"))
    }

    #[test]
    fn a_claim_is_read_as_it_is_written_and_nothing_else_is() {
        let claim = Claim::of(MemberId([9; 32]), &known(&["driver"], true), 0);
        assert_eq!(Claim::read(&claim.bytes()), Some(claim));
        let bytes = claim.bytes();
        assert_eq!(Claim::read(&bytes[1..]), None);
        assert_eq!(Claim::read(&[&bytes[..], &[0]].concat()), None);
        let nobody = [&bytes[..CLAIM_BYTES - 2], &[0, 0]].concat();
        assert_eq!(Claim::read(&nobody), None, "zero is nobody's number");
        let next = Claim::of(claim.member, &known(&["driver"], true), 1);
        assert_ne!(next.sender, claim.sender, "another attempt is another number");
    }

    #[test]
    fn pub_69_a_claim_counts_while_the_transcript_agrees_with_all_of_it() {
        let (snapshot, member) = of(known(&["driver"], true));
        let claim = Claim::of(member, &known(&["driver"], true), 0);
        assert_eq!(snapshot.granted(&grants(), &claim).unwrap().0.len(), 3);
        assert!(!snapshot.is_over(&claim));
        // Liars: another admission, other roles, somebody else.
        let liars = [
            Claim { request: [4; 32], ..claim },
            Claim { roles: roles_digest(&["admin".to_owned()]), ..claim },
            Claim { member: MemberId([8; 32]), ..claim },
        ];
        for liar in liars {
            assert_eq!(snapshot.granted(&grants(), &liar), None);
        }
        let (without, _) = of(known(&[], true));
        let plain = Claim::of(member, &known(&[], true), 0);
        assert_eq!(without.granted(&grants(), &plain).unwrap().0.len(), 2, "what all may");
    }

    #[test]
    fn pub_70_a_claim_is_over_when_its_holder_is_out_or_has_other_roles_and_of_strangers_nothing_is_said() {
        let (_, member) = of(known(&["driver"], true));
        let claim = Claim::of(member, &known(&["driver"], true), 0);
        for later in [known(&["driver"], false), known(&[], true)] {
            let (snapshot, _) = of(later);
            assert!(snapshot.is_over(&claim));
            assert_eq!(snapshot.granted(&grants(), &claim), None);
        }
        assert!(!Snapshot::default().is_over(&claim), "nobody is out whom the transcript does not know");
        // Somebody who was voted in again: the old claim counts for nothing, and does not take the
        // new one with it.
        let (again, _) = of(Known { request: [5; 32], ..known(&["driver"], true) });
        assert!(!again.is_over(&claim) && again.granted(&grants(), &claim).is_none());
    }
}
