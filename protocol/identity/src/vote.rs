//! A vote: one voter's signed yes or no to one question, over the last decision that it knew. Voter
//! → everyone.
//!
//! ```text
//! content = "folkmoot vote v2" ‖ 00 ‖ version byte ‖ group, base, kind, subject, turn, verdict, expires    one encoding
//! CMS     = SignedData(content attached, voter's identity certificate, one SignerInfo)            stands alone
//! proof   = (voter, base, turn, expires, signature) what certificates carry; enough, with group and request, to
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
    /// Remove a member, whatever it was admitted by; the subject covers the member.
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
    /// Let a member go that has said itself that it leaves; the subject covers the member, and
    /// until when its word holds.
    Leave = 9,
    /// The line's time goes back to the voters' clocks.
    Retime = 10,
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

/// What one voter signs.
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

    /// Reads what [`Self::encode`] writes.
    ///
    /// # Errors
    /// [`VoteError::WireDomain`], [`VoteError::WireContent`].
    pub fn decode(bytes: &[u8]) -> Result<Self, VoteError> {
        let body = bytes.strip_prefix(DOMAIN).ok_or(VoteError::WireDomain)?;
        Ok(codec::decode(body)?)
    }
}

/// A vote that stands alone: content, voter's certificate, signature. Its CMS form is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    body: VoteBody,
    voter: IdentityCertificate,
    signature: Signature,
    der: Vec<u8>,
}

impl Vote {
    /// Signs `body` as `identity`. Deterministic: the same vote has the same bytes.
    ///
    /// # Errors
    /// [`VoteError::Cms`] if it cannot be encoded: our bug.
    pub fn sign(identity: &Identity, body: VoteBody) -> Result<Self, VoteError> {
        let signature = body.sign(identity.key());
        Self::assemble(body, identity.certificate(), signature)
    }

    /// Reads and verifies a vote: envelope, certificate, signature, content. Does not judge whether
    /// the voter has a vote.
    ///
    /// # Errors
    /// [`VoteError`].
    pub fn from_der(der: &[u8]) -> Result<Self, VoteError> {
        let signed = cms::open(der, cms::VOTE_BYTES_MAX, 1)?;
        let body = VoteBody::decode(&signed.content)?;
        let (voter, signature) = signed.signers.into_iter().next().ok_or(CmsError::WireSigners)?;
        Ok(Self { body, voter, signature, der: der.to_vec() })
    }

    /// The vote that this signature was taken from, byte for byte: the rest follows from content
    /// and voter.
    ///
    /// # Errors
    /// [`VoteError::PeerSignature`] if the signature is of another content or voter.
    pub fn from_signature(
        body: VoteBody,
        voter: &IdentityCertificate,
        signature: Signature,
    ) -> Result<Self, VoteError> {
        body.verify(voter.key(), &signature)?;
        Self::assemble(body, voter, signature)
    }

    fn assemble(
        body: VoteBody,
        voter: &IdentityCertificate,
        signature: Signature,
    ) -> Result<Self, VoteError> {
        let der = cms::assemble(&body.encode(), &[(voter.clone(), signature.clone())])?;
        Ok(Self { body, voter: voter.clone(), signature, der })
    }

    /// What is voted, and how.
    pub fn body(&self) -> &VoteBody {
        &self.body
    }

    /// Who votes.
    pub fn voter(&self) -> MemberId {
        self.voter.member()
    }

    /// Who votes, with key and name.
    pub fn certificate(&self) -> &IdentityCertificate {
        &self.voter
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The CMS form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The part that certificates carry.
    pub fn proof(&self) -> VoteProof {
        VoteProof::of(self.voter(), &self.body, self.signature.clone())
    }
}

/// One vote as certificates carry it: enough, with group and request, to verify again. It approves.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
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
    pub fn of(voter: MemberId, body: &VoteBody, signature: Signature) -> Self {
        Self { voter, base: body.base, turn: body.turn, expires: body.expires, signature }
    }

    /// What the voter has signed, if it approved the request with this digest in this group.
    pub fn body(&self, group: GroupId, request: Digest) -> VoteBody {
        let Self { base, turn, expires, .. } = *self;
        let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
        VoteBody { group, base, kind, subject: request, turn, verdict, expires }
    }

    /// Checks that `key` is the voter's and approved the request with this digest.
    ///
    /// # Errors
    /// [`VoteError::PeerSignature`].
    pub fn verify(&self, group: GroupId, request: Digest, key: &VerifyingKey) -> Result<(), VoteError> {
        if key.member_id() != self.voter {
            return Err(VoteError::PeerSignature(self.voter));
        }
        self.body(group, request).verify(key, &self.signature)
    }
}
