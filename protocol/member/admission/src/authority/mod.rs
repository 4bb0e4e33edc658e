//! The group's authority (GAUTH): a machine outside the group that signs the certificates its
//! members voted for.
//!
//! ```text
//! members --Heartbeat--> Authority        who is here, how many
//! member  --Grant------> Authority --Log--> host: its own disk, or its replicas too
//!         <--Granted---      '<--Logged--'    signed once, told as often as asked
//! voter   --Deal-------> Authority          shares of the group's key, each sealed to its holder
//!         <--Dealt-----
//! member  --Again------> Authority          a lost share once more, sealed to its holder
//!         <--Dealt-----
//! ```
//! Promise: an authority tells nothing that would not count by its own transcript. It tells at
//! most one certificate for a request, and for a serial number, restarts and replicas included. It
//! erases a secret that was for the set-up only, once the group has the key. Bounds:
//! [`PETITIONS_MAX`] requests wait for a person, [`LOGGING_MAX`] records for the log,
//! [`ISSUED_MAX`] certificates ever, [`LINKS_MAX`] links, one heartbeat for each member, one deal
//! each 2 s, of all shares or of one.
//! Source: Saxena, Tsudik, Yi (2003), sections 2 and 4. The authority judges votes itself, by its
//! own copy of the transcript, which it reads over its links.

mod beat;
mod dealing;
mod grant;
mod judge;
mod links;
mod lists;
mod machine;
mod message;
mod office;
mod person;
mod petition;
mod record;
mod repair;
mod revoke;
mod status;

pub use grant::LOGGING_MAX;
pub use links::LINKS_MAX;
pub(crate) use links::heard;
pub use machine::Authority;
pub use message::{
    AuthorityMessage, DEALT_LABEL, Dealt, HEARTBEAT_LABEL, Heartbeat, SignedReady, WireGrounds, dealt_info,
};
pub use office::{OFFICE_BYTES_MAX, OFFICE_TABLE, Office};
pub use petition::PETITIONS_MAX;
pub use record::{ISSUED_MAX, LogRecord};
pub use status::{AuthorityStatus, DealerState, PetitionStatus, Presence};
