//! Every SET OF stands in DER's order (X.690, 11.6): its elements sorted by their encodings. In
//! what is signed by several, these are the certificates, the signatures, and the two attributes of
//! each signature.

use crate::common::{START, Seed, World, person};
use folkmoot_base::GroupName;
use folkmoot_identity::{CharterDraft, CharterError, CmsError, Gmc, Identity, SignedCharter};
use proptest::prelude::*;
use std::ops::Range;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// The tag [0], constructed: in a CMS message, the sets of certificates and of attributes have it,
/// and what has one element only.
const CONTEXT_0: u8 = 0xa0;

/// An encoding within a message: its tag, where it stands, and where its value does.
#[derive(Clone)]
struct Element {
    tag: u8,
    whole: Range<usize>,
    value: Range<usize>,
}

/// The encodings that follow each other in this range. Every length has its shortest form.
fn elements(der: &[u8], range: Range<usize>) -> Vec<Element> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let first = der[at + 1];
        let (head, length) = match first {
            0..=0x7f => (2, usize::from(first)),
            _ => {
                let count = usize::from(first & 0x7f);
                let length =
                    der[at + 2..at + 2 + count].iter().fold(0, |sum, b| (sum << 8) | usize::from(*b));
                assert!(count > 0 && der[at + 2] > 0 && length > 0x7f, "the length at {at} is not DER");
                (2 + count, length)
            }
        };
        let end = at + head + length;
        found.push(Element { tag: der[at], whole: at..end, value: at + head..end });
        at = end;
    }
    assert_eq!(at, range.end);
    found
}

/// Compares as X.690 says: the shorter encoding is thought of as ended by zero bytes.
fn is_before(one: &[u8], other: &[u8]) -> bool {
    let length = one.len().max(other.len());
    let padded = |bytes: &[u8]| [bytes, &vec![0; length - bytes.len()]].concat();
    padded(one) <= padded(other)
}

/// All sets in this range, with the number of elements of each; each must be sorted.
fn sets(der: &[u8], range: Range<usize>) -> Vec<usize> {
    let mut counts = Vec::new();
    for element in elements(der, range) {
        if element.tag & 0x20 == 0 {
            continue;
        }
        if [SET, CONTEXT_0].contains(&element.tag) {
            let inside = elements(der, element.value.clone());
            let sorted = inside
                .windows(2)
                .all(|pair| is_before(&der[pair[0].whole.clone()], &der[pair[1].whole.clone()]));
            assert!(sorted, "the set at {} of {}", element.whole.start, hex(der));
            counts.push(inside.len());
        }
        counts.extend(sets(der, element.value));
    }
    counts
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A charter signed by all of these.
fn charter(founders: &[Identity]) -> SignedCharter {
    let named = founders.iter().map(|founder| founder.certificate().into()).collect();
    let draft = CharterDraft::new(GroupName::new("book club").unwrap(), 1, named, &mut Seed(99 << 32));
    SignedCharter::sign(&draft.to_toml(), &founders.iter().collect::<Vec<_>>()).unwrap()
}

/// The elements of the sets of certificates and of signatures.
fn certificates_and_signatures(der: &[u8]) -> [Vec<Element>; 2] {
    let inside = |element: &Element| elements(der, element.value.clone());
    let message = inside(&elements(der, 0..der.len())[0]);
    let signed = inside(&inside(&message[1])[0]);
    assert_eq!(signed.iter().map(|one| one.tag).collect::<Vec<_>>(), [2, SET, SEQUENCE, CONTEXT_0, SET]);
    [inside(&signed[3]), inside(&signed[4])]
}

/// The message with two neighbours exchanged.
fn exchanged(der: &[u8], pair: &[Element]) -> Vec<u8> {
    let (first, second) = (pair[0].whole.clone(), pair[1].whole.clone());
    [&der[..first.start], &der[second.clone()], &der[first], &der[second.end..]].concat()
}

fn not_canonical(der: &[u8]) {
    let refused = SignedCharter::from_der(der).unwrap_err();
    assert_eq!(refused, CharterError::Cms(CmsError::WireNotCanonical));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn id_21_every_set_of_a_charter_is_sorted(
        (count, seed, lengths) in (1_usize..=8, 0_u64..1 << 20, prop::collection::vec(1_usize..=64, 8)),
    ) {
        let founders: Vec<_> = (1..).zip(&lengths).take(count)
            .map(|(number, length)| person(&"n".repeat(*length), seed * 8 + number)).collect();
        let signed = charter(&founders);
        let der = signed.der();
        let counts = sets(der, 0..der.len());
        prop_assert!(counts.iter().filter(|size| **size == 2).count() >= count, "{:?}", counts);
        let parts = certificates_and_signatures(der);
        for part in &parts {
            prop_assert_eq!(part.len(), count);
        }
        prop_assert!(SignedCharter::complete_from_der(der).is_ok());
        for pair in parts.iter().flat_map(|part| part.windows(2)) {
            not_canonical(&exchanged(der, pair));
        }
    }
}

/// Founders of equal names sign: then neither lengths nor names say which comes first.
#[test]
fn id_21_sets_are_sorted_whatever_the_founders_are_called() {
    for seed in 0..24 {
        let founders: Vec<_> = (1..=4).map(|number| person("anna", seed * 4 + number)).collect();
        let signed = charter(&founders);
        sets(signed.der(), 0..signed.der().len());
    }
}

#[test]
fn id_21_two_attributes_exchanged_are_refused() {
    let world = World::new();
    let der = world.signed.der();
    let [_, signatures] = certificates_and_signatures(der);
    for signature in &signatures {
        let fields = elements(der, signature.value.clone());
        let attributes = elements(der, fields[3].value.clone());
        assert_eq!((fields[3].tag, attributes.len()), (CONTEXT_0, 2));
        not_canonical(&exchanged(der, &attributes));
    }
}

#[test]
fn every_set_of_every_paper_is_sorted() {
    let world = World::new();
    let founder = Gmc::found(world.charter(), &world.founders[0], START, &mut Seed(8 << 32)).unwrap();
    let papers = [
        world.signed.der().to_vec(),
        world.vote(0).der().to_vec(),
        world.request().der().to_vec(),
        world.gmc().der().to_vec(),
        founder.der().to_vec(),
        world.said_by_founder(b"a word").der().to_vec(),
        world.said_by_newcomer(b"another").der().to_vec(),
        world.stranger.certificate().der().to_vec(),
    ];
    for der in papers {
        assert!(!sets(&der, 0..der.len()).is_empty());
    }
}
