//! Encodings.

use super::table::*;
use crate::common::members;
use folkmoot_base::{MemberId, digest};
use folkmoot_signing::SigningError;
use folkmoot_signing::frost::{FrostShare, FrostSharing};
use proptest::prelude::*;

/// Version, holder, share-epoch, number.
const SHARE_BYTES: usize = 1 + 3 * 32;

#[test]
fn fro_16_a_sharing_has_one_form() {
    let sharing = founded(4, 3, 60).sharing;
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
    let of = |threshold: u16, holders: &[MemberId]| {
        let counts = [threshold, holders.len() as u16].map(u16::to_be_bytes).concat();
        let commitments = &bytes[5..5 + usize::from(threshold) * 32];
        [&[1], counts.as_slice(), commitments, &holders.iter().flat_map(|id| id.0).collect::<Vec<_>>()]
            .concat()
    };
    assert!(FrostSharing::decode(&of(3, &members(3))).is_ok());
    refused(&of(0, &members(3)));
    refused(&of(3, &members(2)));
    refused(&of(3, &members(257)));
}

#[test]
fn fro_16_no_flipped_bit_leaves_a_sharing_what_it_was() {
    let sharing = founded(3, 2, 61).sharing;
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
    let holders = founded(3, 2, 62);
    let sharing = holders.sharing.clone();
    let share = holders.shares.values().next().unwrap();
    let bytes = share.encode();
    let bytes = bytes.expose();
    assert_eq!(bytes.len(), SHARE_BYTES);
    assert_eq!(FrostShare::decode(bytes).unwrap().encode().expose(), bytes);
    assert_eq!(share.check(&sharing), Ok(()));
    assert_eq!(share.epoch(), sharing.epoch());
    for length in 0..bytes.len() {
        assert_eq!(FrostShare::decode(&bytes[..length]).unwrap_err(), SigningError::WireShare);
    }
    assert_eq!(
        FrostShare::decode(&[bytes.as_slice(), &[0; 32]].concat()).unwrap_err(),
        SigningError::WireShare
    );
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
    assert_eq!(FrostShare::decode(&large).unwrap_err(), SigningError::WireShare);
}

#[test]
fn secrets_do_not_print() {
    let holders = founded(2, 2, 63);
    let (holder, share) = holders.shares.iter().next().unwrap();
    assert_eq!(format!("{share:?}"), format!("FrostShare(Share({holder}, ..))"));
    let epoch = MemberId(holders.sharing.epoch()).short();
    assert_eq!(format!("{:?}", holders.sharing), format!("FrostSharing({epoch}, 2 of 2)"));
}

#[test]
fn the_epoch_is_of_the_commitments() {
    let sharing = founded(3, 2, 66).sharing;
    let commitments = &sharing.encode()[5..5 + 64];
    assert_eq!(sharing.epoch(), digest(&[b"folkmoot frost share epoch v1", &[0], commitments]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn sharings_and_shares_round_trip(seed in 0_u64..1 << 20, count in 1_u64..8, part in 0.0..1.0) {
        let threshold = 1 + (part * count as f64) as usize;
        let holders = dealt(count, threshold.min(count as usize), seed);
        prop_assert_eq!(&FrostSharing::decode(&holders.sharing.encode()).unwrap(), &holders.sharing);
        for share in holders.shares.values() {
            prop_assert_eq!(FrostShare::decode(share.encode().expose()).unwrap().encode(), share.encode());
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
