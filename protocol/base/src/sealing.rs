//! Sealing to a key: HPKE in base mode (RFC 9180 section 5.1.1) with HKDF-SHA-256 and
//! ChaCha20-Poly1305, by two KEMs. Base mode does not say who sealed: a signature outside or inside
//! does.

use crate::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::{Entropy, Secret};
use core::convert::Infallible;
use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::rand_core::{TryCryptoRng, TryRng};
use hpke::{Deserializable as _, Kem, OpModeR, OpModeS, Serializable as _};

/// X-Wing (draft-ietf-hpke-pq: X25519 and ML-KEM-768): for what must stay secret for long.
pub type Hybrid = hpke::kem::XWing;
/// DHKEM(X25519, HKDF-SHA256): 32 bytes for each recipient.
pub type Classic = hpke::kem::X25519HkdfSha256;

/// A text sealed to a key.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Sealed {
    /// The encapsulated key.
    pub encapsulated: Blob,
    /// The sealed text, with its tag.
    pub body: Blob,
}

/// A key pair of somebody to whom others seal. The private key is erased when dropped.
pub struct OpeningKey<K: Kem> {
    private: K::PrivateKey,
    public: Vec<u8>,
}

impl<K: Kem> core::fmt::Debug for OpeningKey<K> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("OpeningKey(..)")
    }
}

impl<K: Kem> OpeningKey<K> {
    /// The pair that follows from `seed`: the same seed gives the same pair (RFC 9180,
    /// DeriveKeyPair).
    pub fn derive(seed: &Secret<[u8; 32]>) -> Self {
        let (private, public) = K::derive_keypair(seed.expose());
        Self { private, public: public.to_bytes().to_vec() }
    }

    /// A pair from fresh randomness: draws 32 bytes.
    pub fn draw(entropy: &mut dyn Entropy) -> Self {
        Self::derive(&Secret::new(crate::draw(entropy)))
    }

    /// The public key: 1,216 bytes of [`Hybrid`], 32 of [`Classic`].
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// Opens what was sealed to this key under the same `info`.
    pub fn open(&self, info: &[u8], sealed: &Sealed) -> Option<Vec<u8>> {
        let encapsulated = K::EncappedKey::from_bytes(&sealed.encapsulated.0).ok()?;
        let mode = OpModeR::<K>::Base;
        hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, K>(
            &mode,
            &self.private,
            &encapsulated,
            info,
            &sealed.body.0,
            &[],
        )
        .ok()
    }
}

/// Seals `plain` to the public key `to` under `info`, which both sides know. `None` if `to` is not
/// a key. Draws at most 64 bytes.
pub fn seal<K: Kem>(to: &[u8], info: &[u8], plain: &[u8], entropy: &mut dyn Entropy) -> Option<Sealed> {
    let to = K::PublicKey::from_bytes(to).ok()?;
    let mode = OpModeS::<K>::Base;
    let (encapsulated, body) = hpke::single_shot_seal_with_rng::<ChaCha20Poly1305, HkdfSha256, K>(
        &mode,
        &to,
        info,
        plain,
        &[],
        &mut Draw(entropy),
    )
    .ok()?;
    Some(Sealed { encapsulated: encapsulated.to_bytes().to_vec().into(), body: body.into() })
}

/// Our entropy behind the library's interface.
struct Draw<'a>(&'a mut dyn Entropy);

impl TryRng for Draw<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(crate::draw(self.0)))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(crate::draw(self.0)))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(out);
        Ok(())
    }
}

impl TryCryptoRng for Draw<'_> {}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    struct Count(u8);

    impl Entropy for Count {
        fn fill(&mut self, out: &mut [u8]) {
            for byte in out {
                self.0 = self.0.wrapping_mul(181).wrapping_add(7);
                *byte = self.0;
            }
        }
    }

    #[test]
    fn what_is_sealed_opens_with_the_key_and_the_info_and_nothing_else() {
        let (mut entropy, other) = (Count(1), OpeningKey::<Hybrid>::draw(&mut Count(9)));
        let key = OpeningKey::<Hybrid>::draw(&mut entropy);
        let sealed = seal::<Hybrid>(key.public(), b"info", b"text", &mut entropy).unwrap();
        assert_eq!(key.open(b"info", &sealed).as_deref(), Some(&b"text"[..]));
        assert_eq!(key.open(b"other", &sealed), None);
        assert_eq!(other.open(b"info", &sealed), None);
        assert_eq!((key.public().len(), sealed.encapsulated.0.len()), (1_216, 1_120));
        for place in [0, sealed.body.0.len() - 1] {
            let mut altered = sealed.clone();
            let mut body = altered.body.0.to_vec();
            body[place] ^= 1;
            altered.body = body.into();
            assert_eq!(key.open(b"info", &altered), None);
        }
        assert!(seal::<Hybrid>(b"no key", b"info", b"text", &mut entropy).is_none());
    }

    #[test]
    fn equal_seeds_give_equal_keys_and_nothing_is_printed() {
        let seed = Secret::new([7; 32]);
        assert_eq!(
            OpeningKey::<Hybrid>::derive(&seed).public(),
            OpeningKey::<Hybrid>::derive(&seed).public()
        );
        assert_eq!(format!("{:?}", OpeningKey::<Hybrid>::derive(&seed)), "OpeningKey(..)");
    }
}
