//! Encodings.

use super::table::*;
use crate::common::{Seed, member, members};
use folkmoot_base::{MemberId, Secret, digest};
use folkmoot_signing::frost::{FrostShare, FrostSharing, SHARE_BYTES};
use folkmoot_signing::{Edwards, PrimeGroup, SigningError};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn verifying_shares(sharing: &FrostSharing) -> BTreeMap<MemberId, [u8; 32]> {
    sharing.holders().iter().map(|holder| (*holder, sharing.verifying_share(holder))).collect()
}

#[test]
fn fro_16_a_sharing_has_one_form() {
    let sharing = sharing(&dkg(4, 3, 60));
    let bytes = sharing.encode();
    assert_eq!(bytes.len(), 5 + 3 * 32 + 4 * 32);
    assert_eq!(FrostSharing::decode(&bytes).unwrap(), sharing);
    let refused = |bytes: &[u8]| assert_eq!(FrostSharing::decode(bytes), Err(SigningError::WireSharing));
    for length in 0..bytes.len() {
        refused(&bytes[..length]);
    }
    refused(&[bytes.as_slice(), &[0]].concat());
    refused(&[bytes.as_slice(), &[0; 32]].concat());
    let changed = |at: usize, with: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        bytes
    };
    refused(&changed(0, &[2]));
    refused(&changed(1, &[0, 0]));
    refused(&changed(1, &[0, 2, 0, 5]));
    refused(&changed(1, &[0, 4, 0, 3]));
    refused(&changed(5, &[vec![1], vec![0; 31]].concat()));
    refused(&changed(5, &[vec![0xee], vec![0xff; 30], vec![0x7f]].concat()));
    let holders = bytes[101..].to_vec();
    refused(&changed(101, &[&holders[32..64], &holders[..32]].concat()));
    refused(&changed(101, &holders[32..64]));
    assert!(FrostSharing::from_commitments(&[], members(3)).is_err());
    assert!(FrostSharing::from_commitments(&sharing.commitments(), members(2)).is_err());
    assert!(FrostSharing::from_commitments(&sharing.commitments(), members(257)).is_err());
}

#[test]
fn fro_16_no_flipped_bit_leaves_a_sharing_what_it_was() {
    let sharing = sharing(&dkg(3, 2, 61));
    let bytes = sharing.encode();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            if let Ok(other) = FrostSharing::decode(&other) {
                let same = other.epoch() == sharing.epoch() && other.holders() == sharing.holders();
                assert!(!same, "byte {at}");
            }
        }
    }
}

#[test]
fn fro_16_a_share_has_one_form_and_fits_one_sharing() {
    let holders = dkg(3, 2, 62);
    let sharing = sharing(&holders);
    let share = &holders.values().next().unwrap().share;
    let bytes = share.encode();
    let bytes = bytes.expose();
    assert_eq!(bytes.len(), SHARE_BYTES);
    assert_eq!(FrostShare::decode(bytes).as_ref(), Ok(share));
    assert_eq!(share.check(&sharing), Ok(()));
    assert_eq!(share.epoch(), sharing.epoch());
    for length in 0..bytes.len() {
        assert_eq!(FrostShare::decode(&bytes[..length]), Err(SigningError::WireShare));
    }
    assert_eq!(FrostShare::decode(&[bytes.as_slice(), &[0; 32]].concat()), Err(SigningError::WireShare));
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            let verdict = FrostShare::decode(&other).and_then(|other| other.check(&sharing));
            assert!(verdict.is_err(), "byte {at}");
        }
    }
    let mut large = bytes.clone();
    large[65..].fill(0xff);
    assert_eq!(FrostShare::decode(&large), Err(SigningError::WireShare));
}

#[test]
fn secrets_do_not_print() {
    let holders = dkg(2, 2, 63);
    let (holder, held) = holders.iter().next().unwrap();
    assert_eq!(format!("{:?}", held.share), format!("FrostShare({holder}, ..)"));
    let key = held.sharing.key().bytes();
    let head: String = key[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(format!("{:?}", held.sharing), format!("FrostSharing(FrostKey({head}..), 2 of 2)"));
}

#[test]
fn fro_17_verifying_shares_are_of_one_polynomial() {
    for (count, threshold) in [(5, 3), (5, 1), (4, 4), (9, 2)] {
        let sharing = sharing(&dealt(count, threshold, 64));
        let shares = verifying_shares(&sharing);
        assert_eq!(FrostSharing::from_verifying_shares(threshold, &shares).as_ref(), Ok(&sharing));
        let refused = |threshold, shares: &BTreeMap<_, _>| {
            let read = FrostSharing::from_verifying_shares(threshold, shares);
            assert_eq!(read, Err(SigningError::WireSharing), "{threshold}");
        };
        refused(0, &shares);
        refused(count as usize + 1, &shares);
        if threshold > 1 {
            refused(threshold - 1, &shares);
        }
        if threshold < count as usize {
            let mut other = shares.clone();
            let element = Edwards::raise_generator(&Edwards::draw(&mut Seed(3)));
            *other.values_mut().last().unwrap() = Edwards::encode(&element).try_into().unwrap();
            refused(threshold, &other);
        }
        let mut other = shares.clone();
        *other.values_mut().next().unwrap() = [2; 32];
        refused(threshold, &other);
    }
}

#[test]
fn numbers_go_out_and_come_in_as_bytes() {
    let holders = dkg(3, 2, 65);
    for (holder, held) in &holders {
        let scalar = *held.share.scalar().expose();
        let sharing = FrostSharing::from_verifying_shares(2, &verifying_shares(&held.sharing)).unwrap();
        assert_eq!(FrostShare::new(&sharing, *holder, Secret::new(scalar)).as_ref(), Ok(&held.share));
        let stranger = FrostShare::new(&sharing, member(9), Secret::new(scalar));
        assert_eq!(stranger, Err(SigningError::LocalShare));
        let image = Edwards::raise_generator(&Edwards::decode_scalar(&scalar).unwrap());
        assert_eq!(Edwards::encode(&image), sharing.verifying_share(holder));
    }
}

#[test]
fn the_epoch_is_of_the_commitments() {
    let sharing = sharing(&dkg(3, 2, 66));
    let commitments = sharing.commitments().concat();
    assert_eq!(sharing.epoch(), digest(&[b"folkmoot frost share epoch v1", &[0], &commitments]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn sharings_and_shares_round_trip(seed in 0_u64..1 << 20, count in 1_u64..8, part in 0.0..1.0) {
        let threshold = 1 + (part * count as f64) as usize;
        let holders = dealt(count, threshold.min(count as usize), seed);
        let sharing = sharing(&holders);
        prop_assert_eq!(&FrostSharing::decode(&sharing.encode()).unwrap(), &sharing);
        for held in holders.values() {
            prop_assert_eq!(&FrostShare::decode(held.share.encode().expose()).unwrap(), &held.share);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_not_feared(bytes: Vec<u8>, threshold in 0_u16..6, count in 0_u16..6) {
        prop_assert!(FrostShare::decode(&bytes).is_err() || bytes.len() == SHARE_BYTES);
        let _ = FrostSharing::decode(&bytes);
        let head = [&[1][..], &threshold.to_be_bytes(), &count.to_be_bytes()].concat();
        if let Ok(sharing) = FrostSharing::decode(&[head.as_slice(), &bytes].concat()) {
            prop_assert_eq!(sharing.encode(), [head.as_slice(), &bytes].concat());
        }
    }
}
