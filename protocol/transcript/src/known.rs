//! A head that somebody knows from elsewhere, as people write it.

use crate::Head;
use folkmoot_base::hex;
use std::fmt;
use std::str::FromStr;

/// Fewest hexadecimal digits of a digest that name a head: fewer could be found by trying.
pub const HEAD_DIGITS_MIN: usize = 16;
/// The digits of a whole digest.
const DIGITS: usize = 64;

/// The number of a decision, and its digest or the first digits of that: `17.5e0c1f22a0b1c2d3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHead {
    number: u64,
    digits: String,
}

/// A text is not a head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a head is a number, a dot and 16 to 64 hexadecimal digits, as in 17.5e0c1f22a0b1c2d3")]
pub struct NoHead;

impl KnownHead {
    /// How many decisions came before it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// All digits that are known: what is parsed again.
    pub fn whole(&self) -> String {
        format!("{}.{}", self.number, self.digits)
    }

    /// Whether this is the decision that it names.
    pub fn names(&self, head: &Head) -> bool {
        self.number == head.number && hex(&head.digest).starts_with(&self.digits)
    }
}

impl From<Head> for KnownHead {
    fn from(head: Head) -> Self {
        Self { number: head.number, digits: hex(&head.digest) }
    }
}

impl FromStr for KnownHead {
    type Err = NoHead;

    fn from_str(text: &str) -> Result<Self, NoHead> {
        let (number, digits) = text.split_once('.').ok_or(NoHead)?;
        let decimal = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let long = (HEAD_DIGITS_MIN..=DIGITS).contains(&digits.len());
        if !decimal || !long || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NoHead);
        }
        let number = number.parse().map_err(|_| NoHead)?;
        Ok(Self { number, digits: digits.to_ascii_lowercase() })
    }
}

/// Short, for people, as [`Head`] is shown.
impl fmt::Display for KnownHead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.number, self.digits.get(..8).unwrap_or(&self.digits))
    }
}
