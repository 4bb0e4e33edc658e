//! Messages that wait for no place (reliable, FIFO, causal), of parties that a notice removed.
//!
//! ```text
//! a:  c1 c2 | notice removes c |     FLUSH_OK "c up to 2"  ... last FLUSH_OK | view
//! b:  c1    | notice removes c | c2 and c3 are kept        ... last FLUSH_OK | c2 | view      c3 is dropped
//! ```
//! FLU-11: everybody delivers what one of those who come along had delivered before the notice. A
//! FLUSH_OK comes, everywhere, behind all that its sender had delivered (ORD-02 of the ring). So
//! with the last FLUSH_OK all of it is here.
//!
//! ```text
//! a:  c1 | a1, which answers c1 | notice removes c
//! b:  notice removes c | c1 is kept | a1 is kept behind it  ... last FLUSH_OK | c1 a1 | view
//! ```
//! FLU-13: what comes behind a kept message may answer it, so it is kept, too, and delivered behind
//! it. All of this comes after the transitional signal.

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
    /// Its sender was removed before it came: it counts only if somebody delivered it.
    pub(crate) removed: bool,
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
    /// Of removed parties, and what came behind those, in the order in which they came: at most
    /// [`HELD_BYTES_MAX`].
    late: VecDeque<Late>,
    bytes: usize,
    /// There was too much to keep what comes behind a kept message.
    full: bool,
}

impl Early {
    /// A message is delivered that had no place.
    pub(crate) fn delivered(&mut self, sender: Party, service: Service, number: u32) {
        let highest = self.had.entry(sender).or_default().of(service);
        *highest = number.max(*highest);
    }

    /// Whether what comes now is kept: it may answer something that is.
    pub(crate) fn keeps(&self) -> bool {
        !self.late.is_empty() && !self.full
    }

    /// Keeps a message. If there is no room, it is returned, and from then on no message is kept
    /// but those of removed parties.
    pub(crate) fn keep(&mut self, late: Late) -> Result<(), Late> {
        let bytes = self.bytes.saturating_add(late.cost());
        if bytes > HELD_BYTES_MAX {
            self.full |= !late.removed;
            return Err(late);
        }
        self.bytes = bytes;
        self.late.push_back(late);
        Ok(())
    }

    /// The kept messages of parties that were not removed.
    pub(crate) fn let_go(&mut self) -> Vec<Late> {
        let all = core::mem::take(&mut self.late).into_iter();
        let (removed, others): (Vec<Late>, Vec<Late>) = all.partition(|late| late.removed);
        self.bytes = removed.iter().map(Late::cost).sum();
        self.late = removed.into();
        others
    }

    /// How far the messages of these parties were delivered; their places are those in `members`.
    pub(crate) fn reach<'a>(&self, gone: impl Iterator<Item = (usize, &'a Party)>) -> Vec<Reach> {
        let reach = gone.filter_map(|(place, party)| {
            let Numbers { reliable, fifo } = *self.had.get(party)?;
            Some(Reach { place: u16::try_from(place).ok()?, reliable, fifo })
        });
        reach.collect()
    }

    /// The kept messages, those of removed parties only if somebody delivered them, in the order in
    /// which they came.
    pub(crate) fn release(&mut self, reached: &BTreeMap<Party, Numbers>) -> Vec<Late> {
        let due = |late: &Late| {
            let mut most = reached.get(&late.sender).copied().unwrap_or_default();
            !late.removed || late.number <= *most.of(late.service)
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
