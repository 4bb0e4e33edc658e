//! Handshakes: Hello, Retry, Reply, Finish (DECISIONS D1).
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
use crate::limits::PART_BYTES;
use crate::message::{Part, Proof};
use crate::noise::{Handshake, Static};
use crate::peers::Association;
use crate::seal::{NoSeal, PairSeal};
use crate::start::{LABEL, Role, SignedStart, Start};
use crate::{Claim, Common, Credentials, Exchange, LinkError, Versions};
use bytes::Bytes;
use folkmoot_base::{Blob, Danger, Digest, GroupId, Locator, Mutant, NodeId, codec};

/// What all handshakes of a process share.
pub(crate) struct Own<'a, C> {
    pub(crate) group: GroupId,
    pub(crate) exchange: Exchange,
    pub(crate) versions: Versions,
    pub(crate) capabilities: u64,
    pub(crate) credentials: &'a C,
    pub(crate) certificate: &'a Bytes,
    pub(crate) own: &'a Static,
    pub(crate) started: u64,
    pub(crate) seals_max: u64,
    pub(crate) danger: Mutant,
}

/// An identity proved by a handshake, and the association that goes with it.
#[derive(Debug)]
pub(crate) struct Proved {
    pub(crate) claim: Claim,
    pub(crate) certificate: Bytes,
    pub(crate) start: SignedStart,
    pub(crate) association: Association,
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

impl<C: Credentials> Own<'_, C> {
    pub(crate) fn seal(&self, handshake: &mut Handshake) -> Result<Box<dyn crate::FrameSeal>, LinkError> {
        let (seal, open) = handshake.split().ok_or(LinkError::LocalCrypto)?;
        if self.danger.is(Danger::LinkPlain) {
            return Ok(Box::new(NoSeal::default()));
        }
        let seal = PairSeal::new(&seal, &open, self.seals_max).ok_or(LinkError::LocalCrypto)?;
        Ok(Box::new(seal))
    }

    pub(crate) fn prove(
        &self,
        role: Role,
        hash: Option<Digest>,
        index: u32,
        peer: Option<NodeId>,
    ) -> Result<Vec<u8>, LinkError> {
        let hash = hash.ok_or(LinkError::LocalCrypto)?;
        let start = Start::new(role, hash, peer, self.started, self.own.public);
        let statement = start.statement(&self.group, self.credentials.node());
        let signature = self.credentials.sign(LABEL, &statement).ok_or(LinkError::LocalCrypto)?;
        let certificate = Blob(self.certificate.clone());
        let (versions, capabilities) = (self.versions, self.capabilities);
        Ok(codec::encode(&Proof {
            index,
            started: self.started,
            versions,
            capabilities,
            certificate,
            signature,
        }))
    }

    /// LINK-27: what both can do.
    pub(crate) fn common(&self, at: &Locator, peer: NodeId, proof: &Proof) -> Result<Common, LinkError> {
        let (ours, theirs) = (self.versions, proof.versions);
        let version = ours.common(theirs).ok_or_else(|| LinkError::PeerVersions {
            at: at.clone(),
            peer,
            ours,
            theirs,
        })?;
        Ok(Common { version, capabilities: self.capabilities & proof.capabilities })
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
        if certificate.len() > crate::limits::CERTIFICATE_BYTES_MAX {
            return None;
        }
        let node = self.credentials.claim(certificate)?.node;
        let start = Start::new(role, hash?, to, proof.started, remote_static);
        let statement = start.statement(&self.group, node);
        let claim = self.credentials.verify(certificate, LABEL, &statement, &proof.signature)?;
        let start = SignedStart { start, signature: proof.signature.clone() };
        (claim.node == node).then_some((claim, proof, start))
    }
}
