//! What a party brings: the tree of an earlier run without those who are gone, and its own keys in
//! it.

use crate::base::Party;
use crate::tree::form::Form;
use crate::tree::node::Node;
use crate::tree::path::Path;
use crate::{AgreementError, Kept, Plan, PrimeGroup};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// What a finished run leaves. Ranks are the leaves' places, from left to right.
pub(crate) struct State<G: PrimeGroup> {
    pub(crate) members: Vec<Party>,
    /// Without the root's blinded key.
    pub(crate) tree: Node<G::Element>,
    pub(crate) keys: Vec<Zeroizing<G::Scalar>>,
}

/// This party's side as all its parties see it before the first step: the renewed share, and the
/// keys that it affects, are forgotten.
pub(crate) struct Own<G: PrimeGroup> {
    /// The side's place among the plan's sides.
    pub(crate) side: usize,
    /// What becomes part of the new tree.
    pub(crate) forest: Vec<Node<G::Element>>,
    pub(crate) path: Path<G>,
    /// Whose share is new.
    pub(crate) renewer: usize,
    /// The blinded share that it had before.
    pub(crate) before: Option<G::Element>,
    /// How many blinded keys on its way up it tells, if there are several sides.
    pub(crate) count: usize,
}

impl<G: PrimeGroup> Own<G> {
    pub(crate) fn new<F: Form>(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let me = plan.me();
        let holds = |side: &Vec<usize>| side.contains(&me);
        let side = plan.sides().iter().position(holds).ok_or(AgreementError::LocalMembers)?;
        let mut moved = Vec::new();
        let (mut tree, keys) = if plan.origin(me).is_some() {
            let state = state::<G, F>(plan, kept)?;
            let rank = |place: &usize| Some((plan.origin(*place)?.rank as usize, *place));
            let stay: BTreeMap<_, _> =
                plan.sides().get(side).into_iter().flatten().filter_map(rank).collect();
            let tree = state.tree.prune(&|rank| stay.get(&rank).copied(), &mut moved);
            let tree = tree.ok_or(AgreementError::LocalKept)?;
            (tree, state.keys.clone())
        } else {
            (Node::leaf(me, None), Vec::new())
        };
        let alone = plan.sides().len() == 1;
        let told = F::speaker(plan, side);
        let renewer = if alone { F::renewer(&tree, &moved, told) } else { told };
        let before = tree.line(renewer).and_then(|line| line.first()?.blinded.cloned());
        tree.clear(renewer);
        let forest = F::part(side, tree);
        let mut path = Path::new(me, keys);
        if let Some(tree) = forest.iter().find(|tree| tree.line(me).is_some()) {
            path.fit(tree);
        }
        let count = count::<G, F>(plan, side, &forest, renewer);
        Ok(Self { side, forest, path, renewer, before, count })
    }

    /// What the renewer of this side tells of it: the tree that its parties see, and what it had to
    /// add.
    ///
    /// # Errors
    /// [`AgreementError::PeerWrongTree`], [`AgreementError::PeerNotRenewed`].
    pub(crate) fn check(&self, forest: &[Node<G::Element>]) -> Result<(), AgreementError> {
        let mut expected = self.forest.clone();
        let told = forest.iter().find_map(|tree| tree.line(self.renewer)).unwrap_or_default();
        let told: Vec<_> = told.iter().take(self.count).map_while(|rung| rung.blinded.cloned()).collect();
        if let Some(tree) = expected.iter_mut().find(|tree| tree.line(self.renewer).is_some()) {
            if !self.is_renewed(tree, &told) {
                return Err(AgreementError::PeerNotRenewed);
            }
            tree.fill(self.renewer, told.iter().cloned());
        }
        let fits = told.len() == self.count && expected == forest;
        if fits { Ok(()) } else { Err(AgreementError::PeerWrongTree) }
    }

    /// Whether the renewer's share, if it is the first that is missing in `tree`, is another than
    /// before.
    pub(crate) fn is_renewed(&self, tree: &Node<G::Element>, told: &[G::Element]) -> bool {
        let leaf = tree.line(self.renewer).and_then(|line| line.first()?.blinded.cloned());
        leaf.is_some() || told.first() != self.before.as_ref()
    }
}

/// How many blinded keys the renewer of a side tells: as many as it can, without those that become
/// void at once. If every other side is one party, all can tell beforehand which these are, so
/// that all know what the side's tree is going to be.
fn count<G: PrimeGroup, F: Form>(
    plan: &Plan,
    side: usize,
    forest: &[Node<G::Element>],
    renewer: usize,
) -> usize {
    let mut forest = forest.to_vec();
    let own = forest.iter_mut().find(|tree| tree.line(renewer).is_some());
    let can = own.as_ref().and_then(|tree| tree.turn(renewer)).map_or(0, |turn| turn.count);
    if let Some(tree) = own {
        tree.fill(renewer, core::iter::repeat(G::generator()));
    }
    let mut parts = Vec::new();
    for (at, places) in plan.sides().iter().enumerate() {
        match places.as_slice() {
            _ if at == side => parts.append(&mut forest),
            [place] => parts.push(Node::leaf(*place, Some(G::generator()))),
            _ => return can,
        }
    }
    let whole = F::hang(parts);
    let line = whole.as_ref().and_then(|tree| tree.line(renewer)).unwrap_or_default();
    can.min(line.iter().take_while(|rung| rung.blinded.is_some()).count())
}

/// The kept state, if it is this module's and all who claim to come from that run had the ranks
/// that they claim.
fn state<'a, G: PrimeGroup, F: Form>(
    plan: &Plan,
    kept: Option<&'a Kept>,
) -> Result<&'a State<G>, AgreementError> {
    let kept = kept.filter(|kept| kept.module() == F::NAME).ok_or(AgreementError::LocalKept)?;
    let state = kept.state::<State<G>>().ok_or(AgreementError::LocalKept)?;
    plan.check_ranks(|rank| state.members.get(usize::try_from(rank).ok()?).copied())?;
    Ok(state)
}
