//! The promise of the groups: a field, a group of prime order over it, and one encoding of each
//! value.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use folkmoot_base::{Entropy, MemberId, digest};
use folkmoot_groups::{Edwards, P256, PrimeGroup, Ristretto};
use proptest::prelude::*;

struct Seed(u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

fn field_and_group<G: PrimeGroup>(seed: u64) {
    let mut seed = Seed(seed << 32);
    let [a, b, c] = [(); 3].map(|()| G::draw(&mut seed));
    assert!(G::times(a, G::plus(b, c)) == G::plus(G::times(a, b), G::times(a, c)));
    assert!(G::plus(a, G::minus(a)) == G::zero() && G::plus(a, G::zero()) == a);
    assert!(G::times(a, G::inverse(a).unwrap()) == G::one() && G::inverse(G::zero()).is_none());
    let (x, y) = (G::raise_generator(&a), G::raise_generator(&b));
    assert!(x == G::raise(&G::generator(), &a), "the generator is raised as any other");
    assert!(G::raise(&y, &a) == G::raise(&x, &b) && G::raise(&y, &a) == G::raise_generator(&G::times(a, b)));
    assert!(G::add(&x, &y) == G::raise_generator(&G::plus(a, b)));
    assert!(G::add(&x, &G::negate(&x)) == G::identity() && G::add(&x, &G::identity()) == x);
    assert!(G::raise_many(&[(b, x), (c, y)]) == G::add(&G::raise(&x, &b), &G::raise(&y, &c)));
}

fn one_encoding<G: PrimeGroup>(seed: u64, at: usize, bit: u32) {
    let number = G::draw(&mut Seed(seed << 32));
    let (scalar, element) = (G::encode_scalar(&number), G::encode(&G::raise_generator(&number)));
    assert_eq!((scalar.len(), element.len()), (G::SCALAR_BYTES, G::ELEMENT_BYTES));
    assert!(G::decode_scalar(&scalar) == Some(number));
    assert!(G::decode(&element) == Some(G::raise_generator(&number)));
    // A scalar of P-256 and one byte more is as long as an element, and may be one.
    assert!(G::decode_scalar(&[scalar.as_slice(), &[0]].concat()).is_none());
    assert!(G::decode_any(&[element.as_slice(), &[0]].concat()).is_none());
    for bytes in [&scalar, &element] {
        let mut other = bytes.clone();
        other[at % bytes.len()] ^= 1_u8 << bit;
        assert!(G::decode_scalar(&other).is_none_or(|read| G::encode_scalar(&read) == other));
        assert!(G::decode_any(&other).is_none_or(|read| G::encode(&read) == other));
    }
    assert!(G::decode(&G::encode(&G::identity())).is_none());
    assert!(G::decode_scalar(&vec![0xff; G::SCALAR_BYTES]).is_none(), "beyond the order");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn numbers_are_a_field_and_elements_a_group(seed in 0_u64..1000) {
        field_and_group::<P256>(seed);
        field_and_group::<Edwards>(seed);
        field_and_group::<Ristretto>(seed);
    }

    #[test]
    fn every_value_has_one_encoding(seed in 0_u64..1000, at in 0_usize..64, bit in 0_u32..8) {
        one_encoding::<P256>(seed, at, bit);
        one_encoding::<Edwards>(seed, at, bit);
        one_encoding::<Ristretto>(seed, at, bit);
    }
}

#[test]
fn the_identity_is_decoded_where_it_is_asked_for_alone() {
    let encoded = Edwards::encode(&Edwards::identity());
    assert!(Edwards::decode_any(&encoded) == Some(Edwards::identity()));
    assert!(Ristretto::decode_any(&[0; 32]) == Some(Ristretto::identity()));
    assert!(P256::decode_any(&[0; 33]).is_none());
}

#[test]
fn points_of_small_order_and_other_forms_are_no_elements() {
    let mut order_two = [0xff; 32];
    (order_two[0], order_two[31]) = (0xec, 0x7f);
    assert!(Edwards::decode_any(&order_two).is_none());
    assert!(Edwards::decode_any(&[0; 32]).is_none(), "of order four");
    let mut identity_again = [0xff; 32];
    (identity_again[0], identity_again[31]) = (0xee, 0x7f);
    assert!(Edwards::decode_any(&identity_again).is_none(), "not the shortest form");
    let mut compact = P256::encode(&P256::generator());
    compact[0] = 5;
    assert!(P256::decode_any(&compact).is_none());
}

/// SHA-512 of label and encoding, reduced: another number for each label.
#[test]
fn elements_are_mapped_to_numbers_by_label() {
    use sha2::{Digest as _, Sha512};
    let element = Ristretto::generator();
    let [one, two] = [b"folkmoot one v1", b"folkmoot two v1"].map(|label| {
        let wide = Sha512::new().chain_update(label).chain_update(Ristretto::encode(&element)).finalize();
        assert!(Ristretto::to_scalar(label, &element) == Ristretto::from_wide(&wide.into()));
        Ristretto::to_scalar(label, &element)
    });
    assert!(one != two);
    let member = MemberId([7; 32]);
    let wide = Sha512::digest([b"folkmoot share place v1\0p256\0".as_slice(), &member.0].concat());
    assert!(P256::place(&member) == P256::from_wide(&wide.into()));
}
