//! The outputs of the group layer.

use crate::Mark;
use bytes::Bytes;
use folkmoot_base::{GroupId, Indication, Lead, NodeId, Party, Service};

/// An output of the group layer. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Order this on the ring, after everything submitted before. The ring must accept it: these
    /// outputs are not held back for congestion, except those that come from [`Group::send`].
    Submit {
        /// Whose it is: what one party submits keeps its order.
        party: u16,
        /// The service.
        service: Service,
        /// A message of this layer: these bytes, and then those of `payload`.
        lead: Lead,
        /// The rest of it.
        payload: Bytes,
        /// The caller's account of whoever sent it: as given to [`Group::send`], else 0.
        account: u32,
    },
    /// Tell an attached party.
    Member {
        /// The party.
        to: Party,
        /// The indication.
        indication: Indication,
    },
    /// This item of the transcript has its place in the order: take it, and hand it up. Then call
    /// [`Group::roster_changed`] before anything else is delivered, and [`Group::mark`] soon.
    Item(Bytes),
    /// In the ring's own tables: this node carries these charters beside the ring's. What is not
    /// among them it does not carry: call [`Group::without`] on their tables.
    Carries {
        /// The node.
        node: NodeId,
        /// The place at which it says so.
        place: u64,
        /// The charters.
        charters: Vec<GroupId>,
    },
    /// Others have other transcripts, and may lack what we have: each mark says what they have.
    /// Answer with [`Group::item`] for what they lack, in an order in which it can be taken. A mark
    /// may be of another line, which can never become ours; then there is nothing to answer.
    Reconcile {
        /// The marks of the others, each once.
        behind: Vec<Mark>,
    },
    /// An event for the log.
    Trace(String),
}
