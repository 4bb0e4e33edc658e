//! The group membership certificate: X.509v3, self-signed by its holder; the authority is the votes inside.
//!
//! ```text
//! Membership ::= SEQUENCE {                          -- extension 1.3.6.1.4.1.59999.1.1, not critical for OpenSSL's sake,
//!   version INTEGER (1),                             -- required by us
//!   groupName UTF8String, groupId OCTET STRING (32), scheme ENUMERATED, mode ENUMERATED,
//!   thresholdAtIssue INTEGER, groupSizeAtIssue INTEGER, charterDigest OCTET STRING (32), nonce OCTET STRING (16),
//!   votes [0] EXPLICIT SEQUENCE OF SEQUENCE { voter OCTET STRING (32), expires INTEGER, signature OCTET STRING (64) }
//!         OPTIONAL }                                 -- absent: a founder, on the charter's word (N1)
//! ```
//! What is voted on is the request digest: SHA-256("folkmoot request v1" ‖ 00 ‖ TBSCertificate with `votes` empty).

use crate::certificate::{certificate_pem, check_term};
use crate::envelope::{self, Envelope, Serial, draw_serial};
use crate::{CertificateError, Charter, Identity, Motion, VoteProof};
use bytes::Bytes;
use der::asn1::OctetString;
use der::{Decode, Encode, Enumerated, Sequence};
use folkmoot_base::{Digest, Entropy, GroupId, GroupName, MemberId, NodeId, UnixTime, digest, draw, limits};
use folkmoot_signing::{Signature, VerifyingKey};
use std::collections::BTreeSet;

/// Longest membership certificate, in bytes of DER: it must fit an entry of the transcript.
pub const GMC_BYTES_MAX: usize = limits::ENTRY_BYTES_MAX - 1024;
/// Most votes in one certificate.
pub const VOTES_MAX: usize = 256;
/// First bytes of every request's content, and of what the request digest covers.
pub(crate) const REQUEST_DOMAIN: &[u8] = b"folkmoot request v1\0";

/// How a group admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumerated)]
#[repr(u8)]
pub enum Scheme {
    /// Plain signatures, one for each vote.
    Plain = 1,
}

/// Who issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumerated)]
#[repr(u8)]
pub enum Mode {
    /// The newcomer composes its certificate from the votes.
    Decentralised = 1,
}

/// The group's part of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The group's name.
    pub group_name: GroupName,
    /// The group.
    pub group: GroupId,
    /// How it admits.
    pub scheme: Scheme,
    /// Who issues.
    pub mode: Mode,
    /// Votes needed when this was proposed.
    pub threshold: u32,
    /// Members when this was proposed, as far as the proposer knew.
    pub group_size: u32,
    /// The charter, as changed so far ([`Charter::digest`]).
    pub charter: Digest,
    /// Drawn by the holder.
    pub nonce: [u8; 16],
    /// The votes, sorted by voter, each once; `None` for a founder.
    pub votes: Option<Vec<VoteProof>>,
}

/// Everything of a certificate but the holder's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GmcBody {
    /// The serial number.
    pub serial: Serial,
    /// The holder's name.
    pub name: String,
    /// The holder's key.
    pub key: VerifyingKey,
    /// Begin of the term.
    pub not_before: UnixTime,
    /// End of the term.
    pub not_after: UnixTime,
    /// The group's part.
    pub membership: Membership,
}

#[derive(Sequence)]
struct MembershipDer {
    version: u8,
    group_name: String,
    group: OctetString,
    scheme: Scheme,
    mode: Mode,
    threshold: u32,
    group_size: u32,
    charter: OctetString,
    nonce: OctetString,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    votes: Option<Vec<VoteDer>>,
}

#[derive(Sequence)]
struct VoteDer {
    voter: OctetString,
    expires: u64,
    signature: OctetString,
}

impl GmcBody {
    /// What `identity` proposes to the group of `charter`: votes empty, term from `not_before` for as long as the charter
    /// allows.
    pub fn propose(
        charter: &Charter,
        identity: &Identity,
        group_size: u32,
        not_before: UnixTime,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let seconds = u64::from(charter.certificate_days()).saturating_mul(86_400);
        Self {
            serial: draw_serial(entropy),
            name: identity.name().to_owned(),
            key: identity.key().verifying_key().clone(),
            not_before,
            not_after: UnixTime(not_before.0.saturating_add(seconds)),
            membership: Membership {
                group_name: charter.name().clone(),
                group: charter.group(),
                scheme: Scheme::Plain,
                mode: Mode::Decentralised,
                threshold: charter.threshold(),
                group_size,
                charter: charter.digest(),
                nonce: draw(entropy),
                votes: Some(Vec::new()),
            },
        }
    }

    /// Whose it is to be.
    pub fn member(&self) -> MemberId {
        self.key.member_id()
    }

    /// The TBSCertificate with the votes field empty: what a request carries and a vote decides on.
    ///
    /// # Errors
    /// [`CertificateError::LocalValue`] if a value cannot stand in a certificate.
    pub fn proposed(&self) -> Result<Vec<u8>, CertificateError> {
        let mut empty = self.clone();
        empty.membership.votes = empty.membership.votes.map(|_| Vec::new());
        empty.envelope()?.tbs()
    }

    /// The digest of [`Self::proposed`]: the subject of the votes.
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn request_digest(&self) -> Result<Digest, CertificateError> {
        Ok(digest(&[REQUEST_DOMAIN, &self.proposed()?]))
    }

    /// The motion that votes for this certificate sign.
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn motion(&self) -> Result<Motion, CertificateError> {
        Ok(Motion::admit(self.membership.group, self.membership.charter, self.request_digest()?))
    }

    /// Whether the body is one that `charter` (as changed so far) lets the group vote on or found with (ID-13).
    ///
    /// # Errors
    /// [`CertificateError::PeerCharter`], [`CertificateError::PeerNotFounder`].
    pub fn check_charter(&self, charter: &Charter) -> Result<(), CertificateError> {
        let refuse = |what| Err(CertificateError::PeerCharter(what));
        let said = &self.membership;
        if said.group != charter.group() || said.group_name != *charter.name() {
            return refuse("another group");
        }
        if said.charter != charter.digest() {
            return refuse("another version of the charter");
        }
        if said.threshold != charter.threshold() {
            return refuse("another threshold");
        }
        let seconds = u64::from(charter.certificate_days()).saturating_mul(86_400);
        if self.not_after.0.saturating_sub(self.not_before.0) > seconds {
            return refuse("a longer term");
        }
        if said.votes.is_none() && charter.founder(&self.member()).is_none() {
            return Err(CertificateError::PeerNotFounder(self.member()));
        }
        Ok(())
    }

    pub(crate) fn envelope(&self) -> Result<Envelope, CertificateError> {
        let membership = self.membership.encode().map_err(|()| CertificateError::LocalValue("membership"))?;
        Ok(Envelope {
            serial: self.serial,
            name: self.name.clone(),
            key: self.key.clone(),
            not_before: self.not_before,
            not_after: self.not_after,
            membership: Some(membership),
        })
    }

    pub(crate) fn from_envelope(envelope: Envelope) -> Result<Self, CertificateError> {
        let refuse = CertificateError::WireProfile("membership extension");
        let membership =
            envelope.membership.ok_or(CertificateError::WireProfile("no membership extension"))?;
        let body = Self {
            serial: envelope.serial,
            name: envelope.name,
            key: envelope.key,
            not_before: envelope.not_before,
            not_after: envelope.not_after,
            membership: Membership::decode(&membership).ok_or(refuse.clone())?,
        };
        if body.membership.encode().as_deref() != Ok(&membership) {
            return Err(refuse);
        }
        Ok(body)
    }
}

impl Membership {
    fn encode(&self) -> Result<Vec<u8>, ()> {
        let octets = |bytes: &[u8]| OctetString::new(bytes).map_err(|_| ());
        let votes = self.votes.as_ref().map(|votes| {
            let one = |vote: &VoteProof| {
                Ok(VoteDer {
                    voter: octets(&vote.voter.0)?,
                    expires: vote.expires.0,
                    signature: octets(&vote.signature.to_bytes())?,
                })
            };
            votes.iter().map(one).collect::<Result<Vec<_>, ()>>()
        });
        let der = MembershipDer {
            version: 1,
            group_name: self.group_name.as_str().to_owned(),
            group: octets(&self.group.0)?,
            scheme: self.scheme,
            mode: self.mode,
            threshold: self.threshold,
            group_size: self.group_size,
            charter: octets(&self.charter)?,
            nonce: octets(&self.nonce)?,
            votes: votes.transpose()?,
        };
        if !self.votes.as_deref().is_none_or(sorted) {
            return Err(());
        }
        der.to_der().map_err(|_| ())
    }

    fn decode(der: &[u8]) -> Option<Self> {
        let der = MembershipDer::from_der(der).ok()?;
        let votes = match der.votes {
            Some(votes) => Some(votes.iter().map(VoteDer::decode).collect::<Option<Vec<_>>>()?),
            None => None,
        };
        let membership = Self {
            group_name: GroupName::new(&der.group_name).ok()?,
            group: GroupId(der.group.as_bytes().try_into().ok()?),
            scheme: der.scheme,
            mode: der.mode,
            threshold: der.threshold,
            group_size: der.group_size,
            charter: der.charter.as_bytes().try_into().ok()?,
            nonce: der.nonce.as_bytes().try_into().ok()?,
            votes,
        };
        (der.version == 1).then_some(membership)
    }
}

impl VoteDer {
    fn decode(&self) -> Option<VoteProof> {
        Some(VoteProof {
            voter: MemberId(self.voter.as_bytes().try_into().ok()?),
            expires: UnixTime(self.expires),
            signature: Signature::from_bytes(self.signature.as_bytes()).ok()?,
        })
    }
}

/// A membership certificate in its one form, signed by its holder. Its authority is judged by [`Self::check_authority`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gmc {
    der: Bytes,
    body: GmcBody,
}

impl Gmc {
    /// Composes the certificate from the proposed body and the votes (sorted here), signed by its holder.
    ///
    /// # Errors
    /// [`CertificateError::LocalNotHolder`]; [`CertificateError::LocalValue`] for a voter twice or too many votes.
    pub fn compose(
        body: &GmcBody,
        votes: &[VoteProof],
        identity: &Identity,
    ) -> Result<Self, CertificateError> {
        let mut body = body.clone();
        let mut votes = votes.to_vec();
        votes.sort_by_key(|vote| vote.voter);
        body.membership.votes = Some(votes);
        Self::issue(body, identity)
    }

    /// A founder's certificate: the charter's digest in place of votes.
    ///
    /// # Errors
    /// [`CertificateError::PeerNotFounder`] if the charter does not name `identity`.
    pub fn found(
        charter: &Charter,
        identity: &Identity,
        not_before: UnixTime,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, CertificateError> {
        let size = u32::try_from(charter.founders().len()).unwrap_or(u32::MAX);
        let mut body = GmcBody::propose(charter, identity, size, not_before, entropy);
        body.membership.votes = None;
        body.check_charter(charter)?;
        Self::issue(body, identity)
    }

    /// Reads and verifies form and holder's signature. Says nothing on whether the votes stand.
    ///
    /// # Errors
    /// [`CertificateError`], `Wire…` and `PeerSignature`.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let (envelope, _) = envelope::open(der, GMC_BYTES_MAX)?;
        Ok(Self { der: Bytes::copy_from_slice(der), body: GmcBody::from_envelope(envelope)? })
    }

    /// Whether the certificate stands under `charter` (as changed so far): it fits the charter, and carries the votes that
    /// the charter asks for, each by one of `voters`; for a founder, that the charter names its key. No clock: expiry of
    /// votes and term are judged by whoever orders the admission (T7). No quorum: where the charter forbids a minority to
    /// admit, that takes the electorate, which is the transcript's (`TRN-17`); the charter names only who founded.
    ///
    /// # Errors
    /// [`CertificateError`], `Peer…`.
    pub fn check_authority<'a>(
        &self,
        charter: &Charter,
        voters: impl Fn(&MemberId) -> Option<&'a VerifyingKey>,
    ) -> Result<(), CertificateError> {
        let need = usize::try_from(charter.threshold()).unwrap_or(usize::MAX);
        self.check_authority_of(charter, need, voters)
    }

    /// The same, where so many votes are needed: fewer than the threshold, if there are fewer voters and the charter has it
    /// reset then. Only who knows the voters can say (`Roster::threshold`).
    ///
    /// # Errors
    /// [`CertificateError`], `Peer…`.
    pub fn check_authority_of<'a>(
        &self,
        charter: &Charter,
        need: usize,
        voters: impl Fn(&MemberId) -> Option<&'a VerifyingKey>,
    ) -> Result<(), CertificateError> {
        self.body.check_charter(charter)?;
        let Some(votes) = &self.body.membership.votes else { return Ok(()) };
        let yes: BTreeSet<MemberId> = votes.iter().map(|vote| vote.voter).collect();
        charter.policies().let_in(Some(&self.member()), &yes, need)?;
        let motion = self.body.motion()?;
        for vote in votes {
            let key = voters(&vote.voter).ok_or(CertificateError::PeerNotVoter(vote.voter))?;
            vote.verify(&motion, key).map_err(|_| CertificateError::PeerVote(vote.voter))?;
        }
        Ok(())
    }

    /// Whether the term holds at `time`, give or take `skew_seconds`.
    ///
    /// # Errors
    /// [`CertificateError::PeerNotYet`], [`CertificateError::PeerEnded`].
    pub fn check_term(&self, time: UnixTime, skew_seconds: u64) -> Result<(), CertificateError> {
        check_term(self.body.not_before, self.body.not_after, time, skew_seconds)
    }

    /// The DER form.
    pub fn der(&self) -> &Bytes {
        &self.der
    }

    /// The PEM form.
    pub fn to_pem(&self) -> String {
        certificate_pem(&self.der)
    }

    /// Everything it says.
    pub fn body(&self) -> &GmcBody {
        &self.body
    }

    /// Whether it stands on the charter's word instead of votes.
    pub fn is_founder(&self) -> bool {
        self.body.membership.votes.is_none()
    }

    /// The votes; empty for a founder.
    pub fn votes(&self) -> &[VoteProof] {
        self.body.membership.votes.as_deref().unwrap_or_default()
    }

    /// The holder's key.
    pub fn key(&self) -> &VerifyingKey {
        &self.body.key
    }

    /// The holder's name.
    pub fn name(&self) -> &str {
        &self.body.name
    }

    /// The holder as a member.
    pub fn member(&self) -> MemberId {
        self.body.member()
    }

    /// The holder as a node.
    pub fn node(&self) -> NodeId {
        self.body.member().node()
    }

    /// Of which group.
    pub fn group(&self) -> GroupId {
        self.body.membership.group
    }

    fn issue(body: GmcBody, identity: &Identity) -> Result<Self, CertificateError> {
        let der = body.envelope()?.sign(identity.key())?;
        if der.len() > GMC_BYTES_MAX {
            return Err(CertificateError::LocalValue("too many votes"));
        }
        Ok(Self { der: der.into(), body })
    }
}

/// Whether votes stand in their one order, each voter once, not too many.
fn sorted(votes: &[VoteProof]) -> bool {
    votes.len() <= VOTES_MAX
        && votes.windows(2).all(|pair| pair.first().map(|v| v.voter) < pair.last().map(|v| v.voter))
}
