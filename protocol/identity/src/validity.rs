//! `ID-72`: between which times the charter lets anybody in.

use folkmoot_base::UnixTime;

/// Begin and end of the terms that a charter allows, in seconds since 1970. `None` leaves a side
/// open. Founders are in without a term, so this ends nobody's membership by itself: it ends
/// admissions and renewals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Validity {
    /// No term begins before it.
    pub not_before: Option<u32>,
    /// No term ends after it.
    pub not_after: Option<u32>,
}

impl Validity {
    /// Whether a term lies within it.
    pub fn holds(&self, begins: UnixTime, ends: UnixTime) -> bool {
        self.not_before.is_none_or(|time| u64::from(time) <= begins.0) && ends.0 <= self.end()
    }

    /// The last second, or the end of time.
    pub(crate) fn end(&self) -> u64 {
        self.not_after.map_or(u64::MAX, u64::from)
    }

    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.not_after.is_some_and(|end| end <= self.not_before.unwrap_or(0)) {
            return Err(("not_after", "it must be later than not_before"));
        }
        Ok(())
    }
}
