//! The log that an authority's replicas share, by being a folkmoot group
//! (docs/protocol/authority-replicas.md).
//!
//! ```text
//! Record --> Propose --ordered--> each: its place in the log --> disk --> Kept --all of the view--> HandBack, in the log's order
//! View   --> State, of each --> the log of the newest epoch stands --Records--> all have it on disk --> Kept --> goes on
//! ```
//! Promise: a replica hands a record back only in a view with a quorum of the founders, once every
//! replica in that view has said that its disk has the record. So every replica that goes on later
//! has it too, no request has two records handed back, and all replicas hand back in one order.
//! Condition: a replica's disk keeps what it said it has.
//! Bounds: [`WANTS_MAX`] records of the own authority wait, [`UNDERWAY_MAX`] are on their way,
//! [`LOG_MAX`] are in a log, which stays in memory; one batch of [`BATCH_BYTES_MAX`] bytes at a
//! time goes to those who lack records. Source: the log and the epochs are those of Viewstamped
//! Replication Revisited (Liskov, Cowling 2012), section 4.2; views, their quorums and their order
//! are the group's, and all of a view take the part of its majority.

mod driver;
mod error;
mod log;
mod machine;
mod message;
mod state_transfer;
mod status;
mod view;

pub use driver::{DriverError, Ends, Logged, Options, Running, open};
pub use error::ReplicasError;
pub(crate) use log::Log;
pub use log::{LOG_MAX, LOG_TABLE};
pub use machine::{Danger, Input, Output, REPLICAS_MAX, Replicas, UNDERWAY_MAX, WANTS_MAX};
pub use message::{BATCH_BYTES_MAX, Holding, MESSAGE_BYTES_MAX, Message, RECORD_BYTES_MAX, request_of};
pub use status::{Standing, Status};
