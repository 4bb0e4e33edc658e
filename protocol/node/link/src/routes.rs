//! The indices of this node: what each belongs to.

use folkmoot_base::{Entropy, NodeId, draw};
use std::collections::BTreeMap;

/// What an index of ours belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Dial,
    HalfOpen,
    Peer(NodeId),
    /// Of a process of this node that another one has superseded.
    Former(NodeId),
}

/// All indices in use. Each belongs to one part, which gives it up with whatever it stands for.
#[derive(Debug, Default)]
pub(crate) struct Routes(BTreeMap<u32, Route>);

impl Routes {
    pub(crate) fn get(&self, index: u32) -> Option<Route> {
        self.0.get(&index).copied()
    }

    /// An index that is not in use.
    pub(crate) fn unused(&self, entropy: &mut dyn Entropy) -> u32 {
        loop {
            let index = u32::from_be_bytes(draw(entropy));
            if !self.0.contains_key(&index) {
                return index;
            }
        }
    }

    pub(crate) fn set(&mut self, index: u32, route: Route) {
        self.0.insert(index, route);
    }

    pub(crate) fn remove(&mut self, index: u32) {
        self.0.remove(&index);
    }
}
