//! How secrets are sealed to keys. In two places the library's own provider would draw randomness
//! itself; there this is used instead.

use super::error::KemError;
use super::source::Source;
use mls_rs::crypto::{HpkePublicKey, HpkeSecretKey};
use mls_rs::error::IntoAnyError;
use mls_rs_crypto_awslc::{AwsLcHkdf, Ecdh};
use mls_rs_crypto_hpke::dhkem::DhKem;
use mls_rs_crypto_traits::{DhType, KemId, KemResult, KemType, SamplingMethod};
use zeroize::Zeroizing;

fn library(error: impl IntoAnyError) -> KemError {
    KemError::Library(error.into_any_error())
}

/// X25519 of aws-lc, key pairs from our source.
#[derive(Clone)]
pub(super) struct Curve {
    curve: Ecdh,
    source: Source,
}

/// Any scalar: clamped, it takes a point to zero if and only if the point's order divides eight.
const PROBE: [u8; 32] = [1; 32];
const KEY_BYTES: usize = 32;

impl DhType for Curve {
    type Error = KemError;

    fn dh(&self, secret: &HpkeSecretKey, public: &HpkePublicKey) -> Result<Vec<u8>, KemError> {
        self.source.spend(1);
        self.curve.dh(secret, public).map_err(library)
    }

    fn generate(&self) -> Result<(HpkeSecretKey, HpkePublicKey), KemError> {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        self.source.fill(secret.as_mut_slice())?;
        let secret = HpkeSecretKey::from(secret.to_vec());
        let public = self.to_public(&secret)?;
        Ok((secret, public))
    }

    fn to_public(&self, secret: &HpkeSecretKey) -> Result<HpkePublicKey, KemError> {
        // aws-lc reads 32 bytes whatever it is given.
        if secret.len() != KEY_BYTES {
            return Err(KemError::Key);
        }
        self.source.spend(1);
        self.curve.to_public(secret).map_err(library)
    }

    fn bitmask_for_rejection_sampling(&self) -> SamplingMethod {
        self.curve.bitmask_for_rejection_sampling()
    }

    fn secret_key_size(&self) -> usize {
        self.curve.secret_key_size()
    }

    fn public_key_size(&self) -> usize {
        self.curve.public_key_size()
    }

    /// The library's own check takes every byte string. But a key that nobody can seal to would
    /// stop the next committer.
    fn public_key_validate(&self, key: &HpkePublicKey) -> Result<(), KemError> {
        self.dh(&HpkeSecretKey::from(PROBE.to_vec()), key).map(Zeroizing::new).map(drop)
    }
}

/// The encapsulation of a suite.
#[derive(Clone)]
pub(super) enum Kem {
    /// DHKEM(X25519, HKDF-SHA256) of RFC 9180.
    Classical(DhKem<Curve, AwsLcHkdf>),
    /// X-Wing: ML-KEM-768 and X25519.
    Hybrid(super::hybrid::XWing),
}

impl Kem {
    pub(super) fn classical(curve: Ecdh, kdf: AwsLcHkdf, source: Source) -> Self {
        let id = KemId::DhKemX25519Sha256;
        Self::Classical(DhKem::new(Curve { curve, source }, kdf, id as u16, id.n_secret()))
    }
}

type Pair = (HpkeSecretKey, HpkePublicKey);

impl KemType for Kem {
    type Error = KemError;

    fn kem_id(&self) -> u16 {
        match self {
            Self::Classical(kem) => kem.kem_id(),
            Self::Hybrid(kem) => kem.kem_id(),
        }
    }

    fn generate_deterministic(&self, seed: &[u8]) -> Result<Pair, KemError> {
        match self {
            Self::Classical(kem) => kem.generate_deterministic(seed).map_err(library),
            Self::Hybrid(kem) => kem.generate_deterministic(seed),
        }
    }

    fn generate(&self) -> Result<Pair, KemError> {
        match self {
            Self::Classical(kem) => kem.generate().map_err(library),
            Self::Hybrid(kem) => kem.generate(),
        }
    }

    fn public_key_validate(&self, key: &HpkePublicKey) -> Result<(), KemError> {
        match self {
            Self::Classical(kem) => kem.public_key_validate(key).map_err(library),
            Self::Hybrid(kem) => kem.public_key_validate(key),
        }
    }

    fn encap(&self, remote: &HpkePublicKey) -> Result<KemResult, KemError> {
        match self {
            Self::Classical(kem) => kem.encap(remote).map_err(library),
            Self::Hybrid(kem) => kem.encap(remote),
        }
    }

    fn decap(
        &self,
        sealed: &[u8],
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
    ) -> Result<Vec<u8>, KemError> {
        match self {
            Self::Classical(kem) => kem.decap(sealed, secret, public).map_err(library),
            Self::Hybrid(kem) => kem.decap(sealed, secret, public),
        }
    }

    fn seed_length_for_derive(&self) -> usize {
        KEY_BYTES
    }
}
