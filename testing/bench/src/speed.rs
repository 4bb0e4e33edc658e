//! How fast the processors are at the moment.
//!
//! A virtual processor is often one of two threads of a core, and somebody else's work on the other
//! thread makes it slower by a third. The system calls no time stolen then. So the meter hashes a
//! text on each processor, 200 times a second, and reads the thread's clock before and after it.
//!
//! Of six pieces of work (multiplying, shifting, sorting, a tree, copying, hashing), this one follows
//! the rate of `bench ring` best: over 14 runs from 107,000 to 166,000 messages a second, the
//! correlation was 0.97. The text is short, so that it matters little what else is in the caches.

use crate::meter::worked;
use folkmoot_cli::exit::Failure;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::hash::{DefaultHasher, Hasher as _};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Bytes that are hashed, and how often in one look. That takes some 30 µs, less than 1 % of a
/// processor's time.
const TEXT: usize = 1_024;
const TEXTS: usize = 128;
/// From one look to the next.
const EVERY: Duration = Duration::from_millis(5);

/// A thread for each processor that this process may use. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct SpeedMeter {
    /// Bits of an `f64`: bytes a nanosecond.
    each: Vec<Arc<AtomicU64>>,
    end: Arc<AtomicBool>,
}

impl SpeedMeter {
    pub(crate) fn start() -> Result<Self, Failure> {
        let may = sched_getaffinity(None).map_err(Failure::bug)?;
        let end = Arc::new(AtomicBool::new(false));
        let processors = (0..CpuSet::MAX_CPU).filter(|processor| may.is_set(*processor));
        let each = processors.map(|processor| {
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

fn watch(processor: usize, last: &AtomicU64, end: &AtomicBool) {
    let mut only = CpuSet::new();
    only.set(processor);
    // Without its place the look is of whatever processor the thread is on.
    let _ = sched_setaffinity(None, &only);
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

#[cfg(test)]
mod tests {
    use super::SpeedMeter;

    #[test]
    fn every_processor_has_a_speed() {
        let meter = SpeedMeter::start().unwrap();
        assert!(!meter.each.is_empty());
        // Slower than a byte in a microsecond, or faster than 100 in a nanosecond: that is not the
        // work that was meant.
        assert!((0.001..100.0).contains(&meter.now()), "{}", meter.now());
    }
}
