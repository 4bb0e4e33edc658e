//! `folkmoot bench ring`: messages a second and latency of the ordered, sealed path, and proof that
//! all have one order.

use crate::args::BenchRing;
use folkmoot_cli::children::{Burst, Member, Program, Workshop, burst_all, found, micros, shared};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, short, table};
use serde_json::{Value, json};
use std::time::Duration;

/// Time to warm up, not measured.
const WARM_UP: Duration = Duration::from_secs(1);
/// Longest wait for the first view, and for the last messages.
const SETTLE: Duration = Duration::from_secs(30);

/// Runs the bench; exit code 1 if the orders differ. `folkmoot` is the first word of the command
/// line of a process that acts as that program.
pub(crate) async fn ring(options: &BenchRing, folkmoot: &'static str, json: bool) -> Result<(), Failure> {
    if options.senders > options.nodes {
        return Err(Failure::new(Exit::Usage, "there cannot be more --senders than --nodes"));
    }
    let workshop = Workshop::open("bench", false)?;
    let (program, mut members) = (Program::own(Some(folkmoot))?, Vec::new());
    for number in 1..=options.nodes {
        members.push(Member::new(&workshop, &program, &format!("n{number}")).await?);
    }
    let founders: Vec<&Member> = members.iter().collect();
    let charter = found(&founders, &workshop.path().join("charter.toml"), ("bench", 1), &[]).await?;
    let progress = Progress::steps("steps: members run, all is sent, all is delivered", 3);
    let result = measure(&mut members, &charter, options, &progress).await;
    drop(progress);
    for member in &mut members {
        member.stop().await;
    }
    let report = result?;
    data(json, &report, || for_people(&report));
    if report.get("same_order") == Some(&Value::Bool(true)) {
        return Ok(());
    }
    Err(Failure::new(Exit::No, "the members did not deliver the same messages in the same order"))
}

async fn measure(
    members: &mut [Member],
    charter: &std::path::Path,
    options: &BenchRing,
    progress: &Progress,
) -> Result<Value, Failure> {
    let mut known: Vec<String> = Vec::new();
    for member in members.iter_mut() {
        member.start(charter, &known, false).await?;
        known.push(member.locator.clone());
    }
    let all: Vec<&Member> = members.iter().collect();
    shared(&all, None, SETTLE).await?;
    progress.step();
    for member in &all {
        member.mark().await?;
    }
    let seconds = f64::from(options.seconds);
    let burst = Burst {
        count: 0,
        bytes: options.bytes,
        service: options.service,
        seconds: seconds + WARM_UP.as_secs_f64() + 0.1,
        window: options.window,
    };
    let from = micros() + u64::try_from(WARM_UP.as_micros()).unwrap_or(0);
    let to = from + u64::from(options.seconds) * 1_000_000;
    let senders = all.get(..usize::from(options.senders)).unwrap_or_default();
    let sent = progress.during(burst_all(senders, burst)).await?;
    progress.step();
    let mut receivers = Vec::new();
    for member in &all {
        let journal = member.heard(sent, (from, to), SETTLE).await?;
        receivers.push(receiver(member, &journal, seconds, options.bytes));
    }
    progress.step();
    Ok(report(options, sent, receivers))
}

fn receiver(member: &Member, journal: &Value, seconds: f64, bytes: u32) -> Value {
    let timed = journal.get("timed").and_then(Value::as_f64).unwrap_or(0.0);
    let field = |name: &str| journal.get(name).cloned().unwrap_or(Value::Null);
    json!({
        "member": member.name, "messages_per_second": (timed / seconds).round(),
        "megabits_per_second": (timed / seconds * f64::from(bytes) * 8.0 / 1e6).round(),
        "p50_us": field("p50_us"), "p99_us": field("p99_us"), "max_us": field("max_us"),
        "delivered": field("count"), "order_digest": field("digest"),
    })
}

fn report(options: &BenchRing, sent: u64, receivers: Vec<Value>) -> Value {
    let digests: Vec<&Value> = receivers.iter().filter_map(|receiver| receiver.get("order_digest")).collect();
    let same = digests.windows(2).all(|pair| pair.first() == pair.last());
    let least = |field: &str| {
        let values = receivers.iter().filter_map(|receiver| receiver.get(field).and_then(Value::as_f64));
        values.reduce(f64::min)
    };
    let minimum = json!({
        "messages_per_second": least("messages_per_second"), "megabits_per_second": least("megabits_per_second"),
    });
    json!({
        "bench": "ring", "nodes": options.nodes, "senders": options.senders, "bytes": options.bytes,
        "service": options.service, "seconds": options.seconds, "window": options.window, "sent": sent,
        "same_order": same, "minimum": minimum, "receivers": receivers,
    })
}

fn for_people(report: &Value) -> String {
    let list = report.get("receivers").and_then(Value::as_array).into_iter().flatten();
    let fields = [
        "member",
        "messages_per_second",
        "megabits_per_second",
        "p50_us",
        "p99_us",
        "delivered",
        "order_digest",
    ];
    let mut rows: Vec<Vec<String>> = list
        .map(|receiver| {
            fields
                .iter()
                .map(|field| match receiver.get(*field) {
                    Some(Value::String(text)) => short(text).to_owned(),
                    Some(value) => value.to_string(),
                    None => String::new(),
                })
                .collect()
        })
        .collect();
    let least = report.get("minimum").unwrap_or(&Value::Null);
    let cell = |field: &str| least.get(field).map(Value::to_string).unwrap_or_default();
    rows.push(vec!["minimum".into(), cell("messages_per_second"), cell("megabits_per_second")]);
    table(&["RECEIVER", "MSG/S", "MBIT/S", "P50 US", "P99 US", "DELIVERED", "ORDER"], &rows)
}
