//! Which of a sender's counters were seen: the highest, and the [`WINDOW`] counters below it.
//!
//! Messages of one service come nearly in the order of sealing. A reliable message may overtake
//! agreed ones, by as many as are on their way. So the window is wide; it takes room only when
//! counters are far apart.

use std::collections::VecDeque;

/// How far below the highest a counter may be: more messages than a ring has on its way.
pub const WINDOW: u64 = 65_536;
const BITS: u64 = 64;
const WORDS: u64 = WINDOW / BITS;

/// One sender's window.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// One more than the highest counter seen; zero before the first.
    next: u64,
    /// All counters of the words before this one were seen, or are too old.
    first: u64,
    /// A bit for each counter, from word `first` on.
    words: VecDeque<u64>,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self { next: 0, first: 0, words: VecDeque::new() }
    }

    /// Whether `counter` is new.
    pub(crate) fn is_new(&self, counter: u64) -> bool {
        if counter >= self.next {
            return counter != u64::MAX;
        }
        let word = counter / BITS;
        let seen = word.checked_sub(self.first).is_none_or(|word| {
            let word = usize::try_from(word).ok().and_then(|word| self.words.get(word));
            word.is_some_and(|bits| bits & bit(counter) != 0)
        });
        self.next.saturating_sub(counter) <= WINDOW && !seen
    }

    /// Notes that `counter`, which is new, was opened.
    pub(crate) fn mark(&mut self, counter: u64) {
        self.next = self.next.max(counter.saturating_add(1));
        let word = counter / BITS;
        let oldest = (self.next / BITS).saturating_sub(WORDS);
        while self.first < oldest {
            if self.words.pop_front().is_none() {
                self.first = oldest;
                break;
            }
            self.first = self.first.saturating_add(1);
        }
        let Some(index) = word.checked_sub(self.first).and_then(|word| usize::try_from(word).ok()) else {
            return;
        };
        while self.words.len() <= index {
            self.words.push_back(0);
        }
        if let Some(bits) = self.words.get_mut(index) {
            *bits |= bit(counter);
        }
        while self.words.len() > 1 && self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.first = self.first.saturating_add(1);
        }
    }
}

fn bit(counter: u64) -> u64 {
    1 << (counter % BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Compared with a reference that remembers everything.
    #[test]
    fn agrees_with_a_reference() {
        let (mut window, mut seen, mut highest, mut x) = (Window::new(), BTreeSet::new(), None, 1_u64);
        for _ in 0..40_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let base = highest.unwrap_or(0_u64);
            let jump = if x >> 57 == 0 { 200_000 } else { 40 };
            let back = if x >> 60 == 1 { 70_000 } else { 300 };
            let counter = (base + (x >> 33) % jump).saturating_sub((x >> 20) % back);
            let behind = highest.is_some_and(|top: u64| top.saturating_sub(counter) >= WINDOW);
            assert_eq!(
                window.is_new(counter),
                !behind && !seen.contains(&counter),
                "{counter} under {highest:?}"
            );
            if window.is_new(counter) {
                window.mark(counter);
                seen.insert(counter);
                highest = Some(base.max(counter));
            }
        }
        assert!(!Window::new().is_new(u64::MAX), "the last counter is never used");
    }

    /// Messages that come in the order of sealing take a word or two.
    #[test]
    fn it_takes_room_only_if_counters_are_far_apart() {
        let mut window = Window::new();
        (0..10_000).for_each(|counter| window.mark(counter));
        assert_eq!(window.words.len(), 1);
        window.mark(40_000);
        assert!(window.words.len() < 500);
        assert!(window.is_new(10_000) && window.is_new(39_999) && !window.is_new(9_999));
        window.mark(u64::from(u32::MAX));
        assert!(window.words.len() <= 1_025);
    }
}
