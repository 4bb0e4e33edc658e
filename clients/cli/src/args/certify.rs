//! What can be said to `folkmoot lcm root`, `certify`, `certificate` and `exclude`.

use super::lcm::channel;
use clap::{Args, Subcommand};
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::secured::SenderId;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Root {
    /// Makes a root in a folder: its key, which stays there, and its certificate, which all
    /// members have.
    New {
        /// The folder. It is created if it does not exist.
        folder: PathBuf,
        /// The name in the certificate.
        #[arg(long, default_value = "lcm root")]
        name: String,
        /// How long its certificate is valid.
        #[arg(long, value_name = "DAYS", default_value_t = 7_305, value_parser = clap::value_parser!(u64).range(1..=36_525))]
        days: u64,
        /// Leaves root.key unencrypted: anyone who gets the folder decides who may be where. So it
        /// is, too, if no passphrase is given and nobody is at a terminal to be asked.
        #[arg(long)]
        no_passphrase: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Certify {
    /// The folder of the root.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: PathBuf,
    /// The sender's number in the group, from 1 to 65535. Nobody else has it.
    #[arg(long, value_name = "NUMBER", value_parser = sender)]
    pub(crate) sender: SenderId,
    /// A channel that it may speak on and hear. Without any it sees which channels are in use, and
    /// reads nothing.
    #[arg(long, short, value_name = "CHANNEL", value_parser = channel)]
    pub(crate) channel: Vec<Channel>,
    /// The channels that it may speak on and hear, as a pattern for their names, as in 'POSE_.*'.
    /// All of them have one key.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) channels: Vec<String>,
    /// How long the certificate is valid.
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u64).range(1..=36_525))]
    pub(crate) days: u64,
    /// The name in the certificate [default: that of the request, or of the folder].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Certifies the key of this request (PKCS#10), of this public key or of this certificate,
    /// which is renewed so, PEM: so the key never leaves its owner. Without it a key is made.
    #[arg(long, value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// Encrypts member.key under the passphrase in the first line of this file. Without one it is
    /// not encrypted, and a robot starts unattended.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new_passphrase_fd", "request"])]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    /// Reads that passphrase from the first line of this open file, by its number.
    #[arg(long, value_name = "NUMBER", conflicts_with = "request")]
    pub(crate) new_passphrase_fd: Option<u32>,
    /// The folder for root.crt, member.crt and, if it is made here, member.key. It is created if it
    /// does not exist.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Certificate {
    /// Shows whose a certificate is, until when, and which channels it is for. If root.crt lies
    /// beside it, it is judged by that.
    Show {
        /// The certificate, PEM.
        file: PathBuf,
        /// Judges it by this root certificate.
        #[arg(long, value_name = "FILE")]
        root: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Exclude {
    /// The certificate, PEM.
    #[arg(required_unless_present = "again", conflicts_with = "again")]
    pub(crate) certificate: Option<PathBuf>,
    /// The folder of the root.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: PathBuf,
    /// Writes the statement to this file, too.
    #[arg(long, value_name = "FILE", conflicts_with = "again")]
    pub(crate) out: Option<PathBuf>,
    /// Excludes this certificate alone. Otherwise all are that the register has of its key.
    #[arg(long, conflicts_with = "again")]
    pub(crate) only: bool,
    /// Tells the members now, in the groups that the certificate names, or at --lcm-url, and waits
    /// until all have carried it out.
    #[arg(long)]
    pub(crate) now: bool,
    /// The same for everything that this root has excluded so far.
    #[arg(long, conflicts_with = "now")]
    pub(crate) again: bool,
    /// How long members may take to confirm it.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(crate) wait: u64,
}

fn sender(text: &str) -> Result<SenderId, String> {
    let number: Option<u16> = text.parse().ok();
    number.and_then(SenderId::new).ok_or_else(|| String::from("a sender is a number from 1 to 65535"))
}
