//! Quantiles.

use serde_json::{Value, json};

/// What is told of many round trips, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summary {
    pub(crate) count: usize,
    pub(crate) lowest: f64,
    pub(crate) p25: f64,
    pub(crate) median: f64,
    pub(crate) p75: f64,
    pub(crate) p99: f64,
}

impl Summary {
    /// Of nanoseconds; those of lost messages are 0 and left out.
    pub(crate) fn of(taken: &[u64]) -> Self {
        let mut sorted: Vec<u64> = taken.iter().copied().filter(|taken| *taken > 0).collect();
        sorted.sort_unstable();
        let at = |part: f64| {
            let place = (part * sorted.len().saturating_sub(1) as f64).round() as usize;
            sorted.get(place).copied().unwrap_or_default() as f64 / 1e3
        };
        Self {
            count: sorted.len(),
            lowest: at(0.0),
            p25: at(0.25),
            median: at(0.5),
            p75: at(0.75),
            p99: at(0.99),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let Self { count, lowest, p25, median, p75, p99 } = *self;
        json!({
            "count": count, "lowest_us": rounded(lowest), "p25_us": rounded(p25),
            "median_us": rounded(median), "p75_us": rounded(p75), "p99_us": rounded(p99),
        })
    }
}

/// To three places.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// The one in the middle.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
