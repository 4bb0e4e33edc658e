//! An identity: a private key and the certificate that names it.

use crate::envelope::{Envelope, draw_serial};
use crate::key_file::key_to_pem;
use crate::pem;
use crate::{CertificateError, IdentityCertificate};
use folkmoot_base::{Entropy, MemberId, NodeId, Secret, UnixTime};
use folkmoot_signing::{KeyAlgorithm, Signature, SigningKey};

/// One's own key and certificate. `Debug` shows name and id, never the key.
#[derive(Debug, Clone)]
pub struct Identity {
    key: SigningKey,
    certificate: IdentityCertificate,
}

impl Identity {
    /// Draws a key and certifies it under `name`, for the given term.
    ///
    /// # Errors
    /// [`CertificateError::LocalValue`] if name or term cannot stand in a certificate.
    pub fn new(
        name: &str,
        entropy: &mut dyn Entropy,
        not_before: UnixTime,
        not_after: UnixTime,
    ) -> Result<Self, CertificateError> {
        let key = SigningKey::generate(entropy);
        Self::of_key(key, name, entropy, not_before, not_after)
    }

    /// The same with a key of this algorithm.
    ///
    /// # Errors
    /// [`CertificateError::LocalValue`] if name or term cannot stand in a certificate, or no key of
    /// this algorithm comes of this entropy.
    pub fn draw(
        algorithm: KeyAlgorithm,
        name: &str,
        entropy: &mut dyn Entropy,
        not_before: UnixTime,
        not_after: UnixTime,
    ) -> Result<Self, CertificateError> {
        let key = SigningKey::draw(algorithm, entropy)
            .map_err(|_| CertificateError::LocalValue("no key comes of this entropy"))?;
        Self::of_key(key, name, entropy, not_before, not_after)
    }

    /// Certifies an existing key under `name`, for the given term.
    ///
    /// # Errors
    /// [`CertificateError::LocalValue`] if name or term cannot stand in a certificate.
    pub(crate) fn of_key(
        key: SigningKey,
        name: &str,
        entropy: &mut dyn Entropy,
        not_before: UnixTime,
        not_after: UnixTime,
    ) -> Result<Self, CertificateError> {
        let envelope = Envelope {
            serial: draw_serial(entropy),
            name: name.to_owned(),
            key: key.verifying_key().clone(),
            not_before,
            not_after,
            membership: None,
            issuer: crate::issuer::Issuer::Own,
        };
        let certificate = IdentityCertificate::from_der(&envelope.sign(&key)?)?;
        Ok(Self { key, certificate })
    }

    /// Joins a key and its certificate.
    ///
    /// # Errors
    /// [`CertificateError::LocalNotHolder`] if the certificate is another key's.
    pub(crate) fn from_parts(
        key: SigningKey,
        certificate: IdentityCertificate,
    ) -> Result<Self, CertificateError> {
        if key.verifying_key() != certificate.key() {
            return Err(CertificateError::LocalNotHolder);
        }
        Ok(Self { key, certificate })
    }

    /// Reads what [`Self::key_pem`] and [`IdentityCertificate::to_pem`] write, whatever stands
    /// around it.
    ///
    /// # Errors
    /// [`CertificateError::LocalPem`], [`CertificateError::LocalNotHolder`], or what the
    /// certificate breaks.
    pub fn from_pem(key_pem: &str, certificate_pem: &str) -> Result<Self, CertificateError> {
        let block = pem::first(key_pem, &["PRIVATE KEY"])
            .map_err(|_| CertificateError::LocalPem("it holds no private key that can be read"))?;
        let key = SigningKey::from_pkcs8_der(block.der.expose())
            .map_err(|_| CertificateError::LocalPem("the key is not in PKCS#8"))?;
        Self::from_parts(key, IdentityCertificate::from_pem(certificate_pem)?)
    }

    /// The private key as PKCS#8 PEM, not encrypted.
    ///
    /// # Errors
    /// [`CertificateError::LocalPem`] if it cannot be encoded, which no key does.
    pub fn key_pem(&self) -> Result<Secret<String>, CertificateError> {
        key_to_pem(&self.key)
    }

    /// The certificate as PEM.
    pub fn certificate_pem(&self) -> String {
        self.certificate.to_pem()
    }

    /// The private key.
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// The certificate.
    pub fn certificate(&self) -> &IdentityCertificate {
        &self.certificate
    }

    /// The name in the certificate.
    pub fn name(&self) -> &str {
        self.certificate.name()
    }

    /// This identity as a member.
    pub fn member(&self) -> MemberId {
        self.certificate.member()
    }

    /// This identity as a node.
    pub fn node(&self) -> NodeId {
        self.certificate.node()
    }

    /// Signs `message` under `label`: [`SigningKey::sign`].
    pub fn sign(&self, label: &'static [u8], message: &[u8]) -> Signature {
        self.key.sign(label, message)
    }
}
