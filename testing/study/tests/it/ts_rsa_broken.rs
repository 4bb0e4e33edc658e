//! Why TS-RSA is for study only: each attack succeeds against it, and is shown to fail against
//! Shoup's scheme.

use crate::common::{Seed, members, play, play_with, run_id};
use crate::keys::{SMALL, deal, signers as shoup_signers};
use crate::kit::{M, N, Shares, bytes, enrol, hand_out, number, reshare, sign, signers, small, smalls, toy};
use folkmoot_base::{MemberId, Secret};
use folkmoot_signing::shoup::{ShoupError, ShoupShare};
use folkmoot_signing::{Fault, FaultKind, Outgoing};
use folkmoot_study::ts_rsa::{Subject, TsRsaShare, TsRsaSharing};

fn of_five(threshold_terms: &[u64]) -> (TsRsaSharing, Shares) {
    let holders = smalls(&[1, 2, 3, 4, 5]);
    let (sharing, shares) = toy().deal_by(threshold_terms, &holders).unwrap();
    (sharing, hand_out(&holders, shares))
}

fn words(value: u64) -> Secret<Vec<u8>> {
    Secret::new([&[1], bytes(value).as_slice()].concat())
}

fn told(said: &Outgoing, to: &MemberId) -> u64 {
    number(&said.to_each[to].expose()[1..])
}

#[test]
fn tsr_09_a_false_share_is_handed_to_a_newcomer_and_nobody_can_tell() {
    let (sharing, mut shares) = of_five(&[123_456, 654_321]);
    let helpers = smalls(&[1, 3, 5]);
    let ends = enrol(&sharing, &shares, &helpers, small(7), 1, |round, speaker, said| {
        if round == 1 && speaker == small(3) {
            let honest = told(said, &small(7));
            said.to_each.insert(small(7), words((honest + 1) % N));
        }
    });
    // Everybody is content: the helpers are done, the newcomer has a share, and there is nothing to
    // hold it against.
    assert!(ends.values().all(Result::is_ok));
    let false_share = ends[&small(7)].as_ref().unwrap().clone().unwrap();
    assert_eq!(number(false_share.to_bytes(&sharing).expose()), 410_032, "f(7) is 410031");
    shares.insert(small(7), false_share);
    // The harm shows later, in signatures that fail by nobody knows whom.
    let m = bytes(M);
    let hands = smalls(&[1, 2, 7]);
    for end in play(signers(&sharing, &shares, &hands, &[], Subject::Number(&m)), 1).into_values() {
        assert_eq!(end, Err(Fault { kind: FaultKind::Unattributable, culprits: vec![] }));
    }
}

#[test]
fn tsr_09_shoup_refuses_a_false_share_when_it_is_handed_out() {
    let mut dealt = deal(SMALL, 3, 6, 5, 1);
    let seat = dealt.sharing.hand_out(crate::common::member(77)).unwrap();
    let good = dealt.shares[usize::from(seat) - 1].encode(&dealt.sharing).expose().clone();
    assert_eq!(ShoupShare::decode(&good, &dealt.sharing).unwrap().seat(), seat);
    let mut bad = good;
    *bad.last_mut().unwrap() ^= 1;
    assert_eq!(ShoupShare::decode(&bad, &dealt.sharing).err(), Some(ShoupError::PeerShare));
}

#[test]
fn tsr_10_a_false_part_stops_every_signature_and_names_nobody() {
    let (sharing, shares) = of_five(&[123_456, 654_321]);
    let (hands, m) = (smalls(&[1, 2, 3]), bytes(M));
    for liar in &hands {
        let runs = signers(&sharing, &shares, &hands, &[], Subject::Number(&m));
        let ends = play_with(runs, 1, |round, speaker, said| {
            if round == 1 && speaker == *liar {
                let part = number(&said.to_all[1..]);
                said.to_all = words(part * 2 % N).expose().clone();
            }
        });
        // Whoever lied, the others see the very same thing.
        for end in ends.into_values() {
            assert_eq!(end, Err(Fault { kind: FaultKind::Unattributable, culprits: vec![] }));
        }
    }
}

#[test]
fn tsr_10_shoup_names_who_said_a_false_part() {
    let (dealt, hands) = (deal(SMALL, 3, 6, 5, 1), members(3));
    for liar in &hands {
        let runs = shoup_signers(&dealt.sharing, &dealt.shares, &hands, run_id(1), b"yes");
        let mut ends = play_with(runs, 1, |_, speaker, said| {
            if speaker == *liar {
                said.to_all[100] ^= 1;
            }
        });
        ends.remove(liar);
        for end in ends.into_values() {
            assert_eq!(end, Err(Fault { kind: FaultKind::PeerPart, culprits: vec![*liar] }));
        }
    }
}

#[test]
fn tsr_11_a_false_word_in_a_resharing_spoils_the_key_for_all_in_silence() {
    let (sharing, shares) = of_five(&[123_456]);
    let (old, new) = (smalls(&[1, 2]), smalls(&[1, 2, 3]));
    let fresh = reshare(&sharing, &shares, &old, &new, 2, 1, |_, speaker, said| {
        if speaker == small(2) {
            let honest = told(said, &small(3));
            said.to_each.insert(small(3), words((honest + 5) % N));
        }
    });
    assert_eq!(fresh.len(), 3, "all three have a share and are content");
    let m = bytes(M);
    let nobody = Err(Fault { kind: FaultKind::Unattributable, culprits: vec![] });
    let runs = signers(&sharing, &fresh, &smalls(&[1, 3]), &[], Subject::Number(&m));
    assert!(play(runs, 1).into_values().all(|end| end == nobody));
}

/// a · b mod N.
fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(N)) as u64
}

/// The bad holder's polynomial in a resharing of two: it waits for what the honest one tells it,
/// then chooses g so that its own new share is `wanted`. g(0) is what the protocol asks for, so
/// everything adds up and every signature succeeds.
fn choose(said: &mut Outgoing, honest_tells_bad: u64, wanted: u64) {
    // Ids: the bad one is 1, the honest one 2. g(1) = c + a, g(2) = c + 2a, and g(1) + honest =
    // wanted.
    let (one, two) = (told(said, &small(1)), told(said, &small(2)));
    let at_zero = (2 * one + N - two) % N;
    let at_one = (wanted + N - honest_tells_bad) % N;
    let slope = (at_one + N - at_zero) % N;
    said.to_each.insert(small(1), words(at_one));
    said.to_each.insert(small(2), words((at_one + slope) % N));
}

#[test]
fn tsr_12_one_bad_holder_of_two_reads_the_whole_private_exponent_from_offsets() {
    let holders = smalls(&[1, 2]);
    let dealer = toy();
    let (sharing, shares) = dealer.deal(2, &holders, &mut Seed(1)).unwrap();
    let mut shares = hand_out(&holders, shares);
    let m = bytes(M);
    // d lies in low..high. λ of id 1 among {1, 2} at zero is 2, so its exponent is twice its share:
    // half of `middle` as its share.
    let (mut low, mut high) = (0_u64, N);
    let mut rounds = 0;
    while high - low > 1 {
        let middle = low.midpoint(high);
        let wanted = times(middle, N.div_ceil(2));
        let mut honest = 0;
        let mut first = true;
        // Two passes of the same seed: what the honest one says does not depend on the bad one's
        // words. In the first it is overheard (it is said to the bad one), in the second the bad
        // one answers it, which is what speaking last means.
        for _ in 0..2 {
            let fresh =
                reshare(&sharing, &shares, &holders, &holders, 2, 1_000 + rounds, |_, speaker, said| {
                    if speaker == small(2) {
                        honest = told(said, &small(1));
                    } else if !first {
                        choose(said, honest, wanted);
                    }
                });
            if !first {
                shares = fresh;
            }
            first = false;
        }
        let mine: &TsRsaShare = &shares[&small(1)];
        let exponent = number(mine.exponent(&sharing, &small(1), &holders).unwrap().expose());
        assert_eq!(exponent, middle, "it signs with whatever it likes");
        let done = sign(&sharing, &shares, &holders, Subject::Number(&m));
        assert_eq!(number(&done.signature), 517_307, "and the honest one sees a good signature");
        // Σ d_j = d + kN, and the other's d_j is below N: no offset means middle ≤ d, one means d <
        // middle.
        if done.offsets == 0 {
            low = middle
        } else {
            high = middle
        }
        rounds += 1;
    }
    assert_eq!(low, number(dealer.private_exponent().expose()), "d, whole");
    assert!(rounds <= 21, "one bit each time: {rounds}");
}

#[test]
fn tsr_12_a_holder_who_only_looks_learns_bounds_of_the_private_exponent() {
    let holders = smalls(&[1, 2]);
    let dealer = toy();
    let m = bytes(M);
    let d = number(dealer.private_exponent().expose());
    let (mut low, mut high) = (0, N);
    for seed in 0..200 {
        let (sharing, shares) = dealer.deal(2, &holders, &mut Seed((seed + 1) << 40)).unwrap();
        let shares = hand_out(&holders, shares);
        let mine = number(shares[&small(1)].exponent(&sharing, &small(1), &holders).unwrap().expose());
        let done = sign(&sharing, &shares, &holders, Subject::Number(&m));
        if done.offsets == 0 { low = low.max(mine) } else { high = high.min(mine) }
    }
    assert!(low <= d && d < high);
    assert!(high - low < N / 20, "after 200 refreshed sharings {low} to {high} is left of {N}");
}

#[test]
fn tsr_12_shoup_shows_nothing_that_depends_on_the_shares() {
    // The signature is all that a run comes to: the same bytes whatever the shares, the signers,
    // the deal. There is no count to look at, and no resharing by members to bend.
    let mut seen: Vec<Vec<u8>> = (1..=4)
        .flat_map(|seed| {
            let dealt = deal(SMALL, 2, 3, 3, seed);
            [
                crate::keys::sign(&dealt, &members(3)[..2], b"yes"),
                crate::keys::sign(&dealt, &members(3)[1..], b"yes"),
            ]
        })
        .collect();
    seen.dedup();
    assert_eq!(seen.len(), 1);
}
