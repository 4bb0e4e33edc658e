//! TS-RSA in tests: the toy key of the vectors, whose members have small ids, and participants for
//! each run.

use crate::common::{Ends, play, play_with};
use folkmoot_base::MemberId;
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::{Outgoing, Run};
use folkmoot_study::ts_rsa::{
    Offset, Subject, TsRsaDealer, TsRsaEnrol, TsRsaReshare, TsRsaShare, TsRsaSharing, TsRsaSign,
};
use std::collections::BTreeMap;

/// The toy modulus, 1019 · 1187.
pub const N: u64 = 1_209_553;
/// The toy message.
pub const M: u64 = 424_242;

/// A member whose place is `id`.
pub fn small(id: u8) -> MemberId {
    let mut bytes = [0; 32];
    bytes[31] = id;
    MemberId(bytes)
}

pub fn smalls(ids: &[u8]) -> Vec<MemberId> {
    ids.iter().map(|id| small(*id)).collect()
}

/// The last byte of the id: what the vectors need, and nobody else should.
pub fn small_place(member: &MemberId) -> u64 {
    u64::from(member.0[31])
}

/// The dealer of the vectors: N = 1019 · 1187, e = 17.
pub fn toy() -> TsRsaDealer {
    TsRsaDealer::new(&[3, 251], &[4, 163], 17, small_place, ForStudy).unwrap()
}

pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Three bytes, as long as the toy modulus.
pub fn bytes(number: u64) -> Vec<u8> {
    number.to_be_bytes()[5..].to_vec()
}

pub type Shares = BTreeMap<MemberId, TsRsaShare>;

pub fn hand_out(holders: &[MemberId], shares: Vec<TsRsaShare>) -> Shares {
    holders.iter().copied().zip(shares).collect()
}

/// A participant for each of `hands`; those not in `unwilling` are willing.
pub fn signers(
    sharing: &TsRsaSharing,
    shares: &Shares,
    hands: &[MemberId],
    unwilling: &[MemberId],
    subject: Subject<'_>,
) -> BTreeMap<MemberId, Box<dyn Run<Done = Offset>>> {
    let sign = |hand: &MemberId| {
        let willing = !unwilling.contains(hand);
        let run = TsRsaSign::new(sharing, &shares[hand], *hand, hands, willing, subject, ForStudy);
        Box::new(run.unwrap()) as Box<dyn Run<Done = Offset>>
    };
    hands.iter().map(|hand| (*hand, sign(hand))).collect()
}

/// What honest participants come to, all alike.
pub fn sign(sharing: &TsRsaSharing, shares: &Shares, hands: &[MemberId], subject: Subject<'_>) -> Offset {
    let ends = play(signers(sharing, shares, hands, &[], subject), 1);
    assert_eq!(ends.len(), hands.len());
    let mut all: Vec<Offset> = ends.into_values().map(|end| end.unwrap()).collect();
    all.dedup();
    assert_eq!(all.len(), 1, "one signature at all hands");
    all.remove(0)
}

/// The newcomer's share by these helpers.
pub fn enrol(
    sharing: &TsRsaSharing,
    shares: &Shares,
    helpers: &[MemberId],
    newcomer: MemberId,
    seed: u64,
    lie: impl FnMut(usize, MemberId, &mut Outgoing),
) -> Ends<Option<TsRsaShare>> {
    let hand = |me: &MemberId| {
        let run = TsRsaEnrol::new(sharing, shares.get(me), *me, newcomer, helpers, ForStudy);
        Box::new(run.unwrap()) as Box<dyn Run<Done = Option<TsRsaShare>>>
    };
    let hands = helpers.iter().chain([&newcomer]).map(|me| (*me, hand(me))).collect();
    play_with(hands, seed, lie)
}

/// New shares from old ones.
pub fn reshare(
    sharing: &TsRsaSharing,
    shares: &Shares,
    old: &[MemberId],
    new: &[MemberId],
    threshold: u16,
    seed: u64,
    lie: impl FnMut(usize, MemberId, &mut Outgoing),
) -> Shares {
    let hand = |me: &MemberId| {
        let share = shares.get(me).filter(|_| old.contains(me));
        let run = TsRsaReshare::new(sharing, share, *me, old, new, threshold, ForStudy);
        Box::new(run.unwrap()) as Box<dyn Run<Done = Option<TsRsaShare>>>
    };
    let hands = old.iter().chain(new).map(|me| (*me, hand(me))).collect();
    let ends = play_with(hands, seed, lie);
    ends.into_iter().filter_map(|(hand, end)| Some((hand, end.unwrap()?))).collect()
}
