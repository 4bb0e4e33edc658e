//! The few bytes that a layer puts before a message, kept beside it so that it is not copied.

use core::fmt;

/// Most bytes of a [`Lead`].
pub const LEAD_BYTES_MAX: usize = 24;

/// Bytes that stand before a message's own.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Lead {
    bytes: [u8; LEAD_BYTES_MAX],
    length: u8,
}

impl Lead {
    /// No bytes.
    pub const NONE: Self = Self { bytes: [0; LEAD_BYTES_MAX], length: 0 };

    /// `parts`, one after another: at most [`LEAD_BYTES_MAX`] bytes; what is beyond them is left
    /// out.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut lead = Self::NONE;
        for (to, from) in lead.bytes.iter_mut().zip(parts.iter().copied().flatten()) {
            *to = *from;
            lead.length = lead.length.saturating_add(1);
        }
        lead
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// How many they are.
    pub fn length(&self) -> usize {
        usize::from(self.length)
    }
}

impl fmt::Debug for Lead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Lead({})", crate::hex(self.as_slice()))
    }
}
