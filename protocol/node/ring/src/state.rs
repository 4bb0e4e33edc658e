//! The states of a ring, and what is asked of all of them.

use crate::commit::Commit;
use crate::gather::Gather;
use crate::operational::Operational;
use crate::order::Order;
use crate::output::{Counters, Phase};
use crate::recover::Recover;
use folkmoot_base::NodeId;

/// One state, with the data that only this state has.
#[derive(Debug)]
pub(crate) enum State {
    Operational(Box<Operational>),
    Gather(Box<Gather>),
    Commit(Box<Commit>),
    Recover(Box<Recover>),
}

impl State {
    pub(crate) fn phase(&self) -> Phase {
        match self {
            Self::Operational(_) => Phase::Operational,
            Self::Gather(_) => Phase::Gather,
            Self::Commit(_) => Phase::Commit,
            Self::Recover(_) => Phase::Recover,
        }
    }

    /// Whether `node` is a member of the ring, or of the attempt at one.
    pub(crate) fn has(&self, node: &NodeId) -> bool {
        match self {
            Self::Operational(state) => state.has(node),
            Self::Commit(state) => state.has(node),
            Self::Recover(state) => state.circuit.order.members.binary_search(node).is_ok(),
            Self::Gather(_) => false,
        }
    }

    /// Whether late packets of the installed configuration are taken (ORD-09).
    pub(crate) fn takes_late(&self) -> bool {
        matches!(self, Self::Gather(state) if state.takes_late())
    }

    /// The order of the installed configuration, to be recovered.
    pub(crate) fn into_old(self) -> Option<Order> {
        match self {
            Self::Operational(state) => Some(state.circuit.order),
            Self::Gather(state) => state.old,
            Self::Commit(state) => state.old,
            Self::Recover(state) => state.old,
        }
    }

    /// The same, while the next configuration is not installed.
    pub(crate) fn old_mut(&mut self) -> Option<&mut Order> {
        match self {
            Self::Operational(_) => None,
            Self::Gather(state) => state.old.as_mut(),
            Self::Commit(state) => state.old.as_mut(),
            Self::Recover(state) => state.old.as_mut(),
        }
    }

    pub(crate) fn installed(&self) -> Option<&Order> {
        match self {
            Self::Operational(state) => Some(&state.circuit.order),
            Self::Gather(state) => state.old.as_ref(),
            Self::Commit(state) => state.old.as_ref(),
            Self::Recover(state) => state.old.as_ref(),
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        match self {
            Self::Operational(state) => state.counters(),
            Self::Recover(state) => state.circuit.counters(),
            Self::Gather(_) | Self::Commit(_) => Counters::default(),
        }
    }
}
