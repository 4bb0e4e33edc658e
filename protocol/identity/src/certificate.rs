//! The identity certificate: a key's own statement of its name, self-signed. It says who, not
//! whether in.

use crate::CertificateError;
use crate::envelope::{self, Envelope, Serial};
use crate::pem::{self, Unread};
use bytes::Bytes;
use der::pem::LineEnding;
use folkmoot_base::{MemberId, NodeId, UnixTime};
use folkmoot_signing::VerifyingKey;

/// Longest identity certificate, in bytes of DER: of an RSA key of 3072 bits under a long name it
/// has about 1,300.
pub const CERTIFICATE_BYTES_MAX: usize = 1536;

const LABEL: &str = "CERTIFICATE";

/// A verified identity certificate: in its one form, signed by its own key. Its term is judged by
/// [`Self::check_term`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityCertificate {
    der: Bytes,
    envelope: Envelope,
}

impl IdentityCertificate {
    /// Reads and verifies: one parse, one encoding, one signature check.
    ///
    /// # Errors
    /// [`CertificateError`], `Wire…` and `PeerSignature`.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let (envelope, _) = envelope::open(der, CERTIFICATE_BYTES_MAX)?;
        if envelope.membership.is_some() || envelope.issuer != crate::issuer::Issuer::Own {
            return Err(CertificateError::WireProfile(
                "it is a membership certificate, not an identity certificate",
            ));
        }
        Ok(Self { der: Bytes::copy_from_slice(der), envelope })
    }

    /// Reads the PEM form of [`Self::to_pem`], whatever stands around it.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn from_pem(pem: &str) -> Result<Self, CertificateError> {
        Self::from_der(&certificate_from_pem(pem)?)
    }

    /// The PEM form.
    pub fn to_pem(&self) -> String {
        certificate_pem(&self.der)
    }

    /// The DER form.
    pub fn der(&self) -> &Bytes {
        &self.der
    }

    /// Whose it is.
    pub fn key(&self) -> &VerifyingKey {
        &self.envelope.key
    }

    /// The name that its holder goes by; nobody vouches for it.
    pub fn name(&self) -> &str {
        &self.envelope.name
    }

    /// The holder as a member.
    pub fn member(&self) -> MemberId {
        self.envelope.key.member_id()
    }

    /// The holder as a node.
    pub fn node(&self) -> NodeId {
        self.envelope.key.node_id()
    }

    /// The serial number.
    pub fn serial(&self) -> &Serial {
        &self.envelope.serial
    }

    /// When it begins.
    pub fn not_before(&self) -> UnixTime {
        self.envelope.not_before
    }

    /// When it ends.
    pub fn not_after(&self) -> UnixTime {
        self.envelope.not_after
    }

    /// Whether it holds at `time`, give or take `skew_seconds`.
    ///
    /// # Errors
    /// [`CertificateError::PeerNotYet`], [`CertificateError::PeerEnded`].
    pub fn check_term(&self, time: UnixTime, skew_seconds: u64) -> Result<(), CertificateError> {
        check_term(self.not_before(), self.not_after(), time, skew_seconds)
    }
}

/// The PEM bundle of these certificates: the `-CAfile` under which OpenSSL verifies what they
/// signed.
pub fn identities_pem<'a>(certificates: impl IntoIterator<Item = &'a IdentityCertificate>) -> String {
    certificates.into_iter().map(IdentityCertificate::to_pem).collect()
}

/// Whether a term holds at `time`, give or take `skew_seconds`.
pub(crate) fn check_term(
    from: UnixTime,
    to: UnixTime,
    time: UnixTime,
    skew_seconds: u64,
) -> Result<(), CertificateError> {
    if time.0.saturating_add(skew_seconds) < from.0 {
        return Err(CertificateError::PeerNotYet(from));
    }
    if time.0.saturating_sub(skew_seconds) > to.0 {
        return Err(CertificateError::PeerEnded(to));
    }
    Ok(())
}

/// PEM of a certificate's DER. Does not fail: the label is fixed and certificates are short.
pub fn certificate_pem(der: &[u8]) -> String {
    der::pem::encode_string(LABEL, LineEnding::LF, der).unwrap_or_default()
}

/// The DER of the first certificate in a file, whatever stands around it, as `openssl ca`, editors
/// and mails leave it. Nobody has judged it.
///
/// # Errors
/// [`CertificateError::LocalPem`].
pub fn certificate_from_pem(text: &str) -> Result<Vec<u8>, CertificateError> {
    let block = pem::first(text, &[LABEL]).map_err(|why| CertificateError::LocalPem(unread(why)))?;
    Ok(block.der.expose().clone())
}

/// The same of all certificates in a file, at least one, in their order.
///
/// # Errors
/// [`CertificateError::LocalPem`].
pub fn certificates_from_pem(text: &str) -> Result<Vec<Vec<u8>>, CertificateError> {
    let blocks = pem::read(text, &[LABEL]).map_err(|why| CertificateError::LocalPem(unread(why)))?;
    Ok(blocks.iter().map(|block| block.der.expose().clone()).collect())
}

fn unread(why: Unread) -> &'static str {
    match why {
        Unread::Nothing => "it holds no certificate in PEM",
        Unread::Damaged | Unread::Headers => "the certificate cannot be read",
    }
}
