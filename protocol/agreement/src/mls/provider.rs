//! The library's cryptography: aws-lc for everything that draws nothing, our source for everything
//! that draws (DECISIONS P1).
//!
//! | asked of the provider | given by |
//! |---|---|
//! | hash, MAC, AEAD, KDF, Ed25519 sign (deterministic) and verify | mls-rs-crypto-awslc, as it is |
//! | HPKE: open, derive, check a key | mls-rs-crypto-hpke over [`Kem`] |
//! | HPKE: seal, set up to send; random bytes; new keys | the same, drawing from [`Source`] |

use super::Suite;
use super::error::KemError;
use super::kem::Kem;
use super::source::{Dry, Source};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use mls_rs::crypto::{
    HpkeCiphertext, HpkePsk, HpkePublicKey, HpkeSecretKey, SignaturePublicKey, SignatureSecretKey,
};
use mls_rs::error::{AnyError, IntoAnyError};
use mls_rs::{CipherSuite, CipherSuiteProvider, CryptoProvider};
use mls_rs_crypto_awslc::{AwsLcAead, AwsLcCipherSuite, AwsLcCryptoProvider, AwsLcHkdf, Ecdh};
use mls_rs_crypto_hpke::context::{ContextR, ContextS};
use mls_rs_crypto_hpke::hpke::Hpke;
use zeroize::Zeroizing;

/// Every suite has AES-128-GCM, SHA-256 and Ed25519; they differ in the encapsulation.
const PARTS: CipherSuite = CipherSuite::CURVE25519_AES128;

/// One suite, one source.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) suite: Suite,
    pub(super) source: Source,
}

impl Provider {
    /// The suite's cryptography.
    pub(super) fn parts(&self) -> Option<Parts> {
        let kdf = AwsLcHkdf::new(PARTS)?;
        let kem = match self.suite {
            Suite::Classical => Kem::classical(Ecdh::new(PARTS)?, kdf, self.source.clone()),
            Suite::Hybrid => Kem::Hybrid(super::hybrid::XWing { source: self.source.clone() }),
        };
        Some(Parts {
            number: self.suite.number(),
            plain: AwsLcCryptoProvider::new().cipher_suite_provider(PARTS)?,
            hpke: Hpke::new(kem, kdf, Some(AwsLcAead::new(PARTS)?)),
            source: self.source.clone(),
        })
    }
}

impl CryptoProvider for Provider {
    type CipherSuiteProvider = Parts;

    fn supported_cipher_suites(&self) -> Vec<CipherSuite> {
        vec![self.suite.number()]
    }

    fn cipher_suite_provider(&self, suite: CipherSuite) -> Option<Parts> {
        if suite == self.suite.number() { self.parts() } else { None }
    }
}

/// Why a primitive failed.
#[derive(Debug)]
#[allow(dead_code, reason = "read by Debug")]
pub(super) enum PartsError {
    Kem(KemError),
    Library(AnyError),
}

impl IntoAnyError for PartsError {}

impl From<Dry> for PartsError {
    fn from(dry: Dry) -> Self {
        Self::Kem(dry.into())
    }
}

fn library(error: impl IntoAnyError) -> PartsError {
    PartsError::Library(error.into_any_error())
}

/// The cryptography of one suite.
#[derive(Clone)]
pub(super) struct Parts {
    number: CipherSuite,
    plain: AwsLcCipherSuite,
    hpke: Hpke<Kem, AwsLcHkdf, AwsLcAead>,
    source: Source,
}

type Made<T> = Result<T, PartsError>;
type Pair = (HpkeSecretKey, HpkePublicKey);

impl CipherSuiteProvider for Parts {
    type Error = PartsError;
    type HpkeContextS = ContextS<AwsLcHkdf, AwsLcAead>;
    type HpkeContextR = ContextR<AwsLcHkdf, AwsLcAead>;

    fn cipher_suite(&self) -> CipherSuite {
        self.number
    }

    fn hash(&self, data: &[u8]) -> Made<Vec<u8>> {
        self.plain.hash(data).map_err(library)
    }

    fn mac(&self, key: &[u8], data: &[u8]) -> Made<Vec<u8>> {
        self.plain.mac(key, data).map_err(library)
    }

    fn aead_seal(&self, key: &[u8], data: &[u8], aad: Option<&[u8]>, nonce: &[u8]) -> Made<Vec<u8>> {
        self.plain.aead_seal(key, data, aad, nonce).map_err(library)
    }

    fn aead_open(
        &self,
        key: &[u8],
        sealed: &[u8],
        aad: Option<&[u8]>,
        nonce: &[u8],
    ) -> Made<Zeroizing<Vec<u8>>> {
        self.plain.aead_open(key, sealed, aad, nonce).map_err(library)
    }

    fn aead_key_size(&self) -> usize {
        self.plain.aead_key_size()
    }

    fn aead_nonce_size(&self) -> usize {
        self.plain.aead_nonce_size()
    }

    fn kdf_extract(&self, salt: &[u8], ikm: &[u8]) -> Made<Zeroizing<Vec<u8>>> {
        self.plain.kdf_extract(salt, ikm).map_err(library)
    }

    fn kdf_expand(&self, prk: &[u8], info: &[u8], len: usize) -> Made<Zeroizing<Vec<u8>>> {
        self.plain.kdf_expand(prk, info, len).map_err(library)
    }

    fn kdf_extract_size(&self) -> usize {
        self.plain.kdf_extract_size()
    }

    fn hpke_seal(
        &self,
        key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        data: &[u8],
    ) -> Made<HpkeCiphertext> {
        self.hpke.seal(key, info, None, aad, data).map_err(library)
    }

    fn hpke_seal_psk(
        &self,
        key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        data: &[u8],
        psk: HpkePsk<'_>,
    ) -> Made<HpkeCiphertext> {
        self.hpke.seal(key, info, Some(psk), aad, data).map_err(library)
    }

    fn hpke_open(
        &self,
        sealed: &HpkeCiphertext,
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
    ) -> Made<Zeroizing<Vec<u8>>> {
        self.hpke.open(sealed, secret, public, info, None, aad).map_err(library)
    }

    fn hpke_open_psk(
        &self,
        sealed: &HpkeCiphertext,
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        psk: HpkePsk<'_>,
    ) -> Made<Zeroizing<Vec<u8>>> {
        self.hpke.open(sealed, secret, public, info, Some(psk), aad).map_err(library)
    }

    fn hpke_setup_s(&self, key: &HpkePublicKey, info: &[u8]) -> Made<(Vec<u8>, Self::HpkeContextS)> {
        self.hpke.setup_sender(key, info, None).map_err(library)
    }

    fn hpke_setup_r(
        &self,
        sealed: &[u8],
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
    ) -> Made<Self::HpkeContextR> {
        self.hpke.setup_receiver(sealed, secret, public, info, None).map_err(library)
    }

    fn kem_derive(&self, ikm: &[u8]) -> Made<Pair> {
        self.hpke.derive(ikm).map_err(library)
    }

    fn kem_generate(&self) -> Made<Pair> {
        self.hpke.generate().map_err(library)
    }

    fn kem_public_key_validate(&self, key: &HpkePublicKey) -> Made<()> {
        self.hpke.public_key_validate(key).map_err(library)
    }

    fn random_bytes(&self, out: &mut [u8]) -> Made<()> {
        Ok(self.source.fill(out)?)
    }

    /// Ed25519: the secret key is seed ‖ public key, as aws-lc wants it.
    fn signature_key_generate(&self) -> Made<(SignatureSecretKey, SignaturePublicKey)> {
        let mut seed = Zeroizing::new([0; 32]);
        self.source.fill(seed.as_mut_slice())?;
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_slice())
            .map_err(|_| PartsError::Kem(KemError::Key))?;
        let public = pair.public_key().as_ref().to_vec();
        let secret = [seed.as_slice(), &public].concat();
        Ok((secret.into(), public.into()))
    }

    fn signature_key_derive_public(&self, secret: &SignatureSecretKey) -> Made<SignaturePublicKey> {
        self.plain.signature_key_derive_public(secret).map_err(library)
    }

    fn sign(&self, secret: &SignatureSecretKey, data: &[u8]) -> Made<Vec<u8>> {
        self.plain.sign(secret, data).map_err(library)
    }

    fn verify(&self, public: &SignaturePublicKey, signature: &[u8], data: &[u8]) -> Made<()> {
        self.plain.verify(public, signature, data).map_err(library)
    }
}
