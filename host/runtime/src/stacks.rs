//! The two floors that the runtime drives, under the names that everything above uses.

pub use folkmoot_member::{
    Accepted, Ahead, AuthorityStatus, Awaits, Closed, Command, Counting, DealerState, Event, LetterEvent,
    LettersError, Member, Office, Origin, Outcome, Petition, Proposal, SendError, ShareStatus, ShareWay,
    Standing, Stands, Times, Told,
};
pub use folkmoot_node::{
    Carrying, Exchange, Named, Node, Path, RING_TABLE, Refusal, STORE_KEY_RING_SEQ, Theirs, Timing, Twice,
    Versions, stored_ring_seq,
};
