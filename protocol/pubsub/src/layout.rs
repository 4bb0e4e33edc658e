//! Whether the fragments of a message fit together without gap or overlap.
//!
//! ```text
//! number   0        1        2        3          all but the first and the last are as long as each other
//!          |--first-|--step--|--step--|--last--|
//! ```
//! Every sender of LCM cuts like this. So three numbers say where each fragment belongs, and a
//! fragment that lies elsewhere contradicts the others.

use crate::Fragment;

/// What the fragments so far say about where the others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    /// Length of the first fragment.
    first: Option<u32>,
    /// Length of those between the first and the last.
    step: Option<u32>,
    /// Where the last one begins.
    last: Option<u32>,
}

impl Layout {
    /// Takes a fragment; `false`, and nothing taken, if it contradicts those before it (PUB-05).
    pub(crate) fn take(&mut self, fragment: &Fragment<'_>) -> bool {
        let mut after = *self;
        let fits = after.learn(fragment).is_some() && after.is_sound(fragment.count);
        if fits {
            *self = after;
        }
        fits
    }

    fn learn(&mut self, fragment: &Fragment<'_>) -> Option<()> {
        let length = u32::try_from(fragment.data.len()).ok()?;
        if fragment.number == 0 {
            return agree(&mut self.first, length);
        }
        if fragment.is_last() {
            return agree(&mut self.last, fragment.offset);
        }
        let before = u32::from(fragment.number).checked_sub(1)?.checked_mul(length)?;
        agree(&mut self.first, fragment.offset.checked_sub(before)?)?;
        agree(&mut self.step, length)
    }

    /// Whether what is known leads from the first to the last.
    fn is_sound(&self, count: u16) -> bool {
        let between = u32::from(count).saturating_sub(2);
        let step = if between == 0 { Some(0) } else { self.step };
        let (Some(first), Some(step), Some(last)) = (self.first, step, self.last) else { return true };
        between.checked_mul(step).and_then(|span| span.checked_add(first)) == Some(last)
    }
}

fn agree(known: &mut Option<u32>, says: u32) -> Option<()> {
    (*known.get_or_insert(says) == says).then_some(())
}
