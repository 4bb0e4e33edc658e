//! The virtual network: who reaches whom, how late, how often.
//!
//! Every ordered pair of players has its own fate. Nothing is promised except bounds: a player's
//! inbox holds at most [`INBOX_DATAGRAMS_MAX`] datagrams and [`INBOX_BYTES_MAX`] bytes in flight.
//! Whatever comes on top is lost.

use crate::record::Player;
use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Most datagrams on their way to one player.
pub const INBOX_DATAGRAMS_MAX: u32 = 4_096;
/// Most bytes on their way to one player.
pub const INBOX_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How lossy and slow the network is: for good, or until a burst ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weather {
    /// Shortest delay, in microseconds.
    pub delay_min: u64,
    /// Longest usual delay.
    pub delay_max: u64,
    /// Parts in a million that are lost.
    pub loss: u32,
    /// Parts in a million that come twice.
    pub twice: u32,
    /// Parts in a million that take up to ten times as long.
    pub late: u32,
}

/// A quiet local network.
pub const CALM: Weather = Weather { delay_min: 300, delay_max: 1_200, loss: 0, twice: 0, late: 0 };

/// What the paths of some networks carry, in bytes of UDP: all that the nodes send, or less. A
/// handshake of hybrid links has to fit.
const PATHS: [usize; 8] = [1_452, 1_452, 1_452, 1_444, 1_400, 1_372, 1_300, 1_252];
/// Networks with such paths, of a million.
const NARROW: u32 = 400_000;

/// Load on one inbox.
#[derive(Debug, Default, Clone, Copy)]
struct Inbox {
    datagrams: u32,
    bytes: usize,
}

/// What the path from one to another carries.
type Paths = BTreeMap<(Player, Player), usize>;

/// The network.
#[derive(Debug)]
pub struct Net {
    rng: Rng,
    base: Weather,
    burst: Option<(Weather, u64)>,
    sides: Vec<u8>,
    cuts: BTreeSet<(Player, Player)>,
    inboxes: BTreeMap<Player, Inbox>,
    /// What the paths that were used so far carry, if some are narrow.
    paths: Option<(Rng, Paths)>,
}

impl Net {
    /// A network under `seed` with this usual weather.
    pub fn new(seed: u64, base: Weather) -> Self {
        let mut paths = Rng::new(seed, "paths", 0);
        Self {
            paths: paths.chance(NARROW).then(|| (paths, BTreeMap::new())),
            rng: Rng::new(seed, "network", 0),
            base,
            burst: None,
            sides: Vec::new(),
            cuts: BTreeSet::new(),
            inboxes: BTreeMap::new(),
        }
    }

    /// When copies of a datagram handed over at `now` arrive; empty if it is lost.
    pub fn carry(&mut self, now: u64, from: Player, to: Player, bytes: usize) -> Vec<u64> {
        let weather = self.weather(now);
        let mut arrivals = Vec::with_capacity(1);
        let lost = !self.reaches(from, to) || self.rng.chance(weather.loss);
        if lost || bytes > self.longest(from, to) {
            return arrivals;
        }
        let copies = if self.rng.chance(weather.twice) { 2 } else { 1 };
        for _ in 0..copies {
            if self.admit(to, bytes) {
                let mut delay = self.rng.range(weather.delay_min, weather.delay_max);
                if self.rng.chance(weather.late) {
                    delay = delay.saturating_mul(self.rng.range(2, 10));
                }
                arrivals.push(now.saturating_add(delay));
            }
        }
        arrivals
    }

    /// What the path between these carries; what is longer is lost, and nobody is told.
    fn longest(&mut self, from: Player, to: Player) -> usize {
        let Some((rng, paths)) = self.paths.as_mut() else { return usize::MAX };
        let draw = || {
            let place = rng.below(PATHS.len());
            PATHS.get(place).copied().unwrap_or(usize::MAX)
        };
        *paths.entry((from, to)).or_insert_with(draw)
    }

    /// Paths lead elsewhere: what they carry is drawn anew.
    pub fn reroute(&mut self) {
        if let Some((_, paths)) = self.paths.as_mut() {
            paths.clear();
        }
    }

    /// The datagram left the inbox.
    pub fn arrived(&mut self, to: Player, bytes: usize) {
        let inbox = self.inboxes.entry(to).or_default();
        inbox.datagrams = inbox.datagrams.saturating_sub(1);
        inbox.bytes = inbox.bytes.saturating_sub(bytes);
    }

    /// Takes room in the inbox of `to`, if there is some.
    pub fn admit(&mut self, to: Player, bytes: usize) -> bool {
        let inbox = self.inboxes.entry(to).or_default();
        let fits =
            inbox.datagrams < INBOX_DATAGRAMS_MAX && inbox.bytes.saturating_add(bytes) <= INBOX_BYTES_MAX;
        if fits {
            inbox.datagrams = inbox.datagrams.saturating_add(1);
            inbox.bytes = inbox.bytes.saturating_add(bytes);
        }
        fits
    }

    /// Whether a datagram from `from` can reach `to` now.
    pub fn reaches(&self, from: Player, to: Player) -> bool {
        let side = |player: Player| self.sides.get(usize::from(player)).copied().unwrap_or(0);
        side(from) == side(to) && !self.cuts.contains(&(from, to))
    }

    /// Splits the players: those with equal numbers reach each other.
    pub fn split(&mut self, sides: Vec<u8>) {
        self.sides = sides;
    }

    /// Cuts one direction.
    pub fn cut(&mut self, from: Player, to: Player) {
        self.cuts.insert((from, to));
    }

    /// Cuts both directions.
    pub fn part(&mut self, a: Player, b: Player) {
        self.cuts.extend([(a, b), (b, a)]);
    }

    /// Whether each can reach the other now.
    pub fn reach(&self, a: Player, b: Player) -> bool {
        a == b || (self.reaches(a, b) && self.reaches(b, a))
    }

    /// Whether most datagrams come, and soon.
    pub fn is_fair(&self, now: u64) -> bool {
        let weather = self.weather(now);
        weather.loss <= 50_000 && weather.delay_max <= 50_000
    }

    /// The usual weather, cuts or not.
    pub fn clear_up(&mut self) {
        self.burst = None;
    }

    /// Everybody reaches everybody.
    pub fn heal(&mut self) {
        self.sides.clear();
        self.cuts.clear();
    }

    /// Other weather until `until`.
    pub fn burst(&mut self, weather: Weather, until: u64) {
        self.burst = Some((weather, until));
    }

    /// The usual weather from now on is this.
    pub fn settle(&mut self, weather: Weather) {
        self.burst = None;
        self.base = weather;
    }

    fn weather(&self, now: u64) -> Weather {
        match self.burst {
            Some((weather, until)) if now < until => weather,
            _ => self.base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_networks_have_paths_that_lose_what_is_long() {
        let narrow = |seed: &u64| {
            let mut net = Net::new(*seed, CALM);
            (0..10).any(|to| net.carry(0, 20, to, 1_452).is_empty())
                && (0..10).all(|to| net.carry(0, 20, to, 1_252).len() == 1)
        };
        let count = (0..1_000).filter(narrow).count();
        assert!((300..500).contains(&count), "{count}");
    }

    #[test]
    fn splits_cuts_and_heals() {
        let mut net = Net::new(1, CALM);
        assert_eq!(net.carry(0, 0, 1, 100).len(), 1);
        net.split(vec![0, 1, 1]);
        assert!(net.carry(0, 0, 1, 100).is_empty());
        assert_eq!(net.carry(0, 2, 1, 100).len(), 1);
        net.heal();
        net.cut(0, 1);
        assert!(net.carry(0, 0, 1, 100).is_empty());
        assert_eq!(net.carry(0, 1, 0, 100).len(), 1);
        net.part(1, 2);
        assert!(net.carry(0, 1, 2, 100).is_empty() && net.carry(0, 2, 1, 100).is_empty());
        assert!(!net.reach(1, 0) && !net.reach(1, 2) && net.reach(0, 2) && net.reach(1, 1));
    }

    #[test]
    fn inboxes_are_bounded_and_drain() {
        let mut net = Net::new(1, CALM);
        let carried: usize = (0..100).map(|_| net.carry(0, 0, 1, 1024 * 1024).len()).sum();
        assert_eq!(carried, 4);
        net.arrived(1, 1024 * 1024);
        assert_eq!(net.carry(0, 0, 1, 1024 * 1024).len(), 1);
    }

    #[test]
    fn a_burst_ends() {
        let mut net = Net::new(1, CALM);
        net.burst(Weather { loss: 1_000_000, ..CALM }, 50);
        assert!(net.carry(49, 0, 1, 1).is_empty());
        assert_eq!(net.carry(50, 0, 1, 1).len(), 1);
    }
}
