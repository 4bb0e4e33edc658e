//! A tree's one encoding.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use super::wire::{read, write};
use crate::tree::Node;
use crate::{PrimeGroup, Ristretto};
use proptest::prelude::*;

type Point = <Ristretto as PrimeGroup>::Element;

/// Some element, another for every number.
fn point(number: u8) -> Point {
    (0..number).fold(Ristretto::generator(), |point, _| Ristretto::add(&point, &Ristretto::generator()))
}

/// Puts neighbours together as `picks` says, until one tree is left.
fn grow(picks: &[(prop::sample::Index, bool)]) -> Node<Point> {
    let size = u8::try_from(picks.len()).unwrap() + 1;
    let mut nodes: Vec<_> = (0..size).map(|at| Node::leaf(usize::from(at), Some(point(at)))).collect();
    for (number, (pick, known)) in (size..).zip(picks) {
        let at = pick.index(nodes.len() - 1);
        let right = nodes.remove(at + 1);
        let left = nodes.remove(at);
        let sound = left.blinded.is_some() && right.blinded.is_some();
        let mut pair = Node::pair(left, right);
        pair.blinded = (sound && *known).then(|| point(number));
        nodes.insert(at, pair);
    }
    nodes.remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_tree_reads_as_it_was_written_and_nothing_shorter_or_longer_does(
        picks in prop::collection::vec(any::<(prop::sample::Index, bool)>(), 0..12),
        tail in any::<u8>(),
    ) {
        let tree = grow(&picks);
        let places: Vec<_> = (0..=picks.len()).collect();
        let body = write::<Ristretto>(std::slice::from_ref(&tree));
        prop_assert!(read::<Ristretto>(&places, &body).is_ok_and(|read| read == tree));
        for end in 0..body.len() {
            prop_assert!(read::<Ristretto>(&places, &body[..end]).is_err());
        }
        prop_assert!(read::<Ristretto>(&places, &[body.as_slice(), &[tail]].concat()).is_err());
        prop_assert!(read::<Ristretto>(&places[1..], &body).is_err());
    }

    #[test]
    fn what_is_read_after_a_bit_has_turned_is_another_tree(
        picks in prop::collection::vec(any::<(prop::sample::Index, bool)>(), 0..12),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
    ) {
        let tree = grow(&picks);
        let places: Vec<_> = (0..=picks.len()).collect();
        let mut body = write::<Ristretto>(std::slice::from_ref(&tree));
        let at = at.index(body.len());
        body[at] ^= 1 << bit;
        if let Ok(other) = read::<Ristretto>(&places, &body) {
            prop_assert!(other != tree);
            prop_assert_eq!(write::<Ristretto>(&[other]), body);
        }
    }

    #[test]
    fn garbage_is_refused_or_has_one_encoding(body in prop::collection::vec(0..4_u8, 0..80)) {
        if let Ok(tree) = read::<Ristretto>(&[0, 1, 2], &body) {
            prop_assert_eq!(write::<Ristretto>(&[tree]), body);
        }
    }
}
