//! A window of things with consecutive numbers: the packets of one stream, or the records.

use crate::config::STORE_PACKETS_MAX;
use std::collections::VecDeque;

/// What a member may still need, by number. Once the window has grown to the size that the ring
/// needs, it allocates no more.
#[derive(Debug)]
pub(crate) struct Window<T> {
    /// All up to here have been dropped: every member has them.
    base: u64,
    slots: VecDeque<Option<T>>,
    /// All up to here have been received.
    aru: u64,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self { base: 0, slots: VecDeque::new(), aru: 0 }
    }
}

/// What happened to something that was put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    New,
    Known,
    /// Beyond what a node keeps: it will be asked for again.
    TooFar,
}

impl<T> Window<T> {
    /// The highest number received.
    pub(crate) fn high(&self) -> u64 {
        let held = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        self.base.saturating_add(held).max(self.aru)
    }

    /// All up to here have been received.
    pub(crate) fn aru(&self) -> u64 {
        self.aru
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.base)?.checked_sub(1)?).ok()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.slots.get(self.index(number)?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let index = self.index(number)?;
        self.slots.get_mut(index)?.as_mut()
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        number <= self.base || self.get(number).is_some()
    }

    /// Everything kept, with its number, in the order of the numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let first = self.base.saturating_add(1);
        (first..).zip(&self.slots).filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// The same, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        let first = self.base.saturating_add(1);
        (first..).zip(&mut self.slots).filter_map(|(number, slot)| Some((number, slot.as_mut()?)))
    }

    pub(crate) fn insert(&mut self, number: u64, item: T) -> Stored {
        let Some(index) = self.index(number) else { return Stored::Known };
        if u64::try_from(index).unwrap_or(u64::MAX) >= STORE_PACKETS_MAX {
            return Stored::TooFar;
        }
        while self.slots.len() <= index {
            self.slots.push_back(None);
        }
        let Some(slot) = self.slots.get_mut(index) else { return Stored::TooFar };
        if slot.is_some() {
            return Stored::Known;
        }
        *slot = Some(item);
        while self.get(self.aru.saturating_add(1)).is_some() {
            self.aru = self.aru.saturating_add(1);
        }
        Stored::New
    }

    /// Forgets all up to `number`; only what has been received. Returns how many those were.
    pub(crate) fn discard(&mut self, number: u64) -> usize {
        let mut dropped = 0_usize;
        while self.base < number.min(self.aru) && self.slots.pop_front().is_some() {
            self.base = self.base.saturating_add(1);
            dropped = dropped.saturating_add(1);
        }
        dropped
    }
}
