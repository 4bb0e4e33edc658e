//! One message of which not all fragments have come.
//!
//! ```text
//!   data   |0|1|2|        what came from the beginning, in one piece
//!   apart        . |4|5|  what came before its turn
//! ```
//! Memory is used for what came, whatever the header says, and that is what counts. A fragment that
//! says 60 MB and has none of them takes nobody's place.

use crate::layout::Layout;
use crate::{Channel, Danger, Fragment};
use folkmoot_base::{Instant, Mutant};
use std::collections::BTreeMap;

/// What an incomplete message costs beside its bytes.
const ENTRY_BYTES: usize = 256;
/// What a fragment that came before its turn costs beside its bytes.
const APART_BYTES: usize = 96;
/// Room made at the first fragment, if the message is so long.
const ROOM: usize = 1 << 14;

/// What a message does with a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Held,
    Twice,
    Contradicts,
}

#[derive(Debug)]
pub(crate) struct Partial {
    size: u32,
    count: u16,
    left: u16,
    channel: Option<Channel>,
    layout: Layout,
    /// A bit for each fragment that has come.
    came: Vec<u64>,
    data: Vec<u8>,
    apart: BTreeMap<u16, Part>,
    /// What these use.
    apart_bytes: usize,
    /// Its length counts as it says: what PUB-16 is for.
    believed: bool,
    /// When its last fragment came.
    pub(crate) at: Instant,
    /// Its place in the order of what was touched last.
    pub(crate) stamp: u64,
}

#[derive(Debug)]
struct Part {
    from: usize,
    data: Box<[u8]>,
}

/// What a message uses at most: its bytes as it says, and what each fragment can cost.
pub(crate) fn cost(fragment: &Fragment<'_>) -> Option<usize> {
    cost_of(fragment.size, fragment.count)
}

fn cost_of(size: u32, count: u16) -> Option<usize> {
    let fragments = usize::from(count).checked_mul(APART_BYTES)?.checked_add(words(count).checked_mul(8)?)?;
    usize::try_from(size).ok()?.checked_add(ENTRY_BYTES)?.checked_add(fragments)
}

fn words(count: u16) -> usize {
    usize::from(count).div_ceil(64)
}

impl Partial {
    pub(crate) fn new(now: Instant, fragment: &Fragment<'_>, danger: Mutant<Danger>) -> Self {
        Self {
            size: fragment.size,
            count: fragment.count,
            left: fragment.count,
            channel: None,
            layout: Layout::default(),
            came: vec![0; words(fragment.count)],
            data: Vec::new(),
            apart: BTreeMap::new(),
            apart_bytes: 0,
            believed: danger.is(Danger::BelievesLengths),
            at: now,
            stamp: 0,
        }
    }

    /// The bytes that it uses.
    pub(crate) fn cost(&self) -> usize {
        if self.believed {
            return cost_of(self.size, self.count).unwrap_or(usize::MAX);
        }
        let bits = self.came.len().saturating_mul(8);
        [self.data.capacity(), self.apart_bytes, bits].into_iter().fold(ENTRY_BYTES, usize::saturating_add)
    }

    pub(crate) fn is_of(&self, fragment: &Fragment<'_>) -> bool {
        self.size == fragment.size && self.count == fragment.count
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.left == 0
    }

    /// Takes a fragment that says the same length and count (PUB-05, PUB-06).
    pub(crate) fn take(&mut self, now: Instant, fragment: &Fragment<'_>, danger: Mutant<Danger>) -> Verdict {
        let bit = 1_u64 << (fragment.number % 64);
        let word = usize::from(fragment.number / 64);
        let (Some(came), Ok(from)) = (self.came.get(word).copied(), usize::try_from(fragment.offset)) else {
            return Verdict::Contradicts;
        };
        if !self.layout.take(fragment) && !danger.is(Danger::AnyPlace) {
            return Verdict::Contradicts;
        }
        if came & bit != 0 && !danger.is(Danger::CountsTwice) {
            let same = self.has(from, fragment) && (fragment.number > 0 || self.channel == fragment.channel);
            return if same { Verdict::Twice } else { Verdict::Contradicts };
        }
        if let Some(word) = self.came.get_mut(word) {
            *word |= bit;
        }
        self.hold(from, fragment);
        self.left = self.left.saturating_sub(1);
        self.channel = self.channel.or(fragment.channel);
        self.at = now;
        Verdict::Held
    }

    /// Whether these bytes came already.
    fn has(&self, from: usize, fragment: &Fragment<'_>) -> bool {
        let held = match self.apart.get(&fragment.number) {
            Some(part) => Some(&*part.data),
            None => self.data.get(from..from.saturating_add(fragment.data.len())),
        };
        held == Some(fragment.data)
    }

    fn hold(&mut self, from: usize, fragment: &Fragment<'_>) {
        if from > self.data.len() {
            self.apart.insert(fragment.number, Part { from, data: fragment.data.into() });
            self.apart_bytes = self.apart_bytes.saturating_add(fragment.data.len() + APART_BYTES);
            return;
        }
        self.put(from, fragment.data);
        while let Some(next) = self.apart.first_entry().filter(|next| next.get().from <= self.data.len()) {
            let Part { from, data } = next.remove();
            self.apart_bytes = self.apart_bytes.saturating_sub(data.len() + APART_BYTES);
            self.put(from, &data);
        }
    }

    /// Writes where the data end; before that only if a check is left out.
    fn put(&mut self, from: usize, bytes: &[u8]) {
        let over = self.data.len().saturating_sub(from).min(bytes.len());
        let (old, new) = bytes.split_at_checked(over).unwrap_or_default();
        if let Some(place) = self.data.get_mut(from..from.saturating_add(over)) {
            place.copy_from_slice(old);
        }
        self.make_room(new.len());
        self.data.extend_from_slice(new);
    }

    /// Room grows with what came, and never beyond the message. The first fragment alone makes
    /// none: it may be all that ever comes.
    fn make_room(&mut self, more: usize) {
        let needs = self.data.len().saturating_add(more);
        if needs > self.data.capacity() {
            let size = usize::try_from(self.size).unwrap_or(usize::MAX);
            let times = if self.data.is_empty() { 1 } else { 4 };
            let room = needs.saturating_mul(times).max(ROOM).min(size).max(needs);
            self.data.reserve_exact(room.saturating_sub(self.data.len()));
        }
    }

    /// The message, when all of it came.
    pub(crate) fn whole(mut self) -> Option<(Channel, Vec<u8>)> {
        // Nothing is apart, and nothing lacks, unless a check was left out.
        for Part { from, data } in std::mem::take(&mut self.apart).into_values() {
            self.data.resize(self.data.len().max(from), 0);
            self.put(from, &data);
        }
        self.data.resize(usize::try_from(self.size).ok()?, 0);
        Some((self.channel?, self.data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(number: u16, count: u16, size: u32, data: &[u8]) -> Fragment<'_> {
        let (offset, channel) = match number {
            0 => (0, Channel::new("A").ok()),
            _ => (100 * u32::from(number), None),
        };
        Fragment { sequence: 0, size, offset, number, count, channel, data }
    }

    #[test]
    fn pub_16_memory_is_used_for_what_came() {
        let data = [7; 100];
        for number in [0, 1, 40_000] {
            let lie = says(number, 50_000, 60 << 20, &data);
            let mut partial = Partial::new(Instant(0), &lie, Mutant::NONE);
            assert_eq!(partial.take(Instant(0), &lie, Mutant::NONE), Verdict::Held);
            assert!(partial.cost() < ROOM + 10_000, "{number}: {}", partial.cost());
            let believed = Partial::new(Instant(0), &lie, Mutant::from(Some(Danger::BelievesLengths)));
            assert!(believed.cost() > 60 << 20, "others would have that much less");
        }
    }

    #[test]
    fn pub_16_a_message_uses_no_more_than_its_length_in_any_order() {
        let data = [7; 100];
        for (about, step) in [("in order", 1_u16), ("apart", 3), ("backwards", 9_999)] {
            let first = says(0, 10_000, 1_000_000, &data);
            let mut partial = Partial::new(Instant(0), &first, Mutant::NONE);
            let most = cost(&first).unwrap();
            for turn in 0..10_000_u32 {
                let number = u16::try_from(turn * u32::from(step) % 10_000).unwrap();
                let fragment = says(number, 10_000, 1_000_000, &data);
                assert_eq!(partial.take(Instant(0), &fragment, Mutant::NONE), Verdict::Held, "{about}");
                let apart: usize = partial.apart.values().map(|part| part.data.len() + APART_BYTES).sum();
                assert!(turn % 97 > 0 || partial.apart_bytes == apart, "{about} {turn}");
                // Room for all of it, while much is still apart.
                assert!(partial.cost() <= most + 1_000_000, "{about} {turn}");
            }
            assert!(partial.is_whole() && partial.apart.is_empty());
            assert_eq!(partial.whole(), Some((Channel::new("A").unwrap(), vec![7; 1_000_000])), "{about}");
        }
    }
}
