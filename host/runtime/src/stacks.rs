//! The two floors that the runtime drives, under the names that everything above uses.

pub use folkmoot_member::{Command, Event, Member, Origin, Petition, Proposal, SendError};
pub use folkmoot_node::{Node, Timing};
