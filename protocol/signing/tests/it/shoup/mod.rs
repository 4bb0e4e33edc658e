//! Shoup's threshold RSA: the promises of docs/protocol/signing.md, on stored keys of 1024 bits;
//! each real size once.

mod liars;

use crate::common::{Seed, member, members, play, play_with, run_id};
use crate::keys::{SMALL, deal, dealer, sign, signers};
use folkmoot_base::MemberId;
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::rsa::{ModulusSize, RsaError, RsaPublicKey};
use folkmoot_signing::shoup::{
    Dealer, DealerTerm, Dealt, Seat, ShoupError, ShoupShare, ShoupSharing, ShoupSign,
};
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, RunId, Scheme};
use proptest::prelude::*;
use std::sync::OnceLock;

const MESSAGE: &[u8] = b"let her in";
/// Bytes of x_i, and where c and z begin, in messages of a 1024-bit key.
const PART: usize = 128;
const CHALLENGE: usize = 1 + PART;
const RESPONSE: usize = CHALLENGE + 32;

/// 3 of 6, five seats held.
fn dealt() -> &'static Dealt {
    static DEALT: OnceLock<Dealt> = OnceLock::new();
    DEALT.get_or_init(|| deal(SMALL, 3, 6, 5, 1))
}

fn small(bytes: &[u8]) -> Result<ShoupSharing, ShoupError> {
    ShoupSharing::decode_for_study(bytes, ForStudy)
}

fn pick(from: &[MemberId], places: &[usize]) -> Vec<MemberId> {
    places.iter().map(|place| from[*place]).collect()
}

#[test]
fn the_scheme_says_what_it_asks_for() {
    assert_eq!(Scheme::Shoup.signers(3), 3);
    assert!(Scheme::Shoup.needs_dealer() && Scheme::Shoup.shared());
}

#[test]
fn signatures_of_2048_and_3072_bits_verify() {
    for size in [ModulusSize::Bits2048, ModulusSize::Bits3072] {
        let dealt = deal(size, 2, 3, 3, 2);
        let key = dealt.sharing.key();
        let signature = sign(&dealt, &members(3)[1..], MESSAGE);
        assert_eq!(signature.len(), size.bits() as usize / 8);
        assert_eq!(key.verify(MESSAGE, &signature), Ok(()));
        assert_eq!(key.verify(b"let him in", &signature), Err(RsaError::PeerSignature));
        let again = RsaPublicKey::from_spki_der(key.spki_der()).unwrap();
        assert_eq!(again.verify(MESSAGE, &signature), Ok(()));
        assert_eq!(ShoupSharing::decode(&dealt.sharing.encode()).as_ref(), Ok(&dealt.sharing));
    }
}

#[test]
fn a_fresh_key_signs() {
    let mut dealer = Dealer::generate(SMALL, DealerTerm::SetUp, &mut Seed(77 << 32)).unwrap();
    let again = Dealer::generate(SMALL, DealerTerm::SetUp, &mut Seed(77 << 32)).unwrap();
    assert_eq!(dealer.key(), again.key(), "a run is a seed");
    let dealt = dealer.deal(2, 3, &members(3), &mut Seed(1)).unwrap();
    let signature = sign(&dealt, &members(3)[..2], MESSAGE);
    assert_eq!(dealer.key().verify(MESSAGE, &signature), Ok(()));
}

#[test]
fn one_of_one_and_many_seats() {
    let alone = deal(SMALL, 1, 1, 1, 3);
    assert_eq!(alone.sharing.key().verify(MESSAGE, &sign(&alone, &members(1), MESSAGE)), Ok(()));
    let many = deal(SMALL, 5, 40, 40, 3);
    let hands = pick(&members(40), &[0, 12, 13, 37, 39]);
    assert_eq!(sign(&many, &hands, MESSAGE), sign(&alone, &members(1), MESSAGE), "one key, one signature");
}

#[test]
fn rsa_keys_have_one_form() {
    let key = dealer(ModulusSize::Bits2048, 0, DealerTerm::SetUp).key().clone();
    let spki = key.spki_der().to_vec();
    assert_eq!(RsaPublicKey::from_spki_der(&spki), Ok(key));
    for at in (0..38).chain(spki.len() - 5..spki.len()) {
        for bit in 0..8 {
            let mut changed = spki.clone();
            changed[at] ^= 1 << bit;
            // The modulus begins at byte 33: its first bits may change, all else not.
            let read = RsaPublicKey::from_spki_der(&changed);
            assert!(read.is_err() || (33..38).contains(&at), "byte {at} bit {bit}");
            assert!(read.is_err() || read.unwrap().spki_der() == changed);
        }
    }
    let weak = dealt().sharing.key().spki_der();
    assert_eq!(RsaPublicKey::from_spki_der(weak), Err(RsaError::WireKey), "1024 bits");
}

#[test]
fn sho_01_a_flipped_bit_makes_another_sharing_or_none() {
    let good = dealt().sharing.clone();
    let bytes = good.encode();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = small(&changed) {
            assert_eq!(read.encode(), changed, "bit {bit}");
            assert!(read.epoch() != good.epoch() || read.seats() != good.seats(), "bit {bit}");
        }
    }
}

#[test]
fn sho_02_small_moduli_and_senseless_counts_are_refused() {
    let bytes = dealt().sharing.encode();
    assert_eq!(ShoupSharing::decode(&bytes), Err(ShoupError::WireSharing("its modulus has a wrong size")));
    let with = |at: usize, value: u16| {
        let mut changed = bytes.clone();
        changed[at..at + 2].copy_from_slice(&value.to_be_bytes());
        small(&changed)
    };
    assert_eq!(with(0, 0), Err(ShoupError::WireSharing("its version is not known")));
    assert_eq!(with(1, 1023), Err(ShoupError::WireSharing("its modulus has a wrong size")));
    assert_eq!(with(5, 3), Err(ShoupError::WireSharing("its exponent is wrong")));
    for (at, value) in [(7, 0), (7, 7), (9, 2), (9, 0), (9, 257), (9, u16::MAX)] {
        assert_eq!(
            with(at, value),
            Err(ShoupError::WireSharing("its threshold is out of range")),
            "{at} {value}"
        );
    }
    let mut dealer = dealer(SMALL, 0, DealerTerm::Standing);
    let mut try_deal =
        |threshold, seats, held| dealer.deal(threshold, seats, &members(held), &mut Seed(1)).err();
    assert_eq!(try_deal(0, 3, 1), Some(ShoupError::LocalThreshold));
    assert_eq!(try_deal(4, 3, 1), Some(ShoupError::LocalThreshold));
    assert_eq!(try_deal(1, 257, 1), Some(ShoupError::LocalThreshold));
    assert_eq!(try_deal(2, 3, 4), Some(ShoupError::LocalHolders));
    let twice = [members(1)[0]; 2];
    assert_eq!(dealer.deal(2, 3, &twice, &mut Seed(1)).err(), Some(ShoupError::LocalHolders));
}

#[test]
fn sho_03_a_run_takes_exactly_t_holders_of_this_deal() {
    let (dealt, all) = (dealt(), members(6));
    let other = deal(SMALL, 3, 6, 5, 9);
    let seat = usize::from(dealt.sharing.seat_of(&all[0]).unwrap()) - 1;
    let start = |share: &ShoupShare, hands: &[MemberId]| {
        ShoupSign::new(&dealt.sharing, share, hands, run_id(1), MESSAGE)
            .map(|_| ())
            .map_err(|fault| fault.kind)
    };
    let holders = members(5);
    let refused = Err(FaultKind::LocalSigners);
    assert_eq!(start(&dealt.shares[seat], &holders[..3]), Ok(()));
    assert_eq!(start(&dealt.shares[seat], &holders[..2]), refused, "too few");
    assert_eq!(start(&dealt.shares[seat], &holders[..4]), refused, "too many");
    assert_eq!(start(&dealt.shares[seat], &pick(&holders, &[0, 1, 1])), refused, "one twice");
    assert_eq!(start(&dealt.shares[seat], &holders[2..]), refused, "without me");
    let stranger = *all.iter().find(|member| !holders.contains(member)).unwrap();
    assert_eq!(start(&dealt.shares[seat], &[holders[0], holders[1], stranger]), refused, "no holder");
    assert_eq!(start(&other.shares[seat], &holders[..3]), refused, "a share of another deal");
    assert_eq!(start(&dealt.shares[5], &holders[..3]), refused, "a spare seat's share");
}

#[test]
fn sho_04_shares_have_one_form_and_one_deal() {
    let (dealt, other) = (dealt(), deal(SMALL, 3, 6, 5, 9));
    for share in &dealt.shares {
        let bytes = share.encode(&dealt.sharing);
        let again = ShoupShare::decode(bytes.expose(), &dealt.sharing).unwrap();
        assert_eq!((again.seat(), again.epoch()), (share.seat(), dealt.sharing.epoch()));
        assert_eq!(again.encode(&dealt.sharing).expose(), bytes.expose());
        assert_eq!(ShoupShare::decode(bytes.expose(), &other.sharing).err(), Some(ShoupError::WireShare));
        let longer = [bytes.expose().as_slice(), &[0]].concat();
        assert_eq!(ShoupShare::decode(&longer, &dealt.sharing).err(), Some(ShoupError::WireShare));
        for end in [0, 1, 34, 35, longer.len() - 2] {
            assert_eq!(ShoupShare::decode(&longer[..end], &dealt.sharing).err(), Some(ShoupError::WireShare));
        }
        assert_eq!(format!("{share:?}"), format!("ShoupShare(seat {}, ..)", share.seat()));
    }
}

#[test]
fn sho_05_every_flipped_bit_of_a_share_is_refused() {
    let dealt = dealt();
    let bytes = dealt.shares[2].encode(&dealt.sharing).expose().clone();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let read = ShoupShare::decode(&changed, &dealt.sharing).err();
        let false_share = bit / 8 >= 33;
        assert!(
            read == Some(ShoupError::WireShare) || false_share && read == Some(ShoupError::PeerShare),
            "{bit}"
        );
    }
}

#[test]
fn sho_06_a_dealer_for_the_setting_up_deals_once() {
    let mut once = dealer(SMALL, 0, DealerTerm::SetUp);
    assert_eq!(once.encode().err(), Some(ShoupError::LocalErased), "never kept");
    once.deal(2, 3, &members(3), &mut Seed(1)).unwrap();
    assert_eq!(once.deal(2, 3, &members(3), &mut Seed(2)).err(), Some(ShoupError::LocalErased));
    let mut standing = dealer(SMALL, 0, DealerTerm::Standing);
    standing.deal(2, 3, &members(3), &mut Seed(1)).unwrap();
    let kept = standing.encode().unwrap();
    let mut again = Dealer::decode(kept.expose(), Some(ForStudy)).unwrap();
    assert_eq!(again.encode().unwrap().expose(), kept.expose());
    assert_eq!(Dealer::decode(kept.expose(), None).err(), Some(ShoupError::LocalDealer), "1024 bits");
    assert_eq!(again.key(), once.key());
    assert!(again.deal(3, 3, &members(3), &mut Seed(2)).is_ok());
    assert!(!format!("{again:?} {kept:?}").contains("primes"));
}

#[test]
fn sho_17_a_share_is_dealt_again_from_the_primes_and_to_its_seat_alone() {
    let mut dealer = dealer(SMALL, 0, DealerTerm::Standing);
    let dealt = dealer.deal(2, 4, &members(3), &mut Seed(1 << 40)).unwrap();
    let kept = dealer.encode().unwrap();
    let restarted = Dealer::decode(kept.expose(), Some(ForStudy)).unwrap();
    for (share, seat) in dealt.shares.iter().zip(1..) {
        let again = restarted.deal_again(&dealt.sharing, seat).unwrap();
        assert_eq!(again.encode(&dealt.sharing).expose(), share.encode(&dealt.sharing).expose());
    }
    for seat in [0, 5] {
        assert_eq!(restarted.deal_again(&dealt.sharing, seat).err(), Some(ShoupError::PeerShare));
    }
    // A seat that has changed hands since is another's: nothing is said of that sharing.
    let mut moved = dealt.sharing.clone();
    moved.hand_out(member(9)).unwrap();
    assert_eq!(restarted.deal_again(&moved, 4).err(), Some(ShoupError::PeerShare));
    // Two deals to the same holders are of two polynomials.
    let other = dealer.deal(2, 4, &members(3), &mut Seed(2 << 40)).unwrap();
    assert_ne!(
        other.shares[0].encode(&other.sharing).expose()[35..],
        dealt.shares[0].encode(&dealt.sharing).expose()[35..]
    );
    let stranger = crate::keys::dealer(SMALL, 1, DealerTerm::Standing);
    assert_eq!(stranger.deal_again(&dealt.sharing, 1).err(), Some(ShoupError::PeerSharing));
    let mut once = crate::keys::dealer(SMALL, 0, DealerTerm::SetUp);
    let dealt = once.deal(2, 4, &members(3), &mut Seed(1)).unwrap();
    assert_eq!(once.deal_again(&dealt.sharing, 1).err(), Some(ShoupError::LocalErased));
}

/// The same number as a share of another sharing, as somebody who cheats would write it.
fn rebind(share: &ShoupShare, from: &ShoupSharing, to: &ShoupSharing) -> ShoupShare {
    let mut bytes = share.encode(from).expose().clone();
    bytes[1..33].copy_from_slice(&to.epoch());
    ShoupShare::decode(&bytes, to).unwrap()
}

#[test]
fn sho_11_old_shares_sign_nothing_with_new_ones() {
    let mut dealer = dealer(SMALL, 0, DealerTerm::Standing);
    let old = dealer.deal(3, 5, &members(5), &mut Seed(1 << 40)).unwrap();
    let new = dealer.deal(2, 5, &members(5), &mut Seed(2 << 40)).unwrap();
    assert_ne!(old.sharing.epoch(), new.sharing.epoch());
    assert_eq!(old.sharing.key(), new.sharing.key());
    assert_eq!(sign(&old, &members(5)[..3], MESSAGE), sign(&new, &members(5)[..2], MESSAGE), "the same key");
    let hands = members(5)[..2].to_vec();
    // Two old shares do not make one new: the holder says what its old share makes, and is named.
    let mut mixed = signers(&new.sharing, &new.shares, &hands, run_id(1), MESSAGE);
    let mut words = Vec::new();
    play_with(signers(&old.sharing, &old.shares, &members(5)[..3], run_id(1), MESSAGE), 1, |_, _, said| {
        words.push(said.to_all.clone());
    });
    let honest = mixed.remove(&hands[1]).unwrap();
    let liar = mixed.remove(&hands[0]).unwrap();
    let runs = [(hands[0], liar), (hands[1], honest)].into();
    let ends = play_with(runs, 1, |_, speaker, said| {
        if speaker == hands[0] {
            said.to_all = words[0].clone();
        }
    });
    assert_eq!(ends[&hands[1]].as_ref().unwrap_err().culprits, hands[..1]);
    let number = new.shares[0].encode(&new.sharing);
    let mut forged = number.expose().clone();
    forged[1..33].copy_from_slice(&old.sharing.epoch());
    assert_eq!(ShoupShare::decode(&forged, &old.sharing).err(), Some(ShoupError::PeerShare));
}

#[test]
fn sho_12_seats_are_handed_out_once_and_never_again_after_an_expulsion() {
    let dealt = deal(SMALL, 2, 4, 2, 5);
    let (mut sharing, all) = (dealt.sharing.clone(), members(9));
    let (old, fresh): (Vec<&MemberId>, Vec<&MemberId>) =
        all.iter().partition(|member| sharing.seat_of(member).is_some());
    let epoch = sharing.epoch();
    assert_eq!(sharing.hand_out(*old[0]), Err(ShoupError::LocalMember));
    assert_eq!(sharing.retire(fresh[0]), Err(ShoupError::LocalMember));
    assert_eq!(sharing.hand_out(*fresh[0]), Ok(3));
    sharing.retire(fresh[0]).unwrap();
    assert_eq!((sharing.seats()[2], sharing.retired(), sharing.holder(3)), (Seat::Retired, 1, None));
    assert_eq!(sharing.hand_out(*fresh[1]), Ok(4), "not the retired one");
    assert_eq!(sharing.hand_out(*fresh[2]), Err(ShoupError::LocalNoSeat));
    assert_eq!(sharing.epoch(), epoch, "handing out makes no share invalid");
    assert_eq!(small(&sharing.encode()).as_ref(), Ok(&sharing));
    let hands = [*old[0], *fresh[1]];
    let ends = play(signers(&sharing, &dealt.shares, &hands, run_id(1), MESSAGE), 1);
    assert!(ends.into_values().all(|end| sharing.key().verify(MESSAGE, &end.unwrap()).is_ok()));
    assert_eq!(sharing.holder(0), None);
    assert_eq!(sharing.holder(5), None);
}

#[test]
fn sho_13_primes_that_are_not_safe_are_refused() {
    let (p, q) = crate::keys::primes(SMALL)[0].clone();
    let read = |p: &[u8], q: &[u8]| Dealer::from_primes(SMALL, DealerTerm::SetUp, p, q).err();
    let refused = Some(ShoupError::LocalPrimes);
    assert_eq!(read(&p, &q), None);
    assert_eq!(read(&p, &p), refused, "twice the same");
    let mut even = q.clone();
    *even.last_mut().unwrap() ^= 1;
    assert_eq!(read(&p, &even), refused);
    let mut other = q.clone();
    *other.last_mut().unwrap() ^= 4;
    assert_eq!(read(&p, &other), refused);
    assert_eq!(read(&p[1..], &q), refused, "too short");
    assert_eq!(read(&[&p[..], &[1]].concat(), &q), refused, "too long");
    // A prime that is not a safe one: 2^511 + 111.
    let mut plain = vec![0; 64];
    (plain[0], plain[63]) = (0x80, 111);
    assert_eq!(read(&p, &plain), refused);
}

#[test]
fn sho_14_a_run_that_has_ended_hears_nothing() {
    let hands = members(3);
    let mut run =
        signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE).remove(&hands[0]).unwrap();
    let mut words = Vec::new();
    play_with(signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE), 3, |_, _, said| {
        words.push(said.to_all.clone());
    });
    let heard =
        || Incoming { to_all: hands.iter().copied().zip(words.clone()).collect(), ..Incoming::default() };
    assert_eq!(run.awaited(), hands);
    assert!(matches!(run.hear(heard(), &mut Seed(1)), Ok(Next::Done(_))));
    assert_eq!(run.hear(heard(), &mut Seed(1)).unwrap_err().kind, FaultKind::LocalRound);
    let mut run =
        signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE).remove(&hands[0]).unwrap();
    let mut cut = heard();
    cut.to_all.remove(&hands[2]);
    assert_eq!(run.hear(cut, &mut Seed(1)).unwrap_err().kind, FaultKind::LocalRound, "a word missing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sho_10_any_t_make_the_same_signature(
        seed in 0_u64..1000,
        threshold in 1_usize..6,
        more in 0_usize..4,
        message: Vec<u8>,
        order in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let seats = threshold + more;
        let dealt = deal(SMALL, threshold as u16, seats as u16, seats as u64, seed);
        let places: Vec<usize> = order.into_iter().filter(|place| *place < seats).take(threshold).collect();
        let signature = sign(&dealt, &pick(&members(seats as u64), &places), &message);
        prop_assert_eq!(dealt.sharing.key().verify(&message, &signature), Ok(()));
        let others: Vec<usize> = (seats - threshold..seats).collect();
        prop_assert_eq!(signature, sign(&dealt, &pick(&members(seats as u64), &others), &message));
    }

    #[test]
    fn sho_01_sharings_have_one_encoding(
        seed in 0_u64..1000,
        threshold in 1_u16..5,
        more in 0_u16..5,
        held in 0_u64..5,
        retired: bool,
    ) {
        let seats = threshold + more;
        let mut sharing = deal(SMALL, threshold, seats, held.min(u64::from(seats)), seed).sharing;
        if let (true, Some(Seat::Holding(member))) = (retired, sharing.seats().first().copied()) {
            sharing.retire(&member).unwrap();
        }
        let bytes = sharing.encode();
        let read = small(&bytes);
        prop_assert_eq!(read.as_ref(), Ok(&sharing));
        prop_assert_eq!(read.unwrap().encode(), bytes.clone());
        prop_assert_eq!(small(&[&bytes[..], &[0]].concat()), Err(ShoupError::WireSharing("bytes follow its end")));
        for end in [bytes.len() - 1, bytes.len() / 2, 12, 9, 3, 1, 0] {
            prop_assert!(small(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>) {
        prop_assert!(ShoupSharing::decode(&bytes).is_err());
        prop_assert!(ShoupShare::decode(&bytes, &dealt().sharing).is_err());
        prop_assert!(Dealer::decode(&bytes, Some(ForStudy)).is_err());
        prop_assert!(RsaPublicKey::from_spki_der(&bytes).is_err());
    }
}
