//! Chores in Rust: `cargo xtask verify` checks everything and writes nothing, `fix` repairs what
//! can be repaired, `tidy` checks the house, `release` runs the full numbers and writes their log,
//! `fuzz` runs the fuzz targets, `outside` programs of somebody else's, `package` builds one from
//! what would be published, `picture` draws the demo for the README.

mod fuzz;
mod outside;
mod picture;
mod plan;
mod record;
mod release;
mod run;
mod tidy;
mod verify;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Folkmoot's chores")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// All checks and tests, as CI runs them. Changes no file of the project.
    Verify {
        /// Only what finds most faults in a few minutes: for use between commits.
        #[arg(long, conflicts_with = "net")]
        quick: bool,
        /// Only the real processes in network namespaces, with all the time that they may take.
        #[arg(long)]
        net: bool,
        /// Go on after a step that failed, and list all failures at the end.
        #[arg(long)]
        keep_going: bool,
    },
    /// Formats, and applies what clippy can repair by itself.
    Fix,
    /// Checks the house: edges between crates, circles of files, callers, sizes, purity, columns,
    /// rule numbers, test programs, mutants, dead files.
    Tidy,
    /// The full numbers of the issues; writes docs/evidence/release-COMMIT.log.
    Release {
        /// Schedules for the simulator.
        #[arg(long, default_value_t = 20_000)]
        schedules: u32,
        /// Seconds for each fuzz target.
        #[arg(long, default_value_t = 600)]
        fuzz_seconds: u32,
        /// The numbers of these issues only; may be given more than once.
        #[arg(long = "issue", value_name = "NUMBER")]
        issues: Vec<u32>,
        /// Only the commands that have this in them; may be given more than once.
        #[arg(long, value_name = "TEXT")]
        only: Vec<String>,
    },
    /// Runs every fuzz target (needs a nightly toolchain; installs cargo-fuzz if it is missing).
    Fuzz {
        /// Seconds for each target.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Targets at a time.
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Only this one; may be given several times.
        #[arg(long)]
        only: Vec<String>,
        /// Write what ended without a finding into docs/evidence/fuzz.tsv.
        #[arg(long)]
        record: bool,
        /// As --record, and leave out what is in it for as many seconds already.
        #[arg(long)]
        resume: bool,
    },
    /// Builds and runs testing/outside: programs that depend on the library alone, and are in no
    /// workspace with it. The library's examples are among them.
    Outside,
    /// Packs the library and the crates that it needs, and builds a program from the packages
    /// alone.
    Package,
    /// Runs the demo and draws it as docs/demo.svg, the picture in the README.
    Picture {
        /// The program to run; without it, a release build of this checkout.
        #[arg(long, value_name = "FILE")]
        program: Option<String>,
    },
}

fn main() -> ExitCode {
    let outcome = match Args::parse().chore {
        Chore::Verify { quick: true, keep_going, .. } => verify::quick(keep_going),
        Chore::Verify { net: true, .. } => verify::net(),
        Chore::Verify { keep_going, .. } => verify::verify(keep_going),
        Chore::Fix => verify::fix(),
        Chore::Tidy => tidy::tidy(),
        Chore::Release { schedules, fuzz_seconds, issues, only } => {
            release::release(schedules, fuzz_seconds, &issues, &only)
        }
        Chore::Fuzz { seconds, jobs, only, record, resume } => {
            fuzz::fuzz(&fuzz::Plan { seconds, jobs, only, record, resume })
        }
        Chore::Outside => outside::outside(),
        Chore::Package => outside::package(),
        Chore::Picture { program } => picture::picture(program.as_deref()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
