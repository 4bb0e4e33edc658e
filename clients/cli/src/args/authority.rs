//! The command line of an authority, and the options of a new charter about it.

use super::run::{ReplicaArgs, Run};
use crate::keys::Keys;
use crate::values::{Multicast, dealer, listen, locator, mode, scheme};
use clap::{Args, Subcommand};
use folkmoot::Locator;
use folkmoot_identity::{Dealer, Mode, Scheme};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Authority {
    /// Makes an authority in an empty folder: an identity, the key that signs certificates,
    /// and the dealer's secret if the scheme has shares.
    New {
        /// The group's name, as it will stand in the charter.
        #[arg(long, value_name = "NAME")]
        group: String,
        /// How the group will sign certificates: plain, asm, ts-dsa, frost.
        #[arg(long, value_name = "SCHEME", default_value = "plain", value_parser = scheme)]
        scheme: Scheme,
        /// The name of the authority's identity.
        #[arg(long, value_name = "NAME", default_value = "authority")]
        name: String,
        /// Leaves the key of the new identity unencrypted: anyone who gets the folder is the
        /// authority.
        #[arg(long)]
        no_passphrase: bool,
    },
    /// Shows which group's authority the folder holds, and its key id.
    Show,
    /// Prints what the founders need for the charter: the certificate of the authority's
    /// key, and its identity certificate (PEM).
    Certificate,
    /// Writes the authority's office to a file for a replica. Anyone who has that file can act
    /// as the authority.
    HandOver {
        /// The new file. Only its owner can read it.
        file: PathBuf,
    },
    /// Takes over the office from a file that hand-over wrote, into a folder that has an identity
    /// of its own and no office. Remove the file afterwards.
    TakeOver {
        /// The file that hand-over wrote, with mode 600.
        file: PathBuf,
    },
    /// Runs the authority until it is told to stop.
    Run(AuthorityRun),
    /// Shows the state of the authority that runs on the folder: which members are here, what it
    /// has issued, what waits.
    Status,
    /// Copies another replica's log into a new replica's folder, for when too few replicas are
    /// left that know the log.
    TakeLog {
        /// The other replica's folder, or a copy of it. No process may run on it.
        #[arg(value_name = "FOLDER")]
        from: PathBuf,
    },
    /// Prints what the authority has issued, from a folder on which no process runs: a
    /// replica's (in the log's order), or the authority's own.
    Log,
}

#[derive(Debug, Args)]
pub(crate) struct AuthorityRun {
    /// The group's signed charter.
    pub(crate) charter: PathBuf,
    /// Where a member listens, for example udp/192.0.2.7:4803 or udp/anna.example.org:4803. You can
    /// give it more than once.
    #[arg(long = "at", value_name = "LOCATOR", value_parser = locator)]
    pub(crate) at: Vec<Locator>,
    /// Where to listen: an address, or a host name of this machine.
    #[arg(long, default_value = "0.0.0.0:4803", value_name = "ADDRESS:PORT", value_parser = listen)]
    pub(crate) listen: SocketAddr,
    /// Lets a program decide, if the charter lets the authority decide (docs/cli.md).
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) policy_hook: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replica: ReplicaArgs,
    /// Print nothing but the line that says where it listens.
    #[arg(long, hide = true)]
    pub(crate) quiet: bool,
    /// End when the standard input ends.
    #[arg(long, hide = true)]
    pub(crate) while_stdin: bool,
    /// Set the wall clock forward, for tests.
    #[arg(long, hide = true, default_value_t = 0, value_name = "SECONDS")]
    pub(crate) clock_ahead: u64,
}

impl From<AuthorityRun> for Run {
    fn from(run: AuthorityRun) -> Self {
        let AuthorityRun { charter, at, listen, policy_hook, replica, quiet, while_stdin, clock_ahead } = run;
        let (charter, authority) = (Some(charter), true);
        let (apply, danger_keep_keys) = (false, false);
        let (robot, robot_rate) = (None, 0);
        Self {
            listen,
            at,
            charter,
            policy_hook,
            heads: Vec::new(),
            carries: Vec::new(),
            multicast: Multicast::Off,
            voucher: None,
            endorsement: None,
            keys: Keys::default(),
            notes: Vec::new(),
            apply,
            quiet,
            while_stdin,
            authority,
            replica,
            clock_ahead,
            robot,
            robot_rate,
            danger_keep_keys,
        }
    }
}

/// Who signs certificates, in a new charter.
#[derive(Debug, Args)]
pub(crate) struct SeatArgs {
    /// Whether the voters alone sign certificates (decentralised), or an authority as well
    /// (centralised).
    #[arg(long, value_name = "MODE", default_value = "decentralised", value_parser = mode)]
    pub(crate) mode: Mode,
    /// With --mode centralised: the file that `folkmoot authority certificate` printed, or
    /// the authority's folder. Give it once for each replica.
    #[arg(long = "authority", value_name = "FILE")]
    pub(crate) authorities: Vec<PathBuf>,
    /// With a scheme that has shares: whether the authority keeps the secret, to deal
    /// shares again later (keeps), or erases it after the first time (setup-only).
    #[arg(long, value_name = "HOW", value_parser = dealer)]
    pub(crate) dealer: Option<Dealer>,
}
