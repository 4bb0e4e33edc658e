//! The attack knows the schedule of MLS: given the secret of a joiner, it opens the Welcome.

use super::attack::{Dice, Way, ways};
use super::derived::{Bytes32, derived};
use super::welcome::{bytes, of};
use super::{ModuleName, begin};
use crate::world::World;
use curve25519_dalek::MontgomeryPoint;
use mls_rs::crypto::HpkeCiphertext;
use mls_rs::{CipherSuite, CipherSuiteProvider as _, CryptoProvider as _};
use mls_rs_crypto_awslc::AwsLcCryptoProvider;

/// What opens somebody's GroupSecrets, of everything that a bad source could have drawn.
fn joiner(world: &World<'_>, drawn: &[u8]) -> Option<Vec<u8>> {
    let record = &world.records[0];
    let parts = AwsLcCryptoProvider::new().cipher_suite_provider(CipherSuite::CURVE25519_AES128)?;
    let (sealed, info) = of(record)?;
    let length = u16::try_from(info.len()).ok()? | 0x4000;
    let context = [b"\x0fMLS 1.0 Welcome".as_slice(), &length.to_be_bytes(), &info].concat();
    let tried = derived(ModuleName::Mls, record, &[drawn.to_vec()]);
    tried.iter().flat_map(|key| sealed.iter().map(move |sealed| (key, sealed))).find_map(
        |(key, (kem, ciphertext))| {
            let public = MontgomeryPoint::mul_base_clamped(*key).to_bytes().to_vec();
            let sealed = HpkeCiphertext { kem_output: kem.clone(), ciphertext: ciphertext.clone() };
            let opened =
                parts.hpke_open(&sealed, &key.to_vec().into(), &public.into(), &context, None).ok()?;
            bytes(&mut opened.as_slice()).map(<[u8]>::to_vec)
        },
    )
}

#[test]
fn the_secret_of_a_joiner_opens_the_welcome() {
    let make = |plan: &_, kept: Option<&_>| begin(ModuleName::Mls, plan, kept);
    let mut world = World::new(&make, 1);
    let drawn: Bytes32 = [5; 32];
    world.stream(2, Dice::Again(drawn.to_vec()));
    assert_eq!(world.complete(&[0, 1, 2, 3], |_| true), Ok(()));
    let joiner = joiner(&world, &drawn).unwrap();
    assert!(ways(ModuleName::Mls, &world, 0, std::slice::from_ref(&joiner)).contains(&Way::Opened));
    let other: Vec<u8> = joiner.iter().map(|byte| !byte).collect();
    assert!(ways(ModuleName::Mls, &world, 0, &[other]).is_empty());
}
