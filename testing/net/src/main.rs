//! Groups of real processes on real networks: each member is a process of its own with the shipped
//! engine, in a network namespace of its own. What they log is judged by the simulator's checkers.
//!
//! ```text
//!   folkmoot-net --scenario: ip netns, veth, bridges ------> [ member ] [ member ] [ member ]
//!        ^      starts, kills, cuts, moves, orders                |          |         |
//!        '------------------ logs, sorted by one clock -----------'----------'---------'
//!                                    |
//!                                    v   Record --> checkers
//! ```
//! Needs root and the program `ip` (iproute2). `--ready` says whether it can work here.

mod direct;
mod faults;
mod judge;
mod log;
mod member;
mod parcel;
mod report;
mod said;
mod scenarios;
mod seat;
mod stage;
mod taps;
mod wires;
mod words;

use clap::Parser;
use member::in_words;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Real processes in network namespaces, judged by the simulator's checkers")]
struct Args {
    /// Only this scenario; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Look for stray configurations for 3 s after each change instead of 10, and 10 s at the end.
    #[arg(long)]
    quick: bool,
    /// In which order members start; drawn if not given, and told.
    #[arg(long)]
    seed: Option<u64>,
    /// Scenarios at a time.
    #[arg(long, default_value_t = 3)]
    jobs: usize,
    /// Play a scenario so often at most, if nothing but the number or the time of configurations is
    /// wrong: on a machine that does other work, a token comes late.
    #[arg(long, default_value_t = 1)]
    tries: usize,
    /// A JSON line for each scenario on standard output.
    #[arg(long)]
    json: bool,
    /// Keep the logs in this folder, which does not exist yet. Without it, they are kept if
    /// something failed.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Say whether namespaces can be made here, and do nothing.
    #[arg(long)]
    ready: bool,
    /// Be a member: the program starts itself so.
    #[arg(long, hide = true, value_name = "JSON")]
    as_member: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match (&args.as_member, args.ready) {
        (Some(start), _) => serde_json::from_str(start)
            .map_err(in_words)
            .and_then(|start| runtime(1)?.block_on(member::member(start)))
            .map(|()| true),
        (None, true) => wires::ready().map(|()| true),
        (None, false) => runtime(2).and_then(|runtime| runtime.block_on(direct::direct(&args))),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("folkmoot-net: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, String> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(threads).enable_all().build().map_err(in_words)
}
