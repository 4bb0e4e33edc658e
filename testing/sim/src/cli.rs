//! The command line: schedules by the thousand, one seed again, or the mutants.

mod away;
mod flood;
mod lcm;
mod many;
mod mutants;
mod one;

use clap::{Parser, Subcommand};
use folkmoot_base::Keying;
use folkmoot_identity::Scheme;
use folkmoot_sim::aim::{AIMS, Aim};
use folkmoot_sim::schedule::Schedule;
use folkmoot_sim::signing::{self, SCHEMES};
use std::process::ExitCode;

/// Plays drawn schedules on the shipped stacks and checks every promise.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-sim", version, about)]
pub(crate) struct Arguments {
    /// Something else than the stacks.
    #[command(subcommand)]
    pub(crate) what: Option<What>,
    /// How many schedules to play.
    #[arg(long, default_value_t = 300)]
    pub(crate) schedules: u64,
    /// The first seed; the others follow it.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// One summary object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads; as many as there are cores if not given.
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
    /// Play this seed again and say what it broke.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["mutants", "schedules"])]
    pub(crate) replay: Option<u64>,
    /// With --replay: one line for each event.
    #[arg(long, requires = "replay")]
    pub(crate) transcript: bool,
    /// With --replay: the first so many steps only.
    #[arg(long, requires = "replay", value_name = "N")]
    pub(crate) steps: Option<usize>,
    /// With --replay: drop steps as long as the same promise breaks, then say which are left.
    #[arg(long, requires = "replay")]
    pub(crate) shrink: bool,
    /// Two members flood for so many seconds of virtual time: what that costs each of the others.
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["mutants", "schedules", "replay"])]
    pub(crate) flood: Option<u64>,
    /// Break each layer on purpose and see that its checker catches it.
    #[arg(long)]
    pub(crate) mutants: bool,
    /// Each pair of players has a round trip of its own, up to so many microseconds.
    #[arg(long, value_name = "MICROSECONDS")]
    pub(crate) far: Option<u64>,
    /// With --mutants: only checkers whose name, or dangers whose name, holds this.
    #[arg(long, requires = "mutants", value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Play all schedules with this broken at every player (a name of `folkmoot_base::Danger`).
    #[arg(long, value_name = "NAME", value_parser = danger)]
    pub(crate) danger: Option<folkmoot_base::Danger>,
    /// Play or replay with steps put in front that aim at narrow moments: confirmation, expulsion,
    /// roster, ordeal, cascade, charter, disks, clocks, twice, readers, forger, reflector, shares
    /// or takeover.
    #[arg(long, value_name = "MOMENT", value_parser = aim, conflicts_with = "mutants")]
    pub(crate) aim: Option<Aim>,
    /// What agrees on keys: by-size (which is gdh for so few), gdh, tgdh, str, bd, ckd, dutta-barua
    /// or mls.
    #[arg(long, value_name = "MODULE", value_parser = keying, conflicts_with = "mutants")]
    pub(crate) keying: Option<Keying>,
    /// How the charter has votes become a signature: plain, asm, ts-dsa or frost.
    #[arg(long, value_name = "SCHEME", value_parser = scheme, conflicts_with = "mutants")]
    pub(crate) scheme: Option<Scheme>,
    /// With --keying ckd or mls: ML-KEM-768 as well, in keys and links.
    #[arg(long, requires = "keying")]
    pub(crate) hybrid: bool,
    /// Print the digest of each run's transcript: two processes must print the same.
    #[arg(long)]
    pub(crate) digest: bool,
    /// Stop after this many seconds of wall time and say how far it came.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) limit: Option<u64>,
}

/// What else there is to play.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Plays discovery and keys of publish and subscribe.
    Lcm(lcm::Lcm),
    /// Plays large groups of which many are away.
    Away(away::Away),
}

/// Exit codes of the program.
pub(crate) const DONE: u8 = 0;
pub(crate) const FOUND: u8 = 1;

/// Does what `arguments` say.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    // A panic inside of a run is reported as a violation of that run, with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    match &arguments.what {
        Some(What::Lcm(options)) => return ExitCode::from(lcm::run(options)),
        Some(What::Away(options)) => return ExitCode::from(away::run(options)),
        None => {}
    }
    let code = match arguments.replay {
        Some(seed) => one::replay(arguments, seed),
        None if arguments.flood.is_some() => flood::compare(arguments, arguments.flood.unwrap_or_default()),
        None if arguments.mutants => mutants::hunt(arguments),
        None => many::play(arguments),
    };
    ExitCode::from(code)
}

fn danger(name: &str) -> Result<folkmoot_base::Danger, String> {
    folkmoot_sim::mutant::danger_called(name).ok_or_else(|| "no such danger is known here".to_owned())
}

fn keying(name: &str) -> Result<Keying, String> {
    Keying::from_name(name).ok_or_else(|| "by-size, gdh, tgdh, str, bd, ckd, dutta-barua or mls".to_owned())
}

fn scheme(name: &str) -> Result<Scheme, String> {
    let known = SCHEMES.into_iter().find(|scheme| scheme.name() == name);
    known.ok_or_else(|| "plain, asm, ts-dsa or frost".to_owned())
}

fn aim(name: &str) -> Result<Aim, String> {
    let named = AIMS.into_iter().find(|(known, _)| *known == name);
    named.map(|(_, aim)| aim).ok_or_else(|| "no such moment is known here".to_owned())
}

/// The schedule of `seed`, aimed as the command line says.
fn schedule(arguments: &Arguments, seed: u64) -> Schedule {
    let mut schedule = Schedule::draw(seed);
    schedule.keying = arguments.keying.unwrap_or_default();
    schedule.hybrid = arguments.hybrid;
    arguments.aim.unwrap_or(Aim::Anywhere).take(&mut schedule);
    signing::take(&mut schedule, arguments.scheme.unwrap_or(Scheme::Plain));
    schedule.far = arguments.far.unwrap_or(schedule.far);
    schedule
}

/// Threads to use.
fn jobs(arguments: &Arguments) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    arguments.jobs.unwrap_or_else(cores).max(1)
}
