//! What takes the same number of bytes in every message.

use super::{DecodeError, Reader, Writer};

/// A number, a boolean, or a small array of them.
pub trait Fixed: Copy {
    /// Where reading begins.
    const ZERO: Self;
    /// How many bytes it takes; never 0.
    const BYTES: usize;

    /// Writes it.
    fn put(&self, to: &mut Writer<'_>);

    /// Writes all of these.
    fn put_all(values: &[Self], to: &mut Writer<'_>) {
        values.iter().for_each(|value| value.put(to));
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`DecodeError`].
    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// Reads as many as are in these bytes.
    ///
    /// # Errors
    /// [`DecodeError`].
    fn all(bytes: &[u8]) -> Result<Vec<Self>, DecodeError> {
        let mut from = Reader::new(bytes);
        (0..bytes.len().checked_div(Self::BYTES).unwrap_or(0)).map(|_| Self::get(&mut from)).collect()
    }
}

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl Fixed for $number {
            const ZERO: Self = 0 as Self;
            const BYTES: usize = size_of::<Self>();

            fn put(&self, to: &mut Writer<'_>) {
                to.bytes(&self.to_be_bytes());
            }

            fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                from.chunk().map(Self::from_be_bytes)
            }

            // Images and scans are long: no check for each number.
            fn put_all(values: &[Self], to: &mut Writer<'_>) {
                let (chunks, _) = to.room(size_of_val(values)).as_chunks_mut();
                chunks.iter_mut().zip(values).for_each(|(chunk, value)| *chunk = value.to_be_bytes());
            }

            fn all(bytes: &[u8]) -> Result<Vec<Self>, DecodeError> {
                let (chunks, _) = bytes.as_chunks();
                Ok(chunks.iter().map(|chunk| Self::from_be_bytes(*chunk)).collect())
            }
        }
    )+};
}

numbers! { i8 i16 i32 i64 u8 f32 f64 }

impl Fixed for bool {
    const ZERO: Self = false;
    const BYTES: usize = 1;

    fn put(&self, to: &mut Writer<'_>) {
        to.bytes(&[u8::from(*self)]);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match from.chunk()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(DecodeError::PeerFlag(other)),
        }
    }
}

impl<T: Fixed, const N: usize> Fixed for [T; N] {
    const ZERO: Self = [T::ZERO; N];
    const BYTES: usize = N * T::BYTES;

    fn put(&self, to: &mut Writer<'_>) {
        self.iter().for_each(|one| one.put(to));
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut all = Self::ZERO;
        for one in &mut all {
            *one = T::get(from)?;
        }
        Ok(all)
    }
}
