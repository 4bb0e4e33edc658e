//! A value that erases itself, compares in constant time, and does not print.

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret. Its `Debug` prints no content; it is erased when dropped; equality takes constant
/// time.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes over `value`.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Borrows the value. Keep the borrow short, and never log the value.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize + AsRef<[u8]>> PartialEq for Secret<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_ref().ct_eq(other.0.as_ref()).into()
    }
}

impl<T: Zeroize + AsRef<[u8]>> Eq for Secret<T> {}

impl<T: Zeroize> core::fmt::Debug for Secret<T> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("Secret(..)")
    }
}
