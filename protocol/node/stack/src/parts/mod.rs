//! The parts of a node. Each owns its state, in fields that are private to its file or folder. No
//! part holds another: what one needs of another is handed over in the call.

mod accounts;
mod backlog;
mod carried;
mod orders;
mod others;
mod outbox;
mod patience;
mod peers;
mod pieces;
mod reach;
mod records;
mod refusals;
mod syncing;
mod twice;
mod way;

pub(crate) use accounts::Accounts;
pub(crate) use backlog::{Backlog, Submission, Taken};
pub(crate) use carried::{Carried, Charter};
pub(crate) use orders::Orders;
pub(crate) use others::Others;
pub(crate) use outbox::Outbox;
pub(crate) use patience::{Patience, SETTLE_DEADLINE};
pub(crate) use peers::Peers;
#[cfg(test)]
pub(crate) use pieces::{INCOMING_GUESTS_MAX, INCOMING_LIFE, INCOMING_MAX};
pub(crate) use pieces::{Piece, Pieces};
pub use reach::{ADDRESSES_MAX, Named};
pub(crate) use reach::{Reach, Unanswered, place};
pub(crate) use records::{Answer, Mark, Records};
pub(crate) use refusals::Refusals;
pub use refusals::{REFUSAL_LIFE, REFUSALS_MAX, Refusal, Theirs};
pub(crate) use syncing::Syncing;
pub use twice::{TWICE_LIFE, Twice};
pub(crate) use twice::{Twins, start_number, start_row, stored_number};
pub(crate) use way::{Package, Way};
