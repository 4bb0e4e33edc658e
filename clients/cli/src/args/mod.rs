//! The command line, defined once: parsing, help and docs/cli.md follow from it.

use crate::values::{head, listen, locator, mode, scheme};
use authority::Authority;
pub(crate) use charter::Charter;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use folkmoot::Locator;
use folkmoot_identity::{Mode, Scheme};
use folkmoot_transcript::KnownHead;
use keys::{Identity, KeyArgs};
use messages::{Receive, Send};
use newcomer::{Invite, Join};
use run::Run;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(crate) mod authority;
pub(crate) mod certify;
mod charter;
mod examples;
pub(crate) mod keys;
pub(crate) mod lcm;
pub(crate) mod messages;
pub(crate) mod newcomer;
pub(crate) mod rules;
pub(crate) mod run;

/// Where help lists what every command takes.
const EVERYWHERE: &str = "With every command";

/// The command line, with an example for each command.
pub(crate) fn command() -> clap::Command {
    examples::shown(Cli::command())
}

/// Secure peer groups: members vote who joins, share a key that changes with every change of
/// members, and hear every message in one order. No server is trusted.
#[derive(Debug, Parser)]
#[command(name = "folkmoot", version = crate::VERSION, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done or yes, 1 no, 2 usage, 3 configuration, 4 not reachable, 5 refused by charter or \
                        vote, 6 timed out, 7 not in group, 70 a bug in folkmoot."
)]
pub(crate) struct Cli {
    /// The member's folder, with identity, charter and store [default: $XDG_STATE_HOME/folkmoot or
    /// ~/.local/state/folkmoot].
    #[arg(long, global = true, env = "FOLKMOOT_STATE", value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) state: Option<PathBuf>,
    /// Prints one JSON value a line on the standard output, for programs.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows the whole story on this machine: vote, join, key, order, crash, split, merge,
    /// expulsion.
    Demo(Demo),
    /// Makes or shows the identity in the state folder.
    #[command(subcommand)]
    Identity(Identity),
    /// Writes, signs, shows and checks a group's founding rules.
    #[command(subcommand)]
    Charter(Charter),
    /// Runs the member until it is told to stop.
    #[command(visible_alias = "daemon")]
    Member(Run),
    /// Asks a group for admission, as a stranger, and goes on as its member once it is admitted.
    Join(Join),
    /// Makes a ticket for somebody who wants to join: the charter, this member's head, where
    /// members listen, and a voucher, by which the newcomer does not wait behind strangers. It
    /// admits nobody: the members vote as on any request.
    Invite(Invite),
    /// Sends every line that you type to the group. Starts the member if none runs on the folder.
    Chat(Run),
    /// Sends one message through the running member. Those who are away do not get it later.
    Send(Send),
    /// Prints the messages that the running member receives.
    Receive(Receive),
    /// Lists what is open to votes, and votes.
    #[command(subcommand)]
    Vote(Vote),
    /// Asks for a new certificate for this member, before the present one ends. The members
    /// vote on it as on an admission.
    Renew,
    /// Takes back a proposal of this member's, or its request for a new certificate. A stranger
    /// takes back its request for admission.
    Withdraw {
        /// The proposal's words ("expel dora"), or the subject's first digits. None, as a stranger.
        subject: Vec<String>,
    },
    /// Shows the rules in force, and which decisions made them.
    Rules,
    /// Asks for admission on behalf of someone who has only OpenSSL, by a certificate request
    /// (CSR).
    #[command(subcommand)]
    Csr(CsrCommand),
    /// Sets up and runs the group's authority, if its charter has one: a key outside the
    /// group that signs what the members vote for.
    #[command(subcommand)]
    Authority(Authority),
    /// Leaves the group in good order, and ends the member that runs. It comes back without a vote
    /// when it starts again.
    Leave {
        /// Gives up membership: asks the others to let this member go. It stays until they have
        /// decided so, as the charter's rule for removals says.
        #[arg(long)]
        for_good: bool,
        /// With --for-good: proposes it even if the members that stay could then no longer
        /// admit, remove or decide by the charter.
        #[arg(long, requires = "for_good")]
        force: bool,
    },
    /// Proposes to expel a member, and votes for it.
    Expel {
        /// The member's name, or the first digits of its id.
        member: String,
        /// Proposes it even if the members that stay could then no longer admit, remove
        /// or decide by the charter. The voters see that it was forced.
        #[arg(long)]
        force: bool,
    },
    /// Proposes who votes from now on, and votes for it.
    Voters {
        /// Names, or first digits of the ids. If exactly half agree, the first one listed decides.
        #[arg(required = true)]
        members: Vec<String>,
        /// Proposes it even if these voters could no longer admit, remove or decide by
        /// the charter. The voters see that it was forced.
        #[arg(long)]
        force: bool,
    },
    /// Goes over to another line, if somebody signed two; or has a decision made or applied that
    /// waits for the clock; or skips those that nobody has. `status` shows all three.
    Resolve(Resolve),
    /// Proposes that the decisions' time goes back to the voters' clocks, and votes for it.
    Retime {
        /// Does not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Writes a letter to a group as a stranger, and waits for its answer. Both are private.
    Write(Write),
    /// Lists the letters that strangers wrote to the group, and who answered them.
    Letters,
    /// Answers a stranger's letter; all members see the answer.
    Answer(Answer),
    /// Lists everyone who holds a valid certificate of the group.
    Roster,
    /// Shows what is going on: view, key, who is in, who is not and why.
    Status,
    /// Says why a member is in the group's view, or is not.
    Why {
        /// The member's name, the first digits of its id, or the whole id.
        member: String,
    },
    /// Saves a message that the running member received, with its sender's signature, as a
    /// file that proves it to anyone.
    Proof(Proof),
    /// Checks a charter, a group's whole transcript, or the proof of a message, offline:
    /// form, signatures, rules.
    Verify(Verify),
    /// Writes the transcript as one file, and the charter, certificates and votes as files
    /// that OpenSSL reads. No member may run on the folder meanwhile.
    Export {
        /// The folder to write to. It is created if it does not exist.
        to: PathBuf,
    },
    /// Shows, records, plays, echoes and secures what programs say to one another by LCM. No
    /// member or charter takes part.
    Lcm(lcm::Lcm),
    /// Measures, with the program folkmoot-bench, which is built separately.
    #[command(disable_help_flag = true)]
    Bench {
        /// The arguments for folkmoot-bench.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
    /// Prints the script with which a shell completes the commands of folkmoot.
    Completions {
        /// The shell to print it for.
        shell: Shell,
    },
    /// Prints the manual page of folkmoot, or writes a page for each command.
    Man {
        /// The folder for the pages of all commands. It is created if it does not exist.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Looks for what commonly goes wrong on this machine and in this folder.
    Doctor,
    /// Cuts, delays or loses the running member's datagrams, for demonstrations.
    #[command(hide = true)]
    Fault(Fault),
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The other line's decision, or the one that `status` says to name, in digits or words. First
    /// ask people whom you trust which line they follow, or whether clocks were right.
    #[arg(value_name = "HEAD", required = true)]
    pub(crate) head: Vec<String>,
    /// Proposes that everybody on this line goes over, and votes for it. Without it, only this
    /// member goes over, and what only its own line decided no longer holds for it.
    #[arg(long)]
    pub(crate) everybody: bool,
    /// How long to wait for a member that is on the other line.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, conflicts_with = "everybody")]
    pub(crate) timeout: u64,
    /// Does not ask before this machine's clock decides, or others are skipped.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Write {
    /// The group's signed charter.
    pub(crate) charter: PathBuf,
    /// The letter, at most 8 KiB [default: read from the standard input].
    pub(crate) text: Option<String>,
    /// Where a member listens, for example udp/192.0.2.7:4803 or udp/anna.example.org:4803. You can
    /// give it more than once [default: the charter's contacts].
    #[arg(long = "at", value_name = "LOCATOR", value_parser = locator)]
    pub(crate) at: Vec<Locator>,
    /// The name of a group under the charter's own group.
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// How long to wait for an answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    /// Where to listen: an address, or a host name of this machine.
    #[arg(long, default_value = "0.0.0.0:0", value_name = "ADDRESS:PORT", value_parser = listen)]
    pub(crate) listen: SocketAddr,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The writer's name, for the newest letter with that name; or the first digits of the
    /// letter's id.
    pub(crate) letter: String,
    /// The answer, at most 8 KiB.
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct Proof {
    /// The message's number, as chat and receive show it [default: the newest signed message].
    pub(crate) number: Option<u64>,
    /// The file to write [default: message-NUMBER.cms].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Writes the bare record of a message that is not signed. Such a record proves nothing.
    #[arg(long, requires = "number")]
    pub(crate) unsigned: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A signed charter, or a message that `folkmoot proof` saved [default: the charter in
    /// the state folder].
    pub(crate) file: Option<PathBuf>,
    /// With a charter: the transcript of its group, as `folkmoot export` writes it. All of
    /// it is checked, from the first entry or decision on.
    #[arg(value_name = "TRANSCRIPT", requires = "file", conflicts_with_all = ["charter", "group", "transcript"])]
    pub(crate) history: Option<PathBuf>,
    /// With a transcript: a head that you know from elsewhere (a member's `folkmoot
    /// status`, an earlier `verify`) and that must be in it, in digits or in words. You can
    /// give it more than once. Without a head nobody can see whether the newest entries were
    /// left out, or whether the file follows another line than the members do.
    #[arg(long = "head", value_name = "HEAD", requires = "history", value_parser = head)]
    pub(crate) heads: Vec<KnownHead>,
    /// For a message: the signed charter of its group [default: the one in the state folder].
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) charter: Option<PathBuf>,
    /// For a message from a group that is named under the charter's own: the group's name.
    /// You need it only if the charter has no rules for that group.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) group: Option<String>,
    /// For a message: the transcript that `folkmoot export` wrote. You need it if the group
    /// has changed its charter or its voters since it was founded, and to see whether the
    /// sender was expelled.
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) transcript: Option<PathBuf>,
}

/// What can be said to `folkmoot csr`.
#[derive(Debug, Subcommand)]
pub(crate) enum CsrCommand {
    /// Hands in a CSR, as `openssl req -new` makes it, through the running member. Then
    /// vote on it as on any request.
    Submit {
        /// The CSR, in PEM or DER. Its key must be of a kind that the charter names, and its
        /// subject one common name.
        file: PathBuf,
        /// Waits for the certificate, and writes it to this file (PEM).
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// How long to wait for the certificate.
        #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "out")]
        timeout: u64,
    },
    /// Prints or saves the certificate that a CSR was granted (PEM).
    Fetch {
        /// The CSR.
        file: PathBuf,
        /// The file to write; without it, the certificate is printed.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// How long to wait for the certificate.
        #[arg(long, value_name = "SECONDS", default_value_t = 0)]
        timeout: u64,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Vote {
    /// Lists the requests and proposals that are open to votes.
    List,
    /// Votes yes.
    Approve {
        /// The stranger's name, the proposal's words ("expel dora"), or the subject's first digits.
        #[arg(required = true)]
        subject: Vec<String>,
        /// How long to wait until the group has ordered the vote. Without its place in the order it
        /// does not count yet.
        #[arg(long, value_name = "SECONDS", default_value_t = 4, value_parser = clap::value_parser!(u64).range(..=10))]
        timeout: u64,
    },
    /// Votes no.
    Reject {
        /// The stranger's name, the proposal's words ("expel dora"), or the subject's first digits.
        #[arg(required = true)]
        subject: Vec<String>,
        /// How long to wait until the group has ordered the vote. Without its place in the order it
        /// does not count yet.
        #[arg(long, value_name = "SECONDS", default_value_t = 4, value_parser = clap::value_parser!(u64).range(..=10))]
        timeout: u64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Whether to show a group of people, or ten robots that publish their poses by LCM.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Scenario::Group)]
    pub(crate) scenario: Scenario,
    /// How many poses each robot publishes a second.
    #[arg(long, value_name = "HZ", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rate: u32,
    /// Keeps the state folders and logs, and says where they are.
    #[arg(long)]
    pub(crate) keep: bool,
    /// How many messages each member sends in the step about order.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) messages: u32,
    /// How the group signs certificates: plain, asm, ts-dsa, frost.
    #[arg(long, value_name = "SCHEME", default_value = "plain", value_parser = scheme)]
    pub(crate) scheme: Scheme,
    /// Whether the members alone sign certificates (decentralised), or an authority as well
    /// (centralised).
    #[arg(long, value_name = "MODE", default_value = "decentralised", value_parser = mode)]
    pub(crate) mode: Mode,
    /// Whether all members have keys of p256, or each has one of another algorithm.
    #[arg(long, value_enum, value_name = "KEYS", default_value_t = Identities::P256)]
    pub(crate) identities: Identities,
}

/// Which keys the demo's members have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Identities {
    /// All have keys of p256.
    P256,
    /// One has a key of p256, one of ed25519, one of rsa-2048, and one of rsa-3072.
    Mixed,
}

/// What the demo shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scenario {
    /// A group is founded, admits, orders, crashes, splits, heals and expels.
    Group,
    /// Robots publish poses, and one of them is voted out.
    Robots,
}

#[derive(Debug, Args)]
pub(crate) struct Fault {
    /// From now on exchange nothing with these.
    #[arg(long, value_name = "LOCATOR", value_parser = locator)]
    pub(crate) cut: Vec<Locator>,
    /// Lose this share of what is sent, 0 to 1.
    #[arg(long, value_name = "SHARE")]
    pub(crate) drop: Option<f64>,
    /// Hold what comes in for so long.
    #[arg(long, value_name = "MS")]
    pub(crate) delay: Option<u64>,
    /// Lose what is longer, both ways, as a path does that takes no long datagrams.
    #[arg(long, value_name = "BYTES")]
    pub(crate) longest: Option<usize>,
    /// No faults any more, but for those named here.
    #[arg(long)]
    pub(crate) heal: bool,
}

#[cfg(test)]
mod tests;
