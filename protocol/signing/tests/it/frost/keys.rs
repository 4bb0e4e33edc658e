//! Making a key, and refreshing its shares.

use super::table::*;
use crate::common::{Seed, member, members, play, play_with, run_id};
use folkmoot_base::{MemberId, Secret};
use folkmoot_signing::frost::{Dkg, FrostShare, FrostSharing, Refresh, Sign, split};
use folkmoot_signing::{Edwards, FaultKind, PrimeGroup, SigningError};
use std::collections::BTreeMap;

/// Words after the library's commitments: R ‖ z.
const PROOF: usize = 64;

#[test]
fn any_threshold_of_founders_sign() {
    for count in 1..=10_u64 {
        for threshold in [1, 2, count.div_ceil(2), count] {
            if threshold > count {
                continue;
            }
            let holders = dkg(count, threshold as usize, count);
            let sharing = sharing(&holders);
            assert_eq!(sharing.threshold() as u64, threshold);
            assert_eq!(sharing.holders(), members(count));
            let first = pick(&holders, &(0..threshold as usize).collect::<Vec<_>>());
            let last = pick(&holders, &((count - threshold) as usize..count as usize).collect::<Vec<_>>());
            for signers in [first, last] {
                let signature = sign(&holders, &signers, b"m", count);
                assert_eq!(sharing.key().verify(b"m", &signature), Ok(()));
            }
        }
    }
}

#[test]
fn every_choice_of_holders_signs_and_shares_add_up_to_the_key() {
    for (count, threshold) in [(5, 3), (4, 2), (3, 3), (3, 1)] {
        for holders in [dkg(count, threshold, 2), dealt(count, threshold, 3)] {
            every_choice_signs(&holders);
        }
    }
}

#[test]
fn fro_09_too_few_too_many_and_strangers_do_not_sit_down() {
    let holders = dkg(5, 3, 4);
    let sharing = sharing(&holders);
    let all = members(5);
    let share = &holders[&all[0]].share;
    let signers: [&[MemberId]; 5] =
        [&all[..2], &all[..4], &[all[0], all[1], member(99)], &all[1..4], &[all[0], all[0], all[1]]];
    for signers in signers {
        let sat = Sign::new(run_id(1), &sharing, share, signers, b"m");
        assert_eq!(sat.err().map(|fault| fault.kind), Some(FaultKind::LocalHands));
    }
    for (hands, threshold) in [(&all[..], 0), (&all[..], 6), (&all[1..], 2), (&[], 1), (&[all[0], all[0]], 1)]
    {
        let sat = Dkg::new(all[0], run_id(1), hands, threshold);
        assert_eq!(sat.err().map(|fault| fault.kind), Some(FaultKind::LocalHands));
    }
    let crowd = members(257);
    assert!(Dkg::new(crowd[0], run_id(1), &crowd, 2).is_err());
}

#[test]
fn fro_09_one_short_of_the_threshold_gives_another_key() {
    let holders = dkg(5, 3, 5);
    let sharing = sharing(&holders);
    let two: Vec<&FrostShare> = holders.values().take(2).map(|held| &held.share).collect();
    let pooled = pooled(&two);
    assert_ne!(Edwards::encode(&Edwards::raise_generator(&pooled)), sharing.key().bytes());
    let lowered =
        FrostSharing::from_commitments(&sharing.commitments()[..2], sharing.holders().to_vec()).unwrap();
    for share in two {
        let moved = FrostShare::new(&lowered, share.holder(), share.scalar().clone());
        assert_eq!(moved.err(), Some(SigningError::LocalShare), "no sharing with a lower threshold takes it");
    }
}

/// What shares give if they are taken for values of one polynomial.
fn pooled(shares: &[&FrostShare]) -> <Edwards as PrimeGroup>::Scalar {
    let mut sum = Edwards::zero();
    for share in shares {
        let own = Edwards::place(&share.holder());
        let mut factor = Edwards::decode_scalar(share.scalar().expose()).unwrap();
        for other in shares.iter().filter(|other| other.holder() != share.holder()) {
            let place = Edwards::place(&other.holder());
            let below = Edwards::inverse(Edwards::plus(place, Edwards::minus(own))).unwrap();
            factor = Edwards::times(factor, Edwards::times(place, below));
        }
        sum = Edwards::plus(sum, factor);
    }
    sum
}

#[test]
fn fro_01_a_founders_words_have_one_form() {
    for (round, bad) in [(0, vec![]), (0, vec![0; 31]), (0, vec![0; 33]), (2, vec![1]), (3, vec![7; 31])] {
        let liar = members(4)[1];
        named(dkg_hands(4, 2), liar, FaultKind::PeerMalformed, |at, who, said| {
            if (at, who) == (round, liar) {
                said.to_all.clone_from(&bad);
            }
        });
    }
    let hands = members(4);
    let lists: [Vec<MemberId>; 4] =
        [vec![hands[1]], vec![member(99)], vec![hands[2], hands[0]], vec![hands[0], hands[0]]];
    for list in lists {
        named(dkg_hands(4, 2), hands[1], FaultKind::PeerMalformed, |round, who, said| {
            if (round, who) == (3, hands[1]) {
                said.to_all = list.iter().flat_map(|hand| hand.0).collect();
            }
        });
    }
}

#[test]
fn fro_02_a_package_is_the_one_committed_to() {
    let liar = members(4)[2];
    named(dkg_hands(4, 3), liar, FaultKind::PeerReveal, |round, who, said| {
        if (round, who) == (1, liar) {
            said.to_all[3] ^= 1;
        }
    });
    let mut first = Vec::new();
    named(dkg_hands(4, 3), liar, FaultKind::PeerReveal, |round, who, said| {
        if round <= 1 && who == members(4)[0] {
            first.clone_from(&said.to_all);
        }
        if round <= 1 && who == liar {
            said.to_all.clone_from(&first);
        }
    });
}

/// A founder that commits to and opens a package of its own making.
fn opens(liar: MemberId, kind: FaultKind, remake: impl Fn(&mut Vec<u8>)) {
    let mut made = Vec::new();
    play_with(dkg_hands(4, 3), 9, |round, who, said| {
        if (round, who) == (1, liar) {
            made.clone_from(&said.to_all);
        }
    });
    remake(&mut made);
    let id = folkmoot_base::digest(&[&members(4).iter().flat_map(|hand| hand.0).collect::<Vec<u8>>()]);
    let on = folkmoot_base::digest(&[&folkmoot_base::digest(&[&3_u16.to_be_bytes()])]);
    let tag = folkmoot_base::digest(&[b"folkmoot frost dkg v1", &[0], &run_id(1).0, &id, &on]);
    let package = [b"folkmoot frost dkg package v1".as_slice(), &[0], &tag, &liar.0, &made];
    let digest = folkmoot_base::digest(&package);
    named(dkg_hands(4, 3), liar, kind, |round, who, said| match (round, who == liar) {
        (0, true) => said.to_all = digest.to_vec(),
        (1, true) => said.to_all.clone_from(&made),
        _ => {}
    });
}

#[test]
fn fro_03_a_package_has_as_many_commitments_as_the_threshold() {
    let element = Edwards::encode(&Edwards::raise_generator(&Edwards::draw(&mut Seed(5))));
    opens(members(4)[3], FaultKind::PeerCommitment, |made| {
        made.splice(96..96, element.clone());
    });
    opens(members(4)[3], FaultKind::PeerCommitment, |made| drop(made.drain(64..96)));
    opens(members(4)[3], FaultKind::PeerCommitment, |made| drop(made.drain(..96)));
    opens(members(4)[3], FaultKind::PeerMalformed, |made| made.truncate(made.len() - 1));
    opens(members(4)[3], FaultKind::PeerMalformed, |made| made.truncate(PROOF - 1));
    opens(members(4)[3], FaultKind::PeerMalformed, |made| made[..32].copy_from_slice(&identity()));
}

fn identity() -> [u8; 32] {
    let mut identity = [0; 32];
    identity[0] = 1;
    identity
}

#[test]
fn fro_04_a_secret_that_its_dealer_cannot_prove_is_refused() {
    let other = Edwards::encode(&Edwards::raise_generator(&Edwards::draw(&mut Seed(6))));
    opens(members(4)[0], FaultKind::PeerProof, |made| made[..32].copy_from_slice(&other));
    opens(members(4)[0], FaultKind::PeerProof, |made| {
        let z = made.len() - 32;
        made[z] ^= 1;
    });
}

#[test]
fn fro_05_a_false_share_that_is_not_mended_names_its_dealer() {
    let hands = members(4);
    for liar in &hands {
        named(dkg_hands(4, 2), *liar, FaultKind::PeerShare, |round, who, said| {
            if who == *liar && round == 2 {
                said.to_each.values_mut().for_each(|share| *share = Secret::new(vec![1; 32]));
            }
            if who == *liar && round == 4 {
                said.to_all = [vec![2; 31], vec![0]].concat().repeat(said.to_all.len() / 32);
            }
        });
        named(dkg_hands(4, 2), *liar, FaultKind::PeerMalformed, |round, who, said| {
            if who == *liar && round == 2 {
                said.to_each.pop_first();
            }
            if who == *liar && round == 4 {
                said.to_all.clear();
            }
        });
    }
}

#[test]
fn fro_06_a_mended_share_and_an_idle_accusation_harm_nobody() {
    let hands = members(4);
    let plain = dkg(4, 2, 9);
    for bad in [vec![], vec![1; 32], vec![0xff; 32], vec![0; 33]] {
        let mended = unharmed(dkg_hands(4, 2), |round, who, said| {
            if (round, who) == (2, hands[1]) {
                said.to_each.insert(hands[3], Secret::new(bad.clone()));
            }
        });
        assert_eq!(mended, plain, "the published share is the one that was due");
    }
    let to_itself = unharmed(dkg_hands(4, 2), |round, who, said| {
        if round == 2 {
            said.to_each.insert(who, Secret::new(vec![1; 32]));
        }
    });
    assert_eq!(to_itself, plain, "what a hand says to itself is nothing");
    let accused = unharmed(dkg_hands(4, 2), |round, who, said| {
        if (round, who) == (3, hands[2]) {
            said.to_all = [hands[0].0, hands[1].0, hands[3].0].concat();
        }
    });
    assert_eq!(accused, plain);
}

#[test]
fn fro_12_a_refresh_keeps_the_key_and_changes_the_epoch() {
    for (count, threshold, stay) in [(5, 3, 4), (5, 2, 5), (4, 3, 3), (2, 2, 2)] {
        let old = dkg(count, threshold, 11);
        let stayers = members(count)[..stay].to_vec();
        let new = refresh(&old, &stayers, 12);
        assert_eq!(sharing(&new).key(), sharing(&old).key());
        assert_ne!(sharing(&new).epoch(), sharing(&old).epoch());
        assert_eq!(sharing(&new).holders(), stayers);
        for hand in &stayers {
            assert_ne!(new[hand].share.scalar(), old[hand].share.scalar());
            let stale = Sign::new(run_id(1), &sharing(&new), &old[hand].share, &stayers[..threshold], b"m");
            assert_eq!(stale.err().map(|fault| fault.kind), Some(FaultKind::LocalHands));
        }
        every_choice_signs(&new);
    }
}

#[test]
fn fro_12_refreshes_of_too_few_of_strangers_or_of_one_are_refused() {
    let holders = dkg(4, 3, 13);
    let all = members(4);
    let held = &holders[&all[0]];
    let kind = |stayers: &[MemberId]| {
        Refresh::new(run_id(1), &held.sharing, &held.share, stayers).err().map(|fault| fault.kind)
    };
    assert_eq!(kind(&all[..2]), Some(FaultKind::LocalHands));
    assert_eq!(kind(&all[1..]), Some(FaultKind::LocalHands), "who leaves has no hand in it");
    assert_eq!(kind(&[all[0], all[1], member(77)]), Some(FaultKind::LocalHands));
    let one = dkg(3, 1, 14);
    let held = one.values().next().unwrap();
    assert!(Refresh::new(run_id(1), &held.sharing, &held.share, &members(3)).is_err());
}

#[test]
fn fro_13_liars_in_a_refresh_are_named() {
    let old = dkg(4, 3, 15);
    let all = members(4);
    let hands = || refresh_hands(&old, &all);
    let liar = all[1];
    let element = Edwards::encode(&Edwards::raise_generator(&Edwards::draw(&mut Seed(5))));
    named(hands(), liar, FaultKind::PeerCommitment, |round, who, said| {
        if (round, who) == (0, liar) {
            said.to_all.extend(&element);
        }
    });
    named(hands(), liar, FaultKind::PeerCommitment, |round, who, said| {
        if (round, who) == (0, liar) {
            said.to_all[0] ^= 1;
        }
    });
    named(hands(), liar, FaultKind::PeerMalformed, |round, who, said| {
        if (round, who) == (0, liar) {
            said.to_all[32..64].copy_from_slice(&identity());
        }
    });
    named(hands(), liar, FaultKind::PeerShare, |round, who, said| {
        if (round, who) == (0, liar) {
            said.to_all[32..64].copy_from_slice(&element);
        }
    });
    for (round, bad) in [(1, vec![1]), (2, vec![3; 32])] {
        named(hands(), liar, FaultKind::PeerMalformed, |at, who, said| {
            if (at, who) == (round, liar) {
                said.to_all.clone_from(&bad);
            }
        });
    }
    let mended = unharmed(hands(), |round, who, said| {
        if (round, who) == (1, liar) {
            said.to_each.insert(all[0], Secret::new(vec![1; 32]));
        }
    });
    assert_eq!(mended, refresh(&old, &all, 9));
}

#[test]
fn fro_14_old_shares_among_new_ones_are_named() {
    let old = dkg(5, 3, 16);
    let all = members(5);
    let new = refresh(&old, &all[..4], 17);
    for liar in &all[..3] {
        let mut hands = sign_hands(&new, &all[..3], b"m");
        let run = Sign::new(run_id(7), &old[liar].sharing, &old[liar].share, &all[..3], b"m").unwrap();
        let mut tag = Vec::new();
        play_with(sign_hands(&new, &all[..3], b"m"), 9, |round, who, said| {
            if (round, who) == (0, *liar) {
                tag = said.to_all[..32].to_vec();
            }
        });
        hands.insert(*liar, Box::new(Disguised { run, tag, own: Vec::new() }));
        named(hands, *liar, FaultKind::PeerPart, |_, _, _| {});
    }
}

#[test]
fn fro_14_shares_of_leavers_of_different_epochs_pool_to_nothing() {
    let all = members(7);
    let mut holders = dkg(7, 3, 18);
    let key = sharing(&holders).key().bytes();
    let mut left = Vec::new();
    for round in 0..3 {
        left.push(holders[&all[6 - round]].share.clone());
        holders = refresh(&holders, &all[..6 - round], 19 + round as u64);
    }
    let image = |shares: &[&FrostShare]| Edwards::encode(&Edwards::raise_generator(&pooled(shares)));
    assert_ne!(image(&left.iter().collect::<Vec<_>>()), key, "three leavers of three epochs");
    let stayer = &holders[&all[0]].share;
    assert_ne!(image(&[&left[0], &left[1], stayer]), key);
    let now: Vec<&FrostShare> = holders.values().take(3).map(|held| &held.share).collect();
    assert_eq!(image(&now), key, "three of one epoch are the key, now and for ever");
}

#[test]
fn same_seed_same_bytes() {
    for seed in 0..5 {
        assert_eq!(transcript(dkg_hands(4, 3), seed), transcript(dkg_hands(4, 3), seed));
        assert_eq!(dkg(4, 3, seed), dkg(4, 3, seed));
        assert_eq!(dealt(4, 3, seed), dealt(4, 3, seed));
    }
    assert_ne!(transcript(dkg_hands(4, 3), 1), transcript(dkg_hands(4, 3), 2));
    let holders = dkg(4, 3, 20);
    let all = members(4);
    for seed in 0..5 {
        let refreshes = || transcript(refresh_hands(&holders, &all), seed);
        assert_eq!(refreshes(), refreshes());
        let signs = || transcript(sign_hands(&holders, &all[..3], b"m"), seed);
        assert_eq!(signs(), signs());
        let repairs = || transcript(repair_hands(&holders, &all[..3], member(9)), seed);
        assert_eq!(repairs(), repairs());
    }
}

#[test]
fn a_key_that_exists_is_dealt() {
    let key = Edwards::draw(&mut Seed(1));
    for threshold in 1..=3 {
        let holders = split(&Edwards::encode_scalar(&key), threshold, &members(4), &mut Seed(2)).unwrap();
        assert_eq!(
            sharing(&holders).key().bytes().to_vec(),
            Edwards::encode(&Edwards::raise_generator(&key))
        );
        every_choice_signs(&holders);
    }
    for secret in [vec![0; 32], vec![0xff; 32], vec![1; 31]] {
        for threshold in [1, 2] {
            assert!(split(&secret, threshold, &members(4), &mut Seed(2)).is_err());
        }
    }
}

#[test]
fn fro_01_rounds_out_of_turn_end_a_run() {
    let holders = dkg(4, 3, 21);
    let all = members(4);
    refuses_rounds_out_of_turn(dkg_hands(4, 3).remove(&all[0]).unwrap());
    refuses_rounds_out_of_turn(refresh_hands(&holders, &all).remove(&all[0]).unwrap());
    refuses_rounds_out_of_turn(sign_hands(&holders, &all[..3], b"m").remove(&all[0]).unwrap());
    for hand in [all[0], member(9)] {
        refuses_rounds_out_of_turn(repair_hands(&holders, &all[..3], member(9)).remove(&hand).unwrap());
    }
}

#[test]
fn two_liars_of_one_kind_are_both_named() {
    let hands = members(5);
    let ends = play_with(dkg_hands(5, 3), 9, |round, who, said| {
        if round == 1 && (who == hands[1] || who == hands[4]) {
            said.to_all[3] ^= 1;
        }
    });
    let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
    for hand in [hands[0], hands[2], hands[3]] {
        let fault = ends[&hand].as_ref().unwrap_err();
        *kinds.entry(fault.to_string()).or_default() += 1;
        assert_eq!(fault.culprits, [hands[1], hands[4]]);
    }
    assert_eq!(kinds.len(), 1);
    assert!(play(dkg_hands(5, 3), 9).values().all(Result::is_ok));
}
