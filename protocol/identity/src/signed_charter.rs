//! The signed charter: CMS SignedData over the exact TOML bytes, one signature for each founder.
//! Founders → everyone.

use crate::{Charter, CharterError, CmsError, FOUNDERS_MAX, Founder, Identity, IdentityCertificate, cms};
use folkmoot_base::MemberId;
use folkmoot_signing::Signature;
use std::collections::BTreeMap;

/// A charter with some or all of its founders' signatures, each verified; complete if
/// [`Self::verify`] says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCharter {
    charter: Charter,
    signers: BTreeMap<MemberId, (IdentityCertificate, Signature)>,
    der: Vec<u8>,
}

impl SignedCharter {
    /// Signs `toml` as each of `founders` (one at least).
    ///
    /// # Errors
    /// What the charter breaks; [`CharterError::PeerNotFounder`] for a signer whom it does not
    /// name.
    pub fn sign(toml: &str, founders: &[&Identity]) -> Result<Self, CharterError> {
        let charter = Charter::from_toml(toml)?;
        let mut signed = Self { charter, signers: BTreeMap::new(), der: Vec::new() };
        for founder in founders {
            signed.insert(founder)?;
        }
        signed.assemble()?;
        Ok(signed)
    }

    /// Adds one founder's signature.
    ///
    /// # Errors
    /// [`CharterError::PeerNotFounder`].
    pub fn add_signature(&mut self, founder: &Identity) -> Result<(), CharterError> {
        self.insert(founder)?;
        self.assemble()
    }

    /// Takes over the signatures of `other`, another copy of the same charter.
    ///
    /// # Errors
    /// [`CmsError::PeerSigners`] if it is another charter.
    pub fn merge(&mut self, other: &Self) -> Result<(), CharterError> {
        if self.charter != other.charter {
            return Err(CmsError::PeerSigners.into());
        }
        for (member, signer) in &other.signers {
            self.signers.entry(*member).or_insert_with(|| signer.clone());
        }
        self.assemble()
    }

    /// Reads a charter signed by one founder or more; verifies every signature that is there.
    ///
    /// # Errors
    /// [`CharterError`].
    pub fn from_der(der: &[u8]) -> Result<Self, CharterError> {
        let signed = cms::open(der, cms::CHARTER_BYTES_MAX, FOUNDERS_MAX)?;
        let text = std::str::from_utf8(&signed.content)
            .map_err(|_| CharterError::WireMalformed("not UTF-8".to_owned()))?;
        let charter = Charter::from_toml(text)?;
        let mut signers = BTreeMap::new();
        for (certificate, signature) in signed.signers {
            let member = certificate.member();
            check_founder(&charter, &certificate)?;
            if signers.insert(member, (certificate, signature)).is_some() {
                return Err(CmsError::WireSigners.into());
            }
        }
        Ok(Self { charter, signers, der: der.to_vec() })
    }

    /// Whether every founder has signed, and nobody else.
    ///
    /// # Errors
    /// [`CharterError::PeerUnsigned`] names the first who has not.
    pub fn verify(&self) -> Result<&Charter, CharterError> {
        let missing = self.missing().next();
        missing.map_or(Ok(&self.charter), |founder| Err(CharterError::PeerUnsigned(founder.key.member_id())))
    }

    /// Reads a charter that must be complete.
    ///
    /// # Errors
    /// [`CharterError`].
    pub fn complete_from_der(der: &[u8]) -> Result<Self, CharterError> {
        let signed = Self::from_der(der)?;
        signed.verify()?;
        Ok(signed)
    }

    /// The charter itself, complete or not.
    pub fn charter(&self) -> &Charter {
        &self.charter
    }

    /// Founders who have not signed yet.
    pub fn missing(&self) -> impl Iterator<Item = &Founder> {
        self.charter.founders().iter().filter(|founder| !self.signers.contains_key(&founder.key.member_id()))
    }

    /// Certificates of those who have.
    pub fn certificates(&self) -> impl Iterator<Item = &IdentityCertificate> {
        self.signers.values().map(|(certificate, _)| certificate)
    }

    /// The CMS form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    fn insert(&mut self, founder: &Identity) -> Result<(), CharterError> {
        check_founder(&self.charter, founder.certificate())?;
        let signature = cms::sign_content(founder.key(), self.charter.bytes());
        self.signers.insert(founder.member(), (founder.certificate().clone(), signature));
        Ok(())
    }

    fn assemble(&mut self) -> Result<(), CharterError> {
        if self.signers.is_empty() {
            return Err(CmsError::WireSigners.into());
        }
        let signers: Vec<_> = self.signers.values().cloned().collect();
        self.der = cms::assemble(self.charter.bytes(), &signers)?;
        Ok(())
    }
}

/// A signer must be a founder, under the name that the charter gives.
fn check_founder(charter: &Charter, certificate: &IdentityCertificate) -> Result<(), CharterError> {
    let founder = charter.founder(&certificate.member());
    if founder.is_none_or(|founder| founder.name != certificate.name()) {
        return Err(CharterError::PeerNotFounder(certificate.member()));
    }
    Ok(())
}
