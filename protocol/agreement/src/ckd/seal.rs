//! Pair keys, and what is sealed under them.
//!
//! ```text
//!  shared    ─ HKDF-SHA-256(salt "folkmoot ckd pair v1") ─ controller ‖ party ‖ OFFER ‖ ANSWER ─> pair key
//!              (hybrid: salt "folkmoot ckd+ml-kem-768 pair v1")
//!  pair key  ─ HKDF-SHA-256(salt of KEYS) ─┬─ "seal" ‖ parties, by age ‖ party ─> AES-256-GCM key, used once: nonce 0
//!                                          └─ "next" ‖ parties, by age ‖ party ─> the pair key after this run
//! ```

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Length of the salt of KEYS. It is drawn for each KEYS: a key that seals never comes twice, not
/// even if a run is begun again.
pub(super) const SALT_BYTES: usize = 32;
/// Length of a key sealed to one party.
pub(super) const SEALED_BYTES: usize = KEY_BYTES + 16;
const KEY_BYTES: usize = 32;

/// A pair key, or the group's: erases itself.
pub(super) type Key = Zeroizing<[u8; KEY_BYTES]>;

/// The pair key made of what two parties share; `label` says how they came to share it.
pub(super) fn pair(label: &[u8], shared: &[u8], bound: &[&[u8]]) -> Key {
    expand(&Hkdf::<Sha256>::new(Some(label), shared), bound)
}

/// What one pair key gives for one KEYS.
pub(super) struct Once {
    seal: Key,
    /// The pair key after the run.
    pub(super) next: Key,
}

impl Once {
    pub(super) fn new(pair: &Key, salt: &[u8], members: &[u8], member: &[u8]) -> Self {
        let hkdf = Hkdf::<Sha256>::new(Some(salt), pair.as_slice());
        let seal = expand(&hkdf, &[b"folkmoot ckd seal v1", members, member]);
        Self { seal, next: expand(&hkdf, &[b"folkmoot ckd next v1", members, member]) }
    }

    pub(super) fn seal(&self, key: &Key) -> Option<Vec<u8>> {
        // Room for the tag from the start: a vector that grows leaves a copy of the key behind.
        let mut sealed = Vec::with_capacity(SEALED_BYTES);
        sealed.extend_from_slice(key.as_slice());
        self.cipher()?.seal_in_place_append_tag(nonce(), Aad::empty(), &mut sealed).ok()?;
        Some(sealed)
    }

    pub(super) fn open(&self, sealed: &[u8]) -> Option<Key> {
        let (ciphertext, tag) = sealed.split_at_checked(KEY_BYTES)?;
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        self.cipher()?
            .open_separate_gather(nonce(), Aad::empty(), ciphertext, tag, key.as_mut_slice())
            .ok()?;
        Some(key)
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, self.seal.as_slice()).ok().map(LessSafeKey::new)
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

fn expand(hkdf: &Hkdf<Sha256>, info: &[&[u8]]) -> Key {
    let mut out = Zeroizing::new([0; KEY_BYTES]);
    let done = hkdf.expand_multi_info(info, out.as_mut_slice());
    assert!(done.is_ok(), "HKDF gives up to 8,160 bytes");
    out
}
