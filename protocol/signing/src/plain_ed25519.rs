//! Plain signatures: Ed25519 (RFC 8032), deterministic. Labelled and raw form are those of
//! [`crate::plain`].
//!
//! Verifiers of Ed25519 differ over points outside the subgroup of prime order, points written in
//! more than one way, and numbers past the order (Chalkias, Garillot, Nikolaenko, SSR 2020). None
//! of these is accepted here: a key is a point of the subgroup in its one form, s is below the
//! order, and R is compared as bytes. So one message has one signature of a key, and all members
//! judge it alike.
//!
//! Not for CMS: OpenSSL 3.0 cannot make a SignerInfo with it.

use crate::verifying::{Kind, Verifying, head, labelled};
use crate::{Edwards, PrimeGroup, SigningError};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, ParsedPublicKey};
use folkmoot_base::{Entropy, Secret, draw};

/// Bytes of a [`Signature`]: R ‖ s.
pub const SIGNATURE_BYTES: usize = 64;
/// Bytes of an SPKI.
pub const SPKI_BYTES: usize = 44;
/// Everything of an SPKI before the key (RFC 8410).
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// Everything of a PKCS#8 key before the seed (RFC 8410, version 1, no public key beside it).
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A private key. Erased when dropped; its `Debug` shows whose it is and nothing else.
pub struct SigningKey {
    seed: Secret<[u8; 32]>,
    pair: Ed25519KeyPair,
    public: VerifyingKey,
}

impl SigningKey {
    /// Draws a key: 32 bytes of `entropy`.
    pub fn generate(entropy: &mut dyn Entropy) -> Self {
        loop {
            if let Ok(key) = Self::from_seed(Secret::new(draw(entropy))) {
                return key;
            }
        }
    }

    /// Reads a key from PKCS#8 DER, in the 48 bytes that `openssl genpkey -algorithm ed25519`
    /// writes.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] for anything else.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, SigningError> {
        let seed = der.strip_prefix(&PKCS8_HEAD).ok_or(SigningError::LocalKey)?;
        Self::from_seed(Secret::new(seed.try_into().map_err(|_| SigningError::LocalKey)?))
    }

    /// Writes the key as PKCS#8 DER, not encrypted.
    pub fn to_pkcs8_der(&self) -> Secret<Vec<u8>> {
        Secret::new([&PKCS8_HEAD[..], self.seed.expose()].concat())
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs `message` under `label`, which begins with "folkmoot" and names purpose and version.
    /// Deterministic.
    pub fn sign(&self, label: &'static [u8], message: &[u8]) -> Signature {
        self.sign_raw(&labelled(label, message))
    }

    /// Signs `message` without a label. Only for X.509, whose format fixes the bytes.
    pub fn sign_raw(&self, message: &[u8]) -> Signature {
        let mut bytes = [0; SIGNATURE_BYTES];
        let signature = self.pair.sign(message);
        for (to, from) in bytes.iter_mut().zip(signature.as_ref()) {
            *to = *from;
        }
        Signature(bytes)
    }

    fn from_seed(seed: Secret<[u8; 32]>) -> Result<Self, SigningError> {
        use aws_lc_rs::signature::KeyPair as _;
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.expose()).map_err(|_| SigningError::LocalKey)?;
        let spki = [&SPKI_HEAD[..], pair.public_key().as_ref()].concat();
        let public = VerifyingKey::from_spki_der(&spki).map_err(|_| SigningError::LocalKey)?;
        Ok(Self { seed, pair, public })
    }
}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "SigningKey({}, ..)", self.public.member_id())
    }
}

/// Ed25519 over the subgroup of prime order.
pub enum Ed25519 {}

impl Kind for Ed25519 {
    type Spki = [u8; SPKI_BYTES];
    type Signature = Signature;

    fn bytes(signature: &Signature) -> impl AsRef<[u8]> {
        signature.0
    }
}

/// A public key: a point of the subgroup of prime order, not the identity.
pub type VerifyingKey = Verifying<Ed25519>;

impl VerifyingKey {
    /// Reads the 44-byte SPKI; no other form, and no point outside the subgroup.
    ///
    /// # Errors
    /// [`SigningError::WireKey`].
    pub fn from_spki_der(der: &[u8]) -> Result<Self, SigningError> {
        let spki: [u8; SPKI_BYTES] = der.try_into().map_err(|_| SigningError::WireKey)?;
        let point = spki.strip_prefix(&SPKI_HEAD).ok_or(SigningError::WireKey)?;
        Edwards::decode(point).ok_or(SigningError::WireKey)?;
        let parsed = ParsedPublicKey::new(&ED25519, point).map_err(|_| SigningError::WireKey)?;
        Ok(Self::of(spki, parsed))
    }
}

/// A signature whose s is below the order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; SIGNATURE_BYTES]);

impl Signature {
    /// Reads R ‖ s.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SigningError> {
        let bytes: [u8; SIGNATURE_BYTES] = bytes.try_into().map_err(|_| SigningError::WireSignature)?;
        let (_, number) = bytes.split_at(32);
        Edwards::decode_scalar(number).ok_or(SigningError::WireSignature)?;
        Ok(Self(bytes))
    }

    /// R ‖ s.
    pub fn to_bytes(&self) -> [u8; SIGNATURE_BYTES] {
        self.0
    }
}

impl core::fmt::Debug for Signature {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Signature({}..)", head(&self.0))
    }
}
