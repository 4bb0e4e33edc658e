//! What is encoded decodes to the same value, and what decodes has one encoding.

use folkmoot_pubsub::typed::{EncodeError, Typed};
use folkmoot_types::draw::Draw;
use folkmoot_types::{ALL, DottedT, EverythingT, InnerT, LengthsT, NodeT, PlainT, RadixT, SPOKEN, StampT};
use folkmoot_types::{fixed, lengths};
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_value_comes_back(seed: u64) {
        let value = Draw(seed).everything();
        let bytes = value.encode().unwrap();
        prop_assert_eq!(EverythingT::decode(&bytes).unwrap(), value);
        let value = Draw(seed).lengths();
        prop_assert_eq!(LengthsT::decode(&value.encode().unwrap()).unwrap(), value);
        let value = Draw(seed).radix();
        prop_assert_eq!(RadixT::decode(&value.encode().unwrap()).unwrap(), value);
        let value = Draw(seed).dotted();
        prop_assert_eq!(DottedT::decode(&value.encode().unwrap()).unwrap(), value);
    }

    /// Damage makes an error, or another message that has these bytes.
    #[test]
    fn whatever_decodes_has_one_encoding(seed: u64, damage: Vec<(prop::sample::Index, u8)>, cut: prop::sample::Index) {
        let (_, said) = SPOKEN[cut.index(SPOKEN.len())];
        let mut bytes = said(&mut Draw(seed)).unwrap();
        for (place, mask) in damage {
            let place = place.index(bytes.len());
            bytes[place] ^= mask;
        }
        if cut.index(4) == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        for (_, fingerprint, again) in ALL {
            if let Some(own) = bytes.first_chunk_mut::<8>() {
                *own = fingerprint.to_be_bytes();
            }
            if let Ok(same) = again(&bytes) {
                prop_assert_eq!(same, bytes.clone());
            }
        }
    }

    #[test]
    fn noise_is_no_message_or_has_one_encoding(noise: Vec<u8>) {
        for (_, fingerprint, again) in ALL {
            let bytes = [&fingerprint.to_be_bytes()[..], &noise].concat();
            if let Ok(same) = again(&bytes) {
                prop_assert_eq!(same, bytes);
            }
        }
    }
}

#[test]
fn constants_and_defaults_are_those_of_the_file() {
    assert_eq!((EverythingT::SMALL, EverythingT::MASK, EverythingT::HEX), (-128, 127, -16));
    assert_eq!((EverythingT::LARGE, EverythingT::LONG), (i32::MAX, i64::MAX));
    assert_eq!((EverythingT::TENTH, EverythingT::PI), (0.1, core::f64::consts::PI));
    let none = EverythingT::default();
    assert_eq!((none.many.len(), none.wide, none.names.len(), none.cube.len()), (100, [0; 40], 2, 2));
    assert_eq!((none.pair, none.stamps, none.n), (vec![InnerT::default(); 2], Vec::new(), 0));
    assert_eq!(EverythingT::NAME, "folkmoot.test.everything_t");
    assert_eq!(PlainT::NAME, "plain_t");
}

/// A constant as a length is the same as its number.
#[test]
fn lengths_are_those_of_the_constants() {
    let none = LengthsT::default();
    assert_eq!((none.position, none.one, none.wide), ([0.0; 3], [0.0], [0; 40]));
    assert_eq!((none.matrix, none.cube, none.last), ([[0.0; 3]; 3], [[[0; 2]; 3]; 2], [0; 5]));
    assert_eq!((none.many.len(), none.names.len(), none.rows.len(), none.grid.len()), (70, 2, 2, 0));
    assert_eq!((LengthsT::THREE, LengthsT::LATER, RadixT::HEX, RadixT::OCTAL), (3, 5, 31, 15));
    let none = RadixT::default();
    assert_eq!(
        (none.hex, none.octal, none.hex_written, none.octal_written),
        ([0; 31], [0; 15], [0; 3], [0; 8])
    );
    assert_eq!((none.large.len(), none.grid), (80, [[0; 2]; 15]));
    let mut value = lengths();
    value.many.pop();
    let told = value.encode().unwrap_err().to_string();
    assert_eq!(told, "the array many has the length 69, and 70 is given as its length");
}

#[test]
fn few_files_have_these_forms() {
    assert_eq!(DottedT::NAME, "other.dotted_t");
    assert_eq!((DottedT::HEX, DottedT::SMALL, DottedT::WHOLE, DottedT::SHORT), (16.0, -0.0005, 5.0, -15.0));
}

#[test]
fn a_stamp_has_the_bytes_of_lcm() {
    let stamp = StampT { utime: -2, frame: "map".into() };
    let told = "fffffffffffffffe 00000004 6d617000".replace(' ', "");
    let hex: String = stamp.encode().unwrap()[8..].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, told);
}

/// A change of one field of the fixed value, and what is said of it.
type Refusal = (fn(&mut EverythingT), &'static str);

#[test]
fn what_is_no_message_is_not_encoded() {
    let refusals: [Refusal; 7] = [
        (|one| one.n = 2, "the array data has the length 3, and 2 is given as its length"),
        (|one| one.n = -1, "the array data has the length 3, and -1 is given as its length"),
        (|one| one.many.truncate(99), "the array many has the length 99, and 100 is given as its length"),
        (|one| one.grid[1].truncate(3), "the array grid has the length 3, and 4 is given as its length"),
        (|one| one.cube[1].clear(), "the array cube has the length 0, and 2 is given as its length"),
        (|one| one.text = "a\0b".into(), "the string text has a NUL byte in it, or 2 GiB or more"),
        (
            |one| one.tree.children[0].count = 0,
            "the array children has the length 1, and 0 is given as its length",
        ),
    ];
    for (change, told) in refusals {
        let mut value = fixed();
        change(&mut value);
        let mut out = vec![7];
        let error = value.encode_into(&mut out).unwrap_err();
        assert_eq!((error.to_string().as_str(), out), (told, vec![7]));
    }
    let deep = (0..40).fold(NodeT::default(), |inner, _| NodeT {
        count: 1,
        children: vec![inner],
        ..NodeT::default()
    });
    assert_eq!(deep.encode().unwrap_err(), EncodeError::LocalDeep);
}
