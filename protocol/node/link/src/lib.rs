//! One hop: authenticated, sealed links between this node and every peer it talks to.
//!
//! Promise: a [`Output::Frame`] names its true sender, is unchanged, comes at most once, and comes
//! on a channel that this peer may use. Frames may be lost and reordered. Strangers cost no state
//! before their address answers, and bounded state after.
//!
//! ```text
//!   stack:   Dial  Send  Standing ...          Up  Frame  Down ...
//!              |     |      |                   ^    ^      ^
//!        [ Links:  Dials, Answers, Peers, Formers, Rings ]
//!              |                                ^
//!              v Transmit                       | Datagram
//!                          transport
//! ```
//! Source: the Noise protocol framework, pattern XX, and its extension for hybrid forward secrecy;
//! WireGuard's receiver indices, cookies and roaming; DECISIONS D1, O3.

mod answers;
mod api;
mod assembly;
mod association;
mod call;
mod cast;
mod credentials;
mod dials;
mod error;
mod formers;
mod handshake;
mod kem;
pub mod limits;
mod links;
pub mod message;
mod noise;
mod out;
mod peers;
mod ring_header;
mod ring_seal;
mod rings;
mod routes;
mod seal;
mod start;
mod versions;

pub use api::{Channel, Config, Counters, DownCause, Exchange, Input, Output, Path, RingKeyChange, RingKeys};
pub use credentials::{Claim, Credentials, IdentityCredentials};
pub use error::LinkError;
pub use links::Links;
pub use ring_header::{RING_HEADER_BYTES, RingHeader};
pub use ring_seal::Numbered;
pub use seal::{FrameSeal, OpenError, PairSeal, Spent};
pub use start::{SignedStart, Start};
pub use versions::{Common, Versions};
