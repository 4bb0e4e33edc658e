//! The secret part of a key tree at one party: the keys on the way from its leaf to the root.

use crate::base::{Entropy, Secret};
use crate::prime::to_scalar;
use crate::tree::node::{Node, Rung};
use crate::{Count, PrimeGroup};
use zeroize::Zeroizing;

/// The keys that one party knows. They erase themselves.
pub(crate) struct Path<G: PrimeGroup> {
    me: usize,
    /// The share, then the keys above it as far as they stand, as exponents. The root's is not
    /// among them.
    keys: Vec<Zeroizing<G::Scalar>>,
    root: Option<Zeroizing<G::Element>>,
    count: Count,
}

impl<G: PrimeGroup> Path<G> {
    pub(crate) fn new(me: usize, keys: Vec<Zeroizing<G::Scalar>>) -> Self {
        Self { me, keys, root: None, count: Count::default() }
    }

    pub(crate) fn count(&self) -> Count {
        self.count
    }

    pub(crate) fn keys(&self) -> &[Zeroizing<G::Scalar>] {
        &self.keys
    }

    /// A new share; all keys above it are void.
    pub(crate) fn renew(&mut self, entropy: &mut dyn Entropy) {
        self.keys = vec![Zeroizing::new(G::draw(entropy))];
    }

    /// Drops the keys of this party's nodes whose blinded keys no longer stand in `tree`, and of
    /// nodes that are not in it.
    pub(crate) fn fit(&mut self, tree: &Node<G::Element>) {
        let line = tree.line(self.me).unwrap_or_default();
        let known = line.iter().take_while(|rung| rung.blinded.is_some()).count();
        self.keys.truncate(known);
    }

    /// Computes keys as far as the blinded keys beside the way are known, but at most `most`.
    fn advance(&mut self, tree: &Node<G::Element>, most: usize) {
        let line = tree.line(self.me).unwrap_or_default();
        while self.keys.len() < most.min(line.len()) {
            let Some(element) = self.above(&line) else { return };
            self.keys.push(Zeroizing::new(to_scalar::<G>(&element)));
        }
    }

    /// Computes the keys of the whole tree as far as the blinded keys beside the way are known, the
    /// root's too.
    pub(crate) fn finish(&mut self, tree: &Node<G::Element>) {
        let line = tree.line(self.me).unwrap_or_default();
        self.advance(tree, line.len().saturating_sub(1));
        if self.root.is_some() || self.keys.len().saturating_add(1) < line.len() {
            return;
        }
        self.root = match line.as_slice() {
            // The only party: its share is all there is.
            [_] => self.keys.first().cloned().map(|share| self.raise(&G::generator(), &share)),
            _ => self.above(&line),
        };
    }

    /// The key above the last that is known.
    fn above(&mut self, line: &[Rung<'_, G::Element>]) -> Option<Zeroizing<G::Element>> {
        let key = self.keys.last()?.clone();
        let beside = line.get(self.keys.len().checked_sub(1)?)?.sibling?;
        Some(self.raise(beside, &key))
    }

    fn raise(&mut self, element: &G::Element, key: &G::Scalar) -> Zeroizing<G::Element> {
        self.count.exponentiations = self.count.exponentiations.saturating_add(1);
        Zeroizing::new(G::raise(element, key))
    }

    /// The lowest `count` missing blinded keys on the way up; `None` if not that many keys can be
    /// computed.
    pub(crate) fn blind(&mut self, tree: &Node<G::Element>, count: usize) -> Option<Vec<G::Element>> {
        let line = tree.line(self.me)?;
        let known = line.iter().take_while(|rung| rung.blinded.is_some()).count();
        let most = known.checked_add(count)?;
        self.advance(tree, most);
        let keys = self.keys.get(known..most)?;
        self.count.exponentiations = self.count.exponentiations.saturating_add(count as u64);
        Some(keys.iter().map(|key| G::raise_generator(key)).collect())
    }

    /// The root's key, encoded, once it is computed.
    pub(crate) fn secret(&self) -> Option<Secret<Vec<u8>>> {
        self.root.as_ref().map(|root| Secret::new(G::encode(root)))
    }
}
