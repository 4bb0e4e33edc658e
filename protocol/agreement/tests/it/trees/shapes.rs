//! A second, simple model of key trees: each member's way down as a sequence of left and right.
//! What the modules pay is compared with what follows from this model.

use std::collections::BTreeMap;

/// Member → its way from the root: `false` is left.
pub type Shape = BTreeMap<u16, Vec<bool>>;

/// The tree that TGDH builds of members `1..=n`, one after the other.
pub fn low(n: u16) -> Shape {
    (2..=n).fold(Shape::from([(1, Vec::new())]), |shape, number| with(&shape, number))
}

/// `joiner` beside the shallowest node, of equals the rightmost, where nothing comes to be deeper
/// than the deepest is; else beside the root.
pub fn with(shape: &Shape, joiner: u16) -> Shape {
    let deepest = shape.values().map(Vec::len).max().unwrap();
    let mut nodes: Vec<&[bool]> =
        shape.values().flat_map(|way| (0..=way.len()).map(|depth| &way[..depth])).collect();
    nodes.sort_by(|one, other| one.len().cmp(&other.len()).then(other.cmp(one)));
    let fits = |node: &&&[bool]| {
        let below = shape.values().filter(|way| way.starts_with(node));
        below.map(Vec::len).max().unwrap() < deepest
    };
    let node = nodes.iter().find(fits).map_or(Vec::new(), |node| node.to_vec());
    let mut grown = shape.clone();
    for way in grown.values_mut().filter(|way| way.starts_with(&node)) {
        way.insert(node.len(), false);
    }
    grown.insert(joiner, [node, vec![true]].concat());
    grown
}

/// What each tells besides its share, where all shares are new: every pair's key but the root's
/// once.
pub fn told(shape: &Shape) -> BTreeMap<u16, u64> {
    let mut told = BTreeMap::new();
    tell(shape, &[], &mut told);
    told
}

/// When a node's key is told, and by whom.
fn tell(shape: &Shape, node: &[bool], told: &mut BTreeMap<u16, u64>) -> (u32, u16) {
    let below = |node: &[bool]| -> Vec<u16> {
        shape.iter().filter(|(_, way)| way.starts_with(node)).map(|(number, _)| *number).collect()
    };
    if let [only] = below(node)[..] {
        return (0, only);
    }
    let halves = [[node, &[false]].concat(), [node, &[true]].concat()];
    let (left, right) = (tell(shape, &halves[0], told), tell(shape, &halves[1], told));
    let (time, sponsor) = match left.0.cmp(&right.0) {
        std::cmp::Ordering::Equal => (left.0 + 1, rightmost(shape, &below(&halves[0]))),
        std::cmp::Ordering::Less => right,
        std::cmp::Ordering::Greater => left,
    };
    *told.entry(sponsor).or_default() += u64::from(!node.is_empty());
    (time, sponsor)
}

/// Takes out `gone`; those beside it move up.
pub fn without(shape: &Shape, gone: u16) -> Shape {
    let beside = sibling(shape, gone);
    let depth = shape[&gone].len() - 1;
    let mut left = shape.clone();
    left.remove(&gone);
    for number in beside {
        left.get_mut(&number).unwrap().remove(depth);
    }
    left
}

/// The members below the node beside `number`'s leaf.
pub fn sibling(shape: &Shape, number: u16) -> Vec<u16> {
    let mut way = shape[&number].clone();
    let last = way.len() - 1;
    way[last] = !way[last];
    shape.iter().filter(|(_, other)| other.starts_with(&way)).map(|(number, _)| *number).collect()
}

/// From left to right.
pub fn rightmost(shape: &Shape, of: &[u16]) -> u16 {
    *of.iter().max_by_key(|number| &shape[number]).unwrap()
}

pub fn depth(shape: &Shape, number: u16) -> u64 {
    shape[&number].len() as u64
}

pub fn height(shape: &Shape) -> u64 {
    shape.keys().map(|number| depth(shape, *number)).max().unwrap()
}

/// How many nodes are above both leaves.
pub fn above_both(shape: &Shape, one: u16, other: u16) -> u64 {
    if one == other {
        return depth(shape, one);
    }
    let pairs = shape[&one].iter().zip(&shape[&other]);
    1 + pairs.take_while(|(one, other)| one == other).count() as u64
}
