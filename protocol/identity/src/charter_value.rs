//! Values of a charter's fields: how they are read, and why one is refused.

use crate::CharterError;

/// Highest threshold.
pub const THRESHOLD_MAX: u32 = 128;
pub(crate) const KEYINGS: &str = "it must be by-size, gdh, tgdh, str, bd, ckd, dutta-barua or mls";
pub(crate) const CIPHERS: &str = "it must be aes-256-gcm or chacha20-poly1305";

pub(crate) fn value(key: &'static str, reason: &'static str) -> CharterError {
    CharterError::WireValue { key, reason }
}

/// A number in its one spelling.
pub(crate) fn number(word: &str) -> Result<u32, &'static str> {
    let number: u32 = word.parse().map_err(|_| "it must be a number")?;
    if number.to_string() == word { Ok(number) } else { Err("it must be a number in plain digits") }
}
