//! A request: the stranger's signed wish to be certified so. Stranger → contact → everyone.
//!
//! ```text
//! content = "folkmoot request v1" ‖ 00 ‖ TBSCertificate proposed (serial, term, key, nonce; votes empty)
//! CMS     = SignedData(content attached, stranger's identity certificate, one SignerInfo)
//! digest  = SHA-256(content): what votes sign, and what the finished certificate lets everyone compute again
//! ```

use crate::gmc::REQUEST_DOMAIN;
use crate::{CmsError, GmcBody, Identity, IdentityCertificate, RequestError, cms, envelope};
use folkmoot_base::{Digest, MemberId, digest};

/// A verified request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    body: GmcBody,
    certificate: IdentityCertificate,
    digest: Digest,
    der: Vec<u8>,
}

impl Request {
    /// Asks for `body` ([`GmcBody::propose`]) as `identity`.
    ///
    /// # Errors
    /// [`RequestError::PeerNotHolder`] if the body is another's; what else the body breaks.
    pub fn sign(identity: &Identity, body: GmcBody) -> Result<Self, RequestError> {
        if body.member() != identity.member() || body.membership.votes.as_ref().is_none_or(|v| !v.is_empty())
        {
            return Err(RequestError::PeerNotHolder(identity.member()));
        }
        let mut content = REQUEST_DOMAIN.to_vec();
        content.extend(body.proposed()?);
        let certificate = identity.certificate().clone();
        let signature = cms::sign_content(identity.key(), &content);
        let der = cms::assemble(&content, &[(certificate.clone(), signature)])?;
        Ok(Self { body, certificate, digest: digest(&[&content]), der })
    }

    /// Reads and verifies a request: envelope, signature, body in its one form, signer = holder. Whether the charter lets
    /// the group vote on it: [`GmcBody::check_charter`].
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn from_der(der: &[u8]) -> Result<Self, RequestError> {
        let signed = cms::open(der, cms::REQUEST_BYTES_MAX, 1)?;
        let tbs = signed.content.strip_prefix(REQUEST_DOMAIN).ok_or(RequestError::WireDomain)?;
        let body = GmcBody::from_envelope(&envelope::open_proposed(tbs)?)?;
        let (certificate, _) = signed.signers.into_iter().next().ok_or(CmsError::WireSigners)?;
        let votes_empty = body.membership.votes.as_ref().is_some_and(Vec::is_empty);
        if body.member() != certificate.member() || body.name != certificate.name() || !votes_empty {
            return Err(RequestError::PeerNotHolder(certificate.member()));
        }
        Ok(Self { body, certificate, digest: digest(&[&signed.content]), der: der.to_vec() })
    }

    /// What is asked for.
    pub fn body(&self) -> &GmcBody {
        &self.body
    }

    /// Who asks.
    pub fn member(&self) -> MemberId {
        self.certificate.member()
    }

    /// Who asks, with key and name.
    pub fn certificate(&self) -> &IdentityCertificate {
        &self.certificate
    }

    /// What votes sign: equal to [`GmcBody::request_digest`] of body and finished certificate.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The CMS form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}
