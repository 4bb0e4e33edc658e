//! `folkmoot bench compare`: this stack, corosync with AES-256 and the reference in turn, in the
//! same namespaces and the same minutes, as ratios of medians.
//!
//! ```text
//!   throughput, for each size, so many rounds:   folkmoot   [another build]   [corosync]   reference
//!   lone.rs: latency, from each member           agreed   FIFO   [corosync]   reference;   from all: agreed   FIFO
//!   services.rs                                  each service;   agreed at 80 % of its rate
//! ```
//! On a machine that does other work a rate by itself says little; the ratio of what ran in the
//! same minutes says more.

mod corosync;
mod lone;
mod services;

use crate::args::{BenchCompare, CompareMode};
use crate::chart::{self, Point, Title, Unit};
use crate::namespaces::Network;
use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use corosync::{Corosync, Run};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use folkmoot_cli::values::Multicast;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

/// What its chart shows.
pub(crate) const CHARTED: Title =
    Title { what: "messages a second at the slowest receiver, by bytes", unit: Unit::PerSecond };

/// Most bytes of a lone message: the reference cuts none.
const LONE_BYTES_MAX: u32 = 1_400;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Folkmoot,
    Before,
    Corosync,
    Reference,
}

impl System {
    const ALL: [Self; 4] = [Self::Folkmoot, Self::Before, Self::Corosync, Self::Reference];

    fn name(self) -> &'static str {
        match self {
            Self::Folkmoot => "folkmoot",
            Self::Before => "before",
            Self::Corosync => "corosync aes256",
            Self::Reference => "reference",
        }
    }
}

/// What one run of one system came to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Outcome {
    /// At the slowest receiver.
    messages_per_second: f64,
    /// Of each node, where it is measured.
    cpu_us_per_message: Option<f64>,
    /// At the slowest receiver, where it is measured.
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    /// The same of messages that came after one of another sender.
    p50_after_others_us: Option<f64>,
    /// Of the processors, where it is measured: bytes that one hashes in a nanosecond.
    speed: Option<f64>,
}

/// All runs of one system with messages of one size.
#[derive(Debug)]
struct Row {
    system: System,
    bytes: u32,
    runs: Vec<Outcome>,
}

impl Row {
    fn rate(&self) -> f64 {
        median(self.runs.iter().map(|run| run.messages_per_second).collect()).unwrap_or(0.0)
    }

    fn cpu(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.cpu_us_per_message).collect())
    }
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// Runs what is to be compared in turn, and prints the ratios.
pub(crate) async fn compare(options: &BenchCompare, json: bool) -> Result<(), Failure> {
    let senders = options.senders.map_or(usize::from(options.nodes), usize::from);
    if senders > usize::from(options.nodes) {
        return Err(Failure::new(Exit::Usage, "there cannot be more --senders than --nodes"));
    }
    if options.mode != CompareMode::Throughput && (options.before.is_some() || options.chart.is_some()) {
        return Err(Failure::new(Exit::Usage, "--before and --chart need --mode throughput"));
    }
    let sizes = options.sizes();
    if options.mode == CompareMode::Latency && sizes.iter().any(|bytes| *bytes > LONE_BYTES_MAX) {
        return Err(Failure::new(Exit::Usage, "with --mode latency messages have at most 1400 --bytes"));
    }
    let names: Vec<String> = (1..=options.nodes).map(|number| format!("fm{number}")).collect();
    let network = Network::open(&names)?;
    let bench = Bench { options, senders, sizes: &sizes, network: &network };
    match options.mode {
        CompareMode::Throughput => throughput(&bench, json).await,
        CompareMode::Latency => lone::lone(&bench, json).await,
        CompareMode::Services => services::services(&bench, json).await,
    }
}

async fn throughput(bench: &Bench<'_>, json: bool) -> Result<(), Failure> {
    let options = bench.options;
    let peer = peer(bench.network).await?;
    let skipped = |system: &System| match system {
        System::Before => options.before.is_none(),
        System::Corosync => peer.is_none(),
        _ => false,
    };
    let systems: Vec<System> = System::ALL.into_iter().filter(|system| !skipped(system)).collect();
    let progress = bench.progress(systems.len() * bench.sizes.len());
    let mut rows = Vec::new();
    for bytes in bench.sizes {
        let start = rows.len();
        rows.extend(systems.iter().map(|system| Row { system: *system, bytes: *bytes, runs: Vec::new() }));
        for _ in 0..options.rounds {
            for row in rows.iter_mut().skip(start) {
                row.runs.push(progress.during(bench.run(row.system, *bytes, peer.as_ref())).await?);
                progress.step();
            }
        }
    }
    drop(progress);
    let report = report(options, bench.senders, &rows);
    if let Some(file) = &options.chart {
        chart::save(file, &CHARTED, &rows.iter().map(point).collect::<Vec<_>>())?;
    }
    data(json, &report, || for_people(&rows, &report));
    Ok(())
}

/// corosync, if it is installed; otherwise says what to install.
async fn peer(network: &Network) -> Result<Option<Corosync>, Failure> {
    let missing = corosync::missing();
    if missing.is_empty() {
        return Corosync::prepare(network).await.map(Some);
    }
    let packages = missing.join(" ");
    eprintln!("corosync is left out, because it is not installed. Run: apt-get install -y {packages}");
    Ok(None)
}

struct Bench<'a> {
    options: &'a BenchCompare,
    senders: usize,
    sizes: &'a [u32],
    network: &'a Network,
}

impl Bench<'_> {
    fn progress(&self, of_a_round: usize) -> Progress {
        Progress::steps("runs", of_a_round * usize::from(self.options.rounds))
    }

    async fn run(&self, system: System, bytes: u32, peer: Option<&Corosync>) -> Result<Outcome, Failure> {
        let (senders, service) = (self.senders.to_string(), self.options.service.to_possible_value());
        let service = service.as_ref().map_or("agreed", PossibleValue::get_name);
        let ours = ["--service", service, "--senders", &senders];
        match (system, peer, &self.options.before) {
            (System::Corosync, Some(peer), _) => {
                let seconds = self.options.seconds;
                let run = Run { first: 0, senders: self.senders, lone: false, bytes, seconds };
                peer.run(self.network, run).await
            }
            (System::Before, _, Some(before)) => self.call(before, "ring", bytes, &ours).await,
            (System::Reference, ..) => self.own("reference", bytes, &["--senders", &senders]).await,
            _ => self.own("ring", bytes, &ours).await,
        }
    }

    /// Runs a bench of this program, and reads what it prints.
    async fn own(&self, bench: &str, bytes: u32, more: &[&str]) -> Result<Outcome, Failure> {
        let by_multicast = bench == "ring" && self.options.multicast == Multicast::Auto;
        let way: &[&str] = if by_multicast { &["--multicast", "auto"] } else { &[] };
        let program = std::env::current_exe().map_err(Failure::bug)?;
        self.call(&program, bench, bytes, &[more, way].concat()).await
    }

    /// Runs a bench of a build of this program, and reads what it prints.
    async fn call(&self, program: &Path, bench: &str, bytes: u32, more: &[&str]) -> Result<Outcome, Failure> {
        let [bytes, seconds] = [bytes, self.options.seconds].map(|number| number.to_string());
        let mut command = tokio::process::Command::new("chrt");
        command.args(if self.options.realtime { ["--rr", "1"] } else { ["--other", "0"] }).arg(program);
        command.args([bench, "--json", "--namespaces", &self.network.names().join(",")]);
        command.args(["--bytes", &bytes, "--seconds", &seconds]).args(more);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let failed = |why: String| {
            Failure::new(Exit::No, format!("{} {bench} failed: {}", program.display(), why.trim()))
        };
        let output = command.output().await.map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let told: Value = serde_json::from_slice(&output.stdout).map_err(Failure::bug)?;
        outcome(&told).ok_or_else(|| failed("it prints no rate".into()))
    }
}

fn outcome(told: &Value) -> Option<Outcome> {
    let messages_per_second = told.get("minimum")?.get("messages_per_second")?.as_f64()?;
    let cpu_us_per_message = told.get("cpu_us_per_message").and_then(Value::as_f64);
    let late = |field: &str| told.get("slowest")?.get(field)?.as_f64();
    Some(Outcome {
        messages_per_second,
        cpu_us_per_message,
        p50_us: late("p50_us"),
        p99_us: late("p99_us"),
        p50_after_others_us: late("p50_after_others_us"),
        speed: told.get("speed").and_then(Value::as_f64),
    })
}

fn round(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

fn report(options: &BenchCompare, senders: usize, rows: &[Row]) -> Value {
    let told = rows.iter().map(|row| {
        let rates: Vec<f64> = row.runs.iter().map(|run| run.messages_per_second.round()).collect();
        json!({
            "system": row.system.name(), "bytes": row.bytes, "messages_per_second": row.rate().round(),
            "cpu_us_per_message": row.cpu(), "runs": rates,
        })
    });
    json!({
        "bench": "compare", "nodes": options.nodes, "senders": senders, "service": options.service,
        "multicast": options.multicast == Multicast::Auto, "realtime": options.realtime,
        "seconds": options.seconds, "rounds": options.rounds, "rows": told.collect::<Vec<_>>(),
        "ratios": ratios(rows),
    })
}

/// Of each size: this stack's medians over those of each other system.
fn ratios(rows: &[Row]) -> Vec<Value> {
    let own = |bytes| rows.iter().find(|row| row.system == System::Folkmoot && row.bytes == bytes);
    let others = rows.iter().filter(|row| row.system != System::Folkmoot);
    let ratio = |over: f64, under: f64| (under > 0.0).then(|| round(over / under));
    others
        .filter_map(|other| {
            let own = own(other.bytes)?;
            let cpu = own.cpu().zip(other.cpu()).and_then(|(own, other)| ratio(own, other));
            Some(json!({
                "bytes": other.bytes, "to": other.system.name(),
                "messages_per_second": ratio(own.rate(), other.rate()), "cpu_us_per_message": cpu,
            }))
        })
        .collect()
}

fn point(row: &Row) -> Point {
    let event = "throughput".to_owned();
    Point { line: row.system.name(), event, size: row.bytes, value: row.rate() }
}

/// A row as `--json` prints it.
pub(crate) fn point_of(row: &Value) -> Option<Point> {
    let name = row.get("system")?.as_str()?;
    let system = System::ALL.into_iter().find(|system| system.name() == name)?;
    let size = u32::try_from(row.get("bytes")?.as_u64()?).ok()?;
    let value = row.get("messages_per_second")?.as_f64()?;
    Some(Point { line: system.name(), event: "throughput".into(), size, value })
}

fn for_people(rows: &[Row], report: &Value) -> String {
    let cell = |value: Option<f64>| value.map(|value| round(value).to_string()).unwrap_or_default();
    let rows = rows.iter().map(|row| {
        let rate = row.rate().round().to_string();
        vec![row.system.name().to_owned(), row.bytes.to_string(), rate, cell(row.cpu())]
    });
    let rates = table(&["SYSTEM", "BYTES", "MSG/S", "CPU US"], &rows.collect::<Vec<_>>());
    let ratios = rows_of(report, "ratios", &["to", "bytes", "messages_per_second", "cpu_us_per_message"]);
    let ratios = table(&["RATIO TO", "BYTES", "OF MSG/S", "OF CPU US"], &ratios);
    format!("{rates}\n\n{ratios}")
}

/// These fields of all in a list of a report, as cells of a table.
pub(crate) fn rows_of(report: &Value, list: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let cell = |of: &Value, field: &str| match of.get(field) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    };
    let all = report.get(list).and_then(Value::as_array).into_iter().flatten();
    all.map(|of| fields.iter().map(|field| cell(of, field)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Row, System, outcome, point, point_of, ratios};
    use serde_json::json;

    fn row(system: System, bytes: u32, runs: &[(f64, Option<f64>)]) -> Row {
        let run = |(rate, cpu): &(f64, Option<f64>)| Outcome {
            messages_per_second: *rate,
            cpu_us_per_message: *cpu,
            p50_us: None,
            p99_us: None,
            p50_after_others_us: None,
            speed: None,
        };
        Row { system, bytes, runs: runs.iter().map(run).collect() }
    }

    #[test]
    fn ratios_are_of_medians_of_the_same_size() {
        let rows = [
            row(System::Folkmoot, 100, &[(900.0, Some(3.0)), (300.0, Some(1.0)), (310.0, Some(2.0))]),
            row(System::Before, 100, &[(100.0, Some(4.0)), (155.0, Some(4.0)), (900.0, Some(5.0))]),
            row(System::Corosync, 100, &[(620.0, None)]),
            row(System::Corosync, 8_192, &[(7.0, None)]),
            row(System::Reference, 100, &[]),
        ];
        let told = ratios(&rows);
        assert_eq!(told.len(), 3, "nothing of ours has 8,192 bytes: {told:?}");
        assert_eq!(
            told[0],
            json!({ "bytes": 100, "to": "before", "messages_per_second": 2.0, "cpu_us_per_message": 0.5 })
        );
        assert_eq!(told[1]["messages_per_second"], 0.5);
        assert_eq!(told[2]["messages_per_second"], json!(null), "it never ran");
    }

    #[test]
    fn what_benches_print_is_read_and_a_row_becomes_a_point() {
        let told = json!({
            "minimum": { "messages_per_second": 12.0 }, "cpu_us_per_message": 1.5,
            "slowest": { "p50_us": 7.0, "p99_us": 9.0, "p50_after_others_us": 8.0 }, "speed": 2.0,
        });
        let read = Outcome {
            messages_per_second: 12.0,
            cpu_us_per_message: Some(1.5),
            p50_us: Some(7.0),
            p99_us: Some(9.0),
            p50_after_others_us: Some(8.0),
            speed: Some(2.0),
        };
        assert_eq!(outcome(&told), Some(read));
        assert_eq!(outcome(&json!({ "minimum": {} })), None);
        let saved = json!({ "system": "corosync aes256", "bytes": 100, "messages_per_second": 620.0 });
        let row = row(System::Corosync, 100, &[(620.0, None)]);
        assert_eq!(point_of(&saved), Some(point(&row)));
        assert_eq!(point_of(&json!({ "system": "x", "bytes": 1, "messages_per_second": 1.0 })), None);
    }
}
