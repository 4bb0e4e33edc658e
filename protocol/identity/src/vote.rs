//! A vote: one voter's signed yes or no on one motion (DECISIONS T6). Voter → everyone.
//!
//! ```text
//! content = "folkmoot vote v2" ‖ 00 ‖ version byte ‖ group, base, kind, subject, turn, verdict, expires    one encoding
//! CMS     = SignedData(content attached, voter's identity certificate, one SignerInfo)            stands alone
//! proof   = (voter, base, turn, expires, signature) what certificates and entries carry; enough, with the motion, to
//!                                                   rebuild content and signed attributes and verify again
//! ```

use crate::cms;
use crate::{CmsError, Identity, IdentityCertificate, VoteError};
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, Head, MemberId, UnixTime};
use folkmoot_signing::{Signature, SigningKey, VerifyingKey};

/// First bytes of every vote's content.
const DOMAIN: &[u8] = b"folkmoot vote v2\0";

/// What a vote is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
#[repr(u8)]
pub enum VoteKind {
    /// Admit the stranger of a request; the subject is the request's digest.
    Admit = 1,
    /// Remove a member; the subject covers the member and the entry that admitted it (T5): founders
    /// share one.
    Remove = 2,
    /// Change a field of the charter; the subject is [`crate::change_digest`].
    ChangeCharter = 3,
    /// Set the electorate; the subject is a digest of the list of voters.
    Electorate = 4,
    /// Take a sharing of the group's key into use; the subject is a digest of its public part.
    Sharing = 5,
    /// Hold an admission that came too late to count; the subject covers its request.
    Hold = 6,
    /// Give a member another key; the subject covers the member and the request of the new key.
    Rotate = 7,
    /// Go over to another line; the subject is a digest of its head.
    Rejoin = 8,
}

/// Yes or no.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
#[repr(u8)]
pub enum Verdict {
    /// In favour. Only these count.
    Approve = 1,
    /// Against. Counts only if the charter says so: as many as its `objections` end a request.
    Reject = 2,
}

/// Which turn of the electorate a decision uses up (T4).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
pub struct Slot {
    /// The electorate's serial.
    pub serial: u64,
    /// The ballot at that serial; if it is stuck, the next follows.
    pub ballot: u32,
}

/// What is voted on: the same for every voter. Made by [`Motion::admit`] or
/// [`crate::Decision::motion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Motion {
    /// The group.
    pub group: GroupId,
    /// The charter, as changed so far ([`crate::Charter::digest`]).
    pub charter: Digest,
    /// The kind of question.
    pub kind: VoteKind,
    /// Digest of the request or of what is decided; see [`VoteKind`].
    pub subject: Digest,
    /// For decisions, and only for them: the turn that it uses up.
    pub slot: Option<Slot>,
}

impl Motion {
    /// Shall the stranger of the request with this digest be admitted?
    pub fn admit(group: GroupId, charter: Digest, request: Digest) -> Self {
        Self { group, charter, kind: VoteKind::Admit, subject: request, slot: None }
    }

    /// The base that a vote on it names: the charter, and for a decision the electorate's serial.
    pub fn base(&self) -> Head {
        Head { number: self.slot.map_or(0, |slot| slot.serial), digest: self.charter }
    }

    /// The turn that a vote on it names: for a decision the ballot.
    pub fn turn(&self) -> u32 {
        self.slot.map_or(0, |slot| slot.ballot)
    }

    /// Whether kind and slot fit: decisions have one, admissions do not.
    pub fn is_legal(&self) -> bool {
        (self.kind == VoteKind::Admit) == self.slot.is_none()
    }
}

/// What one voter signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VoteContent {
    /// The motion.
    pub motion: Motion,
    /// Yes or no.
    pub verdict: Verdict,
    /// For an admission: until when the vote may be counted (the entry judges, T7). For a decision:
    /// how long its voter wanted the vote to be asked about; it counts until its serial has passed.
    pub expires: UnixTime,
}

/// What one voter signs, as it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct VoteBody {
    /// The group.
    pub group: GroupId,
    /// The last decision that the voter knew.
    pub base: Head,
    /// The kind of question.
    pub kind: VoteKind,
    /// Digest of the request or of what is decided.
    pub subject: Digest,
    /// How often the voter has changed its mind.
    pub turn: u32,
    /// Yes or no.
    pub verdict: Verdict,
    /// Until when it counts.
    pub expires: UnixTime,
}

impl VoteBody {
    /// The bytes that are signed: domain label, zero byte, encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = DOMAIN.to_vec();
        out.extend(codec::encode(self));
        out
    }

    /// Signs it, through the signed attributes of a CMS message.
    pub fn sign(&self, key: &SigningKey) -> Signature {
        cms::sign_content(key, &self.encode())
    }

    /// Whether the holder of `key` has signed it.
    ///
    /// # Errors
    /// [`VoteError::PeerSignature`].
    pub fn verify(&self, key: &VerifyingKey, signature: &Signature) -> Result<(), VoteError> {
        cms::verify_content(key, &self.encode(), signature)
            .map_err(|_| VoteError::PeerSignature(key.member_id()))
    }

    /// What it says, if kind, base and turn fit.
    fn content(&self) -> Option<VoteContent> {
        let slot = Slot { serial: self.base.number, ballot: self.turn };
        let slot = (self.kind != VoteKind::Admit).then_some(slot);
        let motion = Motion {
            group: self.group,
            charter: self.base.digest,
            kind: self.kind,
            subject: self.subject,
            slot,
        };
        let fits = motion.base() == self.base && motion.turn() == self.turn;
        fits.then_some(VoteContent { motion, verdict: self.verdict, expires: self.expires })
    }
}

impl VoteContent {
    /// The bytes that are signed: domain label, zero byte, encoding.
    pub fn encode(&self) -> Vec<u8> {
        let motion = &self.motion;
        VoteBody {
            group: motion.group,
            base: motion.base(),
            kind: motion.kind,
            subject: motion.subject,
            turn: motion.turn(),
            verdict: self.verdict,
            expires: self.expires,
        }
        .encode()
    }

    /// Reads what [`Self::encode`] writes.
    ///
    /// # Errors
    /// [`VoteError::WireDomain`], [`VoteError::WireContent`], [`VoteError::WireSlot`].
    pub fn decode(bytes: &[u8]) -> Result<Self, VoteError> {
        let body = bytes.strip_prefix(DOMAIN).ok_or(VoteError::WireDomain)?;
        codec::decode::<VoteBody>(body)?.content().ok_or(VoteError::WireSlot)
    }
}

/// A vote that stands alone: content, voter's certificate, signature. Its CMS form is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    content: VoteContent,
    voter: IdentityCertificate,
    signature: Signature,
    der: Vec<u8>,
}

impl Vote {
    /// Signs `content` as `identity`. Deterministic: the same vote has the same bytes.
    ///
    /// # Errors
    /// [`VoteError::WireSlot`] if kind and slot do not fit.
    pub fn sign(identity: &Identity, content: VoteContent) -> Result<Self, VoteError> {
        if !content.motion.is_legal() {
            return Err(VoteError::WireSlot);
        }
        let bytes = content.encode();
        let signature = cms::sign_content(identity.key(), &bytes);
        let voter = identity.certificate().clone();
        let der = cms::assemble(&bytes, &[(voter.clone(), signature)])?;
        Ok(Self { content, voter, signature, der })
    }

    /// Reads and verifies a vote: envelope, certificate, signature, content. Does not judge whether
    /// the voter has a vote.
    ///
    /// # Errors
    /// [`VoteError`].
    pub fn from_der(der: &[u8]) -> Result<Self, VoteError> {
        let signed = cms::open(der, cms::VOTE_BYTES_MAX, 1)?;
        let content = VoteContent::decode(&signed.content)?;
        let (voter, signature) = signed.signers.into_iter().next().ok_or(CmsError::WireSigners)?;
        Ok(Self { content, voter, signature, der: der.to_vec() })
    }

    /// The vote that a proof was taken from, byte for byte: the rest follows from motion and voter.
    ///
    /// # Errors
    /// [`VoteError::PeerSignature`] if the proof is of another motion or voter.
    pub(crate) fn from_proof(
        proof: &VoteProof,
        motion: &Motion,
        voter: &IdentityCertificate,
    ) -> Result<Self, VoteError> {
        proof.verify(motion, voter.key())?;
        let content = VoteContent { motion: *motion, verdict: Verdict::Approve, expires: proof.expires };
        let der = cms::assemble(&content.encode(), &[(voter.clone(), proof.signature)])?;
        Ok(Self { content, voter: voter.clone(), signature: proof.signature, der })
    }

    /// What is voted, and how.
    pub fn content(&self) -> &VoteContent {
        &self.content
    }

    /// Who votes.
    pub fn voter(&self) -> MemberId {
        self.voter.member()
    }

    /// Who votes, with key and name.
    pub fn certificate(&self) -> &IdentityCertificate {
        &self.voter
    }

    /// The CMS form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The part that certificates and entries carry.
    pub fn proof(&self) -> VoteProof {
        VoteProof::of(self.voter(), &self.content, self.signature)
    }
}

/// One vote as certificates and entries carry it: enough, with the motion, to verify again. It
/// approves, except in an entry that refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct VoteProof {
    /// Who voted.
    pub voter: MemberId,
    /// The last decision that the voter knew.
    pub base: Head,
    /// How often the voter had changed its mind.
    pub turn: u32,
    /// Until when the vote may be counted.
    pub expires: UnixTime,
    /// Over the CMS signed attributes of the rebuilt content.
    pub signature: Signature,
}

impl VoteProof {
    /// The proof of a vote with this content and signature.
    pub fn of(voter: MemberId, content: &VoteContent, signature: Signature) -> Self {
        let VoteContent { motion, expires, .. } = *content;
        Self { voter, base: motion.base(), turn: motion.turn(), expires, signature }
    }

    /// Checks that `key` is the voter's and approved `motion` with this expiry.
    ///
    /// # Errors
    /// [`VoteError::PeerSignature`], [`VoteError::WireSlot`].
    pub fn verify(&self, motion: &Motion, key: &VerifyingKey) -> Result<(), VoteError> {
        self.verify_as(motion, Verdict::Approve, key)
    }

    /// Checks that `key` is the voter's and gave this verdict on `motion` with this expiry.
    ///
    /// # Errors
    /// [`VoteError::PeerSignature`], [`VoteError::WireSlot`].
    pub(crate) fn verify_as(
        &self,
        motion: &Motion,
        verdict: Verdict,
        key: &VerifyingKey,
    ) -> Result<(), VoteError> {
        let refuse = VoteError::PeerSignature(self.voter);
        if !motion.is_legal() {
            return Err(VoteError::WireSlot);
        }
        if key.member_id() != self.voter || (self.base, self.turn) != (motion.base(), motion.turn()) {
            return Err(refuse);
        }
        let content = VoteContent { motion: *motion, verdict, expires: self.expires };
        verify_pair(&content, key, &self.signature).map_err(|_| refuse)
    }
}

/// Checks a vote's signature from the pair alone, rebuilding content and signed attributes.
///
/// # Errors
/// [`VoteError::PeerSignature`].
pub(crate) fn verify_pair(
    content: &VoteContent,
    key: &VerifyingKey,
    signature: &Signature,
) -> Result<(), VoteError> {
    cms::verify_content(key, &content.encode(), signature)
        .map_err(|_| VoteError::PeerSignature(key.member_id()))
}
