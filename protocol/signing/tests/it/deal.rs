//! A dealer, through `shared` (docs/protocol/signing.md, "Dealing"), for each scheme whose members
//! hold shares of one key.

use crate::common::{Ends, Seed, member, members, play, play_with, run_id};
use folkmoot_base::{MemberId, Secret};
use folkmoot_signing::rsa::ModulusSize;
use folkmoot_signing::shared::{self, AnyRun, Dealt, Moving, Outcome};
use folkmoot_signing::{FaultKind, KeyKind, Scheme, SigningError};
use proptest::prelude::*;
use std::collections::BTreeMap;

const DEALT: [Scheme; 3] = [Scheme::TsDsa, Scheme::Frost, Scheme::Shoup];
const OTHERS: [Scheme; 3] = [Scheme::Plain, Scheme::Asm, Scheme::TsRsa];
const MESSAGE: &[u8] = b"let her in";

/// A dealer's secret; Shoup's of stored primes.
fn secret(scheme: Scheme) -> Secret<Vec<u8>> {
    if scheme == Scheme::Shoup { stored(ModulusSize::Bits2048) } else { drawn(scheme, 1) }
}

fn drawn(scheme: Scheme, seed: u64) -> Secret<Vec<u8>> {
    shared::draw_secret(scheme, &mut Seed(seed << 40)).unwrap()
}

/// As the page has it: version, bits, p, q, the larger prime first.
fn stored(size: ModulusSize) -> Secret<Vec<u8>> {
    let (p, q) = crate::keys::primes(size).remove(0);
    let (p, q) = if p > q { (p, q) } else { (q, p) };
    Secret::new([&[1], &(size.bits() as u16).to_be_bytes()[..], &p, &q].concat())
}

fn deal(scheme: Scheme, threshold: usize, holders: &[MemberId], seed: u64) -> Dealt {
    shared::deal(scheme, &secret(scheme), threshold, holders, &mut Seed(seed << 40)).unwrap()
}

fn share<'a>(dealt: &'a Dealt, holder: &MemberId) -> &'a Secret<Vec<u8>> {
    &dealt.shares.iter().find(|(other, _)| other == holder).unwrap().1
}

fn hand(scheme: Scheme, dealt: &Dealt, hands: &[MemberId], me: MemberId) -> AnyRun {
    shared::sign(scheme, run_id(1), me, hands, (&dealt.public, share(dealt, &me)), MESSAGE).unwrap()
}

fn hands(scheme: Scheme, dealt: &Dealt, hands_of: &[MemberId]) -> BTreeMap<MemberId, AnyRun> {
    hands_of.iter().map(|me| (*me, hand(scheme, dealt, hands_of, *me))).collect()
}

fn signatures(ends: Ends<Outcome>) -> Vec<Option<Vec<u8>>> {
    let signature = |end| match end {
        Ok(Outcome::Signature(signature)) => Some(signature),
        Ok(Outcome::Sharing { .. }) => panic!("no sharing was asked for"),
        Err(_) => None,
    };
    ends.into_values().map(signature).collect()
}

/// The one signature that these holders make, which verifies.
fn signed(scheme: Scheme, dealt: &Dealt, hands_of: &[MemberId]) -> Vec<u8> {
    let all = signatures(play(hands(scheme, dealt, hands_of), 1));
    assert_eq!(all.len(), hands_of.len());
    let signature = all[0].clone().expect("a signature");
    assert!(all.iter().all(|other| other.as_ref() == Some(&signature)), "one signature at all");
    let key = shared::facts(scheme, &dealt.public).unwrap().key;
    assert_eq!(key.verify_raw(MESSAGE, &signature), Ok(()), "{scheme:?}");
    assert!(key.verify_raw(b"let him in", &signature).is_err());
    signature
}

/// Every choice of `count` of these.
fn choices(of: &[MemberId], count: usize) -> Vec<Vec<MemberId>> {
    let all = (0_u32..1 << of.len()).filter(|bits| bits.count_ones() as usize == count);
    all.map(|bits| (0..of.len()).filter(|at| bits >> at & 1 == 1).map(|at| of[at]).collect()).collect()
}

#[test]
fn deal_01_a_secret_has_one_encoding() {
    for scheme in DEALT {
        let secret = secret(scheme);
        let key = shared::public_key(scheme, &secret).unwrap();
        assert_eq!(shared::public_key(scheme, &secret.clone()), Ok(key.clone()));
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        let bytes = secret.expose();
        // Primes are proven again each time, so only a few bits of Shoup's secret are tried.
        let stride = if scheme == Scheme::Shoup { 191 } else { 1 };
        for bit in (0..bytes.len() * 8).step_by(stride) {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let read = shared::public_key(scheme, &Secret::new(changed));
            assert!(read.is_err() || scheme != Scheme::Shoup && read != Ok(key.clone()), "{scheme:?} {bit}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        for other in [&bytes[..0], &bytes[..1], &bytes[..bytes.len() - 1], &longer] {
            let read = shared::public_key(scheme, &Secret::new(other.to_vec()));
            assert_eq!(read, Err(SigningError::LocalSecret));
        }
        for other in DEALT.into_iter().filter(|other| *other != scheme).chain(OTHERS) {
            assert_eq!(shared::public_key(other, &secret), Err(SigningError::LocalSecret));
        }
        let bad = Secret::new(longer);
        let refused = shared::deal(scheme, &bad, 1, &members(1), &mut Seed(1)).unwrap_err();
        assert_eq!((refused.kind, refused.culprits.len()), (FaultKind::LocalSecret, 0));
    }
}

#[test]
fn deal_01_shoups_primes_stand_in_one_order() {
    let bytes = stored(ModulusSize::Bits2048).expose().clone();
    let (p, q) = bytes[3..].split_at(128);
    let twin = Secret::new([&bytes[..3], q, p].concat());
    assert_eq!(shared::public_key(Scheme::Shoup, &twin), Err(SigningError::LocalSecret));
    let twice = Secret::new([&bytes[..3], p, p].concat());
    assert_eq!(shared::public_key(Scheme::Shoup, &twice), Err(SigningError::LocalSecret));
}

#[test]
fn deal_02_the_same_seed_deals_the_same() {
    for scheme in DEALT {
        let (one, two) = (deal(scheme, 2, &members(4), 7), deal(scheme, 2, &members(4), 7));
        assert_eq!(one.public, two.public);
        assert_eq!(one.shares, two.shares);
        assert!(!format!("{one:?}").contains(&format!("{:?}", one.shares[0].1.expose())));
    }
    for scheme in [Scheme::TsDsa, Scheme::Frost] {
        assert_eq!(drawn(scheme, 3), drawn(scheme, 3));
        assert_ne!(drawn(scheme, 3), drawn(scheme, 4));
    }
}

#[test]
fn deal_02_shoups_primes_are_the_seeds() {
    // Seed 10 finds its primes soon; most seeds take some seconds.
    let (secret, again) = (drawn(Scheme::Shoup, 10), drawn(Scheme::Shoup, 10));
    assert_eq!(secret, again);
    assert_eq!(secret.expose()[..3], [1, 8, 0]);
    let dealt = shared::deal(Scheme::Shoup, &secret, 2, &members(3), &mut Seed(11 << 40)).unwrap();
    assert_eq!(
        shared::facts(Scheme::Shoup, &dealt.public).map(|facts| facts.key),
        shared::public_key(Scheme::Shoup, &secret)
    );
    signed(Scheme::Shoup, &dealt, &members(3)[1..]);
}

#[test]
fn deal_03_any_enough_holders_sign_and_fewer_do_not() {
    let kinds = [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa];
    for (scheme, kind) in DEALT.into_iter().zip(kinds) {
        let all = members(5);
        let dealt = deal(scheme, 2, &all[..4], 2);
        let facts = shared::facts(scheme, &dealt.public).unwrap();
        assert_eq!((facts.threshold, facts.holders.as_slice(), facts.key.kind()), (2, &all[..4], kind));
        assert_eq!(Ok(facts.key), shared::public_key(scheme, &secret(scheme)));
        assert_eq!(dealt.shares.iter().map(|(holder, _)| *holder).collect::<Vec<_>>(), all[..4]);
        let signers = scheme.signers(2);
        for hands in choices(&all[..4], signers) {
            signed(scheme, &dealt, &hands);
        }
        for hands in
            [&all[..signers - 1], &all[..signers + 1], &all[5 - signers..], &[all[0]].repeat(signers)]
        {
            let me = hands[0];
            let refused =
                shared::sign(scheme, run_id(1), me, hands, (&dealt.public, share(&dealt, &me)), MESSAGE);
            assert_eq!(
                refused.map(|_| ()).unwrap_err().kind,
                FaultKind::LocalSigners,
                "{scheme:?} {}",
                hands.len()
            );
        }
        let borrowed = (dealt.public.as_slice(), share(&dealt, &all[1]));
        let refused = shared::sign(scheme, run_id(1), all[0], &all[..signers], borrowed, MESSAGE);
        let kind = refused.map(|_| ()).unwrap_err().kind;
        assert!(
            matches!(kind, FaultKind::LocalShare | FaultKind::LocalSigners),
            "{scheme:?} {kind:?}: another's share"
        );
        let alone = deal(scheme, 1, &all[..1], 2);
        signed(scheme, &alone, &all[..1]);
    }
}

#[test]
fn deal_03_the_order_of_holders_says_nothing() {
    for scheme in DEALT {
        let mut back = members(4);
        back.reverse();
        assert_eq!(deal(scheme, 2, &back, 3).public, deal(scheme, 2, &members(4), 3).public);
    }
}

#[test]
fn deal_04_a_redeal_keeps_the_key_and_old_shares_do_not_mix_with_new_ones() {
    for scheme in DEALT {
        let all = members(5);
        let (old, new) = (deal(scheme, 2, &all[..4], 4), deal(scheme, 2, &all[..4], 5));
        let facts = |dealt: &Dealt| shared::facts(scheme, &dealt.public).unwrap();
        assert_eq!(facts(&old).key, facts(&new).key);
        assert_ne!(facts(&old).epoch, facts(&new).epoch);
        for (holder, share) in &old.shares {
            let refused = shared::check_share(scheme, &new.public, holder, share);
            assert_eq!(refused, Err(SigningError::PeerShare), "an old share does not pass for a new one");
        }
        let signers = &all[..scheme.signers(2)];
        signed(scheme, &new, signers);
        let mut mixed = hands(scheme, &new, signers);
        mixed.insert(signers[0], hand(scheme, &old, signers, signers[0]));
        assert!(
            signatures(play(mixed, 1)).iter().all(Option::is_none),
            "{scheme:?}: old and new make nothing"
        );
        let me = signers[0];
        let crossed = shared::sign(scheme, run_id(1), me, signers, (&new.public, share(&old, &me)), MESSAGE);
        let kind = crossed.map(|_| ()).unwrap_err().kind;
        assert!(matches!(kind, FaultKind::LocalShare | FaultKind::LocalSigners), "{scheme:?} {kind:?}");
        // Another threshold and other holders: the same key still.
        let moved = deal(scheme, 3, &all, 6);
        assert_eq!((facts(&moved).key, facts(&moved).threshold), (facts(&old).key, 3));
        signed(scheme, &moved, &all[5 - scheme.signers(3)..]);
    }
}

#[test]
fn deal_05_a_share_that_does_not_fit_is_found_by_its_holder() {
    for scheme in DEALT {
        let all = members(3);
        let dealt = deal(scheme, 2, &all, 7);
        let check = |holder: &MemberId, bytes: &[u8]| {
            shared::check_share(scheme, &dealt.public, holder, &Secret::new(bytes.to_vec()))
        };
        for (holder, share) in &dealt.shares {
            assert_eq!(check(holder, share.expose()), Ok(()));
            for other in all.iter().filter(|other| *other != holder) {
                assert_eq!(check(other, share.expose()), Err(SigningError::PeerShare), "another's share");
            }
            assert_eq!(check(&member(9), share.expose()), Err(SigningError::PeerShare), "no holder");
        }
        let bytes = share(&dealt, &all[1]).expose().clone();
        for bit in (0..bytes.len() * 8).step_by(5) {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let refused = check(&all[1], &changed).expect_err("a changed share");
            assert!(matches!(refused, SigningError::PeerShare | SigningError::WireShare), "{scheme:?} {bit}");
        }
        assert_eq!(check(&all[1], &[bytes.as_slice(), &[0]].concat()), Err(SigningError::WireShare));
        assert_eq!(check(&all[1], &bytes[1..]), Err(SigningError::WireShare));
        let cut = &dealt.public[..dealt.public.len() - 1];
        let refused = shared::check_share(scheme, cut, &all[1], share(&dealt, &all[1]));
        assert_eq!(refused, Err(SigningError::WireSharing));
    }
}

#[test]
fn deal_11_shoups_dealer_says_a_lost_share_again_and_of_no_sharing_that_it_has_not_dealt() {
    let (scheme, holders) = (Scheme::Shoup, members(4));
    let dealt = deal(scheme, 2, &holders, 1);
    let again =
        |public: &[u8], holder: &MemberId| shared::deal_again(scheme, &secret(scheme), public, holder);
    for holder in &holders {
        assert_eq!(again(&dealt.public, holder).unwrap().expose(), share(&dealt, holder).expose());
    }
    let refused = |public: &[u8], holder: &MemberId| again(public, holder).unwrap_err().kind;
    assert_eq!(refused(&dealt.public, &member(9)), FaultKind::LocalShare, "who holds none");
    // Voters could decide on a public part that has somebody else in a holder's seat.
    let (mine, mut theirs) = (holders[3], holders[3]);
    theirs.0[31] ^= 1;
    let mut forged = dealt.public.clone();
    let at = forged.windows(32).position(|part| part == mine.0).unwrap();
    forged[at..at + 32].copy_from_slice(&theirs.0);
    assert!(shared::facts(scheme, &forged).is_ok(), "its shares would sign");
    assert_eq!(refused(&forged, &theirs), FaultKind::LocalShare);
    assert_eq!(refused(&forged, &holders[0]), FaultKind::LocalShare);
    for flip in [0, 31, 200] {
        let mut forged = dealt.public.clone();
        let at = 11 + 256 + flip;
        forged[at] ^= 1;
        assert_eq!(refused(&forged, &holders[0]), FaultKind::LocalShare, "another v");
    }
    let bad = Secret::new(secret(scheme).expose()[1..].to_vec());
    let none = shared::deal_again(scheme, &bad, &dealt.public, &holders[0]).unwrap_err();
    assert_eq!(none.kind, FaultKind::LocalSecret);
    for scheme in [Scheme::TsDsa, Scheme::Frost] {
        let dealt = deal(scheme, 2, &holders, 1);
        let none = shared::deal_again(scheme, &secret(scheme), &dealt.public, &holders[0]).unwrap_err();
        assert_eq!(none.kind, FaultKind::LocalScheme, "its holders give it again");
    }
}

#[test]
fn deal_06_hands_that_make_no_sharing_are_refused() {
    for scheme in DEALT {
        let secret = secret(scheme);
        let twice = [members(1), members(2)].concat();
        let many = members(257);
        for (threshold, holders) in [(0, &many[..3]), (4, &many[..3]), (1, &[]), (2, &twice), (2, &many)] {
            let refused = shared::deal(scheme, &secret, threshold, holders, &mut Seed(1)).unwrap_err();
            assert_eq!(refused.kind, FaultKind::LocalSigners, "{scheme:?} {threshold} {}", holders.len());
        }
    }
}

#[test]
fn deal_07_what_a_scheme_has_not_is_refused_by_its_reason() {
    let all = members(3);
    let moving = Moving { givers: &all[..2], takers: &all };
    for scheme in OTHERS {
        let kind = |refused: Result<(), folkmoot_signing::Fault>| refused.unwrap_err().kind;
        assert_eq!(kind(shared::draw_secret(scheme, &mut Seed(1)).map(|_| ())), FaultKind::LocalScheme);
        let secret = drawn(Scheme::TsDsa, 1);
        let dealt = shared::deal(scheme, &secret, 2, &all, &mut Seed(1));
        assert_eq!(kind(dealt.map(|_| ())), FaultKind::LocalScheme);
        assert_eq!(shared::check_share(scheme, &[], &all[0], &secret), Err(SigningError::WireSharing));
    }
    let dealt = deal(Scheme::Shoup, 2, &all, 8);
    for (scheme, reason) in [
        (Scheme::Plain, FaultKind::LocalScheme),
        (Scheme::Asm, FaultKind::LocalScheme),
        (Scheme::TsRsa, FaultKind::LocalDealer),
        (Scheme::Shoup, FaultKind::LocalDealer),
    ] {
        let found = shared::found(scheme, run_id(1), all[0], &all, 2);
        assert_eq!(found.map(|_| ()).unwrap_err().kind, reason);
        let now = (dealt.public.as_slice(), Some(share(&dealt, &all[0])));
        let reshared = shared::reshare(scheme, run_id(1), all[0], moving, 2, now);
        assert_eq!(reshared.map(|_| ()).unwrap_err().kind, reason);
    }
}

#[test]
fn deal_09_shoups_public_part_says_who_has_which_number_and_that_enough_sign() {
    let all = members(3);
    let dealt = deal(Scheme::Shoup, 2, &all, 9);
    let bytes = &dealt.public;
    let seats = bytes.len() - 3 * 33;
    let number = |at: usize| 11 + 256 * at..11 + 256 * (at + 1);
    assert_eq!(bytes.len(), 11 + 256 * 5 + 3 * 33, "N, v, v_1 to v_3, three seats");
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        let first = shared::check_share(Scheme::Shoup, &changed, &all[0], share(&dealt, &all[0]));
        assert_eq!(first, Err(SigningError::WireSharing), "a holder whose share fits sees it too");
        shared::facts(Scheme::Shoup, &changed).unwrap_err() == SigningError::WireSharing
    };
    // Seats 2 and 3 swapped; seat 3 spare, or retired.
    assert!(refused(&|bytes| bytes[seats + 33..].rotate_left(33)));
    for state in [0, 2] {
        assert!(refused(&|bytes| {
            bytes.truncate(seats + 66);
            bytes.push(state);
        }));
    }
    // v_2 and v_3 swapped; v_3 is v_2; v_3 is v; v is v_1.
    assert!(refused(&|bytes| bytes[number(3).start..number(4).end].rotate_left(256)));
    for (to, from) in [(4, 3), (4, 1), (1, 2)] {
        assert!(refused(&|bytes| bytes.copy_within(number(from), number(to).start)));
    }
    // Told with another threshold.
    for threshold in [1, 3] {
        assert!(refused(&|bytes| bytes[8] = threshold));
    }
    // Another holder in the last seat: still a sharing, of the others' shares; but not of that
    // holder's.
    let mut changed = bytes.clone();
    changed[seats + 67..].copy_from_slice(&[0xff; 32]);
    let epoch = |public: &[u8]| shared::facts(Scheme::Shoup, public).unwrap().epoch;
    assert_eq!(epoch(&changed), epoch(bytes));
    let check = |holder| shared::check_share(Scheme::Shoup, &changed, holder, share(&dealt, holder));
    assert_eq!(all.iter().map(check).collect::<Vec<_>>(), [Ok(()), Ok(()), Err(SigningError::PeerShare)]);
}

/// What a liar makes of its message.
type Lie = fn(&mut Vec<u8>);

#[test]
fn deal_10_a_false_part_of_shoups_names_its_hand() {
    let all = members(4);
    let dealt = deal(Scheme::Shoup, 3, &all, 10);
    let liar = all[1];
    let lies: [(FaultKind, Lie); 3] = [
        (FaultKind::PeerPart, |words| words[200] ^= 1),
        (FaultKind::PeerPart, |words| words[256] ^= 4),
        (FaultKind::PeerMalformed, |words| words.truncate(7)),
    ];
    for (kind, lie) in lies {
        let ends = play_with(hands(Scheme::Shoup, &dealt, &all[..3]), 1, |round, hand, said| {
            assert_eq!(round, 0, "one round");
            if hand == liar {
                lie(&mut said.to_all);
            }
        });
        for (_, end) in ends.into_iter().filter(|(hand, _)| *hand != liar) {
            let fault = end.map(|_| ()).unwrap_err();
            assert_eq!((fault.kind, fault.culprits), (kind, vec![liar]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn what_is_dealt_reads_back(count in 1_usize..8, part in 0.0..1.0, seed in 1_u64..1_000_000, quick in any::<bool>()) {
        let scheme = if quick { DEALT[usize::from(part > 0.5)] } else { Scheme::Shoup };
        let holders = members(count as u64);
        let threshold = 1 + (part * count as f64) as usize;
        let dealt = deal(scheme, threshold, &holders, seed);
        let facts = shared::facts(scheme, &dealt.public).unwrap();
        prop_assert_eq!((facts.threshold, facts.holders), (threshold, holders));
        prop_assert_eq!(Ok(facts.key), shared::public_key(scheme, &secret(scheme)));
        for (holder, share) in &dealt.shares {
            prop_assert_eq!(shared::check_share(scheme, &dealt.public, holder, share), Ok(()));
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>) {
        let secret = Secret::new(bytes.clone());
        for scheme in DEALT.into_iter().chain(OTHERS) {
            prop_assert_eq!(shared::public_key(scheme, &secret), Err(SigningError::LocalSecret));
            prop_assert!(shared::facts(scheme, &bytes).is_err());
            prop_assert!(shared::check_share(scheme, &bytes, &member(1), &secret).is_err());
        }
    }
}
