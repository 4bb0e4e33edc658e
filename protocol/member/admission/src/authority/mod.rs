//! The group's authority (GAUTH): a machine outside the group that signs the certificates its members voted for.
//!
//! ```text
//! members --Heartbeat--> Authority        who is here, how many
//! member  --Grant------> Authority --Log--> host: its own disk, or its replicas too
//!         <--Granted---      '<--Logged--'    signed once, told as often as asked
//! voter   --Deal-------> Authority          shares of the group's key, each sealed to its holder
//!         <--Dealt-----
//! ```
//! Source: Saxena, Tsudik, Yi (2003), sections 2 and 4. It judges votes itself, by its own copy of the transcript, which links bring in.

mod word;

pub use word::{
    AuthorityMessage, DEALT_LABEL, Dealt, GroundsWord, HEARTBEAT_LABEL, Heartbeat, ReadyWord, dealt_info,
};
