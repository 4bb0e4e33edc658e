//! The parts of a node. Each owns its state, in fields that are private to its file or folder. No
//! part holds another: what one needs of another is handed over in the call.

mod outbox;

pub(crate) use outbox::Outbox;
