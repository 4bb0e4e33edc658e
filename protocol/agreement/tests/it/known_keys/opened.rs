//! Whatever may be sealed, tried under what is known; and known values as secret halves of what was
//! sent.

use super::derived::Bytes32;
use crate::world::Record;
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use curve25519_dalek::MontgomeryPoint;
use folkmoot_agreement::{ModuleName, PrimeGroup, Ristretto};
use std::collections::BTreeSet;
use x_wing::{DecapsulationKey, Decapsulator as _, KeyExport as _};

/// A key of 32 bytes, sealed.
pub const SEALED: usize = 48;

fn is_mls(module: ModuleName) -> bool {
    matches!(module, ModuleName::Mls | ModuleName::MlsHybrid)
}

/// Every stretch of the wire that can be a sealed key: in MLS its length stands before it.
fn sealed(module: ModuleName, record: &Record) -> BTreeSet<&[u8]> {
    let named = |body: &[u8], at: usize| !is_mls(module) || (at > 0 && body[at - 1] == 0x30);
    let mut all = BTreeSet::new();
    for (_, _, body) in &record.steps {
        let starts = 0..(body.len() + 1).saturating_sub(SEALED);
        all.extend(starts.filter(|at| named(body, *at)).map(|at| &body[at..at + SEALED]));
    }
    all
}

/// Whether anything opens under any of the keys.
pub fn opens(module: ModuleName, record: &Record, keys: &BTreeSet<Bytes32>) -> bool {
    if is_mls(module) && super::welcome::opens(record, keys) {
        return true;
    }
    let sealed = sealed(module, record);
    keys.iter().any(|key| {
        let long = UnboundKey::new(&AES_256_GCM, key).ok();
        let short = is_mls(module).then(|| UnboundKey::new(&AES_128_GCM, &key[..16]).ok()).flatten();
        let ciphers: Vec<_> = long.into_iter().chain(short).map(LessSafeKey::new).collect();
        sealed.iter().any(|sealed| ciphers.iter().any(|cipher| opened(cipher, sealed).is_some()))
    })
}

fn opened(cipher: &LessSafeKey, sealed: &[u8]) -> Option<Vec<u8>> {
    let mut key = sealed.to_vec();
    cipher
        .open_in_place(Nonce::assume_unique_for_key([0; 12]), Aad::empty(), &mut key)
        .ok()
        .map(|key| key.to_vec())
}

/// What opens `sealed` under `key`, as CKD seals.
pub fn open(key: &Bytes32, sealed: &[u8]) -> Option<Vec<u8>> {
    opened(&LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).unwrap()), sealed)
}

/// Seals as CKD does.
pub fn seal(key: &Bytes32, plain: &[u8]) -> Vec<u8> {
    let cipher = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).unwrap());
    let mut sealed = plain.to_vec();
    cipher
        .seal_in_place_append_tag(Nonce::assume_unique_for_key([0; 12]), Aad::empty(), &mut sealed)
        .unwrap();
    sealed
}

/// Whether any of the keys is the secret half of something that was said: everything sealed to that
/// opens.
pub fn is_private(module: ModuleName, record: &Record, keys: &BTreeSet<Bytes32>) -> bool {
    let said = |public: &[u8]| {
        record.steps.iter().any(|(_, _, body)| body.windows(public.len()).any(|window| window == public))
    };
    let point = |scalar| Ristretto::encode(&Ristretto::raise_generator(&scalar));
    let halves = |key: &Bytes32| match module {
        ModuleName::Mls => vec![MontgomeryPoint::mul_base_clamped(*key).to_bytes().to_vec()],
        ModuleName::CkdHybrid | ModuleName::MlsHybrid => {
            vec![DecapsulationKey::from(*key).encapsulation_key().to_bytes().to_vec()]
        }
        _ => super::raised::scalars(key).into_iter().map(point).collect(),
    };
    let publics: Vec<_> = keys.iter().flat_map(halves).collect();
    let prefixes: BTreeSet<&[u8]> = record.steps.iter().flat_map(|(_, _, body)| body.windows(8)).collect();
    publics.iter().any(|public| prefixes.contains(&public[..8]) && said(public))
}
