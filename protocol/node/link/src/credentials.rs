//! The interface to identities: what a link must know of keys and certificates, and no more.

use bytes::Bytes;
use folkmoot_base::{NodeId, SignatureBytes};
use folkmoot_identity::{Gmc, Identity, IdentityCertificate};
use folkmoot_signing::{Signature, VerifyingKey};

/// What a certificate says of its holder, before the holder has proved anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// SHA-256 of the certificate's SPKI.
    pub node: NodeId,
    /// Whether it carries votes, that is, claims to be a member's. Only a claim: the roster decides
    /// (DECISIONS T2).
    pub rostered: bool,
}

/// Our own identity, and the judgement of other identities.
pub trait Credentials {
    /// Our own node.
    fn node(&self) -> NodeId;
    /// Signs `label` ‖ `message` with the identity key; `None` if the key does not work.
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Option<SignatureBytes>;
    /// What `certificate` (DER) says of its holder; `None` if it is malformed. Does not look at the
    /// time.
    fn claim(&self, certificate: &[u8]) -> Option<Claim>;
    /// Checks that the key in `certificate` made `signature` over `label` ‖ `message`. Returns what
    /// the certificate claims if so.
    fn verify(
        &self,
        certificate: &[u8],
        label: &'static [u8],
        message: &[u8],
        signature: &SignatureBytes,
    ) -> Option<Claim>;
    /// Our own certificate now, DER.
    fn certificate(&self) -> Bytes;
}

/// [`Credentials`] of an identity of crate `folkmoot-identity`: X.509 certificates and ECDSA P-256.
#[derive(Debug, Clone)]
pub struct IdentityCredentials {
    identity: Identity,
    certificate: Bytes,
}

impl IdentityCredentials {
    /// Shows the identity certificate, as a stranger does.
    pub fn new(identity: Identity) -> Self {
        let certificate = identity.certificate().der().clone();
        Self { identity, certificate }
    }

    /// Shows the membership certificate, as a member does. Only if it belongs to this identity.
    pub fn with_gmc(identity: Identity, gmc: &Gmc) -> Option<Self> {
        (gmc.node() == identity.node()).then(|| Self { identity, certificate: gmc.der().clone() })
    }
}

/// The key of a certificate of either kind, and whether it is a membership certificate.
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

    fn sign(&self, label: &'static [u8], message: &[u8]) -> Option<SignatureBytes> {
        Some(self.identity.sign(label, message).to_wire())
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
        signature: &SignatureBytes,
    ) -> Option<Claim> {
        let (key, rostered) = open(certificate)?;
        let signature = Signature::from_wire(signature).ok()?;
        key.verify(label, message, &signature).ok()?;
        Some(Claim { node: key.node_id(), rostered })
    }

    fn certificate(&self) -> Bytes {
        self.certificate.clone()
    }
}
