use super::{Handshake, Key, Resolver, Static};
use crate::Exchange;
use crate::kem::MlKem;
use crate::message::{HYBRID_HELLO_BYTES, NOISE_HELLO_BYTES};
use curve25519_dalek::MontgomeryPoint;
use folkmoot_base::{GroupId, Secret, digest, hmac_sha256};
use ml_kem::DecapsulationKey768;
use snow::types::{Kem, Random};

const FORMS: [(Exchange, usize); 2] =
    [(Exchange::Classical, NOISE_HELLO_BYTES), (Exchange::Hybrid, HYBRID_HELLO_BYTES)];

fn side(exchange: Exchange, initiator: bool, group: u8) -> Handshake {
    let number = if initiator { 10 } else { 20 };
    let (own, seed) = (Static::new([number; 32]), Secret::new([number + 1; 32]));
    Handshake::new(exchange, initiator, &GroupId([group; 32]), &own, seed).unwrap()
}

fn pair(exchange: Exchange, group: u8) -> (Handshake, Handshake) {
    (side(exchange, true, 1), side(exchange, false, group))
}

#[test]
fn both_sides_split_alike_and_a_tampered_reply_can_be_repeated() {
    for (exchange, length) in FORMS {
        let (mut dialler, mut answerer) = pair(exchange, 1);
        let hello = dialler.write(&[]).unwrap();
        assert_eq!(hello.len(), length);
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
}

#[test]
fn another_ring_is_not_understood_and_small_points_are_refused() {
    for (exchange, length) in FORMS {
        let (mut dialler, mut answerer) = pair(exchange, 2);
        answerer.read(&dialler.write(&[]).unwrap()).unwrap();
        assert!(dialler.read(&answerer.write(b"two").unwrap()).is_err());
        let (mut dialler, mut answerer) = pair(exchange, 1);
        let mut small = dialler.write(&[]).unwrap();
        small[..32].fill(0);
        assert_eq!(small.len(), length);
        answerer.read(&small).unwrap();
        assert!(answerer.write(b"two").is_err());
    }
}

/// LINK-23: a hybrid message 1 begins like a classical one. Anyone who answers it as the other form
/// is not understood, in either direction.
#[test]
fn link_23_a_handshake_of_one_form_is_none_of_the_other() {
    let mut hybrid = side(Exchange::Hybrid, true, 1);
    let hello = hybrid.write(&[]).unwrap();
    let mut classical = side(Exchange::Classical, false, 1);
    classical.read(&hello[..NOISE_HELLO_BYTES]).unwrap();
    assert!(hybrid.read(&classical.write(b"two").unwrap()).is_err());
    let mut plain = side(Exchange::Classical, true, 1);
    let hello = plain.write(&[]).unwrap();
    assert!(side(Exchange::Hybrid, false, 1).read(&hello).is_err());
}

/// LINK-23: if any byte of message 1 is altered, the two hashes differ, and the reply does not
/// open.
#[test]
fn link_23_every_byte_of_a_hybrid_hello_counts() {
    let mut dialler = side(Exchange::Hybrid, true, 1);
    let hello = dialler.write(&[]).unwrap();
    for at in 0..hello.len() {
        let mut bad = hello.clone();
        bad[at] ^= 1;
        let mut answerer = side(Exchange::Hybrid, false, 1);
        answerer.read(&bad).unwrap();
        // A key with a coefficient out of range is refused; to any other key the answer does not
        // open.
        let reply = answerer.write(b"two");
        assert!(reply.is_err() || dialler.read(&reply.unwrap()).is_err(), "byte {at}");
    }
}

/// LINK-23: a key whose coefficients are out of range is refused (FIPS 203, 7.2).
#[test]
fn link_23_a_key_out_of_range_is_refused() {
    let mut hello = side(Exchange::Hybrid, true, 1).write(&[]).unwrap();
    hello[32..35].fill(0xff);
    let mut answerer = side(Exchange::Hybrid, false, 1);
    answerer.read(&hello).unwrap();
    assert!(answerer.write(b"two").is_err());
}

/// ML-KEM whose decapsulated secret differs in one bit from the one that was encapsulated.
struct OneBitOff(MlKem);

impl Kem for OneBitOff {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn pub_len(&self) -> usize {
        self.0.pub_len()
    }

    fn ciphertext_len(&self) -> usize {
        self.0.ciphertext_len()
    }

    fn shared_secret_len(&self) -> usize {
        self.0.shared_secret_len()
    }

    fn generate(&mut self, rng: &mut dyn Random) {
        self.0.generate(rng);
    }

    fn pubkey(&self) -> &[u8] {
        self.0.pubkey()
    }

    fn encapsulate(
        &self,
        key: &[u8],
        secret: &mut [u8],
        ciphertext: &mut [u8],
    ) -> Result<(usize, usize), snow::Error> {
        let lengths = self.0.encapsulate(key, secret, ciphertext);
        secret[31] ^= 1;
        lengths
    }

    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> Result<usize, snow::Error> {
        let length = self.0.decapsulate(ciphertext, secret);
        secret[31] ^= 1;
        length
    }
}

fn one_bit_off(initiator: bool) -> Handshake {
    let number = if initiator { 10 } else { 20 };
    let own = Static::new([number; 32]);
    let resolver = Resolver {
        seed: Secret::new([number + 1; 32]),
        kem: |seed| Box::new(OneBitOff(MlKem::new(seed.clone()))),
    };
    Handshake::with_kem(Exchange::Hybrid, initiator, &GroupId([1; 32]), &own, resolver).unwrap()
}

fn keys(mut dialler: Handshake, mut answerer: Handshake) -> Option<(Key, Key)> {
    answerer.read(&dialler.write(&[]).ok()?).ok()?;
    dialler.read(&answerer.write(b"two").ok()?).ok()?;
    answerer.read(&dialler.write(b"three").ok()?).ok()?;
    let (keys, other) = (dialler.split()?, answerer.split()?);
    assert!(keys.0 == other.1 && keys.1 == other.0);
    Some(keys)
}

/// LINK-23: an attacker that knows every X25519 secret but lacks one bit of ML-KEM's reads nothing
/// from the answerer. With everything else the same, another ML-KEM secret gives other keys.
#[test]
fn link_23_the_keys_come_from_both_secrets() {
    let honest = |initiator| side(Exchange::Hybrid, initiator, 1);
    let (one, same) =
        (keys(honest(true), honest(false)).unwrap(), keys(honest(true), honest(false)).unwrap());
    assert!(one.0 == same.0 && one.1 == same.1, "a run is a seed");
    assert!(keys(one_bit_off(true), honest(false)).is_none());
    assert!(keys(honest(true), one_bit_off(false)).is_none());
    let other = keys(one_bit_off(true), one_bit_off(false)).unwrap();
    assert!(one.0 != other.0 && one.1 != other.1);
    let other_x25519 = Handshake::new(
        Exchange::Hybrid,
        false,
        &GroupId([1; 32]),
        &Static::new([99; 32]),
        Secret::new([21; 32]),
    );
    let other = keys(honest(true), other_x25519.unwrap()).unwrap();
    assert!(one.0 != other.0 && one.1 != other.1);
}

/// What the Noise framework (section 5) and its extension say that the keys are, worked out by
/// hand: a chain of HKDF from the hash of the protocol's name over ee, the secret of ML-KEM, es and
/// se.
#[test]
fn link_23_the_keys_are_those_of_the_published_pattern() {
    let draw =
        |seed: u8, number: u64| hmac_sha256(&[seed; 32], &[b"folkmoot link v1 draw", &number.to_be_bytes()]);
    let x25519 = |secret, other| MontgomeryPoint::mul_base_clamped(other).mul_clamped(secret).to_bytes();
    let (e, re, s, rs) = (draw(11, 0), draw(21, 0), [10; 32], [20; 32]);
    let key =
        DecapsulationKey768::from_seed([draw(11, 1), draw(11, 2)].concat().as_slice().try_into().unwrap());
    let drawn = hmac_sha256(&[21; 32], &[b"folkmoot link v1 encapsulate"]);
    let (_, shared) = key.encapsulation_key().encapsulate_deterministic(&drawn.into());
    let hkdf = |chain: [u8; 32], secret: &[u8]| {
        let mixed = hmac_sha256(&chain, &[secret]);
        let first = hmac_sha256(&mixed, &[&[1]]);
        (first, hmac_sha256(&mixed, &[&first, &[2]]))
    };
    let name = digest(&[b"Noise_XXhfs_25519+MLKEM768_AESGCM_SHA256"]);
    let secrets = [x25519(e, re), shared.into(), x25519(e, rs), x25519(s, re)];
    let chain = secrets.iter().fold(name, |chain, secret| hkdf(chain, secret).0);
    let (seal, open) = hkdf(chain, &[]);
    let made = keys(side(Exchange::Hybrid, true, 1), side(Exchange::Hybrid, false, 1)).unwrap();
    assert!(made.0 == Secret::new(seal) && made.1 == Secret::new(open));
}
