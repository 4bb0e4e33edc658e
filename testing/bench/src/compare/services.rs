//! What each service costs against agreed order, and what agreed order is like below its best rate.

use super::{Bench, Outcome, median, round, rows_of};
use clap::ValueEnum as _;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::show::{data, table};
use folkmoot_cli::values::Ordering;
use serde_json::{Value, json};

/// The part of the best rate at which latency is measured.
const BELOW: f64 = 0.8;

/// All runs of one service with messages of one size.
struct Row {
    bytes: u32,
    service: Ordering,
    runs: Vec<Outcome>,
}

impl Row {
    fn rate(&self) -> f64 {
        median(self.runs.iter().map(|run| run.messages_per_second).collect()).unwrap_or(0.0)
    }
}

/// Agreed order below its best rate, with messages of one size.
struct Below {
    bytes: u32,
    /// Messages a second that all together sent in the last run; those before it were at 80 % of
    /// the medians of their time.
    rate: f64,
    runs: Vec<Outcome>,
}

/// Runs all in turn, and prints medians and ratios. Agreed order below its best rate has a run in
/// each round, at a part of the median so far: a host that becomes slower is slower for both.
pub(super) async fn services(bench: &Bench<'_>, json: bool) -> Result<(), Failure> {
    let all = Ordering::value_variants();
    let progress = bench.progress(bench.sizes.len() * (all.len() + 1));
    let (mut rows, mut below) = (Vec::new(), Vec::new());
    for bytes in bench.sizes.iter().copied() {
        let start = rows.len();
        rows.extend(all.iter().map(|service| Row { bytes, service: *service, runs: Vec::new() }));
        let mut slower = Below { bytes, rate: 0.0, runs: Vec::new() };
        for _ in 0..bench.options.rounds {
            for row in rows.iter_mut().skip(start) {
                row.runs.push(progress.during(run(bench, row, None)).await?);
                progress.step();
            }
            let agreed = rows.iter().skip(start).find(|row| row.service == Ordering::Agreed);
            let Some(agreed) = agreed else { continue };
            slower.rate = agreed.rate() * BELOW;
            let rate = slower.rate / bench.senders as f64;
            slower.runs.push(progress.during(run(bench, agreed, Some(rate))).await?);
            progress.step();
        }
        below.push(slower);
    }
    drop(progress);
    let report = report(bench, &rows, &below);
    data(json, &report, || for_people(&report));
    Ok(())
}

async fn run(bench: &Bench<'_>, row: &Row, rate: Option<f64>) -> Result<Outcome, Failure> {
    let (senders, rate) = (bench.senders.to_string(), rate.map(|rate| rate.to_string()));
    let service = row.service.to_possible_value();
    let service = service.as_ref().map_or("agreed", |service| service.get_name());
    let mut words = vec!["--service", service, "--senders", &senders];
    words.extend(rate.iter().flat_map(|rate| ["--rate", rate]));
    bench.own("ring", row.bytes, &words).await
}

fn report(bench: &Bench<'_>, rows: &[Row], below: &[Below]) -> Value {
    let services = rows.iter().map(|row| {
        let agreed = rows.iter().find(|one| one.bytes == row.bytes && one.service == Ordering::Agreed);
        let rate = agreed.map(Row::rate).filter(|rate| *rate > 0.0);
        json!({
            "service": row.service, "bytes": row.bytes, "messages_per_second": row.rate().round(),
            "to_agreed": rate.map(|rate| round(row.rate() / rate)),
        })
    });
    let below = below.iter().map(|below| {
        let late =
            |of: fn(&Outcome) -> Option<f64>| -> Vec<f64> { below.runs.iter().filter_map(of).collect() };
        let slow = late(|run| run.p99_us);
        json!({
            "bytes": below.bytes, "messages_per_second": below.rate.round(), "p99_us_of_each_run": slow,
            "p50_us": median(late(|run| run.p50_us)), "p99_us": median(slow.clone()),
        })
    });
    json!({
        "bench": "compare", "mode": bench.options.mode, "nodes": bench.options.nodes, "senders": bench.senders,
        "seconds": bench.options.seconds, "rounds": bench.options.rounds,
        "services": services.collect::<Vec<_>>(), "below_the_best_rate": below.collect::<Vec<_>>(),
    })
}

fn for_people(report: &Value) -> String {
    let services = rows_of(report, "services", &["service", "bytes", "messages_per_second", "to_agreed"]);
    let below = rows_of(report, "below_the_best_rate", &["bytes", "messages_per_second", "p50_us", "p99_us"]);
    let services = table(&["SERVICE", "BYTES", "MSG/S", "TO AGREED"], &services);
    format!("{services}\n\n{}", table(&["BYTES", "AGREED, MSG/S", "P50 US", "P99 US"], &below))
}
