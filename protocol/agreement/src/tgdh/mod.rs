//! TGDH: a key tree that stays low, O(log n) exponentiations and rounds for every change.
//!
//! ```text
//! JOIN, MERGE   rightmost of every side ═TREE═> all, put together ─> sponsors ═KEYS═> all ...
//!
//!       A          B            P                  hung where it does not make the tree higher: the shallowest
//!      / \         |    ──>    / \                 node, of equals the rightmost; else over the root
//!     0   1        2          A   B
//!                            / \   \               sponsor of P: the rightmost of its left half (1)
//! LEAVE, PARTITION   the leaver's sibling moves up; its rightmost takes a new share ═KEYS═> all
//! REFRESH            the shallowest, of equals the rightmost, takes a new share ═KEYS═> all
//! ```
//! Relies on: whoever carries the steps authenticates their senders. Does not rely on: secrecy of
//! any step. Source: Kim, Perrig, Tsudik, "Tree-based group key agreement", ACM TISSEC 7(1), 2004;
//! Amir et al., "On the performance of group key agreement protocols", ACM TISSEC 7(3), 2004.
//! Departures: docs/protocol/agreement-tgdh.md.

mod hang;
#[cfg(test)]
mod tests;
mod wire;

use crate::base::{Entropy, Party};
use crate::tree::{self, Form, Node};
use crate::{AgreementError, Module as _, ModuleName, Plan, PrimeGroup, Step};
use core::cmp::Reverse;

/// One run at one party.
pub type Run<G> = tree::Run<G, Tgdh>;

/// The step in which a side tells its tree.
pub const TREE: u8 = tree::TREE;

/// What a party tells of itself in [`TREE`] if it is a side of its own, before anybody knows with
/// whom: a run that begins with the same randomness tells the same.
pub fn early<G: PrimeGroup>(me: Party, entropy: &mut dyn Entropy) -> Vec<u8> {
    let other = Party::new(me.member, me.port ^ 1);
    let steps = Plan::new(&[me, other], 0)
        .and_then(|plan| Run::<G>::new(&plan, None))
        .map(|mut run| run.start(entropy))
        .unwrap_or_default();
    let told = steps.into_iter().find_map(|step| match step {
        Step::Send { body, .. } => Some(body),
        Step::Done(_) => None,
    });
    told.unwrap_or_default()
}

/// The tree of a party alone that has this blinded share.
pub fn leaf(share: &[u8]) -> Vec<u8> {
    [&[wire::LEAF], share].concat()
}

/// How TGDH builds its tree.
#[derive(Debug, Clone, Copy)]
pub struct Tgdh;

impl Form for Tgdh {
    const NAME: ModuleName = ModuleName::Tgdh;

    /// The rightmost: the last in rank.
    fn speaker(plan: &Plan, side: usize) -> usize {
        plan.sides().get(side).and_then(|side| side.last().copied()).unwrap_or_default()
    }

    /// Of those whose subtrees moved up, or of all, the one nearest to the root; of equals, the
    /// rightmost.
    fn renewer<E: Clone + PartialEq>(tree: &Node<E>, moved: &[usize], speaker: usize) -> usize {
        let leaves = tree.leaves();
        let fits = |(_, (place, _)): &(usize, &(usize, usize))| moved.is_empty() || moved.contains(place);
        let nearest =
            leaves.iter().enumerate().filter(fits).min_by_key(|(at, (_, depth))| (*depth, Reverse(*at)));
        nearest.map_or(speaker, |(_, (place, _))| *place)
    }

    fn part<E: Clone + PartialEq>(_side: usize, tree: Node<E>) -> Vec<Node<E>> {
        vec![tree]
    }

    fn hang<E: Clone + PartialEq>(parts: Vec<Node<E>>) -> Option<Node<E>> {
        hang::all(parts)
    }

    /// Of two trees, one may be attached over the other. With more, somebody has to tell the key of
    /// a pair.
    fn may_end(plan: &Plan) -> bool {
        plan.sides().len() == 2
    }

    fn write<G: PrimeGroup>(_side: usize, parts: &[Node<G::Element>]) -> Vec<u8> {
        wire::write::<G>(parts)
    }

    fn read<G: PrimeGroup>(
        _side: usize,
        places: &[usize],
        body: &[u8],
    ) -> Result<Vec<Node<G::Element>>, AgreementError> {
        wire::read::<G>(places, body).map(|tree| vec![tree])
    }
}
