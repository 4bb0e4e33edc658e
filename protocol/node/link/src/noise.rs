//! Noise XX on our own primitives: X25519 (curve25519-dalek), AES-256-GCM (aws-lc-rs), SHA-256 (sha2). Randomness comes
//! from a seed that the caller drew, so that a run is a seed (DECISIONS P1, D1).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use core::fmt;
use curve25519_dalek::MontgomeryPoint;
use folkmoot_base::{GroupId, Secret, hmac_sha256};
use sha2::Digest as _;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState};

const PATTERN: &str = "Noise_XX_25519_AESGCM_SHA256";
const PROLOGUE: &[u8] = b"folkmoot link v1";
/// What Noise adds to the payload of messages 2 and 3, at most.
const OVERHEAD: usize = 96;

/// One direction's key.
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
        initiator: bool,
        group: &GroupId,
        own: &Static,
        seed: Secret<[u8; 32]>,
    ) -> Result<Self, Refused> {
        let mut prologue = PROLOGUE.to_vec();
        prologue.extend_from_slice(&group.0);
        let builder = Builder::with_resolver(PATTERN.parse()?, Box::new(Resolver(seed)))
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

    /// The hash of all that was said so far.
    pub(crate) fn hash(&self) -> Vec<u8> {
        self.state.get_handshake_hash().to_vec()
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

struct Resolver(Secret<[u8; 32]>);

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Seeded { seed: self.0.clone(), drawn: 0 }))
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

fn nonce(counter: u64) -> Nonce {
    let mut nonce = [0_u8; 12];
    for (to, from) in nonce.iter_mut().skip(4).zip(counter.to_be_bytes()) {
        *to = from;
    }
    Nonce::assume_unique_for_key(nonce)
}

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
mod tests {
    use super::{Handshake, Static};
    use folkmoot_base::{GroupId, Secret};

    fn pair(group: u8) -> (Handshake, Handshake) {
        let side = |initiator, group, seed| {
            Handshake::new(
                initiator,
                &GroupId([group; 32]),
                &Static::new([seed; 32]),
                Secret::new([seed + 1; 32]),
            )
        };
        (side(true, 1, 10).unwrap(), side(false, group, 20).unwrap())
    }

    #[test]
    fn both_sides_split_alike_and_a_tampered_reply_can_be_repeated() {
        let (mut dialler, mut answerer) = pair(1);
        let hello = dialler.write(&[]).unwrap();
        assert_eq!(hello.len(), 32);
        answerer.read(&hello).unwrap();
        let reply = answerer.write(b"two").unwrap();
        for at in 0..reply.len() {
            let mut bad = reply.clone();
            bad[at] ^= 1;
            assert!(dialler.read(&bad).is_err(), "byte {at}");
        }
        for cut in 0..reply.len() {
            assert!(dialler.read(&reply[..cut]).is_err(), "cut {cut}");
        }
        assert_eq!(dialler.read(&reply).unwrap(), b"two");
        let finish = dialler.write(b"three").unwrap();
        assert_eq!(answerer.read(&finish).unwrap(), b"three");
        let (seal, open) = dialler.split().unwrap();
        let (other_seal, other_open) = answerer.split().unwrap();
        assert!(seal == other_open && open == other_seal && seal != open);
    }

    #[test]
    fn another_ring_is_not_understood_and_small_points_are_refused() {
        let (mut dialler, mut answerer) = pair(2);
        answerer.read(&dialler.write(&[]).unwrap()).unwrap();
        assert!(dialler.read(&answerer.write(b"two").unwrap()).is_err());
        let (_, mut answerer) = pair(1);
        answerer.read(&[0; 32]).unwrap();
        assert!(answerer.write(b"two").is_err());
    }
}
