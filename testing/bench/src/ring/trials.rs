//! Modes that disturb members which send, and count the configurations that this costs: none is
//! the aim.

use super::herd::Herd;
use super::words::{Counts, Load, Order, Pace, Said, between, now};
use crate::args::{BenchRing, RingMode};
use folkmoot_cli::exit::Failure;
use folkmoot_cli::progress::Progress;
use serde_json::{Value, json};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What a sender sends a second.
const RATE: f64 = 100.0;
/// Between two pauses, before the first and after the last.
const QUIET: Duration = Duration::from_secs(1);

/// Disturbs the members as the options say.
pub(crate) async fn trial(
    herd: &mut Herd,
    options: &BenchRing,
    progress: &Progress,
) -> Result<Value, Failure> {
    let pauses = options.mode == RingMode::Pause;
    let pause = Duration::from_millis(options.pause.into());
    let lasts = match pauses {
        true => (QUIET + pause) * u32::from(options.times) + QUIET,
        false => Duration::from_secs(options.seconds.into()),
    };
    let all = herd.all();
    let before = herd.counts(&all).await?;
    let senders = options.who();
    let until = now() + u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX);
    let pace = Pace::Rate(options.rate.unwrap_or(RATE));
    let load = Load { until, bytes: options.bytes, service: options.service, pace };
    herd.order(&senders, &Order::Load(load)).await?;
    if pauses {
        for _ in 0..options.times {
            tokio::time::sleep(QUIET).await;
            herd.pause(all.len().saturating_sub(1), pause).await?;
        }
        tokio::time::sleep(QUIET).await;
    } else {
        let _busy = Busy::start(threads(options));
        tokio::time::sleep(lasts).await;
    }
    progress.step();
    let sent = |said: Said| if let Said::Sent(sent) = said { Some(sent) } else { None };
    let sent: u64 = herd.expect(&senders, "the end of sending", sent).await?.into_iter().sum();
    let after = herd.counts(&all).await?;
    progress.step();
    let spent: Vec<Counts> =
        before.iter().zip(&after).map(|(before, after)| between(before, after)).collect();
    Ok(json!({
        "bench": "ring", "mode": options.mode, "nodes": all.len(), "sent": sent,
        "seconds": lasts.as_secs(), "times": pauses.then_some(options.times),
        "pause_ms": pauses.then_some(options.pause), "busy": (!pauses).then(|| threads(options)),
        "trip_ms": options.trip, "loss_percent": options.loss,
        "configurations": spent.iter().filter_map(|counts| counts.get("configurations").copied()).max(),
    }))
}

fn threads(options: &BenchRing) -> usize {
    let each = || thread::available_parallelism().map_or(1, usize::from);
    options.busy.map_or_else(each, usize::from)
}

/// Threads that do nothing as fast as they can, until this is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start(threads: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let stop = stop.clone();
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        Self(stop)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Busy;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    #[test]
    fn threads_that_work_end_with_what_started_them() {
        let busy = Busy::start(2);
        let stop = busy.0.clone();
        assert!(Arc::strong_count(&stop) >= 3, "they hold it while they work");
        drop(busy);
        let began = Instant::now();
        while Arc::strong_count(&stop) > 1 {
            assert!(began.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
