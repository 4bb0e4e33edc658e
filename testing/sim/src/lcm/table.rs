//! How many JOIN_Responses it takes, beside the fact sheet's simulation of LCMsec's discovery.

use super::World;
use super::plan::{Plan, Story};
use folkmoot_pubsub::discovery::Times;
use serde_json::{Value, json};
use std::time::Duration;

/// One setting of the fact sheet: timers, delay ± jitter in microseconds, |P|, then for each |J|
/// the sheet's mean.
struct Setting {
    slow: bool,
    delay: u64,
    jitter: u64,
    old: usize,
    means: &'static [(usize, f64)],
}

const fn setting(slow: bool, delay: u64, jitter: u64, old: usize, means: &'static [(usize, f64)]) -> Setting {
    Setting { slow, delay, jitter, old, means }
}

/// Section 7.2 of the sheet.
static SHEET: [Setting; 12] = [
    setting(
        true,
        20_000,
        10_000,
        0,
        &[(1, 1.0), (2, 1.1), (3, 1.6), (5, 1.8), (8, 2.6), (10, 3.0), (15, 4.1)],
    ),
    setting(
        true,
        20_000,
        10_000,
        10,
        &[(1, 1.6), (2, 2.0), (3, 2.2), (5, 2.9), (8, 3.5), (10, 3.9), (15, 5.4)],
    ),
    setting(
        true,
        250_000,
        50_000,
        0,
        &[(1, 1.0), (2, 1.9), (3, 2.9), (5, 5.2), (8, 9.7), (10, 13.2), (15, 23.4)],
    ),
    setting(
        true,
        250_000,
        50_000,
        10,
        &[(1, 6.7), (2, 9.7), (3, 11.6), (5, 15.6), (8, 21.5), (10, 25.7), (15, 38.9)],
    ),
    setting(false, 200, 0, 0, &[(1, 1.0), (2, 1.2), (5, 1.7), (10, 1.8), (20, 2.0), (30, 2.0)]),
    setting(false, 1_000, 0, 0, &[(1, 1.0), (2, 1.2), (5, 1.5), (10, 1.9), (20, 2.4), (30, 2.5)]),
    setting(false, 5_000, 2_000, 0, &[(1, 1.0), (2, 1.2), (5, 2.5), (10, 4.3), (20, 7.7), (30, 9.6)]),
    setting(false, 10_000, 3_000, 0, &[(1, 1.0), (2, 1.5), (5, 3.5), (10, 6.9), (20, 14.2), (30, 19.7)]),
    setting(false, 20_000, 10_000, 0, &[(1, 1.0), (2, 1.7), (5, 3.5), (10, 7.6), (20, 16.2), (30, 25.0)]),
    setting(false, 40_000, 10_000, 0, &[(1, 1.0), (2, 2.0), (5, 5.0), (10, 11.6), (20, 28.7), (30, 51.7)]),
    setting(false, 200, 0, 10, &[(1, 1.1), (2, 1.3), (5, 1.3), (10, 1.3), (20, 1.6), (30, 1.5)]),
    setting(false, 10_000, 3_000, 10, &[(1, 3.1), (2, 4.8), (5, 8.2), (10, 12.4), (20, 20.4), (30, 26.7)]),
];

/// One number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The timers 1000, 300 ± 200 ms; else 125, 50 ± 20 ms.
    pub slow: bool,
    /// Mean delay one way in microseconds.
    pub delay: u64,
    /// Members before.
    pub old: usize,
    /// Joiners.
    pub new: usize,
    /// JOIN_Responses, the mean of the runs.
    pub mean: f64,
    /// The most of a run.
    pub most: u64,
    /// JOINs of all runs.
    pub joins: u64,
    /// From the first start until all have the key: the mean in milliseconds.
    pub millis: f64,
    /// The sheet's mean.
    pub sheet: f64,
    /// Runs.
    pub runs: u64,
    /// Runs that came to one key.
    pub whole: u64,
}

impl Row {
    /// The mean is at most the sheet's, and every run came to one key with one JOIN a node.
    pub fn holds(&self) -> bool {
        self.mean <= self.sheet && self.whole == self.runs && self.joins == self.new as u64 * self.runs
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({
            "timers": if self.slow { "1000, 300+-200" } else { "125, 50+-20" },
            "delay_us": self.delay, "P": self.old, "J": self.new, "runs": self.runs,
            "responses_mean": self.mean, "responses_most": self.most, "joins": self.joins,
            "until_key_ms": self.millis, "sheet_mean": self.sheet, "whole": self.whole,
        })
    }

    /// For people.
    pub fn line(&self) -> String {
        let timers = if self.slow { "1000, 300±200" } else { "125, 50±20" };
        format!(
            "{timers:<14} {:>6.1} ms  P {:>2}  J {:>2}  {:>5.1} responses, at most {:>2}; sheet {:>4.1}; {} JOINs, key \
             after {:>5.0} ms, {} of {} runs whole{}",
            self.delay as f64 / 1_000.0,
            self.old,
            self.new,
            self.mean,
            self.most,
            self.sheet,
            self.joins,
            self.millis,
            self.whole,
            self.runs,
            if self.holds() { "" } else { "  ABOVE" }
        )
    }
}

/// Plays all settings.
pub fn count(seed: u64, runs: u64) -> Vec<Row> {
    let one = move |setting: &'static Setting| {
        let row = move |(new, sheet): &(usize, f64)| measure(setting, *new, *sheet, (seed, runs));
        setting.means.iter().map(row).collect::<Vec<_>>()
    };
    let half = move |part: &'static [Setting]| part.iter().flat_map(one).collect::<Vec<_>>();
    let (left, right) = SHEET.split_at(SHEET.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(move || half(right));
        let mut rows = half(left);
        rows.extend(other.join().unwrap_or_default());
        rows
    })
}

fn measure(setting: &Setting, new: usize, sheet: f64, (seed, runs): (u64, u64)) -> Row {
    let usual = Times::default();
    let slow = Times {
        first: Duration::from_millis(100),
        spread: Duration::from_millis(400),
        alone: Duration::from_secs(2),
        again: Duration::from_secs(5),
        ..usual
    };
    let mut row = Row {
        slow: setting.slow,
        delay: setting.delay,
        old: setting.old,
        new,
        mean: 0.0,
        most: 0,
        joins: 0,
        millis: 0.0,
        sheet,
        runs,
        whole: 0,
    };
    let mut responses_sum = 0;
    for run in 0..runs {
        let plan = Plan {
            seed: seed.wrapping_mul(1_000).wrapping_add(run),
            story: Story::Start,
            old: setting.old,
            new,
            delay: setting.delay,
            jitter: setting.jitter,
            loss: 0,
            skew: 1,
            domains: 1,
            within: 10_000 + 40_000 * run / runs.max(1),
            times: if setting.slow { slow } else { usual },
        };
        let (responses, joins, micros) = plan.counted();
        responses_sum += responses;
        row.most = row.most.max(responses);
        row.joins += joins;
        row.millis += micros.unwrap_or(0) as f64 / 1_000.0 / runs as f64;
        row.whole += u64::from(micros.is_some());
    }
    row.mean = responses_sum as f64 / runs as f64;
    row
}

impl Plan {
    /// Responses and JOINs from the start of J on, and the time until all share one key.
    fn counted(&self) -> (u64, u64, Option<u64>) {
        let mut world = World::new(self, None);
        let Some(before) = self.first(&mut world) else { return (u64::MAX, 0, None) };
        let begun = world.now;
        let whole = self.second(&mut world);
        let took = world.now - begun;
        world.run(world.now + 2_000_000);
        let sent = world.sent.first().copied().unwrap_or_default();
        let whole = whole && world.is_one();
        (sent.responses - before.responses, sent.joins - before.joins, whole.then_some(took))
    }
}

/// The chart of Figure 9's shape.
///
/// # Errors
/// If it cannot be drawn.
pub fn draw(rows: &[Row]) -> Result<String, Box<dyn std::error::Error>> {
    super::chart::draw(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_nodes_have_their_key_in_a_quarter_of_a_second() {
        let row = measure(&setting(false, 200, 0, 0, &[]), 16, 2.0, (1, 20));
        assert_eq!((row.whole, row.joins), (20, 320));
        assert!(row.millis < 250.0, "{} ms", row.millis);
        assert!(row.mean <= 2.0, "{} responses", row.mean);
    }
}
