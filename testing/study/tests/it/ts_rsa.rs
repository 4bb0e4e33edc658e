//! TS-RSA as published, with honest participants: the vectors of the fact sheet bit for bit,
//! offsets, newcomers, resharing.

use crate::common::{Seed, members, play, play_with};
use crate::keys::SMALL;
use crate::kit::{M, N, Shares, bytes, enrol, hand_out, number, reshare, sign, signers, small, smalls, toy};
use folkmoot_base::MemberId;
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, Run, Scheme};
use folkmoot_study::ts_rsa::{
    Subject, TsRsaDealer, TsRsaEnrol, TsRsaReshare, TsRsaShare, TsRsaSharing, TsRsaSign, hashed_place,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The deal of the vectors to ids 1 to 5.
fn vectors() -> (TsRsaSharing, Shares) {
    let holders = smalls(&[1, 2, 3, 4, 5]);
    let (sharing, shares) = toy().deal_by(&[123_456, 654_321], &holders).unwrap();
    (sharing, hand_out(&holders, shares))
}

fn value(share: &TsRsaShare, sharing: &TsRsaSharing) -> u64 {
    number(share.to_bytes(sharing).expose())
}

#[test]
fn the_scheme_says_what_it_asks_for() {
    assert_eq!(Scheme::TsRsa.signers(3), 3);
    assert!(Scheme::TsRsa.needs_dealer() && Scheme::TsRsa.shared());
}

#[test]
fn tsr_01_shares_of_the_vectors() {
    let (sharing, shares) = vectors();
    assert_eq!((number(&sharing.modulus()), sharing.exponent(), sharing.threshold()), (N, 17, 3));
    assert_eq!(number(toy().private_exponent().expose()), 142_041);
    let all: Vec<u64> = shares.values().map(|share| value(share, &sharing)).collect();
    assert_eq!(all, [919_818, 587_131, 353_533, 219_024, 183_604]);
    for share in shares.values() {
        let again = TsRsaShare::from_bytes(share.to_bytes(&sharing).expose(), &sharing, ForStudy).unwrap();
        assert_eq!(value(&again, &sharing), value(share, &sharing));
    }
}

#[test]
fn tsr_01_votes_parts_and_offsets_of_the_vectors() {
    let (sharing, shares) = vectors();
    let cases = [
        ([1, 2, 3], [340_348, 657_713, 353_533], [543_553, 908_286, 38_917], 1),
        ([1, 3, 5], [817_494, 1_070_025, 673_628], [463_404, 862_060, 266_677], 2),
    ];
    for (ids, exponents, parts, offsets) in cases {
        let signers_list = smalls(&ids);
        let got: Vec<u64> = signers_list
            .iter()
            .map(|hand| number(shares[hand].exponent(&sharing, hand, &signers_list).unwrap().expose()))
            .collect();
        assert_eq!(got, exponents);
        let m = bytes(M);
        let mut said = Vec::new();
        let runs = signers(&sharing, &shares, &signers_list, &[], Subject::Number(&m));
        let ends = play_with(runs, 1, |round, _, words| {
            if round == 1 {
                said.push(number(&words.to_all[1..]));
            }
        });
        assert_eq!(said, parts);
        for end in ends.into_values() {
            let done = end.unwrap();
            assert_eq!((number(&done.signature), done.offsets), (517_307, offsets));
        }
    }
}

#[test]
fn tsr_01_the_newcomer_of_the_vectors() {
    let (sharing, shares) = vectors();
    let helpers = smalls(&[1, 3, 5]);
    let pss: Vec<u64> = helpers
        .iter()
        .map(|hand| number(shares[hand].partial(&sharing, hand, &helpers, 7).unwrap().expose()))
        .collect();
    assert_eq!(pss, [919_818, 148_954, 550_812]);
    // The δ of the vectors, said to both sides: the drawer adds its own all the same, so it is put
    // right in the next round.
    let fixed = BTreeMap::from([((1, 3), 1_111), ((1, 5), 2_222), ((3, 5), 3_333)]);
    let (mut drawn, mut shuffled) = (BTreeMap::new(), Vec::new());
    let ends = enrol(&sharing, &shares, &helpers, small(7), 1, |round, speaker, said| {
        let me = speaker.0[31];
        for (to, words) in &mut said.to_each {
            let told = number(&words.expose()[1..]);
            if round == 0 {
                drawn.insert((me, to.0[31]), told);
                *words = write(fixed[&(me, to.0[31])]);
            } else {
                let mine = |deltas: &BTreeMap<(u8, u8), u64>| {
                    deltas.iter().filter(|((by, _), _)| *by == me).map(|(_, delta)| *delta).sum::<u64>() % N
                };
                let put_right = (told + N - mine(&drawn) + mine(&fixed)) % N;
                shuffled.push(put_right);
                *words = write(put_right);
            }
        }
    });
    assert_eq!(shuffled, [923_151, 151_176, 545_257]);
    let share = ends[&small(7)].as_ref().unwrap().as_ref().unwrap();
    assert_eq!(value(share, &sharing), 410_031);
    assert!(helpers.iter().all(|helper| matches!(ends[helper], Ok(None))));
}

fn write(value: u64) -> folkmoot_base::Secret<Vec<u8>> {
    folkmoot_base::Secret::new([&[1], bytes(value).as_slice()].concat())
}

/// A stored key of 1024 bits with places by hash.
fn real(number: usize) -> TsRsaDealer {
    let (p, q) = crate::keys::primes(SMALL)[number].clone();
    TsRsaDealer::new(&p, &q, 65_537, hashed_place, ForStudy).unwrap()
}

fn dealt(dealer: &TsRsaDealer, threshold: u16, holders: &[MemberId], seed: u64) -> (TsRsaSharing, Shares) {
    let (sharing, shares) = dealer.deal(threshold, holders, &mut Seed(seed << 40)).unwrap();
    let shares = hand_out(holders, shares);
    (sharing, shares)
}

/// The same key held whole, by Shoup's code: the judge of a signature.
fn judge() -> folkmoot_signing::rsa::RsaPublicKey {
    crate::keys::dealer(SMALL, 0, folkmoot_signing::shoup::DealerTerm::SetUp).key().clone()
}

#[test]
fn tsr_02_a_signature_is_an_ordinary_one_whoever_makes_it() {
    let (dealer, all) = (real(0), members(5));
    let (sharing, shares) = dealt(&dealer, 3, &all, 1);
    let done: Vec<_> = [&all[..3], &all[2..], &all[1..4]]
        .map(|hands| sign(&sharing, &shares, hands, Subject::Message(b"yes")))
        .into();
    for one in &done {
        assert_eq!(judge().verify(b"yes", &one.signature), Ok(()));
        assert_eq!(one.signature, done[0].signature, "nothing tells the signers");
    }
}

#[test]
fn tsr_03_who_is_unwilling_is_passed_over_and_too_few_come_to_nothing() {
    let (sharing, shares) = vectors();
    let (all, m) = (smalls(&[1, 2, 3, 4, 5]), bytes(M));
    let runs = signers(&sharing, &shares, &all, &smalls(&[1, 4]), Subject::Number(&m));
    let ends = play(runs, 1);
    assert!(ends.values().all(|end| number(&end.as_ref().unwrap().signature) == 517_307), "2, 3 and 5 sign");
    let runs = signers(&sharing, &shares, &all, &smalls(&[1, 4, 5]), Subject::Number(&m));
    let nothing = Err(Fault { kind: FaultKind::LocalSigners, culprits: vec![] });
    assert!(play(runs, 1).into_values().all(|end| end == nothing));
    let start = |me: u8, hands: &[u8]| {
        let (me, hands) = (small(me), smalls(hands));
        TsRsaSign::new(&sharing, &shares[&small(1)], me, &hands, true, Subject::Number(&m), ForStudy)
            .map(|_| ())
            .map_err(|fault| fault.kind)
    };
    assert_eq!(start(1, &[1, 2]), Err(FaultKind::LocalSigners));
    assert_eq!(start(1, &[2, 3, 4]), Err(FaultKind::LocalSigners));
    assert_eq!(start(1, &[1, 1, 2]), Err(FaultKind::LocalSigners));
    assert_eq!(start(1, &[1, 2, 3]), Ok(()));
}

#[test]
fn tsr_04_malformed_words_name_their_speaker() {
    let (sharing, shares) = vectors();
    let (hands, m) = (smalls(&[1, 2, 3]), bytes(M));
    let lies: [(usize, &[u8]); 9] = [
        (0, &[]),
        (0, &[1]),
        (0, &[1, 2]),
        (0, &[2, 1]),
        (0, &[1, 1, 0]),
        (1, &[]),
        (1, &[1, 0, 0, 0]),
        (1, &[1, 0xff, 0xff, 0xff]),
        (1, &[1, 0, 0, 0, 1]),
    ];
    for (when, words) in lies {
        let runs = signers(&sharing, &shares, &hands, &[], Subject::Number(&m));
        let ends = play_with(runs, 1, |round, speaker, said| {
            if round == when && speaker == hands[1] {
                said.to_all = words.to_vec();
            }
        });
        let named = Err(Fault { kind: FaultKind::PeerMalformed, culprits: vec![hands[1]] });
        assert_eq!(ends[&hands[0]], named, "{words:?}");
    }
    let lie = |round: usize, words: &'static [u8]| {
        let helpers = smalls(&[1, 2, 3]);
        let ends = enrol(&sharing, &shares, &helpers, small(7), 1, |now, speaker, said| {
            if now == round && speaker == helpers[0] {
                said.to_each.values_mut().for_each(|told| *told = folkmoot_base::Secret::new(words.to_vec()));
            }
        });
        let at = if round == 0 { helpers[2] } else { small(7) };
        ends[&at].as_ref().map(|_| ()).map_err(Clone::clone)
    };
    for words in [&[][..], &[1], &[1, 0, 0], &[2, 0, 0, 1], &[1, 0xff, 0, 0], &[1, 0, 0, 0, 1]] {
        let named = Err(Fault { kind: FaultKind::PeerMalformed, culprits: vec![small(1)] });
        assert_eq!((lie(0, words), lie(1, words)), (named.clone(), named), "{words:?}");
    }
    assert_eq!(lie(1, &[1, 0, 0, 0]), Ok(()), "zero is a number like others");
}

#[test]
fn tsr_05_offsetting_ends_below_t_and_splits_in_half_for_two() {
    let mut counts = [0_u32; 2];
    for number in 0..2 {
        let dealer = real(number);
        for seed in 0..24 {
            let all = members(2);
            let (sharing, shares) = dealt(&dealer, 2, &all, 100 + seed);
            counts[usize::from(sign(&sharing, &shares, &all, Subject::Message(b"yes")).offsets)] += 1;
        }
    }
    // One half each: of 48 tosses, 12 to 36. The seeds are fixed, so this holds always or never.
    assert!(counts.iter().all(|count| (12..=36).contains(count)), "{counts:?}");
}

#[test]
fn tsr_05_offsetting_ends_below_t_for_many_keys_and_thresholds() {
    const PRIMES: [u16; 10] = [1019, 1187, 2039, 2063, 4007, 4079, 5003, 7919, 8111, 9887];
    let m = bytes(1_001);
    let mut seen = BTreeMap::new();
    let pairs = PRIMES.iter().enumerate().flat_map(|(at, p)| PRIMES[..at].iter().map(move |q| (p, q)));
    for (p, q) in pairs {
        // 17 divides none of these p - 1.
        let dealer =
            TsRsaDealer::new(&p.to_be_bytes(), &q.to_be_bytes(), 17, crate::kit::small_place, ForStudy)
                .unwrap();
        for threshold in 2..=10_u16 {
            let holders: Vec<MemberId> = (1..=threshold as u8).map(small).collect();
            for seed in 0..3 {
                let (sharing, shares) = dealt(&dealer, threshold, &holders, seed);
                let done = sign(&sharing, &shares, &holders, Subject::Number(&m));
                assert!(done.offsets < threshold);
                *seen.entry((threshold, done.offsets)).or_insert(0_u32) += 1;
            }
        }
    }
    let of = |threshold, offsets| seen.get(&(threshold, offsets)).copied().unwrap_or(0);
    let all: u32 = seen.values().sum();
    assert_eq!(all, 45 * 9 * 3, "keys, thresholds, deals");
    let (none, one) = (of(2, 0), of(2, 1));
    assert!(none * 4 >= none + one && one * 4 >= none + one, "{none} without, {one} with an offset");
    assert!(
        (2..10).any(|offsets| of(10, offsets) > 0) && of(10, 0) < 5,
        "ten parts nearly always need some: {seen:?}"
    );
}

#[test]
fn tsr_06_a_newcomers_share_signs_and_shuffling_hides_the_helpers() {
    let (dealer, all) = (real(0), members(4));
    let (sharing, mut shares) = dealt(&dealer, 2, &all[..3], 1);
    let helpers = &all[..2];
    let mut told = BTreeMap::new();
    let ends = enrol(&sharing, &shares, helpers, all[3], 3, |round, speaker, said| {
        if round == 1 && said.to_each.contains_key(&all[3]) {
            told.insert(speaker, said.to_each[&all[3]].expose()[1..].to_vec());
        }
    });
    let share = ends[&all[3]].as_ref().unwrap().clone().unwrap();
    for helper in helpers {
        let bare = shares[helper].partial(&sharing, helper, helpers, hashed_place(&all[3])).unwrap();
        assert_ne!(&told[helper], bare.expose(), "what it was told is not what would give the helper away");
    }
    shares.insert(all[3], share);
    for hands in [&all[2..], &[all[0], all[3]]] {
        assert_eq!(
            judge().verify(b"yes", &sign(&sharing, &shares, hands, Subject::Message(b"yes")).signature),
            Ok(())
        );
    }
}

#[test]
fn tsr_06_without_shuffling_a_newcomer_reads_the_helpers_shares() {
    let (sharing, shares) = vectors();
    let helpers = smalls(&[1, 3, 5]);
    for helper in &helpers {
        let bare = number(shares[helper].partial(&sharing, helper, &helpers, 7).unwrap().expose());
        // λ is public: find ss with ss·λ = pss by λ of a share that is one.
        let one = TsRsaShare::from_bytes(&bytes(1), &sharing, ForStudy).unwrap();
        let weight = number(one.partial(&sharing, helper, &helpers, 7).unwrap().expose());
        let found = (u128::from(bare) * u128::from(inverse(weight)) % u128::from(N)) as u64;
        assert_eq!(found, value(&shares[helper], &sharing));
    }
}

/// 1/number mod N, by Euclid.
fn inverse(number: u64) -> u64 {
    let (mut a, mut b, mut x, mut y) = (number as i64, N as i64, 1_i64, 0_i64);
    while b != 0 {
        let quotient = a / b;
        (a, b) = (b, a - quotient * b);
        (x, y) = (y, x - quotient * y);
    }
    assert_eq!(a, 1);
    x.rem_euclid(N as i64) as u64
}

#[test]
fn tsr_07_resharing_keeps_the_key_and_makes_old_shares_worthless() {
    let (dealer, all) = (real(0), members(5));
    let (sharing, shares) = dealt(&dealer, 2, &all[..3], 1);
    let fresh = reshare(&sharing, &shares, &all[1..3], &all[1..], 3, 4, |_, _, _| {});
    assert_eq!(fresh.keys().copied().collect::<Vec<_>>(), all[1..]);
    let raised = sharing.with_threshold(3, ForStudy);
    for hands in [&all[1..4], &all[2..]] {
        assert_eq!(
            judge().verify(b"yes", &sign(&raised, &fresh, hands, Subject::Message(b"yes")).signature),
            Ok(())
        );
    }
    let mut mixed = fresh.clone();
    mixed.insert(all[1], shares[&all[1]].clone());
    let runs = signers(&raised, &mixed, &all[1..4], &[], Subject::Message(b"yes"));
    let nobody = Err(Fault { kind: FaultKind::Unattributable, culprits: vec![] });
    assert!(play(runs, 1).into_values().all(|end| end == nobody));
    let lowered = reshare(&raised, &fresh, &all[1..4], &all[..2], 1, 5, |_, _, _| {});
    let alone = sign(&sharing.with_threshold(1, ForStudy), &lowered, &all[..1], Subject::Message(b"yes"));
    assert_eq!((alone.offsets, judge().verify(b"yes", &alone.signature)), (0, Ok(())));
}

#[test]
fn tsr_08_runs_take_the_right_hands_only() {
    let (sharing, shares) = vectors();
    let kind = |fault: Fault| fault.kind;
    let enrolled = |share: Option<u8>, me: u8, newcomer: u8, helpers: &[u8]| {
        let share = share.map(|id| &shares[&small(id)]);
        TsRsaEnrol::new(&sharing, share, small(me), small(newcomer), &smalls(helpers), ForStudy)
            .map(|_| ())
            .map_err(kind)
    };
    assert_eq!(enrolled(Some(1), 1, 7, &[1, 2, 3]), Ok(()));
    assert_eq!(enrolled(None, 7, 7, &[1, 2, 3]), Ok(()));
    for (share, me, newcomer, helpers) in [
        (Some(1), 1, 7, &[1, 2][..]),
        (Some(1), 1, 7, &[2, 3, 4]),
        (Some(1), 1, 3, &[1, 2, 3]),
        (None, 8, 7, &[1, 2, 3]),
    ] {
        assert_eq!(enrolled(share, me, newcomer, helpers), Err(FaultKind::LocalSigners));
    }
    let reshared = |share: Option<u8>, me: u8, old: &[u8], new: &[u8], threshold| {
        let share = share.map(|id| &shares[&small(id)]);
        TsRsaReshare::new(&sharing, share, small(me), &smalls(old), &smalls(new), threshold, ForStudy)
            .map(|_| ())
            .map_err(kind)
    };
    assert_eq!(reshared(Some(1), 1, &[1, 2, 3], &[1, 2], 2), Ok(()));
    for (share, me, old, new, threshold) in [
        (Some(1), 1, &[1, 2][..], &[1, 2][..], 2),
        (Some(1), 1, &[1, 2, 3], &[1, 2], 3),
        (Some(1), 1, &[1, 2, 3], &[1, 2], 0),
        (Some(4), 4, &[1, 2, 3], &[4, 5], 2),
        (None, 1, &[1, 2, 3], &[1, 2], 2),
        (None, 9, &[1, 2, 3], &[1, 2], 2),
    ] {
        assert_eq!(reshared(share, me, old, new, threshold), Err(FaultKind::LocalSigners));
    }
    let m = bytes(M);
    let mut run = TsRsaSign::new(
        &sharing,
        &shares[&small(1)],
        small(1),
        &smalls(&[1, 2, 3]),
        true,
        Subject::Number(&m),
        ForStudy,
    )
    .unwrap();
    assert!(matches!(run.start(&mut Seed(1)), Next::Say(_)));
    let fault = run.hear(Incoming::default(), &mut Seed(1)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::LocalRound);
    over(run, &[1, 2, 3], vec![1, 1]);
    let first = || Some(&shares[&small(1)]);
    let (old, new) = (smalls(&[1, 2, 3]), smalls(&[1, 2]));
    let mut run = TsRsaReshare::new(&sharing, first(), small(1), &old, &new, 2, ForStudy).unwrap();
    run.start(&mut Seed(1));
    assert_eq!(run.hear(Incoming::default(), &mut Seed(1)).unwrap_err().kind, FaultKind::LocalRound);
    over(run, &[1, 2, 3], Vec::new());
    let mut run = TsRsaEnrol::new(&sharing, first(), small(1), small(7), &old, ForStudy).unwrap();
    run.start(&mut Seed(1));
    assert_eq!(run.hear(Incoming::default(), &mut Seed(1)).unwrap_err().kind, FaultKind::LocalRound);
    over(run, &[1, 2, 3], Vec::new());
}

/// A run that was handed half a round hears no whole one.
fn over<R: Run>(mut run: R, hands: &[u8], word: Vec<u8>) {
    assert!(run.awaited().is_empty());
    let to_all = smalls(hands).into_iter().map(|hand| (hand, word.clone())).collect();
    let refused = run.hear(Incoming { to_all, ..Incoming::default() }, &mut Seed(1));
    assert_eq!(refused.err().map(|fault| fault.kind), Some(FaultKind::LocalRound));
}

#[test]
fn two_members_at_one_place_do_not_sign() {
    let one_place: folkmoot_study::ts_rsa::PlaceOf = |_| 5;
    let dealer = TsRsaDealer::new(&[3, 251], &[4, 163], 17, one_place, ForStudy).unwrap();
    let (holders, m) = (smalls(&[1, 2]), bytes(M));
    let (sharing, shares) = dealt(&dealer, 2, &holders, 1);
    let ends = play(
        signers(
            &sharing,
            &hand_out(&holders, shares.into_values().collect()),
            &holders,
            &[],
            Subject::Number(&m),
        ),
        1,
    );
    assert!(ends.into_values().all(|end| end.unwrap_err().kind == FaultKind::LocalSigners));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn tsr_02_any_t_sign(seed in 0_u64..1000, threshold in 1_usize..5, more in 0_usize..3, message: Vec<u8>) {
        let all = members((threshold + more) as u64);
        let (sharing, shares) = dealt(&real(0), threshold as u16, &all, seed);
        let done = sign(&sharing, &shares, &all[more..], Subject::Message(&message));
        prop_assert_eq!(judge().verify(&message, &done.signature), Ok(()));
        prop_assert!(usize::from(done.offsets) < threshold);
    }
}
