//! The promise of sharings: any `threshold` shares are the secret and fewer are nothing, through
//! every change of holders, threshold and epoch; each has one encoding.

use crate::common::{Seed, member, members, play, run_id};
use crate::kit::{Many, agreed, joint, secret_of, value};
use folkmoot_base::{MemberId, digest};
use folkmoot_signing::sharing::{
    Change, Enrol, Holding, Joint, Redistribute, Share, Sharing, SharingError, deal,
};
use folkmoot_signing::ts_dsa::Signing;
use folkmoot_signing::{Edwards, FaultKind, Incoming, Next, P256, PrimeGroup, Ristretto, Run, SIGNERS_MAX};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// All choices of `count` of the participants.
fn choices(hands: &[MemberId], count: usize) -> Vec<Vec<MemberId>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in hands.iter().enumerate() {
        for mut rest in choices(&hands[at + 1..], count - 1) {
            rest.insert(0, *first);
            all.push(rest);
        }
    }
    all
}

fn holds<G: PrimeGroup>(many: &Many<G>) {
    let (holders, threshold) = (many.sharing.holders(), many.sharing.threshold());
    for enough in choices(holders, threshold) {
        assert!(many.determine(&enough), "any {threshold} shares are the secret");
    }
    for few in choices(holders, threshold - 1) {
        assert!(!many.determine(&few), "{} shares are not", threshold - 1);
    }
    assert!(many.determine(holders));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn shr_01_any_threshold_of_shares_is_the_secret_and_fewer_are_not(
        count in 1_u64..6, threshold in 1_usize..6, seed in 0_u64..1000,
    ) {
        let holders = members(count);
        let threshold = threshold.min(holders.len());
        holds(&joint::<P256>(&holders, threshold, seed));
        holds(&joint::<Ristretto>(&holders, threshold, seed));
        holds(&joint::<Edwards>(&holders, threshold, seed));
        let secret = P256::draw(&mut Seed(seed << 32));
        let (sharing, shares) = deal::<P256>(&secret, &holders, threshold, &mut Seed(seed << 33)).unwrap();
        prop_assert_eq!(sharing.public(), P256::raise_generator(&secret));
        holds(&Many { sharing, shares });
    }

    #[test]
    fn shr_02_sharings_and_shares_have_one_encoding(
        count in 1_u64..6, threshold in 1_usize..6, seed in 0_u64..1000, at in 0_usize..4096, bit in 0_u32..8,
    ) {
        let holders = members(count);
        let many = joint::<P256>(&holders, threshold.min(holders.len()), seed);
        let bytes = many.sharing.encode();
        prop_assert!(Sharing::decode(&bytes) == Ok(many.sharing.clone()));
        prop_assert_eq!(Sharing::<Ristretto>::decode(&bytes), Err(SharingError::WireSharing));
        let cut = &bytes[..at % bytes.len()];
        prop_assert_eq!(Sharing::<P256>::decode(cut), Err(SharingError::WireSharing));
        prop_assert_eq!(Sharing::<P256>::decode(&[&bytes[..], &[0]].concat()), Err(SharingError::WireSharing));
        let mut flipped = bytes.clone();
        flipped[at % bytes.len()] ^= 1_u8 << bit;
        if let Ok(other) = Sharing::<P256>::decode(&flipped) {
            prop_assert_eq!(other.encode(), flipped);
            prop_assert!(other != many.sharing);
        }
        let share = &many.shares[&holders[0]];
        let bytes = share.encode();
        let again = Share::<P256>::decode(bytes.expose()).unwrap();
        prop_assert_eq!(again.fits(&many.sharing), Ok(()));
        prop_assert!(again.encode() == bytes);
        let mut flipped = bytes.expose().clone();
        flipped[at % bytes.expose().len()] ^= 1_u8 << bit;
        if let Ok(other) = Share::<P256>::decode(&flipped) {
            prop_assert!(other.encode().expose() == &flipped);
            prop_assert_eq!(other.fits(&many.sharing), Err(SharingError::LocalEpoch));
        }
        let cut = &bytes.expose()[..at % bytes.expose().len()];
        prop_assert_eq!(Share::<P256>::decode(cut).unwrap_err(), SharingError::LocalShare);
        prop_assert_eq!(Share::<Edwards>::decode(bytes.expose()).unwrap_err(), SharingError::LocalShare);
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>) {
        prop_assert!(Sharing::<P256>::decode(&bytes).is_err());
        prop_assert!(Share::<P256>::decode(&bytes).is_err());
    }

    #[test]
    fn shr_04_a_redistribution_keeps_the_secret_and_nothing_else(
        old in 1_usize..5, new in 1_usize..5, spare in 0_u64..3, come in 0_u64..3, seed in 0_u64..1000,
    ) {
        let before = joint::<P256>(&members(old as u64 + spare), old, seed);
        let dealers = &before.sharing.holders()[spare as usize..];
        let mut holders: Vec<MemberId> = (3..3 + new as u64 + come).map(member).collect();
        holders.sort();
        let after = before.redistribute(dealers, &holders, new, seed + 1);
        prop_assert_eq!(after.sharing.public(), before.sharing.public());
        // A threshold of one has one polynomial only: the secret itself, which every holder has.
        prop_assert_eq!(after.sharing.epoch() == before.sharing.epoch(), old == 1 && new == 1);
        holds(&after);
    }
}

#[test]
fn shr_02_sharings_that_say_nonsense_are_refused() {
    let holders = members(3);
    let sharing = joint::<P256>(&holders, 2, 1).sharing;
    let bytes = sharing.encode();
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        assert_eq!(Sharing::<P256>::decode(&changed), Err(SharingError::WireSharing));
    };
    let (at_commitments, at_holders) = (2 + 2 + 4 + 2, 2 + 2 + 4 + 2 + 66 + 2);
    assert_eq!(bytes[at_holders..at_holders + 32], holders[0].0, "the layout of the page");
    refused(&|bytes| bytes[0] = 2);
    refused(&|bytes| bytes[1] = 17);
    refused(&|bytes| bytes[at_commitments..at_commitments + 33].fill(0));
    refused(&|bytes| bytes[at_commitments] = 4);
    // SEC1's compact form: the same element by another tag.
    refused(&|bytes| bytes[at_commitments] = 5);
    refused(&|bytes| bytes[at_commitments + 33] = 5);
    refused(&|bytes| bytes.swap(at_holders, at_holders + 32));
    refused(&|bytes| bytes.copy_within(at_holders..at_holders + 32, at_holders + 32));
    refused(&|bytes| {
        bytes.truncate(at_holders + 32);
        bytes[at_holders - 1] = 1;
    });
    let nobody = [&bytes[..at_commitments - 2], &[0, 0, 0, 0]].concat();
    assert_eq!(Sharing::<P256>::decode(&nobody), Err(SharingError::WireSharing));
    let crowd: Vec<u8> = members(257).iter().flat_map(|member| member.0).collect();
    let crowd = [&bytes[..at_holders - 2], &[1, 1], &crowd].concat();
    assert_eq!(Sharing::<P256>::decode(&crowd), Err(SharingError::WireSharing));
}

#[test]
fn shr_03_shares_of_another_epoch_or_hand_are_refused() {
    let holders = members(3);
    let old = joint::<P256>(&holders, 2, 1);
    let new = old.redistribute(&holders[..2], &holders, 2, 2);
    let me = holders[0];
    let stale = &old.shares[&me];
    assert_eq!(stale.fits(&new.sharing), Err(SharingError::LocalEpoch));
    // The old number under the new epoch's name, and another holder's share.
    let mut bytes = new.shares[&me].encode().expose().clone();
    let from = bytes.len() - 32;
    bytes[from..].copy_from_slice(&P256::encode_scalar(&value(stale)));
    let renamed = Share::<P256>::decode(&bytes).unwrap();
    assert_eq!(renamed.fits(&new.sharing), Err(SharingError::LocalEpoch));
    let others = &new.shares[&holders[1]];
    let change = Change { dealers: &holders[..2], holders: &holders, threshold: 2 };
    for share in [Some(stale), Some(&renamed), Some(others), None] {
        let run = Redistribute::new(run_id(3), me, &new.sharing, share, change);
        assert_eq!(run.err().unwrap().kind, FaultKind::LocalShare);
        let run = Enrol::new(run_id(3), me, &new.sharing, share, &holders[..2], member(9));
        assert_eq!(run.err().unwrap().kind, FaultKind::LocalShare);
        if let Some(share) = share {
            let run = Signing::new(run_id(3), me, &new.sharing, share, &holders, digest(&[b"x"]));
            assert_eq!(run.err().unwrap().kind, FaultKind::LocalShare);
        }
    }
}

/// No choice of as many shares as either epoch asks for, some of the one and some of the other, is
/// the secret.
fn do_not_mix(old: &Many<P256>, new: &Many<P256>) {
    let mut all = [old.sharing.holders(), new.sharing.holders()].concat();
    all.sort();
    all.dedup();
    let mut tried = 0;
    for count in [old.sharing.threshold(), new.sharing.threshold()] {
        for chosen in choices(&all, count) {
            for mask in 1_u32..(1 << count) - 1 {
                let from = |at: usize| if mask >> at & 1 == 1 { old } else { new };
                if (0..count).all(|at| from(at).shares.contains_key(&chosen[at])) {
                    let values: Vec<_> =
                        (0..count).map(|at| (chosen[at], from(at).value(&chosen[at]))).collect();
                    assert!(!secret_of(&values, &new.sharing), "{mask:b} of {count} are old");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 0);
}

#[test]
fn thresholds_3_then_5_then_2_keep_the_key_and_old_shares_do_not_mix_with_new() {
    let first = joint::<P256>(&members(4), 3, 1);
    let second = first.redistribute(&members(4)[1..], &members(6), 5, 2);
    let third = second.redistribute(&members(6)[..5], &members(3), 2, 3);
    for (old, new) in [(&first, &second), (&second, &third), (&first, &third)] {
        assert_eq!(old.sharing.public(), new.sharing.public());
        assert_ne!(old.sharing.epoch(), new.sharing.epoch());
        do_not_mix(old, new);
    }
    holds(&second);
    holds(&third);
}

/// Each of three leaves in an epoch of its own and keeps what it has; those who stay refresh. Three
/// shares of three epochs are not the key.
#[test]
fn what_leavers_of_different_epochs_pool_is_not_the_key() {
    let mut many = joint::<P256>(&members(6), 3, 1);
    let key = many.sharing.public();
    let mut pooled = Vec::new();
    for seed in 2..5 {
        let holders = many.sharing.holders().to_vec();
        let (leaver, stay) = holders.split_first().unwrap();
        pooled.push((*leaver, many.value(leaver)));
        many = many.redistribute(&stay[..3], stay, 3, seed);
    }
    assert_eq!(pooled.len(), 3);
    assert_eq!(many.sharing.public(), key);
    assert!(!secret_of(&pooled, &many.sharing), "the pooled shares are of three epochs");
    for few in 1..3 {
        let with_one_inside: Vec<_> = pooled[..few]
            .iter()
            .copied()
            .chain(many.sharing.holders()[..3 - few].iter().map(|hand| (*hand, many.value(hand))))
            .collect();
        assert!(!secret_of(&with_one_inside, &many.sharing));
    }
    holds(&many);
}

#[test]
fn twenty_holders_share_and_one_alone_too() {
    let many = joint::<P256>(&members(20), 10, 1);
    assert!(many.determine(&members(20)[10..]), "ten do");
    assert!(!many.determine(&members(20)[11..]));
    let many = many.enrol(&members(20)[..10], member(77), 2);
    let holders = many.sharing.holders().to_vec();
    let few = many.redistribute(&holders[..10], &members(2), 1, 3);
    holds(&few);
    let alone = joint::<P256>(&members(1), 1, 4);
    assert!(alone.determine(&members(1)));
    let two = alone.enrol(&members(1), member(2), 5);
    holds(&two);
}

#[test]
fn shr_05_hands_that_make_no_run_are_refused() {
    let holders = members(3);
    let many = joint::<P256>(&holders, 2, 1);
    let joint = |me, hands: &[MemberId], threshold| Joint::<P256>::new(run_id(1), me, hands, threshold).err();
    let refused = Some(folkmoot_signing::Fault { kind: FaultKind::LocalSigners, culprits: vec![] });
    assert_eq!(joint(holders[0], &holders, 0), refused);
    assert_eq!(joint(holders[0], &holders, 4), refused);
    assert_eq!(joint(member(9), &holders, 2), refused);
    assert_eq!(joint(holders[0], &[holders[0], holders[0]], 1), refused);
    assert_eq!(joint(holders[0], &[], 0), refused);
    let crowd: Vec<MemberId> = (1..=SIGNERS_MAX as u64 + 1).map(member).collect();
    assert_eq!(joint(crowd[0], &crowd, 2), refused);
    let share = many.shares.get(&holders[0]);
    let change = |dealers: &[MemberId], holders: &[MemberId], threshold| {
        let change = Change { dealers, holders, threshold };
        Redistribute::new(run_id(1), members(3)[0], &many.sharing, share, change).err()
    };
    assert_eq!(change(&holders, &holders, 2), refused, "not exactly the threshold");
    assert_eq!(change(&holders[..1], &holders, 2), refused);
    assert_eq!(change(&[holders[0], member(9)], &holders, 2), refused, "no holder");
    assert_eq!(change(&holders[..2], &holders, 4), refused);
    assert_eq!(change(&holders[1..], &holders[1..], 2), refused, "not in it");
    let enrol = |me, helpers: &[MemberId], newcomer| {
        Enrol::new(run_id(1), me, &many.sharing, share, helpers, newcomer).err()
    };
    assert_eq!(enrol(holders[0], &holders, member(9)), refused);
    assert_eq!(enrol(holders[0], &holders[..2], holders[1]), refused, "it helps itself");
    assert_eq!(enrol(member(8), &holders[..2], member(9)), refused, "a stranger");
    let none = Err(SharingError::LocalHolders);
    let secret = P256::one();
    let dealt = |holders: &[MemberId], threshold| {
        deal::<P256>(&secret, holders, threshold, &mut Seed(1)).map(|(sharing, _)| sharing)
    };
    assert_eq!(dealt(&holders, 0), none);
    assert_eq!(dealt(&holders, 4), none);
    assert_eq!(dealt(&[], 0), none);
    assert_eq!(deal::<P256>(&P256::zero(), &holders, 2, &mut Seed(1)).map(|(sharing, _)| sharing), none);
}

#[test]
fn shr_06_a_round_takes_exactly_the_awaited_and_a_run_ends_once() {
    let holders = members(2);
    let mut run = Joint::<P256>::new(run_id(1), holders[0], &holders, 2).unwrap();
    assert!(matches!(run.start(&mut Seed(1)), Next::Say(_)));
    assert_eq!(run.awaited(), holders);
    let refused = run.hear(Incoming::default(), &mut Seed(2)).unwrap_err();
    assert_eq!((refused.kind, refused.culprits), (FaultKind::LocalRound, vec![]));
    let many = joint::<P256>(&holders, 2, 1);
    let mut hands = crate::kit::joint_hands::<P256>(&holders, 2, 3);
    let mut alone = hands.remove(&holders[0]).unwrap();
    alone.start(&mut Seed(1));
    let words = holders.iter().map(|hand| (*hand, vec![1])).collect();
    let heard = Incoming { to_all: words, ..Incoming::default() };
    assert_eq!(alone.hear(heard, &mut Seed(2)).unwrap_err().culprits, holders, "both said nonsense");
    assert!(alone.awaited().is_empty());
    assert_eq!(alone.hear(Incoming::default(), &mut Seed(2)).unwrap_err().kind, FaultKind::LocalRound);
    assert!(many.determine(&holders));
}

/// Participants that are given half a round, in the first and in the second round of each kind of
/// run.
#[test]
fn shr_06_half_a_round_ends_every_run() {
    fn ends<D>(mut hands: crate::kit::Hands<D>) {
        let heard: BTreeMap<MemberId, Vec<u8>> = hands
            .iter_mut()
            .filter_map(|(hand, run)| match run.start(&mut Seed(1)) {
                Next::Say(said) => Some((*hand, said.to_all)),
                Next::Done(_) => None,
            })
            .collect();
        for (number, run) in hands.values_mut().enumerate() {
            let awaited = run.awaited();
            let whole = heard.iter().filter(|(hand, _)| awaited.contains(hand));
            let whole: BTreeMap<_, _> = whole.map(|(hand, word)| (*hand, word.clone())).collect();
            if number % 2 == 0 {
                let next = run.hear(Incoming { to_all: whole.clone(), ..Incoming::default() }, &mut Seed(2));
                assert!(matches!(next, Ok(Next::Say(_))));
            }
            let half = whole.iter().skip(1).map(|(hand, word)| (*hand, word.clone())).collect();
            let refused = run.hear(Incoming { to_all: half, ..Incoming::default() }, &mut Seed(2));
            assert_eq!(refused.err().map(|fault| fault.kind), Some(FaultKind::LocalRound));
            assert!(run.awaited().is_empty(), "it awaits nobody any more");
            let again = run.hear(Incoming { to_all: whole, ..Incoming::default() }, &mut Seed(2));
            assert_eq!(
                again.err().map(|fault| fault.kind),
                Some(FaultKind::LocalRound),
                "nor hears a whole one"
            );
        }
    }
    let holders = members(3);
    let many = joint::<P256>(&holders, 2, 1);
    ends(crate::kit::joint_hands::<P256>(&holders, 2, 3));
    ends(many.redistribute_hands(Change { dealers: &holders[..2], holders: &holders, threshold: 2 }, 4));
    ends(many.enrol_hands(&holders[..2], member(9), 5));
    ends(many.sign_hands(&holders, [7; 32], 6));
}

/// A participant that was given another run, threshold or list of holders cannot take part: to it,
/// nobody's opening is what that member committed to.
#[test]
fn shr_07_hands_of_different_runs_do_not_mix() {
    let holders = members(3);
    for odd in
        [crate::kit::joint_hands::<P256>(&holders, 2, 2), crate::kit::joint_hands::<P256>(&holders, 3, 1)]
    {
        let mut hands = crate::kit::joint_hands::<P256>(&holders, 2, 1);
        let (me, run) = odd.into_iter().next().unwrap();
        hands.insert(me, run);
        crate::kit::named(&play(hands, 5), me, 3, FaultKind::PeerReveal);
    }
}

#[test]
fn an_epoch_names_the_polynomial_and_nothing_prints_a_share() {
    let many = joint::<P256>(&members(3), 2, 1);
    let more = many.enrol(&members(3)[..2], member(9), 2);
    assert_eq!(many.sharing.epoch(), more.sharing.epoch());
    assert_ne!(many.sharing.encode(), more.sharing.encode());
    assert_eq!(many.sharing.with_holder(member(9)).as_ref(), Ok(&more.sharing));
    assert_eq!(more.sharing.with_holder(member(9)), Err(SharingError::LocalHolders));
    let share = &many.shares[&members(3)[0]];
    assert_eq!(format!("{share:?}"), format!("Share({}, ..)", share.holder()));
    let held = Holding { sharing: many.sharing.clone(), share: Some(share.clone()) };
    let hex: String = P256::encode_scalar(&value(share)).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!format!("{held:?}").contains(&hex[..8]));
}

/// A leaver takes no part: a run needs those who deal and those who get, and nobody else.
#[test]
fn a_refresh_among_the_rest_needs_no_leaver() {
    let many = joint::<P256>(&members(4), 2, 1);
    let stay = &members(4)[1..];
    let hands = many.redistribute_hands(Change { dealers: &stay[..2], holders: stay, threshold: 2 }, 2);
    assert!(!hands.contains_key(&members(4)[0]));
    let after = agreed(play(hands, 2));
    assert_eq!(after.sharing.holders(), stay);
    holds(&after);
}
