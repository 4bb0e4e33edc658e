//! Secure peer groups in a few lines: open a state folder, join the group, send, hear everything in
//! one order.
//!
//! ```text
//!   Folkmoot::open(folder) ──> Folkmoot ── next().await ──> Event     one reader
//!                                 └─ join().await ──> Session         many senders: clone it
//!                                                       send, try_send, queue; signed()
//! ```
//! The folder holds an identity (`folkmoot identity new NAME`) and a signed charter; see the
//! README. The member runs as a task of the current tokio runtime and stops when [`Folkmoot`] and
//! all its [`Session`]s are gone. Messages cost least if the runtime
//! has one thread (`#[tokio::main(flavor = "current_thread")]`). If your program takes long for an
//! event, use several threads: then the member answers the others while your program works.
//!
//! ```no_run
//! use folkmoot::{Event, Folkmoot, Service};
//! # async fn example() -> Result<(), folkmoot::Error> {
//! let mut moot = Folkmoot::open("state/anna").await?;
//! let session = moot.join().await?;
//! session.send(Service::Agreed, "good morning").await?; // waits for a key
//! while let Some(event) = moot.next().await? {
//!     if let Event::Message { sender, payload, .. } = event {
//!         println!("{sender}: {}", String::from_utf8_lossy(&payload));
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod folkmoot;
pub mod lcm;
mod options;
mod session;

pub use crate::folkmoot::Folkmoot;
pub use crate::options::Options;
pub use crate::session::Session;
pub use bytes::Bytes;
pub use folkmoot_attach::{
    Absence, AuthorityReach, GroupStatus, Lacking, MemberStatus, Person, Presence, Stalled,
};
pub use folkmoot_base::{
    Cause, Digest, GroupId, GroupName, Head, HostName, Locator, MemberId, NodeId, Party, Service, UnixTime,
    ViewId,
};

pub use folkmoot_runtime::{
    Ahead, AuthorityStatus, Awaits, CarryError, Carrying, Closed, Counting, DealerState, Event, Exchange,
    KnownHead, LetterEvent, LettersError, Named, Origin, Outcome, Passphrase, Path, Petition, Proposal,
    Refusal, RuntimeError as Error, SealedKeyError, SendError, ShareStatus, ShareWay, Skipped, Standing,
    Stands, StateError, StateFolder, StoreError, Theirs, Times, Told, Twice, Versions, Voucher,
};
pub use folkmoot_transport::{Faults, MULTICAST_PORT};

/// What only the project's own tools use: the machine itself, and switches for demonstrations.
#[doc(hidden)]
pub mod tools {
    pub use folkmoot_attach::{
        Attached, Ground, GroundOutput, Resolved, ToMember, ToNode, Upper, UpperOutput,
    };
    pub use folkmoot_base::{Entropy, Instant};
    pub use folkmoot_runtime::{
        Attempts, Command, Handle, Household, Lodger, Machine, MemberHandle, MemberStack, Node, Note, Opened,
        Options as OpenOptions, OsEntropy, Running, Sending, Store, Tapped, Timing, UpperStack, addresses,
        in_words, is_passing, prepare, prepare_with, wall_clock,
    };
    pub use folkmoot_transport::{is_own, reached_at, takes_forged};
}
