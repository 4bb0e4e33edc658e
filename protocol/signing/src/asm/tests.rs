//! The toy vector of admission's facts: p = 607, q = 101, g = 64. Everything generic here runs over
//! this group too.

use super::schnorr::{Nonce, fits};
use super::{KeyAnnouncement, MultiSignature, ProvenKey, SecretKey, Signers, Signing};
use crate::base::{Entropy, MemberId, Secret, digest};
use crate::{Incoming, Next, PrimeGroup, Run, RunId};
use std::collections::BTreeMap;

const P: u32 = 607;
const Q: u32 = 101;
const G: u32 = 64;

/// The subgroup of order 101 modulo 607, written additively like every group here.
#[derive(Debug, Clone, Copy)]
struct Toy;

fn power(base: u32, exponent: u32) -> u32 {
    (0..exponent).fold(1, |product, _| product * base % P)
}

impl PrimeGroup for Toy {
    type Scalar = u32;
    type Element = u32;
    const SCALAR_BYTES: usize = 1;
    const ELEMENT_BYTES: usize = 2;
    const NAME: &'static [u8] = b"toy";

    fn plus(left: u32, right: u32) -> u32 {
        (left + right) % Q
    }

    fn minus(scalar: u32) -> u32 {
        (Q - scalar) % Q
    }

    fn times(left: u32, right: u32) -> u32 {
        left * right % Q
    }

    fn inverse(scalar: u32) -> Option<u32> {
        (1..Q).find(|other| scalar * other % Q == 1)
    }

    fn zero() -> u32 {
        0
    }

    fn one() -> u32 {
        1
    }

    fn from_wide(bytes: &[u8; 64]) -> u32 {
        modulo_q(bytes)
    }

    fn encode_scalar(scalar: &u32) -> Vec<u8> {
        vec![*scalar as u8]
    }

    fn decode_scalar(bytes: &[u8]) -> Option<u32> {
        let [byte] = bytes else { return None };
        Some(u32::from(*byte)).filter(|scalar| *scalar < Q)
    }

    fn generator() -> u32 {
        G
    }

    fn raise(element: &u32, scalar: &u32) -> u32 {
        power(*element, *scalar)
    }

    fn add(left: &u32, right: &u32) -> u32 {
        left * right % P
    }

    fn negate(element: &u32) -> u32 {
        power(*element, Q - 1)
    }

    fn identity() -> u32 {
        1
    }

    fn encode(element: &u32) -> Vec<u8> {
        (*element as u16).to_be_bytes().to_vec()
    }

    fn decode_any(bytes: &[u8]) -> Option<u32> {
        let element = u32::from(u16::from_be_bytes(bytes.try_into().ok()?));
        (element > 1 && element < P && power(element, Q) == 1).then_some(element)
    }
}

fn modulo_q(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % Q)
}

#[test]
fn toy_vector_of_the_published_signature() {
    let secrets = [11, 22, 33];
    let keys = secrets.map(|x| Toy::raise_generator(&x));
    assert_eq!(keys, [222, 117, 480]);
    let nonces = [5, 6, 7].map(|r| Nonce::<Toy>(Secret::new(r)));
    let elements = [nonces[0].element(), nonces[1].element(), nonces[2].element()];
    assert_eq!(elements, [100, 330, 482]);
    let sum = elements.iter().fold(Toy::identity(), |sum, element| Toy::add(&sum, element));
    let key = keys.iter().fold(Toy::identity(), |sum, key| Toy::add(&sum, key));
    assert_eq!((sum, key), (172, 347));
    let challenge = modulo_q(&digest(&[&Toy::encode(&sum), b"JOIN_REQ", &[1, 2, 3]]));
    assert_eq!(challenge, 82);
    let mut answers = Vec::new();
    for (nonce, secret) in nonces.into_iter().zip(&secrets) {
        answers.push(nonce.answer(challenge, secret));
    }
    assert_eq!(answers, [99, 93, 87]);
    for ((element, key), answer) in elements.iter().zip(&keys).zip(&answers) {
        assert!(fits::<Toy>(element, key, challenge, *answer));
        assert!(!fits::<Toy>(element, key, challenge, Toy::plus(*answer, 1)));
    }
    let answer = answers.iter().fold(0, |all, answer| Toy::plus(all, *answer));
    assert_eq!(answer, 77);
    assert_eq!(power(64, 77), 172 * power(347, 82) % P);
    assert!(fits::<Toy>(&sum, &key, challenge, answer));
}

/// Bytes that count up.
struct Count(u64);

impl Entropy for Count {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

/// The three of the vector, their keys announced and checked.
fn toy_keys() -> Vec<(SecretKey<Toy>, ProvenKey<Toy>)> {
    let known = |x: u8| {
        let secret = SecretKey::<Toy>::decode(&[1, x]).unwrap();
        let member = MemberId([x; 32]);
        let announced = secret.announce(member, b"toy group", &mut Count(u64::from(x) << 32)).encode();
        assert_eq!(announced.len(), KeyAnnouncement::<Toy>::BYTES);
        let proven = KeyAnnouncement::decode(&announced).unwrap().check(member, b"toy group").unwrap();
        (secret, proven)
    };
    [11, 22, 33].map(known).into()
}

#[test]
fn a_whole_run_over_the_toy_group() {
    let holders = toy_keys();
    let signers = Signers::new(holders.iter().map(|(_, proven)| *proven).collect()).unwrap();
    let start = |(number, (secret, proven)): (usize, &(SecretKey<Toy>, ProvenKey<Toy>))| {
        let (run, me) = (RunId([7; 32]), proven.member());
        let mut run =
            Signing::new(run, me, secret, signers.clone(), b"folkmoot toy v1", b"JOIN_REQ").unwrap();
        let said = run.start(&mut Count((number as u64 + 50) << 32));
        (run, said)
    };
    let (mut runs, mut said): (Vec<_>, Vec<_>) = holders.iter().enumerate().map(start).unzip();
    for _ in 0..3 {
        let to_all: BTreeMap<MemberId, Vec<u8>> = said
            .iter()
            .zip(signers.members())
            .map(|(said, member)| match said {
                Next::Say(said) => (member, said.to_all.clone()),
                Next::Done(_) => panic!("three rounds"),
            })
            .collect();
        let heard = || Incoming { to_all: to_all.clone(), to_me: BTreeMap::new() };
        said = runs.iter_mut().map(|run| run.hear(heard(), &mut Count(0)).unwrap()).collect();
    }
    let key_of = |member: &MemberId| holders.iter().map(|(_, key)| *key).find(|key| key.member() == *member);
    for said in said {
        let Next::Done(signature) = said else { panic!("three rounds") };
        assert_eq!(signature.verify(b"folkmoot toy v1", b"JOIN_REQ", key_of), Ok(()));
        assert_eq!(MultiSignature::decode(&signature.encode()).unwrap(), signature);
        assert_eq!(signature.encode().len(), 1 + 2 + 1 + 2 + 3 * 32);
    }
}

#[test]
fn toy_keys_that_cancel_out_are_refused() {
    let proven = |x: u8| {
        let secret = SecretKey::<Toy>::decode(&[1, x]).unwrap();
        let member = MemberId([x; 32]);
        secret
            .announce(member, b"toy group", &mut Count(u64::from(x) << 32))
            .check(member, b"toy group")
            .unwrap()
    };
    assert!(Signers::new(vec![proven(11), proven(90)]).is_err());
    assert!(Signers::new(vec![proven(11), proven(89)]).is_ok());
    for secret in [&[1, 0][..], &[1, 101], &[0, 11], &[1], &[], &[1, 11, 0]] {
        assert!(SecretKey::<Toy>::decode(secret).is_err(), "{secret:?}");
    }
}
