//! One statement of several voters on one request: a multisignature, in place of their votes, if
//! the charter's scheme is `asm`.
//!
//! ```text
//! Multi ::= SEQUENCE { base Base, turn INTEGER, expires INTEGER, signature OCTET STRING }      in the membership extension
//! signature   a multisignature over P-256 by the signers' identity keys (signing.md, ASM), the GroupId its context, the label
//!             "folkmoot multi v1", and the message the content of an approving vote (vote.rs)
//! ```
//! So it says of every signer what that signer's vote would say. It names the signers.

use crate::{CertificateError, Identity, Verdict, VoteBody, VoteKind};
use folkmoot_base::{Digest, Entropy, GroupId, Head, MemberId, UnixTime};
use folkmoot_signing::asm::{self, MultiSignature, ProvenKey, Signers};
use folkmoot_signing::shared::{AnyRun, Outcome};
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, P256, RunId, VerifyingKey};
use std::collections::BTreeMap;

/// The domain label of multisignatures in place of votes.
pub const MULTI_LABEL: &[u8] = b"folkmoot multi v1";

/// The approval of several voters, as certificates carry it: enough, with group, request and keys,
/// to verify again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multi {
    base: Head,
    turn: u32,
    expires: UnixTime,
    signature: MultiSignature<P256>,
}

impl Multi {
    /// Reads what [`Self::signature`] gives: 68 bytes and 32 for each signer, of whom there are 1
    /// to 256.
    ///
    /// # Errors
    /// [`CertificateError::WireProfile`] for any other bytes.
    pub fn new(base: Head, turn: u32, expires: UnixTime, signature: &[u8]) -> Result<Self, CertificateError> {
        let signature = MultiSignature::decode(signature)
            .ok()
            .filter(|read| read.encode() == signature)
            .ok_or(CertificateError::WireProfile("its multisignature is malformed"))?;
        Ok(Self { base, turn, expires, signature })
    }

    /// The last decision that its signers knew.
    pub fn base(&self) -> Head {
        self.base
    }

    /// How often they had changed their minds.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Until when it may be counted: no later than any signer's own vote.
    pub fn expires(&self) -> UnixTime {
        self.expires
    }

    /// Its bytes.
    pub fn signature(&self) -> Vec<u8> {
        self.signature.encode()
    }

    /// Who approves, sorted.
    pub fn signers(&self) -> &[MemberId] {
        self.signature.signers()
    }

    /// What its signers say about a subject of this kind, in this group.
    pub fn body(&self, group: GroupId, kind: VoteKind, subject: Digest) -> VoteBody {
        let Self { base, turn, expires, .. } = *self;
        VoteBody { group, base, kind, subject, turn, verdict: Verdict::Approve, expires }
    }

    /// Checks that every signer approved this. `keys` knows the keys of those whose approval
    /// counts: the charter's signatures and the certificates on the roster have shown that their
    /// holders have them. With keys that were only announced, the check says only that the pieces
    /// fit.
    ///
    /// # Errors
    /// [`CertificateError::PeerNotVoter`], [`CertificateError::PeerMulti`].
    pub fn verify_body<'a>(
        &self,
        body: &VoteBody,
        keys: impl Fn(&MemberId) -> Option<&'a VerifyingKey>,
    ) -> Result<(), CertificateError> {
        if let Some(stranger) = self.signers().iter().find(|signer| keys(signer).is_none()) {
            return Err(CertificateError::PeerNotVoter(*stranger));
        }
        let proven = |member: &MemberId| {
            keys(member).and_then(|key| ProvenKey::of_possession_proven_elsewhere(key, &body.group.0).ok())
        };
        self.signature.verify(MULTI_LABEL, &body.encode(), proven).map_err(|_| CertificateError::PeerMulti)
    }

    /// `identity` as a signer in the run in which the holders of `keys`, from a roster and its own
    /// among them, sign `body`. The run ends in the bytes that [`Self::new`] reads.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] if the signers are too few or too many, if one is there twice,
    /// or if `identity` is not among them.
    pub fn signer(
        run: RunId,
        identity: &Identity,
        keys: &[&VerifyingKey],
        body: &VoteBody,
    ) -> Result<AnyRun, Fault> {
        asm::signer(run, identity.key(), signers(keys, body.group)?, MULTI_LABEL, &body.encode())
    }

    /// What one says alone, in the form of several. It is in the certificate of a new key for a
    /// member, which a decision takes and whose form asks for a multisignature: of kind Rotate,
    /// it approves no admission.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] if the key is not one of P-256.
    pub fn alone(
        identity: &Identity,
        (group, request): (GroupId, Digest),
        (base, expires): (Head, UnixTime),
        entropy: &mut dyn Entropy,
    ) -> Result<Self, Fault> {
        let (kind, verdict, turn) = (VoteKind::Rotate, Verdict::Approve, 0);
        let body = VoteBody { group, base, kind, subject: request, turn, verdict, expires };
        let wrong = || Fault { kind: FaultKind::LocalSigners, culprits: Vec::new() };
        let keys = [identity.key().verifying_key()];
        let mut run = Self::signer(RunId(request), identity, &keys, &body)?;
        let mut next = run.start(entropy);
        loop {
            match next {
                Next::Say(message) => {
                    let to_all = BTreeMap::from([(identity.member(), message.to_all)]);
                    next = run.hear(Incoming { to_all, to_me: BTreeMap::new() }, entropy)?;
                }
                Next::Done(Outcome::Signature(bytes)) => {
                    return Self::new(base, turn, expires, &bytes).map_err(|_| wrong());
                }
                Next::Done(_) => return Err(wrong()),
            }
        }
    }

    /// A listener to that run. It gets the result and sends nothing.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] if the signers are too few or too many, or one is there twice.
    pub fn watch(run: RunId, keys: &[&VerifyingKey], body: &VoteBody) -> Result<AnyRun, Fault> {
        Ok(asm::watch(run, signers(keys, body.group)?, MULTI_LABEL, &body.encode()))
    }
}

fn signers(keys: &[&VerifyingKey], group: GroupId) -> Result<Signers<P256>, Fault> {
    let proven = keys.iter().map(|key| ProvenKey::of_possession_proven_elsewhere(key, &group.0));
    let signers = proven.collect::<Result<Vec<_>, _>>().and_then(Signers::new);
    signers.map_err(|_| Fault { kind: FaultKind::LocalSigners, culprits: Vec::new() })
}
