//! Who is measured: liblcm, ours plain, ours secured.

use crate::Outcome;
use crate::liblcm::Liblcm;
use crate::net::Net;
use crate::process::Process;
use clap::Args;
use std::path::PathBuf;

/// What all measurements have.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Runs both sides on this host as it is, not in two network namespaces
    #[arg(long)]
    loopback: bool,
    /// Folder of Debian's packages liblcm1 and liblcm-dev, unpacked [default: fetched]
    #[arg(long)]
    liblcm: Option<PathBuf>,
    /// Gives each side a core of its own, with all threads that it has
    #[arg(long)]
    pinned: bool,
    /// Gives both sides real-time priority, so that other programs of this host do not matter
    #[arg(long)]
    realtime: bool,
    /// Threads of our runtime; 0 for the one that calls
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Receive buffers that all sides ask for, in bytes
    #[arg(long, default_value_t = 4 << 20)]
    receive_bytes: u32,
}

/// Where and how it is measured.
pub(crate) struct Place {
    pub(crate) net: Net,
    pub(crate) liblcm: Liblcm,
    threads: usize,
    pinned: bool,
    realtime: bool,
    pub(crate) receive_bytes: u32,
}

/// One of those who are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contender {
    Liblcm,
    Plain,
    /// Says several things at a time.
    PlainMany,
    Secured,
    SecuredMany,
}

impl Contender {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Liblcm => "liblcm",
            Self::Plain => "plain",
            Self::PlainMany => "plain_many",
            Self::Secured => "secured",
            Self::SecuredMany => "secured_many",
        }
    }
}

impl Place {
    pub(crate) fn prepare(common: &Common) -> Outcome<Self> {
        let liblcm = Liblcm::prepare(common.liblcm.as_deref())?;
        let net = if common.loopback { Net::loopback() } else { Net::cable()? };
        let Common { threads, pinned, realtime, receive_bytes, .. } = *common;
        Ok(Self { net, liblcm, threads, pinned, realtime, receive_bytes })
    }

    /// Starts what has this role, at one of the two ends. Each contender has a port of its own.
    pub(crate) fn start(&self, contender: Contender, role: &str, end: usize) -> Outcome<Process> {
        self.start_among(contender, contender, role, end)
    }

    /// The same, on another's port.
    pub(crate) fn start_among(
        &self,
        others: Contender,
        contender: Contender,
        role: &str,
        end: usize,
    ) -> Outcome<Process> {
        let url = self.url(others);
        let mut line = self.line(end);
        if contender == Contender::Liblcm {
            return self.liblcm.start(line, role, &url);
        }
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        line.extend([this.display().to_string(), "side".to_owned(), role.to_owned(), url]);
        line.extend(["--threads".to_owned(), self.threads.to_string()]);
        if matches!(contender, Contender::Secured | Contender::SecuredMany) {
            line.push("--secured".to_owned());
        }
        if matches!(contender, Contender::PlainMany | Contender::SecuredMany) {
            line.extend(["--many".to_owned(), "64".to_owned()]);
        }
        Process::start(&line, &[])
    }

    /// The words before a program's own, which bring it to one of the two ends.
    pub(crate) fn line(&self, end: usize) -> Vec<String> {
        let mut line = self.net.within(end);
        if self.pinned {
            line.extend(["taskset".to_owned(), "-c".to_owned(), end.to_string()]);
        }
        if self.realtime {
            line.extend(["chrt", "--rr", "1"].map(str::to_owned));
        }
        line
    }

    /// Starts a foreign program at the sender's end, which floods a contender's group.
    pub(crate) fn start_flood(&self, contender: Contender) -> Outcome<Process> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut line = self.net.within(0);
        let words = [this.display().to_string(), "side".to_owned(), "flood".to_owned(), self.url(contender)];
        line.extend(words);
        Process::start(&line, &[])
    }

    fn url(&self, contender: Contender) -> String {
        self.net.url(first_port() + contender as u16, self.receive_bytes)
    }

    /// Under which conditions it is measured.
    pub(crate) fn conditions(&self) -> serde_json::Value {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap_or_default();
        serde_json::json!({
            "net": self.net.name(),
            "threads": self.threads,
            "pinned": self.pinned,
            "realtime": self.realtime,
            "receive_bytes_asked": self.receive_bytes,
            "rmem_max": allowed.trim().parse::<u64>().unwrap_or_default(),
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
        })
    }
}

/// The first of eight ports of this process: contenders have the first five.
pub(crate) fn first_port() -> u16 {
    7_700 + u16::try_from(std::process::id() % 1_000).unwrap_or_default() * 8
}
