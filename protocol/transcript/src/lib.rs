//! The transcript of a group: a line of decisions, and a set of admissions.
//!
//! ```text
//! Item --> Transcript (signatures, papers) --> Line: State(n) and the Set beside it --> who is a member, who votes
//!                                               ^
//! BallotMessage --> Ballots (one voter's part) -- a decision that stands
//! ```
//! Promises: whoever was a quorum once adds nothing; two members with equal heads and sets have
//! equal rosters; unequal lines name somebody who signed both. Rules and numbers:
//! docs/protocol/line.md. Relies on: an owner's program that persists what it signs before it sends
//! it.

mod admit;
mod approval;
mod ballots;
mod decision;
mod effect;
mod error;
mod file;
mod have;
mod item;
mod known;
mod leave;
mod line;
mod package;
mod paper;
mod proposal;
mod refused;
mod roster;
mod set;
mod shown;
mod state;
mod store;
mod ticket;
mod transcript;
mod trial;
mod votes;
mod voucher;

pub use admit::{Admit, EPOCHS_MAX, Refusal};
pub use approval::{Approval, LIFE_SECONDS, Subject};
pub use ballots::{
    BallotMessage, BallotOutput, BallotRecord, BallotStatus, Ballots, KNOWN_FOR, Look, PATIENCE, SKEW_SECONDS,
};
pub use decision::{
    Approved, Decision, EFFECTS_MAX, Elector, Electorate, HOLDS_MAX, Proof, REFUSALS_MAX, Refused,
};
pub use effect::{Change, Effect, Force};
pub use error::{FileError, ItemError, Refuted, Uncounted, Unfit, Unproposed, Wrong};
pub use file::{FILE_LABEL, FileReader, HANDOVERS_MAX, ITEMS_MAX, STATE_BYTES_MAX};
pub use folkmoot_base::{Algorithm, Head, SignatureBytes};
pub use have::{Have, NAMES_MAX};
pub use item::{ITEM_BYTES_MAX, Item, SignedApproval};
pub use known::{HEAD_DIGITS_MIN, KnownHead, NoHead};
pub use leave::Leave;
pub use line::{Applied, FORKS_MAX, Fork, Line, SIDES_MAX, contradictions};
pub use package::{PACKAGE_BYTES_MAX, is_package, shown_by_package};
pub use proposal::{
    Claim, Commit, Electors, Judgement, Promise, Proposal, Report, STATEMENT_LABEL, Stage, Standing,
    Statement,
};
pub use roster::{Ending, FORMERS_MAX, Former, Roster};
pub use set::{
    ADMITS_MAX, APPROVALS_MAX, LATE_BYTES_MAX, LATE_MAX, PAST_SAID_SECONDS, PAST_TAKEN_SECONDS,
    REFUSALS_OF_VOTER_MAX, SPONSORED_BYTES, SPONSORED_MAX, Set, Signed, admission,
};
pub use state::{Batch, Held, IDLE_SECONDS, Place, REPLACED_MAX, Replaced, State, StateError, VOTERS_MAX};
pub use store::{Kept, TABLE};
pub use ticket::{
    CONTACTS_MAX, Invitation, TICKET_DAYS_MAX, TICKET_PREFIX, TICKET_TEXT_MAX, Ticket, TicketError,
};
pub use transcript::clock::is_clock;
pub use transcript::heads::await_head;
pub use transcript::{ROTATE_LABEL, Skipped, Taken, Transcript, Way};
pub use votes::SignedVotes;
pub use voucher::{Voucher, VoucherError, Vouching};
