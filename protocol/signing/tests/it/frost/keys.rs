//! However the shares were made, by founders, a dealer, a redistribution or an enrolment: they
//! sign, and those of two epochs do not mix.

use super::table::*;
use crate::common::{Seed, member, members, play_with, run_id};
use folkmoot_base::{MemberId, Secret};
use folkmoot_signing::frost::{FrostShare, FrostSharing, Sign, deal};
use folkmoot_signing::{Edwards, FaultKind, PrimeGroup, Run, Scheme, SigningError, shared};

#[test]
fn any_threshold_of_founders_sign() {
    for count in 1..=10_u64 {
        for threshold in [1, 2, count.div_ceil(2), count] {
            if threshold > count {
                continue;
            }
            let holders = founded(count, threshold as usize, count);
            assert_eq!(holders.sharing.threshold() as u64, threshold);
            assert_eq!(holders.sharing.holders(), members(count));
            let all = members(count);
            for signers in [&all[..threshold as usize], &all[(count - threshold) as usize..]] {
                let signature = sign(&holders, signers, b"m", count);
                assert_eq!(verify(&holders, b"m", &signature), Ok(()));
            }
        }
    }
}

#[test]
fn every_choice_of_holders_signs_and_shares_add_up_to_the_key() {
    for (count, threshold) in [(5, 3), (4, 2), (3, 3), (3, 1)] {
        for holders in [founded(count, threshold, 2), dealt(count, threshold, 3)] {
            every_choice_signs(&holders);
        }
    }
}

#[test]
fn fro_09_too_few_too_many_and_strangers_do_not_sit_down() {
    let holders = founded(5, 3, 4);
    let all = members(5);
    let share = &holders.shares[&all[0]];
    let signers: [&[MemberId]; 5] =
        [&all[..2], &all[..4], &[all[0], all[1], member(99)], &all[1..4], &[all[0], all[0], all[1]]];
    for signers in signers {
        let sat = Sign::new(run_id(1), &holders.sharing, share, signers, b"m");
        assert_eq!(sat.err().map(|fault| fault.kind), Some(FaultKind::LocalSigners));
    }
    for (hands, threshold) in [(&all[..], 0), (&all[..], 6), (&all[1..], 2), (&[], 1), (&[all[0], all[0]], 1)]
    {
        let sat = shared::found(Scheme::Frost, run_id(1), all[0], hands, threshold);
        assert_eq!(sat.err().map(|fault| fault.kind), Some(FaultKind::LocalSigners));
    }
    let crowd = members(257);
    assert!(shared::found(Scheme::Frost, run_id(1), crowd[0], &crowd, 2).is_err());
}

#[test]
fn fro_09_one_short_of_the_threshold_gives_another_key() {
    let holders = founded(5, 3, 5);
    let two: Vec<&FrostShare> = holders.shares.values().take(2).collect();
    assert!(Edwards::raise_generator(&pooled(&two)) != holders.sharing.shared().public());
    let mut bytes = holders.sharing.encode();
    bytes[2] = 2;
    bytes.drain(5 + 64..5 + 96);
    let lowered = FrostSharing::decode(&bytes).unwrap();
    for share in two {
        let mut bytes = share.encode().expose().clone();
        bytes[33..65].copy_from_slice(&lowered.epoch());
        let moved = FrostShare::decode(&bytes).unwrap();
        assert_eq!(moved.check(&lowered), Err(SigningError::LocalShare), "no lower threshold takes it");
    }
}

/// What shares give if they are taken for values of one polynomial.
fn pooled(shares: &[&FrostShare]) -> <Edwards as PrimeGroup>::Scalar {
    let mut sum = Edwards::zero();
    for share in shares {
        let own = Edwards::place(&share.holder());
        let mut factor = Edwards::decode_scalar(number(share).expose()).unwrap();
        for other in shares.iter().filter(|other| other.holder() != share.holder()) {
            let place = Edwards::place(&other.holder());
            let below = Edwards::inverse(Edwards::plus(place, Edwards::minus(own))).unwrap();
            factor = Edwards::times(factor, Edwards::times(place, below));
        }
        sum = Edwards::plus(sum, factor);
    }
    sum
}

/// The members that every honest participant names if `liar` deals false shares and stands by them
/// when it is accused.
fn deals_falsely<D: core::fmt::Debug>(hands: Hands<D>, liar: MemberId) {
    named(hands, liar, FaultKind::PeerShare, |round, who, said| match round {
        1 if who == liar => {
            for piece in said.to_each.values_mut() {
                let mut bytes = piece.expose().clone();
                bytes[2] ^= 1;
                *piece = Secret::new(bytes);
            }
        }
        3 if who == liar => said.to_all[2] ^= 1,
        _ => {}
    });
}

#[test]
fn fro_05_a_founder_that_deals_falsely_is_named() {
    for liar in members(4) {
        deals_falsely(found_hands(4, 2), liar);
    }
}

#[test]
fn fro_12_a_redistribution_keeps_the_key_and_changes_the_epoch() {
    for (count, threshold, stay, next) in [(5, 3, 4, 3), (5, 2, 5, 3), (4, 3, 3, 2), (2, 2, 2, 2)] {
        let old = founded(count, threshold, 11);
        let stayers = members(count)[..stay].to_vec();
        let new = reshared(&old, &stayers, next, 12);
        assert_eq!(new.key(), old.key());
        assert_ne!(new.sharing.epoch(), old.sharing.epoch());
        assert_eq!((new.sharing.holders(), new.sharing.threshold()), (stayers.as_slice(), next));
        for hand in &stayers {
            assert_ne!(number(&new.shares[hand]), number(&old.shares[hand]));
            let stale = Sign::new(run_id(1), &new.sharing, &old.shares[hand], &stayers[..next], b"m");
            assert_eq!(stale.err().map(|fault| fault.kind), Some(FaultKind::LocalSigners));
        }
        every_choice_signs(&new);
    }
}

#[test]
fn fro_13_a_giver_that_deals_falsely_is_named() {
    let old = founded(4, 3, 15);
    let all = members(4);
    for liar in &all[..3] {
        deals_falsely(reshare_hands(&old, &all, 3), *liar);
    }
}

#[test]
fn fro_14_old_shares_among_new_ones_are_named() {
    let old = founded(5, 3, 16);
    let all = members(5);
    let new = reshared(&old, &all[..4], 3, 17);
    for liar in &all[..3] {
        let mut hands = sign_hands(&new, &all[..3], b"m");
        let run = Sign::new(run_id(7), &old.sharing, &old.shares[liar], &all[..3], b"m").unwrap();
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
    let mut holders = founded(7, 3, 18);
    let key = holders.sharing.shared().public();
    let mut left = Vec::new();
    for round in 0..3 {
        left.push(holders.shares[&all[6 - round]].clone());
        holders = reshared(&holders, &all[..6 - round], 3, 19 + round as u64);
    }
    let image = |shares: &[&FrostShare]| Edwards::raise_generator(&pooled(shares));
    assert!(image(&left.iter().collect::<Vec<_>>()) != key, "three leavers of three epochs");
    let stayer = &holders.shares[&all[0]];
    assert!(image(&[&left[0], &left[1], stayer]) != key);
    let now: Vec<&FrostShare> = holders.shares.values().take(3).collect();
    assert!(image(&now) == key, "three of one epoch are the key, now and for ever");
}

#[test]
fn fro_11_a_newcomers_share_signs() {
    for (count, threshold) in [(4, 3), (3, 2), (1, 1), (3, 1)] {
        let old = founded(count, threshold, 42);
        let newcomer = member(50);
        let more = enrolled(&old, newcomer, 43);
        assert_eq!((more.key(), more.sharing.epoch()), (old.key(), old.sharing.epoch()));
        assert_eq!(more.sharing.holders().len(), old.sharing.holders().len() + 1);
        assert_eq!(more.shares[&newcomer].check(&more.sharing), Ok(()));
        every_choice_signs(&more);
        if threshold > 1 {
            every_choice_signs(&reshared(&more, more.sharing.holders(), threshold, 44));
        }
    }
}

#[test]
fn fro_15_a_helper_that_says_a_false_part_is_named() {
    let old = founded(4, 3, 46);
    let (liar, newcomer) = (old.sharing.holders()[1], member(50));
    named(enrol_hands(&old, newcomer), liar, FaultKind::PeerPart, |_, who, said| {
        if let Some(part) = said.to_each.get_mut(&newcomer).filter(|_| who == liar) {
            let mut bytes = part.expose().clone();
            bytes[2] ^= 1;
            *part = Secret::new(bytes);
        } else if who == liar && said.to_all.starts_with(&[1, 8]) {
            said.to_all[2] ^= 1;
        }
    });
}

#[test]
fn same_seed_same_bytes() {
    for seed in 0..5 {
        let (one, two) = (founded(4, 3, seed), founded(4, 3, seed));
        assert_eq!(one.sharing.encode(), two.sharing.encode());
        let signs = || sign(&one, &members(4)[..3], b"m", seed);
        assert_eq!(signs(), signs());
        assert_eq!(dealt(4, 3, seed).sharing.encode(), dealt(4, 3, seed).sharing.encode());
    }
    assert_ne!(founded(4, 3, 1).sharing, founded(4, 3, 2).sharing);
}

#[test]
fn a_key_that_exists_is_dealt() {
    let key = Edwards::draw(&mut Seed(1));
    for threshold in 1..=3 {
        let (sharing, shares) = deal(&key, &members(4), threshold, &mut Seed(2)).unwrap();
        assert!(sharing.shared().public() == Edwards::raise_generator(&key));
        every_choice_signs(&Holders { sharing, shares });
        assert!(deal(&Edwards::zero(), &members(4), threshold, &mut Seed(2)).is_err());
    }
    for threshold in [0, 5] {
        assert!(deal(&key, &members(4), threshold, &mut Seed(2)).is_err());
    }
}

#[test]
fn fro_01_rounds_out_of_turn_end_a_run() {
    let holders = founded(4, 3, 21);
    let all = members(4);
    refuses_rounds_out_of_turn(sign_hands(&holders, &all[..3], b"m").remove(&all[0]).unwrap());
}

/// A run heard out of turn ends by the caller's fault, and stays ended.
fn refuses_rounds_out_of_turn<D: core::fmt::Debug>(mut run: Box<dyn Run<Done = D>>) {
    use folkmoot_signing::{Fault, Incoming, Next};
    let local = |end: Result<Next<D>, Fault>| end.unwrap_err().kind == FaultKind::LocalRound;
    assert!(local(run.hear(Incoming::default(), &mut Seed(1))), "before it began");
    let Next::Say(_) = run.start(&mut Seed(2)) else { panic!("nobody is done at once") };
    assert!(local(run.hear(Incoming::default(), &mut Seed(3))), "nobody was heard");
    assert!(local(run.hear(Incoming::default(), &mut Seed(4))), "over");
}
