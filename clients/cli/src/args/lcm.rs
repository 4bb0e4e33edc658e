//! What can be said to `folkmoot lcm`.

use super::certify::{Certificate, Certify, Exclude, Root};
use super::keys::NewPassphrase;
use clap::{ArgGroup, Args, Subcommand};
use folkmoot_base::Mutant;
use folkmoot_lcm::{Danger, Pattern, PatternError};
use folkmoot_pubsub::{Address, Channel, Interface};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Lcm {
    /// Where the programs meet: LCM's URL with the multicast group, its port and the TTL. With
    /// TTL 0 nothing leaves this host [default: $LCM_DEFAULT_URL, or else
    /// udpm://239.255.76.67:7667?ttl=0; with --secured the group of the certificate, with TTL 1].
    #[arg(long, global = true, value_name = "URL", value_parser = address)]
    pub(crate) lcm_url: Option<Address>,
    /// The network interface that it speaks and listens by, as in eth0 [default: the one that the
    /// routes of this host name].
    #[arg(long, global = true, value_name = "NAME", value_parser = interface)]
    pub(crate) interface: Option<Interface>,
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
    /// Lets plain programs on this host talk to those on others, sealed, without touching them.
    Bridge(Bridge),
    /// Makes the root, whose key says who may be on which channels.
    #[command(subcommand)]
    Root(Root),
    /// Certifies that a key may be on these channels, as this sender.
    Certify(Certify),
    /// Shows what a certificate says.
    #[command(subcommand)]
    Certificate(Certificate),
    /// Excludes a certificate: all others agree on new keys without its holder.
    Exclude(Exclude),
    /// Sets or changes the passphrase of a root.key or member.key, or removes it.
    Passphrase(Passphrase),
}

/// How a command takes part in a secured group.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Secured {
    /// Takes part in the secured form, by root.crt, member.crt and member.key in this folder, as
    /// `folkmoot lcm certify` writes them.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) secured: Option<PathBuf>,
    /// A channel on which each message is signed by its sender. All members give the same channels.
    #[arg(long, value_name = "CHANNEL", value_parser = channel, requires = "secured")]
    pub(crate) signed: Vec<Channel>,
}

/// Which channels.
#[derive(Debug, Clone, Args)]
pub(crate) struct Channels {
    /// Which channels: a regular expression for the whole name.
    #[arg(long, short, value_name = "PATTERN", value_parser = pattern, default_value = ".*")]
    channel: Pattern,
    /// Takes the channels that do not match --channel instead.
    #[arg(long, short = 'v', visible_alias = "invert-channels", requires = "channel")]
    invert: bool,
}

impl Channels {
    /// What to subscribe to. A channel of it may still not be wanted: no regular expression here
    /// says what another one does not match.
    pub(crate) fn pattern(&self) -> Result<Pattern, PatternError> {
        if self.invert { Pattern::new(".*") } else { Ok(self.channel.clone()) }
    }

    pub(crate) fn wants(&self, channel: &Channel) -> bool {
        self.channel.matches(channel) != self.invert
    }

    /// The same for a channel that matches [`Self::pattern`].
    pub(crate) fn keeps(&self, channel: &Channel) -> bool {
        !self.invert || self.wants(channel)
    }
}

/// Which channels, and for how long.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    #[command(flatten)]
    pub(crate) channels: Channels,
    /// Stops after this many seconds [default: when it is told to, by Ctrl-C].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Spy {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) secured: Secured,
    /// How often the table is shown.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) every: u64,
    /// A .lcm file, once for each: the last message of each channel is shown, field by field, if
    /// these files define its type.
    #[arg(long, value_name = "FILE")]
    pub(crate) types: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("numbered"))]
pub(crate) struct Log {
    /// The file to write.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) secured: Secured,
    /// Stops after so many messages.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) count: Option<u64>,
    /// Overwrites the file if it exists.
    #[arg(long, short, conflicts_with = "numbered")]
    pub(crate) force: bool,
    /// Writes FILE.00, or the first of FILE.01, FILE.02, ... that does not exist. It never
    /// overwrites one.
    #[arg(long, short, group = "numbered")]
    pub(crate) increment: bool,
    /// Writes FILE.0, and keeps so many files: an older FILE.0 becomes FILE.1, and so on. The last
    /// one is overwritten.
    #[arg(long, value_name = "NUMBER", group = "numbered", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rotate: Option<u32>,
    /// Begins a new file before one has more than so many MB (of 2^20 bytes); may have a fraction.
    #[arg(long, value_name = "MB", value_parser = megabytes, requires = "numbered")]
    pub(crate) split_mb: Option<u64>,
    /// Begins a new file when the first message of one is so many seconds old.
    #[arg(long, value_name = "SECONDS", requires = "numbered", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) split_seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Play {
    /// The log.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) channels: Channels,
    #[command(flatten)]
    pub(crate) secured: Secured,
    /// How many times faster than it was recorded; 0: without pauses.
    #[arg(long, short, value_name = "FACTOR", default_value_t = 1.0, value_parser = speed, allow_negative_numbers = true)]
    pub(crate) speed: f64,
    /// Begins so many seconds after the log's first message; may have a fraction.
    #[arg(long, value_name = "SECONDS", value_parser = start, allow_negative_numbers = true)]
    pub(crate) start: Option<Duration>,
    /// Begins anew at the end, until it is told to stop.
    #[arg(long = "loop")]
    pub(crate) again: bool,
    /// Waits before the first message: the space key continues, and so does the signal CONT.
    #[arg(long)]
    pub(crate) paused: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Echo {
    /// The channel to hear.
    #[arg(value_parser = channel)]
    pub(crate) from: Channel,
    /// The channel to publish on.
    #[arg(value_parser = channel)]
    pub(crate) to: Channel,
    #[command(flatten)]
    pub(crate) secured: Secured,
    /// Stops after this many seconds [default: when it is told to, by Ctrl-C].
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

#[derive(Debug, Args)]
pub(crate) struct Bridge {
    /// The folder with root.crt, member.crt and member.key, as `folkmoot lcm certify` writes them.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) secured: PathBuf,
    /// A channel on which each message is signed by its sender. All members give the same channels.
    #[arg(long, value_name = "CHANNEL", value_parser = channel)]
    pub(crate) signed: Vec<Channel>,
    /// Where plain programs on this host meet [default: --lcm-url].
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(crate) inside: Option<Address>,
    /// Where the bridges of all hosts meet, sealed: a group that the certificate names [default:
    /// the certificate's group, with TTL 1].
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(crate) outside: Option<Address>,
    #[command(flatten)]
    pub(crate) channels: Channels,
    /// Allows a TTL above 0 inside: plain messages leave this host, and anybody can read them.
    #[arg(long)]
    pub(crate) inside_leaves_host: bool,
    /// How often it says what went over [default: at the end only].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) every: Option<u64>,
    /// Stops after this many seconds [default: when it is told to, by Ctrl-C].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<u64>,
    /// A check that tests leave out. No option sets it.
    #[arg(skip)]
    pub(crate) danger: Mutant<Danger>,
}

#[derive(Debug, Args)]
pub(crate) struct Passphrase {
    /// The folder with root.key or member.key, or the key's file.
    #[arg(value_name = "FOLDER")]
    pub(crate) at: PathBuf,
    #[command(flatten)]
    pub(crate) new: NewPassphrase,
}

fn address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|error: folkmoot_pubsub::AddressError| error.to_string())
}

fn interface(text: &str) -> Result<Interface, String> {
    text.parse().map_err(|error: folkmoot_pubsub::AddressError| error.to_string())
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|error| error.to_string())
}

pub(super) fn channel(text: &str) -> Result<Channel, String> {
    Channel::new(text).map_err(|error| error.to_string())
}

fn speed(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.parse().ok();
    let factor = factor.filter(|factor| *factor == 0.0 || (0.001..=1_000_000.0).contains(factor));
    factor.ok_or_else(|| String::from("a speed is 0, or a number from 0.001 to 1000000"))
}

/// In bytes.
fn megabytes(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.001..=1_000_000.0).contains(number));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within 1000 to 2^40")]
    let bytes = number.map(|number| (number * f64::from(1 << 20)) as u64);
    bytes.ok_or_else(|| String::from("a size is a number from 0.001 to 1000000"))
}

fn start(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| String::from("where to start is a number of seconds, 0 or more"))
}
