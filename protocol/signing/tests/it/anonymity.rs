//! Whose shares signed: by Shoup's RSA, threshold ECDSA and FROST nobody can tell from signatures,
//! by multisignatures of ASM everybody can. What a run shows its signers is another matter: they
//! know one another.
//!
//! ```text
//! two sets of holders, no member in both ─> many signatures each ─> does any bit tell them apart?
//! ```
//! The same look at ASM's signatures must tell them apart at once, or it is blind. The toy group of
//! `toy.rs` counts every signature that there is.

use crate::asm_help::{Club, MESSAGE};
use crate::common::{members, play};
use crate::frost::table as frost;
use crate::keys::{self, SMALL};
use crate::kit::joint;
use folkmoot_base::{MemberId, digest};
use folkmoot_signing::{P256, Run};
use std::collections::BTreeMap;

/// How many signatures of each set are looked at.
const MANY: usize = 96;
/// So many standard deviations no bit is off by chance: of 2,000 bits one in 20,000,000 runs.
const OFF: f64 = 6.0;

/// What tells two samples apart: a length that one has and the other has not, or a bit that is set
/// clearly more often in one.
fn telling(left: &[Vec<u8>], right: &[Vec<u8>]) -> Vec<String> {
    let lengths = |all: &[Vec<u8>]| all.iter().map(Vec::len).collect::<std::collections::BTreeSet<_>>();
    if lengths(left) != lengths(right) {
        return vec![format!("lengths {:?} and {:?}", lengths(left), lengths(right))];
    }
    let bits = left.iter().chain(right).map(|one| one.len() * 8).max().unwrap_or(0);
    let share = |all: &[Vec<u8>], bit: usize| {
        let set = |one: &&Vec<u8>| one.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        all.iter().filter(set).count() as f64 / all.len() as f64
    };
    let off = |bit: &usize| {
        let (one, other) = (share(left, *bit), share(right, *bit));
        let both = (one + other) / 2.0;
        let deviation = (both * (1.0 - both) * (1.0 / left.len() as f64 + 1.0 / right.len() as f64)).sqrt();
        (one - other).abs() > OFF * deviation && one != other
    };
    (0..bits).filter(off).map(|bit| format!("bit {bit}")).collect()
}

/// Members 1 to `count`, and as many of the first and of the last as sign.
fn two_sets(count: u64, signers: usize) -> (Vec<MemberId>, Vec<MemberId>) {
    let all = members(count);
    let sets = (all[..signers].to_vec(), all[all.len() - signers..].to_vec());
    assert!(sets.0.iter().all(|one| !sets.1.contains(one)), "nobody is in both");
    sets
}

/// As many signatures of each set, on the same texts, each run with randomness of its own.
fn samples(
    sets: &(Vec<MemberId>, Vec<MemberId>),
    mut sign: impl FnMut(&[MemberId], &[u8], u64) -> Vec<u8>,
) -> [Vec<Vec<u8>>; 2] {
    let mut seed = 0;
    let mut each = |set: &[MemberId]| -> Vec<Vec<u8>> {
        let text = |number: usize| format!("admit member {number}").into_bytes();
        let one = |number| {
            seed += 1;
            sign(set, &text(number), seed)
        };
        (0..MANY).map(one).collect()
    };
    [each(&sets.0), each(&sets.1)]
}

#[test]
fn shoup_signatures_of_two_sets_are_the_same_bytes() {
    let dealt = keys::deal(SMALL, 3, 7, 7, 1);
    let (first, last) = two_sets(7, 3);
    for number in 0..12 {
        let text = format!("admit member {number}").into_bytes();
        let signature = keys::sign(&dealt, &first, &text);
        assert_eq!(signature, keys::sign(&dealt, &last, &text));
        assert_eq!(signature, keys::sign(&dealt, &members(7)[2..5], &text), "some of both");
    }
}

#[test]
fn threshold_ecdsa_signatures_do_not_tell_who_signed() {
    let many = joint::<P256>(&members(6), 2, 1);
    let [first, last] = samples(&two_sets(6, 3), |set, text, seed| {
        many.sign(set, digest(&[text]), seed + 100).signature().unwrap().to_bytes().to_vec()
    });
    assert_eq!(telling(&first, &last), Vec::<String>::new());
}

#[test]
fn frost_signatures_do_not_tell_who_signed() {
    let holders = frost::founded(4, 2, 1);
    let [first, last] =
        samples(&two_sets(4, 2), |set, text, seed| frost::sign(&holders, set, text, seed + 100).to_vec());
    assert_eq!(telling(&first, &last), Vec::<String>::new());
}

/// The counterpart: a multisignature names its signers, all of them and nobody else, and what looks
/// at signatures sees it.
#[test]
fn asm_signatures_name_exactly_who_signed() {
    let club = Club::new(6);
    let sets = two_sets(6, 3);
    let sign = |set: &[MemberId], seed: u64| {
        let hands: BTreeMap<MemberId, Box<dyn Run<Done = _>>> = club.hands_of(set, seed, MESSAGE);
        let signature = play(hands, seed).into_values().next().unwrap().unwrap();
        assert_eq!(signature.signers(), set);
        assert_eq!(club.verify(MESSAGE, &signature), Ok(()));
        signature.encode()
    };
    let [first, last] = samples(&sets, |set, _, seed| sign(set, seed + 100));
    assert!(!telling(&first, &last).is_empty(), "the look is blind");
    // Without the names, the element and the number do not tell.
    let bare = |all: &[Vec<u8>]| all.iter().map(|one| one[1..65].to_vec()).collect::<Vec<_>>();
    assert_eq!(telling(&bare(&first), &bare(&last)), Vec::<String>::new());
}

/// The look sees one bit in which two samples differ, and none in samples of one kind.
#[test]
fn the_look_sees_one_bit() {
    let drawn = |salt: u64, mask: u8| -> Vec<Vec<u8>> {
        let one = |number: usize| {
            let mut bytes = digest(&[&salt.to_be_bytes(), &number.to_be_bytes()]).to_vec();
            bytes[7] |= mask;
            bytes
        };
        (0..MANY).map(one).collect()
    };
    assert_eq!(telling(&drawn(1, 0), &drawn(2, 0)), Vec::<String>::new());
    assert_eq!(telling(&drawn(1, 0), &drawn(2, 4)), ["bit 58"]);
}
