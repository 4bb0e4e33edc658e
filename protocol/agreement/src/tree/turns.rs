//! The one routine behind every change: which blinded keys are missing, and whose turn it is to
//! tell them.
//!
//! A pair can be computed once both blinded keys below it are known. The sponsor of such a pair is
//! the rightmost leaf of its left half. It climbs on as long as the key beside its way is known.
//! All see this from the tree alone.

use crate::tree::node::{Kind, Node};

/// Whose turn it is, and how many blinded keys it has to tell: the missing ones from its leaf
/// upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) place: usize,
    pub(crate) count: usize,
}

/// All turns of one round.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Round {
    pub(crate) turns: Vec<Turn>,
    /// Once they are taken, everybody can compute the root's key.
    pub(crate) ends: bool,
}

/// How far away a node's blinded key is.
#[derive(PartialEq, Eq)]
enum Found {
    Known,
    /// The last turn that was found tells it.
    Coming,
    Later,
}

impl<E: Clone + PartialEq> Node<E> {
    /// The next round in the whole tree. No turns: every party can compute the root's key.
    pub(crate) fn round(&self) -> Round {
        let mut turns = Vec::new();
        let ends = self.halves().is_none_or(|(left, right)| {
            let left = left.gather(&mut turns) != Found::Later;
            right.gather(&mut turns) != Found::Later && left
        });
        Round { turns, ends }
    }

    /// What the party at `place`, whose share is new, can tell of a tree that is going to be part
    /// of another.
    pub(crate) fn turn(&self, place: usize) -> Option<Turn> {
        let mut turns = Vec::new();
        self.gather(&mut turns);
        turns.into_iter().find(|turn| turn.place == place)
    }

    fn gather(&self, turns: &mut Vec<Turn>) -> Found {
        if self.blinded.is_some() {
            return Found::Known;
        }
        let pair = match &self.kind {
            Kind::Leaf(place) => {
                turns.push(Turn { place: *place, count: 1 });
                return Found::Coming;
            }
            Kind::Pair(pair) => pair,
        };
        match (pair.0.gather(turns), pair.1.gather(turns)) {
            (Found::Known, Found::Known) => turns.push(Turn { place: pair.0.rightmost(), count: 1 }),
            (Found::Known, Found::Coming) | (Found::Coming, Found::Known) => {
                if let Some(last) = turns.last_mut() {
                    last.count = last.count.saturating_add(1);
                }
            }
            _ => return Found::Later,
        }
        Found::Coming
    }
}
