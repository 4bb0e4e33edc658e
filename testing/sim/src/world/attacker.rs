//! An attacker that sees every datagram, and sends what it likes from any address.

use crate::record::Player;
use crate::rng::Rng;
use crate::schedule::Forgery;
use bytes::Bytes;
use folkmoot_base::Locator;
use std::collections::VecDeque;

/// How many datagrams the attacker remembers.
const MEMORY: usize = 512;

/// A datagram that arrived.
#[derive(Debug, Clone)]
struct Seen {
    from: Locator,
    to: Player,
    life: u16,
    bytes: Bytes,
}

/// What the attacker sends.
#[derive(Debug, Clone)]
pub struct Forged {
    /// As if from here.
    pub from: Locator,
    /// To whom.
    pub to: Player,
    /// What.
    pub bytes: Bytes,
    /// It is a packet under a ring key, unchanged. Whoever has the key and lacks the packet may
    /// take it, whenever it comes and from wherever: a late network can do no less.
    pub late: bool,
}

/// The second byte of a datagram under a ring key.
const RING_DATA: u8 = 8;

/// The attacker.
#[derive(Debug)]
pub struct Attacker {
    rng: Rng,
    seen: VecDeque<Seen>,
    races: u16,
}

impl Attacker {
    /// An attacker who has seen nothing yet.
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed, "attacker", 0), seen: VecDeque::new(), races: 0 }
    }

    /// A datagram arrived. Only such are replayed: a replay that overtakes its original would be
    /// its delivery.
    pub fn see(&mut self, from: Locator, to: Player, life: u16, bytes: &Bytes) {
        if self.seen.len() >= MEMORY {
            self.seen.pop_front();
        }
        self.seen.push_back(Seen { from, to, life, bytes: bytes.clone() });
    }

    /// Makes a datagram, if there is something to make it of. `life_of` says which life a player is
    /// in: what was sent to an earlier life is kept for [`Forgery::Redirect`], which expects
    /// nothing of the receiver.
    pub fn make(&mut self, how: Forgery, players: u8, life_of: &dyn Fn(Player) -> u16) -> Option<Forged> {
        let length = self.seen.len();
        let back = if self.rng.chance(700_000) { length.min(24) } else { length };
        let index = length.checked_sub(1)?.checked_sub(self.rng.below(back))?;
        let Seen { from, to, life, bytes } = self.seen.get(index)?.clone();
        let mut changed = bytes.to_vec();
        let late = matches!(how, Forgery::Replay | Forgery::Redirect) && bytes.get(1) == Some(&RING_DATA);
        let forged = match how {
            Forgery::Replay if life_of(to) != life => return None,
            Forgery::Replay => Forged { from, to, bytes, late },
            Forgery::Redirect => {
                let to = u8::try_from(self.rng.below(usize::from(players))).ok()?;
                Forged { from, to, bytes, late }
            }
            Forgery::Flip => Forged { from, to, bytes: self.flip(&bytes), late },
            Forgery::Race => return None,
            Forgery::Cut => {
                changed.truncate(self.rng.below(changed.len()));
                Forged { from, to, bytes: changed.into(), late }
            }
            Forgery::Lengthen => {
                let more = self.rng.below(64).saturating_add(1);
                changed.extend(self.rng.bytes(more));
                Forged { from, to, bytes: changed.into(), late }
            }
            Forgery::Noise => Forged { from, to, bytes: self.noise(), late },
        };
        Some(forged)
    }

    /// Races the next `count` datagrams.
    pub fn race(&mut self, count: u16) {
        self.races = count;
    }

    /// The flipped copy that overtakes a datagram being sent, if the attacker races.
    pub fn overtakes(&mut self, bytes: &Bytes) -> Option<Bytes> {
        self.races = self.races.checked_sub(1)?;
        Some(self.flip(bytes))
    }

    fn flip(&mut self, bytes: &Bytes) -> Bytes {
        let mut changed = bytes.to_vec();
        let at = self.rng.below(changed.len());
        let bit = self.rng.below(8);
        if let Some(byte) = changed.get_mut(at) {
            *byte ^= 1 << bit;
        }
        changed.into()
    }

    /// Random bytes; sometimes behind the first byte of something real, so that a parser gets
    /// further.
    pub fn noise(&mut self) -> Bytes {
        let length = self.rng.below(1_400).saturating_add(1);
        let mut bytes = self.rng.bytes(length);
        let index = self.rng.below(self.seen.len());
        if let Some(seen) = self.seen.get(index).filter(|_| self.rng.chance(700_000)) {
            let known = self.rng.below(24);
            for (to, from) in bytes.iter_mut().zip(seen.bytes.iter().take(known)) {
                *to = *from;
            }
        }
        bytes.into()
    }
}
