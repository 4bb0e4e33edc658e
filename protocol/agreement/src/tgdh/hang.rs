//! Where trees are attached, so that the tree stays low.

use crate::tree::{Kind, Node};

/// Puts trees together: the highest first, equal ones in the order given. Each of the others is
/// attached to what is there.
pub(super) fn all<E: Clone + PartialEq>(mut trees: Vec<Node<E>>) -> Option<Node<E>> {
    trees.sort_by_key(|tree| usize::MAX.saturating_sub(tree.height()));
    trees.into_iter().reduce(into)
}

/// Attaches `tree` beside the shallowest node of `whole` at which the tree does not become higher;
/// of equals, the rightmost; if there is none, beside the root.
fn into<E: Clone + PartialEq>(mut whole: Node<E>, tree: Node<E>) -> Node<E> {
    let (height, mut tree) = (whole.height(), Some(tree));
    for depth in 1..height {
        // What may be below the new pair.
        let room = height.saturating_sub(depth).saturating_sub(1);
        if tree.as_ref().is_some_and(|tree| tree.height() <= room) {
            beside(&mut whole, depth, room, &mut tree);
        }
    }
    match tree {
        Some(tree) => Node::pair(whole, tree),
        None => whole,
    }
}

/// Attaches `tree` beside the rightmost node `depth` below `node` that is at most `room` high, and
/// forgets the keys above.
fn beside<E: Clone + PartialEq>(
    node: &mut Node<E>,
    depth: usize,
    room: usize,
    tree: &mut Option<Node<E>>,
) -> bool {
    let Some(below) = depth.checked_sub(1) else {
        let Some(tree) = tree.take_if(|_| node.height() <= room) else { return false };
        let left = core::mem::replace(node, Node::leaf(0, None));
        *node = Node::pair(left, tree);
        return true;
    };
    let Kind::Pair(pair) = &mut node.kind else { return false };
    let hung = beside(&mut pair.1, below, room, tree) || beside(&mut pair.0, below, room, tree);
    if hung {
        node.blinded = None;
    }
    hung
}
