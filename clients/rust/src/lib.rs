//! Secure peer groups in a few lines: open a state folder, join the group, send, hear everything in
//! one order.
//!
//! ```text
//!   Folkmoot::open(folder) ──> Folkmoot ── next().await ──> Event     one reader
//!                                 └─ join().await ──> Session         many senders: clone it
//!                                                       send, try_send, queue; signed()
//! ```
//! The folder holds an identity (`folkmoot identity new NAME`) and the signed charter, as a file
//! `charter.cms` in it; see the README. If the identity is under a passphrase, open the folder with
//! [`Options::passphrase`].
//!
//! The member runs as a task of the current tokio runtime and stops when [`Folkmoot`] and all its
//! [`Session`]s are gone. Messages cost least if the runtime has one thread
//! (`#[tokio::main(flavor = "current_thread")]`). If your program ever works for a tenth of a
//! second without waiting for anything, give the member a thread of its own
//! ([`Options::own_thread`]): otherwise the others may go on without it.
//!
//! # Events in order
//!
//! - Joining: [`Event::View`] once the member has a view and its key, then the messages of that
//!   view. A stranger that calls [`Folkmoot::apply`] hears [`Event::Refused`] while votes are
//!   missing, then [`Event::Admitted`], or [`Event::Denied`].
//! - A change of view: [`Event::KeyPending`] says that sends are held. After
//!   [`Event::Transitional`], the promises of the view hold only among those who go on together.
//!   The next [`Event::View`] comes before any message of the new view. Whoever is in its `members`
//!   and not in its `transitional` has not heard what this member heard before.
//! - A split: each side has a view, whose [`Side`] says whether it may decide for the whole group.
//!   Under a charter with `minority = "read-only"`, the other side hears, and its sends give
//!   [`Error::SendRefused`]; under `"stop"` it does not hear either.
//! - An end: [`Event::Removed`], if the member left or was removed. [`Folkmoot::next`] then still
//!   gives events of other groups; it gives `None` once the member has stopped as told.
//!
//! # What a send that returned `Ok` promises
//!
//! The message is sealed for the view of that moment, and on its way: nobody else need hold it yet.
//! At an unreliable level it may be lost. At any other, a member that stays up gets its own message
//! back as [`Event::Message`], or [`Event::SendFailed`] if it was not sent. Only a safe message
//! that comes back before [`Event::Transitional`] is known to be held by all members of the view.
//! GUARANTEES.md has the levels. [`Session::queue`] promises less: its message is sealed later.
//!
//! The examples of this crate are a map that all members have, a lock, several groups, and a
//! service; docs/programs.md introduces them.
//!
//! ```no_run
//! use folkmoot::{Event, Folkmoot, Service};
//! # async fn example() -> Result<(), folkmoot::Error> {
//! let mut moot = Folkmoot::open("state/anna").await?;
//! let session = moot.join().await?;
//! session.send(Service::Agreed, "good morning").await?; // waits for a key
//! while let Some(event) = moot.next().await? {
//!     if let Event::Message { sender, payload, .. } = event {
//!         let who = sender.of(&moot.names().await?.name(&sender.member)); // anna, or anna:2
//!         println!("{who}: {}", String::from_utf8_lossy(&payload));
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
    Absence, AuthorityReach, GroupStatus, Lacking, MemberStatus, Person, Presence, Side, Stalled,
};
pub use folkmoot_base::{
    Cause, Cipher, ConfigurationId, DecodeError, Digest, Fault, GroupId, GroupName, Head, Host, HostName,
    HostNameError, Instant, JoinRefusal, Locator, LocatorError, MemberId, ModuleName, NameError, NodeId,
    Party, Refused, RefusedBy, Secret, Service, SignatureBytes, UnixTime, ViewId,
};
pub use folkmoot_runtime::{
    Accepted, Ahead, AuthorityStatus, Awaits, CarryError, Carrying, Closed, Command, Counting, DealerState,
    Event, Exchange, KnownHead, LetterEvent, LettersError, Named, Origin, Outcome, Passphrase, Path,
    Petition, Proposal, Refusal, RuntimeError as Error, SealedKeyError, SendError, ShareStatus, ShareWay,
    Skipped, Standing, Stands, StateError, StateFolder, StoreError, Theirs, Times, Told, Twice, Versions,
    Voucher,
};
pub use folkmoot_transport::{Faults, MULTICAST_PORT};

/// The crates below this one, whole: every type that a signature here names, and whatever that
/// names in turn, can be named from here. A program seldom needs more than what is exported above;
/// it needs [`identity`](folkmoot_identity) to make folders by itself.
pub mod parts {
    pub use folkmoot_admission as admission;
    pub use folkmoot_attach as attach;
    pub use folkmoot_base as base;
    pub use folkmoot_identity as identity;
    pub use folkmoot_member as member;
    pub use folkmoot_pubsub as pubsub;
    pub use folkmoot_runtime as runtime;
    pub use folkmoot_signing as signing;
    pub use folkmoot_system as system;
    pub use folkmoot_transcript as transcript;
    pub use folkmoot_transport as transport;
}

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
    pub use folkmoot_transport::{is_own, numbered, reached_at, takes_forged};
}
