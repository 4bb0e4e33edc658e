//! Options that run a member; and those of an authority's replica, which the authority's process
//! runs, too.

use crate::keys::Keys;
use crate::values::{Multicast, head, listen, locator};
use clap::Args;
use folkmoot::Locator;
use folkmoot_transcript::{KnownHead, Voucher};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a member listens that is not told where.
pub(crate) fn usual_listen() -> SocketAddr {
    (std::net::Ipv4Addr::UNSPECIFIED, 4803).into()
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Run {
    /// Where to listen: an address, or a host name of this machine.
    #[arg(long, default_value_t = usual_listen(), value_name = "ADDRESS:PORT", value_parser = listen)]
    pub(crate) listen: SocketAddr,
    /// Where another member listens, for example udp/192.0.2.7:4803 or
    /// udp/anna.example.org:4803. You can give it more than once. The charter's contacts are tried
    /// after it.
    #[arg(long = "at", value_name = "LOCATOR", value_parser = locator)]
    pub(crate) at: Vec<Locator>,
    /// The signed charter. It is copied to the folder the first time.
    #[arg(long, value_name = "FILE")]
    pub(crate) charter: Option<PathBuf>,
    /// The signed charter of a group that this node carries beside its own: its members and voters
    /// have no say in this one. You can give it up to 64 times, and give it at each start.
    #[arg(long = "carry", value_name = "FILE")]
    pub(crate) carries: Vec<PathBuf>,
    /// Lets a program vote. It gets one JSON object for each request, and answers approve,
    /// reject or wait (docs/cli.md).
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) policy_hook: Option<PathBuf>,
    /// A head that you know from somebody in the group, as `folkmoot status` shows it there, in
    /// digits or in words. The member follows only a line of decisions that has it.
    #[arg(long = "head", value_name = "HEAD", value_parser = head)]
    pub(crate) heads: Vec<KnownHead>,
    /// Whether to send what is for all members by IP multicast if all of them hear that (auto),
    /// or to each by itself (off). It helps in large groups on one wired network.
    #[arg(long, value_enum, value_name = "MODE", hide_possible_values = true, default_value_t = Multicast::Off)]
    pub(crate) multicast: Multicast,
    /// Ask for admission at once.
    #[arg(long, hide = true)]
    pub(crate) apply: bool,
    /// Print nothing but the line that says where the member listens.
    #[arg(long, hide = true)]
    pub(crate) quiet: bool,
    /// End when the standard input ends: a child goes when its parent does.
    #[arg(long, hide = true)]
    pub(crate) while_stdin: bool,
    /// What people are told once the member runs, before its own words.
    #[arg(skip)]
    pub(crate) notes: Vec<String>,
    /// What came with the newcomer's ticket.
    #[arg(skip)]
    pub(crate) voucher: Option<Voucher>,
    /// What it shows of who it is (X.509, DER).
    #[arg(skip)]
    pub(crate) endorsement: Option<Vec<u8>>,
    /// What opens its key.
    #[arg(skip)]
    pub(crate) keys: Keys,
    /// Be the group's authority, or nothing.
    #[arg(skip)]
    pub(crate) authority: bool,
    /// Its replica.
    #[arg(skip)]
    pub(crate) replica: ReplicaArgs,
    /// Set the wall clock forward, for tests.
    #[arg(long, hide = true, default_value_t = 0, value_name = "SECONDS")]
    pub(crate) clock_ahead: u64,
    /// Publish a pose on this LCM group, so many times a second, under the group's own decisions.
    #[arg(long, hide = true, value_name = "LCM-URL")]
    pub(crate) robot: Option<folkmoot_pubsub::Address>,
    #[arg(long, hide = true, default_value_t = 1_000, value_name = "HZ", requires = "robot")]
    pub(crate) robot_rate: u32,
    /// Keep every key, to show what they are good for after an expulsion.
    #[arg(long, hide = true)]
    pub(crate) danger_keep_keys: bool,
}

/// The replica of an authority: the authority's process runs it, too.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplicaArgs {
    /// With several replicas of one authority: the replica's state folder in their own
    /// group, whose log they share.
    #[arg(long, value_name = "DIR")]
    pub(crate) replicas: Option<PathBuf>,
    /// The signed charter of the replicas' group. It is copied to that folder the first time.
    #[arg(long, value_name = "FILE", requires = "replicas")]
    pub(crate) replicas_charter: Option<PathBuf>,
    /// Where to listen for the other replicas.
    #[arg(long, default_value = "0.0.0.0:4804", value_name = "ADDRESS:PORT", value_parser = listen, requires = "replicas")]
    pub(crate) replicas_listen: SocketAddr,
    /// Where another replica listens for replicas. You can give it more than once.
    #[arg(long, value_name = "LOCATOR", value_parser = locator, requires = "replicas")]
    pub(crate) replicas_at: Vec<Locator>,
}

impl Default for ReplicaArgs {
    /// None.
    fn default() -> Self {
        let replicas_listen = (std::net::Ipv4Addr::UNSPECIFIED, 0).into();
        Self { replicas: None, replicas_charter: None, replicas_listen, replicas_at: Vec::new() }
    }
}
