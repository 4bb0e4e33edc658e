//! Control messages on the wire: the TLS presentation language (crate `tls_codec`), one encoding
//! per value.
//!
//! A message type derives `TlsSize`, `TlsSerialize` and `TlsDeserializeBytes`. [`encode`] puts the
//! version byte in front. [`decode`] refuses unknown versions, leftover bytes, and any input that
//! is not the one encoding of its value.

use bytes::{BufMut as _, Bytes, BytesMut};
use std::io::Write;
pub use tls_codec::{self, DeserializeBytes, Serialize, Size, TlsDeserializeBytes, TlsSerialize, TlsSize};

/// The version of the control messages of this release; the first byte of each.
pub const WIRE_VERSION: u8 = 1;

/// Why bytes are not a message. Names no sender: the layer that received the bytes does that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The input ended before the message did, or holds a value that no message may hold.
    #[error("the bytes are cut short or malformed")]
    Malformed,
    /// The first byte names a version that this release does not speak.
    #[error("wire version {0} is not supported (this release has {WIRE_VERSION})")]
    Version(u8),
    /// A complete message was followed by more bytes.
    #[error("{0} bytes follow the end of the message")]
    Leftover(usize),
    /// The bytes decode, but are not the one encoding of that value.
    #[error("it is not canonically encoded")]
    NotCanonical,
    /// The input is longer than any message of its kind may be.
    #[error("it has {got} bytes; at most {most} are allowed")]
    TooLong {
        /// Number of bytes that came.
        got: usize,
        /// Number of bytes allowed.
        most: usize,
    },
}

/// Encodes `message` with the version byte in front.
///
/// Does not fail: writing to memory cannot, and every message type bounds its own parts.
pub fn encode<T: Serialize + Size>(message: &T) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.tls_serialized_len().saturating_add(1));
    out.push(WIRE_VERSION);
    let written = message.tls_serialize(&mut out);
    debug_assert!(written.is_ok(), "a message broke its own bounds: {written:?}");
    out
}

/// [`encode`], at the end of `out`.
pub fn encode_into<T: Serialize + Size>(message: &T, out: &mut BytesMut) {
    out.put_u8(WIRE_VERSION);
    let written = message.tls_serialize(&mut out.writer());
    debug_assert!(written.is_ok(), "a message broke its own bounds: {written:?}");
}

/// Whatever [`encode`] and [`decode`] take.
pub trait Wire: Serialize + Size + DeserializeBytes {}
impl<T: Serialize + Size + DeserializeBytes> Wire for T {}

/// Decodes what [`encode`] made.
///
/// # Errors
/// Every [`DecodeError`] except `TooLong`.
pub fn decode<T: Wire>(input: &[u8]) -> Result<T, DecodeError> {
    let (&version, body) = input.split_first().ok_or(DecodeError::Malformed)?;
    if version != WIRE_VERSION {
        return Err(DecodeError::Version(version));
    }
    let (message, rest) = T::tls_deserialize_bytes(body).map_err(|_| DecodeError::Malformed)?;
    if !rest.is_empty() {
        return Err(DecodeError::Leftover(rest.len()));
    }
    let mut rest = Rest(body);
    let same = message.tls_serialize(&mut rest).is_ok() && rest.0.is_empty();
    if same { Ok(message) } else { Err(DecodeError::NotCanonical) }
}

/// What is left to be written of bytes that are known: takes only those.
struct Rest<'a>(&'a [u8]);

impl std::io::Write for Rest<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.strip_prefix(bytes).ok_or(std::io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Decodes what [`encode`] made, if it has at most `most` bytes.
///
/// # Errors
/// Every [`DecodeError`].
pub fn decode_at_most<T: Wire>(input: &[u8], most: usize) -> Result<T, DecodeError> {
    if input.len() > most {
        return Err(DecodeError::TooLong { got: input.len(), most });
    }
    decode(input)
}

/// Declares enumerations whose values are one byte each on the wire.
///
/// Every variant states its byte. The crate that calls this depends on `tls_codec` as well: the
/// derived code names it.
#[macro_export]
macro_rules! codec_enum {
    ($($(#[$about:meta])* $seen:vis enum $name:ident { $($variants:tt)* })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive($crate::codec::TlsSize, $crate::codec::TlsSerialize, $crate::codec::TlsDeserializeBytes)]
        #[repr(u8)]
        $seen enum $name { $($variants)* }
    )+};
}
pub use codec_enum;

/// Bytes of any length to 16 MiB inside a message: a four-byte length, then the bytes.
///
/// `tls_codec`'s own byte vectors assert on short input in debug builds, or read byte by byte; this
/// one does neither.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Blob(pub Bytes);

/// The longest [`Blob`]: the longest message plus room for headers.
pub const BLOB_BYTES_MAX: usize = crate::limits::MESSAGE_BYTES_MAX + 64 * 1024;

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<Bytes> for Blob {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Size for Blob {
    fn tls_serialized_len(&self) -> usize {
        self.0.len().saturating_add(4)
    }
}

impl Serialize for Blob {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        let length = u32::try_from(self.0.len()).map_err(|_| tls_codec::Error::InvalidVectorLength)?;
        length.tls_serialize(writer)?;
        writer.write_all(&self.0).map_err(|_| tls_codec::Error::InvalidWriteLength("blob".into()))?;
        Ok(self.tls_serialized_len())
    }
}

impl DeserializeBytes for Blob {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        let (length, rest) = u32::tls_deserialize_bytes(bytes)?;
        let length = usize::try_from(length).map_err(|_| tls_codec::Error::InvalidVectorLength)?;
        if length > BLOB_BYTES_MAX {
            return Err(tls_codec::Error::InvalidVectorLength);
        }
        let (value, rest) = rest.split_at_checked(length).ok_or(tls_codec::Error::EndOfStream)?;
        Ok((Self(Bytes::copy_from_slice(value)), rest))
    }
}
