//! What links ask of identities, answered from own key and certificate. Who is rostered is not asked here.

use bytes::Bytes;
use folkmoot_base::NodeId;
use folkmoot_identity::transcript::Transcript;
use folkmoot_identity::{Gmc, Identity, IdentityCertificate, Signature, VerifyingKey};
use folkmoot_link::{Claim, Credentials};

/// This node's key, and the certificate it shows: the group's if it has one, its own otherwise.
#[derive(Debug)]
pub(crate) struct Own {
    identity: Identity,
    certificate: Bytes,
}

impl Own {
    pub(crate) fn new(identity: Identity, transcript: &Transcript) -> Self {
        let certificate = shown(&identity, transcript);
        Self { identity, certificate }
    }
}

/// The certificate to show at handshakes.
pub(crate) fn shown(identity: &Identity, transcript: &Transcript) -> Bytes {
    let admission = transcript.roster().member(&identity.member());
    let certificate = admission.and_then(|admission| admission.certificate.clone());
    certificate.unwrap_or_else(|| identity.certificate().der().clone())
}

/// The key and the claim of a certificate of either kind.
fn holder(certificate: &[u8]) -> Option<(VerifyingKey, Claim)> {
    if let Ok(gmc) = Gmc::from_der(certificate) {
        return Some((gmc.key().clone(), Claim { node: gmc.node(), rostered: true }));
    }
    let plain = IdentityCertificate::from_der(certificate).ok()?;
    Some((plain.key().clone(), Claim { node: plain.node(), rostered: false }))
}

impl Credentials for Own {
    fn node(&self) -> NodeId {
        self.identity.node()
    }

    fn sign(&self, label: &[u8], message: &[u8]) -> Option<Vec<u8>> {
        Some(self.identity.key().sign_raw(&[label, message].concat()).to_bytes().to_vec())
    }

    fn claim(&self, certificate: &[u8]) -> Option<Claim> {
        holder(certificate).map(|(_, claim)| claim)
    }

    fn verify(&self, certificate: &[u8], label: &[u8], message: &[u8], signature: &[u8]) -> Option<Claim> {
        let (key, claim) = holder(certificate)?;
        let signature = Signature::from_bytes(signature).ok()?;
        key.verify_raw(&[label, message].concat(), &signature).ok()?;
        Some(claim)
    }

    fn certificate(&self) -> Bytes {
        self.certificate.clone()
    }
}
