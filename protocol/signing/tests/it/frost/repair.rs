//! Lost shares, and newcomers'.

use super::table::*;
use crate::common::{Seed, member, members, play, run_id};
use folkmoot_base::Secret;
use folkmoot_signing::frost::{FrostShare, Repair};
use folkmoot_signing::{Edwards, FaultKind, PrimeGroup};

#[test]
fn fro_11_a_lost_share_comes_back_the_same() {
    for (count, threshold) in [(5, 3), (4, 2), (2, 1), (4, 3)] {
        let holders = dkg(count, threshold, 40);
        let all = members(count);
        for helpers in [&all[..threshold], &all[..all.len() - 1]] {
            let lost = *all.last().unwrap();
            let ends = done(play(repair_hands(&holders, helpers, lost), 41));
            assert_eq!(ends[&lost], holders[&lost]);
            assert!(helpers.iter().all(|helper| ends[helper] == holders[helper]));
        }
    }
}

#[test]
fn fro_11_a_newcomers_share_signs() {
    for (count, threshold) in [(4, 3), (3, 2), (1, 1), (3, 1)] {
        let mut holders = dkg(count, threshold, 42);
        let old = sharing(&holders);
        let newcomer = member(50);
        let helpers = members(count)[..threshold].to_vec();
        let ends = done(play(repair_hands(&holders, &helpers, newcomer), 43));
        let extended = old.with_holder(newcomer).unwrap();
        assert!(ends.values().all(|held| held.sharing == extended), "helpers and newcomer know the same");
        assert_eq!((extended.key(), extended.epoch()), (old.key(), old.epoch()));
        assert_eq!(extended.holders().len(), old.holders().len() + 1);
        holders.values_mut().for_each(|held| held.sharing = old.with_holder(newcomer).unwrap());
        holders.insert(newcomer, ends[&newcomer].clone());
        every_choice_signs(&holders);
        if threshold > 1 {
            let all: Vec<_> = holders.keys().copied().collect();
            every_choice_signs(&refresh(&holders, &all, 44));
        }
    }
}

#[test]
fn fro_11_helpers_are_enough_and_holders() {
    let holders = dkg(5, 3, 45);
    let (all, newcomer) = (members(5), member(50));
    let held = &holders[&all[0]];
    let help =
        |helpers: &[_], helped| Repair::help(run_id(1), &held.sharing, &held.share, helpers, helped).is_ok();
    assert!(help(&all[..3], newcomer) && help(&all[..3], all[4]));
    assert!(!help(&all[..2], newcomer), "too few");
    assert!(!help(&[all[0], all[1], member(51)], newcomer), "a stranger");
    assert!(!help(&all[..3], all[1]), "a helper helped");
    assert!(!help(&all[1..4], newcomer), "not among them");
    assert!(!help(&[all[0], all[0], all[1]], newcomer), "twice");
    assert!(Repair::receive(run_id(1), &held.sharing, &all[..2], newcomer).is_err());
    let wrong = with_number(&held.share, &[1; 32].map(|byte| byte & 0x0f));
    assert!(Repair::help(run_id(1), &held.sharing, &wrong, &all[..3], newcomer).is_err());
}

fn hands() -> Hands<folkmoot_signing::frost::Held> {
    repair_hands(&dkg(4, 3, 46), &members(4)[..3], member(50))
}

#[test]
fn fro_15_masks_that_do_not_add_up_name_their_helper() {
    let liar = members(4)[1];
    let element = Edwards::encode(&Edwards::raise_generator(&Edwards::draw(&mut Seed(5))));
    for at in [32, 64, 96] {
        named(hands(), liar, FaultKind::PeerCommitment, |round, who, said| {
            if (round, who) == (0, liar) {
                said.to_all[at..at + 32].copy_from_slice(&element);
            }
        });
    }
    let stale = dkg(4, 3, 47);
    let mut mixed = hands();
    mixed.extend(
        repair_hands(&stale, &members(4)[..3], member(50)).into_iter().filter(|(hand, _)| *hand == liar),
    );
    named(mixed, liar, FaultKind::PeerCommitment, |_, _, _| {});
    for length in [0, 31, 33, 129] {
        named(hands(), liar, FaultKind::PeerMalformed, |round, who, said| {
            if (round, who) == (0, liar) {
                said.to_all.resize(length, 0);
                said.to_all.truncate(length);
            }
        });
    }
}

#[test]
fn fro_15_a_false_mask_or_sum_that_is_not_mended_names_its_helper() {
    let (liar, newcomer) = (members(4)[1], member(50));
    // Rounds: masks, accusations of helpers, their defence; sums, the newcomer's accusation, the defence.
    named(hands(), liar, FaultKind::PeerShare, |round, who, said| match round {
        0 if who == liar => said.to_each.values_mut().for_each(|mask| *mask = Secret::new(vec![1; 32])),
        2 if who == liar => said.to_all = [vec![1; 31], vec![0]].concat().repeat(2),
        _ => {}
    });
    named(hands(), liar, FaultKind::PeerShare, |round, who, said| match round {
        2 if who == liar => drop(said.to_each.insert(newcomer, Secret::new(vec![1; 31]))),
        4 if who == liar => said.to_all = [vec![1; 31], vec![0]].concat(),
        _ => {}
    });
    named(hands(), liar, FaultKind::PeerMalformed, |round, who, said| match round {
        2 if who == liar => said.to_each.clear(),
        4 if who == liar => said.to_all.clear(),
        _ => {}
    });
    for round in [1, 2] {
        named(hands(), liar, FaultKind::PeerMalformed, |at, who, said| {
            if (at, who) == (round, liar) {
                said.to_all = vec![9; 32];
            }
        });
    }
    named(hands(), newcomer, FaultKind::PeerMalformed, |round, who, said| {
        if (round, who) == (3, newcomer) {
            said.to_all = vec![9; 32];
        }
    });
}

#[test]
fn fro_15_mended_words_and_idle_accusations_leave_the_share_as_it_is() {
    let (all, newcomer) = (members(4), member(50));
    let plain = done(play(hands(), 9));
    let mended = unharmed(hands(), |round, who, said| match round {
        0 if who == all[0] => drop(said.to_each.insert(all[2], Secret::new(vec![]))),
        _ => {}
    });
    assert_eq!(mended, plain);
    let idle = unharmed(hands(), |round, who, said| match round {
        1 if who == all[0] => said.to_all = [all[1].0, all[2].0].concat(),
        4 if who == newcomer => said.to_all = all[..3].iter().flat_map(|helper| helper.0).collect(),
        _ => {}
    });
    assert_eq!(idle, plain);
}

#[test]
fn fro_11_what_a_newcomer_gets_shows_no_helpers_share() {
    let holders = dkg(4, 3, 46);
    let all = members(4);
    for seed in 0..3 {
        let mut said_to_newcomer = Vec::new();
        let ends = done(crate::common::play_with(hands(), seed, |_, _, said| {
            said_to_newcomer.extend(said.to_each.get(&member(50)).map(|sum| sum.expose().clone()));
        }));
        assert_eq!(said_to_newcomer.len(), 3);
        for share in holders.values() {
            assert!(!said_to_newcomer.contains(&share.share.scalar().expose().to_vec()));
        }
        let sum = said_to_newcomer
            .iter()
            .fold(Edwards::zero(), |sum, number| Edwards::plus(sum, Edwards::decode_scalar(number).unwrap()));
        let number: [u8; 32] = Edwards::encode_scalar(&sum).try_into().unwrap();
        assert_eq!(ends[&member(50)].share.scalar(), &Secret::new(number), "whatever the masks, one sum");
        assert!(FrostShare::new(&sharing(&holders), all[0], Secret::new(number)).is_err());
    }
}
