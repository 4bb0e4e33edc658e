//! Every changed, missing or added byte of anything signed is refused with a typed error (DECISIONS
//! C3). Method: take one of each, flip every bit of every byte, cut it everywhere, lengthen it; our
//! decoder alone must refuse.

use crate::common::World;
use folkmoot_identity::{Gmc, IdentityCertificate, Request, SignedCharter, SignedMessage, Vote};
use proptest::prelude::*;

type Read = fn(&[u8]) -> Result<(), Box<dyn std::error::Error>>;

const CHARTER: Read = |der| Ok(SignedCharter::complete_from_der(der).map(drop)?);
const VOTE: Read = |der| Ok(Vote::from_der(der).map(drop)?);
const REQUEST: Read = |der| Ok(Request::from_der(der).map(drop)?);
const GMC: Read = |der| Ok(Gmc::from_der(der).map(drop)?);
const IDENTITY: Read = |der| Ok(IdentityCertificate::from_der(der).map(drop)?);
const MESSAGE: Read = |der| Ok(SignedMessage::from_der(der).map(drop)?);

fn every_bit(der: &[u8], read: Read) {
    read(der).unwrap();
    let mut changed = der.to_vec();
    for at in 0..der.len() {
        for bit in 0..8 {
            changed[at] ^= 1 << bit;
            assert!(read(&changed).is_err(), "byte {at}, bit {bit}, of {} passes", der.len());
            changed[at] ^= 1 << bit;
        }
        assert!(read(&der[..at]).is_err(), "cut at {at} passes");
    }
    for more in [&[0_u8][..], &[0, 0], &[0x30, 0x00], der] {
        assert!(read(&[der, more].concat()).is_err(), "{} more bytes pass", more.len());
    }
}

#[test]
fn id_21_every_changed_bit_of_a_charter_is_refused() {
    every_bit(World::new().signed.der(), CHARTER);
}

#[test]
fn id_21_every_changed_bit_of_a_vote_is_refused() {
    every_bit(World::new().vote(0).der(), VOTE);
}

#[test]
fn id_21_every_changed_bit_of_a_request_is_refused() {
    every_bit(World::new().request().der(), REQUEST);
}

#[test]
fn id_61_every_changed_bit_of_a_signed_message_is_refused() {
    let world = World::new();
    every_bit(world.said_by_founder(b"a word").der(), MESSAGE);
    every_bit(world.said_by_newcomer(b"").der(), MESSAGE);
}

#[test]
fn id_11_every_changed_bit_of_a_membership_certificate_is_refused() {
    every_bit(World::new().gmc().der(), GMC);
}

#[test]
fn id_02_every_changed_bit_of_an_identity_certificate_is_refused() {
    every_bit(World::new().stranger.certificate().der(), IDENTITY);
}

fn all() -> Vec<(Vec<u8>, Read)> {
    let world = World::new();
    vec![
        (world.signed.der().to_vec(), CHARTER),
        (world.vote(1).der().to_vec(), VOTE),
        (world.request().der().to_vec(), REQUEST),
        (world.gmc().der().to_vec(), GMC),
        (world.said_by_newcomer(b"a word").der().to_vec(), MESSAGE),
        (world.founders[0].certificate().der().to_vec(), IDENTITY),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn several_changes_at_once_are_refused(changes in prop::collection::vec((any::<usize>(), 1_u8..), 1..6)) {
        for (der, read) in all() {
            let mut changed = der.clone();
            for (at, mask) in &changes {
                let at = at % changed.len();
                changed[at] ^= mask;
            }
            prop_assert!(changed == der || read(&changed).is_err());
        }
    }

    #[test]
    fn bytes_taken_out_or_put_in_are_refused(at: prop::sample::Index, more: Vec<u8>, less in 0_usize..40) {
        for (der, read) in all() {
            let from = at.index(der.len());
            let to = (from + less).min(der.len());
            let mut changed = der.clone();
            changed.splice(from..to, more.iter().copied());
            prop_assert!(changed == der || read(&changed).is_err());
        }
    }

    #[test]
    fn garbage_is_refused(garbage: Vec<u8>) {
        for read in [CHARTER, VOTE, REQUEST, GMC, IDENTITY, MESSAGE] {
            prop_assert!(read(&garbage).is_err());
        }
    }
}
