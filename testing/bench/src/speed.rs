//! How fast the processors are at the moment.
//!
//! A virtual processor can be one of two threads of a core, and then somebody else's work on the
//! other thread makes it slower, without any time that the system calls stolen. So the meter hashes
//! a text on each processor, 200 times a second, and reads the thread's clock before and after it.
//!
//! Hashing follows the rate of `bench ring` about as well as sorting does, and better than copying
//! (docs/performance.md, "Services"). The text is short, so it matters little what else is in the
//! caches.

use crate::args::BenchSpeed;
use crate::compare::rows_of;
use crate::meter::worked;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::show::{data, table};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hasher as _};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes that are hashed, and how often in one look. That takes some 30 µs, less than 1 % of a
/// processor's time.
const TEXT: usize = 1_024;
const TEXTS: usize = 128;
/// From one look to the next.
const EVERY: Duration = Duration::from_millis(5);
const HUNDREDTH: Duration = Duration::from_millis(10);

/// A thread for each processor that this process may use. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct SpeedMeter {
    /// Bits of an `f64`: bytes a nanosecond.
    each: Vec<Arc<AtomicU64>>,
    end: Arc<AtomicBool>,
}

impl SpeedMeter {
    pub(crate) fn start() -> Result<Self, Failure> {
        let end = Arc::new(AtomicBool::new(false));
        let each = processors()?.into_iter().map(|processor| {
            let last = Arc::new(AtomicU64::new(look()));
            let (shown, until) = (Arc::clone(&last), Arc::clone(&end));
            std::thread::spawn(move || watch(processor, &shown, &until));
            last
        });
        Ok(Self { each: each.collect(), end })
    }

    /// Bytes that one processor hashes in a nanosecond: the mean of all, each at its last look.
    pub(crate) fn now(&self) -> f64 {
        let all = self.each.iter().map(|last| f64::from_bits(last.load(Ordering::Relaxed)));
        all.sum::<f64>() / self.each.len().max(1) as f64
    }
}

impl Drop for SpeedMeter {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

/// Those that this process may use.
fn processors() -> Result<Vec<usize>, Failure> {
    let may = sched_getaffinity(None).map_err(Failure::bug)?;
    Ok((0..CpuSet::MAX_CPU).filter(|processor| may.is_set(*processor)).collect())
}

/// This thread stays on one processor. If it may not, its looks are of whatever processor it is on.
fn stay(processor: usize) {
    let mut only = CpuSet::new();
    only.set(processor);
    let _ = sched_setaffinity(None, &only);
}

fn watch(processor: usize, last: &AtomicU64, end: &AtomicBool) {
    stay(processor);
    while !end.load(Ordering::Relaxed) {
        std::thread::sleep(EVERY);
        last.store(look(), Ordering::Relaxed);
    }
}

/// The bits of what this processor hashes, in bytes a nanosecond.
fn look() -> u64 {
    let text = black_box([0x5a; TEXT]);
    let (took, _) = worked(|| {
        let mut hasher = DefaultHasher::new();
        (0..TEXTS).for_each(|_| hasher.write(black_box(&text)));
        black_box(hasher.finish())
    });
    ((TEXT * TEXTS) as f64 / took.as_nanos().max(1) as f64).to_bits()
}

/// Keeps all processors busy with looks, and prints how fast each was in hundredths of a second.
pub(crate) fn speed(options: &BenchSpeed, json: bool) -> Result<(), Failure> {
    let time = Duration::from_secs(options.seconds.into());
    let busy =
        processors()?.into_iter().map(|number| (number, std::thread::spawn(move || hurry(number, time))));
    let each: Vec<Value> = busy
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(number, thread)| of_processor(number, thread.join().unwrap_or_default()))
        .collect();
    let report = json!({ "bench": "speed", "seconds": options.seconds, "processors": each });
    let fields = ["processor", "p1", "p10", "p50", "p90", "p99"];
    data(json, &report, || {
        let head = ["PROCESSOR", "P1", "P10", "MEDIAN", "P90", "P99"];
        table(&head, &rows_of(&report, "processors", &fields))
    });
    Ok(())
}

/// The mean of all looks in each hundredth of a second.
fn hurry(processor: usize, time: Duration) -> Vec<f64> {
    stay(processor);
    let (began, mut means) = (Instant::now(), Vec::new());
    while began.elapsed() < time {
        let (hundredth, mut sum, mut looks) = (Instant::now(), 0.0, 0_u32);
        while hundredth.elapsed() < HUNDREDTH {
            (sum, looks) = (sum + f64::from_bits(look()), looks + 1);
        }
        means.push(sum / f64::from(looks.max(1)));
    }
    means
}

fn of_processor(number: usize, mut means: Vec<f64>) -> Value {
    means.sort_unstable_by(f64::total_cmp);
    let part = |share: usize| {
        let place = (means.len() * share / 100).min(means.len().saturating_sub(1));
        means.get(place).map(|speed| (speed * 1_000.0).round() / 1_000.0)
    };
    json!({
        "processor": number, "p1": part(1), "p10": part(10), "p50": part(50), "p90": part(90), "p99": part(99),
    })
}

#[cfg(test)]
mod tests {
    use super::{SpeedMeter, of_processor};
    use serde_json::json;

    #[test]
    fn the_slow_hundredths_come_first() {
        let told = of_processor(3, (0..200).rev().map(f64::from).collect());
        let wanted =
            json!({ "processor": 3, "p1": 2.0, "p10": 20.0, "p50": 100.0, "p90": 180.0, "p99": 198.0 });
        assert_eq!(told, wanted);
        assert_eq!(of_processor(0, Vec::new())["p50"], json!(null));
    }

    #[test]
    fn every_processor_has_a_speed() {
        let meter = SpeedMeter::start().unwrap();
        assert!(!meter.each.is_empty());
        // Slower than a byte in a microsecond, or faster than 100 in a nanosecond: that is not the
        // work that was meant.
        assert!((0.001..100.0).contains(&meter.now()), "{}", meter.now());
    }
}
