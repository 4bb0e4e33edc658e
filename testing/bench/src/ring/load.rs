//! Modes that send: throughput, and the latency of lone messages.

use super::herd::Herd;
use super::words::{Counts, Heard, Load, Order, Pace, Said, between, now, sum};
use crate::args::{BenchRing, RingMode};
use crate::speed::SpeedMeter;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::progress::Progress;
use folkmoot_cli::values::Ordering;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Time to warm up, not measured.
const WARM_UP: Duration = Duration::from_secs(1);
/// Sending goes on for so long after the measured time, so that its end is not quieter.
const AFTER: Duration = Duration::from_millis(100);

/// How often the senders are told how fast the processors are.
const TELL: Duration = Duration::from_millis(10);

/// Sends for a while, and reports what each receiver had.
pub(crate) async fn load(
    herd: &mut Herd,
    options: &BenchRing,
    progress: &Progress,
) -> Result<Value, Failure> {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let seconds = Duration::from_secs(options.seconds.into());
    let from = now() + nanos(WARM_UP);
    let to = from + nanos(seconds);
    let all = herd.all();
    // All have marked before anybody sends: they obey in turn, and answer.
    herd.order(&all, &Order::Mark { from, to, service: options.service }).await?;
    let before = herd.counts(&all).await?;
    let senders = options.who();
    let order = Load {
        until: to + nanos(AFTER),
        bytes: options.bytes,
        service: options.service,
        pace: pace(options),
    };
    herd.order(&senders, &Order::Load(order)).await?;
    let speed = if options.at_speed.is_some() || options.speed {
        Some(attend(herd, options, (from, to)).await?)
    } else {
        tokio::time::sleep(WARM_UP + seconds).await;
        None
    };
    tokio::time::sleep(AFTER).await;
    let sent = |said: Said| if let Said::Sent(sent) = said { Some(sent) } else { None };
    let sent: u64 = herd.expect(&senders, "the end of sending", sent).await?.into_iter().sum();
    progress.step();
    let told = if options.service == Ordering::Unreliable {
        // Some may be lost, so nobody knows how many to wait for.
        tokio::time::sleep(AFTER).await;
        herd.tally(0).await?
    } else {
        herd.tally(sent).await?
    };
    progress.step();
    let after = herd.counts(&all).await?;
    let run: Vec<Counts> = before.iter().zip(&after).map(|(before, after)| between(before, after)).collect();
    let installed = run.iter().filter_map(|counts| counts.get("configurations").copied()).max();
    let mut report = report(options, herd.formed.1, sent, &told);
    if let Some(report) = report.as_object_mut() {
        report.insert("configurations".into(), installed.unwrap_or(0).into());
        report.insert("speed".into(), speed.map(round).into());
    }
    Ok(report)
}

/// Measures how fast the processors are until the measured time ends, and tells the senders if
/// their rate follows that. The mean of the measured time.
async fn attend(herd: &mut Herd, options: &BenchRing, (from, to): (u64, u64)) -> Result<f64, Failure> {
    let meter = SpeedMeter::start()?;
    let (mut sum, mut looks) = (0.0, 0_u32);
    while now() < to {
        tokio::time::sleep(TELL).await;
        let speed = meter.now();
        if now() >= from {
            (sum, looks) = (sum + speed, looks + 1);
        }
        if let Some(meant) = options.at_speed {
            herd.order(&options.who(), &Order::Speed(speed / meant)).await?;
        }
    }
    Ok(sum / f64::from(looks.max(1)))
}

fn pace(options: &BenchRing) -> Pace {
    match (options.mode, options.rate) {
        (_, Some(rate)) => Pace::Rate(rate),
        (RingMode::Latency, None) => Pace::Lone,
        _ => Pace::Window(options.window),
    }
}

fn report(options: &BenchRing, formed: Duration, sent: u64, told: &[(Heard, Counts)]) -> Value {
    let seconds = f64::from(options.seconds);
    let per_second = |timed: u64| (timed as f64 / seconds).round();
    let megabits = |timed: u64| (timed as f64 / seconds * f64::from(options.bytes) * 8.0 / 1e6).round();
    let receivers: Vec<Value> = (1..)
        .zip(told)
        .map(|(number, (heard, counts)): (u32, _)| {
            json!({
                "member": format!("n{number}"), "messages_per_second": per_second(heard.timed),
                "megabits_per_second": megabits(heard.timed), "p50_us": heard.p50_us, "p99_us": heard.p99_us,
                "max_us": heard.max_us, "delivered": heard.count, "order": heard.order,
                "cpu_us_per_message": micros_each(counts, heard.timed), "counts": counts,
            })
        })
        .collect();
    let least = told.iter().map(|(heard, _)| heard.timed).min().unwrap_or(0);
    let most = |of: fn(&Heard) -> f64| told.iter().map(|(heard, _)| of(heard)).fold(0.0, f64::max);
    let same = told.windows(2).all(|pair| match pair {
        [(one, _), (other, _)] => one.order == other.order && one.count == other.count,
        _ => true,
    });
    let whole = told.iter().all(|(heard, _)| heard.count == sent);
    // What is unreliable may be missing anywhere.
    let same_order = (options.service != Ordering::Unreliable).then_some(same && whole);
    let fewest = told.iter().map(|(heard, _)| heard.count).min().unwrap_or(0);
    let total = sum(told.iter().map(|(_, counts)| counts));
    let delivered = told.iter().map(|(heard, _)| heard.timed).sum();
    json!({
        "bench": "ring", "mode": options.mode, "nodes": told.len(), "senders": options.who().len(), "from": options.from,
        "bytes": options.bytes, "service": options.service, "seconds": options.seconds,
        "window": options.window, "rate": options.rate, "sent": sent, "same_order": same_order,
        "most_lost": sent.saturating_sub(fewest),
        "threads": options.threads, "formed_ms": formed.as_millis(),
        "minimum": { "messages_per_second": per_second(least), "megabits_per_second": megabits(least) },
        "slowest": {
            "p50_us": most(|heard| heard.p50_us), "p99_us": most(|heard| heard.p99_us),
            "p50_after_others_us": most(|heard| heard.p50_after_others_us),
        },
        "cpu_us_per_message": micros_each(&total, delivered),
        "each": each(&total, delivered, told.len(), seconds), "receivers": receivers,
    })
}

/// Microseconds of processor time for each message that a node delivered.
fn micros_each(counts: &Counts, delivered: u64) -> f64 {
    let nanos = counts.get("cpu_ns").copied().unwrap_or(0);
    round(nanos as f64 / 1_000.0 / delivered.max(1) as f64)
}

fn round(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

/// What all nodes counted together: for each message at each node, and for each wake-up and visit
/// of the token. Drops and repairs are whole numbers of all nodes.
fn each(total: &Counts, delivered: u64, nodes: usize, seconds: f64) -> Map<String, Value> {
    let count = |name: &str| total.get(name).copied().unwrap_or(0);
    let ratio = |over: u64, under: u64| round(over as f64 / under.max(1) as f64);
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| drop(out.insert(name.to_owned(), value));
    let calls = count("send_calls") + count("receive_calls");
    put("datagrams_per_wake_up", ratio(count("datagrams_received"), count("wakes")).into());
    put("datagrams_per_send_call", ratio(count("datagrams_sent"), count("send_calls")).into());
    put("packets_per_visit", ratio(count("packets_numbered"), count("token_visits")).into());
    let of_each = |name: &str| count(name) as f64 / nodes.max(1) as f64 / seconds;
    put("visits_a_second_of_each_node", round(of_each("token_visits")).into());
    put("datagrams_sent_a_second_by_each_node", round(of_each("datagrams_sent")).into());
    put("processor_percent_of_each_node", round(of_each("cpu_ns") / 1e7).into());
    for (name, number) in [
        ("system_calls_per_message", calls),
        ("turns_per_message", count("turns")),
        ("datagrams_received_per_message", count("datagrams_received")),
        ("seals_per_message", count("link_seals") + count("session_seals")),
        ("openings_per_message", count("link_openings") + count("session_openings")),
        ("copied_bytes_per_message", count("copied_bytes")),
    ] {
        put(name, ratio(number, delivered).into());
    }
    for name in [
        "untold",
        "dropped_here",
        "dropped_by_system",
        "socket_full",
        "packets_asked",
        "packets_repaired",
        "tokens_repeated",
    ] {
        put(name, count(name).into());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Counts, each, micros_each};
    use serde_json::json;

    #[test]
    fn counts_become_ratios_and_nothing_is_divided_by_zero() {
        let pairs = [
            ("cpu_ns", 30_000_u64),
            ("wakes", 4),
            ("datagrams_received", 10),
            ("send_calls", 2),
            ("receive_calls", 3),
            ("link_seals", 8),
            ("session_seals", 2),
            ("token_visits", 6),
            ("packets_repaired", 1),
        ];
        let counts: Counts = pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(micros_each(&counts, 10), 3.0);
        let told = each(&counts, 10, 3, 2.0);
        assert_eq!(told["datagrams_per_wake_up"], json!(2.5));
        assert_eq!(told["system_calls_per_message"], json!(0.5));
        assert_eq!(told["seals_per_message"], json!(1.0));
        assert_eq!(told["visits_a_second_of_each_node"], json!(1.0));
        assert_eq!(told["processor_percent_of_each_node"], json!(0.001), "5 µs a second, rounded up");
        assert_eq!(told["packets_repaired"], json!(1));
        assert_eq!(each(&Counts::new(), 0, 0, 1.0)["openings_per_message"], json!(0.0));
    }
}
