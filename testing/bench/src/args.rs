//! The command line of `folkmoot-bench`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use folkmoot_base::ModuleName;
use folkmoot_cli::values::{Ordering, mode, scheme};
use folkmoot_signing::{Mode, Scheme};
use std::path::PathBuf;

/// What Folkmoot costs, measured here and now.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-bench", bin_name = "folkmoot bench", version = folkmoot_cli::VERSION, max_term_width = 100)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    /// One JSON value on the standard output, for programs.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) bench: Bench,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Messages a second and latency of the ordered, sealed path; each member in its own process on
    /// loopback.
    Ring(BenchRing),
    /// What a change of members costs with each module of key agreement, in the real stack on
    /// loopback or counted.
    Keying(BenchKeying),
    /// Bytes and time of a handshake between two nodes, by X25519 alone and with ML-KEM-768 as
    /// well.
    Links(BenchLinks),
    /// What signing by each scheme costs, one hand and several, and what a join costs; members on
    /// nodes of their own on loopback.
    Admission(BenchAdmission),
    /// Measure nothing: draw the chart of what earlier runs of `keying` or `admission` printed with
    /// --json.
    Chart(BenchChart),
}

#[derive(Debug, Args)]
pub(crate) struct BenchChart {
    /// Saved results, one value a line.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where to draw it: an SVG.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// A part of `bench admission`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdmissionPart {
    /// Signing and verifying, without a network.
    Tables,
    /// Joins over the real ring.
    Joins,
    /// Joins of the usual case while strangers flood two of the members with bogus requests.
    Flood,
}

#[derive(Debug, Args)]
pub(crate) struct BenchAdmission {
    /// One part only.
    #[arg(long, value_enum)]
    pub(crate) part: Option<AdmissionPart>,
    /// How often each signature is made; medians are shown.
    #[arg(long, value_name = "NUMBER", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) runs: u16,
    /// Joins of the usual case, five members with two votes; medians are shown.
    #[arg(long, value_name = "NUMBER", default_value_t = 30, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    pub(crate) times: u16,
    /// Joins in each other case.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) series: u16,
    /// Pairs of joins, without the flood and with it; medians are shown.
    #[arg(long, value_name = "NUMBER", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) pairs: u16,
    /// From one vote to how many.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(0..=10))]
    pub(crate) votes: u16,
    /// Members while the votes change.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(2..=50))]
    pub(crate) members: u16,
    /// Sizes of the group while the votes are 20 % and 30 % of it, separated by commas.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [5, 10], value_parser = clap::value_parser!(u16).range(2..=50))]
    pub(crate) sizes: Vec<u16>,
    /// These schemes only; may be given more than once.
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    pub(crate) scheme: Vec<Scheme>,
    /// Who signs certificates: the members alone, or an authority as well; unless given, the
    /// members where the scheme lets them.
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Draw the time of a join against votes and members: an SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchLinks {
    /// How many handshakes of each form; medians are shown.
    #[arg(long, value_name = "NUMBER", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) times: u16,
}

#[derive(Debug, Args)]
pub(crate) struct BenchKeying {
    /// Count messages, bytes, rounds and exponentiations of the modules alone, without a network.
    #[arg(long)]
    pub(crate) counts: bool,
    /// How often each change is made; medians are shown.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) times: u16,
    /// Draw processor time against size: an SVG.
    #[arg(long, value_name = "FILE", conflicts_with = "counts")]
    pub(crate) chart: Option<PathBuf>,
    /// Sizes of the group, separated by commas; 2,4,8,16,32,64 unless given.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(2..=512))]
    pub(crate) sizes: Vec<u16>,
    /// Nodes that carry the members, evenly; 16, or as many as there are members, unless given.
    #[arg(long, value_name = "NUMBER", conflicts_with = "counts", value_parser = clap::value_parser!(u16).range(2..=64))]
    pub(crate) nodes: Option<u16>,
    /// One module only.
    #[arg(long, value_name = "MODULE", value_parser = module)]
    pub(crate) module: Option<ModuleName>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchRing {
    /// Members.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub(crate) nodes: u16,
    /// How many of them send.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub(crate) senders: u16,
    /// Bytes of each message.
    #[arg(long, value_name = "BYTES", default_value_t = 1350, value_parser = clap::value_parser!(u32).range(24..=16_777_216))]
    pub(crate) bytes: u32,
    /// How they are ordered.
    #[arg(long, value_enum, default_value_t = Ordering::Agreed)]
    pub(crate) service: Ordering,
    /// How long to measure, after a second to warm up.
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Messages of each sender that may be on their way at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) window: u32,
}

fn module(word: &str) -> Result<ModuleName, &'static str> {
    ModuleName::from_name(word)
        .ok_or("gdh, tgdh, str, bd, ckd, dutta-barua, mls, ckd+ml-kem-768 or mls+ml-kem-768")
}
