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
pub(super) struct Moving(Option<Place>);

#[derive(Debug)]
struct Place {
    at: Locator,
    number: u64,
    /// When it was last asked there.
    asked: Instant,
}

impl Moving {
    /// The peer is heard where it was before.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }

    /// It is heard at `from`: the number to ask it there, unless it was asked just now.
    pub(super) fn hear(&mut self, now: Instant, from: &Locator, entropy: &mut dyn Entropy) -> Option<u64> {
        match self.0.as_mut().filter(|place| place.at == *from) {
            Some(place) if now < place.asked + MOVE_ASK => None,
            Some(place) => {
                place.asked = now;
                Some(place.number)
            }
            None => {
                let number = u64::from_be_bytes(draw(entropy));
                self.0 = Some(Place { at: from.clone(), number, asked: now });
                Some(number)
            }
        }
    }

    /// A Pong with this number came from `from`. Returns whether the peer has moved there.
    pub(super) fn answered(&mut self, from: &Locator, number: u64) -> bool {
        self.0.take_if(|place| place.at == *from && place.number == number).is_some()
    }
}
