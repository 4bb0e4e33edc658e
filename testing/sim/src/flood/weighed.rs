//! A machine on the scales: what one life holds in memory, to the byte.

use super::heap;
use crate::machine::{Input, Machine, Output, Picture, Spoils};
use crate::record::Player;
use bytes::Bytes;
use folkmoot_base::{Entropy, Instant, Persist, StoreKey};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a life holds, and the most that it ever held.
#[derive(Debug, Default)]
pub(super) struct Scales {
    live: Cell<i64>,
    most: Cell<i64>,
}

impl Scales {
    /// In bytes.
    pub(super) fn read(&self) -> (u64, u64) {
        let read = |cell: &Cell<i64>| u64::try_from(cell.get()).unwrap_or_default();
        (read(&self.live), read(&self.most))
    }

    /// Does something that this life answers for.
    pub(super) fn weigh<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = heap::begin();
        let done = act();
        let (after, most) = heap::since_begin();
        let live = self.live.get();
        self.most.set(self.most.get().max(live.saturating_add(most.saturating_sub(before))));
        self.live.set(live.saturating_add(after.saturating_sub(before)));
        done
    }
}

/// A machine whose memory is counted. What comes in is copied into its memory, and what goes out is
/// copied out of it. What it tells and traces goes nowhere.
pub(super) struct Weighed {
    pub(super) machine: Box<dyn Machine>,
    pub(super) scales: Rc<Scales>,
}

impl Machine for Weighed {
    fn handle(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) {
        let machine = &mut self.machine;
        self.scales.weigh(|| {
            let input = match &input {
                Input::Datagrams(from, all) => {
                    Input::Datagrams(from.clone(), all.iter().map(copied).collect())
                }
                other => other.clone(),
            };
            machine.handle(now, input, entropy);
        });
    }

    fn poll_output(&mut self) -> Option<Output> {
        loop {
            let machine = &mut self.machine;
            let output = self.scales.weigh(|| machine.poll_output())?;
            let shown = match &output {
                Output::Transmit(to, bytes) => Some(Output::Transmit(to.clone(), copied(bytes))),
                Output::Persist(write) => Some(Output::Persist(written(write))),
                Output::Told(_) | Output::Second(_) | Output::Trace(_) => None,
            };
            self.scales.weigh(|| drop(output));
            if shown.is_some() {
                return shown;
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn picture(&self) -> Picture {
        self.machine.picture()
    }

    fn roster_if_changed(&mut self) -> Option<BTreeSet<Player>> {
        self.machine.roster_if_changed()
    }

    fn spoils(&self) -> Spoils {
        self.machine.spoils()
    }
}

fn copied(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

fn written(write: &Persist) -> Persist {
    let key = StoreKey { table: write.key.table, key: copied(&write.key.key) };
    Persist { key, value: write.value.as_ref().map(copied) }
}
