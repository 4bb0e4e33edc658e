//! What can be said to `folkmoot lcm`.

use clap::{Args, Subcommand};
use folkmoot_lcm::Pattern;
use folkmoot_pubsub::{Address, Channel};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Lcm {
    /// Where the programs meet: LCM's URL with the multicast group, its port and the TTL. With
    /// TTL 0 nothing leaves this host.
    #[arg(long, global = true, env = "LCM_DEFAULT_URL", value_name = "URL", value_parser = address, default_value = "udpm://239.255.76.67:7667?ttl=0")]
    pub(crate) lcm_url: Address,
    #[command(subcommand)]
    pub(crate) command: LcmCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LcmCommand {
    /// Shows which channels are in use: messages, rates, sizes, and how many messages are
    /// missing.
    Spy(Spy),
    /// Records messages in LCM's log format, until it is told to stop.
    Log(Log),
    /// Publishes the messages of a log, with the pauses that they had.
    Play(Play),
    /// Publishes what comes on one channel on another, at once.
    Echo(Echo),
    /// Writes Rust types for the messages that .lcm files define.
    Gen(Gen),
}

/// Which channels, and for how long.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Which channels: a regular expression for the whole name.
    #[arg(long, short, value_name = "PATTERN", value_parser = pattern, default_value = ".*")]
    pub(crate) channel: Pattern,
    /// Stops after so long [default: when it is told to, by Ctrl-C].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Spy {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// How often the table is shown.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) every: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The file to write.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Stops after so many messages.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) count: Option<u64>,
    /// Overwrites the file if it exists.
    #[arg(long, short)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Play {
    /// The log.
    pub(crate) file: PathBuf,
    /// Which channels: a regular expression for the whole name.
    #[arg(long, short, value_name = "PATTERN", value_parser = pattern, default_value = ".*")]
    pub(crate) channel: Pattern,
    /// How many times faster than it was recorded; 0: without pauses.
    #[arg(long, short, value_name = "FACTOR", default_value_t = 1.0, value_parser = speed)]
    pub(crate) speed: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Echo {
    /// The channel to hear.
    #[arg(value_parser = channel)]
    pub(crate) from: Channel,
    /// The channel to publish on.
    #[arg(value_parser = channel)]
    pub(crate) to: Channel,
    /// Stops after so long [default: when it is told to, by Ctrl-C].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<u64>,
    /// Stops after so many messages.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) count: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Gen {
    /// The .lcm files. A type of one may be used in another.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The folder where lcm_types.rs is written.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

fn address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|error: folkmoot_pubsub::AddressError| error.to_string())
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|error| error.to_string())
}

fn channel(text: &str) -> Result<Channel, String> {
    Channel::new(text).map_err(|error| error.to_string())
}

fn speed(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.parse().ok();
    let factor = factor.filter(|factor| *factor == 0.0 || (0.001..=1_000_000.0).contains(factor));
    factor.ok_or_else(|| String::from("a speed is 0, or a number from 0.001 to 1000000"))
}
