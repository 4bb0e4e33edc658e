//! Writes the fields of a message. It refuses what no `Reader` takes.

use super::{DEPTH_MAX, EMPTY_MAX, EncodeError, Fixed, Typed};

/// Where a message is put together.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
    /// How many more elements may take no bytes.
    empty: usize,
}

impl<'a> Writer<'a> {
    pub(super) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, depth: 0, empty: EMPTY_MAX }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Room for so many bytes, all of which are zero.
    pub(super) fn room(&mut self, length: usize) -> &mut [u8] {
        let before = self.out.len();
        self.out.resize(before.saturating_add(length), 0);
        self.out.get_mut(before..).unwrap_or_default()
    }

    /// A number, a boolean, or a small array of them.
    pub fn value<T: Fixed>(&mut self, value: &T) {
        value.put(self);
    }

    /// An array of them, which is to have so many.
    ///
    /// # Errors
    /// [`EncodeError::LocalLength`].
    pub fn values<T: Fixed>(
        &mut self,
        field: &'static str,
        count: impl Into<i64>,
        values: &[T],
    ) -> Result<(), EncodeError> {
        agree(field, count.into(), values.len())?;
        T::put_all(values, self);
        Ok(())
    }

    /// An array of whatever `write` writes, which is to have so many.
    ///
    /// # Errors
    /// [`EncodeError`].
    pub fn list<T>(
        &mut self,
        field: &'static str,
        count: impl Into<i64>,
        values: &[T],
        mut write: impl FnMut(&mut Self, &T) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        agree(field, count.into(), values.len())?;
        for value in values {
            let before = self.out.len();
            write(self, value)?;
            if self.out.len() == before {
                self.empty = self.empty.checked_sub(1).ok_or(EncodeError::LocalEmpty)?;
            }
        }
        Ok(())
    }

    /// A string.
    ///
    /// # Errors
    /// [`EncodeError::LocalText`].
    pub fn text(&mut self, field: &'static str, text: &str) -> Result<(), EncodeError> {
        let length = text.len().checked_add(1).and_then(|length| i32::try_from(length).ok());
        let length = length.filter(|_| !text.contains('\0')).ok_or(EncodeError::LocalText { field })?;
        length.put(self);
        self.bytes(text.as_bytes());
        self.bytes(&[0]);
        Ok(())
    }

    /// A message in the message.
    ///
    /// # Errors
    /// [`EncodeError`].
    pub fn message<T: Typed>(&mut self, message: &T) -> Result<(), EncodeError> {
        if self.depth >= DEPTH_MAX {
            return Err(EncodeError::LocalDeep);
        }
        self.depth = self.depth.saturating_add(1);
        let written = message.write(self);
        self.depth = self.depth.saturating_sub(1);
        written
    }
}

/// Whether an array is as long as it is said to be.
fn agree(field: &'static str, wanted: i64, has: usize) -> Result<(), EncodeError> {
    if i64::try_from(has) == Ok(wanted) {
        Ok(())
    } else {
        Err(EncodeError::LocalLength { field, wanted, has })
    }
}
