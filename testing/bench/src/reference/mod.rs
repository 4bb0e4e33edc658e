//! `folkmoot bench reference`: what this machine can do at best. Multicast of packets that are
//! sealed twice, in trains (UDP_SEGMENT), to receivers that open them twice; no order, and nothing
//! is repaired.

mod node;
mod packet;

use crate::args::BenchReference;
use crate::namespaces::Network;
use crate::ring::{line, now, read, spawn};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::show::{data, table};
use node::{Start, Told};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;

/// The first word of the command line of a process that is a node of the reference.
pub(crate) const AS_REFERENCE: &str = "--as-reference";
/// Time for the processes to start, and to warm up; neither is measured.
const LEAD: Duration = Duration::from_millis(500);
const WARM_UP: Duration = Duration::from_millis(500);
/// Longest wait for the processes after the end.
const REST: Duration = Duration::from_secs(10);

/// A process that is a node; `start` is the rest of its command line.
pub(crate) async fn as_reference(start: &str) -> Result<(), Failure> {
    node::node(serde_json::from_str(start).map_err(Failure::bug)?).await
}

/// Runs the bench.
pub(crate) async fn reference(options: &BenchReference, json: bool) -> Result<(), Failure> {
    let senders = options.senders.map_or(options.namespaces.len(), usize::from);
    if senders > options.namespaces.len() || options.namespaces.len() < 2 {
        let text = "it needs at least two --namespaces, and at least as many as --senders";
        return Err(Failure::new(Exit::Usage, text));
    }
    let network = Network::open(&options.namespaces)?;
    let told = measure(options, &network, senders).await?;
    let report = report(options, senders, &told);
    data(json, &report, || for_people(&report));
    Ok(())
}

async fn measure(options: &BenchReference, network: &Network, senders: usize) -> Result<Vec<Told>, Failure> {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let begin = now() + nanos(LEAD);
    let (from, length) = (begin + nanos(WARM_UP), Duration::from_secs(options.seconds.into()));
    let to = from + nanos(length);
    let addresses: Vec<_> = (0..network.names().len()).filter_map(|number| network.address(number)).collect();
    let (tell, mut told) = mpsc::channel(network.names().len());
    let mut children = Vec::new();
    for number in 0..addresses.len() {
        let start = Start {
            number: u8::try_from(number).map_err(Failure::bug)?,
            addresses: addresses.clone(),
            senders: u8::try_from(senders).map_err(Failure::bug)?,
            bytes: options.bytes,
            send: (begin, to + nanos(Duration::from_millis(50))),
            measure: (from, to),
        };
        let (child, stdin, stdout) = spawn(&network.enter(number), AS_REFERENCE, line(&start)?.trim())?;
        tokio::spawn(read::<Told>(number, stdout, tell.clone()));
        children.push((child, stdin));
    }
    drop(tell);
    let mut all = vec![None; addresses.len()];
    let end = tokio::time::Instant::now() + LEAD + WARM_UP + length + REST;
    while let Ok(Some((number, one))) = tokio::time::timeout_at(end, told.recv()).await {
        all.iter_mut().skip(number).take(1).for_each(|slot| *slot = Some(one.clone()));
    }
    let all: Vec<Told> = all.into_iter().flatten().collect();
    if all.len() < addresses.len() {
        return Err(Failure::new(Exit::No, "a node of the reference did not come to its end"));
    }
    Ok(all)
}

fn report(options: &BenchReference, senders: usize, told: &[Told]) -> Value {
    let seconds = f64::from(options.seconds);
    let least = told.iter().map(|one| one.timed).min().unwrap_or(0);
    let sum = |of: fn(&Told) -> u64| told.iter().map(of).sum::<u64>();
    let cpu = sum(|one| one.cpu_ns) as f64 / 1_000.0 / sum(|one| one.timed).max(1) as f64;
    json!({
        "bench": "reference", "nodes": told.len(), "senders": senders, "bytes": options.bytes,
        "seconds": options.seconds,
        "minimum": {
            "messages_per_second": (least as f64 / seconds).round(),
            "megabits_per_second": (least as f64 / seconds * f64::from(options.bytes) * 8.0 / 1e6).round(),
        },
        "cpu_us_per_message": (cpu * 1_000.0).round() / 1_000.0,
        "packets_lost": sum(|one| one.lost), "given_up": sum(|one| one.given_up),
        "dropped_by_system": sum(|one| one.dropped_by_system),
    })
}

fn for_people(report: &Value) -> String {
    let cell = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
    let minimum = report.get("minimum");
    let of = |field: &str| cell(minimum.and_then(|minimum| minimum.get(field)));
    let rows = [
        ("messages a second at the slowest receiver", of("messages_per_second")),
        ("megabits a second", of("megabits_per_second")),
        ("microseconds of processor time per message and node", cell(report.get("cpu_us_per_message"))),
        ("packets lost", cell(report.get("packets_lost"))),
    ];
    table(&["WHAT", "NUMBER"], &rows.map(|(what, number)| vec![what.to_owned(), number]))
}
