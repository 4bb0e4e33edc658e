//! How many votes a decision takes: a number, or a share of the group's size that follows it in
//! steps.
//!
//! ```text
//! t = max(1, ceil(ratio x size))     size: members when the threshold was last updated, part of the charter
//! an update is due   <=>  | members now - size | > window
//! ```
//! Source: Saxena, Tsudik, Yi (2003), sections 2 and 7: fixed and dynamic thresholds, the window
//! mechanism. An update comes with a decision and needs no vote
//! (docs/decisions/0019-thresholds-that-follow.md). So the threshold is a function of the
//! decisions, the same for all who judge.

use crate::charter_value::{THRESHOLD_MAX, number};
use folkmoot_base::limits;
use std::fmt;

/// Widest window.
const WINDOW_MAX: u32 = 1_000;

/// Votes that a decision takes, before any quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    /// A fixed number.
    Fixed(u32),
    /// A share of the group.
    Ratio {
        /// Hundredths of the size, 1 to 100.
        percent: u32,
        /// Members when it was last updated.
        size: u32,
        /// By how much the group may grow or shrink until the next update.
        window: u32,
    },
}

impl Threshold {
    /// The number of votes that this gives now.
    pub fn votes(self) -> u32 {
        match self {
            Self::Fixed(votes) => votes,
            Self::Ratio { percent, size, .. } => {
                percent.saturating_mul(size).div_ceil(100).clamp(1, THRESHOLD_MAX)
            }
        }
    }

    /// Whether it follows the group's size.
    pub fn follows(self) -> bool {
        matches!(self, Self::Ratio { .. })
    }

    /// The update that is due in a group of `members`, if one is.
    pub fn update(self, members: usize) -> Option<Self> {
        let Self::Ratio { percent, size: old, window } = self else { return None };
        let size = u32::try_from(members).ok()?;
        (old.abs_diff(size) > window).then_some(Self::Ratio { percent, size, window })
    }

    /// Whether a group of `members` may go from `self` to `next`. A share must be of the size that
    /// the group has, give or take the window, and an update of the size alone must be due.
    pub fn may_become(self, next: Self, members: usize) -> bool {
        let Self::Ratio { percent, size, window } = next else { return true };
        let near = u32::try_from(members).is_ok_and(|members| members.abs_diff(size) <= window);
        let same = matches!(self, Self::Ratio { percent: p, window: w, .. } if (p, w) == (percent, window));
        let due = self.update(members).is_some() && self.update(size_of(size)).is_some();
        near && (!same || due)
    }

    pub(crate) fn check(self) -> Result<(), &'static str> {
        match self {
            Self::Fixed(votes) if (1..=THRESHOLD_MAX).contains(&votes) => Ok(()),
            Self::Fixed(_) => Err("it must be between 1 and 128"),
            Self::Ratio { percent, size, window } => {
                let most = u32::try_from(limits::MEMBERS_MAX).unwrap_or(u32::MAX);
                let legal = (1..=100).contains(&percent) && (1..=most).contains(&size);
                if legal && window <= WINDOW_MAX {
                    Ok(())
                } else {
                    Err("the ratio must be 1% to 100%, and the window 0 to 1000")
                }
            }
        }
    }

    /// Reads a vote's word: `3`, or `30% of 20 window 5`. Nothing on limits.
    ///
    /// # Errors
    /// Why not.
    pub fn from_word(word: &str) -> Result<Self, &'static str> {
        let Some((percent, rest)) = word.split_once("% of ") else { return number(word).map(Self::Fixed) };
        let (size, window) = rest.split_once(" window ").ok_or("write a share as 30% of 20 window 5")?;
        Ok(Self::Ratio { percent: number(percent)?, size: number(size)?, window: number(window)? })
    }

    /// Reads the founding text's ratio, as `30%`.
    pub(crate) fn founded(ratio: &str, window: u32, founders: usize) -> Result<Self, &'static str> {
        let percent = ratio.strip_suffix('%').ok_or("write a ratio as 30%")?;
        Ok(Self::Ratio {
            percent: number(percent)?,
            size: u32::try_from(founders).unwrap_or(u32::MAX),
            window,
        })
    }
}

/// The word that a vote writes.
impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(votes) => write!(f, "{votes}"),
            Self::Ratio { percent, size, window } => write!(f, "{percent}% of {size} window {window}"),
        }
    }
}

fn size_of(size: u32) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
