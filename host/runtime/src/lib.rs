//! Runs one member on one node: one tokio task drives the shipped stacks with the system's clock,
//! randomness, disk and sockets.
//!
//! ```text
//!   application  --Handle-->  engine (one task)  --Wire-->  transport
//!                <-Running--        |
//!                                 Writer (one thread)  -->  STATE/member.sqlite
//! ```
//! Promise: what a layer asks to keep is on disk before anything that relies on it leaves this
//! process, in one transaction for each turn; every queue has a bound and says what happens when it
//! is full; a damaged folder gives an error that names the file and what to do, never a panic; two
//! processes never run on one folder.

mod carry;
mod clock;
mod engine;
mod error;
mod handle;
mod names;
mod open;
mod outcome;
mod sends;
mod stacks;
mod state;
mod store;
mod thread;
mod upper;
mod wire;

pub use clock::{Clock, wall_clock};
pub use engine::{Counters, Note, ORDERS_WAITING_MAX, Sending, UpperStack};
pub use error::{CarryError, RuntimeError, StateError, StoreError};
pub use handle::{Handle, Running, start};
pub use names::addresses;
pub use open::{
    Household, Lodger, Machine, MemberHandle, Opened, Options, Prepared, RunningMember, open, open_on_thread,
    open_with, prepare, prepare_with,
};
pub use outcome::{EVENT_BYTES_WAITING_MAX, EVENTS_WAITING_MAX};
pub use sends::SENDS_WAITING_MAX;
pub use stacks::{
    Accepted, Ahead, AuthorityStatus, Awaits, Carrying, Closed, Command, Counting, DealerState, Event,
    Exchange, LetterEvent, LettersError, Member, Named, Node, Office, Origin, Outcome, Path, Petition,
    Proposal, RING_TABLE, Refusal, STORE_KEY_RING_SEQ, SendError, ShareStatus, ShareWay, Standing, Stands,
    Theirs, Times, Timing, Told, Twice, Versions, stored_ring_seq,
};
pub use state::{StateFolder, write_whole};
pub use store::{FORMAT, Store, Writer};
pub use upper::{Attempts, MemberStack, TAPPED_MAX, Tapped};
pub use wire::Wire;

pub use folkmoot_identity::{Identity, Passphrase, SealedKeyError};
pub use folkmoot_system::{Generation, Lock, OsEntropy, in_words, is_passing};
pub use folkmoot_transcript::{KnownHead, Skipped, Voucher};
