//! What came in: a datagram, or a train of them.

use bytes::BytesMut;
use folkmoot_base::{Locator, Room, Train};

/// What came in from one place.
#[derive(Debug)]
pub enum Arrival {
    /// A datagram.
    One(BytesMut),
    /// Datagrams that the system joined (GRO).
    Train(Train),
}

impl Arrival {
    /// What the first `length` bytes of a room hold: datagrams of `size` bytes.
    pub(crate) fn train(room: impl Room, length: usize, size: usize) -> Self {
        Self::Train(Train::new(room, length, size))
    }

    /// How many datagrams.
    pub fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Train(train) => train.count(),
        }
    }

    /// All datagrams; a train's are copied.
    pub fn datagrams(mut self) -> impl Iterator<Item = BytesMut> {
        core::iter::from_fn(move || self.next_datagram())
    }

    /// The next datagram; a train's are copied.
    fn next_datagram(&mut self) -> Option<BytesMut> {
        match self {
            Self::One(datagram) => Some(core::mem::take(datagram)).filter(|datagram| !datagram.is_empty()),
            Self::Train(train) => train.next_copied(),
        }
    }
}

/// How many datagrams there are in all.
pub(crate) fn count(batch: &[(Locator, Arrival)]) -> usize {
    batch.iter().map(|(_, arrival)| arrival.count()).fold(0, usize::saturating_add)
}
