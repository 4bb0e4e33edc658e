//! The settings of the group layer, and what it asks of its caller.

use folkmoot_base::{GroupId, MemberId, Mutant, NodeId};
use std::collections::BTreeSet;

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// This node.
    pub me: NodeId,
    /// The carried charter whose tables these are. It has one group, which has its id. `None`: the
    /// tables are of the ring's own charter, and of all groups that have none of their own.
    pub of: Option<GroupId>,
    /// In the ring's own tables: the charters that this node carries beside the ring's, at most
    /// [`folkmoot_base::limits::CHARTERS_MAX`].
    pub carries: BTreeSet<GroupId>,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Config {
    /// The tables of a ring's own charter, at a node that carries no other.
    pub fn new(me: NodeId) -> Self {
        Self { me, of: None, carries: BTreeSet::new(), danger: Mutant::NONE }
    }
}

/// The members on the roster; asked at ordered places only. Any `Fn(MemberId) -> bool` is one.
pub trait Roster {
    /// Whether the roster has `member` now.
    fn holds(&self, member: MemberId) -> bool;
}

impl<F: Fn(MemberId) -> bool> Roster for F {
    fn holds(&self, member: MemberId) -> bool {
        self(member)
    }
}
