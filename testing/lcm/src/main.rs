//! Folkmoot's LCM beside liblcm: round trips, throughput, and what a flood costs.
//!
//! ```text
//!   bench --tasks, a line each--> source --PING==> reply         liblcm, ours plain, ours secured:
//!         <--round trips---------        <==PONG--               in turn, each on a port of its own
//! ```
//! Every side is a process of its own, in a network namespace of its own unless `--loopback` is
//! given. That needs root. liblcm is Debian's, which testing/lcm/parts.py fetches.

mod across;
mod bridge;
mod chart;
mod contender;
mod echo;
mod flood;
mod junk;
mod liblcm;
mod net;
mod pair;
mod process;
mod side;
mod start;
mod statistics;
mod throughput;
mod verdict;

use clap::{Parser, Subcommand};

/// The result of a part of the bench.
pub(crate) type Outcome<T> = Result<T, String>;

#[derive(Debug, Parser)]
#[command(about = "Measures Folkmoot's LCM beside liblcm")]
struct Options {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Measures round trips
    Echo(echo::Echo),
    /// Measures what comes through, as fast as it can be sent
    Throughput(throughput::Throughput),
    /// Measures what is lost while a foreign program floods the group
    Flood(flood::Flood),
    /// Measures what junk about keys costs members
    Junk(junk::Junk),
    /// Measures what bridges add to round trips of liblcm, and what comes through them
    Bridge(bridge::Bridge),
    /// Shows what comes through between liblcm and ours
    Across(across::Across),
    /// Measures how soon programs that are started at once share their keys
    Start(start::Start),
    /// Is one of those programs
    #[command(hide = true)]
    Joins(start::Joins),
    /// Is one of the processes of a measurement
    #[command(hide = true)]
    Side(side::Side),
}

fn main() -> std::process::ExitCode {
    let done = match Options::parse().part {
        Part::Echo(options) => echo::run(&options),
        Part::Throughput(options) => throughput::run(&options),
        Part::Flood(options) => flood::run(&options),
        Part::Junk(options) => junk::run(&options),
        Part::Bridge(options) => bridge::run(&options),
        Part::Across(options) => across::run(&options),
        Part::Start(options) => start::run(&options),
        Part::Joins(options) => start::joins(&options),
        Part::Side(options) => side::run(&options),
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("folkmoot-lcm-bench: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
