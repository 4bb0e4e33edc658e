//! The settings of the group layer, and what it asks of its caller.

use crate::message::Scope;
use folkmoot_base::{GroupId, MemberId, Mutant, NodeId, Signatures};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// This node.
    pub me: NodeId,
    /// The group of the ring's charter: what this node signs is for one ring.
    pub ring: GroupId,
    /// This node's signatures, and the judgement of all others.
    pub signatures: Arc<dyn Signatures>,
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
    pub fn new(me: NodeId, ring: GroupId, signatures: Arc<dyn Signatures>) -> Self {
        Self { me, ring, signatures, of: None, carries: BTreeSet::new(), danger: Mutant::NONE }
    }

    /// What a node's signature is for: the ring, and the charter of these tables.
    pub(crate) fn scope(&self) -> Scope {
        Scope { ring: self.ring, tables: self.of.unwrap_or(self.ring) }
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
