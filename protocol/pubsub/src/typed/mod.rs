//! Typed messages: what lcm-gen's types are on the wire.
//!
//! ```text
//!   value --Typed::encode--> fingerprint u64 | fields, big-endian, one after another --Typed::decode--> value
//! ```
//! `folkmoot-lcm-gen` writes the types from `.lcm` files; `Writer` and `Reader` are what they call.
//! The promise: whatever the bytes are, decoding does not panic, and takes memory for what came and
//! not for what a length says. A message that decodes encodes to the same bytes, and what encodes
//! decodes to the same value. The rules are PUB-56 to PUB-62 of docs/pubsub.md.

mod error;
mod fixed;
mod reader;
mod writer;

pub use error::{DecodeError, EncodeError};
pub use fixed::Fixed;
pub use reader::Reader;
pub use writer::Writer;

/// How deep messages may lie in one another (PUB-61).
pub const DEPTH_MAX: usize = 32;
/// How many elements of arrays may take no bytes, in one message (PUB-62).
pub const EMPTY_MAX: usize = 4_096;

/// A type of messages, as an `.lcm` file defines it.
pub trait Typed: Sized {
    /// Its name in the file, with the package.
    const NAME: &'static str;
    /// Which type it is: a digest of the names and types of its fields, and of the types in it.
    const FINGERPRINT: u64;

    /// Writes the fields.
    ///
    /// # Errors
    /// [`EncodeError`].
    fn write(&self, to: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Reads the fields.
    ///
    /// # Errors
    /// [`DecodeError`].
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// The message as bytes, behind what `out` has. If it fails, `out` is as it was.
    ///
    /// # Errors
    /// [`EncodeError`].
    fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let before = out.len();
        let mut to = Writer::new(out);
        to.value(&Self::FINGERPRINT.cast_signed());
        let written = to.message(self);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    /// The message as bytes.
    ///
    /// # Errors
    /// [`EncodeError`].
    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        self.encode_into(&mut out)?;
        Ok(out)
    }

    /// The message of these bytes.
    ///
    /// # Errors
    /// [`DecodeError`].
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_by(bytes, Self::FINGERPRINT, Reader::message)
    }
}

/// The message of these bytes, if they have this fingerprint: `read` reads what is behind it. For a
/// type that is known only when the program runs; for others there is [`Typed::decode`].
///
/// # Errors
/// [`DecodeError`].
pub fn decode_by<'a, T>(
    bytes: &'a [u8],
    wanted: u64,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let mut from = Reader::new(bytes);
    let got = from.value::<i64>()?.cast_unsigned();
    if got != wanted {
        return Err(DecodeError::PeerFingerprint { got, wanted });
    }
    let message = read(&mut from)?;
    from.end()?;
    Ok(message)
}
