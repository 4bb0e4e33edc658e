//! The authority's command line, and what a new charter says of one.

use crate::args::Run;
use crate::exit::{Exit, Failure};
use crate::values::{dealer, mode, scheme};
use clap::{Args, Subcommand};
use folkmoot::Locator;
use folkmoot_authority::Public;
use folkmoot_identity::{AUTHORITY_NODES_MAX, Central, Dealer, Mode, Scheme};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Authority {
    /// Make an authority in an empty folder: an identity, the key that signs certificates, and what a dealer deals.
    New {
        /// The group's name, as the charter will have it.
        #[arg(long, value_name = "NAME")]
        group: String,
        /// How the group will sign: plain, asm, ts-dsa, frost.
        #[arg(long, value_name = "SCHEME", default_value = "plain", value_parser = scheme)]
        scheme: Scheme,
        /// The name of its identity.
        #[arg(long, value_name = "NAME", default_value = "authority")]
        name: String,
    },
    /// Show whose authority the folder holds, and its key id.
    Show,
    /// Print what the founders need for the charter: the certificate of its key, and its identity certificate (PEM).
    Certificate,
    /// Write the office to a file for a replica. Who has that file is the authority.
    HandOver {
        /// A new file; only its owner may read it.
        file: PathBuf,
    },
    /// Keep the office of such a file in a folder that has an identity of its own and no office. Remove the file then.
    TakeOver {
        /// What hand-over wrote; mode 600.
        file: PathBuf,
    },
    /// Run the authority until it is told to stop.
    Run(AuthorityRun),
    /// How the authority that runs on the folder stands: who is here, what it issued, what waits.
    Status,
    /// Put the log of another replica into the folder of one that is set up anew, where too few are left who know it.
    TakeLog {
        /// The other replica's folder, or a copy of it; nobody may run on it.
        #[arg(value_name = "FOLDER")]
        from: PathBuf,
    },
    /// Print what was issued, from a folder on which nobody runs: a replica's (in the log's order), or the authority's own.
    Log,
}

#[derive(Debug, Args)]
pub(crate) struct AuthorityRun {
    /// The group's signed charter.
    pub(crate) charter: PathBuf,
    /// Where a member listens, as udp/192.0.2.7:4803; may be given more than once.
    #[arg(long = "at", value_name = "LOCATOR")]
    pub(crate) at: Vec<Locator>,
    /// Where to listen.
    #[arg(long, default_value = "0.0.0.0:4803", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Where the charter has it decide: by a program, as a member's (docs/cli.md).
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

/// The replica of an authority: the authority's process runs it, too.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplicaArgs {
    /// With several of one office: the state folder in the replicas' own group, whose log all share.
    #[arg(long, value_name = "DIR")]
    pub(crate) replicas: Option<PathBuf>,
    /// The signed charter of the replicas' group; kept in that folder the first time.
    #[arg(long, value_name = "FILE", requires = "replicas")]
    pub(crate) replicas_charter: Option<PathBuf>,
    /// Where to listen for the other replicas.
    #[arg(long, default_value = "0.0.0.0:4804", value_name = "ADDRESS:PORT", requires = "replicas")]
    pub(crate) replicas_listen: SocketAddr,
    /// Where another replica listens for replicas; may be given more than once.
    #[arg(long, value_name = "LOCATOR", requires = "replicas")]
    pub(crate) replicas_at: Vec<Locator>,
}

impl Default for ReplicaArgs {
    /// None.
    fn default() -> Self {
        let replicas_listen = (std::net::Ipv4Addr::UNSPECIFIED, 0).into();
        Self { replicas: None, replicas_charter: None, replicas_listen, replicas_at: Vec::new() }
    }
}

impl From<AuthorityRun> for Run {
    fn from(run: AuthorityRun) -> Self {
        let AuthorityRun { charter, at, listen, policy_hook, replica, quiet, while_stdin, clock_ahead } = run;
        let (charter, authority) = (Some(charter), true);
        let (apply, danger_keep_keys) = (false, false);
        Self {
            listen,
            at,
            charter,
            policy_hook,
            apply,
            quiet,
            while_stdin,
            authority,
            replica,
            clock_ahead,
            danger_keep_keys,
        }
    }
}

/// Who signs certificates, in a new charter.
#[derive(Debug, Args)]
pub(crate) struct SeatArgs {
    /// Who signs certificates: nobody but the voters (decentralised), or an authority as well (centralised).
    #[arg(long, value_name = "MODE", default_value = "decentralised", value_parser = mode)]
    mode: Mode,
    /// With --mode centralised: what `folkmoot authority certificate` printed, or the authority's folder; once for each replica.
    #[arg(long = "authority", value_name = "FILE")]
    authorities: Vec<PathBuf>,
    /// With a scheme that has shares: whether the authority keeps the secret to deal anew (keeps), or erases it once dealt (setup-only).
    #[arg(long, value_name = "HOW", value_parser = dealer)]
    dealer: Option<Dealer>,
}

impl SeatArgs {
    /// The charter's part on the authority. What does not go together otherwise, the charter says.
    pub(crate) fn central(&self) -> Result<Option<Central>, Failure> {
        let usage = |why: &str| Err(Failure::new(Exit::Usage, why));
        if self.mode == Mode::Decentralised {
            return match (self.authorities.is_empty(), self.dealer) {
                (true, None) => Ok(None),
                _ => usage("--authority and --dealer go with --mode centralised"),
            };
        }
        let read = |file: &PathBuf| Public::read(file).map_err(Failure::from);
        let all = self.authorities.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let Some(first) = all.first() else {
            return usage("--mode centralised takes --authority FILE: folkmoot authority new makes one");
        };
        if all.iter().any(|one| one.certificate != first.certificate) {
            return usage("these are authorities with different keys: replicas take over the office of one");
        }
        let nodes: BTreeSet<_> = all.iter().map(|one| one.node.member()).collect();
        if nodes.len() != all.len() || nodes.len() > AUTHORITY_NODES_MAX {
            return usage("each replica once, and at most 8");
        }
        Ok(Some(Central { certificate: first.certificate.clone(), nodes, dealer: self.dealer }))
    }
}
