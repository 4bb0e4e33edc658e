//! The differences between tree modules: how trees are put together, and who begins.

use crate::tree::node::Node;
use crate::{AgreementError, ModuleName, Plan, PrimeGroup};

/// One kind of key tree. All of it must give the same result at every party.
pub trait Form: Send + Sync + 'static {
    /// The module's name.
    const NAME: ModuleName;

    /// The party that tells the tree of the plan's side number `side`, with a new share. All know
    /// it from the plan alone.
    fn speaker(plan: &Plan, side: usize) -> usize;

    /// The party that takes a new share if there is only one side, whose tree all know. `moved`
    /// are the rightmost places of the subtrees that moved up in place of leavers; `speaker` would
    /// tell the tree to others.
    fn renewer<E: Clone + PartialEq>(tree: &Node<E>, moved: &[usize], speaker: usize) -> usize;

    /// The parts of a side's tree that become part of the new one.
    fn part<E: Clone + PartialEq>(side: usize, tree: Node<E>) -> Vec<Node<E>>;

    /// Puts the parts of all sides together, in the plan's order.
    fn hang<E: Clone + PartialEq>(parts: Vec<Node<E>>) -> Option<Node<E>>;

    /// Whether the last tree that is told may end the run.
    fn may_end(plan: &Plan) -> bool;

    /// What the speaker of side number `side` sends.
    fn write<G: PrimeGroup>(side: usize, parts: &[Node<G::Element>]) -> Vec<u8>;

    /// Reads what [`Self::write`] makes, for the parties at `places`, from left to right.
    ///
    /// # Errors
    /// Every `Peer…` reason.
    fn read<G: PrimeGroup>(
        side: usize,
        places: &[usize],
        body: &[u8],
    ) -> Result<Vec<Node<G::Element>>, AgreementError>;
}
