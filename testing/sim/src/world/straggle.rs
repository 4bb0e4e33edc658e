//! Datagrams that are held up on the way, and arrive when nobody waits for them any more.

use super::{Event, World};
use crate::record::Player;
use crate::rng::Rng;
use bytes::Bytes;

/// Most datagrams that are held up at a time.
const HELD_MAX: usize = 400;

/// What is held up.
#[derive(Debug)]
pub(super) struct Straggle {
    rng: Rng,
    /// Whose datagrams are, and until when.
    from: Option<(Player, u64)>,
    held: Vec<(Player, u32, Bytes)>,
}

impl Straggle {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed, "straggle", 0), from: None, held: Vec::new() }
    }
}

impl World {
    /// For so many microseconds, of the datagrams of `from` some are held up, some lost, and some
    /// go on.
    pub fn withhold(&mut self, from: Player, micros: u64) {
        self.straggle.from = Some((from, self.now.saturating_add(micros)));
    }

    /// What is held up arrives.
    pub fn release(&mut self) {
        for (to, from, bytes) in std::mem::take(&mut self.straggle.held) {
            if self.net.admit(self.site(to), bytes.len()) {
                self.schedule(self.now, Event::Arrive { to, from, bytes, forged: false });
            }
        }
    }

    /// Whether the datagram from `player` does not go on now.
    pub(super) fn is_withheld(&mut self, player: Player, to: Player, from: u32, bytes: &Bytes) -> bool {
        let now = self.now;
        let Straggle { rng, from: who, held } = &mut self.straggle;
        if who.is_none_or(|(who, until)| who != player || until <= now) {
            return false;
        }
        match rng.below(4) {
            0 => true,
            1 if held.len() < HELD_MAX => {
                held.push((to, from, bytes.clone()));
                true
            }
            _ => false,
        }
    }
}
