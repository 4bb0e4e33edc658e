//! `folkmoot bench keying`: what a change of members costs in the real stack, over the ring, on
//! loopback.
//!
//! All nodes run in this process, each with its own folder, store, socket and links, and carry the
//! members between them. So the processor time is that of all members together, and the wall time
//! is longer than on machines of their own. Only ratios between rows of one run count. split.rs has
//! the parts of the processor time.

use crate::alone::{Signed, Table};
use crate::args::{BenchKeying, Change};
use crate::chart::{self, Point, Title, Unit};
use crate::counts::{Cost, Event, controller, measure_once, times};
use crate::crew::{Crew, NODES, Spent};
use crate::price::{Pace, Price, median};
use crate::split::{Apart, Split};
use folkmoot::tools::OsEntropy;
use folkmoot_agreement::ModuleName;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, many, table};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Sizes if none are given.
const SIZES: [u16; 6] = [2, 4, 8, 16, 32, 64];

/// What its chart shows.
pub(crate) const CHARTED: Title = Title { what: "processor time of all members", unit: Unit::Millis };

/// What is measured, in this order: a join brings back whom the leave before it took.
const EVENTS: [(Change, &str, Event); 5] = [
    (Change::Leave, "leave", Event::Leave),
    (Change::Join, "join", Event::Join),
    (Change::ControllerLeave, "controller leave", Event::ControllerLeave),
    (Change::Refresh, "refresh", Event::Refresh),
    (Change::Merge, "merge of halves", Event::Merge),
];

/// Those of [`EVENTS`] that are asked for. Leave and join go together, and both are measured.
fn events(options: &BenchKeying) -> Vec<(&'static str, Event)> {
    let pair = |change| matches!(change, Change::Leave | Change::Join);
    let asked = |change: Change| {
        let same = |other: &Change| *other == change || pair(*other) && pair(change);
        options.change.is_empty() || options.change.iter().any(same)
    };
    EVENTS.iter().filter(|(change, ..)| asked(*change)).map(|(_, name, event)| (*name, *event)).collect()
}

/// One row: medians.
struct Row {
    module: ModuleName,
    event: &'static str,
    size: u16,
    nodes: usize,
    wall: Duration,
    cpu: Duration,
    split: Split,
    /// What the rounds of this event take at the ring's pace, and the module's longest way.
    expected: Duration,
    counted: Cost,
    /// What keying alone makes and verifies in this change.
    signed: Signed,
}

/// Prints the table, and draws the chart if one is asked for. What was measured before a failure is
/// shown all the same.
pub(crate) async fn live(options: &BenchKeying, json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let done = measure_all(options, &mut rows).await;
    if let Some(file) = options.chart.as_ref().filter(|_| !rows.is_empty()) {
        chart::save(file, &CHARTED, &rows.iter().map(point).collect::<Vec<_>>())?;
    }
    if done.is_ok() || !rows.is_empty() {
        let values: Vec<Value> = rows.iter().map(value).collect();
        let all = json!({ "bench": "keying", "times": options.times, "rows": values });
        data(json, &all, || for_people(&rows));
    }
    done
}

async fn measure_all(options: &BenchKeying, rows: &mut Vec<Row>) -> Result<(), Failure> {
    let sizes = if options.sizes.is_empty() { SIZES.to_vec() } else { options.sizes.clone() };
    let price = Price::measure()?;
    let times = usize::from(options.times);
    let chosen = |module: &&ModuleName| options.module.is_none_or(|wanted| wanted == **module);
    let groups = ModuleName::ALL.iter().filter(chosen).count() * sizes.len();
    // Each change as often as asked for, and once more by keying alone.
    let events = events(options);
    let progress = Progress::steps("changes", groups * events.len() * (times + 1));
    for module in ModuleName::ALL.iter().filter(chosen) {
        for size in &sizes {
            let nodes = options.nodes.map_or(NODES, usize::from).min(usize::from(*size));
            let what = What { module: *module, size: *size, nodes };
            rows.extend(group(what, (times, &events), price, &progress).await?);
        }
    }
    Ok(())
}

/// One group to be measured.
#[derive(Clone, Copy)]
struct What {
    module: ModuleName,
    size: u16,
    nodes: usize,
}

impl What {
    /// A line for whoever waits.
    fn say(self, progress: &Progress, text: &str) {
        let Self { module, size, nodes } = self;
        progress.say(&format!(
            "{} with {} on {}: {text}",
            module.as_str(),
            many(size.into(), "member"),
            many(nodes, "node")
        ));
    }
}

/// All events in one group, `times` each; every repetition runs through all of them.
async fn group(
    what: What,
    (times, events): (usize, &[(&'static str, Event)]),
    price: Price,
    progress: &Progress,
) -> Result<Vec<Row>, Failure> {
    let (began, size) = (Instant::now(), usize::from(what.size));
    what.say(progress, "founding");
    let mut crew = progress.during(Crew::found(what.module, size, what.nodes)).await?;
    what.say(progress, &format!("founded in {:.1} s", began.elapsed().as_secs_f64()));
    let pace = Pace::measure(&mut crew).await?;
    let mut samples: Vec<Vec<Spent>> = vec![Vec::new(); events.len()];
    for _ in 0..times {
        for ((name, event), samples) in events.iter().zip(&mut samples) {
            let spent = progress.during(one(&mut crew, what.module, *event)).await?;
            what.say(progress, &format!("{name}: {} ms", ms(spent.wall)));
            samples.push(spent);
            progress.step();
        }
    }
    let halves = crew.halves();
    drop(crew);
    what.say(progress, "keying alone, modules alone");
    let mut outside = Outside { table: Table::new(what.module, size)?, halves, entropy: entropy()? };
    let mut rows = Vec::new();
    for ((name, event), samples) in events.iter().zip(samples) {
        let apart = outside.measure(what.module, *event, size)?;
        rows.push(row(what, (name, *event), samples, apart, (pace, price)));
        progress.step();
    }
    Ok(rows)
}

fn entropy() -> Result<OsEntropy, Failure> {
    OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))
}

/// What is measured outside the stack.
struct Outside {
    table: Table,
    halves: (usize, usize),
    entropy: OsEntropy,
}

impl Outside {
    /// Keying alone and the modules alone in turn, so that what disturbs the processor disturbs
    /// both; each part's median.
    fn measure(
        &mut self,
        module: ModuleName,
        event: Event,
        size: usize,
    ) -> Result<(Apart, Cost, Signed), Failure> {
        let (mut costs, mut signatures, mut keying) = (Vec::new(), Vec::new(), Vec::new());
        let mut signed = Signed::default();
        for _ in 0..times(size) {
            let cost = measure_once(module, event, size, self.halves.0, &mut self.entropy)?;
            let alone = self.table.change(event, self.halves)?;
            signatures.push(alone.signatures);
            signed = alone.signed;
            keying.push(alone.rest.saturating_sub(Duration::from_micros(cost.micros)));
            costs.push(cost);
        }
        costs.sort_by_key(|cost| cost.micros);
        let counted = costs.swap_remove(costs.len() / 2);
        let group = Duration::from_micros(counted.micros);
        Ok((Apart { group, signatures: median(signatures), keying: median(keying) }, counted, signed))
    }
}

fn row(
    what: What,
    (event, kind): (&'static str, Event),
    samples: Vec<Spent>,
    (apart, counted, signed): (Apart, Cost, Signed),
    (pace, price): (Pace, Price),
) -> Row {
    let longest = apart.group.mul_f64(counted.serial.max(1) as f64 / counted.all.max(1) as f64);
    let wall = median(samples.iter().map(|spent| spent.wall).collect());
    // The parts are those of the run whose whole is in the middle, so that they add up to it.
    let work = median(samples.into_iter().map(|spent| spent.work).collect());
    Row {
        module: what.module,
        event,
        size: what.size,
        nodes: what.nodes,
        wall,
        cpu: work.cpu,
        split: Split::new(work, apart),
        expected: pace.of(kind, counted.rounds) + longest + price.on_one_way(counted.messages),
        counted,
        signed,
    }
}

/// One event: how long it took, and what all members worked. Who leaves comes back by the join that
/// is measured next; the controller by one that is not.
async fn one(crew: &mut Crew, module: ModuleName, event: Event) -> Result<Spent, Failure> {
    if !matches!(event, Event::Join) {
        crew.by_rank().await?;
    }
    let place = match event {
        Event::ControllerLeave => controller(module, crew.size()),
        _ => crew.size() / 2,
    };
    let spent = match event {
        Event::Leave | Event::ControllerLeave => crew.leave(place).await?,
        Event::Join => crew.join(place).await?,
        Event::Refresh => crew.refresh().await?,
        Event::Merge | Event::Nothing => crew.merge().await?,
    };
    if matches!(event, Event::ControllerLeave) {
        crew.join(place).await?;
    }
    Ok(spent)
}

fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 100_000.0).round() / 100.0
}

fn share(part: Duration, of: Duration) -> f64 {
    (part.as_secs_f64() / of.as_secs_f64().max(1e-9) * 1_000.0).round() / 1_000.0
}

fn point(row: &Row) -> Point {
    Point::timed(row.module.as_str(), row.event, row.size, row.cpu)
}

fn value(row: &Row) -> Value {
    let mut all = json!({
        "module": row.module.as_str(), "event": row.event, "members": row.size, "nodes": row.nodes,
        "wall_ms": ms(row.wall), "cpu_ms": ms(row.cpu), "expected_ms": ms(row.expected),
        "wall_to_expected": share(row.wall, row.expected), "messages": row.counted.messages,
        "bytes": row.counted.bytes, "rounds": row.counted.rounds, "exponentiations": row.counted.all,
        "signatures_made": row.signed.made, "signatures_verified": row.signed.verified,
    });
    if let Some(all) = all.as_object_mut() {
        all.extend(parts(row));
    }
    all
}

/// Each part in milliseconds, and as a share of the whole.
fn parts(row: &Row) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, part) in row.split.parts() {
        out.insert(format!("{name}_ms"), ms(part).into());
        out.insert(format!("{name}_share"), share(part, row.cpu).into());
    }
    // As papers have it who measured key agreement without a stack around it.
    let agreement = row.split.group + row.split.signatures + row.split.keying;
    out.insert("keying_share_of_agreement".to_owned(), share(row.split.keying, agreement).into());
    out
}

fn for_people(rows: &[Row]) -> String {
    let heading = [
        "MODULE", "EVENT", "N", "WALL MS", "EXPECTED", "CPU MS", "GROUP", "SIGN", "KEYING", "FLUSH", "RING",
        "I/O", "KEYING %", "MESSAGES", "BYTES", "ROUNDS", "SIGNED", "VERIFIED",
    ];
    let row = |row: &Row| {
        let names = [row.module.as_str().to_owned(), row.event.to_owned(), row.size.to_string()];
        let times = [row.wall, row.expected, row.cpu].map(|span| ms(span).to_string());
        let parts = row.split.parts().map(|(_, part)| ms(part).to_string());
        let keying = format!("{:.1}", 100.0 * share(row.split.keying, row.cpu));
        let counts =
            [row.counted.messages, row.counted.bytes, row.counted.rounds].map(|count| count.to_string());
        let signed = [row.signed.made, row.signed.verified].map(|count| count.to_string());
        names.into_iter().chain(times).chain(parts).chain([keying]).chain(counts).chain(signed).collect()
    };
    table(&heading, &rows.iter().map(row).collect::<Vec<_>>())
}
