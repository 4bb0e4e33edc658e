//! The seam to identities: what a link must know of keys and certificates, and no more.

use bytes::Bytes;
use folkmoot_base::NodeId;
use folkmoot_identity::{Gmc, Identity, IdentityCertificate};
use folkmoot_signing::{Signature, VerifyingKey};

/// What a certificate says of its holder, before anybody proves to be it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// SHA-256 of the certificate's SPKI.
    pub node: NodeId,
    /// Whether it carries votes, that is, claims to be a member's. A claim only: the roster decides
    /// (DECISIONS T2).
    pub rostered: bool,
}

/// Own identity and the judgement of others'.
pub trait Credentials {
    /// Own node.
    fn node(&self) -> NodeId;
    /// Signs `label` ‖ `message` with the identity key; `None` if the key does not work.
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Option<Vec<u8>>;
    /// What `certificate` (DER) says of its holder; `None` unless it is well formed. No clock is
    /// asked.
    fn claim(&self, certificate: &[u8]) -> Option<Claim>;
    /// Whether `signature` over `label` ‖ `message` was made by the key in `certificate`; its claim
    /// if so.
    fn verify(
        &self,
        certificate: &[u8],
        label: &'static [u8],
        message: &[u8],
        signature: &[u8],
    ) -> Option<Claim>;
    /// Own certificate now, DER.
    fn certificate(&self) -> Bytes;
}

/// [`Credentials`] of an identity of crate `folkmoot-identity`: X.509 certificates and ECDSA P-256.
#[derive(Debug, Clone)]
pub struct IdentityCredentials {
    identity: Identity,
    certificate: Bytes,
}

impl IdentityCredentials {
    /// Shows the plain identity certificate: a stranger's choice.
    pub fn new(identity: Identity) -> Self {
        let certificate = identity.certificate().der().clone();
        Self { identity, certificate }
    }

    /// Shows the membership certificate: a member's choice. Only if it is this identity's.
    pub fn with_gmc(identity: Identity, gmc: &Gmc) -> Option<Self> {
        (gmc.node() == identity.node()).then(|| Self { identity, certificate: gmc.der().clone() })
    }
}

/// The key of a certificate of either kind, and whether it is a membership's.
fn open(certificate: &[u8]) -> Option<(VerifyingKey, bool)> {
    if let Ok(plain) = IdentityCertificate::from_der(certificate) {
        return Some((plain.key().clone(), false));
    }
    Gmc::from_der(certificate).ok().map(|gmc| (gmc.key().clone(), true))
}

impl Credentials for IdentityCredentials {
    fn node(&self) -> NodeId {
        self.identity.node()
    }

    fn sign(&self, label: &'static [u8], message: &[u8]) -> Option<Vec<u8>> {
        Some(self.identity.sign(label, message).to_bytes().to_vec())
    }

    fn claim(&self, certificate: &[u8]) -> Option<Claim> {
        let (key, rostered) = open(certificate)?;
        Some(Claim { node: key.node_id(), rostered })
    }

    fn verify(
        &self,
        certificate: &[u8],
        label: &'static [u8],
        message: &[u8],
        signature: &[u8],
    ) -> Option<Claim> {
        let (key, rostered) = open(certificate)?;
        let signature = Signature::from_bytes(signature).ok()?;
        key.verify(label, message, &signature).ok()?;
        Some(Claim { node: key.node_id(), rostered })
    }

    fn certificate(&self) -> Bytes {
        self.certificate.clone()
    }
}
