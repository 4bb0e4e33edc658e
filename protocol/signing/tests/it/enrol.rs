//! A newcomer is given its share by holders who tell nothing of theirs. Anyone who lies on the way
//! is named, and nothing is opened for it.

use crate::common::{Ends, Stuck, member, members, run_id};
use crate::kit::{Many, agreed, interpolate, joint, lambda, named, tell};
use folkmoot_base::{Entropy, MemberId, Secret};
use folkmoot_signing::sharing::{Change, Enrol, Holding, deal};
use folkmoot_signing::{FaultKind, Next, Outgoing, P256, PrimeGroup};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Scalar = <P256 as PrimeGroup>::Scalar;

fn newcomer() -> MemberId {
    member(99)
}

/// Four holders, three of whom determine the secret and help; the fourth looks on.
fn four() -> (Many<P256>, Vec<MemberId>) {
    (joint::<P256>(&members(4), 3, 1), members(4)[..3].to_vec())
}

/// An enrolment in which `liar` says otherwise.
fn with(liar: MemberId, lie: impl Fn(usize, &mut Outgoing)) -> Ends<Holding<P256>> {
    let (many, helpers) = four();
    tell(many.enrol_hands(&helpers, newcomer(), 2), 2, |round, speaker, said| {
        if speaker == liar {
            lie(round, said);
        }
    })
}

/// It came to a good share all the same.
fn good(ends: Ends<Holding<P256>>) {
    let (many, helpers) = four();
    assert_eq!(ends.len(), 5);
    let more = many.extended(agreed(ends), newcomer());
    assert!(more.determine(&[newcomer(), helpers[0], helpers[2]]));
}

fn flip_private(said: &mut Outgoing, to: MemberId) {
    let mut word = said.to_each[&to].expose().clone();
    *word.last_mut().unwrap() ^= 1;
    said.to_each.insert(to, Secret::new(word));
}

fn accusing(accused: &[MemberId]) -> Vec<u8> {
    let mut word = vec![1, 4, 0, accused.len() as u8];
    accused.iter().for_each(|hand| word.extend(hand.0));
    word
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn shr_20_a_newcomers_share_is_one_more_of_the_same_polynomial(
        threshold in 1_usize..5, spare in 0_u64..3, from in 0_usize..3, seed in 0_u64..1000,
    ) {
        let many = joint::<P256>(&members(threshold as u64 + spare), threshold, seed);
        let from = from.min(spare as usize);
        let helpers = many.sharing.holders()[from..from + threshold].to_vec();
        let more = many.enrol(&helpers, newcomer(), seed + 1);
        let with_newcomer: Vec<_> = more.sharing.holders().iter().copied().filter(|hand| *hand != helpers[0]).take(threshold).collect();
        prop_assert!(more.determine(&with_newcomer));
        let mut old: Vec<_> = helpers.iter().map(|hand| (*hand, many.value(hand))).collect();
        prop_assert!(more.value(&newcomer()) == interpolate::<P256>(&old, P256::place(&newcomer())));
        // One by one: the newcomer helps the next.
        let mut next = helpers[1..].to_vec();
        next.push(newcomer());
        next.sort();
        let most = more.enrol(&next, member(100), seed + 2);
        old.push((newcomer(), more.value(&newcomer())));
        prop_assert!(most.value(&member(100)) == interpolate::<P256>(&old, P256::place(&member(100))));
    }
}

#[test]
fn shr_21_masks_have_one_form_and_belong_to_the_run() {
    let (_, helpers) = four();
    for length in [0, 2, 33, 34, 66, 68, 99, 101, 133] {
        let ends = with(helpers[1], |round, said| {
            if round == 0 {
                said.to_all.resize(length, 0);
            }
        });
        named(&ends, helpers[1], 5, FaultKind::PeerMalformed);
    }
    for at in [0, 1, 2, 33] {
        let ends = with(helpers[1], |round, said| {
            if round == 0 {
                said.to_all[at] ^= 1;
            }
        });
        named(&ends, helpers[1], 5, FaultKind::PeerMalformed);
    }
}

#[test]
fn shr_22_a_false_mask_is_settled_by_a_true_answer_and_names_its_maker_by_a_false_one() {
    let (_, helpers) = four();
    let (liar, victim) = (helpers[0], helpers[2]);
    type Break<'a> = &'a dyn Fn(&mut Outgoing);
    let breaks: [Break<'_>; 3] =
        [&|said| flip_private(said, victim), &|said| drop(said.to_each.remove(&victim)), &|said| {
            drop(said.to_each.insert(victim, Secret::new(vec![1, 7])))
        }];
    for broken in breaks {
        good(with(liar, |round, said| {
            if round == 0 {
                broken(said);
            }
        }));
        let answered = |change: fn(&mut Vec<u8>)| {
            with(liar, |round, said| match round {
                0 => broken(said),
                2 => change(&mut said.to_all),
                _ => {}
            })
        };
        named(&answered(|word| *word.last_mut().unwrap() ^= 1), liar, 5, FaultKind::PeerShare);
        named(&answered(|word| word.push(0)), liar, 5, FaultKind::PeerMalformed);
        named(&answered(Vec::clear), liar, 5, FaultKind::PeerMalformed);
    }
    // The published mask is another than the one sent: whichever it answers with, it is not what
    // was published.
    let ends = with(liar, |round, said| {
        if round == 0 {
            said.to_all[34] ^= 1;
        }
    });
    named(&ends, liar, 5, FaultKind::PeerShare);
}

#[test]
fn shr_23_helpers_accuse_earlier_helpers_only_and_once() {
    let (_, helpers) = four();
    let liar = helpers[1];
    let accuse = |at: usize, accused: Vec<MemberId>| {
        with(liar, move |round, said| {
            if round == at {
                said.to_all = accusing(&accused);
            }
        })
    };
    named(&accuse(1, vec![liar]), liar, 5, FaultKind::PeerAccusation);
    named(&accuse(1, vec![helpers[2]]), liar, 5, FaultKind::PeerAccusation);
    named(&accuse(1, vec![member(7)]), liar, 5, FaultKind::PeerAccusation);
    let malformed = with(liar, |round, said| {
        if round == 1 {
            said.to_all.clear();
        }
    });
    named(&malformed, liar, 5, FaultKind::PeerMalformed);
    // Without ground, but it holds its part back until it is answered; then it may not accuse
    // again.
    let late = |then: fn(&mut Outgoing)| {
        with(liar, move |round, said| match round {
            1 => {
                said.to_all = accusing(&[members(4)[0]]);
                said.to_each.clear();
            }
            3 => then(said),
            _ => {}
        })
    };
    named(&late(|said| said.to_all = accusing(&[members(4)[0]])), liar, 5, FaultKind::PeerAccusation);
    named(&late(|said| said.to_all = vec![9]), liar, 5, FaultKind::PeerMalformed);
}

/// The part alone shows who sent a false one: no mask is opened for that.
#[test]
fn shr_24_a_false_part_is_settled_by_a_true_answer_and_names_its_helper_by_a_false_one() {
    let (_, helpers) = four();
    for liar in helpers {
        type Break<'a> = &'a dyn Fn(&mut Outgoing);
        let breaks: [Break<'_>; 3] =
            [&|said| flip_private(said, newcomer()), &|said| said.to_each.clear(), &|said| {
                drop(said.to_each.insert(newcomer(), Secret::new(vec![1, 8])))
            }];
        for broken in breaks {
            good(with(liar, |round, said| {
                if round == 1 {
                    broken(said);
                }
            }));
            let answered = |change: fn(&mut Vec<u8>)| {
                with(liar, |round, said| match round {
                    1 => broken(said),
                    3 => change(&mut said.to_all),
                    _ => {}
                })
            };
            named(&answered(|word| *word.last_mut().unwrap() ^= 1), liar, 5, FaultKind::PeerPart);
            named(&answered(|word| word.push(0)), liar, 5, FaultKind::PeerMalformed);
            named(&answered(Vec::clear), liar, 5, FaultKind::PeerMalformed);
        }
    }
}

#[test]
fn shr_25_a_newcomer_accuses_helpers_only() {
    let (_, helpers) = four();
    let says = |word: Vec<u8>| {
        with(newcomer(), move |round, said| {
            if round == 2 {
                said.to_all = word.clone();
            }
        })
    };
    named(&says(accusing(&[members(4)[3]])), newcomer(), 5, FaultKind::PeerAccusation);
    named(&says(accusing(&[newcomer()])), newcomer(), 5, FaultKind::PeerAccusation);
    named(&says(Vec::new()), newcomer(), 5, FaultKind::PeerMalformed);
    named(&says(vec![1, 4, 0, 1]), newcomer(), 5, FaultKind::PeerMalformed);
    // Without ground it makes its own share public, and nobody else's.
    good(says(accusing(&helpers)));
}

/// What the newcomer hears: the parts of an enrolment by holders who have these shares, and masks
/// drawn from `seed`.
fn heard(many: &Many<P256>, helpers: &[MemberId], seed: u64) -> BTreeMap<MemberId, Scalar> {
    let mut parts = BTreeMap::new();
    tell(many.enrol_hands(helpers, newcomer(), seed), seed, |round, speaker, said| {
        if let (1, Some(word)) = (round, said.to_each.get(&newcomer())) {
            parts.insert(speaker, P256::decode_scalar(&word.expose()[2..]).unwrap());
        }
    });
    parts
}

/// Another sharing in which the newcomer's share is the same, and no holder's is.
fn twin(many: &Many<P256>, helpers: &[MemberId]) -> Many<P256> {
    struct Slope(Scalar);
    impl Entropy for Slope {
        fn fill(&mut self, out: &mut [u8]) {
            let half = out.len() / 2;
            out[..half].fill(0);
            out[half..].copy_from_slice(&P256::encode_scalar(&self.0));
        }
    }
    let old: Vec<_> = helpers.iter().map(|hand| (*hand, many.value(hand))).collect();
    let place = P256::place(&newcomer());
    let target = interpolate::<P256>(&old, place);
    let secret = P256::plus(interpolate::<P256>(&old, P256::zero()), P256::one());
    // f(z) = secret + slope · z with f(place) = target.
    let slope = P256::times(P256::plus(target, P256::minus(secret)), P256::inverse(place).unwrap());
    let (sharing, shares) = deal::<P256>(&secret, many.sharing.holders(), 2, &mut Slope(slope)).unwrap();
    Many { sharing, shares }
}

/// Compares run with run, with two vectors of shares that give the newcomer the same share. For
/// each mask of the one there is exactly one of the other under which the newcomer hears the same.
/// So what it hears says nothing about a single share.
#[test]
fn shr_26_what_a_newcomer_hears_is_independent_of_each_share() {
    let many = joint::<P256>(&members(2), 2, 1);
    let helpers = members(2);
    let other = twin(&many, &helpers);
    let place = P256::place(&newcomer());
    let part = |many: &Many<P256>, hand: &MemberId| {
        P256::times(many.value(hand), lambda::<P256>(hand, &helpers, place))
    };
    assert!(helpers.iter().all(|hand| many.value(hand) != other.value(hand)));
    let mut low = [0_u32; 2];
    for seed in 2..66 {
        for (which, from) in [&many, &other].into_iter().enumerate() {
            let parts = heard(from, &helpers, seed);
            let sum = P256::plus(parts[&helpers[0]], parts[&helpers[1]]);
            let share = P256::plus(part(&many, &helpers[0]), part(&many, &helpers[1]));
            assert!(sum == share, "the sum is the share, in both");
            low[which] += u32::from(P256::encode_scalar(&parts[&helpers[0]])[0] & 1);
            // The mask that explains these parts by the other shares: it exists, for both parts at
            // once.
            let explained = P256::plus(parts[&helpers[0]], P256::minus(part(&other, &helpers[0])));
            assert!(parts[&helpers[1]] == P256::plus(part(&other, &helpers[1]), P256::minus(explained)));
        }
    }
    assert!(low.iter().all(|count| (16..=48).contains(count)), "of 64 each, about half: {low:?}");
}

/// The sum of all masks is zero, whoever drew them.
#[test]
fn shr_26_masks_add_up_to_nothing() {
    let (many, helpers) = four();
    let parts = heard(&many, &helpers, 3);
    let bare = |hand: &MemberId| {
        P256::times(many.value(hand), lambda::<P256>(hand, &helpers, P256::place(&newcomer())))
    };
    let masks = helpers.iter().map(|hand| P256::plus(parts[hand], P256::minus(bare(hand))));
    assert!(helpers.iter().all(|hand| parts[hand] != bare(hand)), "no part goes bare");
    assert!(masks.fold(P256::zero(), P256::plus) == P256::zero());
}

/// Why there are masks: without them the newcomer divides by the public λ and has every helper's
/// share.
#[test]
fn without_masks_a_newcomer_recovers_every_share() {
    let (many, helpers) = four();
    let place = P256::place(&newcomer());
    // The weak variant: a helper sends share · λ as it is.
    let sent: Vec<(MemberId, Scalar)> = helpers
        .iter()
        .map(|hand| (*hand, P256::times(many.value(hand), lambda::<P256>(hand, &helpers, place))))
        .collect();
    let recovered = |hand: &MemberId, part: Scalar| {
        P256::times(part, P256::inverse(lambda::<P256>(hand, &helpers, place)).unwrap())
    };
    assert!(sent.iter().all(|(hand, part)| recovered(hand, *part) == many.value(hand)));
    // From the real one it does not.
    let masked = heard(&many, &helpers, 3);
    assert!(masked.iter().all(|(hand, part)| recovered(hand, *part) != many.value(hand)));
}

/// What a holder lost it gets again, from any others; they keep theirs, and nobody else gets it.
#[test]
fn shr_27_a_holder_that_lost_its_share_gets_the_same_again() {
    let (many, _) = four();
    let (holders, lost) = (members(4), members(4)[1]);
    let helpers: Vec<MemberId> = holders.iter().copied().filter(|holder| *holder != lost).collect();
    let again = agreed(tell(many.enrol_hands(&helpers, lost, 7), 7, |_, _, _| {}));
    assert_eq!(again.sharing, many.sharing, "the same polynomial and the same holders");
    assert_eq!(again.shares.keys().collect::<Vec<_>>(), [&lost]);
    assert!(again.value(&lost) == many.value(&lost));
    // It does not help itself, and one that lies to it is named.
    let own = Enrol::new(run_id(1), lost, &many.sharing, Some(&many.shares[&lost]), &holders[..3], lost);
    assert_eq!(own.err().map(|fault| fault.kind), Some(FaultKind::LocalSigners));
    let lied = tell(many.enrol_hands(&helpers, lost, 8), 8, |round, speaker, said| {
        if speaker == helpers[0] && round == 0 {
            said.to_all[34] ^= 1;
        }
    });
    named(&lied, helpers[0], 4, FaultKind::PeerShare);
}

/// Masks that bad entropy draws tell nothing either: the helper's share is behind them.
#[test]
fn shr_28_masks_and_dealings_are_drawn_with_a_secret_behind_them() {
    let (many, helpers) = four();
    let masks = |many: &Many<P256>, run| {
        let mut hands = many.enrol_hands(&helpers, newcomer(), run);
        let Next::Say(said) = hands.get_mut(&helpers[0]).unwrap().start(&mut Stuck) else { panic!() };
        said.to_all[34..].to_vec()
    };
    let other = joint::<P256>(&members(4), 3, 2);
    assert_eq!(masks(&many, 2), masks(&many, 2));
    assert_ne!(masks(&many, 2), masks(&many, 3), "another run");
    assert_ne!(masks(&many, 2), masks(&other, 2), "another share: whoever knows the entropy knows no mask");
    let dealt = |many: &Many<P256>, run| {
        let change = Change { dealers: &helpers, holders: &members(4), threshold: 3 };
        let mut hands = many.redistribute_hands(change, run);
        let Next::Say(said) = hands.get_mut(&helpers[0]).unwrap().start(&mut Stuck) else { panic!() };
        said.to_all
    };
    assert_ne!(dealt(&many, 2), dealt(&many, 3));
    assert_ne!(dealt(&many, 2), dealt(&other, 2));
}
