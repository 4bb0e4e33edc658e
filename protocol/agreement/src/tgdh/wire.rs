//! A side's tree on the wire: its nodes, each behind those below it, the left first.
//!
//! | byte | node | then |
//! |---|---|---|
//! | 0 | the next party of the side, in order of rank | its blinded share |
//! | 1 | the two nodes before, as a pair | its blinded key |
//! | 2 | the same | nothing: the blinded key is missing |
//!
//! Leaves are not named: the plan has them in order. So a tree of other parties cannot be expressed
//! at all.

use crate::tree::{Node, Reader, write as elements};
use crate::{AgreementError, PrimeGroup};

pub(super) const LEAF: u8 = 0;
const PAIR: u8 = 1;
const BARE: u8 = 2;

pub(super) fn write<G: PrimeGroup>(trees: &[Node<G::Element>]) -> Vec<u8> {
    let mut body = Vec::new();
    for tree in trees {
        put::<G>(tree, &mut body);
    }
    body
}

fn put<G: PrimeGroup>(node: &Node<G::Element>, body: &mut Vec<u8>) {
    let tag = match node.halves() {
        None => LEAF,
        Some((left, right)) => {
            put::<G>(left, body);
            put::<G>(right, body);
            if node.blinded.is_some() { PAIR } else { BARE }
        }
    };
    body.push(tag);
    body.extend(elements::<G>(&node.blinded));
}

pub(super) fn read<G: PrimeGroup>(places: &[usize], body: &[u8]) -> Result<Node<G::Element>, AgreementError> {
    let (mut reader, mut places) = (Reader::new(body), places.iter());
    let mut nodes: Vec<Node<G::Element>> = Vec::new();
    while !reader.is_empty() {
        let tag = reader.byte()?;
        let node = match tag {
            LEAF => {
                let place = places.next().ok_or(AgreementError::PeerWrongList)?;
                Node::leaf(*place, Some(reader.element::<G>()?))
            }
            PAIR | BARE => {
                let (right, left) = (nodes.pop(), nodes.pop());
                let (right, left) =
                    (right.ok_or(AgreementError::PeerMalformed)?, left.ok_or(AgreementError::PeerMalformed)?);
                pair::<G>(left, right, tag, &mut reader)?
            }
            _ => return Err(AgreementError::PeerMalformed),
        };
        nodes.push(node);
    }
    match (nodes.pop(), nodes.is_empty(), places.next()) {
        (Some(tree), true, None) => Ok(tree),
        (Some(_), true, Some(_)) => Err(AgreementError::PeerWrongList),
        _ => Err(AgreementError::PeerMalformed),
    }
}

/// A key that is known can be computed from below: everything there is known too.
fn pair<G: PrimeGroup>(
    left: Node<G::Element>,
    right: Node<G::Element>,
    tag: u8,
    reader: &mut Reader<'_>,
) -> Result<Node<G::Element>, AgreementError> {
    let sound = left.blinded.is_some() && right.blinded.is_some();
    let mut node = Node::pair(left, right);
    if tag == PAIR {
        if !sound {
            return Err(AgreementError::PeerWrongTree);
        }
        node.blinded = Some(reader.element::<G>()?);
    }
    Ok(node)
}
