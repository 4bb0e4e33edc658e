//! Entropy that repeats: a machine that is resumed twice from one snapshot, or whose entropy is
//! stuck. Whoever hears the runs computes with RFC 9591 and what is said to all.

use super::table::*;
use crate::common::{Seed, members, run_id};
use curve25519_dalek::Scalar;
use folkmoot_base::{Danger, MemberId};
use folkmoot_signing::frost::Sign;
use folkmoot_signing::{Edwards, Incoming, Next, PrimeGroup, Run};
use sha2::{Digest as _, Sha512};
use std::collections::BTreeMap;

const UNHEDGED: Option<Danger> = Some(Danger::SigningNonceUnhedged);

/// One run: its name, signers, message, and what the others draw.
#[derive(Clone, Copy)]
struct Case<'a> {
    run: u64,
    signers: &'a [MemberId],
    message: &'a [u8],
    others: u64,
}

/// What all hear of one signer: part = hiding + factor · binding + weight · share.
struct Heard {
    commitments: Vec<u8>,
    part: Scalar,
    factor: Scalar,
    weight: Scalar,
}

/// Runs until the victim has said its part. It draws from the same entropy each time.
fn hear(holders: &Holders, victim: MemberId, case: Case<'_>, danger: Option<Danger>) -> Heard {
    let run = |signer: &MemberId| {
        let share = &holders.shares[signer];
        Sign::new(run_id(case.run), &holders.sharing, share, case.signers, case.message).unwrap()
    };
    let begin = |run: &mut Sign, seed| {
        let Next::Say(said) = run.start(&mut Seed(seed)) else { panic!("nobody is done at once") };
        said.to_all
    };
    let mut own = run(&victim).with_danger(danger.into());
    let mut to_all = BTreeMap::from([(victim, begin(&mut own, 9 << 40))]);
    for (place, signer) in (1..).zip(case.signers.iter().filter(|signer| **signer != victim)) {
        to_all.insert(*signer, begin(&mut run(signer), (case.others << 40) + (place << 32)));
    }
    let elements = to_all.iter().map(|(signer, said)| (*signer, said[32..].to_vec())).collect();
    let (factor, weight) = by_the_rfc(holders, victim, case, &elements);
    let Ok(Next::Say(part)) = own.hear(Incoming { to_all, ..Incoming::default() }, &mut Seed(0)) else {
        panic!("it says its part")
    };
    let part = Edwards::decode_scalar(&part.to_all).unwrap();
    Heard { commitments: elements[&victim].clone(), part, factor, weight }
}

/// RFC 9591, sections 4.4 to 5.2: the victim's binding factor, and its λ times the challenge.
fn by_the_rfc(
    holders: &Holders,
    victim: MemberId,
    case: Case<'_>,
    elements: &BTreeMap<MemberId, Vec<u8>>,
) -> (Scalar, Scalar) {
    let hash = |parts: &[&[u8]]| <[u8; 64]>::from(Sha512::digest(parts.concat()));
    let (context, key) = (b"FROST-ED25519-SHA512-v1", Edwards::encode(&holders.sharing.shared().public()));
    let place = |signer: &MemberId| Edwards::place(signer).to_bytes();
    let mut listed: Vec<_> = elements.iter().map(|(signer, said)| (place(signer), said)).collect();
    listed.sort_by_key(|(place, _)| place.iter().rev().copied().collect::<Vec<u8>>());
    let list: Vec<u8> = listed.iter().flat_map(|(place, said)| [place, &said[..]].concat()).collect();
    let (message, list) = (hash(&[context, b"msg", case.message]), hash(&[context, b"com", &list]));
    let factor = |place: &[u8]| Edwards::from_wide(&hash(&[context, b"rho", &key, &message, &list, place]));
    let element = |bytes: &[u8]| Edwards::decode(bytes).unwrap();
    let sum = listed.iter().fold(Edwards::identity(), |sum, (place, said)| {
        sum + element(&said[..32]) + Edwards::raise(&element(&said[32..]), &factor(place))
    });
    let challenge = Edwards::from_wide(&hash(&[&Edwards::encode(&sum), &key, case.message]));
    let own = Edwards::place(&victim);
    let others = case.signers.iter().filter(|signer| **signer != victim).map(Edwards::place);
    let lambda: Scalar = others.map(|other| other * (other - own).invert()).product();
    (factor(&own.to_bytes()), lambda * challenge)
}

/// Three equations with the same hiding and binding nonces, solved for the share.
fn solved(heard: &[Heard; 3]) -> Vec<u8> {
    let [first, second, third] = heard;
    let less = |one: &Heard| (one.part - first.part, one.factor - first.factor, one.weight - first.weight);
    let ((part, factor, weight), (other_part, other_factor, other_weight)) = (less(second), less(third));
    let above = part * other_factor - other_part * factor;
    (above * (weight * other_factor - other_weight * factor).invert()).to_bytes().to_vec()
}

/// What the three runs give, and whether the victim said the same commitments in all of them.
fn attack(holders: &Holders, cases: [Case<'_>; 3], danger: Option<Danger>) -> (bool, bool) {
    let victim = holders.sharing.holders()[0];
    let heard = cases.map(|case| hear(holders, victim, case, danger));
    let same = heard.iter().all(|one| one.commitments == heard[0].commitments);
    (same, solved(&heard) == *number(&holders.shares[&victim]).expose())
}

#[test]
fn fro_17_entropy_that_repeats_gives_no_share_away() {
    let holders = founded(4, 2, 38);
    let all = members(4);
    let pairs = [1, 2, 3].map(|other| [all[0], all[other]]);
    let case = Case { run: 7, signers: &pairs[0], message: b"m", others: 1 };
    let messages = [b"1", b"2", b"3"].map(|message| Case { message, ..case });
    let signers = [0, 1, 2].map(|pair| Case { signers: &pairs[pair], ..case });
    let runs = [1, 2, 3].map(|run| Case { run, others: run, ..case });
    for cases in [messages, signers, runs] {
        assert_eq!(attack(&holders, cases, UNHEDGED), (true, true), "without the rule");
        let victims = cases.map(|case| hear(&holders, all[0], case, None).commitments);
        assert!(victims[0] != victims[1] && victims[1] != victims[2] && victims[2] != victims[0]);
        assert_eq!(attack(&holders, cases, None), (false, false));
    }
}

/// What the rule cannot know: nonces are committed to before the others' are seen. A run that its
/// caller names twice, or that goes on twice from one snapshot, gives the share away.
#[test]
fn one_run_that_is_begun_three_times_with_one_entropy_gives_the_share_away() {
    let holders = founded(3, 2, 39);
    let case = Case { run: 7, signers: &members(3)[..2], message: b"m", others: 1 };
    let cases = [1, 2, 3].map(|others| Case { others, ..case });
    assert_eq!(attack(&holders, cases, None), (true, true));
}
