//! `folkmoot bench keying`: what a change of members costs in the real stack, over the ring, on loopback.
//!
//! All members run in this process, each with its own folder, store, socket and links; so the processor time is that of all
//! of them together, and wall time is longer than on machines of their own. Ratios between rows of one run are what counts.
//!
//! How the processor time is split: *group* is what the same run costs when the modules alone are run (`--counts`),
//! *signatures* is what is signed and verified, each at its price measured here, and the rest is keying's own, flush, ring,
//! links, disk and sockets.

use crate::args::BenchKeying;
use crate::bench::chart;
use crate::bench::counts::{Cost, Event, measure};
use crate::bench::crew::Crew;
use crate::exit::{Exit, Failure};
use crate::show::{data, table};
use folkmoot::tools::OsEntropy;
use folkmoot::{Service, UnixTime};
use folkmoot_agreement::ModuleName;
use folkmoot_identity::Identity;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Sizes if none are given.
const SIZES: [u16; 4] = [2, 4, 8, 16];
/// A charter has no more founders, and the bench founds its groups.
const SIZE_MAX: u16 = 32;
/// How often a message is echoed to learn the ring's pace.
const ECHOES: usize = 15;

/// What is measured, in this order: each leaves the group whole.
const EVENTS: [(&str, Event); 5] = [
    ("leave", Event::Leave),
    ("join", Event::Join),
    ("controller leave", Event::ControllerLeave),
    ("refresh", Event::Refresh),
    ("merge of halves", Event::Merge),
];

/// One row: medians.
pub(crate) struct Row {
    pub(crate) module: ModuleName,
    pub(crate) event: &'static str,
    pub(crate) size: u16,
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    group: Duration,
    signatures: Duration,
    /// What the rounds of this event take at the ring's pace, and the module's longest way.
    expected: Duration,
    counted: Cost,
}

/// Prints the table, and draws the chart if one is asked for.
pub(crate) async fn live(options: &BenchKeying, json: bool) -> Result<(), Failure> {
    let sizes = if options.sizes.is_empty() { SIZES.to_vec() } else { options.sizes.clone() };
    if let Some(size) = sizes.iter().find(|size| **size > SIZE_MAX) {
        let text = format!(
            "{size} members are too many for the real stack in one process: at most {SIZE_MAX} (or --counts)"
        );
        return Err(Failure::new(Exit::Usage, text));
    }
    let price = Price::measure()?;
    let chosen = |module: &&ModuleName| options.module.is_none_or(|wanted| wanted == **module);
    let mut rows = Vec::new();
    for module in ModuleName::ALL.iter().filter(chosen) {
        for size in &sizes {
            eprintln!("{} with {size} members ...", module.as_str());
            rows.extend(group(*module, *size, usize::from(options.times), price).await?);
        }
    }
    if let Some(file) = &options.chart {
        std::fs::write(file, chart::draw(&rows)).map_err(|error| Failure::file(file, &error))?;
        eprintln!("wrote {}", file.display());
    }
    let values: Vec<Value> = rows.iter().map(value).collect();
    data(json, &json!({ "bench": "keying", "times": options.times, "rows": values }), || for_people(&rows));
    Ok(())
}

/// All events in one group, `times` each; every repetition runs through all of them.
async fn group(module: ModuleName, size: u16, times: usize, price: Price) -> Result<Vec<Row>, Failure> {
    let mut crew = Crew::found(module, usize::from(size)).await?;
    let pace = Pace::measure(&mut crew).await?;
    let mut samples: Vec<Vec<(Duration, Duration)>> = vec![Vec::new(); EVENTS.len()];
    for _ in 0..times {
        for ((_, event), samples) in EVENTS.iter().zip(&mut samples) {
            samples.push(one(&mut crew, module, *event).await?);
        }
    }
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let mut rows = Vec::new();
    for ((name, event), samples) in EVENTS.iter().zip(samples) {
        let counted = measure(module, *event, usize::from(size), &mut entropy)?;
        let (walls, cpus): (Vec<_>, Vec<_>) = samples.into_iter().unzip();
        let group = Duration::from_micros(u64::try_from(counted.micros).unwrap_or(u64::MAX));
        let members = u64::from(size);
        let signed = counted.messages + members;
        let longest = group.mul_f64(counted.serial.max(1) as f64 / counted.all.max(1) as f64);
        rows.push(Row {
            module,
            event: name,
            size,
            wall: median(walls),
            cpu: median(cpus),
            group,
            signatures: price.of(signed, members),
            expected: pace.of(*event, counted.rounds) + longest + price.on_one_way(signed),
            counted,
        });
    }
    Ok(rows)
}

/// One event: how long it took, and what all members worked. After a leave the member comes back; that is not counted.
async fn one(crew: &mut Crew, module: ModuleName, event: Event) -> Result<(Duration, Duration), Failure> {
    let newest = crew.size().saturating_sub(1);
    let place = match event {
        Event::ControllerLeave if matches!(module, ModuleName::Gdh | ModuleName::Tgdh | ModuleName::Str) => {
            newest
        }
        Event::ControllerLeave => 0,
        _ => crew.size() / 2,
    };
    if matches!(event, Event::Join) {
        crew.leave(place).await?;
    }
    let before = worked()?;
    let wall = match event {
        Event::Leave | Event::ControllerLeave => crew.leave(place).await?,
        Event::Join => crew.join(place).await?,
        Event::Refresh => crew.refresh().await?,
        Event::Merge | Event::Nothing => crew.merge().await?,
    };
    let cpu = worked()?.saturating_sub(before);
    if matches!(event, Event::Leave | Event::ControllerLeave) {
        crew.join(place).await?;
    }
    Ok((wall, cpu))
}

/// Time that this process' threads have run so far.
fn worked() -> Result<Duration, Failure> {
    let tasks = std::path::Path::new("/proc/self/task");
    let nanos = |folder: std::fs::DirEntry| {
        let told = std::fs::read_to_string(folder.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse::<u64>().ok()
    };
    let folders = std::fs::read_dir(tasks).map_err(|error| Failure::file(tasks, &error))?;
    Ok(Duration::from_nanos(folders.flatten().filter_map(nanos).sum()))
}

/// What a signature costs here.
#[derive(Clone, Copy)]
struct Price {
    sign: Duration,
    verify: Duration,
}

impl Price {
    fn measure() -> Result<Self, Failure> {
        const TIMES: u32 = 100;
        const LABEL: &[u8] = b"folkmoot bench v1";
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let one =
            Identity::new("price", &mut entropy, UnixTime(0), UnixTime(86_400)).map_err(Failure::bug)?;
        let began = Instant::now();
        let signed = (0..TIMES).map(|_| one.key().sign_fixed(LABEL, b"price")).last();
        let sign = began.elapsed() / TIMES;
        let signature = signed.ok_or_else(|| Failure::bug("nothing was signed"))?;
        let began = Instant::now();
        for _ in 0..TIMES {
            one.key().verifying_key().verify_fixed(LABEL, b"price", &signature).map_err(Failure::bug)?;
        }
        Ok(Self { sign, verify: began.elapsed() / TIMES })
    }

    /// What one member signs, its step and its confirmation, and verifies of so many.
    fn on_one_way(self, messages: u64) -> Duration {
        self.sign * 2 + self.verify.saturating_mul(u32::try_from(messages).unwrap_or(u32::MAX))
    }

    /// `messages`, each signed once and verified by the others of so many.
    fn of(self, messages: u64, members: u64) -> Duration {
        let count = u32::try_from(messages).unwrap_or(u32::MAX);
        let others = u32::try_from(members.saturating_sub(1).max(1)).unwrap_or(u32::MAX);
        self.sign.saturating_mul(count) + self.verify.saturating_mul(count.saturating_mul(others))
    }
}

/// How long an ordered message takes from its sender back to it, by service.
#[derive(Clone, Copy)]
struct Pace {
    agreed: Duration,
    safe: Duration,
}

impl Pace {
    async fn measure(crew: &mut Crew) -> Result<Self, Failure> {
        let (mut agreed, mut safe) = (Vec::new(), Vec::new());
        for _ in 0..ECHOES {
            agreed.push(crew.echo(Service::Agreed).await?);
            safe.push(crew.echo(Service::Safe).await?);
        }
        Ok(Self { agreed: median(agreed), safe: median(safe) })
    }

    /// The rounds of docs/PROTOCOL.md: the order itself and the flush (a refresh has a REFRESH and no flush), the module's
    /// rounds of which the last is safe, the confirmations. Who is left alone has a key at once.
    fn of(self, event: Event, rounds: u64) -> Duration {
        let before: u64 = if matches!(event, Event::Refresh) { 1 } else { 2 };
        let agreed = before.saturating_add(rounds.saturating_sub(1));
        let safe = if rounds == 0 { 0 } else { 2 };
        self.agreed.saturating_mul(u32::try_from(agreed).unwrap_or(u32::MAX)) + self.safe.saturating_mul(safe)
    }
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 100_000.0).round() / 100.0
}

fn share(part: Duration, of: Duration) -> f64 {
    (part.as_secs_f64() / of.as_secs_f64().max(1e-9) * 1_000.0).round() / 1_000.0
}

fn value(row: &Row) -> Value {
    let rest = row.cpu.saturating_sub(row.group).saturating_sub(row.signatures);
    json!({
        "module": row.module.as_str(), "event": row.event, "members": row.size, "wall_ms": ms(row.wall),
        "cpu_ms": ms(row.cpu), "group_ms": ms(row.group), "signatures_ms": ms(row.signatures), "rest_ms": ms(rest),
        "group_share": share(row.group, row.cpu), "expected_ms": ms(row.expected),
        "wall_to_expected": share(row.wall, row.expected), "messages": row.counted.messages,
        "bytes": row.counted.bytes, "rounds": row.counted.rounds, "exponentiations": row.counted.all,
    })
}

fn for_people(rows: &[Row]) -> String {
    let heading = [
        "MODULE",
        "EVENT",
        "N",
        "WALL MS",
        "CPU MS",
        "GROUP MS",
        "SIGN MS",
        "REST MS",
        "EXPECTED MS",
        "MESSAGES",
        "BYTES",
        "ROUNDS",
    ];
    let row = |row: &Row| {
        let rest = row.cpu.saturating_sub(row.group).saturating_sub(row.signatures);
        let names = [row.module.as_str().to_owned(), row.event.to_owned(), row.size.to_string()];
        let times = [row.wall, row.cpu, row.group, row.signatures, rest, row.expected]
            .map(|span| ms(span).to_string());
        let counts =
            [row.counted.messages, row.counted.bytes, row.counted.rounds].map(|count| count.to_string());
        names.into_iter().chain(times).chain(counts).collect()
    };
    table(&heading, &rows.iter().map(row).collect::<Vec<_>>())
}
