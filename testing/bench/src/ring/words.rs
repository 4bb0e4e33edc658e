//! What the bench and its members' processes say to each other: one JSON value a line.

use folkmoot::Faults;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::values::Ordering;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What a process counted, by name.
pub(crate) type Counts = BTreeMap<String, u64>;

/// What the paths to and from a member are like, by the transport's fault switch.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Paths {
    /// What a round trip takes at least, in milliseconds.
    pub(crate) trip: u16,
    /// How many of a hundred datagrams are lost.
    pub(crate) loss: u8,
}

impl Paths {
    /// No faults but these.
    pub(crate) fn apply(self, faults: &Faults) {
        faults.heal();
        faults.delay(Duration::from_micros(u64::from(self.trip) * 500));
        faults.drop_probability(f64::from(self.loss) / 100.0);
    }
}

/// How a member begins: its whole command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) number: u32,
    pub(crate) state: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) seeds: Vec<String>,
    /// It asks for admission.
    pub(crate) stranger: bool,
    /// Threads of its runtime.
    pub(crate) threads: usize,
    pub(crate) paths: Paths,
    /// What is for all goes by multicast.
    pub(crate) multicast: bool,
}

/// When a sender sends the next message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Pace {
    /// As soon as fewer than so many of its own are on their way.
    Window(u32),
    /// So often a second, whatever comes back; times the last `Order::Speed`.
    Rate(f64),
    /// Every 5 to 15 ms, at random.
    Lone,
}

/// What a sender is to send.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Nanoseconds of the monotonic clock, as all times here.
    pub(crate) until: u64,
    pub(crate) bytes: u32,
    pub(crate) service: Ordering,
    pub(crate) pace: Pace,
}

/// What the bench tells a member to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Count anew, and measure from one time to another.
    Mark { from: u64, to: u64, service: Ordering },
    /// Send.
    Load(Load),
    /// How fast the processors are now, as a part of the speed that a rate is meant for.
    Speed(f64),
    /// Tell what was delivered, once that is so many.
    Tally { count: u64 },
    /// Nothing goes to these places and comes from them, until `Heal`.
    Cut { from: Vec<String> },
    /// Everything goes everywhere again.
    Heal,
    /// Join the group.
    Join,
    /// Leave the group.
    Leave,
    /// Tell what was counted since the start.
    Count,
}

/// What a member tells the bench.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It runs.
    Ready { member: String, locator: String },
    /// It has a view with a key.
    View { at: u64, members: Vec<String> },
    /// Its node is in a configuration of so many.
    Ring { at: u64, nodes: usize },
    /// It is out of the group.
    Out { at: u64 },
    /// It has sent all it was to send.
    Sent(u64),
    /// What was delivered, and what was counted in the measured time.
    Tally(Heard, Counts),
    /// What was counted since the start.
    Count(Counts),
}

/// What one receiver has delivered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Heard {
    pub(crate) count: u64,
    /// Of them, those that came in the measured time.
    pub(crate) timed: u64,
    /// Equal at two receivers if both delivered the same messages in the same order.
    pub(crate) order: String,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    /// The median of those that came after a message of another sender: the token was elsewhere.
    pub(crate) p50_after_others_us: f64,
}

/// The pauses between lone messages of one sender: 5 to 15 ms, at random, the same in each run.
#[derive(Debug)]
pub(crate) struct Gaps(u64);

impl Gaps {
    pub(crate) fn of(sender: u64) -> Self {
        Self(sender.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn draw(&mut self) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_micros(5_000 + (self.0 >> 33) % 10_000)
    }
}

/// The monotonic clock of this machine, the same in all its processes.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// One value as a line.
pub(crate) fn line(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(Failure::bug)
}

/// Tells the bench something. If nobody reads it any more, this process ends.
pub(crate) fn say(said: &impl Serialize) -> Result<(), Failure> {
    let text = line(said)?;
    let mut out = std::io::stdout().lock();
    let told = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    told.map_err(|_| Failure::bug("the bench does not listen"))
}

/// What was counted between two looks.
pub(crate) fn between(before: &Counts, after: &Counts) -> Counts {
    let since =
        |(name, count): (&String, &u64)| (name.clone(), count - before.get(name).unwrap_or(&0).min(count));
    after.iter().map(since).collect()
}

/// All counts of all processes together.
pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a Counts>) -> Counts {
    let mut total = Counts::new();
    for (name, count) in all.into_iter().flatten() {
        *total.entry(name.clone()).or_default() += count;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::{Counts, between, sum};

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn counts_are_taken_from_each_other_and_added_by_name() {
        let (before, after) = (counts(&[("a", 3), ("b", 9)]), counts(&[("a", 10), ("b", 9), ("c", 2)]));
        let spent = between(&before, &after);
        assert_eq!(spent, counts(&[("a", 7), ("b", 0), ("c", 2)]));
        assert_eq!(sum([&spent, &before]), counts(&[("a", 10), ("b", 9), ("c", 2)]));
        assert_eq!(between(&after, &before), counts(&[("a", 0), ("b", 0)]), "no count goes back");
    }
}
