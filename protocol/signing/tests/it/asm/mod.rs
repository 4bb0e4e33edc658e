//! Multisignatures: what signs, what verifies, what is refused, and who is named.

mod announcements;

use crate::asm_help::{CONTEXT, Club, LABEL, MESSAGE, R, commitment};
use crate::common::{Ends, Seed, member, members, play, play_with, run_id};
use folkmoot_base::MemberId;
use folkmoot_signing::asm::{AsmError, KeyAnnouncement, MultiSignature, SecretKey, Signers, Signing};
use folkmoot_signing::{
    Fault, FaultKind, Incoming, Next, Outgoing, P256, PrimeGroup, Ristretto, Run, SIGNERS_MAX, SigningKey,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The one signature that all signers ended with.
fn agreed(ends: &Ends<MultiSignature<R>>) -> MultiSignature<R> {
    let mut all = ends.values().map(|end| end.as_ref().unwrap());
    let first = all.next().unwrap().clone();
    assert!(all.all(|other| *other == first), "hands came to different signatures");
    first
}

/// Plays a run of `count` signers with a liar, and asserts that every other signer names the liar
/// alone, for `kind`.
fn caught(count: u64, kind: FaultKind, lie: impl Fn(usize, &mut Outgoing)) {
    let club = Club::new(count);
    let liar = club.members()[1];
    let ends = play_with(club.hands(1, MESSAGE), 5, |round, speaker, said| {
        if speaker == liar {
            lie(round, said);
        }
    });
    let honest: Vec<_> = ends.iter().filter(|(hand, _)| **hand != liar).collect();
    assert_eq!(honest.len() as u64, count - 1, "every honest hand ends");
    for (hand, end) in honest {
        assert_eq!(*end, Err(Fault { kind, culprits: vec![liar] }), "{hand}");
    }
}

#[test]
fn any_members_sign_and_anyone_verifies() {
    let club = Club::new(5);
    let all = club.members();
    for mask in 1_usize..1 << all.len() {
        let some: Vec<MemberId> =
            (0..all.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| all[bit]).collect();
        let ends = play(club.hands_of(&some, mask as u64, MESSAGE), mask as u64);
        assert_eq!(ends.len(), some.len());
        let signature = agreed(&ends);
        assert_eq!(signature.signers(), some);
        assert_eq!(club.verify(MESSAGE, &signature), Ok(()));
        assert_eq!(signature.encode().len(), 67 + 32 * some.len());
    }
}

#[test]
fn a_hundred_runs_at_once_all_sign_their_own_message() {
    let club = Club::new(3);
    let message = |number: u64| format!("admit applicant {number}").into_bytes();
    let mut tables: Vec<_> = (0..100).map(|number| club.hands(number, &message(number))).collect();
    let mut said: Vec<BTreeMap<MemberId, Vec<u8>>> = Vec::new();
    let mut seed = Seed(1 << 50);
    let words = |next: Next<MultiSignature<R>>| match next {
        Next::Say(said) => said.to_all,
        Next::Done(_) => panic!("three rounds"),
    };
    for table in &mut tables {
        said.push(table.iter_mut().map(|(hand, run)| (*hand, words(run.start(&mut seed)))).collect());
    }
    for _ in 0..2 {
        // Every run's round is carried in full before any run's next, the last opened run first.
        for (table, said) in tables.iter_mut().zip(&mut said).rev() {
            let heard = || Incoming { to_all: said.clone(), to_me: BTreeMap::new() };
            let next =
                table.iter_mut().map(|(hand, run)| (*hand, words(run.hear(heard(), &mut seed).unwrap())));
            let next = next.collect();
            *said = next;
        }
    }
    let mut signatures = Vec::new();
    for (number, (table, said)) in tables.iter_mut().zip(&said).enumerate() {
        for run in table.values_mut() {
            let heard = Incoming { to_all: said.clone(), to_me: BTreeMap::new() };
            let Next::Done(signature) = run.hear(heard, &mut seed).unwrap() else { panic!("three rounds") };
            assert_eq!(club.verify(&message(number as u64), &signature), Ok(()));
            let other = message(number as u64 + 1);
            assert_eq!(club.verify(&other, &signature), Err(AsmError::PeerSignature));
            signatures.push(signature.encode());
        }
    }
    signatures.sort();
    signatures.dedup();
    assert_eq!(signatures.len(), 100, "one signature for each run");
}

#[test]
fn the_most_hands_sign_and_one_more_is_refused() {
    let club = Club::new(SIGNERS_MAX as u64 + 1);
    let all = club.members();
    let keys = |count: usize| all[..count].iter().map(|hand| club.proven(hand)).collect();
    assert_eq!(Signers::new(keys(SIGNERS_MAX + 1)).unwrap_err(), AsmError::PeerSigners);
    assert!(Signers::new(keys(SIGNERS_MAX)).is_ok());
    let mut bytes = vec![1];
    bytes.extend(R::encode(&R::raise_generator(&R::one())));
    bytes.extend([0; 32]);
    bytes.extend(257_u16.to_be_bytes());
    all.iter().for_each(|hand| bytes.extend(hand.0));
    assert_eq!(MultiSignature::<R>::decode(&bytes), Err(AsmError::WireSignature));
    bytes.truncate(67 + 32 * SIGNERS_MAX);
    bytes[65..67].copy_from_slice(&256_u16.to_be_bytes());
    assert_eq!(MultiSignature::<R>::decode(&bytes).unwrap().signers().len(), SIGNERS_MAX);
}

#[test]
fn asm_04_words_have_one_form() {
    for round in 0..3 {
        for length in [0, 31, 33] {
            caught(3, FaultKind::PeerMalformed, |now, said| {
                if now == round {
                    said.to_all.resize(length, 0);
                }
            });
        }
    }
    caught(3, FaultKind::PeerMalformed, |round, said| {
        if round == 1 {
            said.to_all = vec![0; 32]; // The identity.
        }
    });
    caught(3, FaultKind::PeerMalformed, |round, said| {
        if round > 0 {
            said.to_all = vec![0xff; 32]; // No element, and no number below the order.
        }
    });
}

#[test]
fn asm_05_what_is_shown_is_what_was_committed_to() {
    let other = R::raise_generator(&R::draw(&mut Seed(4)));
    caught(4, FaultKind::PeerReveal, |round, said| {
        if round == 1 {
            said.to_all = R::encode(&other);
        }
    });
    caught(4, FaultKind::PeerReveal, |round, said| {
        if round == 0 {
            said.to_all[0] ^= 1;
        }
    });
}

#[test]
fn asm_05_a_copied_commitment_cannot_be_opened() {
    let club = Club::new(3);
    let all = club.members();
    let mut copied: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
    let ends = play_with(club.hands(1, MESSAGE), 5, |round, speaker, said| {
        if speaker == all[0] && round < 2 {
            copied[round] = said.to_all.clone();
        }
        if speaker == all[1] && round < 2 {
            said.to_all = copied[round].clone();
        }
    });
    for hand in [all[0], all[2]] {
        let fault = Fault { kind: FaultKind::PeerReveal, culprits: vec![all[1]] };
        assert_eq!(ends[&hand], Err(fault), "the copier, not the copied");
    }
}

#[test]
fn asm_05_commitments_of_another_run_cannot_be_opened() {
    let club = Club::new(3);
    let liar = club.members()[1];
    let mut earlier = [Vec::new(), Vec::new()];
    play_with(club.hands(1, MESSAGE), 5, |round, speaker, said| {
        if speaker == liar && round < 2 {
            earlier[round] = said.to_all.clone();
        }
    });
    let ends = play_with(club.hands(2, MESSAGE), 6, |round, speaker, said| {
        if speaker == liar && round < 2 {
            said.to_all = earlier[round].clone();
        }
    });
    let fault = Fault { kind: FaultKind::PeerReveal, culprits: vec![liar] };
    ends.iter().filter(|(hand, _)| **hand != liar).for_each(|(_, end)| assert_eq!(*end, Err(fault.clone())));
}

#[test]
fn asm_06_two_hands_with_one_nonce_are_named_both() {
    let club = Club::new(4);
    let (all, element) = (club.members(), R::raise_generator(&R::draw(&mut Seed(4))));
    let ends = play_with(club.hands(1, MESSAGE), 5, |round, speaker, said| {
        if speaker == all[1] || speaker == all[3] {
            match round {
                0 => said.to_all = commitment(&club, &all, run_id(1), MESSAGE, &speaker, &element),
                1 => said.to_all = R::encode(&element),
                _ => {}
            }
        }
    });
    for hand in [all[0], all[2]] {
        let fault = Fault { kind: FaultKind::PeerCommitment, culprits: vec![all[1], all[3]] };
        assert_eq!(ends[&hand], Err(fault));
    }
}

#[test]
fn asm_07_a_false_part_names_its_maker() {
    caught(4, FaultKind::PeerPart, |round, said| {
        if round == 2 {
            said.to_all[0] ^= 1;
        }
    });
}

#[test]
fn asm_07_parts_that_cancel_out_name_both_makers() {
    let club = Club::new(4);
    let (all, one) = (club.members(), R::one());
    let ends = play_with(club.hands(1, MESSAGE), 5, |round, speaker, said| {
        let add = if speaker == all[0] { one } else { R::minus(one) };
        if round == 2 && (speaker == all[0] || speaker == all[2]) {
            said.to_all = R::encode_scalar(&R::plus(R::decode_scalar(&said.to_all).unwrap(), add));
        }
    });
    for hand in [all[1], all[3]] {
        assert_eq!(ends[&hand], Err(Fault { kind: FaultKind::PeerPart, culprits: vec![all[0], all[2]] }));
    }
}

#[test]
fn asm_08_hands_that_sign_different_things_get_no_signature() {
    let club = Club::new(3);
    let odd = club.members()[2];
    let mut hands = club.hands(1, MESSAGE);
    hands.insert(odd, club.hands(1, b"another message").remove(&odd).unwrap());
    let ends = play(hands, 5);
    for hand in &club.members()[..2] {
        assert_eq!(ends[hand], Err(Fault { kind: FaultKind::PeerReveal, culprits: vec![odd] }));
    }
    let mut hands = club.hands(1, MESSAGE);
    hands.insert(odd, club.hands(2, MESSAGE).remove(&odd).unwrap());
    let ends = play(hands, 5);
    for hand in &club.members()[..2] {
        assert_eq!(ends[hand], Err(Fault { kind: FaultKind::PeerReveal, culprits: vec![odd] }));
    }
}

#[test]
fn asm_11_after_a_fault_a_run_is_over() {
    let club = Club::new(2);
    let all = club.members();
    let mut hands = club.hands(1, MESSAGE);
    let mut said = |hand: &MemberId| match hands.get_mut(hand).unwrap().start(&mut Seed(u64::from(hand.0[0])))
    {
        Next::Say(said) => (*hand, said.to_all),
        Next::Done(_) => panic!("three rounds"),
    };
    let commitments = BTreeMap::from([said(&all[0]), said(&all[1])]);
    let run = hands.get_mut(&all[0]).unwrap();
    assert_eq!(run.awaited(), all);
    let heard =
        |to_all: &BTreeMap<MemberId, Vec<u8>>| Incoming { to_all: to_all.clone(), to_me: BTreeMap::new() };
    let one =
        BTreeMap::from([commitments.iter().next().map(|(hand, words)| (*hand, words.clone())).unwrap()]);
    let local = Err(FaultKind::LocalRound);
    let mut hear = |words| run.hear(heard(words), &mut Seed(9)).map(|_| ()).map_err(|fault| fault.kind);
    assert_eq!(hear(&one), local, "words missing");
    assert_eq!(hear(&commitments), local, "and no second chance: the nonce is gone");
    assert_eq!(hear(&BTreeMap::new()), local);
    assert!(hands[&all[0]].awaited().is_empty());
}

#[test]
fn hands_are_signers_by_their_own_key() {
    let club = Club::new(2);
    let all = club.members();
    let signers = club.signers(&all);
    let stranger = SecretKey::<R>::generate(&mut Seed(9));
    let wrong = |me, key| Signing::new(run_id(1), me, key, signers.clone(), LABEL, MESSAGE).unwrap_err();
    let local = Fault { kind: FaultKind::LocalSigners, culprits: vec![] };
    assert_eq!(wrong(all[0], &stranger), local);
    assert_eq!(wrong(member(99), &stranger), local);
    assert_eq!(wrong(all[0], club.secret(&all[1])), local);
}

#[test]
fn private_words_change_nothing() {
    let club = Club::new(3);
    let all = club.members();
    let ends = play_with(club.hands(1, MESSAGE), 5, |_, speaker, said| {
        if speaker == all[0] {
            said.to_each.insert(all[1], folkmoot_base::Secret::new(vec![1, 2, 3]));
        }
    });
    assert_eq!(club.verify(MESSAGE, &agreed(&ends)), Ok(()));
}

#[test]
fn nonces_depend_on_key_entropy_run_and_message() {
    let club = Club::new(2);
    let first = club.members()[0];
    let words = |club: &Club, run, message: &[u8], seed| match club
        .hands(run, message)
        .get_mut(&first)
        .unwrap()
        .start(&mut Seed(seed))
    {
        Next::Say(said) => said.to_all,
        Next::Done(_) => panic!("three rounds"),
    };
    let base = words(&club, 1, MESSAGE, 1);
    assert_eq!(base, words(&club, 1, MESSAGE, 1), "a run is a seed");
    assert_ne!(base, words(&club, 1, MESSAGE, 2));
    assert_ne!(base, words(&club, 2, MESSAGE, 1));
    assert_ne!(base, words(&club, 1, b"another message", 1));
}

#[test]
fn secret_keys_are_kept_and_do_not_print() {
    let secret = SecretKey::<R>::generate(&mut Seed(1));
    let kept = secret.encode();
    let again = SecretKey::<R>::decode(kept.expose()).unwrap();
    assert_eq!(again.encode(), kept);
    assert_eq!(format!("{secret:?} {kept:?}"), "SecretKey(..) Secret(..)");
    let zero = [&[1][..], &[0; 32]].concat();
    let order = [&[1][..], &[0xff; 32]].concat();
    for bytes in [&kept.expose()[1..], &zero, &order, &[&[2], &kept.expose()[1..]].concat(), b""] {
        assert_eq!(SecretKey::<R>::decode(bytes).unwrap_err(), AsmError::LocalKey);
    }
}

#[test]
fn every_group_of_prime_order_will_do() {
    fn sign<G: PrimeGroup>() {
        let secret = SecretKey::<G>::generate(&mut Seed(3));
        let proven = secret.announce(member(1), CONTEXT, &mut Seed(4)).check(member(1), CONTEXT).unwrap();
        let signers = Signers::new(vec![proven]).unwrap();
        let run = Signing::new(run_id(1), member(1), &secret, signers, LABEL, MESSAGE).unwrap();
        let mut hands: BTreeMap<MemberId, Box<dyn Run<Done = MultiSignature<G>>>> = BTreeMap::new();
        hands.insert(member(1), Box::new(run));
        let signature = play(hands, 1).remove(&member(1)).unwrap().unwrap();
        assert_eq!(MultiSignature::decode(&signature.encode()).unwrap(), signature);
        assert_eq!(signature.verify(LABEL, MESSAGE, |_| Some(proven)), Ok(()));
    }
    sign::<Ristretto>();
    sign::<folkmoot_signing::Edwards>();
    sign::<folkmoot_signing::P256>();
}

#[test]
fn a_members_id_comes_from_its_identity_key() {
    let identity = SigningKey::generate(&mut Seed(1));
    let me = identity.verifying_key().member_id();
    let announced = SecretKey::<R>::generate(&mut Seed(2)).announce(me, CONTEXT, &mut Seed(3));
    let seal = identity.sign(b"folkmoot test announcement v1", &announced.encode());
    let said_by = identity.verifying_key();
    said_by.verify(b"folkmoot test announcement v1", &announced.encode(), &seal).unwrap();
    assert_eq!(announced.check(said_by.member_id(), CONTEXT).unwrap().member(), me);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn hands_of_any_number_sign_any_message(count in 1_u64..8, seed in 0_u64..1000, message: Vec<u8>) {
        let club = Club::new(count);
        let signature = agreed(&play(club.hands(seed, &message), seed));
        prop_assert_eq!(club.verify(&message, &signature), Ok(()));
        let bytes = signature.encode();
        prop_assert_eq!(MultiSignature::<R>::decode(&bytes).unwrap().encode(), bytes);
        let mut other = message.clone();
        other.push(0);
        prop_assert_eq!(club.verify(&other, &signature), Err(AsmError::PeerSignature));
    }

    #[test]
    fn a_liar_in_any_round_is_named_alone(
        count in 2_u64..6, round in 0_usize..3, at in 0_usize..32, bit in 0_u32..8, seed in 0_u64..1000,
    ) {
        let club = Club::new(count);
        let liar = club.members()[seed as usize % count as usize];
        let ends = play_with(club.hands(seed, MESSAGE), seed, |now, speaker, said| {
            if now == round && speaker == liar {
                said.to_all[at] ^= 1 << bit;
            }
        });
        for (_, end) in ends.iter().filter(|(hand, _)| **hand != liar) {
            prop_assert_eq!(&end.as_ref().unwrap_err().culprits, &vec![liar]);
        }
        prop_assert_eq!(ends.keys().filter(|hand| **hand != liar).count() as u64, count - 1);
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>) {
        prop_assert!(KeyAnnouncement::<R>::decode(&bytes).is_err());
        prop_assert!(SecretKey::<R>::decode(&bytes).is_err());
        prop_assert!(MultiSignature::<R>::decode(&bytes).is_err());
    }
}
