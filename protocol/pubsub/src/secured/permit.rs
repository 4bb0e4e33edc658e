//! Certificates: which domains a key may be in, and as which sender.

use super::certificate::Read;
use super::domain::URN;
use super::{Danger, Domain, DomainError, Member, Right, SenderId};
use core::ops::RangeInclusive;
use folkmoot_base::{Digest, MemberId, Mutant, UnixTime, digest};
use folkmoot_signing::plain::VerifyingKey;
use std::collections::{BTreeMap, BTreeSet};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{KeyUsage, SubjectAltName};

/// Longest certificate, in bytes of DER.
pub const CERTIFICATE_BYTES_MAX: usize = 16 * 1024;
/// Most rights in one certificate.
pub const RIGHTS_MAX: usize = 64;

/// Why a certificate is refused (PUB-26 to PUB-28).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PermitError {
    /// It is none, or is too long.
    #[error("it is not a certificate of X.509, version 3, in DER, of at most {CERTIFICATE_BYTES_MAX} bytes")]
    WireMalformed,
    /// It is not signed with ECDSA on P-256 and SHA-256, or its key is of another kind.
    #[error("its key or its signature is not ECDSA on P-256 with SHA-256")]
    WireAlgorithm,
    /// Something in it is critical and unknown, stands twice, or contradicts its use.
    #[error("its extensions do not fit: {0}")]
    WireExtensions(&'static str),
    /// It was issued under another name, or by another key.
    #[error("the root has not signed it")]
    PeerIssuer,
    /// Its term, or the root's, has not begun.
    #[error("its term begins at {0}")]
    PeerNotYet(UnixTime),
    /// Its term, or the root's, is over.
    #[error("its term ended at {0}")]
    PeerEnded(UnixTime),
    /// One of its rights is malformed.
    #[error("the right {right} is malformed: {error}")]
    PeerRight {
        /// As it stands there.
        right: String,
        /// What is wrong.
        error: DomainError,
    },
    /// It has none, too many, or the same one twice.
    #[error("it has no right, more than {RIGHTS_MAX}, or one right twice")]
    PeerRights,
    /// It has a right for a channel, and none for the channel's multicast group.
    #[error("it has a right for {0}, and none for its multicast group")]
    PeerNoGroup(Domain),
    /// It names two senders in one multicast group.
    #[error("it names the senders {1} and {2} in {0}; a header has room for one")]
    PeerTwoSenders(Domain, SenderId, SenderId),
}

/// The certificate under which all others are.
#[derive(Debug, Clone)]
pub struct Root {
    /// In DER.
    name: Vec<u8>,
    key: VerifyingKey,
    term: RangeInclusive<UnixTime>,
    danger: Mutant<Danger>,
}

/// What a certificate permits. It was signed by the root, and its term holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    key: VerifyingKey,
    /// Sorted.
    rights: Vec<Right>,
    begins: UnixTime,
    ends: UnixTime,
    holder: Digest,
}

impl Root {
    /// Reads a certificate that has signed itself and may sign others.
    ///
    /// # Errors
    /// [`PermitError`].
    pub fn from_der(der: &[u8]) -> Result<Self, PermitError> {
        let read = Read::from_der(der)?;
        if read.issuer != read.subject || read.key.verify_raw(&read.tbs, &read.signature).is_err() {
            return Err(PermitError::PeerIssuer);
        }
        if !read.is_authority()? {
            return Err(PermitError::WireExtensions("the root is not an authority"));
        }
        if read.one::<KeyUsage>()?.is_some_and(|usage| !usage.key_cert_sign()) {
            return Err(PermitError::WireExtensions("the root's key may not sign certificates"));
        }
        Ok(Self { name: read.subject, key: read.key, term: read.term, danger: Mutant::NONE })
    }

    /// The same, without one of its checks: for tests that show what it is for.
    #[must_use]
    pub fn with_danger(self, danger: Mutant<Danger>) -> Self {
        Self { danger, ..self }
    }

    pub(super) fn is(&self, danger: Danger) -> bool {
        self.danger.is(danger)
    }

    /// Its key.
    pub(super) fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// From when to when it counts.
    pub(super) fn term(&self) -> &RangeInclusive<UnixTime> {
        &self.term
    }

    /// Its name, in DER.
    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Judges a certificate at `time`, give or take `skew_seconds` (PUB-26 to PUB-28).
    ///
    /// # Errors
    /// [`PermitError`].
    pub fn permit(&self, der: &[u8], time: UnixTime, skew_seconds: u64) -> Result<Permit, PermitError> {
        let permit = self.permit_at_any_time(der)?;
        if !self.danger.is(Danger::AnyTime) {
            permit.check_begin(time, skew_seconds)?;
            if time.0.saturating_sub(skew_seconds) > permit.ends.0 {
                return Err(PermitError::PeerEnded(permit.ends));
            }
        }
        Ok(permit)
    }

    /// The same, whether its term has begun or ended or not: who asks looks at that.
    ///
    /// # Errors
    /// [`PermitError`].
    pub(super) fn permit_at_any_time(&self, der: &[u8]) -> Result<Permit, PermitError> {
        let read = Read::from_der(der)?;
        let signed = read.issuer == self.name && self.key.verify_raw(&read.tbs, &read.signature).is_ok();
        if !signed && !self.danger.is(Danger::AnyIssuer) {
            return Err(PermitError::PeerIssuer);
        }
        if read.is_authority()? {
            return Err(PermitError::WireExtensions("it is an authority's"));
        }
        if read.one::<KeyUsage>()?.is_some_and(|usage| !usage.digital_signature()) {
            return Err(PermitError::WireExtensions("its key may not sign"));
        }
        let begins = *read.term.start().max(self.term.start());
        let ends = *read.term.end().min(self.term.end());
        let holder = digest(&[&read.tbs]);
        Ok(Permit { rights: read.rights()?, key: read.key, begins, ends, holder })
    }
}

impl Read {
    /// The rights, which fit together (PUB-26, PUB-28). URIs of others are not looked at.
    pub(super) fn rights(&self) -> Result<Vec<Right>, PermitError> {
        let names = self.one::<SubjectAltName>()?.map(|names| names.0).unwrap_or_default();
        let mut rights = BTreeSet::new();
        for name in names {
            let GeneralName::UniformResourceIdentifier(uri) = name else { continue };
            if !uri.as_str().starts_with(URN) {
                continue;
            }
            let malformed = |error| PermitError::PeerRight { right: uri.as_str().to_owned(), error };
            let right: Right = uri.as_str().parse().map_err(malformed)?;
            if !rights.insert(right) || rights.len() > RIGHTS_MAX {
                return Err(PermitError::PeerRights);
            }
        }
        check(&rights)?;
        Ok(rights.into_iter().collect())
    }
}

/// One sender in each multicast group, and a right for the group with each right for a channel.
pub(super) fn check(rights: &BTreeSet<Right>) -> Result<(), PermitError> {
    if rights.is_empty() {
        return Err(PermitError::PeerRights);
    }
    let mut senders = BTreeMap::new();
    for right in rights {
        let group = right.domain.of_group();
        let known = *senders.entry(group).or_insert(right.sender);
        if known != right.sender {
            return Err(PermitError::PeerTwoSenders(group, known, right.sender));
        }
        if !rights.contains(&Right { domain: group, ..*right }) {
            return Err(PermitError::PeerNoGroup(right.domain));
        }
    }
    Ok(())
}

impl Permit {
    /// Its term has begun.
    pub(super) fn check_begin(&self, time: UnixTime, skew_seconds: u64) -> Result<(), PermitError> {
        let begun = time.0.saturating_add(skew_seconds) >= self.begins.0;
        if begun { Ok(()) } else { Err(PermitError::PeerNotYet(self.begins)) }
    }

    /// Whose rights these are.
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// All of them, sorted: of each multicast group the group's own, then its channels.
    pub fn rights(&self) -> &[Right] {
        &self.rights
    }

    /// As which sender it may be in this domain.
    pub fn sender(&self, domain: &Domain) -> Option<SenderId> {
        self.rights.iter().find(|right| right.domain == *domain).map(|right| right.sender)
    }

    /// Its holder as one of those who agree on a domain's key.
    pub fn member(&self, domain: &Domain) -> Option<Member> {
        self.sender(domain).map(|sender| Member { sender, key: Some(self.key.clone()) })
    }

    /// What names its certificate, however the signature is written: the SHA-256 of what that is
    /// over.
    pub fn holder(&self) -> &Digest {
        &self.holder
    }

    /// When it begins.
    pub fn begins(&self) -> UnixTime {
        self.begins
    }

    /// When it ends.
    pub fn ends(&self) -> UnixTime {
        self.ends
    }
}

/// The senders that two keys share, as an authority must never grant them (PUB-28).
pub fn duplicates<'a>(permits: impl IntoIterator<Item = &'a Permit>) -> Vec<(Right, [MemberId; 2])> {
    let mut holders: BTreeMap<Right, MemberId> = BTreeMap::new();
    let mut shared = Vec::new();
    for permit in permits {
        let member = permit.key.member_id();
        for right in &permit.rights {
            let holder = *holders.entry(*right).or_insert(member);
            if holder != member {
                shared.push((*right, [holder, member]));
            }
        }
    }
    shared
}
