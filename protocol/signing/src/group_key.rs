//! A key that a group signs with as one: an ordinary key, which anybody's verifier accepts.

use crate::SigningError;
use crate::base::{Digest, digest};
use crate::verifying::head;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};

/// What everything before the key's bits looks like in the one SPKI form of each kind (RFC 5480,
/// 8410).
const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const ED25519_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// rsaEncryption with NULL parameters (RFC 8017 A.1), wherever it stands in the SPKI.
const RSA_ALGORITHM: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
/// Longest SPKI taken: RSA of 4,096 bits.
const SPKI_BYTES_MAX: usize = 600;

/// Which kind of signature a group's key makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA on P-256 with SHA-256; signatures in DER.
    EcdsaP256,
    /// Ed25519; signatures of 64 bytes.
    Ed25519,
    /// RSA of 2,048 bits and more, PKCS#1 v1.5 with SHA-256.
    Rsa,
}

impl KeyKind {
    fn algorithm(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Self::EcdsaP256 => &ECDSA_P256_SHA256_ASN1,
            Self::Ed25519 => &ED25519,
            Self::Rsa => &RSA_PKCS1_2048_8192_SHA256,
        }
    }
}

/// A group's public key, ready to verify with.
#[derive(Clone)]
pub struct GroupKey {
    kind: KeyKind,
    spki: Vec<u8>,
    parsed: ParsedPublicKey,
}

impl GroupKey {
    /// Reads an SPKI (DER).
    ///
    /// # Errors
    /// [`SigningError::WireKey`] for anything but P-256 (uncompressed), Ed25519, or RSA of 2,048
    /// bits and more.
    pub fn from_spki_der(spki: &[u8]) -> Result<Self, SigningError> {
        let kind = kind(spki).ok_or(SigningError::WireKey)?;
        let bits = match kind {
            // The verifier wants the point, or the key, as it stands in the SPKI.
            KeyKind::EcdsaP256 => spki.get(P256_HEAD.len()..).unwrap_or_default(),
            KeyKind::Ed25519 => spki.get(ED25519_HEAD.len()..).unwrap_or_default(),
            KeyKind::Rsa => spki,
        };
        let parsed = ParsedPublicKey::new(kind.algorithm(), bits).map_err(|_| SigningError::WireKey)?;
        Ok(Self { kind, spki: spki.to_vec(), parsed })
    }

    /// The SPKI of an Ed25519 key.
    pub(crate) fn ed25519_spki(key: &[u8; 32]) -> Vec<u8> {
        [ED25519_HEAD.as_slice(), key].concat()
    }

    /// Which kind it is.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key as SPKI DER.
    pub fn spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// SHA-256 of the SPKI.
    pub fn digest(&self) -> Digest {
        digest(&[&self.spki])
    }

    /// Checks a signature over raw bytes, as X.509 has them.
    ///
    /// # Errors
    /// [`SigningError::PeerSignature`].
    pub fn verify_raw(&self, message: &[u8], signature: &[u8]) -> Result<(), SigningError> {
        self.parsed.verify_sig(message, signature).map_err(|_| SigningError::PeerSignature)
    }
}

fn kind(spki: &[u8]) -> Option<KeyKind> {
    let rsa = || spki.windows(RSA_ALGORITHM.len()).take(8).any(|window| window == RSA_ALGORITHM);
    if spki.len() > SPKI_BYTES_MAX {
        None
    } else if spki.starts_with(&P256_HEAD) && spki.len() == 91 && spki.get(P256_HEAD.len()) == Some(&4) {
        Some(KeyKind::EcdsaP256)
    } else if spki.starts_with(&ED25519_HEAD) && spki.len() == 44 {
        Some(KeyKind::Ed25519)
    } else if rsa() {
        Some(KeyKind::Rsa)
    } else {
        None
    }
}

impl PartialEq for GroupKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for GroupKey {}

impl core::fmt::Debug for GroupKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "GroupKey({:?}, {})", self.kind, head(&self.digest()))
    }
}
