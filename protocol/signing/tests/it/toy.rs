//! The worked example of the published scheme, bit for bit: p = 607, q = 101, g = 64, three signers
//! at the places 1, 2, 3.

use crate::common::{Seed, run_id};
use crate::kit::{interpolate, value};
use folkmoot_base::{Digest, Entropy, MemberId};
use folkmoot_signing::sharing::{Share, deal};
use folkmoot_signing::ts_dsa::{DsaGroup, Signed, Signing};
use folkmoot_signing::{Incoming, Next, Outgoing, PrimeGroup, Run};
use std::collections::{BTreeMap, VecDeque};

const P: u64 = 607;
const Q: u64 = 101;

fn power(base: u64, exponent: u64) -> u64 {
    (0..exponent).fold(1, |product, _| product * base % P)
}

/// The numbers modulo 607 whose 101st power is 1.
#[derive(Debug, Clone, Copy)]
struct Toy;

impl PrimeGroup for Toy {
    type Scalar = u64;
    type Element = u64;
    const SCALAR_BYTES: usize = 1;
    const ELEMENT_BYTES: usize = 2;
    const NAME: &'static [u8] = b"toy";

    fn plus(left: u64, right: u64) -> u64 {
        (left + right) % Q
    }
    fn minus(scalar: u64) -> u64 {
        (Q - scalar) % Q
    }
    fn times(left: u64, right: u64) -> u64 {
        left * right % Q
    }
    fn inverse(scalar: u64) -> Option<u64> {
        (1..Q).find(|other| scalar * other % Q == 1)
    }
    fn zero() -> u64 {
        0
    }
    fn one() -> u64 {
        1
    }
    fn from_wide(bytes: &[u8; 64]) -> u64 {
        bytes.iter().fold(0, |number, byte| (number * 256 + u64::from(*byte)) % Q)
    }
    fn place(member: &MemberId) -> u64 {
        u64::from(member.0[31])
    }
    fn encode_scalar(scalar: &u64) -> Vec<u8> {
        vec![*scalar as u8]
    }
    fn decode_scalar(bytes: &[u8]) -> Option<u64> {
        let [byte] = bytes else { return None };
        Some(u64::from(*byte)).filter(|scalar| *scalar < Q)
    }
    fn generator() -> u64 {
        64
    }
    fn raise(element: &u64, scalar: &u64) -> u64 {
        power(*element, *scalar)
    }
    fn add(left: &u64, right: &u64) -> u64 {
        left * right % P
    }
    fn negate(element: &u64) -> u64 {
        power(*element, Q - 1)
    }
    fn identity() -> u64 {
        1
    }
    fn encode(element: &u64) -> Vec<u8> {
        (*element as u16).to_be_bytes().to_vec()
    }
    fn decode_any(bytes: &[u8]) -> Option<u64> {
        let element = u64::from(u16::from_be_bytes(bytes.try_into().ok()?));
        (element > 0 && element < P && power(element, Q) == 1).then_some(element)
    }
}

impl DsaGroup for Toy {
    const HEDGES: bool = false;

    fn number(element: &u64) -> u64 {
        element % Q
    }
    fn message(digest: &Digest) -> u64 {
        u64::from(digest[31]) % Q
    }
    fn low(s: u64) -> u64 {
        s
    }
}

/// The first numbers that are drawn, then others.
struct Script(VecDeque<u64>, Seed);

impl Entropy for Script {
    fn fill(&mut self, out: &mut [u8]) {
        match self.0.pop_front().filter(|_| out.len() == 64) {
            Some(number) => {
                out.fill(0);
                out[63] = number as u8;
            }
            None => self.1.fill(out),
        }
    }
}

fn hand(place: u8) -> MemberId {
    let mut id = [0; 32];
    id[31] = place;
    MemberId(id)
}

fn hands() -> [MemberId; 3] {
    [1, 2, 3].map(hand)
}

/// 57 + 33z, dealt.
fn dealt() -> (folkmoot_signing::sharing::Sharing<Toy>, BTreeMap<MemberId, Share<Toy>>) {
    deal::<Toy>(&57, &hands(), 2, &mut Script([33].into(), Seed(1))).unwrap()
}

/// What one signer draws of each polynomial: k 29 + 71z, a 83 + 12z, b 45z + 9z², c 77z + 18z². The
/// first two draw these, the third the rest.
const FIRST: [u64; 8] = [10, 20, 30, 40, 50, 60, 70, 80];
const SECOND: [u64; 8] = [3, 5, 7, 11, 13, 17, 19, 23];
const WHOLE: [u64; 8] = [29, 71, 83, 12, 45, 9, 77, 18];

/// Plays a signature and gives every round's messages, and the end.
fn play() -> (Vec<BTreeMap<MemberId, Vec<u8>>>, Signed<Toy>) {
    let (sharing, shares) = dealt();
    let mut digest = [0; 32];
    digest[31] = 66;
    let third: Vec<u64> = (0..8).map(|at| (WHOLE[at] + 2 * Q - FIRST[at] - SECOND[at]) % Q).collect();
    assert!(third.iter().all(|number| *number != 0));
    let drawn = [FIRST.to_vec(), SECOND.to_vec(), third];
    let mut runs: Vec<Signing<Toy>> = hands()
        .iter()
        .map(|me| Signing::new(run_id(1), *me, &sharing, &shares[me], &hands(), digest).unwrap())
        .collect();
    let mut next: Vec<Outgoing> = Vec::new();
    for (number, run) in runs.iter_mut().enumerate() {
        let mut script = Script(drawn[number].clone().into(), Seed((number as u64) << 32));
        let Next::Say(said) = run.start(&mut script) else { panic!("a run says something first") };
        next.push(said);
    }
    let mut rounds = Vec::new();
    loop {
        let to_all: BTreeMap<_, _> =
            hands().into_iter().zip(next.iter().map(|said| said.to_all.clone())).collect();
        let mut ends = Vec::new();
        let mut say = Vec::new();
        for (number, run) in runs.iter_mut().enumerate() {
            let to_me = hands().into_iter().zip(&next);
            let to_me =
                to_me.filter_map(|(from, said)| Some((from, said.to_each.get(&hands()[number])?.clone())));
            let heard = Incoming { to_all: to_all.clone(), to_me: to_me.collect() };
            match run.hear(heard, &mut Seed(((rounds.len() as u64) << 40) + ((number as u64) << 32))).unwrap()
            {
                Next::Say(said) => say.push(said),
                Next::Done(done) => ends.push(done),
            }
        }
        rounds.push(to_all);
        if let [first, second, third] = ends[..] {
            assert!(first == second && second == third);
            return (rounds, first);
        }
        next = say;
    }
}

#[test]
fn shares_and_keys_are_the_published_ones() {
    let (sharing, shares) = dealt();
    assert_eq!(hands().map(|hand| value(&shares[&hand])), [90, 22, 55]);
    assert_eq!(sharing.public(), 212);
    assert_eq!(power(64, 57), 212);
}

#[test]
fn a_signature_is_the_published_one_word_for_word() {
    let (rounds, signed) = play();
    assert_eq!(rounds.len(), 5, "commit, open, accuse, product, part");
    let numbers = |round: usize| hands().map(|hand| u64::from(rounds[round][&hand][2]));
    assert_eq!(numbers(3), [60, 41, 27], "v");
    assert_eq!(numbers(4), [79, 29, 4], "s");
    assert_eq!((signed.r, signed.s), (78, 53));
    let (sharing, _) = dealt();
    let mut digest = [0; 32];
    digest[31] = 66;
    assert!(signed.verifies(&sharing.public(), &digest));
    for s in (0..Q).filter(|s| *s != 53) {
        assert!(!Signed::<Toy> { r: 78, s }.verifies(&212, &digest));
    }
}

#[test]
fn what_lies_between_is_the_published_too() {
    let (rounds, _) = play();
    let at = |numbers: [u64; 3]| -> Vec<(MemberId, u64)> { hands().into_iter().zip(numbers).collect() };
    // w_i, from the commitments to a that were opened: after 32 bytes and two hidden commitments.
    let commitment = |hand: &MemberId, which: usize| {
        let from = 34 + 2 * (2 + which);
        Toy::decode(&rounds[1][hand][from..from + 2]).unwrap()
    };
    let sum = |which| hands().iter().fold(1, |sum, hand| Toy::add(&sum, &commitment(hand, which)));
    let w: Vec<u64> = (1..=3).map(|place| Toy::add(&sum(0), &power(sum(1), place))).collect();
    assert_eq!(w, [252, 330, 172]);
    assert_eq!(sum(0), 60, "β = a times the generator");
    let lambdas = hands().map(|hand| crate::kit::lambda::<Toy>(&hand, &hands()[..2], 0));
    assert_eq!(Toy::add(&power(252, lambdas[0]), &power(330, lambdas[1])), 60, "the same by interpolation");
    assert_eq!(interpolate::<Toy>(&at([60, 41, 27]), 0), 84, "μ = k·a");
    assert_eq!(29 * 83 % Q, 84);
    assert_eq!(interpolate::<Toy>(&at([60, 41, 27])[..2], 0), 79, "two values are not enough");
    let inverse = Toy::inverse(84).unwrap();
    assert_eq!(power(60, inverse) % Q, 78);
    assert_eq!(interpolate::<Toy>(&at([79, 29, 4]), 0), 53);
    for (polynomial, shares) in [
        ([29, 71, 0], [100, 70, 40]),
        ([83, 12, 0], [95, 6, 18]),
        ([0, 45, 9], [54, 25, 14]),
        ([0, 77, 18], [95, 24, 90]),
    ] {
        let share = |z: u64| (polynomial[0] + polynomial[1] * z + polynomial[2] * z * z) % Q;
        assert_eq!([1, 2, 3].map(share), shares);
    }
}

/// How often each k comes out when these of five holders sign one digest, each run with randomness
/// of its own. With `fixed`, all draw the same for the first polynomial.
fn counted(chosen: &[MemberId], runs: u64, salt: u64, fixed: bool) -> BTreeMap<u64, f64> {
    let five: Vec<MemberId> = (1..=5).map(hand).collect();
    let (sharing, shares) = deal::<Toy>(&57, &five, 2, &mut Script([33].into(), Seed(1))).unwrap();
    let mut digest = [0; 32];
    digest[31] = 66;
    let mut counts = BTreeMap::new();
    for run in 0..runs {
        let signer = |me: &MemberId| -> (MemberId, Box<dyn Run<Done = Signed<Toy>>>) {
            let signing = Signing::new(run_id(run), *me, &sharing, &shares[me], chosen, digest).unwrap();
            (*me, if fixed { Box::new(Biased(signing)) } else { Box::new(signing) })
        };
        let ends = crate::common::play(chosen.iter().map(signer).collect(), salt + run);
        // In so small a group a product is sometimes zero, and the run begins again.
        let Some(Ok(signed)) = ends.into_values().next() else { continue };
        let about = Toy::plus(66, Toy::times(signed.r, 57));
        let Some(k) = Toy::inverse(about).map(|inverse| Toy::times(signed.s, inverse)) else { continue };
        *counts.entry(k).or_insert(0.0) += 1.0;
    }
    counts
}

/// A signer whose first draw is always the same.
struct Biased(Signing<Toy>);

impl Run for Biased {
    type Done = Signed<Toy>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Signed<Toy>> {
        let mut seed = [0; 6];
        entropy.fill(&mut seed);
        let seed = seed.iter().fold(0, |seed, byte| seed * 256 + u64::from(*byte));
        self.0.start(&mut Script([7].into(), Seed(seed << 16)))
    }
    fn awaited(&self) -> Vec<MemberId> {
        self.0.awaited()
    }
    fn hear(
        &mut self,
        heard: Incoming,
        entropy: &mut dyn Entropy,
    ) -> Result<Next<Signed<Toy>>, folkmoot_signing::Fault> {
        self.0.hear(heard, entropy)
    }
}

/// How far two counts are apart, in standard deviations of chi-square's.
fn apart(left: &BTreeMap<u64, f64>, right: &BTreeMap<u64, f64>) -> f64 {
    let total = |all: &BTreeMap<u64, f64>| all.values().sum::<f64>();
    let ratio = (total(left) / total(right)).sqrt();
    let keys: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
    let term = |k: &&u64| {
        let (one, other) = (left.get(k).unwrap_or(&0.0), right.get(k).unwrap_or(&0.0));
        (one / ratio - other * ratio).powi(2) / (one + other)
    };
    let freedom = keys.len() as f64 - 1.0;
    (keys.iter().map(term).sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// A signature is a function of the key, the digest and k. Every k is equally likely, whoever
/// signs; one signer who draws well is enough.
#[test]
fn two_sets_of_signers_make_every_signature_equally_often() {
    let (first, last) = ([1, 2, 3].map(hand), [3, 4, 5].map(hand));
    let runs = 500;
    let (one, other) = (counted(&first, runs, 1, false), counted(&last, runs, 100_000, false));
    assert!(one.len() > 95 && other.len() > 95, "{} and {} of 100", one.len(), other.len());
    let far = apart(&one, &other);
    assert!(far < 5.0, "{far}");
    let even: BTreeMap<u64, f64> = (1..Q).map(|k| (k, 5.0)).collect();
    assert!(apart(&one, &even) < 5.0 && apart(&other, &even) < 5.0, "all as often");
    // Signers that all draw the same are told from others.
    assert!(apart(&one, &counted(&last, runs, 100_000, true)) > 30.0, "the count is blind");
}
