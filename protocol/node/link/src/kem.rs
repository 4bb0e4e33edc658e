//! ML-KEM-768 (FIPS 203) for Noise, by the crate ml-kem. Key and encapsulation come from the
//! handshake's seed. So the same seed gives the same run (DECISIONS P1), and an answerer can make
//! its message again from the seed alone.

use core::fmt;
use folkmoot_base::{Secret, hmac_sha256};
use ml_kem::ml_kem_768::{Ciphertext, DecapsulationKey, EncapsulationKey};
use ml_kem::{B32, Decapsulate as _, Key, KeyExport as _, Seed};
use snow::types::{Kem, Random};
use zeroize::Zeroize as _;

/// Bytes of an encapsulation key.
pub(crate) const KEY_BYTES: usize = 1_184;
/// Bytes of a ciphertext.
pub(crate) const CIPHERTEXT_BYTES: usize = 1_088;
const SECRET_BYTES: usize = 32;

/// One side of one encapsulation: the dialler generates and decapsulates, the answerer
/// encapsulates, once each.
pub(crate) struct MlKem {
    seed: Secret<[u8; 32]>,
    /// Erased when dropped.
    key: Option<Box<DecapsulationKey>>,
    public: Vec<u8>,
}

impl MlKem {
    /// `seed` is of this handshake alone. What is drawn from it here has a label of its own.
    pub(crate) fn new(seed: Secret<[u8; 32]>) -> Self {
        Self { seed, key: None, public: vec![0; KEY_BYTES] }
    }
}

impl fmt::Debug for MlKem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MlKem(..)")
    }
}

fn put(to: &mut [u8], from: &[u8]) -> Result<usize, snow::Error> {
    let room = to.get_mut(..from.len()).ok_or(snow::Error::Kem)?;
    room.copy_from_slice(from);
    Ok(from.len())
}

impl Kem for MlKem {
    fn name(&self) -> &'static str {
        "MLKEM768"
    }

    fn pub_len(&self) -> usize {
        KEY_BYTES
    }

    fn ciphertext_len(&self) -> usize {
        CIPHERTEXT_BYTES
    }

    fn shared_secret_len(&self) -> usize {
        SECRET_BYTES
    }

    /// Without random bytes there is no key, and the handshake ends at [`Self::decapsulate`].
    fn generate(&mut self, rng: &mut dyn Random) {
        let mut seed = Seed::default();
        if rng.try_fill_bytes(&mut seed).is_ok() {
            let key = Box::new(DecapsulationKey::from_seed(seed));
            self.public = key.encapsulation_key().to_bytes().to_vec();
            self.key = Some(key);
        }
        seed.zeroize();
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    /// Refuses keys whose coefficients are out of range (FIPS 203, 7.2).
    fn encapsulate(
        &self,
        pubkey: &[u8],
        shared_secret_out: &mut [u8],
        ciphertext_out: &mut [u8],
    ) -> Result<(usize, usize), snow::Error> {
        let key: &Key<EncapsulationKey> = pubkey.try_into().map_err(|_| snow::Error::Kem)?;
        let key = EncapsulationKey::new(key).map_err(|_| snow::Error::Kem)?;
        let mut drawn = B32::from(hmac_sha256(self.seed.expose(), &[b"folkmoot link v1 encapsulate"]));
        let (ciphertext, mut shared) = key.encapsulate_deterministic(&drawn);
        drawn.zeroize();
        let secret = put(shared_secret_out, &shared);
        shared.zeroize();
        Ok((secret?, put(ciphertext_out, &ciphertext)?))
    }

    /// An altered ciphertext gives another secret, not an error (FIPS 203, 6.3): the next sealed
    /// bytes do not open.
    fn decapsulate(&self, ciphertext: &[u8], shared_secret_out: &mut [u8]) -> Result<usize, snow::Error> {
        let key = self.key.as_ref().ok_or(snow::Error::Kem)?;
        let ciphertext: &Ciphertext = ciphertext.try_into().map_err(|_| snow::Error::Kem)?;
        let mut shared = key.decapsulate(ciphertext);
        let length = put(shared_secret_out, &shared);
        shared.zeroize();
        length
    }
}
