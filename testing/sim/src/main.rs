//! Runs schedules. `folkmoot-sim --help` says how; README.md says why.

mod cli;

use clap::Parser as _;
use folkmoot_sim::flood::heap::Counting;
use std::process::ExitCode;

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    cli::run(&cli::Arguments::parse())
}
