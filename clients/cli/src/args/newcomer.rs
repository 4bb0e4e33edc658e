//! Options of whoever comes in, and of whoever invites.

use crate::values::{head, listen, locator};
use clap::Args;
use folkmoot::Locator;
use folkmoot_transcript::{KnownHead, TICKET_DAYS_MAX};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Join {
    /// A ticket that a member made with `folkmoot invite`, as text or as a file (- for the standard
    /// input); or the group's signed charter.
    #[arg(value_name = "TICKET|CHARTER")]
    pub(crate) by: PathBuf,
    /// Where a member listens, for example udp/192.0.2.7:4803 or
    /// udp/anna.example.org:4803. You can give it more than once. Without it, a ticket's contacts,
    /// or the charter's, are tried.
    #[arg(long = "at", value_name = "LOCATOR", value_parser = locator)]
    pub(crate) at: Vec<Locator>,
    /// A head that you know from somebody in the group, as `folkmoot status` shows it there, in
    /// digits or in words. The member follows only a line of decisions that has it. A ticket has
    /// one. With neither, the member believes its first contact.
    #[arg(long = "head", value_name = "HEAD", value_parser = head)]
    pub(crate) heads: Vec<KnownHead>,
    /// Where to listen: an address, or a host name of this machine.
    #[arg(long, default_value = "0.0.0.0:4803", value_name = "ADDRESS:PORT", value_parser = listen)]
    pub(crate) listen: SocketAddr,
    /// A certificate (X.509, PEM) for this member's key and name, by an authority or a group that
    /// the charter recognises. The voters see what it says.
    #[arg(long, value_name = "FILE")]
    pub(crate) endorsement: Option<PathBuf>,
    /// Lets a program vote, once this is a member. It gets one JSON object for each
    /// request, and answers approve, reject or wait.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) policy_hook: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Invite {
    /// Where a member listens, for example udp/192.0.2.7:4803 or
    /// udp/anna.example.org:4803. You can give it up to eight times. Without it, the ticket names
    /// the addresses of this member and of those who are present.
    #[arg(long = "at", value_name = "LOCATOR", value_parser = locator)]
    pub(crate) at: Vec<Locator>,
    /// The only key that the ticket is for: the newcomer's identity.pem or key id.
    #[arg(long = "for", value_name = "KEY")]
    pub(crate) holder: Option<String>,
    /// How long the ticket serves.
    #[arg(long, value_name = "DAYS", default_value_t = 14, value_parser = clap::value_parser!(u64).range(1..=TICKET_DAYS_MAX))]
    pub(crate) days: u64,
    /// Prints the ticket as QR codes, too. `folkmoot join` takes their texts from a file, one a
    /// line in any order.
    #[arg(long)]
    pub(crate) qr: bool,
    /// The file to write the ticket to [default: it is printed].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
