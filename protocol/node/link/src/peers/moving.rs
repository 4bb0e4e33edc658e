//! LINK-34: where a peer was heard that has not shown that it hears there.
//!
//! ```text
//!  heard elsewhere --Ping, a number nobody can guess--> there
//!                  <-------Pong, the same number------- from there: that is its address now
//!  heard at the old address meanwhile: it never moved
//! ```
//! Whoever copies a datagram can send it from any address first. So until the answer comes from the
//! new address itself, everything else goes to the old one.

use crate::limits::MOVE_ASK;
use folkmoot_base::{Entropy, Instant, Locator, draw};

/// The address that a peer may have moved to.
#[derive(Debug, Default)]
pub(super) struct Moving {
    place: Option<Place>,
    /// When it was last asked anywhere.
    asked: Option<Instant>,
}

#[derive(Debug)]
struct Place {
    at: Locator,
    number: u64,
}

impl Moving {
    /// The peer is heard where it was before.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.place = None;
    }

    /// It is heard at `from`: the number to ask it there, unless it was asked just now, there or
    /// elsewhere.
    pub(super) fn hear(&mut self, now: Instant, from: &Locator, entropy: &mut dyn Entropy) -> Option<u64> {
        if self.asked.is_some_and(|asked| now < asked + MOVE_ASK) {
            return None;
        }
        self.asked = Some(now);
        let again = self.place.take().filter(|place| place.at == *from);
        let drawn = || Place { at: from.clone(), number: u64::from_be_bytes(draw(entropy)) };
        Some(self.place.insert(again.unwrap_or_else(drawn)).number)
    }

    /// A Pong with this number came from `from`. Returns whether the peer has moved there.
    pub(super) fn answered(&mut self, from: &Locator, number: u64) -> bool {
        self.place.take_if(|place| place.at == *from && place.number == number).is_some()
    }
}
