//! What members give one another: one content, or one decision, with what proves it.
//!
//! ```text
//! member -> everyone   Item   version(1) kind(1) content, in ring order or by catch-up
//! ```
//! An item has no author. Its name is the digest of its content, so a second set of signatures
//! under the same content is not a second item.

use crate::proposal::Standing;
use crate::{Admit, Approval, Effect, ItemError, Refusal, SignatureBytes, admission};
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, UnixTime, digest};
use folkmoot_identity::{Gmc, Request, VoteBody};
use folkmoot_signing::{Signature, SigningKey, VerifyingKey};

/// Longest item, in bytes.
pub const ITEM_BYTES_MAX: usize = 1024 * 1024;

/// An approval and its voter's signature.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignedApproval {
    /// What is approved, by whom.
    pub approval: Approval,
    /// The voter's signature on it.
    pub signature: SignatureBytes,
}

/// One thing that a transcript takes.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Item {
    /// A certificate that admits its holder, or renews its term.
    #[tls_codec(discriminant = 1)]
    Admit {
        /// X.509, DER.
        certificate: Blob,
        /// Approvals of its request that the certificate does not carry.
        approvals: Vec<SignedApproval>,
    },
    /// One voter's approval.
    #[tls_codec(discriminant = 2)]
    Approval(SignedApproval),
    /// What approvals of its digest mean.
    #[tls_codec(discriminant = 3)]
    Effect(Effect),
    /// A request by CSR that somebody rejects, whole: it says which CSR is refused.
    #[tls_codec(discriminant = 4)]
    Refusal {
        /// The request.
        request: Blob,
    },
    /// What had ended by this time is over.
    #[tls_codec(discriminant = 5)]
    Past {
        /// One second after an end.
        time: UnixTime,
    },
    /// A decision that stands.
    #[tls_codec(discriminant = 6)]
    Decision(Standing),
    /// Another line comes to ours.
    #[tls_codec(discriminant = 7)]
    Coming {
        /// Its decision at the fork, the last ones under each electorate since, and its Rejoin.
        decisions: Vec<Standing>,
    },
}

impl Item {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads an item: its form, not its truth.
    ///
    /// # Errors
    /// [`ItemError::Wire`].
    pub fn decode(bytes: &[u8]) -> Result<Self, ItemError> {
        Ok(codec::decode_at_most(bytes, ITEM_BYTES_MAX)?)
    }

    /// The name by which [`crate::Have`] says that somebody has it; none for a decision, which is
    /// asked for by the head, and for what is malformed inside.
    pub fn name(&self) -> Option<Digest> {
        match self {
            Self::Admit { .. } => {
                let admit = self.admit()?;
                Some(admit_name(&admit.request, admit.epochs.first()))
            }
            Self::Approval(signed) => Some(signed.approval.digest()),
            Self::Effect(effect) => Some(effect.subject().digest),
            Self::Refusal { request } => Some(refusal_name(&refusal(&request.0).ok()?)),
            Self::Past { time } => Some(past_name(*time)),
            Self::Coming { decisions } => decisions.last().map(|last| last.head().digest),
            Self::Decision(_) => None,
        }
    }

    /// The request that an admission answers; none of other items, and of what is malformed inside.
    /// A certificate by the group's key has another name than its request.
    pub fn request(&self) -> Option<Digest> {
        Some(self.admit()?.request)
    }

    fn admit(&self) -> Option<Admit> {
        let Self::Admit { certificate, .. } = self else { return None };
        let gmc = Gmc::from_der(&certificate.0).ok()?;
        Some(Admit::of(&gmc, gmc.body().request_digest().ok()?))
    }
}

/// The name of a certificate: that of its admission, or, if the group's key has signed it under a
/// share-epoch, one of its own.
pub(crate) fn admit_name(request: &Digest, epoch: Option<&Digest>) -> Digest {
    epoch.map_or(*request, |epoch| digest(&[b"folkmoot epoch v1\0", request, epoch]))
}

/// The name of a time that is past.
pub(crate) fn past_name(time: UnixTime) -> Digest {
    digest(&[b"folkmoot past v1\0", &time.0.to_be_bytes()])
}

/// The name of what a refused request says of its CSR.
pub(crate) fn refusal_name(refusal: &Refusal) -> Digest {
    digest(&[b"folkmoot refusal v1\0", &refusal.request])
}

impl SignedApproval {
    /// Signs an approval as its voter.
    pub fn sign(key: &SigningKey, group: GroupId, approval: Approval) -> Self {
        let signature = body(group, &approval).sign(key).to_wire();
        Self { approval, signature }
    }

    /// Whether the holder of `key` has signed it.
    ///
    /// # Errors
    /// [`ItemError::Signature`].
    pub fn verify(&self, group: GroupId, key: &VerifyingKey) -> Result<(), ItemError> {
        let refuse = ItemError::Signature(self.approval.voter);
        let signature = Signature::from_wire(&self.signature).map_err(|_| refuse.clone())?;
        body(group, &self.approval).verify(key, &signature).map_err(|_| refuse)
    }
}

/// What a voter signs for an approval.
pub(crate) fn body(group: GroupId, approval: &Approval) -> VoteBody {
    VoteBody {
        group,
        base: approval.base,
        kind: approval.subject.kind,
        subject: approval.subject.digest,
        turn: approval.turn,
        verdict: approval.verdict,
        expires: approval.expires,
    }
}

/// What a refused request by CSR says.
pub(crate) fn refusal(der: &[u8]) -> Result<Refusal, ItemError> {
    let request = Request::from_der(der).map_err(ItemError::Request)?;
    let csr = request.csr().ok_or(ItemError::NoCsr)?.serial();
    Ok(Refusal { request: admission(request.digest()).digest, csr: Some(csr) })
}
