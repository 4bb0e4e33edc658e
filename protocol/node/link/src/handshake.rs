//! What both sides of a handshake share: Hello, Retry, Reply, Finish (DECISIONS D1).
//!
//! ```text
//!  dialler                         answerer
//!  Hello(no cookie) ------------->            no state
//!                   <------------- Retry(cookie)
//!  Hello(cookie)    ------------->            half-open, bounded, timed
//!                   <------------- Reply      certificate and signature, encrypted
//!  Finish           ------------->            certificate and signature, encrypted; link up
//!                   <------------- Data(Ping) link up
//! ```
//! With ML-KEM-768 the first Hello is empty. A Refusal answers Hellos of the other form. The
//! dialler repeats what is not answered, with back-off; the answerer repeats its answer. An
//! association changes only once the peer's identity is proved, and of two proved ones the newer
//! holds.

use crate::assembly::Assembly;
use crate::association::Association;
use crate::call::Me;
use crate::limits::{CERTIFICATE_BYTES_MAX, PART_BYTES};
use crate::message::{Part, Proof};
use crate::noise::Handshake;
use crate::seal::{NoSeal, PairSeal};
use crate::start::{LABEL, Role, SignedStart, Start};
use crate::{Claim, Common, FrameSeal, LinkError};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Blob, Danger, Digest, Locator, NodeId, codec};

/// An identity proved by a handshake, and the association that goes with it.
#[derive(Debug)]
pub(crate) struct Proved {
    pub(crate) claim: Claim,
    pub(crate) certificate: Bytes,
    pub(crate) start: SignedStart,
    pub(crate) association: Association,
    /// LINK-40: how long the other side took to answer, at most.
    pub(crate) trip: Duration,
}

/// Adds a part. `None`: it does not fit, and all parts are forgotten. `Some(None)`: more are
/// missing.
pub(crate) fn gather(assembly: &mut Option<Assembly>, part: &Part) -> Option<Option<Bytes>> {
    if assembly.is_none() {
        *assembly = Assembly::new(part.parts, PART_BYTES);
    }
    let whole = assembly.as_mut()?.insert(part.part, part.parts, &part.bytes);
    if whole.is_err() {
        *assembly = None;
    }
    whole.ok()
}

impl Me<'_> {
    /// Seals and opens under the keys of a finished handshake.
    pub(crate) fn seal(&self, handshake: &mut Handshake) -> Result<Box<dyn FrameSeal>, LinkError> {
        let (seal, open) = handshake.split().ok_or(LinkError::LocalCrypto)?;
        if self.is(Danger::LinkPlain) {
            return Ok(Box::new(NoSeal::default()));
        }
        let most = self.config.rekey_after.saturating_mul(2);
        Ok(Box::new(PairSeal::new(&seal, &open, most).ok_or(LinkError::LocalCrypto)?))
    }

    /// Proves who we are, in Noise message 2 or 3.
    pub(crate) fn prove(
        &self,
        role: Role,
        hash: Option<Digest>,
        index: u32,
        peer: Option<NodeId>,
    ) -> Result<Vec<u8>, LinkError> {
        let hash = hash.ok_or(LinkError::LocalCrypto)?;
        let start = Start::new(role, hash, peer, self.config.started, self.key.public);
        let statement = start.statement(&self.config.group, self.node());
        let signature = self.credentials.sign(LABEL, &statement).ok_or(LinkError::LocalCrypto)?;
        let certificate = Blob(self.certificate.clone());
        let (versions, capabilities) = (self.config.versions, self.config.capabilities);
        Ok(codec::encode(&Proof {
            index,
            started: self.config.started,
            versions,
            capabilities,
            certificate,
            signature,
        }))
    }

    /// LINK-27: what both can do.
    pub(crate) fn common(&self, at: &Locator, peer: NodeId, proof: &Proof) -> Result<Common, LinkError> {
        let (ours, theirs) = (self.config.versions, proof.versions);
        let version = ours.common(theirs).ok_or_else(|| LinkError::PeerVersions {
            at: at.clone(),
            peer,
            ours,
            theirs,
        })?;
        Ok(Common { version, capabilities: self.config.capabilities & proof.capabilities })
    }

    /// LINK-05: the signature is by the certificate's key, over this very handshake, its static key
    /// and this ring.
    pub(crate) fn check(
        &self,
        role: Role,
        hash: Option<Digest>,
        remote_static: [u8; 32],
        to: Option<NodeId>,
        payload: &[u8],
    ) -> Option<(Claim, Proof, SignedStart)> {
        let proof: Proof = codec::decode(payload).ok()?;
        let certificate = proof.certificate.as_ref();
        if certificate.len() > CERTIFICATE_BYTES_MAX {
            return None;
        }
        let node = self.credentials.claim(certificate)?.node;
        let start = Start::new(role, hash?, to, proof.started, remote_static);
        let statement = start.statement(&self.config.group, node);
        let claim = self.credentials.verify(certificate, LABEL, &statement, &proof.signature)?;
        let start = SignedStart { start, signature: proof.signature.clone() };
        (claim.node == node).then_some((claim, proof, start))
    }
}

/// What the start is worth that a peer shows us to say that we are superseded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Another process of ours started later.
    Later,
    /// It says nothing new: this process's own start, or an earlier one.
    Old,
    /// Our key did not sign it.
    Forged,
}

impl Me<'_> {
    /// LINK-25: whether the process that started `new` has to leave the link to `known`.
    pub(crate) fn is_earlier(&self, new: &SignedStart, known: &SignedStart) -> bool {
        new.start.rank() < known.start.rank() && !self.is(Danger::LinkAnyProcess)
    }

    /// LINK-26: believed only with our own key's signature over a later start of another process.
    pub(crate) fn judge(&self, shown: &SignedStart) -> Shown {
        let SignedStart { start, signature } = shown;
        let believes_all = self.is(Danger::LinkBelievesStarts);
        let own = (self.config.started, self.key.public);
        if start.key == own.1 || (start.rank() < own && !believes_all) {
            return Shown::Old;
        }
        let statement = start.statement(&self.config.group, self.node());
        let signer = self.credentials.verify(&self.certificate, LABEL, &statement, signature);
        if signer.is_some() || believes_all { Shown::Later } else { Shown::Forged }
    }
}
