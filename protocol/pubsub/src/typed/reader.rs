//! Reads the fields of a message. It never takes memory for a length that the bytes do not bear
//! out.

use super::{DEPTH_MAX, DecodeError, EMPTY_MAX, Fixed, Typed};

/// For how many elements there is room before the first is read: more only as they come.
const AHEAD: usize = 16;

/// What is left of a message.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
    /// How many more elements may take no bytes.
    empty: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(rest: &'a [u8]) -> Self {
        Self { rest, depth: 0, empty: EMPTY_MAX }
    }

    pub(super) fn chunk<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (chunk, rest) = self.rest.split_first_chunk().ok_or(DecodeError::PeerShort)?;
        self.rest = rest;
        Ok(*chunk)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A number, a boolean, or a small array of them.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn value<T: Fixed>(&mut self) -> Result<T, DecodeError> {
        T::get(self)
    }

    /// So many of them (PUB-58).
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn values<T: Fixed>(&mut self, count: impl Into<i64>) -> Result<Vec<T>, DecodeError> {
        self.bytes_of::<T>(count.into()).and_then(T::all)
    }

    /// The bytes of so many of them, not read yet, so that they take no memory (PUB-58).
    ///
    /// # Errors
    /// [`DecodeError::PeerLength`].
    pub fn bytes_of<T: Fixed>(&mut self, count: i64) -> Result<&'a [u8], DecodeError> {
        let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(T::BYTES));
        bytes.and_then(|bytes| self.take(bytes)).ok_or(DecodeError::PeerLength(count))
    }

    /// So many of whatever `read` reads (PUB-58, PUB-62).
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn list<T>(
        &mut self,
        count: impl Into<i64>,
        mut read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = count.into();
        let most = self.rest.len().saturating_add(self.empty);
        let fits = usize::try_from(count).ok().filter(|count| *count <= most);
        let count = fits.ok_or(DecodeError::PeerLength(count))?;
        let mut all = Vec::with_capacity(count.min(AHEAD));
        for _ in 0..count {
            let before = self.rest.len();
            all.push(read(self)?);
            if self.rest.len() == before {
                self.empty = self.empty.checked_sub(1).ok_or(DecodeError::PeerEmpty)?;
            }
        }
        Ok(all)
    }

    /// A string (PUB-59).
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn text(&mut self) -> Result<String, DecodeError> {
        self.str().map(str::to_owned)
    }

    /// The same where it stands, so that it takes no memory.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn str(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.value::<i32>()?;
        let length = usize::try_from(length).map_err(|_| DecodeError::PeerText)?;
        let bytes = self.take(length).ok_or(DecodeError::PeerShort)?;
        let (0, text) = bytes.split_last().ok_or(DecodeError::PeerText)? else {
            return Err(DecodeError::PeerText);
        };
        match core::str::from_utf8(text) {
            Ok(text) if !text.contains('\0') => Ok(text),
            _ => Err(DecodeError::PeerText),
        }
    }

    /// A message in the message (PUB-61).
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn message<T: Typed>(&mut self) -> Result<T, DecodeError> {
        self.message_by(T::read)
    }

    /// The same of a type that is known only when the program runs.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn message_by<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.depth >= DEPTH_MAX {
            return Err(DecodeError::PeerDeep);
        }
        self.depth = self.depth.saturating_add(1);
        let message = read(self);
        self.depth = self.depth.saturating_sub(1);
        message
    }

    pub(super) const fn end(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::PeerLeftover(self.rest.len())) }
    }
}
