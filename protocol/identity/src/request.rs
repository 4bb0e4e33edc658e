//! A request: a stranger's signed wish for a certificate. It has two forms, which one decoder tells
//! apart.
//!
//! ```text
//! CMS   stranger → contact → everyone    for one who comes itself
//!       content = "folkmoot request v1" ‖ 00 ‖ TBSCertificate proposed (serial, term, key, nonce; votes empty)
//!       SignedData(content attached, stranger's identity certificate, one SignerInfo)
//! CSR   member → everyone                for one who has only OpenSSL: a member proposes for it
//!       SEQUENCE { CertificationRequest, TBSCertificate proposed: name and key of the CSR, nonce and serial number from it }
//!
//! digest = SHA-256(content), in both: what votes sign, and what the finished certificate lets everyone compute again
//! ```

use crate::gmc::REQUEST_DOMAIN;
use crate::{CmsError, Csr, GmcBody, Identity, RequestError, cms, csr, envelope};
use folkmoot_base::{Digest, MemberId, digest};

/// A verified request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    body: GmcBody,
    csr: Option<Csr>,
    digest: Digest,
    der: Vec<u8>,
}

impl Request {
    /// Asks for `body` ([`GmcBody::propose`]) as `identity`.
    ///
    /// # Errors
    /// [`RequestError::PeerNotHolder`] if the body is another's; what else the body breaks.
    pub fn sign(identity: &Identity, body: GmcBody) -> Result<Self, RequestError> {
        if body.member() != identity.member() || !votes_are_empty(&body) {
            return Err(RequestError::PeerNotHolder(identity.member()));
        }
        let mut content = REQUEST_DOMAIN.to_vec();
        content.extend(body.proposed()?);
        let certificate = identity.certificate().clone();
        let signature = cms::sign_content(identity.key(), &content);
        let der = cms::assemble(&content, &[(certificate, signature)])?;
        Ok(Self { body, csr: None, digest: digest(&[&content]), der })
    }

    /// Asks for `body` ([`GmcBody::propose_csr`]) for the holder of `csr`, who has signed nothing
    /// else.
    ///
    /// # Errors
    /// [`RequestError::PeerProposal`] if the body is not for this CSR; what else the body breaks.
    pub fn by_csr(csr: Csr, body: GmcBody) -> Result<Self, RequestError> {
        check_proposal(&csr, &body)?;
        let proposed = body.proposed()?;
        let der = csr::join(&csr, &proposed)?;
        Ok(Self { body, csr: Some(csr), digest: digest(&[REQUEST_DOMAIN, &proposed]), der })
    }

    /// Reads and verifies a request of either form: envelope, signature, body in its one form, and
    /// that the signer is the holder. [`GmcBody::check_charter`] says whether the charter lets the
    /// group vote on it.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn from_der(der: &[u8]) -> Result<Self, RequestError> {
        if der.len() > cms::REQUEST_BYTES_MAX {
            return Err(CmsError::WireTooLong(der.len()).into());
        }
        match csr::part(der) {
            Some((csr, proposed)) => Self::read_pair(der, &csr, &proposed),
            None => Self::read_cms(der),
        }
    }

    fn read_cms(der: &[u8]) -> Result<Self, RequestError> {
        let signed = cms::open(der, cms::REQUEST_BYTES_MAX, 1)?;
        let tbs = signed.content.strip_prefix(REQUEST_DOMAIN).ok_or(RequestError::WireDomain)?;
        let body = GmcBody::from_envelope(&envelope::open_proposed(tbs)?)?;
        let (certificate, _) = signed.signers.into_iter().next().ok_or(CmsError::WireSigners)?;
        if body.member() != certificate.member() || body.name != certificate.name() || !votes_are_empty(&body)
        {
            return Err(RequestError::PeerNotHolder(certificate.member()));
        }
        Ok(Self { body, csr: None, digest: digest(&[&signed.content]), der: der.to_vec() })
    }

    fn read_pair(der: &[u8], csr: &[u8], proposed: &[u8]) -> Result<Self, RequestError> {
        let csr = Csr::from_der(csr)?;
        let body = GmcBody::from_envelope(&envelope::open_proposed(proposed)?)?;
        let request = Self::by_csr(csr, body)?;
        if request.der != der {
            return Err(RequestError::WireNotCanonical);
        }
        Ok(request)
    }

    /// What is asked for.
    pub fn body(&self) -> &GmcBody {
        &self.body
    }

    /// Who asks.
    pub fn member(&self) -> MemberId {
        self.body.member()
    }

    /// The CSR, if a member proposes for one.
    pub fn csr(&self) -> Option<&Csr> {
        self.csr.as_ref()
    }

    /// What votes sign: equal to [`GmcBody::request_digest`] of body and finished certificate.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes: CMS, or CSR and proposal.
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}

fn votes_are_empty(body: &GmcBody) -> bool {
    body.membership.votes.as_ref().is_some_and(Vec::is_empty)
}

/// `ID-58`, `ID-59`: name, key, nonce and serial number are the CSR's, and nothing stands in place
/// of votes yet.
fn check_proposal(csr: &Csr, body: &GmcBody) -> Result<(), RequestError> {
    let wrong = [
        (body.key != *csr.key(), "it has another key"),
        (body.name != csr.name(), "it has another name"),
        (body.membership.nonce != csr.nonce(), "it has another nonce"),
        (body.serial != csr.serial(), "it has another serial number"),
        (!votes_are_empty(body), "it carries votes, or is a founder's"),
    ];
    match wrong.iter().find(|(wrong, _)| *wrong) {
        Some((_, what)) => Err(RequestError::PeerProposal(what)),
        None => Ok(()),
    }
}
