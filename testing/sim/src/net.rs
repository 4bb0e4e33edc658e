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

/// The longest round trip that is drawn, in microseconds.
pub const TRIP_MICROS_MAX: u64 = 800_000;
/// The shortest.
const TRIP_MICROS_MIN: u64 = 100;

/// Load on one inbox.
#[derive(Debug, Default, Clone, Copy)]
struct Inbox {
    datagrams: u32,
    bytes: usize,
}

/// What the path from one to another carries.
type Paths = BTreeMap<(Player, Player), usize>;
/// How far two are from each other, the one with the lower number first.
type Trips = BTreeMap<(Player, Player), u64>;

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
    /// The longest round trip, and those of the pairs that have met.
    trips: Option<(Rng, u64, Trips)>,
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
            trips: None,
        }
    }

    /// With a round trip of its own for each pair, up to `far` microseconds; 0: none.
    #[must_use]
    pub fn with_trips(mut self, seed: u64, far: u64) -> Self {
        self.trips = (far > 0).then(|| (Rng::new(seed, "trips", 0), far, Trips::new()));
        self
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
                delay = self.one_way(now, from, to, delay);
                arrivals.push(now.saturating_add(delay));
            }
        }
        arrivals
    }

    /// How long a datagram takes that the weather keeps for `delay`. Where pairs have round trips
    /// of their own, the usual weather adds up to a tenth of them, and a burst what it adds to all.
    fn one_way(&mut self, now: u64, from: Player, to: Player, delay: u64) -> u64 {
        let usual = !self.is_burst(now);
        let longest = self.base.delay_max.max(1);
        let Some((rng, far, trips)) = self.trips.as_mut() else { return delay };
        // As many pairs are near as are far, in octaves.
        let draw = || {
            let octaves = far.div_ceil(TRIP_MICROS_MIN).max(1).ilog2();
            let low = TRIP_MICROS_MIN << rng.range(0, u64::from(octaves) + 1);
            rng.range(low, (2 * low).min(*far).max(low + 1))
        };
        let trip = *trips.entry((from.min(to), from.max(to))).or_insert_with(draw);
        let late = if usual { delay.saturating_mul(trip) / (10 * longest) } else { delay };
        (trip / 2).saturating_add(late)
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
        let near = self.trips.as_ref().is_none_or(|(_, far, _)| *far <= 100_000);
        weather.loss <= 50_000 && weather.delay_max <= 50_000 && near
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

    fn is_burst(&self, now: u64) -> bool {
        self.burst.is_some_and(|(_, until)| now < until)
    }

    fn weather(&self, now: u64) -> Weather {
        self.burst.filter(|_| self.is_burst(now)).map_or(self.base, |(weather, _)| weather)
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
    fn every_pair_has_a_round_trip_of_its_own() {
        let mut net = Net::new(1, CALM).with_trips(1, 800_000);
        let mut trips = Vec::new();
        for to in 1..200 {
            let ways = [(0, to), (to, 0), (0, to)].map(|(from, to)| net.carry(0, from, to, 100)[0]);
            let (shortest, longest) = (ways.iter().min().unwrap(), ways.iter().max().unwrap());
            assert!(*longest <= shortest + shortest / 4 + 1, "{ways:?}");
            trips.push(2 * shortest);
        }
        let share = |low, high| trips.iter().filter(|trip| (low..high).contains(*trip)).count();
        assert!(trips.iter().all(|trip| (100..960_000).contains(trip)));
        let shares = [share(100, 1_600), share(1_600, 25_600), share(25_600, 960_000)];
        assert!(shares.iter().all(|share| *share > 30), "{shares:?}");
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
