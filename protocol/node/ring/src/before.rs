//! What came of a new ring before COMMIT was whole here.

use crate::data::{Data, RingHandle};
use crate::message::Token;
use folkmoot_base::limits::NODES_MAX;
use folkmoot_base::{ConfigurationId, NodeId};

/// Most packets of the new ring that are kept until the second COMMIT comes; more are asked for
/// later, as lost ones are.
const EARLY_MAX: usize = 2 * NODES_MAX;

/// What others sent in a new ring before COMMIT was whole here.
#[derive(Debug, Default)]
pub(crate) struct Early {
    pub(crate) packets: Vec<(NodeId, Data)>,
    pub(crate) first: Option<(NodeId, Token)>,
}

impl Early {
    pub(crate) fn data(&mut self, from: NodeId, data: Data) {
        if self.packets.len() < EARLY_MAX {
            self.packets.push((from, data));
        }
    }

    pub(crate) fn token(&mut self, from: NodeId, token: Token) {
        self.first = Some((from, token));
    }

    /// What is of this ring.
    pub(crate) fn of(mut self, id: &ConfigurationId) -> Self {
        self.packets.retain(|(_, data)| data.ring == RingHandle::of(&id.nonce));
        self.first.take_if(|(_, token)| token.ring != id.nonce);
        self
    }
}
