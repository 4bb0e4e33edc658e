//! Why a frame of attach is refused.

use folkmoot_base::DecodeError;

/// Why bytes are not a frame, or why a message has none. Whoever reads such a frame ends the
/// connection: what follows it cannot be told apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame says that it is longer than any frame may be here.
    #[error("a frame of {got} bytes; at most {most} are allowed here")]
    TooLong {
        /// What it says.
        got: usize,
        /// What is allowed.
        most: usize,
    },
    /// The frame ends before its head does.
    #[error("a frame that ends before its head does")]
    Short,
    /// The head is not what a head may be.
    #[error("a frame whose head is refused: {0}")]
    Head(#[from] DecodeError),
    /// The payload is longer than that of its kind may be. A kind without payload has 0.
    #[error("{kind} with a payload of {got} bytes; at most {most} are allowed")]
    Payload {
        /// The kind of the message.
        kind: &'static str,
        /// How many bytes came.
        got: usize,
        /// How many are allowed.
        most: usize,
    },
    /// A list is longer than it may be.
    #[error("{kind} with a list of {got}; at most {most} are allowed")]
    List {
        /// The kind of the message.
        kind: &'static str,
        /// How many came.
        got: usize,
        /// How many are allowed.
        most: usize,
    },
    /// The parties of a notice are not sorted, or one is there twice.
    #[error("a notice whose parties are not in order")]
    Order,
    /// A time is longer than it may be.
    #[error("a configuration with a longer patience than any may have")]
    Patience,
}
