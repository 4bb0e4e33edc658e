//! The promise of threshold ECDSA: any 2t − 1 holders make an ordinary signature of the group's
//! key, fewer none, and whoever lies is named.

use crate::common::{Seed, Stuck, member, members, play, run_id};
use crate::kit::{Many, interpolate, joint, named, tell};
use folkmoot_base::{Digest, MemberId, digest};
use folkmoot_signing::sharing::deal;
use folkmoot_signing::ts_dsa::{DsaGroup, Signed, Signing};
use folkmoot_signing::{FaultKind, Incoming, Next, Outgoing, P256, PrimeGroup};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn message() -> Digest {
    digest(&[b"let dave in"])
}

/// A change of a message.
type Lie<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;
/// The messages of one round, by speaker.
type Round = BTreeMap<MemberId, Vec<u8>>;

/// Every round's messages to all, of an honest run.
fn words(many: &Many<P256>, signers: &[MemberId], seed: u64) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    tell(many.sign_hands(signers, message(), seed), seed, |round, speaker, said| {
        rounds.resize(rounds.len().max(round + 1), Round::new());
        rounds[round].insert(speaker, said.to_all.clone());
    });
    rounds
}

fn values(round: &Round) -> Vec<(MemberId, <P256 as folkmoot_signing::PrimeGroup>::Scalar)> {
    round.iter().map(|(hand, word)| (*hand, P256::decode_scalar(&word[2..34]).unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn tsd_01_any_2t_minus_1_holders_sign_and_fewer_do_not(
        threshold in 1_usize..4, spare in 0_u64..3, skip in 0_usize..3, seed in 0_u64..1000, text: Vec<u8>,
    ) {
        let signers = 2 * threshold - 1;
        let many = joint::<P256>(&members(signers as u64 + spare), threshold, seed);
        let key = many.sharing.verifying_key().unwrap();
        let from = skip.min(spare as usize);
        let chosen = &many.sharing.holders()[from..from + signers];
        let signature = many.sign(chosen, digest(&[&text]), seed + 1).signature().unwrap();
        prop_assert_eq!(key.verify_raw(&text, &signature), Ok(()));
        prop_assert!(key.verify_raw(b"another text", &signature).is_err());
        let few = Signing::new(run_id(1), chosen[0], &many.sharing, &many.shares[&chosen[0]], &chosen[..signers - 1], message());
        prop_assert_eq!(few.err().unwrap().kind, FaultKind::LocalSigners);
    }
}

/// One value less than 2t − 1 interpolates to something else, so that what comes out is no
/// signature.
#[test]
fn tsd_01_parts_of_2t_minus_2_make_no_signature() {
    let many = joint::<P256>(&members(5), 3, 1);
    let good = many.sign(&members(5), message(), 2);
    let rounds = words(&many, &members(5), 2);
    let parts = values(&rounds[4]);
    let low = |s| P256::low(s);
    assert_eq!(low(interpolate::<P256>(&parts, P256::zero())), good.s, "the words make the signature");
    for left_out in 0..5 {
        let mut few = parts.clone();
        few.remove(left_out);
        let s = low(interpolate::<P256>(&few, P256::zero()));
        assert_ne!(s, good.s);
        assert!(!Signed::<P256> { r: good.r, s }.verifies(&many.sharing.public(), &message()));
    }
    let products = values(&rounds[3]);
    let whole = interpolate::<P256>(&products, P256::zero());
    assert_ne!(interpolate::<P256>(&products[..4], P256::zero()), whole);
}

#[test]
fn nineteen_sign_where_ten_determine_the_key_and_one_alone() {
    let many = joint::<P256>(&members(20), 10, 1);
    let signature = many.sign(&members(20)[1..], message(), 2).signature().unwrap();
    let key = many.sharing.verifying_key().unwrap();
    assert_eq!(key.verify_raw(b"let dave in", &signature), Ok(()));
    let alone = joint::<P256>(&members(1), 1, 3);
    let signature = alone.sign(&members(1), message(), 4).signature().unwrap();
    assert_eq!(alone.sharing.verifying_key().unwrap().verify_raw(b"let dave in", &signature), Ok(()));
}

#[test]
fn a_newcomers_share_signs_with_old_ones_and_so_do_redistributed_and_dealt_ones() {
    let many = joint::<P256>(&members(3), 2, 1);
    let key = many.sharing.verifying_key().unwrap();
    let newcomer = member(50);
    let more = many.enrol(&members(3)[1..], newcomer, 2);
    let mut signers = vec![newcomer, members(3)[0], members(3)[1]];
    signers.sort();
    let signature = more.sign(&signers, message(), 3).signature().unwrap();
    assert_eq!(key.verify_raw(b"let dave in", &signature), Ok(()));
    let fresh = more.redistribute(&signers[..2], &members(5), 3, 4);
    let signature = fresh.sign(&members(5), message(), 5).signature().unwrap();
    assert_eq!(key.verify_raw(b"let dave in", &signature), Ok(()), "five signers now, the key is the same");
    let secret = P256::draw(&mut crate::common::Seed(9 << 32));
    let (sharing, shares) =
        deal::<P256>(&secret, &members(3), 2, &mut crate::common::Seed(10 << 32)).unwrap();
    let dealt = Many { sharing, shares };
    let signature = dealt.sign(&members(3), message(), 6).signature().unwrap();
    assert_eq!(dealt.sharing.verifying_key().unwrap().verify_raw(b"let dave in", &signature), Ok(()));
}

/// The same digest twice: another k, another signature. k·G is in no message.
#[test]
fn tsd_02_every_run_draws_its_own_k_and_tells_nothing_of_it() {
    let many = joint::<P256>(&members(3), 2, 1);
    let (first, second) = (many.sign(&members(3), message(), 2), many.sign(&members(3), message(), 3));
    assert_ne!(first.r, second.r);
    // k = s / (h + r·x), up to its sign.
    let shares: Vec<_> = members(3).iter().map(|hand| (*hand, many.value(hand))).collect();
    let x = interpolate::<P256>(&shares, P256::zero());
    let signed = P256::plus(P256::message(&message()), P256::times(first.r, x));
    let k = P256::times(first.s, P256::inverse(signed).unwrap());
    let bytes = P256::encode(&P256::raise_generator(&k));
    let rounds = words(&many, &members(3), 2);
    // The sum of the first commitments of k is not k·G either: they are hidden.
    let opened = |word: &Vec<u8>, at: usize| P256::decode(&word[34 + 33 * at..67 + 33 * at]).unwrap();
    let sum = |at| rounds[1].values().map(|word| opened(word, at)).reduce(|a, b| P256::add(&a, &b)).unwrap();
    for at in 0..4 {
        assert_ne!(P256::encode(&sum(at))[1..], bytes[1..], "commitment {at}");
    }
    for word in rounds.iter().flat_map(BTreeMap::values) {
        assert!(!word.windows(32).any(|window| window == &bytes[1..]));
    }
}

#[test]
fn tsd_03_signers_agree_on_digest_and_epoch() {
    let many = joint::<P256>(&members(3), 2, 1);
    let mut hands = many.sign_hands(&members(3), message(), 2);
    let liar = members(3)[1];
    let other = many.sign_hands(&members(3), digest(&[b"let mallory in"]), 2).remove(&liar).unwrap();
    hands.insert(liar, other);
    named(&play(hands, 2), liar, 3, FaultKind::PeerReveal);
    let fresh = many.redistribute(&members(3)[..2], &members(3), 2, 3);
    let mut hands = fresh.sign_hands(&members(3), message(), 2);
    hands.insert(liar, many.sign_hands(&members(3), message(), 2).remove(&liar).unwrap());
    named(&play(hands, 2), liar, 3, FaultKind::PeerReveal);
}

/// Every byte of both proven messages, changed in every way that keeps its form: all name the
/// speaker.
#[test]
fn tsd_04_a_false_product_or_part_names_its_maker() {
    let many = joint::<P256>(&members(3), 2, 1);
    let honest = words(&many, &members(3), 2);
    let again = words(&many, &members(3), 3);
    for liar in [members(3)[0], members(3)[2]] {
        let other = members(3).into_iter().find(|hand| *hand != liar).unwrap();
        for round in [3, 4] {
            let mut lies: Vec<Lie<'_>> = vec![
                Box::new(|word| *word = honest[round][&other].clone()),
                Box::new(|word| *word = again[round][&liar].clone()),
                Box::new(|word| {
                    let last = word[1];
                    *word = honest[7 - round][&liar].clone();
                    word[1] = last;
                }),
                // Another value with the old proof.
                Box::new(|word| {
                    let value = P256::decode_scalar(&word[2..34]).unwrap();
                    word[2..34].copy_from_slice(&P256::encode_scalar(&P256::plus(value, P256::one())));
                }),
            ];
            for at in 0..6 {
                lies.push(Box::new(move |word| word[2 + 32 * at + 31] ^= 1));
            }
            for lie in lies {
                let ends = tell(
                    many.sign_hands(&members(3), message(), 2),
                    2,
                    |now, speaker, said: &mut Outgoing| {
                        if (now, speaker) == (round, liar) {
                            lie(&mut said.to_all);
                        }
                    },
                );
                named(&ends, liar, 3, FaultKind::PeerPart);
            }
            for length in [0, 193, 195] {
                let ends = tell(
                    many.sign_hands(&members(3), message(), 2),
                    2,
                    |now, speaker, said: &mut Outgoing| {
                        if (now, speaker) == (round, liar) {
                            said.to_all.resize(length, 0);
                        }
                    },
                );
                named(&ends, liar, 3, FaultKind::PeerMalformed);
            }
        }
    }
}

/// Lies in the dealing: a false private number is answered rightly and the signature is made;
/// answered falsely, its dealer is named.
#[test]
fn tsd_05_lies_in_the_dealing_are_settled_or_named() {
    let many = joint::<P256>(&members(5), 3, 1);
    let (liar, victim) = (members(5)[2], members(5)[4]);
    for number in 0..7 {
        let private = |said: &mut Outgoing| {
            let mut word = said.to_each[&victim].expose().clone();
            word[2 + 32 * number + 31] ^= 1;
            said.to_each.insert(victim, folkmoot_base::Secret::new(word));
        };
        let ends =
            tell(many.sign_hands(&members(5), message(), 2), 2, |round, speaker, said: &mut Outgoing| {
                if (round, speaker) == (1, liar) {
                    private(said);
                }
            });
        assert!(ends.values().all(|end| end.as_ref().unwrap().verifies(&many.sharing.public(), &message())));
        assert_eq!(ends.len(), 5);
        let ends =
            tell(many.sign_hands(&members(5), message(), 2), 2, |round, speaker, said: &mut Outgoing| {
                if (round, speaker) == (1, liar) {
                    private(said);
                }
                if (round, speaker) == (3, liar) {
                    said.to_all[2 + 32 * number + 31] ^= 1;
                }
            });
        named(&ends, liar, 5, FaultKind::PeerShare);
    }
    let ends = tell(many.sign_hands(&members(5), message(), 2), 2, |round, speaker, said: &mut Outgoing| {
        if (round, speaker) == (1, liar) {
            *said.to_all.last_mut().unwrap() ^= 1;
        }
    });
    named(&ends, liar, 5, FaultKind::PeerReveal);
}

/// P-256 in which nothing stands behind what a signer draws.
#[derive(Debug, Clone, Copy)]
struct Bare;

impl PrimeGroup for Bare {
    type Scalar = <P256 as PrimeGroup>::Scalar;
    type Element = <P256 as PrimeGroup>::Element;
    const SCALAR_BYTES: usize = P256::SCALAR_BYTES;
    const ELEMENT_BYTES: usize = P256::ELEMENT_BYTES;
    const NAME: &'static [u8] = P256::NAME;

    fn plus(left: Self::Scalar, right: Self::Scalar) -> Self::Scalar {
        P256::plus(left, right)
    }
    fn minus(scalar: Self::Scalar) -> Self::Scalar {
        P256::minus(scalar)
    }
    fn times(left: Self::Scalar, right: Self::Scalar) -> Self::Scalar {
        P256::times(left, right)
    }
    fn inverse(scalar: Self::Scalar) -> Option<Self::Scalar> {
        P256::inverse(scalar)
    }
    fn zero() -> Self::Scalar {
        P256::zero()
    }
    fn one() -> Self::Scalar {
        P256::one()
    }
    fn from_wide(bytes: &[u8; 64]) -> Self::Scalar {
        P256::from_wide(bytes)
    }
    fn encode_scalar(scalar: &Self::Scalar) -> Vec<u8> {
        P256::encode_scalar(scalar)
    }
    fn decode_scalar(bytes: &[u8]) -> Option<Self::Scalar> {
        P256::decode_scalar(bytes)
    }
    fn generator() -> Self::Element {
        P256::generator()
    }
    fn raise(element: &Self::Element, scalar: &Self::Scalar) -> Self::Element {
        P256::raise(element, scalar)
    }
    fn add(left: &Self::Element, right: &Self::Element) -> Self::Element {
        P256::add(left, right)
    }
    fn negate(element: &Self::Element) -> Self::Element {
        P256::negate(element)
    }
    fn identity() -> Self::Element {
        P256::identity()
    }
    fn encode(element: &Self::Element) -> Vec<u8> {
        P256::encode(element)
    }
    fn decode_any(bytes: &[u8]) -> Option<Self::Element> {
        P256::decode_any(bytes)
    }
}

impl DsaGroup for Bare {
    const HEDGES: bool = false;

    fn number(element: &Self::Element) -> Self::Scalar {
        P256::number(element)
    }
    fn message(digest: &Digest) -> Self::Scalar {
        P256::message(digest)
    }
    fn low(s: Self::Scalar) -> Self::Scalar {
        P256::low(s)
    }
}

/// What the first signer commits to when its entropy is stuck: its commitments to k, a, b and c.
fn opened_by_stuck<G: DsaGroup>(many: &Many<G>, digest: Digest, run: u64) -> Vec<u8> {
    let signers = members(3);
    let mut hands = many.sign_hands(&signers, digest, run);
    let mut to_all = BTreeMap::new();
    for (number, (hand, run)) in hands.iter_mut().enumerate() {
        let said = if number == 0 { run.start(&mut Stuck) } else { run.start(&mut Seed(number as u64)) };
        let Next::Say(said) = said else { panic!("a run says something first") };
        to_all.insert(*hand, said.to_all);
    }
    let first = hands.get_mut(&signers[0]).unwrap();
    let Next::Say(said) = first.hear(Incoming { to_all, ..Incoming::default() }, &mut Stuck).unwrap() else {
        panic!("it opens")
    };
    // After version, kind and nonce: one commitment of k.
    said.to_all[34..34 + G::ELEMENT_BYTES].to_vec()
}

/// Whatever the entropy, another digest, run or share has another k. Without the share behind it
/// the k is the same, and whoever knows the entropy knows it.
#[test]
fn tsd_06_entropy_that_repeats_repeats_no_nonce() {
    let (many, other) = (joint::<P256>(&members(3), 2, 1), joint::<P256>(&members(3), 2, 2));
    let opened = opened_by_stuck(&many, message(), 2);
    assert_ne!(opened, opened_by_stuck(&many, digest(&[b"another"]), 2));
    assert_ne!(opened, opened_by_stuck(&many, message(), 3));
    assert_ne!(opened, opened_by_stuck(&other, message(), 2));
    let (bare, other) = (joint::<Bare>(&members(3), 2, 1), joint::<Bare>(&members(3), 2, 2));
    let opened = opened_by_stuck(&bare, message(), 2);
    assert_eq!(opened, opened_by_stuck(&bare, digest(&[b"another"]), 2));
    assert_eq!(opened, opened_by_stuck(&other, message(), 3));
}
