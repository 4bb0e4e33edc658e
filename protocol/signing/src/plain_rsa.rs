//! Plain signatures: RSA with SHA-256, PKCS#1 v1.5 (RFC 8017), public exponent 65537, moduli of
//! 2048 and 3072 bits. Keys of 1024 bits are only for verifying old signatures, and are named so.
//! Deterministic. Labelled and raw form are those of [`crate::plain`].
//!
//! The library draws RSA keys only from its own randomness, and a run of ours follows from a seed
//! (DECISIONS P1). So [`crate::rsa_draw`] draws them from the entropy that it is handed, and the
//! library checks the result as it checks a key from outside. Whatever else the library draws, to
//! blind the private operation, shows in no output.

use crate::rsa_spki::{SPKI_1024, SPKI_2048, SPKI_3072, SpkiForm};
use crate::verifying::{Kind, Verifying, head, labelled};
use crate::{SigningError, rsa_draw};
use aws_lc_rs::digest::{SHA256, digest as sha256};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, VerificationAlgorithm,
};
use folkmoot_base::{Entropy, Secret};

/// The length of a modulus, and so of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// 1024 bits: within reach of anyone who can spend much. For verifying what was signed long
    /// ago, never for anything new.
    Historical1024,
    /// 2048 bits.
    Rsa2048,
    /// 3072 bits.
    Rsa3072,
}

impl Size {
    /// Every size that there is.
    pub const ALL: &[Self] = &[Self::Historical1024, Self::Rsa2048, Self::Rsa3072];

    /// Bytes of a modulus or signature.
    pub fn bytes(self) -> usize {
        self.form().bytes()
    }

    fn form(self) -> SpkiForm {
        match self {
            Self::Historical1024 => SPKI_1024,
            Self::Rsa2048 => SPKI_2048,
            Self::Rsa3072 => SPKI_3072,
        }
    }

    fn algorithm(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Self::Historical1024 => &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
            Self::Rsa2048 | Self::Rsa3072 => &RSA_PKCS1_2048_8192_SHA256,
        }
    }
}

/// A private key of 2048 or 3072 bits. Erased when dropped; its `Debug` shows whose it is and
/// nothing else.
pub struct SigningKey {
    pair: KeyPair,
    public: VerifyingKey,
}

impl SigningKey {
    /// Draws a key of 2048 or 3072 bits; the same from the same entropy.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] for the historical size, and if no primes come of this entropy.
    pub fn draw(size: Size, entropy: &mut dyn Entropy) -> Result<Self, SigningError> {
        if size == Size::Historical1024 {
            return Err(SigningError::LocalKey);
        }
        let der = rsa_draw::draw(size.bytes(), entropy).ok_or(SigningError::LocalKey)?;
        Self::from_pkcs8_der(der.expose())
    }

    /// Reads a key from PKCS#8 DER; it is checked for consistency.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it is none, of another size, or its exponent is not 65537.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, SigningError> {
        let pair = KeyPair::from_pkcs8(der).map_err(|_| SigningError::LocalKey)?;
        let public = VerifyingKey::wrap(pair.public_key().as_ref()).ok_or(SigningError::LocalKey)?;
        Ok(Self { pair, public })
    }

    /// Writes the key as PKCS#8 DER, not encrypted.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it cannot be encoded, which no key does.
    pub fn to_pkcs8_der(&self) -> Result<Secret<Vec<u8>>, SigningError> {
        let der: Pkcs8V1Der<'_> = self.pair.as_der().map_err(|_| SigningError::LocalKey)?;
        Ok(Secret::new(der.as_ref().to_vec()))
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs `message` under `label`, which begins with "folkmoot" and names purpose and version.
    /// Deterministic.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if the private operation went wrong: the library checks each
    /// result before it leaves.
    pub fn sign(&self, label: &'static [u8], message: &[u8]) -> Result<Signature, SigningError> {
        self.sign_raw(&labelled(label, message))
    }

    /// Signs `message` without a label. Only for X.509 and CMS, whose formats fix the bytes.
    ///
    /// # Errors
    /// As [`Self::sign`].
    pub fn sign_raw(&self, message: &[u8]) -> Result<Signature, SigningError> {
        let mut bytes = vec![0; self.pair.public_modulus_len()];
        let hash = sha256(&SHA256, message);
        self.pair.sign_digest(&RSA_PKCS1_SHA256, &hash, &mut bytes).map_err(|_| SigningError::LocalKey)?;
        Ok(Signature(bytes))
    }
}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "SigningKey({}, ..)", self.public.member_id())
    }
}

/// RSA with SHA-256, PKCS#1 v1.5.
pub enum Rsa {}

impl Kind for Rsa {
    type Spki = Vec<u8>;
    type Signature = Signature;

    fn bytes(signature: &Signature) -> impl AsRef<[u8]> {
        &signature.0
    }
}

/// A public key with exponent 65537.
pub type VerifyingKey = Verifying<Rsa>;

impl VerifyingKey {
    /// Reads an SPKI of 2048 or 3072 bits: rsaEncryption with NULL, shortest lengths, exponent
    /// 65537; no other form.
    ///
    /// # Errors
    /// [`SigningError::WireKey`].
    pub fn from_spki_der(der: &[u8]) -> Result<Self, SigningError> {
        Self::read(der, &[Size::Rsa2048, Size::Rsa3072])
    }

    /// Reads an SPKI of 1024 bits, to verify what is old.
    ///
    /// # Errors
    /// [`SigningError::WireKey`] for anything else, longer keys included.
    pub fn historical_from_spki_der(der: &[u8]) -> Result<Self, SigningError> {
        Self::read(der, &[Size::Historical1024])
    }

    /// How long it is.
    pub fn size(&self) -> Size {
        let form = |size: &Size| size.form().modulus(self.spki_der()).is_some();
        Size::ALL.iter().copied().find(form).unwrap_or(Size::Historical1024)
    }

    /// As long as a signature of this key, and accepted by nobody.
    pub(crate) fn no_signature(&self) -> Signature {
        Signature(vec![0; self.size().bytes()])
    }

    fn read(der: &[u8], sizes: &[Size]) -> Result<Self, SigningError> {
        let size =
            sizes.iter().find(|size| size.form().modulus(der).is_some()).ok_or(SigningError::WireKey)?;
        let parsed = ParsedPublicKey::new(size.algorithm(), der).map_err(|_| SigningError::WireKey)?;
        Ok(Self::of(der.to_vec(), parsed))
    }

    /// Puts the SPKI's head before an RSAPublicKey of a size that signs.
    fn wrap(public_key: &[u8]) -> Option<Self> {
        let sizes = [Size::Rsa2048, Size::Rsa3072];
        sizes.into_iter().find_map(|size| Self::read(&size.form().wrap(public_key), &[size]).ok())
    }
}

/// A number as long as the modulus of one of the sizes, big endian.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature(Vec<u8>);

impl Signature {
    /// Reads 128, 256 or 384 bytes. [`VerifyingKey::verify`] says whether they fit a key.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SigningError> {
        let known = Size::ALL.iter().any(|size| size.bytes() == bytes.len());
        known.then(|| Self(bytes.to_vec())).ok_or(SigningError::WireSignature)
    }

    /// The number.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl core::fmt::Debug for Signature {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Signature({}..)", head(&self.0))
    }
}
