//! `folkmoot bench ring`: messages a second, latency and processor time of the ordered, sealed
//! path, how fast the members follow a change, and proof that all have one order.
//!
//! ```text
//!   bench --Order, Said: pipes--> member, member, member     this program again, words.rs
//!                                    \_______|_______/
//!                             loopback, or a namespace each
//! ```

mod changes;
mod herd;
mod load;
mod member;
mod tally;
mod trials;
mod words;

pub(crate) use herd::{AS_MEMBER, read, spawn};
pub(crate) use member::dropped_by_system;
pub(crate) use tally::percentiles;
pub(crate) use words::{Gaps, line, now, say};

use crate::args::{BenchRing, RingMode};
use crate::namespaces::Network;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use folkmoot_cli::values::Multicast;
use herd::Herd;
use serde_json::Value;
use std::time::Duration;
use tokio::runtime::Builder;
use words::{Paths, Start};

/// Longest wait for a view, or for the last messages.
const SETTLE: Duration = Duration::from_secs(30);

/// A process that is a member; `start` is the rest of its command line.
pub(crate) fn as_member(start: &str) -> Result<(), Failure> {
    let start: Start = serde_json::from_str(start).map_err(Failure::bug)?;
    let mut builder = match start.threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(start.threads.max(1)).enable_all().build().map_err(Failure::bug)?;
    // A task wakes another one on the same thread sooner than it wakes the main thread.
    let done = runtime.block_on(async { tokio::spawn(member::member(start)).await.map_err(Failure::bug)? });
    // A thread that still waits for the standard input must not hold up the end.
    runtime.shutdown_background();
    done
}

/// Runs the bench; exit code 1 if the orders differ.
pub(crate) async fn ring(options: &BenchRing, json: bool) -> Result<(), Failure> {
    if options.who().iter().any(|number| *number >= options.nodes()) {
        return Err(Failure::new(Exit::Usage, "there are fewer --nodes than --senders or --from say"));
    }
    if options.nodes() < 2 && options.mode.is_change() {
        return Err(Failure::new(Exit::Usage, "this --mode needs at least two --nodes"));
    }
    if options.mode == RingMode::Admit {
        options.check_strangers()?;
    }
    if options.mode == RingMode::Form {
        return form(options, json).await;
    }
    let network = options.network()?;
    let progress = if options.mode == RingMode::Idle {
        Progress::steps("steps: members run, and nothing happens", 2)
    } else if options.mode.is_trial() {
        Progress::steps("steps: members run, are disturbed, and have sent", 3)
    } else if options.mode.is_change() {
        Progress::steps("steps: members run, and each change", usize::from(options.times) + 1)
    } else {
        Progress::steps("steps: members run, all is sent, all is delivered", 3)
    };
    let mut herd = Herd::found(options.nodes(), options.each(), network, SETTLE).await?;
    progress.step();
    let measured = if options.mode == RingMode::Idle {
        progress.during(changes::idle(&mut herd, options, &progress)).await
    } else if options.mode.is_trial() {
        progress.during(trials::trial(&mut herd, options, &progress)).await
    } else if options.mode.is_change() {
        progress.during(changes::changes(&mut herd, options, &progress)).await
    } else {
        progress.during(load::load(&mut herd, options, &progress)).await
    };
    drop(progress);
    herd.end().await;
    let report = measured?;
    data(json, &report, || for_people(&report));
    if report.get("same_order") == Some(&Value::Bool(false)) {
        return Err(Failure::new(
            Exit::No,
            "the members did not deliver the same messages in the same order",
        ));
    }
    Ok(())
}

/// Founds groups, one after another, and reports how long that took.
async fn form(options: &BenchRing, json: bool) -> Result<(), Failure> {
    let progress = Progress::steps("steps: each group", options.times.into());
    let mut formed = Vec::new();
    for _ in 0..options.times {
        let herd = Herd::found(options.nodes(), options.each(), options.network()?, SETTLE);
        let mut herd = progress.during(herd).await?;
        formed.push(herd.formed);
        herd.end().await;
        progress.step();
    }
    drop(progress);
    let report = changes::forms(options, &formed);
    data(json, &report, || for_people(&report));
    Ok(())
}

fn for_people(report: &Value) -> String {
    if let Some(medians) = report.get("median_ms").and_then(Value::as_object) {
        let rows: Vec<Vec<String>> =
            medians.iter().map(|(what, time)| vec![what.replace('_', " "), time.to_string()]).collect();
        let took = table(&["WHAT", "MS"], &rows);
        let changes = report.get("configurations").is_some();
        return if changes { format!("{took}\n{}", configurations(report)) } else { took };
    }
    if let Some(cpu) = report.get("cpu_percent") {
        let row = |what: &str, of: &Value| {
            let cell = |field: &str| of.get(field).map(Value::to_string).unwrap_or_default();
            vec![what.to_owned(), cell("mean"), cell("most")]
        };
        let packets = report.get("packets_per_second").unwrap_or(&Value::Null);
        let rows = [row("processor time, %", cpu), row("packets sent a second", packets)];
        return format!("{}\n{}", table(&["EACH MEMBER", "MEAN", "MOST"], &rows), configurations(report));
    }
    if report.get("receivers").is_none() {
        return configurations(report);
    }
    let each = report.get("each").and_then(Value::as_object).into_iter().flatten();
    let counted: Vec<Vec<String>> =
        each.map(|(what, count)| vec![what.replace('_', " "), count.to_string()]).collect();
    let counted = table(&["COUNTED", "NUMBER"], &counted);
    format!("{}\n{}\n\n{counted}", receivers(report), configurations(report))
}

/// How many one member installed at most meanwhile.
fn configurations(report: &Value) -> String {
    format!("configurations: {}", report.get("configurations").unwrap_or(&Value::Null))
}

fn receivers(report: &Value) -> String {
    let fields = [
        "member",
        "messages_per_second",
        "megabits_per_second",
        "p50_us",
        "p99_us",
        "cpu_us_per_message",
        "delivered",
        "order",
    ];
    let cell = |of: &Value, field: &str| match of.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let list = report.get("receivers").and_then(Value::as_array).into_iter().flatten();
    let mut rows: Vec<Vec<String>> =
        list.map(|receiver| fields.iter().map(|field| cell(receiver, field)).collect()).collect();
    let (least, most) = (report.get("minimum"), report.get("slowest"));
    let of = |values: Option<&Value>, field| values.map(|values| cell(values, field)).unwrap_or_default();
    rows.push(vec![
        "slowest".into(),
        of(least, "messages_per_second"),
        of(least, "megabits_per_second"),
        of(most, "p50_us"),
        of(most, "p99_us"),
        cell(report, "cpu_us_per_message"),
    ]);
    table(&["RECEIVER", "MSG/S", "MBIT/S", "P50 US", "P99 US", "CPU US", "DELIVERED", "ORDER"], &rows)
}

impl RingMode {
    /// Whether it changes who is there, and sends nothing.
    fn is_change(self) -> bool {
        matches!(self, Self::Kill | Self::Heal | Self::Join | Self::Admit)
    }

    /// Whether it disturbs members that send.
    fn is_trial(self) -> bool {
        matches!(self, Self::Pause | Self::Busy)
    }
}

impl BenchRing {
    fn check_strangers(&self) -> Result<(), Failure> {
        let usage = |text: &str| Err(Failure::new(Exit::Usage, text));
        if !self.namespaces.is_empty() {
            return usage("strangers have no --namespaces of their own: use --nodes");
        }
        if self.nodes() + usize::from(self.times) > folkmoot_base::limits::NODES_MAX {
            return usage("a ring has at most 64 members: --nodes and --times are too many together");
        }
        Ok(())
    }

    fn network(&self) -> Result<Option<Network>, Failure> {
        let names = self.namespaces.as_slice();
        (!names.is_empty()).then(|| Network::open(names)).transpose()
    }

    /// What each member gets: threads, whether it may use multicast, and faults of its paths.
    fn each(&self) -> (usize, bool, Paths) {
        let paths = Paths { trip: self.trip, loss: self.loss };
        (self.threads.into(), self.multicast == Multicast::Auto, paths)
    }

    fn nodes(&self) -> usize {
        if self.namespaces.is_empty() { usize::from(self.nodes) } else { self.namespaces.len() }
    }

    /// The numbers of those that send, from 0 on.
    fn who(&self) -> Vec<usize> {
        if let Some(from) = self.from {
            return vec![usize::from(from).saturating_sub(1)];
        }
        let alone = self.mode == RingMode::Latency;
        (0..self.senders.map_or(if alone { 1 } else { self.nodes() }, usize::from)).collect()
    }
}
