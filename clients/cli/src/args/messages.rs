//! Options of whoever sends and receives messages.

use crate::values::Ordering;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The message [default: the standard input, without the end of its last line].
    pub(crate) text: Option<String>,
    /// Sends what is in this file, byte by byte (- for the standard input): one message, of 4 MiB
    /// at most.
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// How the message is ordered among the others.
    #[arg(long, value_enum, default_value_t = Ordering::Agreed)]
    pub(crate) service: Ordering,
    /// Signs the message, so that every receiver can prove to others that you said it.
    #[arg(long)]
    pub(crate) sign: bool,
    /// How long to wait for a key.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Receive {
    /// Ends after this many messages.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) count: Option<u64>,
    /// Ends after this many seconds. The exit code is 6 if fewer messages than --count have come.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Goes on when the member stops, and hears the next that runs on the folder.
    #[arg(long)]
    pub(crate) follow: bool,
}
