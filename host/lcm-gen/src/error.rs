//! What is wrong in a file, and where.

use std::fmt;
use std::sync::Arc;

/// A place in a file; line and column count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What is wrong in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Error {
    /// Where.
    pub place: Place,
    /// What, in words.
    pub what: String,
}

impl Place {
    pub(crate) fn wrong<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        Err(Error { place: self.clone(), what: what.into() })
    }
}
