//! What each service costs against agreed order, and what agreed order is like below its best rate.

use super::{Bench, Outcome, median, round, rows_of};
use clap::ValueEnum as _;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use folkmoot_cli::values::Ordering;
use serde::Serialize;
use serde_json::{Value, json};

/// The part of the best rate at which latency is measured.
const BELOW: f64 = 0.8;
/// So many rounds say what the best rate is now.
const LATELY: usize = 3;

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

    /// The best rate by the last [`LATELY`] rounds.
    fn lately(&self) -> f64 {
        let rates = self.runs.iter().rev().take(LATELY).map(|run| run.messages_per_second);
        median(rates.collect()).unwrap_or(0.0)
    }

    /// The rate over that of `agreed`, the median of all rounds.
    fn to_agreed(&self, agreed: &Self) -> Option<f64> {
        let pairs = self.runs.iter().zip(&agreed.runs);
        let pairs = pairs.filter(|(_, agreed)| agreed.messages_per_second > 0.0);
        median(pairs.map(|(run, agreed)| run.messages_per_second / agreed.messages_per_second).collect())
    }

    /// The speed of the processors, and the rate that goes with it. A run on faster processors has
    /// a higher rate, so the rate is the median of all for one speed.
    fn rate_at_speed(&self) -> Option<(f64, f64)> {
        let with_speed = self.runs.iter().filter_map(|run| Some((run.messages_per_second, run.speed?)));
        let (per_speed, speeds) = with_speed.map(|(rate, speed)| (rate / speed, speed)).unzip();
        let speed = median(speeds)?;
        Some((speed, median(per_speed)? * speed))
    }
}

/// What the rate of messages does while the processors become faster and slower.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Timetable {
    /// It stays at a part of the best rate of the last rounds.
    Constant,
    /// It is that part of the best rate for the speed of the moment.
    WithTheSpeed,
}

/// Agreed order below its best rate, with messages of one size.
struct Below {
    bytes: u32,
    timetable: Timetable,
    /// The best rate at the time of each run.
    best: Vec<f64>,
    runs: Vec<Outcome>,
}

/// Runs all in turn, and prints medians and ratios. The machine becomes faster and slower within
/// minutes, so each run is compared with the one of agreed order in its round, and every second
/// round goes backwards.
pub(super) async fn services(bench: &Bench<'_>, json: bool) -> Result<(), Failure> {
    let (all, tables) = chosen(bench.options.service);
    let rounds = bench.options.rounds;
    let of_each_size = usize::from(rounds) * (all.len() + tables.len());
    let progress = Progress::steps("runs", bench.sizes.len() * of_each_size);
    let (mut rows, mut below) = (Vec::new(), Vec::new());
    for bytes in bench.sizes.iter().copied() {
        let row = |service: &Ordering| Row { bytes, service: *service, runs: Vec::new() };
        let mut best: Vec<Row> = all.iter().map(row).collect();
        let below_now = |timetable: &Timetable| Below {
            bytes,
            timetable: *timetable,
            best: Vec::new(),
            runs: Vec::new(),
        };
        let mut slower: Vec<Below> = tables.iter().map(below_now).collect();
        for _ in 0..rounds {
            for row in &mut best {
                row.runs.push(progress.during(run(bench, row, &[])).await?);
                progress.step();
            }
            best.reverse();
            let Some(agreed) = best.iter().find(|row| row.service == Ordering::Agreed) else { continue };
            for below in &mut slower {
                let words = timetable(bench, agreed, below.timetable);
                below.best.push(agreed.lately());
                below.runs.push(progress.during(run(bench, agreed, &words)).await?);
                progress.step();
            }
        }
        best.sort_by_key(|row| all.iter().position(|service| *service == row.service));
        rows.extend(best);
        below.extend(slower);
    }
    drop(progress);
    let report = report(bench, &rows, &below);
    data(json, &report, || for_people(&report));
    Ok(())
}

/// The services to run, and how to run agreed order below its best rate: all of both, unless one
/// service is asked for.
fn chosen(service: Ordering) -> (Vec<Ordering>, Vec<Timetable>) {
    match service {
        Ordering::Agreed => {
            (Ordering::value_variants().to_vec(), vec![Timetable::Constant, Timetable::WithTheSpeed])
        }
        one => (vec![one, Ordering::Agreed], Vec::new()),
    }
}

/// Options of a run below the best rate.
fn timetable(bench: &Bench<'_>, agreed: &Row, timetable: Timetable) -> Vec<String> {
    let each = |rate: f64| (rate * BELOW / bench.senders as f64).to_string();
    match (timetable, agreed.rate_at_speed()) {
        (Timetable::WithTheSpeed, Some((speed, rate))) => {
            vec!["--rate".into(), each(rate), "--at-speed".into(), speed.to_string()]
        }
        _ => vec!["--rate".into(), each(agreed.lately())],
    }
}

async fn run(bench: &Bench<'_>, row: &Row, more: &[String]) -> Result<Outcome, Failure> {
    let senders = bench.senders.to_string();
    let service = row.service.to_possible_value();
    let service = service.as_ref().map_or("agreed", |service| service.get_name());
    let mut words = vec!["--service", service, "--senders", &senders, "--speed"];
    words.extend(more.iter().map(String::as_str));
    bench.own("ring", row.bytes, &words).await
}

fn report(bench: &Bench<'_>, rows: &[Row], below: &[Below]) -> Value {
    let services = rows.iter().map(|row| {
        let agreed = rows.iter().find(|one| one.bytes == row.bytes && one.service == Ordering::Agreed);
        json!({
            "service": row.service, "bytes": row.bytes, "messages_per_second": row.rate().round(),
            "to_agreed": agreed.and_then(|agreed| row.to_agreed(agreed)).map(round), "speed": row.rate_at_speed().map(|(speed, _)| round(speed)),
            "of_each_round": row.runs.iter().map(|run| run.messages_per_second).collect::<Vec<_>>(),
        })
    });
    let below = below.iter().map(|below| {
        let all = |of: fn(&Outcome) -> Option<f64>| -> Vec<f64> { below.runs.iter().filter_map(of).collect() };
        let (rate, slow) = (median(all(|run| Some(run.messages_per_second))), all(|run| run.p99_us));
        let parts = below.runs.iter().zip(&below.best).filter(|(_, best)| **best > 0.0);
        let parts = parts.map(|(run, best)| run.messages_per_second / best).collect();
        json!({
            "bytes": below.bytes, "rate": below.timetable, "messages_per_second": rate,
            "to_agreed": median(parts).map(round),
            "p50_us": median(all(|run| run.p50_us)), "p99_us": median(slow.clone()), "p99_us_of_each_run": slow,
            "speed_of_each_run": all(|run| run.speed.map(round)),
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
    let fields = ["bytes", "rate", "messages_per_second", "to_agreed", "p50_us", "p99_us"];
    let below = rows_of(report, "below_the_best_rate", &fields);
    let services = table(&["SERVICE", "BYTES", "MSG/S", "TO AGREED"], &services);
    if below.is_empty() {
        return services;
    }
    format!(
        "{services}\n\n{}",
        table(&["BYTES", "RATE", "AGREED, MSG/S", "TO BEST", "P50 US", "P99 US"], &below)
    )
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Row};
    use folkmoot_cli::values::Ordering;

    #[test]
    fn a_rate_on_fast_processors_and_one_on_slow_ones_are_made_comparable() {
        let run = |(messages_per_second, speed): (f64, Option<f64>)| Outcome {
            messages_per_second,
            cpu_us_per_message: None,
            p50_us: None,
            p99_us: None,
            p50_after_others_us: None,
            speed,
        };
        let row = |runs: &[(f64, Option<f64>)]| Row {
            bytes: 100,
            service: Ordering::Agreed,
            runs: runs.iter().copied().map(run).collect(),
        };
        let runs = [(300.0, Some(3.0)), (100.0, Some(1.0)), (220.0, Some(2.0))];
        assert_eq!(row(&runs).rate_at_speed(), Some((2.0, 200.0)), "a hundred for each unit of speed");
        assert_eq!(row(&[(300.0, None)]).rate_at_speed(), None, "nobody measured it");
    }
}
