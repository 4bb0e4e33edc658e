//! The two floors that the runtime drives, under the names that everything above uses.

pub use folkmoot_member::{
    Command, Event, LettersError, Member, Origin, Petition, Proposal, SendError, Standing,
};
pub use folkmoot_node::{Exchange, Node, Refusal, Timing};
