//! What two bridges add to the round trip of programs of liblcm, and how much goes through them.
//!
//! ```text
//!   liblcm ==inside, TTL 0== bridge ~~cable, sealed~~ bridge ==inside, TTL 0== liblcm
//!   liblcm ==================== cable, plain, TTL 1 ========================== liblcm
//! ```

use crate::Outcome;
use crate::contender::{Common, Place, first_port};
use crate::echo::{ask, in_turn};
use crate::process::{Process, call};
use crate::statistics::{median, rounded};
use crate::throughput::{Rate, said, warm};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// When the bridges are given up that do not come together.
const PATIENCE: Duration = Duration::from_secs(20);
/// The paces that are tried one after another, in messages a second, until more than
/// [`LOST_MAX`] is lost.
const PACES: [usize; 9] = [2_500, 5_000, 10_000, 15_000, 20_000, 30_000, 40_000, 60_000, 80_000];
const LOST_MAX: f64 = 0.001;
const CHANNELS: &str = "--channel PING --channel PONG --channel DATA";

#[derive(Debug, Args)]
pub(crate) struct Bridge {
    #[command(flatten)]
    common: Common,
    /// The program `folkmoot` [default: the one beside this]
    #[arg(long)]
    program: Option<PathBuf>,
    /// Sizes of the messages, in bytes
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_350, 8_192])]
    sizes: Vec<usize>,
    /// Round trips of each size
    #[arg(long, default_value_t = 1_000)]
    times: usize,
    /// How many of them before the other's turn
    #[arg(long, default_value_t = 100)]
    turn: usize,
    /// How often messages a second are measured; the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each sends
    #[arg(long, default_value_t = 1_000)]
    milliseconds: usize,
}

/// Where programs of liblcm meet: through the bridges, and without.
struct Ways {
    /// With TTL 0: nothing of it leaves a host by itself.
    bridged: String,
    direct: String,
}

impl Ways {
    fn each(&self) -> [(&'static str, &str); 2] {
        [("direct", &self.direct), ("bridged", &self.bridged)]
    }
}

pub(crate) fn run(options: &Bridge) -> Outcome<()> {
    let place = Place::prepare(&options.common)?;
    if place.net.is_loopback() {
        return Err("bridges are between two hosts: leave out --loopback".into());
    }
    let folder = std::env::temp_dir().join(format!("folkmoot-bridge-{}", std::process::id()));
    let measured = measure(options, &place, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn measure(options: &Bridge, place: &Place, folder: &Path) -> Outcome<()> {
    let port = first_port();
    let inside = format!("udpm://239.255.76.67:{port}?ttl=0&recv_buf_size={}", place.receive_bytes);
    let outside = format!("udpm://239.255.76.68:{}", port + 1);
    let ways = Ways { bridged: inside, direct: place.net.url(port + 2, place.receive_bytes) };
    let bridges = bridges(options, place, folder, (&ways.bridged, &outside))?;
    println!("{}", json!({"measures": "bridge", "conditions": place.conditions(), "times": options.times}));
    trips(options, place, &ways)?;
    for size in &options.sizes {
        println!("{}", through(options, place, &ways, *size)?);
    }
    drop(bridges);
    Ok(())
}

/// A bridge at each end.
fn bridges(
    options: &Bridge,
    place: &Place,
    folder: &Path,
    (inside, outside): (&str, &str),
) -> Outcome<[Process; 2]> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("folkmoot"),
    };
    let (program, root) = (program.display(), folder.join("root"));
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    call(&format!("{program} lcm root new {} --no-passphrase", root.display()))?;
    let start = |end: usize| {
        let (own, root) = (folder.join(end.to_string()), root.display());
        let (own, sender) = (own.display(), end + 1);
        let papers = format!("--root {root} --sender {sender} --out {own} --lcm-url {outside}");
        call(&format!("{program} lcm certify {papers} {CHANNELS}"))?;
        let words = format!("{program} lcm bridge --secured {own} --inside {inside}");
        let mut line = place.line(end);
        line.extend(words.split_whitespace().map(str::to_owned));
        Process::spawn(&line, &[("HOME".to_owned(), folder.display().to_string())])
    };
    Ok([start(0)?, start(1)?])
}

/// Round trips of each size, with and without bridges in turn.
fn trips(options: &Bridge, place: &Place, ways: &Ways) -> Outcome<()> {
    let (mut sources, mut replies) = (Vec::new(), Vec::new());
    for (_, url) in ways.each() {
        replies.push(place.liblcm.start(place.line(1), "reply", url)?);
        let mut source = place.liblcm.start(place.line(0), "source", url)?;
        together(&mut source)?;
        sources.push(source);
    }
    for size in &options.sizes {
        let both = in_turn(&mut sources, *size, (options.times, options.turn))?;
        let [direct, bridged] = both.as_slice() else { return Err("not both were measured".into()) };
        let told = json!({
            "bytes": size, "direct": direct.json(), "bridged": bridged.json(),
            "ratio": rounded(bridged.median / direct.median),
            "added_us": rounded(bridged.median - direct.median),
        });
        println!("{told}");
    }
    Ok(())
}

/// Until something comes back: bridges agree on keys first.
fn together(source: &mut Process) -> Outcome<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if ask(source, 100, 1)?.iter().any(|took| *took > 0) {
            return Ok(());
        }
    }
    Err("nothing comes back through the bridges".into())
}

/// What comes through in a second, as fast as a program of liblcm can send it; and the quickest
/// pace at which nearly all of it comes.
fn through(options: &Bridge, place: &Place, ways: &Ways, size: usize) -> Outcome<serde_json::Value> {
    let mut rates: [(Vec<Rate>, Vec<f64>); 2] = Default::default();
    for _ in 0..options.rounds {
        for ((_, url), (fast, steady)) in ways.each().into_iter().zip(&mut rates) {
            let receiver = place.liblcm.start(place.line(1), "receive", url)?;
            let mut sender = place.liblcm.start(place.line(0), "send", url)?;
            warm(&mut sender, &receiver, size)?;
            steady.push(pace(&mut sender, &receiver, (size, options.milliseconds))?);
            fast.push(said(&mut sender, &receiver, (size, options.milliseconds, 0))?);
        }
    }
    let mut all = serde_json::Map::from_iter([("bytes".to_owned(), json!(size))]);
    for ((name, _), (fast, steady)) in ways.each().into_iter().zip(&rates) {
        all.insert(name.to_owned(), told(fast, steady));
    }
    Ok(all.into())
}

fn told(fast: &[Rate], steady: &[f64]) -> serde_json::Value {
    let each = |of: fn(&Rate) -> f64| fast.iter().map(of).collect::<Vec<f64>>();
    let (delivered, sent) = (each(|rate| rate.delivered.round()), each(|rate| rate.sent.round()));
    json!({
        "steady": median(steady), "steady_rounds": steady,
        "fastest_delivered": median(&delivered), "fastest_sent": median(&sent), "fastest_rounds": delivered,
    })
}

/// The quickest of the paces before the first at which too much is lost.
fn pace(sender: &mut Process, receiver: &Process, (size, milliseconds): (usize, usize)) -> Outcome<f64> {
    let mut held = 0.0;
    for a_second in PACES {
        let rate = said(sender, receiver, (size, milliseconds, a_second))?;
        // A sender that is slower than the pace says nothing about it.
        if rate.lost > LOST_MAX || rate.sent < 0.95 * a_second as f64 {
            break;
        }
        held = a_second as f64;
    }
    Ok(held)
}
