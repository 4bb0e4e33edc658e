//! The promise of plain signatures, for the other kinds of key: Ed25519 and RSA. Keys and
//! signatures of OpenSSL stand in testing/vectors/signing.

use crate::common::{Seed, unhex};
use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::CompressedEdwardsY;
use folkmoot_base::digest;
use folkmoot_signing::plain_rsa::Size;
use folkmoot_signing::{SigningError, plain_ed25519 as ed, plain_rsa as rsa};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

const LABEL: &[u8] = b"folkmoot test v1";
const OTHER: &[u8] = b"folkmoot other v1";

fn vector(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testing/vectors/signing");
    fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn ed_key(seed: u64) -> ed::SigningKey {
    ed::SigningKey::generate(&mut Seed(seed << 32))
}

fn rsa_key(size: Size) -> rsa::SigningKey {
    let name = if size == Size::Rsa2048 { "rsa-2048.key.der" } else { "rsa-3072.key.der" };
    rsa::SigningKey::from_pkcs8_der(&vector(name)).unwrap()
}

const SIGNING: [Size; 2] = [Size::Rsa2048, Size::Rsa3072];

#[test]
fn rfc_8032_vector_of_ed25519() {
    let mut pkcs8 = unhex("302e020100300506032b657004220420");
    pkcs8.extend(unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
    let key = ed::SigningKey::from_pkcs8_der(&pkcs8).unwrap();
    let public = unhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    assert_eq!(key.verifying_key().spki_der()[12..], public);
    let signature = unhex(concat!(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b",
        "d25bf5f0595bbe24655141438e7a100b"
    ));
    assert_eq!(key.sign_raw(b"").to_bytes().to_vec(), signature);
}

#[test]
fn openssl_reads_and_makes_the_same() {
    let message = vector("message");
    let key = ed::SigningKey::from_pkcs8_der(&vector("ed25519.key.der")).unwrap();
    assert_eq!(key.to_pkcs8_der().expose(), &vector("ed25519.key.der"));
    assert_eq!(key.verifying_key().spki_der().to_vec(), vector("ed25519.spki.der"));
    assert_eq!(key.sign_raw(&message).to_bytes().to_vec(), vector("ed25519.signature"));
    for size in SIGNING {
        let (key, name) = (rsa_key(size), format!("rsa-{}", size.bytes() * 8));
        assert_eq!(key.to_pkcs8_der().unwrap().expose(), &vector(&format!("{name}.key.der")));
        assert_eq!(*key.verifying_key().spki_der(), vector(&format!("{name}.spki.der")));
        assert_eq!(key.sign_raw(&message).unwrap().as_bytes(), vector(&format!("{name}.signature")));
        assert_eq!(key.verifying_key().member_id().0, digest(&[key.verifying_key().spki_der()]));
        assert_eq!(key.sign_raw(b"m").unwrap().as_bytes().len(), size.bytes());
    }
}

#[test]
fn keys_of_1024_bits_verify_when_asked_to_and_do_nothing_else() {
    let spki = vector("rsa-1024.spki.der");
    assert_eq!(rsa::VerifyingKey::from_spki_der(&spki).unwrap_err(), SigningError::WireKey);
    let key = rsa::VerifyingKey::historical_from_spki_der(&spki).unwrap();
    assert_eq!(key.spki_der().len(), Size::Historical1024.bytes() + 34);
    let signature = rsa::Signature::from_bytes(&vector("rsa-1024.signature")).unwrap();
    assert_eq!(key.verify_raw(&vector("message"), &signature), Ok(()));
    assert_eq!(key.verify_raw(b"admit dorb", &signature), Err(SigningError::PeerSignature));
    for size in SIGNING {
        let longer = rsa_key(size).verifying_key().spki_der().to_vec();
        assert_eq!(rsa::VerifyingKey::historical_from_spki_der(&longer).unwrap_err(), SigningError::WireKey);
    }
}

#[test]
fn sign_04_labels_separate_in_every_kind() {
    let key = ed_key(1);
    let (signature, raw) = (key.sign(LABEL, b"hello"), key.sign_raw(b"hello"));
    let refused = Err(SigningError::PeerSignature);
    assert_eq!(key.verifying_key().verify(LABEL, b"hello", &signature), Ok(()));
    assert_eq!(key.verifying_key().verify(OTHER, b"hello", &signature), refused);
    assert_eq!(key.verifying_key().verify_raw(b"hello", &signature), refused);
    assert_eq!(key.verifying_key().verify(LABEL, b"hello", &raw), refused);
    for size in SIGNING {
        let key = rsa_key(size);
        let (signature, raw) = (key.sign(LABEL, b"hello").unwrap(), key.sign_raw(b"hello").unwrap());
        assert_eq!(key.verifying_key().verify(LABEL, b"hello", &signature), Ok(()));
        assert_eq!(key.verifying_key().verify(OTHER, b"hello", &signature), refused);
        assert_eq!(key.verifying_key().verify_raw(b"hello", &signature), refused);
        assert_eq!(key.verifying_key().verify(LABEL, b"hello", &raw), refused);
    }
}

#[test]
fn sign_05_ed25519_keys_have_one_form_in_the_subgroup() {
    let spki = *ed_key(1).verifying_key().spki_der();
    assert_eq!(ed::VerifyingKey::from_spki_der(&spki).unwrap(), *ed_key(1).verifying_key());
    let with = |point: &[u8]| ed::VerifyingKey::from_spki_der(&[&spki[..12], point].concat());
    let good = CompressedEdwardsY::from_slice(&spki[12..]).unwrap().decompress().unwrap();
    for (number, small) in EIGHT_TORSION.iter().enumerate() {
        let refused = SigningError::WireKey;
        assert_eq!(with(small.compress().as_bytes()).unwrap_err(), refused, "of small order");
        if number > 0 {
            assert_eq!(with((good + small).compress().as_bytes()).unwrap_err(), refused, "of mixed order");
        }
    }
    // y = 1 written as 1 + p, and the identity with a sign.
    let mut past = [0xff; 32];
    (past[0], past[31]) = (0xee, 0x7f);
    assert_eq!(with(&past).unwrap_err(), SigningError::WireKey);
    let mut minus = [0; 32];
    (minus[0], minus[31]) = (1, 0x80);
    assert_eq!(with(&minus).unwrap_err(), SigningError::WireKey);
    for at in 0..12 {
        let mut changed = spki;
        changed[at] ^= 1;
        assert_eq!(ed::VerifyingKey::from_spki_der(&changed).unwrap_err(), SigningError::WireKey);
    }
    assert_eq!(with(&[]).unwrap_err(), SigningError::WireKey);
    assert_eq!(ed::VerifyingKey::from_spki_der(&spki[..43]).unwrap_err(), SigningError::WireKey);
}

#[test]
fn sign_06_ed25519_signatures_have_s_below_the_order() {
    let key = ed_key(1);
    let bytes = key.sign(LABEL, b"hello").to_bytes();
    // s + q, which a lax verifier takes for the same.
    let order = unhex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut twin = bytes;
    let mut carry = 0_u16;
    for (byte, add) in twin[32..].iter_mut().zip(&order) {
        let sum = u16::from(*byte) + u16::from(*add) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0);
    assert_eq!(ed::Signature::from_bytes(&twin), Err(SigningError::WireSignature));
    assert_eq!(ed::Signature::from_bytes(&bytes[..63]), Err(SigningError::WireSignature));
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes;
        changed[bit / 8] ^= 1 << (bit % 8);
        let verdict = ed::Signature::from_bytes(&changed)
            .and_then(|signature| key.verifying_key().verify(LABEL, b"hello", &signature));
        assert!(verdict.is_err(), "bit {bit}");
    }
}

#[test]
fn sign_07_rsa_keys_have_one_form_and_exponent_65537() {
    for size in SIGNING {
        let spki = rsa_key(size).verifying_key().spki_der().to_vec();
        assert_eq!(rsa::VerifyingKey::from_spki_der(&spki).unwrap(), *rsa_key(size).verifying_key());
        let head = spki.len() - size.bytes() - 5;
        let changes = (0..=head).chain(spki.len() - 6..spki.len());
        for at in changes {
            let mut changed = spki.clone();
            changed[at] ^= if at == head { 0x80 } else { 1 };
            let refused = rsa::VerifyingKey::from_spki_der(&changed).unwrap_err();
            assert_eq!(refused, SigningError::WireKey, "byte {at}");
        }
        for wrong in [&spki[..spki.len() - 1], &[&spki[..], &[0]].concat(), &spki[24..], b""] {
            assert_eq!(rsa::VerifyingKey::from_spki_der(wrong).unwrap_err(), SigningError::WireKey);
        }
    }
}

#[test]
fn sign_08_rsa_signatures_are_as_long_as_the_modulus_and_below_it() {
    for size in SIGNING {
        let key = rsa_key(size);
        let bytes = key.sign(LABEL, b"hello").unwrap().as_bytes().to_vec();
        assert_eq!(bytes.len(), size.bytes());
        let verify = |bytes: &[u8]| {
            let signature = rsa::Signature::from_bytes(bytes)?;
            key.verifying_key().verify(LABEL, b"hello", &signature)
        };
        assert_eq!(verify(&bytes), Ok(()));
        for bit in (0..bytes.len() * 8).step_by(7) {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&changed), Err(SigningError::PeerSignature), "bit {bit}");
        }
        assert_eq!(verify(&vec![0xff; size.bytes()]), Err(SigningError::PeerSignature));
        assert_eq!(verify(&vec![0; size.bytes()]), Err(SigningError::PeerSignature));
        assert_eq!(verify(&bytes[1..]), Err(SigningError::WireSignature));
        for other in Size::ALL.iter().filter(|other| **other != size) {
            assert_eq!(verify(&vec![1; other.bytes()]), Err(SigningError::PeerSignature));
        }
    }
}

#[test]
fn keys_survive_pkcs8_and_do_not_print() {
    let key = ed_key(7);
    let der = key.to_pkcs8_der();
    let again = ed::SigningKey::from_pkcs8_der(der.expose()).unwrap();
    assert_eq!(again.verifying_key(), key.verifying_key());
    assert_eq!(format!("{key:?}"), format!("SigningKey({}, ..)", key.verifying_key().member_id()));
    for size in SIGNING {
        let key = rsa_key(size);
        let again = rsa::SigningKey::from_pkcs8_der(key.to_pkcs8_der().unwrap().expose()).unwrap();
        assert_eq!(again.verifying_key(), key.verifying_key());
        assert_eq!(format!("{key:?}"), format!("SigningKey({}, ..)", key.verifying_key().member_id()));
    }
    for kind in ["ed25519.key.der", "ed25519.spki.der", "message"] {
        assert_eq!(rsa::SigningKey::from_pkcs8_der(&vector(kind)).unwrap_err(), SigningError::LocalKey);
    }
    for kind in ["rsa-2048.key.der", "ed25519.spki.der", "message"] {
        assert_eq!(ed::SigningKey::from_pkcs8_der(&vector(kind)).unwrap_err(), SigningError::LocalKey);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_signature_verifies_and_round_trips(seed in 0_u64..1000, message: Vec<u8>) {
        let key = ed_key(seed);
        let signature = key.sign(LABEL, &message);
        prop_assert_eq!(signature, ed_key(seed).sign(LABEL, &message));
        prop_assert_eq!(key.verifying_key().verify(LABEL, &message, &signature), Ok(()));
        prop_assert_eq!(ed::Signature::from_bytes(&signature.to_bytes()), Ok(signature));
        let key = rsa_key(Size::Rsa2048);
        let signature = key.sign(LABEL, &message).unwrap();
        prop_assert_eq!(key.sign(LABEL, &message), Ok(signature.clone()));
        prop_assert_eq!(key.verifying_key().verify(LABEL, &message, &signature), Ok(()));
        prop_assert_eq!(rsa::Signature::from_bytes(signature.as_bytes()), Ok(signature));
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>) {
        prop_assert!(ed::VerifyingKey::from_spki_der(&bytes).is_err());
        prop_assert!(ed::SigningKey::from_pkcs8_der(&bytes).is_err());
        prop_assert!(rsa::VerifyingKey::from_spki_der(&bytes).is_err());
        prop_assert!(rsa::VerifyingKey::historical_from_spki_der(&bytes).is_err());
        prop_assert!(rsa::SigningKey::from_pkcs8_der(&bytes).is_err());
        let _ = ed::Signature::from_bytes(&bytes);
        let _ = rsa::Signature::from_bytes(&bytes);
    }
}
