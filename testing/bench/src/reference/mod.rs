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
use packet::BODY_BYTES_MAX;
use serde_json::{Value, json};
use std::ops::Range;
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
    let nodes = options.namespaces.len();
    let who = match options.lone {
        Some(lone) => usize::from(lone).saturating_sub(1)..usize::from(lone),
        None => 0..options.senders.map_or(nodes, usize::from),
    };
    if who.end > nodes || nodes < 2 {
        let text = "it needs at least two --namespaces, and as many as --senders or --lone says";
        return Err(Failure::new(Exit::Usage, text));
    }
    if options.lone.is_some() && usize::try_from(options.bytes).unwrap_or(usize::MAX) > BODY_BYTES_MAX {
        return Err(Failure::new(Exit::Usage, "a --lone message has at most 1400 --bytes"));
    }
    let network = Network::open(&options.namespaces)?;
    let told = measure(options, &network, who.clone()).await?;
    let report = report(options, who.len(), &told);
    data(json, &report, || for_people(&report));
    Ok(())
}

async fn measure(
    options: &BenchReference,
    network: &Network,
    who: Range<usize>,
) -> Result<Vec<Told>, Failure> {
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
            sends: who.contains(&number),
            lone: options.lone.is_some(),
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
    let most = |of: fn(&Told) -> f64| told.iter().map(of).fold(0.0, f64::max);
    let slowest =
        options.lone.map(|_| json!({ "p50_us": most(|one| one.p50_us), "p99_us": most(|one| one.p99_us) }));
    let cpu = sum(|one| one.cpu_ns) as f64 / 1_000.0 / sum(|one| one.timed).max(1) as f64;
    json!({
        "bench": "reference", "nodes": told.len(), "senders": senders, "bytes": options.bytes,
        "seconds": options.seconds,
        "minimum": {
            "messages_per_second": (least as f64 / seconds).round(),
            "megabits_per_second": (least as f64 / seconds * f64::from(options.bytes) * 8.0 / 1e6).round(),
        },
        "slowest": slowest,
        "cpu_us_per_message": (cpu * 1_000.0).round() / 1_000.0,
        "packets_lost": sum(|one| one.lost), "given_up": sum(|one| one.given_up),
        "dropped_by_system": sum(|one| one.dropped_by_system),
    })
}

fn for_people(report: &Value) -> String {
    let cell = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
    let minimum = report.get("minimum");
    let of = |field: &str| cell(minimum.and_then(|minimum| minimum.get(field)));
    let slowest = report.get("slowest");
    let late = |field: &str| cell(slowest.and_then(|slowest| slowest.get(field)));
    let rows = [
        ("messages a second at the slowest receiver", of("messages_per_second")),
        ("megabits a second", of("megabits_per_second")),
        ("microseconds of processor time per message and node", cell(report.get("cpu_us_per_message"))),
        ("packets lost", cell(report.get("packets_lost"))),
        ("microseconds that a lone message takes: median", late("p50_us")),
        ("of 99 in 100", late("p99_us")),
    ];
    let rows = rows.into_iter().filter(|(_, number)| !number.is_empty());
    let rows: Vec<Vec<String>> = rows.map(|(what, number)| vec![what.to_owned(), number]).collect();
    table(&["WHAT", "NUMBER"], &rows)
}
