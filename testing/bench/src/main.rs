//! `folkmoot-bench`, which `folkmoot bench` calls: what things cost, measured here and now.
//!
//! ```text
//! ring                   each member a process: this program again, acting as a member
//! reference              each node a process: multicast without an order
//! compare                runs of ring, reference and corosync in turn
//! keying, admission      members in this process, each node with sockets and a store of its own
//! links                  two nodes, no network
//! stacks                 both stacks of several members in one thread, no network
//! transcript             a reader of files, no network
//! line                   an old group and a newcomer, no network
//! chart                  results of earlier runs: saved.rs, chart.rs
//! ```

mod admission;
mod alone;
mod args;
mod chart;
mod compare;
mod counts;
mod crew;
mod heap;
mod line;
mod links;
mod live;
mod meter;
mod namespaces;
mod people;
mod price;
mod reference;
mod ring;
mod saved;
mod speed;
mod split;
mod stacks;
mod transcript;

use args::{Bench, BenchKeying, Cli};
use folkmoot_cli::exit::Failure;
use folkmoot_cli::start;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

fn main() -> ExitCode {
    // A process of a bench: its role, and how it begins.
    if let [_, role, start] = std::env::args().collect::<Vec<_>>().as_slice()
        && let Some(code) = part(role, start)
    {
        return code;
    }
    let cli: Cli = match start::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    start::run(cli.json, dispatch(cli))
}

/// Plays a part in a bench that another process runs, if this is the name of one.
fn part(role: &str, start: &str) -> Option<ExitCode> {
    match role {
        ring::AS_MEMBER => Some(match ring::as_member(start) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("folkmoot-bench: {failure}");
                ExitCode::FAILURE
            }
        }),
        reference::AS_REFERENCE => Some(start::run(false, reference::as_reference(start))),
        _ => None,
    }
}

async fn dispatch(Cli { json, bench }: Cli) -> Result<(), Failure> {
    match bench {
        Bench::Ring(options) => ring::ring(&options, json).await,
        Bench::Reference(options) => reference::reference(&options, json).await,
        Bench::Compare(options) => compare::compare(&options, json).await,
        Bench::Keying(options) => keying(&options, json).await,
        Bench::Links(options) => links::links(&options, json),
        Bench::Stacks(options) => stacks::stacks(&options, json),
        Bench::Transcript(options) => transcript::transcript(&options, json),
        Bench::Admission(options) => admission::admission(&options, json).await,
        Bench::Line(options) => line::line(&options, json),
        Bench::Speed(options) => speed::speed(&options, json),
        Bench::Chart(options) => saved::chart(&options),
    }
}

/// Counted without a network, or measured in the real stack.
async fn keying(options: &BenchKeying, json: bool) -> Result<(), Failure> {
    if options.counts { counts::counts(options, json) } else { live::live(options, json).await }
}
