//! X-Wing (ML-KEM-768 and X25519) as an encapsulation for HPKE, all randomness from our source.
//!
//! Source: Connolly, Schwabe, Westerbaan, draft-connolly-cfrg-xwing-kem; its HPKE number 0x647a.
//! aws-lc's ML-KEM draws randomness itself when it encapsulates, and its interface has no other
//! way; this one takes the randomness as an argument (P1). Departure: a key pair is derived with
//! DHKEM's extraction in front, as mls-rs-crypto-hpke does for every KEM.

use super::error::KemError;
use super::source::Source;
use mls_rs::crypto::{HpkePublicKey, HpkeSecretKey};
use mls_rs_crypto_traits::{KemResult, KemType};
use x_wing::{
    CIPHERTEXT_SIZE, Ciphertext, DECAPSULATION_KEY_SIZE, Decapsulate as _, DecapsulationKey,
    Decapsulator as _, ENCAPSULATION_RANDOMNESS_SIZE, EncapsulationKey, KeyExport as _,
};
use zeroize::Zeroizing;

/// X-Wing's number among HPKE's encapsulations.
const KEM_ID: u16 = 0x647a;

/// The encapsulation.
#[derive(Clone)]
pub(super) struct XWing {
    pub(super) source: Source,
}

type Pair = (HpkeSecretKey, HpkePublicKey);

fn secret_key(bytes: &[u8]) -> Result<DecapsulationKey, KemError> {
    let bytes: [u8; DECAPSULATION_KEY_SIZE] = bytes.try_into().map_err(|_| KemError::Key)?;
    Ok(DecapsulationKey::from(*Zeroizing::new(bytes)))
}

impl KemType for XWing {
    type Error = KemError;

    fn kem_id(&self) -> u16 {
        KEM_ID
    }

    fn generate_deterministic(&self, seed: &[u8]) -> Result<Pair, KemError> {
        let key = secret_key(seed)?;
        self.source.spend(1);
        let public = key.encapsulation_key().to_bytes().to_vec();
        Ok((seed.to_vec().into(), public.into()))
    }

    fn generate(&self) -> Result<Pair, KemError> {
        let mut seed = Zeroizing::new([0; DECAPSULATION_KEY_SIZE]);
        self.source.fill(seed.as_mut_slice())?;
        self.generate_deterministic(seed.as_slice())
    }

    fn public_key_validate(&self, key: &HpkePublicKey) -> Result<(), KemError> {
        EncapsulationKey::try_from(key.as_ref()).map(drop).map_err(|_| KemError::Key)
    }

    fn encap(&self, remote: &HpkePublicKey) -> Result<KemResult, KemError> {
        let key = EncapsulationKey::try_from(remote.as_ref()).map_err(|_| KemError::Key)?;
        let mut dice = Zeroizing::new([0; ENCAPSULATION_RANDOMNESS_SIZE]);
        self.source.fill(dice.as_mut_slice())?;
        self.source.spend(2);
        let (sealed, shared) = key.encapsulate_deterministic(&(*dice).into());
        Ok(KemResult::new(shared.to_vec(), sealed.to_vec()))
    }

    fn decap(&self, sealed: &[u8], secret: &HpkeSecretKey, _: &HpkePublicKey) -> Result<Vec<u8>, KemError> {
        let sealed: [u8; CIPHERTEXT_SIZE] = sealed.try_into().map_err(|_| KemError::Key)?;
        self.source.spend(1);
        Ok(secret_key(secret)?.decapsulate(&Ciphertext::from(sealed)).to_vec())
    }

    fn seed_length_for_derive(&self) -> usize {
        DECAPSULATION_KEY_SIZE
    }
}
