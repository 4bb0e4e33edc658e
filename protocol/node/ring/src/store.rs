//! The packets of one ring that a member may still need, by number.

use crate::config::STORE_PACKETS_MAX;
use crate::data::Data;
use std::collections::VecDeque;

/// A window of packets with consecutive numbers. Once it has grown to the size that the ring needs,
/// it allocates no more.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// All packets up to here have been dropped: every member has them.
    base: u64,
    slots: VecDeque<Option<Data>>,
    aru: u64,
}

/// What happened to a packet that was put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    New,
    Known,
    /// Beyond the number that a node keeps: the packet will be asked for again.
    TooFar,
}

impl Store {
    /// All up to here have been received.
    pub(crate) fn aru(&self) -> u64 {
        self.aru
    }

    /// The highest packet received.
    pub(crate) fn high(&self) -> u64 {
        let held = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        self.base.saturating_add(held).max(self.aru)
    }

    fn index(&self, seq: u64) -> Option<usize> {
        usize::try_from(seq.checked_sub(self.base)?.checked_sub(1)?).ok()
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Data> {
        self.slots.get(self.index(seq)?)?.as_ref()
    }

    pub(crate) fn has(&self, seq: u64) -> bool {
        seq <= self.base || self.get(seq).is_some()
    }

    pub(crate) fn insert(&mut self, packet: Data) -> Stored {
        let Some(index) = self.index(packet.seq) else { return Stored::Known };
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
        *slot = Some(packet);
        while self.get(self.aru.saturating_add(1)).is_some() {
            self.aru = self.aru.saturating_add(1);
        }
        Stored::New
    }

    /// Forgets all packets up to `seq`; only packets that have been received and delivered.
    pub(crate) fn discard(&mut self, seq: u64) {
        while self.base < seq.min(self.aru) && self.slots.pop_front().is_some() {
            self.base = self.base.saturating_add(1);
        }
    }

    /// The numbers up to `limit` that are missing.
    pub(crate) fn gaps(&self, limit: u64) -> impl Iterator<Item = u64> + '_ {
        (self.aru.saturating_add(1)..=limit).filter(|seq| !self.has(*seq))
    }
}
