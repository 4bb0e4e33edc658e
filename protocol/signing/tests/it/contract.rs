//! The promise of plain signatures: one signature for each key and message, one encoding for each
//! signature, and none verifies anywhere but where it was made for. OpenSSL agrees on the raw form
//! (identity's tests show it).

use crate::common::{Seed, unhex};
use folkmoot_base::codec::{DeserializeBytes, Serialize};
use folkmoot_base::digest;
use folkmoot_signing::SigningError;
use folkmoot_signing::plain::{Signature, SigningKey, VerifyingKey};
use proptest::prelude::*;

fn key(seed: u64) -> SigningKey {
    SigningKey::generate(&mut Seed(seed << 32))
}

const LABEL: &[u8] = b"folkmoot test v1";
const OTHER: &[u8] = b"folkmoot other v1";
/// The order of P-256, big endian.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
    0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// n - s.
fn mirrored(signature: &[u8; 64]) -> [u8; 64] {
    let mut out = *signature;
    let mut borrow = 0_i16;
    for i in (0..32).rev() {
        let value = i16::from(ORDER[i]) - i16::from(signature[32 + i]) - borrow;
        borrow = i16::from(value < 0);
        out[32 + i] = value.rem_euclid(256) as u8;
    }
    out
}

#[test]
fn same_key_and_message_make_the_same_signature() {
    let (a, b) = (key(1), key(1));
    assert_eq!(a.sign(LABEL, b"hello"), b.sign(LABEL, b"hello"));
    assert_ne!(a.sign(LABEL, b"hello"), a.sign(LABEL, b"hallo"));
    assert_ne!(a.sign(LABEL, b"hello"), key(2).sign(LABEL, b"hello"));
}

#[test]
fn rfc_6979_vector_of_p256_and_sha256() {
    let mut pkcs8 = vec![
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04,
        0x20,
    ];
    pkcs8.extend(unhex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"));
    let key = SigningKey::from_pkcs8_der(&pkcs8).unwrap();
    let signature = key.sign_raw(b"sample").to_bytes();
    let r = unhex("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716");
    let high_s = unhex("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
    assert_eq!(&signature[..32], r);
    assert_eq!(&mirrored(&signature)[32..], high_s, "the RFC prints the high s; we emit its twin");
}

#[test]
fn sign_01_labels_separate() {
    let key = key(1);
    let signature = key.sign(LABEL, b"hello");
    assert_eq!(key.verifying_key().verify(LABEL, b"hello", &signature), Ok(()));
    assert_eq!(key.verifying_key().verify(OTHER, b"hello", &signature), Err(SigningError::PeerSignature));
    assert_eq!(key.verifying_key().verify_raw(b"hello", &signature), Err(SigningError::PeerSignature));
    let raw = key.sign_raw(b"hello");
    assert_eq!(key.verifying_key().verify(LABEL, b"hello", &raw), Err(SigningError::PeerSignature));
}

#[test]
fn sign_02_mirrored_signatures_are_refused() {
    let key = key(1);
    let twin = mirrored(&key.sign(LABEL, b"hello").to_bytes());
    assert_eq!(Signature::from_bytes(&twin), Err(SigningError::WireHighS));
    assert_eq!(key.verifying_key().verify_wire(LABEL, b"hello", &twin.into()), Err(SigningError::WireHighS));
}

#[test]
fn sign_02_signatures_out_of_range_are_refused() {
    assert_eq!(Signature::from_bytes(&[0; 64]), Err(SigningError::WireSignature));
    assert_eq!(Signature::from_bytes(&[0xff; 64]), Err(SigningError::WireSignature));
    assert_eq!(Signature::from_bytes(&[1; 63]), Err(SigningError::WireSignature));
}

#[test]
fn sign_03_keys_have_one_form() {
    let key = key(1);
    let spki = *key.verifying_key().spki_der();
    assert_eq!(VerifyingKey::from_spki_der(&spki).unwrap(), *key.verifying_key());
    assert_eq!(key.verifying_key().member_id().0, digest(&[&spki]));
    assert_eq!(key.verifying_key().node_id().0, digest(&[&spki]));
    for at in 0..spki.len() {
        for bit in 0..8 {
            let mut changed = spki;
            changed[at] ^= 1 << bit;
            assert_eq!(
                VerifyingKey::from_spki_der(&changed).unwrap_err(),
                SigningError::WireKey,
                "byte {at}"
            );
        }
    }
    assert_eq!(VerifyingKey::from_spki_der(&spki[..90]).unwrap_err(), SigningError::WireKey);
}

#[test]
fn keys_survive_pkcs8_and_do_not_print() {
    let key = key(7);
    let der = key.to_pkcs8_der().unwrap();
    let again = SigningKey::from_pkcs8_der(der.expose()).unwrap();
    assert_eq!(again.verifying_key(), key.verifying_key());
    assert_eq!(format!("{key:?}"), format!("SigningKey({}, ..)", key.verifying_key().member_id()));
    assert_eq!(SigningKey::from_pkcs8_der(b"not a key").unwrap_err(), SigningError::LocalKey);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_signature_verifies_and_round_trips(seed in 0_u64..1000, message: Vec<u8>) {
        let key = key(seed);
        let signature = key.sign(LABEL, &message);
        prop_assert_eq!(key.verifying_key().verify(LABEL, &message, &signature), Ok(()));
        prop_assert_eq!(key.verifying_key().verify_wire(LABEL, &message, &key.sign_wire(LABEL, &message)), Ok(()));
        prop_assert_eq!(Signature::from_der(&signature.to_der()), Ok(signature));
        prop_assert_eq!(Signature::from_bytes(&signature.to_bytes()), Ok(signature));
        let wire = signature.tls_serialize_detached().unwrap();
        prop_assert_eq!(&wire[..3], [1, 0, 64]);
        prop_assert_eq!(wire.len(), 67);
        prop_assert_eq!(Signature::tls_deserialize_exact_bytes(&wire).unwrap(), signature);
    }

    #[test]
    fn no_other_bytes_pass_for_a_signature(seed in 0_u64..1000, message: Vec<u8>, at in 0_usize..80, bit in 0_u32..8) {
        let key = key(seed);
        let mut der = key.sign(LABEL, &message).to_der();
        let at = at % der.len();
        der[at] ^= 1_u8 << bit;
        let verdict = Signature::from_der(&der)
            .and_then(|signature| key.verifying_key().verify(LABEL, &message, &signature));
        prop_assert!(verdict.is_err());
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>) {
        let _ = Signature::from_der(&bytes);
        let _ = Signature::from_bytes(&bytes);
        prop_assert!(VerifyingKey::from_spki_der(&bytes).is_err());
        prop_assert!(SigningKey::from_pkcs8_der(&bytes).is_err());
    }
}
