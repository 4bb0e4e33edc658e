//! The command line, defined once: parsing, help and docs/cli.md follow from it.

use crate::values::{Ordering, cipher, head, keying, mode, scheme};
use authority::{Authority, SeatArgs};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use folkmoot::Locator;
use folkmoot_base::{Cipher, EntryId, Keying};
use folkmoot_identity::{Mode, Scheme};
use rules::RuleArgs;
use run::Run;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(crate) mod authority;
pub(crate) mod rules;
pub(crate) mod run;

/// Where help lists what every command takes.
const EVERYWHERE: &str = "With every command";

/// Secure peer groups: members vote who joins, share a key that changes with every change of
/// members, and hear every message in one order. No server is trusted.
#[derive(Debug, Parser)]
#[command(name = "folkmoot", version = crate::VERSION, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done or yes, 1 no, 2 usage, 3 configuration, 4 not reachable, 5 refused by charter or \
                        vote, 6 timed out, 7 not in group, 70 our bug."
)]
pub(crate) struct Cli {
    /// The member's folder: identity, charter, store [default: $XDG_STATE_HOME/folkmoot or
    /// ~/.local/state/folkmoot].
    #[arg(long, global = true, env = "FOLKMOOT_STATE", value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) state: Option<PathBuf>,
    /// One JSON value a line on the standard output, for programs.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the whole story on this machine: vote, join, key, order, crash, split, merge,
    /// expulsion.
    Demo(Demo),
    /// Make or show the identity in the state folder.
    #[command(subcommand)]
    Identity(Identity),
    /// Write, sign, show and check a group's founding rules.
    #[command(subcommand)]
    Charter(Charter),
    /// Run the member until it is told to stop.
    #[command(visible_alias = "daemon")]
    Member(Run),
    /// Ask a group for admission, as a stranger, and go on as its member once it is granted.
    Join(Join),
    /// Talk: every line typed goes to the group. Starts the member if none runs on the folder.
    Chat(Run),
    /// Send one message through the running member.
    Send(Send),
    /// Print what the running member hears.
    Receive(Receive),
    /// See what is to be voted on, and vote.
    #[command(subcommand)]
    Vote(Vote),
    /// Ask for a new certificate for this member, before the present one ends. Voted on as an
    /// admission is.
    Renew,
    /// Ask for admission for one who has but OpenSSL, by its certification request (CSR).
    #[command(subcommand)]
    Csr(CsrCommand),
    /// The group's authority, where its charter has one: a key outside the group that signs what
    /// the members vote for.
    #[command(subcommand)]
    Authority(Authority),
    /// Propose to expel a member, and vote for it.
    Expel {
        /// Name, or first digits of the id.
        member: String,
        /// Even if those who stay could then no longer admit, remove or decide by the charter; the
        /// voters see it.
        #[arg(long)]
        force: bool,
    },
    /// Propose who votes from now on, and vote for it.
    Voters {
        /// Names, or first digits of the ids; the first decides where exactly half agree.
        #[arg(required = true)]
        members: Vec<String>,
        /// Even if these could no longer admit, remove or decide by the charter; the voters see it.
        #[arg(long)]
        force: bool,
    },
    /// Write to a group as one who is no member of it, and wait for its answer. Both are private
    /// and signed.
    Write(Write),
    /// Letters that strangers wrote to the group, and who answered them.
    Letters,
    /// Answer a stranger's letter; all members see the answer.
    Answer(Answer),
    /// Who holds a valid certificate of the group.
    Roster,
    /// What is going on: view, key, who is in, who is not and why.
    Status,
    /// Why somebody is in the group's view, or is not.
    Why {
        /// Name, first digits of the id, or the whole id.
        member: String,
    },
    /// Save a message that the running member heard, with its sender's signature, as a file that
    /// proves it to anyone.
    Proof(Proof),
    /// Check a charter, a group's whole transcript, or the proof of a message, offline: form,
    /// signatures, rules.
    Verify(Verify),
    /// Write the transcript as a file, charter, certificates and votes as files that OpenSSL reads;
    /// while no member runs on the folder.
    Export {
        /// A folder to write to; made if it is not there.
        to: PathBuf,
    },
    /// Measure, with the program folkmoot-bench, which is built apart.
    #[command(disable_help_flag = true)]
    Bench {
        /// What folkmoot-bench is told.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
    /// Print what a shell needs to complete this command line.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page of folkmoot, or write a page for each command.
    Man {
        /// A folder for the pages of all commands; made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Look for what commonly goes wrong on this machine and in this folder.
    Doctor,
    /// Cut, delay or lose the running member's datagrams, for demonstrations.
    #[command(hide = true)]
    Fault(Fault),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Identity {
    /// Make a key and a self-signed certificate. A key is never overwritten.
    New {
        /// The name that others will see.
        name: String,
    },
    /// Make an identity of a key that OpenSSL drew, with a self-signed certificate. A key is never
    /// overwritten.
    Import {
        /// A private key of P-256, PEM (PKCS#8 or SEC 1), not encrypted. It is copied; the file
        /// stays.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The name that others will see; of a CSR that was granted, the same.
        #[arg(long)]
        name: String,
    },
    /// Show the identity.
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Charter {
    /// Write a charter for the founders to read and sign.
    New {
        /// The group's name, in quotes if it has spaces.
        name: String,
        /// A founder's identity.pem; once for each founder, in the order that they shall be listed.
        #[arg(long = "founder", required = true, value_name = "FILE")]
        founders: Vec<PathBuf>,
        /// Votes that admit a stranger.
        #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
        votes: u32,
        /// How the group signs certificates: plain (votes side by side), asm (voters make one
        /// signature), ts-dsa or frost (one key in shares), shoup-rsa (the same, dealt by an
        /// authority).
        #[arg(long, value_name = "SCHEME", default_value = "plain", value_parser = scheme)]
        scheme: Scheme,
        /// What agrees on keys: by-size, gdh, tgdh, str, bd; or, not every member having a share,
        /// ckd, dutta-barua, mls.
        #[arg(long, value_name = "MODULE", default_value = "by-size", value_parser = keying)]
        keying: Keying,
        /// What seals messages: aes-256-gcm or chacha20-poly1305.
        #[arg(long, value_name = "CIPHER", default_value = "aes-256-gcm", value_parser = cipher)]
        cipher: Cipher,
        /// Agree on keys by ML-KEM-768 as well as X25519; with --keying ckd or mls.
        #[arg(long)]
        hybrid: bool,
        /// Let who is no member write to the group, and be answered.
        #[arg(long)]
        letters: bool,
        /// Link nodes by ML-KEM-768 as well as X25519; not to be changed later.
        #[arg(long)]
        hybrid_links: bool,
        #[command(flatten)]
        rules: Box<RuleArgs>,
        #[command(flatten)]
        seat: SeatArgs,
        /// Where to write it.
        #[arg(long, short, value_name = "FILE", default_value = "charter.toml")]
        out: PathBuf,
    },
    /// Sign a charter as one of its founders: first the text, then what the founder before has
    /// signed.
    Sign {
        /// charter.toml, or a charter.cms that lacks signatures.
        file: PathBuf,
        /// Where to write the signed charter [default: the file with the ending .cms].
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Show the text of a signed charter.
    Show {
        /// The one in the state folder if not given.
        file: Option<PathBuf>,
    },
    /// Check that all founders signed and the rules are sound.
    Verify {
        /// The one in the state folder if not given.
        file: Option<PathBuf>,
    },
    /// Propose to change one rule of the group, and vote for it, through the running member.
    Change {
        /// threshold, admit, remove, roles.NAME, policy, list, decider, objections, request_days,
        /// below_threshold, keying, cipher, hybrid, contributory, minority, minority_may_admit,
        /// letters, certificate_days, request_hours, timeouts.step_ms, ...
        field: String,
        /// As the charter writes it; of keys, names or ids with commas between; none takes it back.
        value: String,
        /// Even if the voters could then no longer admit, remove or decide by the charter; they see
        /// it.
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Join {
    /// The group's signed charter.
    pub(crate) charter: PathBuf,
    /// Where a member listens, as udp/192.0.2.7:4803; may be given more than once.
    #[arg(long = "at", required = true, value_name = "LOCATOR")]
    pub(crate) at: Vec<Locator>,
    /// Where to listen.
    #[arg(long, default_value = "0.0.0.0:4803", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Once a member, vote by a program: for each request it is given one JSON object, and says
    /// approve, reject or wait.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) policy_hook: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The message; read from the standard input if not given.
    pub(crate) text: Option<String>,
    /// How it is ordered.
    #[arg(long, value_enum, default_value_t = Ordering::Agreed)]
    pub(crate) service: Ordering,
    /// Sign it: every receiver can prove to others that you said it.
    #[arg(long)]
    pub(crate) sign: bool,
    /// How long to wait for a key.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Write {
    /// The group's signed charter.
    pub(crate) charter: PathBuf,
    /// The letter, to 8 KiB; read from the standard input if not given.
    pub(crate) text: Option<String>,
    /// Where a member listens, as udp/192.0.2.7:4803; may be given more than once.
    #[arg(long = "at", required = true, value_name = "LOCATOR")]
    pub(crate) at: Vec<Locator>,
    /// A group named under the charter's own.
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// How long to wait for an answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    /// Where to listen.
    #[arg(long, default_value = "0.0.0.0:0", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The writer's name (then the newest of that name), or first digits of the letter.
    pub(crate) letter: String,
    /// What to answer, to 8 KiB.
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct Proof {
    /// The message's number, as chat and receive show it; the newest signed one if not given.
    pub(crate) number: Option<u64>,
    /// Where to write it [default: message-NUMBER.cms].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Of a message that is not signed, write the bare record, which proves nothing.
    #[arg(long, requires = "number")]
    pub(crate) unsigned: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A signed charter, or a message that `folkmoot proof` saved; the charter in the state folder
    /// if not given.
    pub(crate) file: Option<PathBuf>,
    /// With a charter: the transcript of its group, as `folkmoot export` writes it. Every entry is
    /// judged, from the first on.
    #[arg(value_name = "TRANSCRIPT", requires = "file", conflicts_with_all = ["charter", "group", "transcript"])]
    pub(crate) history: Option<PathBuf>,
    /// With a transcript: a head known from elsewhere (a member's `folkmoot status`, an earlier
    /// `verify`), which must be in it; may be given more than once. Without one nobody can see that
    /// the newest entries were left off.
    #[arg(long = "head", value_name = "HEX", requires = "history", value_parser = head)]
    pub(crate) heads: Vec<EntryId>,
    /// For a message: the signed charter of its group; the one in the state folder if not given.
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) charter: Option<PathBuf>,
    /// For a message that was said in a group named under the charter's own: its name. Not needed
    /// if the charter has rules for it.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) group: Option<String>,
    /// For a message: the transcript that `folkmoot export` wrote; needed if the group has changed
    /// its charter or its voters since it was founded, and to see whether the sender was expelled.
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) transcript: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Receive {
    /// End after so many messages.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) count: Option<u64>,
    /// End after so many seconds; the exit code is 6 if messages were still to come.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
}

/// What can be said to `folkmoot csr`.
#[derive(Debug, Subcommand)]
pub(crate) enum CsrCommand {
    /// Hand in a CSR, as `openssl req -new` makes it, through the running member; then vote on it
    /// as on any request.
    Submit {
        /// PEM or DER; of a P-256 key, its subject one common name.
        file: PathBuf,
        /// Wait for the certificate, and write it there, PEM.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// How long to wait for it.
        #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "out")]
        timeout: u64,
    },
    /// The certificate that a CSR was granted, PEM.
    Fetch {
        /// The CSR.
        file: PathBuf,
        /// Where to write it; printed if not given.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// How long to wait for it.
        #[arg(long, value_name = "SECONDS", default_value_t = 0)]
        timeout: u64,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Vote {
    /// Requests and proposals that are open.
    List,
    /// Vote yes.
    Approve {
        /// The stranger's name, or the proposal's words ("expel dora"), or first digits of the
        /// subject.
        #[arg(required = true)]
        subject: Vec<String>,
    },
    /// Vote no.
    Reject {
        /// The stranger's name, or the proposal's words ("expel dora"), or first digits of the
        /// subject.
        #[arg(required = true)]
        subject: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Keep the state folders and logs, and say where they are.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Messages that each member sends in the order step.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) messages: u32,
    /// How the group signs certificates: plain, asm, ts-dsa, frost.
    #[arg(long, value_name = "SCHEME", default_value = "plain", value_parser = scheme)]
    pub(crate) scheme: Scheme,
    /// Who signs them: nobody but the members (decentralised), or an authority as well
    /// (centralised).
    #[arg(long, value_name = "MODE", default_value = "decentralised", value_parser = mode)]
    pub(crate) mode: Mode,
}

#[derive(Debug, Args)]
pub(crate) struct Fault {
    /// From now on exchange nothing with these.
    #[arg(long, value_name = "LOCATOR")]
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
