//! Plain signatures: ECDSA on P-256 with SHA-256, deterministic (RFC 6979), low s.
//!
//! Labelled form (all of our own messages): the hash covers `label ‖ 0x00 ‖ message`; labels hold
//! no zero byte, so no two labels can make the same input. Raw form (X.509 and CMS, whose formats
//! fix the bytes): the hash covers the message. No raw input begins like a labelled one: X.509 and
//! CMS sign a DER SEQUENCE (0x30) or SET (0x31), labels begin with a letter.
//!
//! Signing runs on `p256`, whose nonces follow from key and message; verifying on `aws-lc-rs`,
//! which is three times faster.

use crate::SigningError;
use crate::verifying::{Kind, Verifying, head, labelled};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use bytes::Bytes;
use folkmoot_base::codec::{DeserializeBytes, Serialize, Size, tls_codec};
use folkmoot_base::{Algorithm, Entropy, Secret, SignatureBytes};
use p256::ecdsa::signature::Signer;
use p256::pkcs8::{DecodePrivateKey, EncodePrivateKey};
use std::io::Write;
use zeroize::Zeroize;

/// Bytes of a [`Signature`] in our own messages: r ‖ s, 32 each.
pub const SIGNATURE_BYTES: usize = 64;
/// Bytes of the only SPKI form taken: P-256, named curve, uncompressed point.
pub const SPKI_BYTES: usize = 91;
/// Everything of an SPKI before the point, fixed by RFC 5480.
const SPKI_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A private key. Erased when dropped; its `Debug` shows whose it is and nothing else.
#[derive(Clone)]
pub struct SigningKey {
    secret: p256::ecdsa::SigningKey,
    public: VerifyingKey,
}

impl SigningKey {
    /// Draws a key: the first 32 bytes of `entropy` that are a scalar in range (almost always the
    /// first).
    pub fn generate(entropy: &mut dyn Entropy) -> Self {
        loop {
            let mut seed = [0_u8; 32];
            entropy.fill(&mut seed);
            let key = p256::ecdsa::SigningKey::from_slice(&seed);
            seed.zeroize();
            if let Some(key) = key.ok().and_then(|secret| Self::with_public(secret).ok()) {
                return key;
            }
        }
    }

    /// Reads a key from PKCS#8 DER.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it is none, or not for P-256.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, SigningError> {
        let secret = p256::SecretKey::from_pkcs8_der(der).map_err(|_| SigningError::LocalKey)?;
        Self::with_public(secret.into())
    }

    /// Reads a key from the older form, SEC 1 `ECPrivateKey` in DER (RFC 5915), that names its
    /// curve.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it is none, or not for P-256.
    pub fn from_sec1_der(der: &[u8]) -> Result<Self, SigningError> {
        let secret = p256::SecretKey::from_sec1_der(der).map_err(|_| SigningError::LocalKey)?;
        Self::with_public(secret.into())
    }

    /// Writes the key as PKCS#8 DER, not encrypted.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it cannot be encoded, which no key does.
    pub fn to_pkcs8_der(&self) -> Result<Secret<Vec<u8>>, SigningError> {
        let secret = p256::SecretKey::from(&self.secret);
        let document = secret.to_pkcs8_der().map_err(|_| SigningError::LocalKey)?;
        Ok(Secret::new(document.as_bytes().to_vec()))
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs `message` under `label`, which begins with "folkmoot" and names purpose and version
    /// (DECISIONS N4: `message` covers the GroupId). Deterministic; low s.
    pub fn sign(&self, label: &'static [u8], message: &[u8]) -> Signature {
        self.sign_raw(&labelled(label, message))
    }

    /// [`Self::sign`], as it stands in our own messages.
    pub fn sign_wire(&self, label: &'static [u8], message: &[u8]) -> SignatureBytes {
        self.sign(label, message).to_wire()
    }

    /// Signs `message` without a label. Only for X.509 and CMS, whose formats fix the bytes.
    pub fn sign_raw(&self, message: &[u8]) -> Signature {
        let signature: p256::ecdsa::Signature = self.secret.sign(message);
        Signature(signature.normalize_s())
    }

    /// The secret number, for the other signatures that a key makes ([`crate::asm`]); erased when
    /// dropped.
    pub(crate) fn scalar(&self) -> Secret<p256::Scalar> {
        Secret::new(**self.secret.as_nonzero_scalar())
    }

    fn with_public(secret: p256::ecdsa::SigningKey) -> Result<Self, SigningError> {
        let point = secret.verifying_key().to_sec1_point(false);
        let mut spki = SPKI_HEAD.to_vec();
        spki.extend_from_slice(point.as_bytes());
        Ok(Self { secret, public: VerifyingKey::from_spki_der(&spki)? })
    }
}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "SigningKey({}, ..)", self.public.member_id())
    }
}

/// ECDSA on P-256 with SHA-256.
pub enum Ecdsa {}

impl Kind for Ecdsa {
    type Spki = [u8; SPKI_BYTES];
    type Signature = Signature;

    fn bytes(signature: &Signature) -> impl AsRef<[u8]> {
        signature.to_bytes()
    }
}

/// A public key on the curve, ready to verify with.
pub type VerifyingKey = Verifying<Ecdsa>;

impl VerifyingKey {
    /// Reads the 91-byte SPKI of an uncompressed P-256 point; no other form.
    ///
    /// # Errors
    /// [`SigningError::WireKey`].
    pub fn from_spki_der(der: &[u8]) -> Result<Self, SigningError> {
        let spki: [u8; SPKI_BYTES] = der.try_into().map_err(|_| SigningError::WireKey)?;
        let point = spki.strip_prefix(&SPKI_HEAD).ok_or(SigningError::WireKey)?;
        if point.first() != Some(&0x04) {
            return Err(SigningError::WireKey);
        }
        p256::PublicKey::from_sec1_bytes(point).map_err(|_| SigningError::WireKey)?;
        let parsed =
            ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).map_err(|_| SigningError::WireKey)?;
        Ok(Self::of(spki, parsed))
    }

    /// The point, which every key that was read has.
    pub(crate) fn point(&self) -> Option<p256::ProjectivePoint> {
        let point = self.spki_der().strip_prefix(&SPKI_HEAD)?;
        p256::PublicKey::from_sec1_bytes(point).ok().map(|key| key.to_projective())
    }

    /// [`Self::verify`] for a signature as it stands in our own messages.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`], [`SigningError::WireHighS`],
    /// [`SigningError::PeerSignature`].
    pub fn verify_wire(
        &self,
        label: &'static [u8],
        message: &[u8],
        signature: &SignatureBytes,
    ) -> Result<(), SigningError> {
        self.verify(label, message, &Signature::from_wire(signature)?)
    }
}

/// A well-formed signature with low s: r and s in range, one encoding in each form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(p256::ecdsa::Signature);

impl Signature {
    /// Reads r ‖ s.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`], [`SigningError::WireHighS`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SigningError> {
        let signature = p256::ecdsa::Signature::from_slice(bytes).map_err(|_| SigningError::WireSignature)?;
        Self::low(signature)
    }

    /// Reads strict DER (ECDSA-Sig-Value), as X.509 and CMS carry it.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`], [`SigningError::WireHighS`].
    pub fn from_der(der: &[u8]) -> Result<Self, SigningError> {
        let signature = p256::ecdsa::Signature::from_der(der).map_err(|_| SigningError::WireSignature)?;
        let signature = Self::low(signature)?;
        if signature.to_der() != der {
            return Err(SigningError::WireSignature);
        }
        Ok(signature)
    }

    /// Reads strict DER of a signature that other software made. It may have either s; the lower
    /// one is kept. Each verifies whenever the other does, so nothing is lost, and one signature
    /// has one form again.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`].
    pub fn from_foreign_der(der: &[u8]) -> Result<Self, SigningError> {
        let signature = p256::ecdsa::Signature::from_der(der).map_err(|_| SigningError::WireSignature)?;
        if signature.to_der().as_bytes() != der {
            return Err(SigningError::WireSignature);
        }
        Ok(Self(signature.normalize_s()))
    }

    /// As it stands in our own messages.
    pub fn to_wire(&self) -> SignatureBytes {
        SignatureBytes { algorithm: Algorithm::P256, bytes: Bytes::copy_from_slice(&self.to_bytes()) }
    }

    /// Reads what [`Self::to_wire`] makes.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`] also for another algorithm; [`SigningError::WireHighS`].
    pub fn from_wire(signature: &SignatureBytes) -> Result<Self, SigningError> {
        if signature.algorithm != Algorithm::P256 {
            return Err(SigningError::WireSignature);
        }
        Self::from_bytes(&signature.bytes)
    }

    /// r ‖ s.
    pub fn to_bytes(&self) -> [u8; SIGNATURE_BYTES] {
        self.0.to_bytes().into()
    }

    /// ECDSA-Sig-Value, DER, at most 72 bytes.
    pub fn to_der(&self) -> Vec<u8> {
        self.0.to_der().as_bytes().to_vec()
    }

    fn low(signature: p256::ecdsa::Signature) -> Result<Self, SigningError> {
        if signature.normalize_s() == signature { Ok(Self(signature)) } else { Err(SigningError::WireHighS) }
    }
}

impl core::fmt::Debug for Signature {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Signature({}..)", head(&self.to_bytes()))
    }
}

impl Size for Signature {
    fn tls_serialized_len(&self) -> usize {
        self.to_wire().tls_serialized_len()
    }
}

impl Serialize for Signature {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        self.to_wire().tls_serialize(writer)
    }
}

impl DeserializeBytes for Signature {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        let (wire, rest) = SignatureBytes::tls_deserialize_bytes(bytes)?;
        let value =
            Self::from_wire(&wire).map_err(|error| tls_codec::Error::DecodingError(error.to_string()))?;
        Ok((value, rest))
    }
}
