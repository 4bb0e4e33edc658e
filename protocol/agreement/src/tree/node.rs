//! What is public of a key tree: its shape, and the blinded keys that have been told.

/// A node: a party's leaf, or two nodes under one. If a node's blinded key is known, so are all
/// below it.
#[derive(Clone, PartialEq)]
pub struct Node<E> {
    /// `g^K` of this node's key; the root's is never told.
    pub(crate) blinded: Option<E>,
    /// Leaf or pair.
    pub(crate) kind: Kind<E>,
}

/// What a node is.
#[derive(Clone, PartialEq)]
pub(crate) enum Kind<E> {
    /// The party at this place.
    Leaf(usize),
    /// Left and right.
    Pair(Box<(Node<E>, Node<E>)>),
}

/// One node on the way from a leaf to the root.
pub(crate) struct Rung<'a, E> {
    pub(crate) blinded: Option<&'a E>,
    /// The blinded key beside it; the root has nothing beside it.
    pub(crate) sibling: Option<&'a E>,
}

/// What [`Node::prune`] leaves of a node.
struct Pruned<E> {
    node: Node<E>,
    /// Nobody was lost below, so that its key still stands.
    whole: bool,
}

impl<E: Clone + PartialEq> Node<E> {
    pub(crate) fn leaf(place: usize, blinded: Option<E>) -> Self {
        Self { blinded, kind: Kind::Leaf(place) }
    }

    pub(crate) fn pair(left: Self, right: Self) -> Self {
        Self { blinded: None, kind: Kind::Pair(Box::new((left, right))) }
    }

    /// Left and right, of a pair.
    pub(crate) fn halves(&self) -> Option<(&Self, &Self)> {
        match &self.kind {
            Kind::Leaf(_) => None,
            Kind::Pair(pair) => Some((&pair.0, &pair.1)),
        }
    }

    /// The longest way down.
    pub(crate) fn height(&self) -> usize {
        self.halves().map_or(0, |(left, right)| left.height().max(right.height()).saturating_add(1))
    }

    /// Places and depths of the leaves, from left to right.
    pub(crate) fn leaves(&self) -> Vec<(usize, usize)> {
        let mut leaves = Vec::new();
        self.walk(0, &mut |_, place, depth| leaves.push((place, depth)));
        leaves
    }

    /// The leaves alone, from left to right.
    pub(crate) fn into_leaves(self) -> Vec<Self> {
        let mut leaves = Vec::new();
        self.walk(0, &mut |leaf, place, _| leaves.push(Self::leaf(place, leaf.blinded.clone())));
        leaves
    }

    fn walk(&self, depth: usize, visit: &mut dyn FnMut(&Self, usize, usize)) {
        match &self.kind {
            Kind::Leaf(place) => visit(self, *place, depth),
            Kind::Pair(pair) => {
                pair.0.walk(depth.saturating_add(1), visit);
                pair.1.walk(depth.saturating_add(1), visit);
            }
        }
    }

    pub(crate) fn rightmost(&self) -> usize {
        match &self.kind {
            Kind::Leaf(place) => *place,
            Kind::Pair(pair) => pair.1.rightmost(),
        }
    }

    /// From the leaf of `place` up to the root.
    pub(crate) fn line(&self, place: usize) -> Option<Vec<Rung<'_, E>>> {
        let here = Rung { blinded: self.blinded.as_ref(), sibling: None };
        let (left, right) = match &self.kind {
            Kind::Leaf(leaf) => return (*leaf == place).then(|| vec![here]),
            Kind::Pair(pair) => (&pair.0, &pair.1),
        };
        let (mut line, beside) = match left.line(place) {
            Some(line) => (line, right),
            None => (right.line(place)?, left),
        };
        if let Some(last) = line.last_mut() {
            last.sibling = beside.blinded.as_ref();
        }
        line.push(here);
        Some(line)
    }

    /// Forgets the blinded key of the party at `place`, who has a new share, and all above it.
    pub(crate) fn clear(&mut self, place: usize) {
        self.climb(place, &mut |blinded| *blinded = None);
    }

    /// Puts `values` where blinded keys are missing, from the leaf of `place` upwards.
    pub(crate) fn fill(&mut self, place: usize, values: impl IntoIterator<Item = E>) {
        let mut values = values.into_iter();
        self.climb(place, &mut |blinded| {
            if blinded.is_none() {
                *blinded = values.next();
            }
        });
    }

    fn climb(&mut self, place: usize, act: &mut dyn FnMut(&mut Option<E>)) -> bool {
        let found = match &mut self.kind {
            Kind::Leaf(leaf) => *leaf == place,
            Kind::Pair(pair) => pair.0.climb(place, act) || pair.1.climb(place, act),
        };
        if found {
            act(&mut self.blinded);
        }
        found
    }

    /// Keeps the parties to whom `stays` gives a place, under that place. If one half of a pair is
    /// gone, the other moves up, and its rightmost place is put into `moved`. Keys above a loss are
    /// forgotten.
    pub(crate) fn prune(
        &self,
        stays: &dyn Fn(usize) -> Option<usize>,
        moved: &mut Vec<usize>,
    ) -> Option<Self> {
        self.pruned(stays, moved).map(|pruned| pruned.node)
    }

    fn pruned(&self, stays: &dyn Fn(usize) -> Option<usize>, moved: &mut Vec<usize>) -> Option<Pruned<E>> {
        let (left, right) = match &self.kind {
            Kind::Leaf(leaf) => {
                let node = Self::leaf(stays(*leaf)?, self.blinded.clone());
                return Some(Pruned { node, whole: true });
            }
            Kind::Pair(pair) => (pair.0.pruned(stays, moved), pair.1.pruned(stays, moved)),
        };
        match (left, right) {
            (Some(left), Some(right)) => {
                let whole = left.whole && right.whole;
                let mut node = Self::pair(left.node, right.node);
                node.blinded = self.blinded.clone().filter(|_| whole);
                Some(Pruned { node, whole })
            }
            (None, None) => None,
            (Some(half), None) | (None, Some(half)) => {
                moved.push(half.node.rightmost());
                Some(Pruned { whole: false, ..half })
            }
        }
    }
}
