//! Signing.

use super::table::*;
use crate::common::{Seed, members, play_with, run_id};
use folkmoot_signing::frost::Sign;
use folkmoot_signing::{Edwards, FaultKind, Incoming, Next, PrimeGroup, Run, SigningError};
use std::collections::BTreeMap;

#[test]
fn fro_07_words_of_another_message_run_or_epoch_are_refused_before_a_part_is_made() {
    let holders = founded(4, 3, 30);
    let all = members(4);
    let (signers, liar) = (&all[..3], all[1]);
    let (sharing, share) = (&holders.sharing, &holders.shares[&liar]);
    let new = reshared(&holders, &all, 3, 31);
    let others = [
        Sign::new(run_id(7), sharing, share, signers, b"another"),
        Sign::new(run_id(8), sharing, share, signers, b"m"),
        Sign::new(run_id(7), sharing, share, &[all[1], all[2], all[3]], b"m"),
        Sign::new(run_id(7), &new.sharing, &new.shares[&liar], signers, b"m"),
    ];
    for other in others {
        let mut hands = sign_hands(&holders, signers, b"m");
        hands.insert(liar, boxed(other));
        named(hands, liar, FaultKind::PeerCommitment, |round, _, said| {
            assert!(round == 0 || said.to_all.is_empty() || said.to_all.len() == 32);
        });
    }
}

#[test]
fn fro_01_a_signers_words_have_one_form() {
    let holders = founded(4, 3, 32);
    let all = members(4);
    let liar = all[2];
    let identity = [vec![1], vec![0; 31]].concat();
    let order_two = [vec![0xec], vec![0xff; 30], vec![0x7f]].concat();
    let hands = || sign_hands(&holders, &all[..3], b"m");
    for bad in [identity, order_two, vec![0xff; 32], vec![2; 32]] {
        for at in [32, 64] {
            named(hands(), liar, FaultKind::PeerMalformed, |round, who, said| {
                if (round, who) == (0, liar) {
                    said.to_all[at..at + 32].copy_from_slice(&bad);
                }
            });
        }
    }
    for length in [0, 31, 95, 97] {
        named(hands(), liar, FaultKind::PeerMalformed, |round, who, said| {
            if (round, who) == (0, liar) {
                said.to_all.resize(length, 0);
            }
        });
    }
    for length in [64, 128] {
        named(hands(), liar, FaultKind::PeerCommitment, |round, who, said| {
            if (round, who) == (0, liar) {
                said.to_all.resize(length, 0);
            }
        });
    }
    for bad in [vec![], vec![0; 31], vec![0; 33], vec![0xff; 32]] {
        named(hands(), liar, FaultKind::PeerMalformed, |round, who, said| {
            if (round, who) == (1, liar) {
                said.to_all.clone_from(&bad);
            }
        });
    }
}

#[test]
fn fro_08_a_false_part_names_its_signer() {
    let holders = founded(5, 4, 33);
    let all = members(5);
    for liar in &all[..4] {
        named(sign_hands(&holders, &all[..4], b"m"), *liar, FaultKind::PeerPart, |round, who, said| {
            if (round, who) == (1, *liar) {
                said.to_all[0] ^= 1;
            }
        });
        let mut words = said_by(sign_hands(&holders, &all[..4], b"m"), *liar);
        let (hiding, binding) = words[0][32..].split_at_mut(32);
        hiding.swap_with_slice(binding);
        let mut hands = sign_hands(&holders, &all[..4], b"m");
        hands.insert(*liar, Box::new(Scripted { words, awaited: all[..4].to_vec() }));
        named(hands, *liar, FaultKind::PeerPart, |_, _, _| {});
    }
    let ends = play_with(sign_hands(&holders, &all[..4], b"m"), 9, |round, who, said| {
        if round == 1 && who != all[0] {
            said.to_all = Edwards::encode_scalar(&Edwards::draw(&mut Seed(who.0[0].into())));
        }
    });
    assert_eq!(ends[&all[0]].as_ref().unwrap_err().culprits, all[1..4], "all three are named");
}

#[test]
fn fro_08_two_who_wrong_each_other_out_are_a_valid_signature() {
    let holders = founded(4, 3, 34);
    let all = members(4);
    let one = Edwards::one();
    let signed = unharmed(sign_hands(&holders, &all[..3], b"m"), |round, who, said| {
        let shift = if who == all[0] { one } else { Edwards::minus(one) };
        if round == 1 && who != all[2] {
            let part = Edwards::decode_scalar(&said.to_all).unwrap();
            said.to_all = Edwards::encode_scalar(&Edwards::plus(part, shift));
        }
    });
    assert!(signed.values().all(|signature| verify(&holders, b"m", signature).is_ok()));
}

#[test]
fn fro_10_nonces_sign_once() {
    let holders = founded(3, 2, 35);
    let all = members(3);
    let mut words: Vec<BTreeMap<_, _>> = vec![BTreeMap::new(); 2];
    play_with(sign_hands(&holders, &all[..2], b"m"), 9, |round, who, said| {
        words[round].insert(who, said.to_all.clone());
    });
    let share = &holders.shares[&all[0]];
    let mut run = Sign::new(run_id(7), &holders.sharing, share, &all[..2], b"m").unwrap();
    let heard = |round: usize| Incoming { to_all: words[round].clone(), ..Incoming::default() };
    let mut entropy = Seed(9 << 40);
    let Next::Say(first) = run.start(&mut entropy) else { panic!() };
    assert_eq!(first.to_all, words[0][&all[0]], "the same seed, the same commitments");
    let Ok(Next::Say(part)) = run.hear(heard(0), &mut Seed(1)) else { panic!() };
    assert_eq!(part.to_all, words[1][&all[0]]);
    assert_eq!(
        run.hear(heard(0), &mut Seed(1)).unwrap_err().kind,
        FaultKind::PeerMalformed,
        "no second part"
    );
    assert_eq!(run.hear(heard(1), &mut Seed(1)).unwrap_err().kind, FaultKind::LocalRound);
    let Next::Say(second) = run.start(&mut entropy) else { panic!() };
    assert_ne!(second.to_all, first.to_all, "a run begun anew draws new nonces");
    assert_eq!(
        run.hear(heard(0), &mut Seed(1)).unwrap_err().kind,
        FaultKind::LocalSigners,
        "and does not sign for the old ones"
    );
}

#[test]
fn a_signature_is_of_one_message_and_one_key() {
    let holders = founded(4, 3, 36);
    let signature = sign(&holders, &members(4)[..3], b"m", 1);
    assert_eq!(verify(&holders, b"n", &signature), Err(SigningError::PeerSignature));
    assert_eq!(verify(&founded(4, 3, 37), b"m", &signature), Err(SigningError::PeerSignature));
    for at in 0..64 {
        for bit in 0..8 {
            let mut other = signature;
            other[at] ^= 1 << bit;
            assert_eq!(verify(&holders, b"m", &other), Err(SigningError::PeerSignature), "byte {at}");
        }
    }
    assert!(verify(&holders, b"m", &signature[..63]).is_err());
    let empty = sign(&holders, &members(4)[1..], b"", 2);
    assert_eq!(verify(&holders, b"", &empty), Ok(()));
}
