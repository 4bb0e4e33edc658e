//! Certificates of X.509 as the papers of discovery: one root says who may be in which domain, and
//! who is out.
//!
//! ```text
//! exclusion = SHA-256 of what the certificate's signature is over 32 | when the certificate ends 8 |
//!             signature of the root 64, under "folkmoot lcm exclusion v2", over both
//! ```
//! An exclusion names a certificate, for all its domains and for good. Anybody may carry it, and
//! said again it changes nothing. It does not name the bytes of the certificate: of the two ways to
//! write an ECDSA signature both verify, and whoever is out would come back with the other.

use super::{Danger, Domain, Permit, PermitError, Right, Root};
use crate::discovery::{Exclusion, Papers, Renewal, Standing};
use bytes::Bytes;
use core::cell::RefCell;
use folkmoot_base::{Digest, Mutant, UnixTime, digest};
use folkmoot_signing::plain::{Signature, SigningKey, VerifyingKey};
use std::collections::BTreeMap;

const LABEL: &[u8] = b"folkmoot lcm exclusion v2";
/// How far a clock may be behind one that a term's beginning was read from.
const SKEW_SECONDS: u64 = 5;
/// Most certificates whose judgement is remembered.
const JUDGED_MAX: usize = 1_024;

/// The root, this program's certificate, and the key to it.
pub struct Certificates {
    root: Root,
    own: Bytes,
    key: SigningKey,
    permit: Permit,
    /// What was judged already, by the certificate's SHA-256: each comes with every agreement.
    judged: RefCell<BTreeMap<Digest, Permit>>,
}

/// Papers, and what a program needs beside them to take part in a secured group.
pub trait Credentials: Papers {
    /// Where this program may be, as which sender.
    fn rights(&self) -> Vec<Right>;
    /// What it signs messages with, where a channel has signatures.
    fn key(&self) -> &SigningKey;
    /// What the messages of a certificate's holder verify under.
    fn key_of(&self, certificate: &[u8]) -> Option<VerifyingKey>;
    /// The same with another certificate of the same key and sender, if that may take the place of
    /// this one (PUB-80).
    fn renewed(&self, _certificate: &[u8]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
    /// The statement that excludes the holder of this certificate from a domain, if it is known to
    /// be out by now. Where the root makes the statements, they come from it.
    fn lapsed(&self, _domain: &Domain, _certificate: &[u8]) -> Option<Bytes> {
        None
    }
}

/// Why a program cannot use its certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificatesError {
    /// The root's certificate is no root's.
    #[error("the root's certificate cannot be used: {0}")]
    LocalRoot(PermitError),
    /// The program's certificate gives it nothing.
    #[error("the certificate cannot be used: {0}")]
    LocalCertificate(PermitError),
    /// The key is another's.
    #[error("the private key is not the one that the certificate is for")]
    LocalOtherKey,
}

impl Certificates {
    /// Papers of the holder of `key`, certificates in DER. The term is looked at when somebody
    /// judges.
    ///
    /// # Errors
    /// [`CertificatesError`].
    pub fn new(root: &[u8], certificate: &[u8], key: SigningKey) -> Result<Self, CertificatesError> {
        let root = Root::from_der(root).map_err(CertificatesError::LocalRoot)?;
        let permit = root.permit_at_any_time(certificate).map_err(CertificatesError::LocalCertificate)?;
        if permit.key() != key.verifying_key() {
            return Err(CertificatesError::LocalOtherKey);
        }
        let own = Bytes::copy_from_slice(certificate);
        Ok(Self { root, own, key, permit, judged: RefCell::default() })
    }

    /// The same, without one of its checks: for tests that show what it is for.
    #[must_use]
    pub fn with_danger(self, danger: Mutant<Danger>) -> Self {
        Self { root: self.root.with_danger(danger), ..self }
    }

    /// What the own certificate permits.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    fn judged(&self, certificate: &[u8]) -> Option<Permit> {
        let holder = digest(&[certificate]);
        if let Some(permit) = self.judged.borrow().get(&holder) {
            return Some(permit.clone());
        }
        let permit = self.root.permit_at_any_time(certificate).ok()?;
        let mut judged = self.judged.borrow_mut();
        if judged.len() >= JUDGED_MAX {
            judged.clear();
        }
        judged.insert(holder, permit.clone());
        Some(permit)
    }
}

impl Clone for Certificates {
    fn clone(&self) -> Self {
        let (root, own, key) = (self.root.clone(), self.own.clone(), self.key.clone());
        Self { root, own, key, permit: self.permit.clone(), judged: RefCell::default() }
    }
}

impl core::fmt::Debug for Certificates {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Certificates({}, ..)", self.key.verifying_key().member_id())
    }
}

impl Credentials for Certificates {
    fn rights(&self) -> Vec<Right> {
        self.permit.rights().to_vec()
    }

    fn key(&self) -> &SigningKey {
        &self.key
    }

    fn renewed(&self, certificate: &[u8]) -> Option<Self> {
        let permit = self.root.permit_at_any_time(certificate).ok()?;
        let same = permit.key() == self.key.verifying_key() && permit.begins() > self.permit.begins();
        let own = Bytes::copy_from_slice(certificate);
        same.then(|| Self { own, permit, ..self.clone() })
    }

    fn key_of(&self, certificate: &[u8]) -> Option<VerifyingKey> {
        self.judged(certificate).map(|permit| permit.key().clone())
    }
}

impl Papers for Certificates {
    fn certificate(&self) -> &[u8] {
        &self.own
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.key.sign_raw(message).to_bytes().to_vec()
    }

    /// PUB-26 to PUB-28. Whose term has not begun is nobody yet. Whose term has ended is judged all
    /// the same, and says when: that proves the end to others.
    fn judge(&self, domain: &[u8], certificate: &[u8], wall: Option<UnixTime>) -> Option<Standing> {
        let domain: Domain = core::str::from_utf8(domain).ok()?.parse().ok()?;
        let permit = self.judged(certificate)?;
        if !self.root.is(Danger::AnyTime) {
            permit.check_begin(wall?, SKEW_SECONDS).ok()?;
        }
        let uid = permit.sender(&domain)?.get();
        Some(Standing { uid, until: Some(permit.ends()) })
    }

    fn verify(&self, certificate: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = self.key_of(certificate).zip(Signature::from_bytes(signature).ok());
        key.is_some_and(|(key, signature)| key.verify_raw(message, &signature).is_ok())
    }

    /// PUB-63.
    fn holder(&self, certificate: &[u8]) -> Digest {
        let permit = self.judged(certificate).filter(|_| !self.root.is(Danger::BytesName));
        permit.map_or_else(|| digest(&[certificate]), |permit| *permit.holder())
    }

    fn renewal(&self, certificate: &[u8]) -> Option<Renewal> {
        let permit = self.judged(certificate)?;
        let key = digest(&[permit.key().spki_der()]);
        Some(Renewal { key, begins: permit.begins().0 })
    }

    fn judge_exclusion(&self, _: &[u8], statement: &[u8]) -> Option<Exclusion> {
        self.root.excluded(statement)
    }
}

/// Bytes of what an exclusion says: whom it names, and when the certificate ends.
const SAID: usize = 40;

impl Root {
    /// Whom ([`Permit::holder`]) a statement excludes, if this root made it (PUB-46).
    pub fn excluded(&self, statement: &[u8]) -> Option<Exclusion> {
        let (said, signature) = statement.split_first_chunk::<SAID>()?;
        let signature = Signature::from_bytes(signature).ok()?;
        let signed = self.key().verify(LABEL, said, &signature).is_ok();
        let (holder, until) = said.split_first_chunk::<32>()?;
        let until = UnixTime(u64::from_be_bytes(*until.first_chunk()?));
        let out = Exclusion { holder: *holder, until: Some(until) };
        (signed || self.is(Danger::AnyIssuer)).then_some(out)
    }
}

/// The root's statement that whoever this is ([`Permit::holder`]) is out, and when the certificate
/// ends.
pub fn exclude(root: &SigningKey, holder: &Digest, ends: UnixTime) -> Bytes {
    let said = [&holder[..], &ends.0.to_be_bytes()].concat();
    let signature = root.sign(LABEL, &said).to_bytes();
    [said, signature.to_vec()].concat().into()
}
