//! STR: a key tree that is a list. Joins cost the same, however many parties join. Leaves cost what
//! is above the leaver.
//!
//! ```text
//!        k4 ──> the secret        k1 = r1,  k_i = br_i^k_(i-1) = bk_(i-1)^r_i,  br = g^r, bk = g^k
//!       /  \
//!      k3   r4                    JOIN, MERGE   a party of the base ═TREE═> all, one of each other side ═SHARES═> all;
//!     /  \                                      stacked on the base; its topmost ═KEYS═> all (none for a join of one)
//!    k2   r3                      LEAVE, PARTITION   who is next below the lowest leaver, or the lowest, takes a new share
//!   /  \                                             and ═KEYS═> all
//!  r1   r2                        REFRESH       the topmost takes a new share ═KEYS═> all
//! ```
//! Relies on: whoever carries the steps authenticates their senders. Does not rely on: secrecy of
//! any step. Source: Steer, Strawczynski, Diffie, Wiener, "A secure audio teleconference system",
//! CRYPTO 1988; Kim, Perrig, Tsudik, "Group key agreement efficient in communication", IEEE Trans.
//! Computers 53(7), 2004. Departures: docs/protocol/agreement-str.md.

use crate::tree::{self, Form, Node, Reader, write as elements};
use crate::{AgreementError, ModuleName, Plan, PrimeGroup};

/// One run at one party.
pub type Run<G> = tree::Run<G, Str>;

/// How STR builds its tree.
#[derive(Debug, Clone, Copy)]
pub struct Str;

/// The side that the others are stacked on. Of those, only the shares count.
const BASE: usize = 0;

impl Form for Str {
    const NAME: ModuleName = ModuleName::Str;

    /// In the base, the party next below the lowest leaver, or the lowest if that one left; ranks
    /// tell. Elsewhere, and if nobody below the topmost left, the topmost.
    fn speaker(plan: &Plan, side: usize) -> usize {
        let Some(places) = plan.sides().get(side) else { return 0 };
        let rank = |place: usize| plan.origin(place).map_or(0, |origin| origin.rank as usize);
        let gap = places.iter().enumerate().position(|(at, place)| rank(*place) != at);
        let below = gap.filter(|_| side == BASE).map(|gap| gap.saturating_sub(1));
        let speaker = below.map_or(places.last(), |at| places.get(at));
        speaker.copied().unwrap_or_default()
    }

    fn renewer<E: Clone + PartialEq>(_tree: &Node<E>, _moved: &[usize], speaker: usize) -> usize {
        speaker
    }

    fn part<E: Clone + PartialEq>(side: usize, tree: Node<E>) -> Vec<Node<E>> {
        if side == BASE { vec![tree] } else { tree.into_leaves() }
    }

    fn hang<E: Clone + PartialEq>(parts: Vec<Node<E>>) -> Option<Node<E>> {
        parts.into_iter().reduce(Node::pair)
    }

    /// The base tells its topmost key, so one additional party has all it needs.
    fn may_end(plan: &Plan) -> bool {
        plan.sides().get(BASE).is_some_and(|base| base.len().saturating_add(1) == plan.size())
    }

    fn write<G: PrimeGroup>(side: usize, parts: &[Node<G::Element>]) -> Vec<u8> {
        let shares = parts.iter().cloned().flat_map(Node::into_leaves);
        let mut values: Vec<_> = shares.filter_map(|leaf| leaf.blinded).collect();
        if side == BASE {
            let mut keys = Vec::new();
            let mut node = parts.first();
            while let Some((pair, (left, _))) = node.and_then(|pair| Some((pair, pair.halves()?))) {
                keys.extend(pair.blinded);
                node = Some(left);
            }
            values.extend(keys.into_iter().rev());
        }
        elements::<G>(&values)
    }

    fn read<G: PrimeGroup>(
        side: usize,
        places: &[usize],
        body: &[u8],
    ) -> Result<Vec<Node<G::Element>>, AgreementError> {
        let keys = if side == BASE { places.len().saturating_sub(1) } else { 0 };
        let count = places.len().saturating_add(keys);
        let mut values = Reader::new(body).elements::<G>(count)?;
        let keys = values.split_off(places.len().min(count));
        let mut leaves = places.iter().zip(values).map(|(place, share)| Node::leaf(*place, Some(share)));
        if side != BASE {
            return Ok(leaves.collect());
        }
        let lowest = leaves.next().ok_or(AgreementError::PeerWrongList)?;
        let tree = leaves.zip(keys).fold(lowest, |below, (leaf, key)| {
            let mut pair = Node::pair(below, leaf);
            pair.blinded = Some(key);
            pair
        });
        Ok(vec![tree])
    }
}
