//! Runs schedules. `folkmoot-sim --help` says how; README.md says why.

mod cli;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&cli::Arguments::parse())
}
