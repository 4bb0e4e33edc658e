//! A member's key of any algorithm, through the one interface that all layers use.

use crate::common::Seed;
use folkmoot_base::codec::{DeserializeBytes as _, Serialize as _};
use folkmoot_base::{Algorithm, SignatureBytes};
use folkmoot_signing::{KeyAlgorithm, KeyKind, Signature, SigningError, SigningKey, VerifyingKey, plain_rsa};
use std::sync::LazyLock;

const LABEL: &[u8] = b"folkmoot test v1";

/// One key of each algorithm, in the order of [`KeyAlgorithm::ALL`].
static KEYS: LazyLock<Vec<SigningKey>> = LazyLock::new(|| {
    let draw = |(seed, one): (u64, &KeyAlgorithm)| SigningKey::draw(*one, &mut Seed(seed << 32)).unwrap();
    (1..).zip(KeyAlgorithm::ALL).map(draw).collect()
});

#[test]
fn a_key_of_each_algorithm_signs_and_is_read_back() {
    for (key, algorithm) in KEYS.iter().zip(KeyAlgorithm::ALL) {
        let public = key.verifying_key();
        assert_eq!(public.algorithm(), *algorithm);
        assert_eq!(KeyAlgorithm::from_name(algorithm.name()), Some(*algorithm));
        assert_eq!(VerifyingKey::from_spki_der(public.spki_der()).unwrap(), *public);
        assert_eq!(public.member_id().0, folkmoot_base::digest(&[public.spki_der()]));
        let again = SigningKey::from_pkcs8_der(key.to_pkcs8_der().unwrap().expose()).unwrap();
        assert_eq!(again.verifying_key(), public);
        let signature = key.sign(LABEL, b"hello");
        assert_eq!(again.sign(LABEL, b"hello"), signature, "one message has one signature");
        assert_eq!(public.verify(LABEL, b"hello", &signature), Ok(()));
        assert_eq!(public.verify(LABEL, b"hallo", &signature), Err(SigningError::PeerSignature));
        assert_eq!(public.verify_raw(b"hello", &signature), Err(SigningError::PeerSignature));
        assert_eq!(Signature::from_paper(public.kind(), &signature.to_paper()).unwrap(), signature);
        let wire = signature.tls_serialize_detached().unwrap();
        assert_eq!(wire.len(), 3 + algorithm.signature_bytes());
        assert_eq!(Signature::tls_deserialize_exact_bytes(&wire).unwrap(), signature);
        let shown = format!("{key:?}");
        assert_eq!(shown, format!("SigningKey({}, ..)", public.member_id()), "no secret is shown");
    }
}

#[test]
fn an_rsa_key_follows_from_its_entropy() {
    let again = SigningKey::draw(KeyAlgorithm::Rsa2048, &mut Seed(3 << 32)).unwrap();
    assert_eq!(again.verifying_key(), KEYS[2].verifying_key());
    let other = SigningKey::draw(KeyAlgorithm::Rsa2048, &mut Seed(9 << 32)).unwrap();
    assert_ne!(other.verifying_key(), KEYS[2].verifying_key());
    let old = plain_rsa::SigningKey::draw(plain_rsa::Size::Historical1024, &mut Seed(1)).unwrap_err();
    assert_eq!(old, SigningError::LocalKey, "1024 bits sign nothing new");
}

#[test]
fn sign_09_a_signature_of_another_algorithm_than_the_keys_is_refused() {
    for (at, key) in KEYS.iter().enumerate() {
        let signature = key.sign_wire(LABEL, b"hello");
        for (other, judge) in KEYS.iter().enumerate() {
            let verdict = judge.verifying_key().verify_wire(LABEL, b"hello", &signature);
            assert_eq!(verdict.is_ok(), at == other, "{at} {other}");
        }
        // The same bytes, said to be of another algorithm.
        for algorithm in [Algorithm::P256, Algorithm::Ed25519, Algorithm::Rsa] {
            if algorithm != signature.algorithm {
                let lie = SignatureBytes { algorithm, bytes: signature.bytes.clone() };
                assert!(key.verifying_key().verify_wire(LABEL, b"hello", &lie).is_err(), "{algorithm:?}");
            }
        }
    }
    let short = SignatureBytes { algorithm: Algorithm::Rsa, bytes: vec![1; 128].into() };
    assert_eq!(Signature::from_wire(&short), Err(SigningError::WireSignature), "1024 bits");
    assert_eq!(Signature::from_paper(KeyKind::Rsa, &[1; 128]), Err(SigningError::WireSignature));
}

#[test]
fn sign_09_a_key_of_another_length_or_algorithm_is_none() {
    for key in KEYS.iter() {
        let spki = key.verifying_key().spki_der();
        assert_eq!(VerifyingKey::from_spki_der(&spki[1..]).unwrap_err(), SigningError::WireKey);
        assert_eq!(VerifyingKey::from_spki_der(&[spki, &[0]].concat()).unwrap_err(), SigningError::WireKey);
        let der = key.to_pkcs8_der().unwrap();
        assert!(SigningKey::from_pkcs8_der(&der.expose()[1..]).is_err());
    }
}
