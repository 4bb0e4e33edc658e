//! Why bytes are no message of a type, and why a value is none.

use super::{DEPTH_MAX, EMPTY_MAX};

/// Why bytes are no message of the type. All are the sender's fault, and none changes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It is of another type (PUB-56).
    #[error(
        "the message is of another type, or of another version of it: its fingerprint is {got:016x}, not {wanted:016x}"
    )]
    PeerFingerprint {
        /// The fingerprint that came.
        got: u64,
        /// The type's own.
        wanted: u64,
    },
    /// It ends too soon (PUB-57).
    #[error("the message ends before its last field does")]
    PeerShort,
    /// Something follows its end (PUB-57).
    #[error("{0} bytes follow the end of the message")]
    PeerLeftover(usize),
    /// An array cannot be so long (PUB-58).
    #[error("the message says that an array has {0} elements, and has not as many bytes")]
    PeerLength(i64),
    /// A string does not end with its only NUL, or is not UTF-8 (PUB-59).
    #[error("a string of the message is not UTF-8 with one NUL byte at its end")]
    PeerText,
    /// A boolean is neither 0 nor 1 (PUB-60).
    #[error("a boolean of the message is {0}, which is neither 0 nor 1")]
    PeerFlag(u8),
    /// Messages lie too deep in one another (PUB-61).
    #[error("the message has more than {DEPTH_MAX} levels of messages in one another")]
    PeerDeep,
    /// Too many elements take no bytes (PUB-62).
    #[error("the message has more than {EMPTY_MAX} elements of arrays that take no bytes")]
    PeerEmpty,
}

/// Why a value is no message. All are this program's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// An array is not as long as its length field, or its type, says.
    #[error("the array {field} has the length {has}, and {wanted} is given as its length")]
    LocalLength {
        /// The array.
        field: &'static str,
        /// What the type or the length field says.
        wanted: i64,
        /// How many there are.
        has: usize,
    },
    /// A string cannot be told.
    #[error("the string {field} has a NUL byte in it, or 2 GiB or more")]
    LocalText {
        /// The field.
        field: &'static str,
    },
    /// Messages lie too deep in one another: no receiver takes it (PUB-61).
    #[error("the message has more than {DEPTH_MAX} levels of messages in one another")]
    LocalDeep,
    /// Too many elements take no bytes: no receiver takes it (PUB-62).
    #[error("the message has more than {EMPTY_MAX} elements of arrays that take no bytes")]
    LocalEmpty,
}
