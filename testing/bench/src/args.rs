//! The command line of `folkmoot-bench`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use folkmoot_base::ModuleName;
use folkmoot_cli::values::{Multicast, Ordering, mode, scheme};
use folkmoot_signing::{Mode, Scheme};
use serde::Serialize;
use std::path::PathBuf;

/// Measures what Folkmoot costs on this machine.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-bench", bin_name = "folkmoot bench", version = folkmoot_cli::VERSION, max_term_width = 100)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Prints one JSON value on the standard output, for programs.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) bench: Bench,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Measures messages a second, latency and processor time of the ordered, sealed path, and how
    /// fast members follow a change. Each member is a process of its own, on loopback or in a
    /// network namespace.
    Ring(BenchRing),
    /// Measures what the machine can do at best: multicast that is sealed twice and opened twice,
    /// without any order, each node in a network namespace. Needs root.
    Reference(BenchReference),
    /// Measures this stack, corosync with AES-256 and the reference in turn, and prints ratios of
    /// medians. Needs root.
    Compare(BenchCompare),
    /// Measures what a change of members costs with each module of key agreement, in the real stack
    /// on loopback; or counts it.
    Keying(BenchKeying),
    /// Measures bytes and time of a handshake between two nodes, by X25519 alone and with
    /// ML-KEM-768 as well.
    Links(BenchLinks),
    /// Measures what a message costs both stacks of each member: allocations and processor time.
    /// All run in one thread, without runtime, sockets and disk.
    Stacks(BenchStacks),
    /// Measures what signing by each scheme costs, by one signer and by several, and what a join
    /// costs. Each member has a node of its own, on loopback.
    Admission(BenchAdmission),
    /// Measures how long an outsider needs to judge a transcript's file, by the number of items in
    /// it. The group has 256 voters.
    Transcript(BenchTranscript),
    /// Measures what a newcomer is given of an old group, and how long it takes to verify that on
    /// one core.
    Line(BenchLine),
    /// Measures how steady the processors are: how fast each is in slow and in fast hundredths of a
    /// second. All are busy meanwhile.
    Speed(BenchSpeed),
    /// Draws the chart of what earlier runs of `keying`, `admission` or `compare` printed with
    /// --json. It measures nothing.
    Chart(BenchChart),
}

#[derive(Debug, Args)]
pub(crate) struct BenchSpeed {
    /// How long to measure.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
}

#[derive(Debug, Args)]
pub(crate) struct BenchChart {
    /// The saved results, one value a line.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The SVG file to write.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// A part of `bench admission`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdmissionPart {
    /// Measures signing and verifying, without a network.
    Tables,
    /// Measures joins over the real ring.
    Joins,
    /// Measures joins of the usual case while strangers flood two members with bogus requests.
    Flood,
}

#[derive(Debug, Args)]
pub(crate) struct BenchAdmission {
    /// The only part to run [default: all].
    #[arg(long, value_enum)]
    pub(crate) part: Option<AdmissionPart>,
    /// How often each signature is made. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) runs: u16,
    /// How many joins of the usual case: five members, two votes. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 30, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    pub(crate) times: u16,
    /// How many joins of each other case.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) series: u16,
    /// How many pairs of joins, without the flood and with it. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) pairs: u16,
    /// The most votes: joins are measured with one vote to so many.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(0..=10))]
    pub(crate) votes: u16,
    /// How many members, while the number of votes changes.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(2..=50))]
    pub(crate) members: u16,
    /// Sizes of the group, with commas between them, while the votes are 20 % and 30 % of it.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [5, 10], value_parser = clap::value_parser!(u16).range(2..=50))]
    pub(crate) sizes: Vec<u16>,
    /// The only scheme to measure. You can give it more than once [default: all].
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    pub(crate) scheme: Vec<Scheme>,
    /// Whether the members alone sign certificates (decentralised), or an authority as well
    /// (centralised) [default: the members, if the scheme lets them].
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Draws the time of a join against votes and members, as an SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchStacks {
    /// How many members.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=32))]
    pub(crate) members: u8,
    /// Bytes of each message, with commas between several sizes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [100, 1_350, 8_192])]
    pub(crate) bytes: Vec<usize>,
    /// How many messages each member sends, and before that as many that are not counted.
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000)]
    pub(crate) messages: u64,
}

#[derive(Debug, Args)]
pub(crate) struct BenchLinks {
    /// How many handshakes of each form. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) times: u16,
}

#[derive(Debug, Args)]
pub(crate) struct BenchTranscript {
    /// How many items the sets have, with commas between them.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [4_096, 8_192, 16_384], value_parser = clap::value_parser!(u32).range(16..=16_384))]
    pub(crate) items: Vec<u32>,
    /// How often each file is read. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) times: u16,
    /// A folder to write the charter and the files to, for `folkmoot verify`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchLine {
    /// How many newcomers. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) times: u16,
    /// How many days the group is old. Every day the electorate changes.
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=3_650))]
    pub(crate) days: u16,
    /// How many admissions in that time: at most 512 on a day.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) admissions: u32,
    /// How many members there are in the end, with seven voters.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(8..=1_000))]
    pub(crate) members: u16,
}

#[derive(Debug, Args)]
pub(crate) struct BenchKeying {
    /// Counts messages, bytes, rounds and exponentiations of the modules alone, without a network.
    #[arg(long)]
    pub(crate) counts: bool,
    /// How often each change is made. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) times: u16,
    /// Draws processor time against size, as an SVG.
    #[arg(long, value_name = "FILE", conflicts_with = "counts")]
    pub(crate) chart: Option<PathBuf>,
    /// Sizes of the group, with commas between them [default: 2,4,8,16,32,64].
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(2..=512))]
    pub(crate) sizes: Vec<u16>,
    /// The only change to measure. You can give it more than once [default: all].
    #[arg(long, value_name = "CHANGE", value_enum, conflicts_with = "counts")]
    pub(crate) change: Vec<Change>,
    /// How many nodes carry the members, evenly [default: 16, or as many as there are members].
    #[arg(long, value_name = "NUMBER", conflicts_with = "counts", value_parser = clap::value_parser!(u16).range(2..=64))]
    pub(crate) nodes: Option<u16>,
    /// The only module to measure [default: all].
    #[arg(long, value_name = "MODULE", value_parser = module)]
    pub(crate) module: Option<ModuleName>,
}

/// A change of members that `bench keying` measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Change {
    /// A member leaves.
    Leave,
    /// A member joins.
    Join,
    /// The member that leads the agreement leaves.
    ControllerLeave,
    /// All members agree on a new key.
    Refresh,
    /// Two halves of the group meet again.
    Merge,
}

/// A kind of measurement by `bench ring`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RingMode {
    /// Measures messages a second under load.
    Throughput,
    /// Measures the latency of lone messages: each sender sends one every 5 to 15 ms.
    Latency,
    /// Measures how long the others need for a view after a member was killed.
    Kill,
    /// Measures how long both sides of a partition need for one view after it ends.
    Heal,
    /// Measures how long a member needs to leave and to join.
    Join,
    /// Measures how long strangers need, one after another, from their start until all have a view
    /// with them. The first member votes for each.
    Admit,
    /// Measures how long members need from the start of the first one until all have one view.
    Form,
    /// Measures what members cost that send nothing, for --seconds.
    Idle,
    /// Counts the configurations that it costs to stop the last member again and again, for --pause
    /// each time. Every sender sends 100 messages a second, or as many as --rate says.
    Pause,
    /// Counts the configurations that it costs if other work keeps the processors busy, for
    /// --seconds. Every sender sends 100 messages a second, or as many as --rate says.
    Busy,
}

/// A kind of comparison by `bench compare`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CompareMode {
    /// Compares messages a second.
    Throughput,
    /// Compares how long a lone message takes to the farthest member, from each member in turn;
    /// with agreed and FIFO order, and with all members sending.
    Latency,
    /// Compares this stack's services with agreed order, in messages a second. Then it sends at
    /// 80 % of the rate of agreed order by a timetable, and measures latency.
    Services,
}

#[derive(Debug, Args)]
pub(crate) struct BenchRing {
    /// How many members.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) nodes: u16,
    /// Network namespaces with commas between them, one for each member. If none of them exists,
    /// the bench makes them, and removes them at the end. Needs root.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "nodes", value_parser = crate::namespaces::name)]
    pub(crate) namespaces: Vec<String>,
    /// Whether members send what is for all by IP multicast, if all of them hear that (auto).
    #[arg(long, value_enum, value_name = "MODE", hide_possible_values = true, default_value_t = Multicast::Off)]
    pub(crate) multicast: Multicast,
    /// The kind of measurement.
    #[arg(long, value_enum, default_value_t = RingMode::Throughput)]
    pub(crate) mode: RingMode,
    /// How many of them send [default: all; one if --mode is latency].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) senders: Option<u16>,
    /// The number of the only one that sends; the first is 1.
    #[arg(long, value_name = "NUMBER", conflicts_with = "senders", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) from: Option<u16>,
    /// Bytes of each message.
    #[arg(long, value_name = "BYTES", default_value_t = 1350, value_parser = clap::value_parser!(u32).range(24..=16_777_216))]
    pub(crate) bytes: u32,
    /// How the messages are ordered.
    #[arg(long, value_enum, default_value_t = Ordering::Agreed)]
    pub(crate) service: Ordering,
    /// How long to measure, after a second to warm up.
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// How many messages of each sender may be on their way at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) window: u32,
    /// How many threads each member's process has besides the store's. With 1, the program and the
    /// engine take turns, as suits a program that is done with an event soon.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub(crate) threads: u16,
    /// How many messages a second each sender sends, whatever comes back, in place of a window.
    #[arg(long, value_name = "NUMBER", conflicts_with = "window", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Measures how fast the processors are meanwhile, in bytes that one hashes in a nanosecond.
    /// That takes less than one hundredth of their time.
    #[arg(long)]
    pub(crate) speed: bool,
    /// The --rate is meant for processors that are so fast; it follows how fast they are now.
    #[arg(long, value_name = "SPEED", requires = "rate", value_parser = rate)]
    pub(crate) at_speed: Option<f64>,
    /// How often each change is made. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) times: u16,
    /// How long a member is stopped if --mode is pause.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 300, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) pause: u16,
    /// How many threads work if --mode is busy [default: one for each processor].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(0..=256))]
    pub(crate) busy: Option<u16>,
    /// How long a round trip between two members takes at least, by the transport's fault switch.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=3_000))]
    pub(crate) trip: u16,
    /// How many of a hundred datagrams are lost, by the transport's fault switch.
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=50))]
    pub(crate) loss: u8,
}

#[derive(Debug, Args)]
pub(crate) struct BenchReference {
    /// Network namespaces with commas between them, one for each node. If none of them exists, the
    /// bench makes them, and removes them at the end. Needs root.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "fm1,fm2,fm3", value_parser = crate::namespaces::name)]
    pub(crate) namespaces: Vec<String>,
    /// How many of them send [default: all].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) senders: Option<u16>,
    /// The number of the only node that sends, a message every 5 to 15 ms; the first is 1. The
    /// bench then measures how long a message takes.
    #[arg(long, value_name = "NUMBER", conflicts_with = "senders", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) lone: Option<u16>,
    /// Bytes of each message.
    #[arg(long, value_name = "BYTES", default_value_t = 1350, value_parser = clap::value_parser!(u32).range(24..=16_777_216))]
    pub(crate) bytes: u32,
    /// How long to measure.
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
}

#[derive(Debug, Args)]
pub(crate) struct BenchCompare {
    /// How many nodes, each in a network namespace: fm1, fm2 and so on, which the bench makes if
    /// they do not exist.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=64))]
    pub(crate) nodes: u16,
    /// The kind of comparison.
    #[arg(long, value_enum, default_value_t = CompareMode::Throughput)]
    pub(crate) mode: CompareMode,
    /// How many of them send [default: all].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) senders: Option<u16>,
    /// Bytes of each message, with commas between the sizes [default: 100,1350,8192; 100 if --mode
    /// is latency, and then at most 1400].
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(24..=65_536))]
    pub(crate) bytes: Vec<u32>,
    /// How the messages of this stack are ordered. With --mode services, one that is not
    /// agreed is compared with agreed order alone.
    #[arg(long, value_enum, default_value_t = Ordering::Agreed)]
    pub(crate) service: Ordering,
    /// Whether this stack's members send what is for all by IP multicast, if all of them hear that
    /// (auto).
    #[arg(long, value_enum, default_value_t = Multicast::Off)]
    pub(crate) multicast: Multicast,
    /// How long each run measures.
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub(crate) seconds: u32,
    /// How often all are run in turn. The output has medians.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) rounds: u16,
    /// All but corosync run with real-time priority (chrt), as corosync itself does.
    #[arg(long)]
    pub(crate) realtime: bool,
    /// Another build of this program, to be compared too.
    #[arg(long, value_name = "FILE")]
    pub(crate) before: Option<PathBuf>,
    /// Draws messages a second against bytes, as an SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
}

impl BenchCompare {
    /// Bytes of each message.
    pub(crate) fn sizes(&self) -> Vec<u32> {
        match (self.bytes.as_slice(), self.mode) {
            ([], CompareMode::Latency) => vec![100],
            ([], _) => vec![100, 1_350, 8_192],
            (sizes, _) => sizes.to_vec(),
        }
    }
}

fn rate(word: &str) -> Result<f64, &'static str> {
    let number = word.parse().ok().filter(|rate: &f64| (0.001..=10_000_000.0).contains(rate));
    number.ok_or("it must be a number from 0.001 to 10,000,000")
}

fn module(word: &str) -> Result<ModuleName, &'static str> {
    ModuleName::from_name(word)
        .ok_or("it must be gdh, tgdh, str, bd, ckd, dutta-barua, mls, ckd+ml-kem-768 or mls+ml-kem-768")
}
