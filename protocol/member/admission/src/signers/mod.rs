//! Signing sessions, in which several members together make shares of one key or one signature, as
//! the charter's scheme says: with shares of the group's key (`share.rs`), or each with a key of
//! its own (`multi.rs`). The words are those of RFC 9591: a signer is a member that is ready to
//! take part, a participant is one that the coordinator has chosen.
//!
//! ```text
//! coordinator    Start(purpose) --------------->  all, in one order
//! signers        Ready(one-time key) ---------->  those who find the purpose right
//! coordinator    Participants(givers, takers) ->  as many as it takes; from here on the run is fixed
//! participants   Round(to all, to each sealed)->  round after round, until the run is done
//! ```
//! Promise: a signer takes part only in what the transcript and its own desk call for. The share
//! that a run gave it is on disk before it votes for the sharing. When the transcript takes that
//! decision, the new share comes into use and the old one is erased; until then the old one stays
//! in use. Everybody drops a run that stands still for [`PATIENCE`](crate::pause::PATIENCE), and
//! its coordinator starts another without those who were silent or proven to lie.
//! Bounds: [`SESSIONS_MAX`](state::SESSIONS_MAX) sessions,
//! [`COORDINATOR_SESSIONS_MAX`](state::COORDINATOR_SESSIONS_MAX) of one coordinator; the newest is
//! refused.

mod again;
mod choose;
mod deal;
mod hear;
mod idle;
mod message;
mod multi;
mod others;
mod outcome;
mod participants;
mod repair;
mod revoke;
mod run;
mod session;
mod share;
mod sharing;
mod start;
mod state;

pub(crate) use message::session_name;
pub use message::{PrivateMessage, Purpose, ROUND_LABEL, SIGNER_LABEL, SignerBody, SignerMessage, Wording};
pub(crate) use state::{Around, Signers};
