//! Noise XX on our own primitives: X25519 (curve25519-dalek), AES-256-GCM (aws-lc-rs), SHA-256
//! (sha2). Randomness comes from a seed that the caller drew, so that the same seed gives the same
//! run (DECISIONS P1, D1).
//!
//! The hybrid form is XXhfs, with ML-KEM-768 (`kem.rs`). Message 1 brings the dialler's
//! encapsulation key, and message 2 the ciphertext. Its secret is mixed into the keys after that of
//! the ephemeral X25519 keys, before any identity is sent. Source: Weatherley, Noise extension:
//! hybrid forward secrecy (noise_hfs_spec), section 5.

use crate::Exchange;
use crate::kem::{self, MlKem};
use crate::seal::nonce;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, UnboundKey};
use core::fmt;
use curve25519_dalek::MontgomeryPoint;
use folkmoot_base::{GroupId, Secret, hmac_sha256};
use sha2::Digest as _;
use snow::params::{BaseChoice, CipherChoice, DHChoice, HashChoice, KemChoice, NoiseParams};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Kem, Random};
use snow::{Builder, HandshakeState};

const PATTERN: &str = "Noise_XX_25519_AESGCM_SHA256";
const HYBRID_PATTERN: &str = "Noise_XXhfs_25519+MLKEM768_AESGCM_SHA256";
const PROLOGUE: &[u8] = b"folkmoot link v1";
const HYBRID_PROLOGUE: &[u8] = b"folkmoot link v1 hybrid";
/// The most that Noise adds to the payload of a message.
const OVERHEAD: usize = 96 + kem::KEY_BYTES;

/// The key of one direction.
pub(crate) type Key = Secret<[u8; 32]>;

/// The provider refuses, or a message does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

impl From<snow::Error> for Refused {
    fn from(_: snow::Error) -> Self {
        Self
    }
}

/// The static key of this process.
pub(crate) struct Static {
    secret: Secret<[u8; 32]>,
    pub(crate) public: [u8; 32],
}

impl Static {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        let public = MontgomeryPoint::mul_base_clamped(secret).to_bytes();
        Self { secret: Secret::new(secret), public }
    }
}

impl fmt::Debug for Static {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Static(..)")
    }
}

/// One side of one handshake.
#[derive(Debug)]
pub(crate) struct Handshake {
    state: HandshakeState,
    initiator: bool,
}

impl Handshake {
    pub(crate) fn new(
        exchange: Exchange,
        initiator: bool,
        group: &GroupId,
        own: &Static,
        seed: Secret<[u8; 32]>,
    ) -> Result<Self, Refused> {
        let kem = |seed: &Secret<[u8; 32]>| Box::new(MlKem::new(seed.clone())) as Box<dyn Kem>;
        Self::with_kem(exchange, initiator, group, own, Resolver { seed, kem })
    }

    fn with_kem(
        exchange: Exchange,
        initiator: bool,
        group: &GroupId,
        own: &Static,
        resolver: Resolver,
    ) -> Result<Self, Refused> {
        let (params, label) = match exchange {
            Exchange::Classical => (PATTERN.parse()?, PROLOGUE),
            Exchange::Hybrid => (hybrid_params()?, HYBRID_PROLOGUE),
        };
        let prologue = [label, &group.0].concat();
        let builder = Builder::with_resolver(params, Box::new(resolver))
            .local_private_key(own.secret.expose())?
            .prologue(&prologue)?;
        let state = if initiator { builder.build_initiator()? } else { builder.build_responder()? };
        Ok(Self { state, initiator })
    }

    pub(crate) fn write(&mut self, payload: &[u8]) -> Result<Vec<u8>, Refused> {
        let mut out = vec![0; payload.len().saturating_add(OVERHEAD)];
        let length = self.state.write_message(payload, &mut out)?;
        out.truncate(length);
        Ok(out)
    }

    pub(crate) fn read(&mut self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        let mut out = vec![0; message.len()];
        let length = self.state.read_message(message, &mut out)?;
        out.truncate(length);
        Ok(out)
    }

    /// The hash of all messages so far.
    pub(crate) fn hash(&self) -> Option<[u8; 32]> {
        self.state.get_handshake_hash().try_into().ok()
    }

    pub(crate) fn remote_static(&self) -> Option<[u8; 32]> {
        self.state.get_remote_static()?.try_into().ok()
    }

    /// The keys to seal and to open with. Only when the handshake is finished.
    pub(crate) fn split(&mut self) -> Option<(Key, Key)> {
        if !self.state.is_handshake_finished() {
            return None;
        }
        let (first, second) = self.state.dangerously_get_raw_split();
        let (first, second) = (Secret::new(first), Secret::new(second));
        Some(if self.initiator { (first, second) } else { (second, first) })
    }
}

/// The parameters by name. The library's list does not have ML-KEM-768; [`Resolver`] provides it
/// when the library asks for that entry.
fn hybrid_params() -> Result<NoiseParams, Refused> {
    Ok(NoiseParams::new(
        HYBRID_PATTERN.to_owned(),
        BaseChoice::Noise,
        "XXhfs".parse()?,
        DHChoice::Curve25519,
        Some(KemChoice::Kyber1024),
        CipherChoice::AESGCM,
        HashChoice::SHA256,
    ))
}

struct Resolver {
    seed: Secret<[u8; 32]>,
    kem: fn(&Secret<[u8; 32]>) -> Box<dyn Kem>,
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Seeded { seed: self.seed.clone(), drawn: 0 }))
    }

    fn resolve_kem(&self, _: &KemChoice) -> Option<Box<dyn Kem>> {
        Some((self.kem)(&self.seed))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::new(X25519::default()) as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        matches!(choice, HashChoice::SHA256).then(|| Box::new(Sha256::default()) as Box<dyn Hash>)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        matches!(choice, CipherChoice::AESGCM).then(|| Box::new(AesGcm(None)) as Box<dyn Cipher>)
    }
}

/// Bytes from a seed: HMAC(seed, block number).
struct Seeded {
    seed: Secret<[u8; 32]>,
    drawn: u64,
}

impl Random for Seeded {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), snow::Error> {
        for chunk in dest.chunks_mut(32) {
            let block = Secret::new(hmac_sha256(
                self.seed.expose(),
                &[b"folkmoot link v1 draw", &self.drawn.to_be_bytes()],
            ));
            self.drawn = self.drawn.saturating_add(1);
            for (to, from) in chunk.iter_mut().zip(block.expose()) {
                *to = *from;
            }
        }
        Ok(())
    }
}

struct X25519 {
    secret: Secret<[u8; 32]>,
    public: [u8; 32],
}

impl Default for X25519 {
    fn default() -> Self {
        Self { secret: Secret::new([0; 32]), public: [0; 32] }
    }
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        32
    }

    fn priv_len(&self) -> usize {
        32
    }

    fn set(&mut self, privkey: &[u8]) {
        let secret: [u8; 32] = privkey.try_into().unwrap_or_default();
        self.public = MontgomeryPoint::mul_base_clamped(secret).to_bytes();
        self.secret = Secret::new(secret);
    }

    fn generate(&mut self, rng: &mut dyn Random) -> Result<(), snow::Error> {
        let mut secret = [0; 32];
        rng.try_fill_bytes(&mut secret)?;
        self.set(&secret);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        self.secret.expose()
    }

    /// Refuses points of small order: their product is zero.
    fn dh(&self, pubkey: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        let point = pubkey.first_chunk::<32>().ok_or(snow::Error::Dh)?;
        let shared = Secret::new(MontgomeryPoint(*point).mul_clamped(*self.secret.expose()).to_bytes());
        if shared == Secret::new([0; 32]) {
            return Err(snow::Error::Dh);
        }
        for (to, from) in out.iter_mut().zip(shared.expose()) {
            *to = *from;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Sha256(sha2::Sha256);

impl Hash for Sha256 {
    fn name(&self) -> &'static str {
        "SHA256"
    }

    fn block_len(&self) -> usize {
        64
    }

    fn hash_len(&self) -> usize {
        32
    }

    fn reset(&mut self) {
        self.0 = sha2::Sha256::default();
    }

    fn input(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn result(&mut self, out: &mut [u8]) {
        for (to, from) in out.iter_mut().zip(core::mem::take(&mut self.0).finalize()) {
            *to = from;
        }
    }
}

struct AesGcm(Option<LessSafeKey>);

impl Cipher for AesGcm {
    fn name(&self) -> &'static str {
        "AESGCM"
    }

    fn set(&mut self, key: &[u8; 32]) {
        self.0 = UnboundKey::new(&AES_256_GCM, key).ok().map(LessSafeKey::new);
    }

    /// Without a key, or if the provider fails, nothing is written: the plaintext never leaves.
    fn encrypt(&self, counter: u64, authtext: &[u8], plaintext: &[u8], out: &mut [u8]) -> usize {
        let Some(key) = &self.0 else { return 0 };
        let Some((body, tail)) = out.split_at_mut_checked(plaintext.len()) else { return 0 };
        body.copy_from_slice(plaintext);
        let Ok(tag) = key.seal_in_place_separate_tag(nonce(counter), Aad::from(authtext), body) else {
            body.fill(0);
            return 0;
        };
        for (to, from) in tail.iter_mut().zip(tag.as_ref()) {
            *to = *from;
        }
        plaintext.len().saturating_add(16)
    }

    fn decrypt(
        &self,
        counter: u64,
        authtext: &[u8],
        ciphertext: &[u8],
        out: &mut [u8],
    ) -> Result<usize, snow::Error> {
        let key = self.0.as_ref().ok_or(snow::Error::Decrypt)?;
        let length = ciphertext.len().checked_sub(16).ok_or(snow::Error::Decrypt)?;
        let (body, tag) = ciphertext.split_at_checked(length).ok_or(snow::Error::Decrypt)?;
        let out = out.get_mut(..length).ok_or(snow::Error::Decrypt)?;
        key.open_separate_gather(nonce(counter), Aad::from(authtext), body, tag, out)
            .map_err(|_| snow::Error::Decrypt)?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
