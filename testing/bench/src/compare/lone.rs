//! How long a lone message takes to the farthest member.
//!
//! ```text
//!   from each member in turn:   folkmoot agreed   folkmoot FIFO   [corosync aes256]   reference
//!   from all, each alone:       folkmoot agreed   folkmoot FIFO   [corosync aes256]
//! ```
//! A member that alone sends soon has the parked token. Where all send, most of them do not have it
//! when they send: there it shows what a service that waits for no token saves.

use super::corosync::{Corosync, Run};
use super::{Bench, Outcome, median, round, rows_of};
use folkmoot_cli::exit::Failure;
use folkmoot_cli::show::{data, table};
use serde_json::{Value, json};

/// Agreed order is to take at most so many one-way times of the reference and so many microseconds,
/// or this part of what corosync takes.
const REFERENCES: f64 = 3.0;
const MORE_US: f64 = 60.0;
const OF_COROSYNC: f64 = 1.0 / 3.0;

/// Who sends: one of them, by its number from 0 on, or all.
type From = Option<usize>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Agreed,
    Fifo,
    Corosync,
    Reference,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Agreed => "agreed",
            Self::Fifo => "fifo",
            Self::Corosync => "corosync aes256",
            Self::Reference => "reference",
        }
    }
}

#[derive(Debug)]
struct Row {
    bytes: u32,
    from: From,
    kind: Kind,
    runs: Vec<Outcome>,
}

impl Row {
    fn p50(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.p50_us).collect())
    }

    /// If all send: of what was sent without the token, because another member had sent last.
    fn without_token(&self) -> Option<f64> {
        let of = |run: &Outcome| if self.from.is_none() { run.p50_after_others_us } else { run.p50_us };
        median(self.runs.iter().filter_map(of).collect())
    }

    fn p99(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.p99_us).collect())
    }
}

/// Runs all in turn, and prints medians and ratios.
pub(super) async fn lone(bench: &Bench<'_>, json: bool) -> Result<(), Failure> {
    let peer = super::peer(bench.network).await?;
    let mut rows = rows(bench.sizes, bench.network.names().len(), peer.is_some());
    let progress = bench.progress(rows.len());
    for _ in 0..bench.options.rounds {
        for row in &mut rows {
            row.runs.push(progress.during(run(bench, row, peer.as_ref())).await?);
            progress.step();
        }
    }
    drop(progress);
    let report = report(bench, &rows);
    data(json, &report, || for_people(&report));
    Ok(())
}

fn rows(sizes: &[u32], nodes: usize, peer: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for bytes in sizes.iter().copied() {
        for from in (0..nodes).map(Some).chain([None]) {
            let kinds = [Kind::Agreed, Kind::Fifo, Kind::Corosync, Kind::Reference].into_iter();
            let kinds = kinds.filter(|kind| match kind {
                Kind::Corosync => peer,
                Kind::Reference => from.is_some(),
                _ => true,
            });
            rows.extend(kinds.map(|kind| Row { bytes, from, kind, runs: Vec::new() }));
        }
    }
    rows
}

async fn run(bench: &Bench<'_>, row: &Row, peer: Option<&Corosync>) -> Result<Outcome, Failure> {
    let nodes = bench.network.names().len();
    let (first, senders) = row.from.map_or((0, nodes), |from| (from, 1));
    let (number, all) = ((first + 1).to_string(), nodes.to_string());
    let who = if row.from.is_some() { ["--from", &number] } else { ["--senders", &all] };
    match (row.kind, peer) {
        (Kind::Corosync, Some(peer)) => {
            let (bytes, seconds) = (row.bytes, bench.options.seconds);
            peer.run(bench.network, Run { first, senders, lone: true, bytes, seconds }).await
        }
        (Kind::Reference, _) => bench.own("reference", row.bytes, &["--lone", &number]).await,
        (kind, _) => {
            let ours = ["--mode", "latency", "--service", kind.name()];
            bench.own("ring", row.bytes, &[&ours[..], &who].concat()).await
        }
    }
}

fn report(bench: &Bench<'_>, rows: &[Row]) -> Value {
    let told = rows.iter().map(|row| {
        let runs: Vec<_> = row.runs.iter().filter_map(|run| run.p50_us).collect();
        json!({
            "system": row.kind.name(), "bytes": row.bytes, "from": from(row.from), "p50_us": row.p50(),
            "p99_us": row.p99(), "runs_p50_us": runs,
        })
    });
    json!({
        "bench": "compare", "mode": bench.options.mode, "nodes": bench.options.nodes,
        "seconds": bench.options.seconds, "rounds": bench.options.rounds,
        "latencies": told.collect::<Vec<_>>(), "ratios": ratios(rows),
    })
}

fn from(from: From) -> String {
    from.map_or("all".into(), |number| format!("n{}", number + 1))
}

/// For each size and sender: agreed against corosync, against what it is to take at most, and FIFO
/// against agreed.
fn ratios(rows: &[Row]) -> Vec<Value> {
    let ratio = |over: Option<f64>, under: Option<f64>| {
        over.zip(under).filter(|(_, under)| *under > 0.0).map(|(over, under)| round(over / under))
    };
    let agreed = rows.iter().filter(|row| row.kind == Kind::Agreed);
    agreed
        .map(|agreed| {
            let find = |kind: Kind| {
                let same = |row: &&Row| (row.bytes, row.from, row.kind) == (agreed.bytes, agreed.from, kind);
                rows.iter().find(same)
            };
            let (fifo, peer, raw) = (find(Kind::Fifo), find(Kind::Corosync), find(Kind::Reference));
            let limit = wanted(peer.and_then(Row::p50), raw.and_then(Row::p50));
            json!({
                "bytes": agreed.bytes, "from": from(agreed.from), "p50_to_corosync": ratio(agreed.p50(), peer.and_then(Row::p50)),
                "p99_to_corosync": ratio(agreed.p99(), peer.and_then(Row::p99)),
                "p50_to_wanted": ratio(agreed.p50(), limit), "fifo_to_agreed": ratio(fifo.and_then(Row::without_token), agreed.without_token()),
            })
        })
        .collect()
}

/// How long agreed order is to take at most, in microseconds.
fn wanted(corosync: Option<f64>, reference: Option<f64>) -> Option<f64> {
    let of_reference = REFERENCES * reference? + MORE_US;
    Some(corosync.map_or(of_reference, |p50| of_reference.max(p50 * OF_COROSYNC)))
}

fn for_people(report: &Value) -> String {
    let latencies = rows_of(report, "latencies", &["system", "bytes", "from", "p50_us", "p99_us"]);
    let latencies = table(&["SYSTEM", "BYTES", "FROM", "P50 US", "P99 US"], &latencies);
    let fields = ["bytes", "from", "p50_to_corosync", "p99_to_corosync", "p50_to_wanted", "fifo_to_agreed"];
    let heads = ["BYTES", "FROM", "P50 TO COROSYNC", "P99 TO COROSYNC", "P50 TO WANTED", "FIFO TO AGREED"];
    let ratios = table(&heads, &rows_of(report, "ratios", &fields));
    format!("{latencies}\n\n{ratios}")
}

#[cfg(test)]
mod tests {
    use super::{Kind, Outcome, ratios, rows, wanted};
    use serde_json::json;

    #[test]
    fn agreed_order_may_take_what_either_of_two_allows() {
        assert_eq!(wanted(Some(600.0), Some(30.0)), Some(200.0));
        assert_eq!(wanted(Some(300.0), Some(30.0)), Some(150.0));
        assert_eq!(wanted(None, Some(30.0)), Some(150.0));
        assert_eq!(wanted(Some(300.0), None), None);
    }

    #[test]
    fn ratios_are_of_one_size_and_sender() {
        let mut rows = rows(&[100], 2, true);
        assert_eq!(rows.len(), 4 + 4 + 3, "the reference has one sender");
        for row in &mut rows {
            let p50 = match row.kind {
                Kind::Agreed => 100.0,
                Kind::Fifo => 60.0,
                Kind::Corosync => 500.0,
                Kind::Reference => 20.0,
            };
            let run = |more: f64| Outcome {
                messages_per_second: 1.0,
                cpu_us_per_message: None,
                p50_us: Some(p50 + more),
                p99_us: Some(2.0 * p50),
                p50_after_others_us: Some(if row.kind == Kind::Fifo { p50 / 2.0 } else { p50 }),
                speed: None,
            };
            row.runs = vec![run(-1.0), run(0.0), run(900.0)];
        }
        let told = ratios(&rows);
        assert_eq!(told.len(), 3);
        assert_eq!(
            told[0],
            json!({
                "bytes": 100, "from": "n1", "p50_to_corosync": 0.2, "p99_to_corosync": 0.2, "p50_to_wanted": 0.6,
                "fifo_to_agreed": 0.6,
            })
        );
        assert_eq!(told[2]["from"], "all");
        assert_eq!(told[2]["fifo_to_agreed"], 0.3, "of those without the token");
    }
}
