//! `folkmoot-bench`, which `folkmoot bench` calls: what things cost, measured here and now.
//!
//! ```text
//! ring                   each member a process: this program again, acting as `folkmoot`
//! keying, admission      members in this process, each node with sockets and a store of its own
//! links                  two nodes, no network
//! transcript             a reader of files, no network
//! line                   an old group and a newcomer, no network
//! chart                  results of earlier runs: saved.rs, chart.rs
//! ```

mod admission;
mod alone;
mod args;
mod chart;
mod counts;
mod crew;
mod line;
mod links;
mod live;
mod meter;
mod people;
mod price;
mod ring;
mod saved;
mod split;
mod transcript;

use args::{Bench, BenchKeying, Cli};
use folkmoot_cli::exit::Failure;
use folkmoot_cli::start;
use std::process::ExitCode;

/// The first word of the command line of a process that acts as `folkmoot`.
const AS_FOLKMOOT: &str = "--as-folkmoot";

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    if words.nth(1).is_some_and(|first| first == AS_FOLKMOOT) {
        return folkmoot_cli::main(std::iter::once("folkmoot".into()).chain(words));
    }
    let cli: Cli = match start::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    start::run(cli.json, dispatch(cli))
}

async fn dispatch(Cli { json, bench }: Cli) -> Result<(), Failure> {
    match bench {
        Bench::Ring(options) => ring::ring(&options, AS_FOLKMOOT, json).await,
        Bench::Keying(options) => keying(&options, json).await,
        Bench::Links(options) => links::links(&options, json),
        Bench::Transcript(options) => transcript::transcript(&options, json),
        Bench::Admission(options) => admission::admission(&options, json).await,
        Bench::Line(options) => line::line(&options, json),
        Bench::Chart(options) => saved::chart(&options),
    }
}

/// Counted without a network, or measured in the real stack.
async fn keying(options: &BenchKeying, json: bool) -> Result<(), Failure> {
    if options.counts { counts::counts(options, json) } else { live::live(options, json).await }
}
