//! Anyone who says something false in a run of sharing is named, the same member at every honest
//! participant. What cannot be attributed does no harm.

use crate::common::{Ends, member, members, run_id};
use crate::kit::{
    Many, agreed, commit_to, joint, joint_context, joint_hands, lambda, listed, named, opening, tell,
};
use folkmoot_base::{MemberId, Secret};
use folkmoot_signing::sharing::{Change, Holding};
use folkmoot_signing::{FaultKind, Outgoing, P256, PrimeGroup as _};
use proptest::prelude::*;

fn hands() -> Vec<MemberId> {
    members(3)
}

fn liar() -> MemberId {
    hands()[1]
}

fn victim() -> MemberId {
    hands()[2]
}

/// A joint sharing of three, two of whom determine the secret, in which the liar says otherwise.
fn joint_with(lie: impl Fn(usize, &mut Outgoing)) -> Ends<Holding<P256>> {
    tell(joint_hands::<P256>(&hands(), 2, 1), 1, |round, speaker, said| {
        if speaker == liar() {
            lie(round, said);
        }
    })
}

fn flip_private(said: &mut Outgoing, to: MemberId) {
    let mut word = said.to_each[&to].expose().clone();
    *word.last_mut().unwrap() ^= 1;
    said.to_each.insert(to, Secret::new(word));
}

/// The run came to a sharing at all.
fn good(ends: Ends<Holding<P256>>) -> Many<P256> {
    assert_eq!(ends.len(), 3);
    let many = agreed(ends);
    for pair in [[0, 1], [0, 2], [1, 2]] {
        assert!(many.determine(&pair.map(|at| hands()[at])));
    }
    many
}

/// The liar commits to and opens these bytes.
fn opens(word: Vec<u8>, context: folkmoot_base::Digest) -> impl Fn(usize, &mut Outgoing) {
    move |round, said| match round {
        0 => said.to_all = commit_to(&context, &liar(), &word),
        1 => said.to_all = word.clone(),
        _ => {}
    }
}

#[test]
fn shr_10_a_commitment_has_one_form() {
    for length in [0, 1, 33, 35] {
        let ends = joint_with(|round, said| {
            if round == 0 {
                said.to_all.resize(length, 0);
            }
        });
        named(&ends, liar(), 3, FaultKind::PeerMalformed);
    }
}

#[test]
fn shr_11_an_opening_is_what_was_committed_to() {
    let honest = joint_with(|_, _| {});
    for at in [2, 33, 34, 70, 100, 133, 164] {
        let ends = joint_with(|round, said| {
            if round == 1 {
                said.to_all[at] ^= 1;
            }
        });
        named(&ends, liar(), 3, FaultKind::PeerReveal);
        let ends = joint_with(|round, said| {
            if round == 0 {
                said.to_all[2 + at % 32] ^= 1;
            }
        });
        named(&ends, liar(), 3, FaultKind::PeerReveal);
    }
    good(honest);
}

/// Nobody can take another's commitment for its own, for a commitment covers its dealer.
#[test]
fn shr_11_a_copied_commitment_cannot_be_opened() {
    let mut copied = (Vec::new(), Vec::new());
    let ends = tell(joint_hands::<P256>(&hands(), 2, 1), 1, |round, speaker, said| {
        let copy = if round == 0 { &mut copied.0 } else { &mut copied.1 };
        if speaker == hands()[0] {
            *copy = said.to_all.clone();
        } else if speaker == liar() && round < 2 {
            said.to_all = copy.clone();
        }
    });
    named(&ends, liar(), 3, FaultKind::PeerReveal);
}

#[test]
fn shr_12_an_opening_has_exactly_threshold_commitments() {
    let context = joint_context::<P256>(1, &hands(), 2);
    let scalar = |number: u8| P256::from_wide(&[number; 64]);
    for terms in [1, 3, 4] {
        let polynomial: Vec<_> = (1..=terms).map(scalar).collect();
        let word = opening::<P256>(&context, &liar(), &polynomial);
        named(&joint_with(opens(word, context)), liar(), 3, FaultKind::PeerMalformed);
    }
    let mut identity = opening::<P256>(&context, &liar(), &[scalar(1), scalar(2)]);
    identity[67..100].fill(0);
    named(&joint_with(opens(identity, context)), liar(), 3, FaultKind::PeerMalformed);
    let mut longer = opening::<P256>(&context, &liar(), &[scalar(1), scalar(2)]);
    longer.push(0);
    named(&joint_with(opens(longer, context)), liar(), 3, FaultKind::PeerMalformed);
}

/// The kit's messages are correct: only the lie makes those above refused.
#[test]
fn the_bytes_of_an_opening_are_those_of_the_page() {
    let context = joint_context::<P256>(1, &hands(), 2);
    let polynomial = [P256::from_wide(&[1; 64]), P256::from_wide(&[2; 64])];
    let word = opening::<P256>(&context, &liar(), &polynomial);
    let other = |me: MemberId| {
        let at = P256::plus(polynomial[0], P256::times(polynomial[1], P256::place(&me)));
        Secret::new([&[1, 3][..], &P256::encode_scalar(&at)].concat())
    };
    let opened = opens(word, context);
    let ends = joint_with(|round, said| {
        opened(round, said);
        if round == 2 {
            said.to_all = accusing(&[]);
        }
        if round == 1 {
            said.to_each =
                hands().into_iter().filter(|hand| *hand != liar()).map(|hand| (hand, other(hand))).collect();
        }
    });
    // The liar's own run holds another polynomial, so it ends apart; the others agree.
    let honest: Ends<Holding<P256>> = ends.into_iter().filter(|(hand, _)| *hand != liar()).collect();
    assert_eq!(honest.len(), 2);
    let many = agreed(honest);
    assert!(many.determine(&[hands()[0], hands()[2]]));
}

/// Key cancellation: a constant term chosen so that the sum is the liar's own key. It does not know
/// the number, so proves nothing.
#[test]
fn shr_13_a_constant_term_is_known_to_its_dealer() {
    let context = joint_context::<P256>(1, &hands(), 2);
    let polynomial = [P256::from_wide(&[1; 64]), P256::from_wide(&[2; 64])];
    let mut others = Vec::new();
    tell(joint_hands::<P256>(&hands(), 2, 1), 1, |round, speaker, said| {
        if round == 1 && speaker != liar() {
            others.push(P256::decode(&said.to_all[34..67]).unwrap());
        }
    });
    let negative = P256::minus(P256::one());
    let cancelled = others.iter().fold(P256::raise_generator(&polynomial[0]), |sum, other| {
        P256::add(&sum, &P256::raise(other, &negative))
    });
    let mut word = opening::<P256>(&context, &liar(), &polynomial);
    word[34..67].copy_from_slice(&P256::encode(&cancelled));
    named(&joint_with(opens(word, context)), liar(), 3, FaultKind::PeerProof);
    // A proof of another run, or of another participant, is not one here.
    for (elsewhere, hand) in [(joint_context::<P256>(2, &hands(), 2), liar()), (context, victim())] {
        let word = opening::<P256>(&elsewhere, &hand, &polynomial);
        named(&joint_with(opens(word, context)), liar(), 3, FaultKind::PeerProof);
    }
}

#[test]
fn shr_14_a_false_share_is_settled_by_a_true_answer_and_names_its_dealer_by_a_false_one() {
    type Break = fn(&mut Outgoing);
    let breaks: [Break; 4] = [
        |said| flip_private(said, victim()),
        |said| drop(said.to_each.remove(&victim())),
        |said| drop(said.to_each.insert(victim(), Secret::new(vec![1, 3]))),
        |said| {
            let others = said.to_each[&hands()[0]].clone();
            said.to_each.insert(victim(), others);
        },
    ];
    let truth = good(joint_with(|_, _| {}));
    for broken in breaks {
        let settled = good(joint_with(|round, said| {
            if round == 1 {
                broken(said);
            }
        }));
        assert_eq!(settled.sharing, truth.sharing, "as if nothing had been");
        let false_answer = |change: fn(&mut Vec<u8>)| {
            joint_with(|round, said| match round {
                1 => broken(said),
                3 => change(&mut said.to_all),
                _ => {}
            })
        };
        named(&false_answer(|word| *word.last_mut().unwrap() ^= 1), liar(), 3, FaultKind::PeerShare);
        named(&false_answer(|word| word.push(0)), liar(), 3, FaultKind::PeerMalformed);
        named(&false_answer(Vec::clear), liar(), 3, FaultKind::PeerMalformed);
        named(&false_answer(|word| word[1] = 3), liar(), 3, FaultKind::PeerMalformed);
    }
    let all = joint_with(|round, said| {
        if round == 1 {
            said.to_each.clear();
        }
    });
    assert_eq!(good(all).sharing, truth.sharing);
}

fn accusing(accused: &[MemberId]) -> Vec<u8> {
    let mut word = vec![1, 4, 0, accused.len() as u8];
    accused.iter().for_each(|hand| word.extend(hand.0));
    word
}

#[test]
fn shr_15_an_accusation_names_dealers_in_order_and_not_oneself() {
    let accuse = |word: Vec<u8>| {
        joint_with(move |round, said| {
            if round == 2 {
                said.to_all = word.clone();
            }
        })
    };
    named(&accuse(accusing(&[liar()])), liar(), 3, FaultKind::PeerAccusation);
    named(&accuse(accusing(&[member(9)])), liar(), 3, FaultKind::PeerAccusation);
    named(&accuse(accusing(&[hands()[2], hands()[0]])), liar(), 3, FaultKind::PeerMalformed);
    named(&accuse(accusing(&[hands()[0], hands()[0]])), liar(), 3, FaultKind::PeerMalformed);
    named(&accuse(vec![1, 4, 0, 1]), liar(), 3, FaultKind::PeerMalformed);
    named(&accuse(vec![1, 4, 255, 255]), liar(), 3, FaultKind::PeerMalformed);
    named(&accuse(Vec::new()), liar(), 3, FaultKind::PeerMalformed);
    // One without ground costs a round and tells what the accuser knew: nobody else is hurt by it.
    let truth = good(joint_with(|_, _| {}));
    assert_eq!(good(accuse(accusing(&[hands()[0], hands()[2]]))).sharing, truth.sharing);
}

/// A redistribution of two to three, in which the liar, a dealer, says otherwise.
fn redistribution() -> (Many<P256>, [MemberId; 2], Vec<MemberId>) {
    let old = joint::<P256>(&hands(), 2, 1);
    (old, [hands()[0], liar()], hands())
}

#[test]
fn shr_16_a_redistributor_deals_its_own_share_and_no_other_number() {
    let (old, dealers, holders) = redistribution();
    let change = Change { dealers: &dealers, holders: &holders, threshold: 2 };
    let parts: [&[u8]; 5] =
        [&run_id(2).0, &old.sharing.epoch(), &listed(&dealers), &2_u64.to_be_bytes(), &listed(&holders)];
    let context = crate::kit::context::<P256>("folkmoot redistribution v1", &parts);
    let weighted = P256::times(old.value(&liar()), lambda::<P256>(&liar(), &dealers, P256::zero()));
    let slope = P256::from_wide(&[5; 64]);
    let run = |constant| {
        let polynomial = [constant, slope];
        let opened = opens(opening::<P256>(&context, &liar(), &polynomial), context);
        tell(old.redistribute_hands(change, 2), 2, |round, speaker, said| {
            if speaker != liar() {
                return;
            }
            opened(round, said);
            if round == 2 {
                said.to_all = accusing(&[]);
            }
            if round == 1 {
                for (to, word) in &mut said.to_each {
                    let at = P256::plus(constant, P256::times(slope, P256::place(to)));
                    *word = Secret::new([&[1, 3][..], &P256::encode_scalar(&at)].concat());
                }
            }
        })
    };
    for other in [P256::plus(weighted, P256::one()), old.value(&liar()), P256::one()] {
        named(&run(other), liar(), 3, FaultKind::PeerCommitment);
    }
    let honest: Ends<Holding<P256>> = run(weighted).into_iter().filter(|(hand, _)| *hand != liar()).collect();
    assert_eq!(agreed(honest).sharing.public(), old.sharing.public(), "its own share it may deal");
}

#[test]
fn shr_16_other_lies_of_a_redistributor_are_named_too() {
    let (old, dealers, holders) = redistribution();
    let change = Change { dealers: &dealers, holders: &holders, threshold: 3 };
    let run = |lie: fn(usize, &mut Outgoing)| {
        tell(old.redistribute_hands(change, 2), 2, |round, speaker, said| {
            if speaker == liar() {
                lie(round, said);
            }
        })
    };
    let kinds = [FaultKind::PeerReveal, FaultKind::PeerShare, FaultKind::PeerMalformed];
    let lies: [fn(usize, &mut Outgoing); 3] = [
        |round, said| {
            if round == 1 {
                said.to_all[40] ^= 1;
            }
        },
        |round, said| match round {
            1 => flip_private(said, victim()),
            3 => *said.to_all.last_mut().unwrap() ^= 1,
            _ => {}
        },
        |round, said| {
            if round == 2 {
                said.to_all.clear();
            }
        },
    ];
    for (lie, kind) in lies.into_iter().zip(kinds) {
        named(&run(lie), liar(), 3, kind);
    }
    let settled = agreed(run(|round, said| {
        if round == 1 {
            flip_private(said, victim());
        }
    }));
    assert!(settled.determine(&hands()));
    assert_eq!(settled.sharing.public(), old.sharing.public());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any changed bit of any message to all: all others name the speaker, and nobody else is ever
    /// named.
    #[test]
    fn a_changed_bit_of_a_word_to_all_names_its_speaker(round in 0_usize..3, at in 0_usize..256, bit in 0_u32..8, seed in 0_u64..100) {
        let ends = tell(joint_hands::<P256>(&hands(), 2, seed), seed, |now, speaker, said| {
            if (now, speaker) == (round, liar()) {
                let at = at % said.to_all.len();
                said.to_all[at] ^= 1_u8 << bit;
            }
        });
        for (hand, end) in ends.iter().filter(|(hand, _)| **hand != liar()) {
            let fault = end.as_ref().expect_err("found");
            prop_assert_eq!(&fault.culprits, &vec![liar()], "at {}", hand);
        }
    }

    /// Two liars at once are both named.
    #[test]
    fn two_liars_are_both_named(round in 0_usize..2, at in 2_usize..34) {
        let two = [hands()[0], hands()[1]];
        let ends = tell(joint_hands::<P256>(&hands(), 2, 1), 1, |now, speaker, said| {
            if now == round && two.contains(&speaker) {
                said.to_all[at] ^= 1;
            }
        });
        let fault = ends[&hands()[2]].as_ref().expect_err("found");
        prop_assert_eq!(&fault.culprits, &two.to_vec());
        prop_assert_eq!(fault.kind, FaultKind::PeerReveal);
    }
}

/// Only the sum over all dealers matters to a holder: two liars whose lies cancel out have lied to
/// nobody.
#[test]
fn lies_that_cancel_out_do_no_harm() {
    let ends = tell(joint_hands::<P256>(&hands(), 2, 1), 1, |round, speaker, said| {
        let change = if speaker == hands()[0] { P256::one() } else { P256::minus(P256::one()) };
        if round == 1 && speaker != victim() {
            let word = said.to_each[&victim()].expose().clone();
            let number = P256::plus(P256::decode_scalar(&word[2..]).unwrap(), change);
            said.to_each.insert(victim(), Secret::new([&word[..2], &P256::encode_scalar(&number)].concat()));
        }
        if round == 2 {
            assert_eq!(said.to_all, accusing(&[]));
        }
    });
    good(ends);
}
