//! Bytes on their way up: a slice of what others keep too, or bytes that nobody else has.

use crate::Lead;
use bytes::{Buf as _, Bytes, BytesMut};
use core::fmt;
use core::ops::Deref;

/// The bytes of a message that came. Whoever has it opens it in place if it is [`Self::Owned`].
#[derive(Clone)]
pub enum Buffer {
    /// Others may read the same memory.
    Shared(Bytes),
    /// Nobody else reads or writes these. A clone of them is a copy: see [`Self::share`].
    Owned(BytesMut),
}

impl Buffer {
    /// Skips the first `count` bytes; all, if there are fewer.
    pub fn skip(&mut self, count: usize) {
        let count = count.min(self.len());
        match self {
            Self::Shared(bytes) => bytes.advance(count),
            Self::Owned(bytes) => bytes.advance(count),
        }
    }

    /// The bytes, for readers only.
    pub fn freeze(self) -> Bytes {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes.freeze(),
        }
    }

    /// The same for several readers: its clones share memory.
    #[must_use]
    pub fn share(self) -> Self {
        Self::Shared(self.freeze())
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::Shared(Bytes::new())
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl From<Bytes> for Buffer {
    fn from(bytes: Bytes) -> Self {
        Self::Shared(bytes)
    }
}

impl From<&Bytes> for Buffer {
    fn from(bytes: &Bytes) -> Self {
        Self::Shared(bytes.clone())
    }
}

impl From<BytesMut> for Buffer {
    fn from(bytes: BytesMut) -> Self {
        Self::Owned(bytes)
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared(bytes) => bytes.fmt(out),
            Self::Owned(bytes) => bytes.fmt(out),
        }
    }
}

/// A message in two parts, as it was handed in at its sender's node, or all in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framed {
    /// What comes first; nothing if all is in `rest`.
    pub lead: Lead,
    /// What comes after it.
    pub rest: Buffer,
}

impl<T: Into<Buffer>> From<T> for Framed {
    fn from(rest: T) -> Self {
        Self { lead: Lead::NONE, rest: rest.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_equal_if_their_bytes_are_and_are_read_alike() {
        let mut shared = Buffer::from(Bytes::from_static(b"a message"));
        let mut owned = Buffer::from(BytesMut::from(&b"a message"[..]));
        assert_eq!((&shared, format!("{shared:?}")), (&owned, format!("{owned:?}")));
        for buffer in [&mut shared, &mut owned] {
            buffer.skip(2);
            assert_eq!(&**buffer, b"message");
        }
        owned.skip(1);
        assert_ne!(shared, owned);
        owned.skip(100);
        assert_eq!(owned, Buffer::default());
    }

    #[test]
    fn what_is_shared_has_one_memory() {
        let owned = Buffer::from(BytesMut::from(&b"a message"[..]));
        let at = owned.as_ptr();
        let shared = owned.share();
        assert_eq!((shared.as_ptr(), shared.clone().freeze().as_ptr()), (at, at));
    }
}
