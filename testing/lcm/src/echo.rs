//! Round trips, as in the paper: the source publishes, the other side publishes the same again.

use crate::Outcome;
use crate::chart;
use crate::contender::{Common, Contender, Place};
use crate::process::Process;
use crate::statistics::{Summary, rounded};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// The paper's.
const SIZES: [usize; 25] = [
    100, 133, 177, 237, 316, 421, 562, 749, 1_000, 1_333, 1_778, 2_371, 3_162, 4_217, 5_623, 7_499, 10_000,
    13_335, 17_783, 23_713, 31_623, 42_170, 56_234, 74_989, 100_000,
];
const WARM_UP: usize = 30;
const WHO: [Contender; 3] = [Contender::Liblcm, Contender::Plain, Contender::Secured];

#[derive(Debug, Args)]
pub(crate) struct Echo {
    #[command(flatten)]
    common: Common,
    /// Round trips of each size
    #[arg(long, default_value_t = 1_000)]
    times: usize,
    /// How many of them before the next one's turn
    #[arg(long, default_value_t = 100)]
    turn: usize,
    /// Writes a chart like the paper's Figure 8
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// What is known of one size.
pub(crate) struct Row {
    pub(crate) size: usize,
    /// In the order of [`WHO`].
    pub(crate) summaries: [Summary; 3],
}

pub(crate) fn run(options: &Echo) -> Outcome<()> {
    let place = Place::prepare(&options.common)?;
    let mut sources = Vec::new();
    let mut replies = Vec::new();
    for who in WHO {
        replies.push(place.start(who, "reply", 1)?);
        sources.push(place.start(who, "source", 0)?);
    }
    // Until all have heard that the others are in the group.
    std::thread::sleep(Duration::from_millis(300));
    println!("{}", json!({"measures": "echo", "conditions": place.conditions(), "times": options.times}));
    let mut rows = Vec::new();
    for size in SIZES {
        let row = measure(options, &mut sources, size)?;
        println!("{}", told(&row));
        rows.push(row);
    }
    if let Some(path) = &options.svg {
        std::fs::write(path, chart::boxes(&rows, place.net.name())).map_err(|error| error.to_string())?;
    }
    drop(replies);
    Ok(())
}

fn measure(options: &Echo, sources: &mut [Process], size: usize) -> Outcome<Row> {
    let summaries = in_turn(sources, size, (options.times, options.turn))?;
    let summaries = summaries.try_into().map_err(|_| "not all were measured")?;
    Ok(Row { size, summaries })
}

/// So many round trips of each of these, some at a time.
pub(crate) fn in_turn(
    sources: &mut [Process],
    size: usize,
    (times, at_a_time): (usize, usize),
) -> Outcome<Vec<Summary>> {
    let mut taken = vec![Vec::new(); sources.len()];
    for source in sources.iter_mut() {
        ask(source, size, WARM_UP)?;
    }
    for turn in 0..times.div_ceil(at_a_time.max(1)) {
        for step in 0..sources.len() {
            // Each is first, second and third as often as the others.
            let who = (turn + step) % sources.len();
            if let Some((source, taken)) = sources.get_mut(who).zip(taken.get_mut(who)) {
                taken.extend(ask(source, size, at_a_time)?);
            }
        }
    }
    Ok(taken.iter().map(|taken| Summary::of(taken)).collect())
}

pub(crate) fn ask(source: &mut Process, size: usize, times: usize) -> Outcome<Vec<u64>> {
    source.tell(&format!("{size} {times}"))?;
    source.numbers(Duration::from_secs(60))
}

fn told(row: &Row) -> serde_json::Value {
    let [liblcm, plain, secured] = row.summaries;
    json!({
        "bytes": row.size,
        "liblcm": liblcm.json(),
        "plain": plain.json(),
        "secured": secured.json(),
        "plain_ratio": rounded(plain.median / liblcm.median),
        "secured_ratio": rounded(secured.median / liblcm.median),
    })
}
