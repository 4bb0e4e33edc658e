//! A program's place in an LCM group: it publishes, and subscribes by patterns.
//!
//! ```text
//!   publish --> Mouth ==group==> socket --datagram--> Hearing (protocol/pubsub) --message--> Hub
//!                                                                                           | by pattern
//!                                                  Subscription::next <-- Queue, bounded <--+
//! ```
//! The sockets are set as liblcm sets its own, so programs of both kinds share a host. Every
//! subscription has a queue with two bounds and a policy; what the queue had no room for is counted
//! there, and what the network lost is counted by the receiver. [`typed`] has messages of types
//! that `.lcm` files define, and [`blocking`] the same for programs without tokio.

pub mod blocking;
mod bus;
mod clock;
mod danger;
mod hearing;
mod hub;
mod interfaces;
mod membership;
mod outgoing;
mod presence;
mod queue;
mod reader;
mod secured;
mod sockets;
mod subscription;
pub mod typed;
mod voice;

pub use bus::{Bus, BusError};
pub use danger::Danger;
pub use folkmoot_pubsub::{Address, Channel, Pattern, PatternError};
pub use interfaces::interfaces_without;
pub use membership::{
    CONFIRMATION_CHANNEL, EXCLUSION_CHANNEL, EXCLUSION_FILE_END, EXCLUSION_FILES_MAX, Keyed, Membership,
    MembershipError, Options, exclusions_in,
};
pub use queue::{Capacity, Full, Heard};
pub use secured::Secured;
pub use subscription::Subscription;
pub use typed::{Typed, TypedSubscription};
