//! Attach on a wire: the messages between the stacks as bytes, for a program on the other side
//! of a socket (docs/protocol/attach.md).
//!
//! ```text
//! program --Hello-----> node    each lists the versions that it speaks,
//!         <--Welcome---         and both take the highest common one
//! program --ToNode----> node
//!         <--Down------         a ToMember, for one party or for all of the program
//!
//! frame = length u32 | length of the head u32 | head | payload
//! ```
//! Neither side trusts the other. The head is a control message and has one encoding. Bytes that
//! attach only carries are the payload, which nobody copies.

mod down;
mod error;
mod frame;
mod greeting;
mod up;

pub use down::Down;
pub use error::FrameError;
pub use frame::{DOWN_HEAD_BYTES_MAX, UP_HEAD_BYTES_MAX, next_frame};
pub use greeting::{GREETING_BYTES_MAX, Hello, NoCommonVersion, VERSIONS, Welcome, agree};

use folkmoot_base::limits;

/// Longest item of a transcript, in bytes.
pub const ITEM_BYTES_MAX: usize = 1024 * 1024;
/// Longest package, in bytes.
pub const PACKAGE_BYTES_MAX: usize = 6 * 1024 * 1024;
/// Longest payload of any kind: a message that a ring orders.
pub const PAYLOAD_BYTES_MAX: usize = limits::ORDERED_BYTES_MAX;

const _: () = assert!(ITEM_BYTES_MAX <= PAYLOAD_BYTES_MAX);
const _: () = assert!(PACKAGE_BYTES_MAX <= PAYLOAD_BYTES_MAX);
const _: () = assert!(limits::LONG_FRAME_BYTES_MAX <= PAYLOAD_BYTES_MAX);
