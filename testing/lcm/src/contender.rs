//! Who is measured: liblcm, ours plain, ours secured.

use crate::Outcome;
use crate::net::Net;
use crate::process::{Process, call};
use clap::Args;
use std::path::{Path, PathBuf};

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
    libraries: PathBuf,
    program: PathBuf,
    threads: usize,
    pinned: bool,
    realtime: bool,
    receive_bytes: u32,
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
        let root = match &common.liblcm {
            Some(root) => root.clone(),
            None => call("python3 testing/lcm/parts.py")?.into(),
        };
        let libraries = call(&format!("find {} -name liblcm.so.1", root.display()))?;
        let library = PathBuf::from(libraries.lines().next().ok_or("liblcm is not there")?);
        let program = root.join("bench");
        let source = "testing/lcm/bench.c";
        call(&format!(
            "cc -O2 -Wall -o {} {source} -I{}/usr/include {} -Wl,--allow-shlib-undefined",
            program.display(),
            root.display(),
            library.display()
        ))?;
        let net = if common.loopback { Net::loopback() } else { Net::cable()? };
        let libraries = library.parent().map(Path::to_owned).ok_or("liblcm is nowhere")?;
        let Common { threads, pinned, realtime, receive_bytes, .. } = *common;
        Ok(Self { net, libraries, program, threads, pinned, realtime, receive_bytes })
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
        let mut line = self.net.within(end);
        if self.pinned {
            line.extend(["taskset".to_owned(), "-c".to_owned(), end.to_string()]);
        }
        if self.realtime {
            line.extend(["chrt", "--rr", "1"].map(str::to_owned));
        }
        if contender == Contender::Liblcm {
            line.extend([self.program.display().to_string(), role.to_owned(), url]);
            let libraries = self.libraries.display().to_string();
            return Process::start(&line, &[("LD_LIBRARY_PATH".to_owned(), libraries)]);
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

    /// Starts a foreign program at the sender's end, which floods a contender's group.
    pub(crate) fn start_flood(&self, contender: Contender) -> Outcome<Process> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut line = self.net.within(0);
        let words = [this.display().to_string(), "side".to_owned(), "flood".to_owned(), self.url(contender)];
        line.extend(words);
        Process::start(&line, &[])
    }

    fn url(&self, contender: Contender) -> String {
        let own = 7_700 + u16::try_from(std::process::id() % 1_000).unwrap_or_default() * 8;
        self.net.url(own + contender as u16, self.receive_bytes)
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
