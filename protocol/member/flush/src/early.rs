//! Messages that wait for no place (reliable, FIFO, causal), of parties that a notice removed.
//!
//! ```text
//! a:  c1 c2 | notice removes c |     FLUSH_OK "c up to 2"  ... last FLUSH_OK | view
//! b:  c1    | notice removes c | c2 and c3 are kept        ... last FLUSH_OK | c2 | view      c3 is dropped
//! ```
//! FLU-11: everybody delivers what one of those who come along had delivered before the notice. A
//! FLUSH_OK comes, everywhere, behind all that its sender had delivered (ORD-02 of the ring). So
//! with the last FLUSH_OK all of it is here.

use crate::message::{For, Reach};
use folkmoot_base::limits::HELD_BYTES_MAX;
use folkmoot_base::{Buffer, Party, Service};
use std::collections::{BTreeMap, VecDeque};

/// What a kept message costs beside its bytes.
const MESSAGE_COST_BYTES: usize = 128;

/// Numbers of a party's early messages in a view: reliable ones, and FIFO and causal ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    reliable: u32,
    fifo: u32,
}

impl Numbers {
    fn of(&mut self, service: Service) -> &mut u32 {
        if service == Service::Reliable { &mut self.reliable } else { &mut self.fifo }
    }

    /// The number of the next message.
    pub(crate) fn next(&mut self, service: Service) -> u32 {
        let number = self.of(service);
        *number = number.saturating_add(1);
        *number
    }

    fn raise(&mut self, other: Self) {
        self.reliable = self.reliable.max(other.reliable);
        self.fifo = self.fifo.max(other.fifo);
    }
}

/// A message of a removed party.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) sender: Party,
    pub(crate) number: u32,
    pub(crate) service: Service,
    pub(crate) to: For,
    pub(crate) payload: Buffer,
}

impl Late {
    fn cost(&self) -> usize {
        self.payload.len().saturating_add(MESSAGE_COST_BYTES)
    }
}

/// What came early in the installed view.
#[derive(Debug, Default)]
pub(crate) struct Early {
    /// The highest numbers delivered, by sender.
    had: BTreeMap<Party, Numbers>,
    /// Of removed parties, in the order in which they came: at most [`HELD_BYTES_MAX`].
    late: VecDeque<Late>,
    bytes: usize,
}

impl Early {
    /// A message is delivered that had no place.
    pub(crate) fn delivered(&mut self, sender: Party, service: Service, number: u32) {
        let highest = self.had.entry(sender).or_default().of(service);
        *highest = number.max(*highest);
    }

    /// Keeps a message of a removed party; `false` if there is no room.
    pub(crate) fn keep(&mut self, late: Late) -> bool {
        let bytes = self.bytes.saturating_add(late.cost());
        let room = bytes <= HELD_BYTES_MAX;
        if room {
            self.bytes = bytes;
            self.late.push_back(late);
        }
        room
    }

    /// How far the messages of these parties were delivered; their places are those in `members`.
    pub(crate) fn reach<'a>(&self, gone: impl Iterator<Item = (usize, &'a Party)>) -> Vec<Reach> {
        let reach = gone.filter_map(|(place, party)| {
            let Numbers { reliable, fifo } = *self.had.get(party)?;
            Some(Reach { place: u16::try_from(place).ok()?, reliable, fifo })
        });
        reach.collect()
    }

    /// The kept messages that somebody delivered, in the order in which they came.
    pub(crate) fn release(&mut self, reached: &BTreeMap<Party, Numbers>) -> Vec<Late> {
        let due = |late: &Late| {
            let mut most = reached.get(&late.sender).copied().unwrap_or_default();
            late.number <= *most.of(late.service)
        };
        core::mem::take(&mut self.late).into_iter().filter(due).collect()
    }
}

/// The highest numbers that `reaches` say, by party. `party` names the one at a place.
pub(crate) fn highest<'a>(
    reaches: impl Iterator<Item = &'a Reach>,
    party: impl Fn(usize) -> Option<Party>,
) -> BTreeMap<Party, Numbers> {
    let mut all: BTreeMap<Party, Numbers> = BTreeMap::new();
    for Reach { place, reliable, fifo } in reaches {
        if let Some(party) = party(usize::from(*place)) {
            all.entry(party).or_default().raise(Numbers { reliable: *reliable, fifo: *fifo });
        }
    }
    all
}
