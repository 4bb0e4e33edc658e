//! The types of testing/lcm/types as a build script makes them, and values of them: one that every
//! language makes by itself ([`fixed`]), and drawn ones ([`draw`]).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this package is a test: a broken promise is to be a panic"
)]

mod types {
    include!(concat!(env!("OUT_DIR"), "/lcm_types.rs"));
}

pub mod draw;
mod fixed;

pub use fixed::{fixed, lengths};
pub use types::PlainT;
pub use types::apart::LaterT;
pub use types::folkmoot::test::{EverythingT, InnerT, LengthsT, NodeT, PingT, PongT, RadixT};
pub use types::other::{DottedT, StampT};

use draw::Draw;
use folkmoot_pubsub::typed::{EncodeError, Typed};

/// Bytes of a message, decoded and encoded again.
///
/// # Errors
/// They are none of the type.
pub fn again<T: Typed>(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let message = T::decode(bytes).map_err(|error| error.to_string())?;
    message.encode().map_err(|error| error.to_string())
}

/// [`again`] of some type.
pub type Again = fn(&[u8]) -> Result<Vec<u8>, String>;

/// The name in LCM of each type, its fingerprint, and what is done with its bytes.
pub const ALL: [(&str, u64, Again); 11] = [
    (EverythingT::NAME, EverythingT::FINGERPRINT, again::<EverythingT>),
    (InnerT::NAME, InnerT::FINGERPRINT, again::<InnerT>),
    (NodeT::NAME, NodeT::FINGERPRINT, again::<NodeT>),
    (PingT::NAME, PingT::FINGERPRINT, again::<PingT>),
    (PongT::NAME, PongT::FINGERPRINT, again::<PongT>),
    (StampT::NAME, StampT::FINGERPRINT, again::<StampT>),
    (PlainT::NAME, PlainT::FINGERPRINT, again::<PlainT>),
    (LengthsT::NAME, LengthsT::FINGERPRINT, again::<LengthsT>),
    (RadixT::NAME, RadixT::FINGERPRINT, again::<RadixT>),
    (DottedT::NAME, DottedT::FINGERPRINT, again::<DottedT>),
    (LaterT::NAME, LaterT::FINGERPRINT, again::<LaterT>),
];

/// A drawn message of some type.
pub type Said = fn(&mut Draw) -> Result<Vec<u8>, EncodeError>;

/// The types of which programs exchange messages, and how one is drawn.
pub const SPOKEN: [(&str, Said); 4] = [
    (EverythingT::NAME, |draw| draw.everything().encode()),
    (LengthsT::NAME, |draw| draw.lengths().encode()),
    (RadixT::NAME, |draw| draw.radix().encode()),
    (DottedT::NAME, |draw| draw.dotted().encode()),
];
