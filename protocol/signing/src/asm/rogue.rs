//! An ECDSA signature proves possession of a key because the key stands in what is signed. Without
//! that, a key made from another's has such a signature too, and signs in the other's name. With
//! it, the same steps come to nothing.

use super::schnorr::{Nonce, challenge};
use super::signature::SIGNATURE_LABEL;
use super::{AsmError, MultiSignature, ProvenKey, Signers};
use crate::base::{Entropy, Secret, digest};
use crate::plain::{Signature, SigningKey, VerifyingKey};
use crate::{P256, PrimeGroup};
use p256::elliptic_curve::point::AffineCoordinates as _;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{ProjectivePoint, Scalar};

const LABEL: &[u8] = b"folkmoot test v1";
const GROUP: &[u8] = b"book club";

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

/// A number below 2^256 modulo q.
fn reduced(bytes: &[u8; 32]) -> Scalar {
    let mut wide = [0; 64];
    wide[32..].copy_from_slice(bytes);
    P256::from_wide(&wide)
}

fn key_of(point: ProjectivePoint, like: &VerifyingKey) -> VerifyingKey {
    let mut spki = like.spki_der()[..26].to_vec();
    spki.extend_from_slice(point.to_affine().to_sec1_point(false).as_bytes());
    VerifyingKey::from_spki_der(&spki).unwrap()
}

/// A key y' = z·G − X, the z, and an ECDSA signature (r, s) under y' over `message`, which was
/// chosen before y'. R = a·G + b·X, where b takes away the part of X that nobody could sign for.
fn rogue(victim: &VerifyingKey, message: &[u8]) -> (VerifyingKey, Scalar, Signature) {
    let x = victim.point().unwrap();
    let (a, b) = (P256::draw(&mut Count(1 << 40)), P256::draw(&mut Count(2 << 40)));
    let point = P256::raise_generator(&a) + x * b;
    let r = reduced(&point.to_affine().x().into());
    let s = -(r * P256::inverse(b).unwrap());
    let h = reduced(&digest(&[message]));
    let z = (s * a - h) * P256::inverse(r).unwrap();
    let bytes = [P256::encode_scalar(&r), P256::encode_scalar(&s)].concat();
    let low = Signature::from_bytes(&bytes);
    let low =
        low.or_else(|_| Signature::from_bytes(&[P256::encode_scalar(&r), P256::encode_scalar(&-s)].concat()));
    (key_of(P256::raise_generator(&z) - x, victim), z, low.unwrap())
}

#[test]
fn asm_12_an_ecdsa_signature_proves_possession_only_of_a_key_that_it_covers() {
    let victim = SigningKey::generate(&mut Count(3 << 40)).verifying_key().clone();
    let (rogue_key, z, signature) = rogue(&victim, b"I have this key");
    // Nobody knows the secret of y', and yet here is its signature.
    assert_eq!(rogue_key.verify_raw(b"I have this key", &signature), Ok(()));
    // Taken for a proof of possession, it lets one holder of z sign for both.
    let proven =
        |key: &VerifyingKey| ProvenKey::of_possession_proven_elsewhere(&key.clone().into(), GROUP).unwrap();
    let signers = Signers::new(vec![proven(&victim), proven(&rogue_key)]).unwrap();
    let subject = signers.subject(LABEL, b"admit mallory");
    let nonce = Nonce::<P256>(Secret::new(P256::draw(&mut Count(4 << 40))));
    let element = nonce.element();
    let answer = nonce.answer(challenge::<P256>(SIGNATURE_LABEL, &subject, &element), &z);
    let forged = MultiSignature::new(element, answer, signers.members());
    let known = |member: &_| signers.key(member).copied();
    assert_eq!(forged.verify(LABEL, b"admit mallory", known), Ok(()));
    assert_eq!(forged.verify(LABEL, b"admit dora", known), Err(AsmError::PeerSignature));
    // What is signed here names its key: the bytes are settled after y', and the signature is over
    // other bytes.
    let named = [b"I have this key ".as_slice(), rogue_key.spki_der()].concat();
    assert!(rogue_key.verify_raw(&named, &signature).is_err());
    let (again, _, signature) = rogue(&victim, &named);
    assert!(again.verify_raw(&named, &signature).is_ok() && again != rogue_key);
    let named = [b"I have this key ".as_slice(), again.spki_der()].concat();
    assert!(again.verify_raw(&named, &signature).is_err());
}
