//! Which of a sender's counters were seen: the highest, and the [`WINDOW`] counters below it.

/// How far below the highest a counter may be.
pub const WINDOW: u64 = 1_024;
const WORDS: usize = 16;

/// One sender's window. A ring of bits: counter c has bit c mod 1,024.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// One more than the highest counter seen; zero before the first.
    next: u64,
    bits: [u64; WORDS],
}

impl Window {
    pub(crate) fn new() -> Self {
        Self { next: 0, bits: [0; WORDS] }
    }

    /// Whether `counter` is new.
    pub(crate) fn is_new(&self, counter: u64) -> bool {
        if counter >= self.next {
            return counter != u64::MAX;
        }
        self.next.saturating_sub(counter) <= WINDOW && !self.bit(counter)
    }

    /// Notes that `counter`, which is new, was opened.
    pub(crate) fn mark(&mut self, counter: u64) {
        if counter >= self.next {
            if counter.saturating_sub(self.next) >= WINDOW {
                self.bits = [0; WORDS];
            } else {
                (self.next..counter).for_each(|skipped| self.set(skipped, false));
            }
            self.next = counter.saturating_add(1);
        }
        self.set(counter, true);
    }

    fn place(counter: u64) -> (usize, u64) {
        let place = counter % WINDOW;
        (usize::try_from(place / 64).unwrap_or(0), 1 << (place % 64))
    }

    fn bit(&self, counter: u64) -> bool {
        let (word, mask) = Self::place(counter);
        self.bits.get(word).is_none_or(|bits| bits & mask != 0)
    }

    fn set(&mut self, counter: u64, value: bool) {
        let (word, mask) = Self::place(counter);
        if let Some(bits) = self.bits.get_mut(word) {
            *bits = if value { *bits | mask } else { *bits & !mask };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Compared with a reference that remembers everything.
    #[test]
    fn agrees_with_a_reference() {
        let (mut window, mut seen, mut highest, mut x) = (Window::new(), BTreeSet::new(), None, 1_u64);
        for _ in 0..20_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let base = highest.unwrap_or(0_u64);
            let jump = if x >> 60 == 0 { 3_000 } else { 40 };
            let counter = (base + (x >> 33) % jump).saturating_sub((x >> 20) % 1_100);
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
}
