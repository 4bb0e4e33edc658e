//! Publish and subscribe without a broker: the wire, the addresses and the log files of LCM, plain;
//! and sealed ([`secured`]).
//!
//! ```text
//!   publish --> Packets --datagrams--> group --datagram--> Receiver --> Message, with how many are missing
//!                                                             |
//!                                     decode --> fragments (per sender, bounded) --> sequence
//! ```
//! The promise: programs, logs and tools that use LCM work with this unchanged. What comes from the
//! network is checked by the numbered rules of docs/pubsub.md, and nothing that a sender does makes
//! this grow without bound. Nothing plain is secret or signed: anybody who can send to the group
//! can say anything on any channel.

mod address;
mod assembly;
mod channel;
mod counters;
pub mod discovery;
mod error;
mod layout;
pub mod log;
mod packets;
mod partial;
mod pattern;
mod receiver;
pub mod secured;
mod sequence;
pub mod typed;
mod wire;

pub use address::{Address, AddressError, Interface};
pub use assembly::{Danger, Limits};
pub use channel::{CHANNEL_BYTES_MAX, Channel, ChannelError};
pub use counters::Counters;
pub use error::WireError;
pub use packets::{MESSAGE_BYTES_MAX, Packet, Packets, Sizes, TooLong};
pub use pattern::{Pattern, PatternError};
pub use receiver::{Message, Payload, Receiver};
pub use wire::{Datagram, Fragment, Short};

use folkmoot_base as base;

/// How the names of the channels begin on which members speak about keys.
pub const MANAGEMENT_PREFIX: &[u8] = b"folkmoot://";
/// The channel on which a program tries whether it hears itself.
pub const SELF_TEST_CHANNEL: &str = "LCM_SELF_TEST";
/// What it says there.
pub const SELF_TEST_PAYLOAD: &[u8] = b"lcm self test";
