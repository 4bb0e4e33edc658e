//! Keys for tests of threshold RSA: stored safe primes (tests/data/safe-primes.txt), never to be
//! used for anything else.

use crate::common::{Seed, members, run_id, unhex};
use folkmoot_base::MemberId;
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::rsa::ModulusSize;
use folkmoot_signing::shoup::{Dealer, DealerTerm, Dealt, ShoupShare, ShoupSharing, ShoupSign};
use folkmoot_signing::{Run, RunId};
use std::collections::BTreeMap;

const PRIMES: &str = include_str!("../../data/safe-primes.txt");

/// 1024 bits: quick, weak.
pub const SMALL: ModulusSize = ModulusSize::Bits1024(ForStudy);

/// The stored pairs of primes for moduli of this size.
pub fn primes(size: ModulusSize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let lines = PRIMES.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' '));
    let pairs = lines.filter_map(|mut words| {
        let bits: u32 = words.next()?.parse().ok()?;
        (bits == size.bits()).then(|| (unhex(words.next().unwrap()), unhex(words.next().unwrap())))
    });
    pairs.collect()
}

/// A dealer of the `number`th stored key of this size.
pub fn dealer(size: ModulusSize, number: usize, term: DealerTerm) -> Dealer {
    let (p, q) = primes(size)[number].clone();
    Dealer::from_primes(size, term, &p, &q).unwrap()
}

/// A deal of the first stored key: `threshold` of `seats`, of which members 1 to `held` have the
/// first.
pub fn deal(size: ModulusSize, threshold: u16, seats: u16, held: u64, seed: u64) -> Dealt {
    let mut dealer = dealer(size, 0, DealerTerm::SetUp);
    dealer.deal(threshold, seats, &members(held), &mut Seed(seed << 40)).unwrap()
}

/// A signer for each of these members.
pub fn signers(
    sharing: &ShoupSharing,
    shares: &[ShoupShare],
    hands: &[MemberId],
    run: RunId,
    message: &[u8],
) -> BTreeMap<MemberId, Box<dyn Run<Done = Vec<u8>>>> {
    let sign = |hand: &MemberId| {
        let seat = sharing.seat_of(hand).unwrap();
        let share = &shares[usize::from(seat) - 1];
        Box::new(ShoupSign::new(sharing, share, hands, run, message).unwrap()) as Box<dyn Run<Done = Vec<u8>>>
    };
    hands.iter().map(|hand| (*hand, sign(hand))).collect()
}

/// The signature that these members make, all alike.
pub fn sign(dealt: &Dealt, hands: &[MemberId], message: &[u8]) -> Vec<u8> {
    let ends = crate::common::play(signers(&dealt.sharing, &dealt.shares, hands, run_id(1), message), 1);
    assert_eq!(ends.len(), hands.len());
    let mut results: Vec<Vec<u8>> = ends.into_values().map(|end| end.unwrap()).collect();
    results.dedup();
    assert_eq!(results.len(), 1, "one signature at all hands");
    results.remove(0)
}
