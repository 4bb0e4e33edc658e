//! RSA keys whose private half nobody holds: the public half, its one SPKI form, and the number
//! made of a message that is raised to a power.
//!
//! Signatures are PKCS#1 v1.5 with SHA-256 (RFC 8017, section 8.2), so that every verifier of
//! certificates reads them. `aws-lc-rs` verifies; the private operation is [`crate::shoup`]'s.

use crate::base::codec;
use crate::danger::ForStudy;
use crate::modular::{Modulus, Residue, decode};
use crate::rsa_spki::{SPKI_1024, SPKI_2048, SPKI_3072, SpkiForm};
use aws_lc_rs::signature::{ParsedPublicKey, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY};
use crypto_bigint::BoxedUint;
use sha2::{Digest as _, Sha256};

/// The public exponent, a prime: F4, as everywhere.
pub const EXPONENT: u32 = 65_537;
/// DER of the DigestInfo of a SHA-256 value, before the value (RFC 8017, section 9.2, note 1).
const DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
    0x04, 0x20,
];

/// How long a modulus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModulusSize {
    /// 1024 bits: within reach of those who can pay for it. For tests and history.
    Bits1024(ForStudy),
    /// 2048 bits.
    Bits2048,
    /// 3072 bits, about as strong as P-256.
    Bits3072,
}

impl ModulusSize {
    /// Its number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits1024(_) => 1024,
            Self::Bits2048 => 2048,
            Self::Bits3072 => 3072,
        }
    }

    fn form(self) -> SpkiForm {
        match self {
            Self::Bits1024(_) => SPKI_1024,
            Self::Bits2048 => SPKI_2048,
            Self::Bits3072 => SPKI_3072,
        }
    }

    /// The size of so many bits; 1024 only for study.
    pub(crate) fn of_bits(bits: u32, study: Option<ForStudy>) -> Option<Self> {
        match bits {
            1024 => study.map(Self::Bits1024),
            2048 => Some(Self::Bits2048),
            3072 => Some(Self::Bits3072),
            _ => None,
        }
    }
}

/// Why an RSA key or signature was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RsaError {
    /// The bytes are not the SPKI of an RSA key of 2048 or 3072 bits with exponent 65537, or not
    /// its one form.
    #[error("it is not the SPKI of an RSA key of 2048 or 3072 bits with exponent 65537")]
    WireKey,
    /// The signature is not this key's over this message.
    #[error("the RSA signature does not verify")]
    PeerSignature,
}

/// A public RSA key.
#[derive(Clone)]
pub struct RsaPublicKey {
    size: ModulusSize,
    modulus: Modulus,
    parsed: ParsedPublicKey,
    spki: Vec<u8>,
}

impl RsaPublicKey {
    /// The key of this modulus, which must be odd and of exactly the size's length.
    pub(crate) fn of_modulus(number: &BoxedUint, size: ModulusSize) -> Result<Self, RsaError> {
        let modulus =
            Modulus::new(number).filter(|modulus| modulus.bits() == size.bits()).ok_or(RsaError::WireKey)?;
        let spki = size.form().write(&crate::modular::encode(number, modulus.bytes()));
        let parsed = ParsedPublicKey::new(&RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, &spki)
            .map_err(|_| RsaError::WireKey)?;
        Ok(Self { size, modulus, parsed, spki })
    }

    /// Reads the SPKI (RFC 3279, section 2.3.1) of a key of 2048 or 3072 bits with exponent 65537;
    /// no other form.
    ///
    /// # Errors
    /// [`RsaError::WireKey`].
    pub fn from_spki_der(der: &[u8]) -> Result<Self, RsaError> {
        [ModulusSize::Bits2048, ModulusSize::Bits3072]
            .into_iter()
            .find_map(|size| Self::of_spki(der, size))
            .ok_or(RsaError::WireKey)
    }

    fn of_spki(der: &[u8], size: ModulusSize) -> Option<Self> {
        let modulus = size.form().modulus(der)?;
        Self::of_modulus(&decode(modulus, size.bits())?, size).ok()
    }

    /// The key as SPKI DER.
    pub fn spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// How long the modulus is.
    pub fn size(&self) -> ModulusSize {
        self.size
    }

    /// Verifies a PKCS#1 v1.5 signature with SHA-256 over `message`.
    ///
    /// # Errors
    /// [`RsaError::PeerSignature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), RsaError> {
        self.parsed.verify_sig(message, signature).map_err(|_| RsaError::PeerSignature)
    }

    pub(crate) fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The number whose e-th root is the signature of `message`.
    pub(crate) fn representative(&self, message: &[u8]) -> Option<Residue> {
        representative(&self.modulus, message)
    }
}

/// EMSA-PKCS1-v1_5 of the SHA-256 of `message` (RFC 8017, section 9.2), as a number. None if the
/// modulus is too short for it.
pub fn representative(modulus: &Modulus, message: &[u8]) -> Option<Residue> {
    let hash = Sha256::digest(message);
    let filling =
        modulus.bytes().checked_sub(DIGEST_INFO.len() + hash.len() + 3).filter(|filling| *filling >= 8)?;
    let mut block = vec![0, 1];
    block.resize(filling.saturating_add(2), 0xff);
    block.push(0);
    block.extend_from_slice(&DIGEST_INFO);
    block.extend_from_slice(&hash);
    modulus.decode(&block)
}

impl PartialEq for RsaPublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for RsaPublicKey {}

impl core::fmt::Debug for RsaPublicKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "RsaPublicKey({} bits)", self.size.bits())
    }
}

/// Reads bytes from the front; every read says whether there were enough.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// A reader behind the version byte.
    pub(crate) fn behind_version(bytes: &'a [u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        (*version == codec::WIRE_VERSION).then_some(Self(rest))
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
