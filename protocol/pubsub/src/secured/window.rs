//! Which numbers of a sender have come under one key: the highest, and the [`WINDOW`] below it.
//!
//! Numbers go round. A sender has at most 2^31 of them under one key (PUB-22), so the difference
//! says which of two is the later one, and an old number never looks like a new one.

/// How far below the highest a number may be.
pub const WINDOW: u32 = 1_024;
const BITS: u32 = 64;
const WORDS: usize = 16;

/// One sender's.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    highest: Option<u32>,
    /// A bit for each number, at its place modulo [`WINDOW`].
    came: [u64; WORDS],
}

impl Default for Window {
    fn default() -> Self {
        Self { highest: None, came: [0; WORDS] }
    }
}

impl Window {
    /// Whether this number has not come, and is not too old to know.
    pub(crate) fn is_new(&self, number: u32) -> bool {
        let Some(highest) = self.highest else { return true };
        let ahead = number.wrapping_sub(highest);
        if ahead != 0 && ahead < 1 << 31 {
            return true;
        }
        let behind = highest.wrapping_sub(number);
        let (word, bit) = place(number);
        behind < WINDOW && self.came.get(word).is_some_and(|came| came & bit == 0)
    }

    /// Notes a number that [`Self::is_new`].
    pub(crate) fn mark(&mut self, number: u32) {
        let highest = *self.highest.get_or_insert(number);
        let ahead = number.wrapping_sub(highest);
        if ahead != 0 && ahead < 1 << 31 {
            if ahead >= WINDOW {
                self.came = [0; WORDS];
            } else {
                (1..ahead).for_each(|step| self.set(highest.wrapping_add(step), false));
            }
            self.highest = Some(number);
        }
        self.set(number, true);
    }

    fn set(&mut self, number: u32, came: bool) {
        let (word, bit) = place(number);
        if let Some(word) = self.came.get_mut(word) {
            *word = if came { *word | bit } else { *word & !bit };
        }
    }
}

fn place(number: u32) -> (usize, u64) {
    let within = number % WINDOW;
    (usize::try_from(within / BITS).unwrap_or(WORDS), 1 << (within % BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn pub_23_each_number_counts_once_also_where_numbers_go_round() {
        let mut window = Window::default();
        for number in [u32::MAX - 3, u32::MAX, 0, 5, u32::MAX - 1, 4] {
            assert!(window.is_new(number), "{number}");
            window.mark(number);
            assert!(!window.is_new(number), "{number}");
        }
        assert!(window.is_new(u32::MAX - 2) && window.is_new(1_000_000));
        window.mark(5 + WINDOW);
        assert!(!window.is_new(5) && window.is_new(6), "one more than the window back is too old");
        // The last number that the first one's key allows: all that came is older.
        window.mark((1 << 31) - 5);
        assert!([u32::MAX - 3, 0, 5, 6].into_iter().all(|number| !window.is_new(number)));
    }

    #[test]
    fn pub_23_a_number_that_was_skipped_is_new_when_its_place_was_used_before() {
        let mut window = Window::default();
        (0..WINDOW).chain([WINDOW + 3]).for_each(|number| window.mark(number));
        for number in WINDOW..WINDOW + 3 {
            assert!(window.is_new(number), "{number}");
        }
        assert!((4..WINDOW).all(|number| !window.is_new(number)));
    }

    proptest! {
        #[test]
        fn pub_23_it_is_as_a_list_of_all_that_came(start: u32, steps in prop::collection::vec(0_u32..2_500, 1..300)) {
            let (mut window, mut came, mut top) = (Window::default(), BTreeSet::new(), 0_u64);
            for (turn, step) in steps.into_iter().enumerate() {
                // Forwards and back, by as much as the window and more.
                let at = if turn % 3 == 0 { top + u64::from(step) } else { top.saturating_sub(u64::from(step)) };
                let number = start.wrapping_add(u32::try_from(at).unwrap_or(u32::MAX));
                let new = !came.contains(&at) && (came.is_empty() || at + u64::from(WINDOW) > top);
                prop_assert_eq!(window.is_new(number), new);
                if new {
                    window.mark(number);
                    came.insert(at);
                    top = top.max(at);
                }
            }
        }
    }
}
