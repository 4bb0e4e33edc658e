//! corosync's totally ordered multicast in the same namespaces: the peer to be ahead of.
//!
//! Each node has a daemon and a client, which sends and counts (`peers/cpg_bench.c`), both in the
//! node's network namespace and in a mount namespace with a /dev/shm and a /run of its own.

use super::Outcome;
use crate::namespaces::Network;
use folkmoot::tools::OsEntropy;
use folkmoot_base::Entropy as _;
use folkmoot_cli::children::Workshop;
use folkmoot_cli::exit::{Exit, Failure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};

const CLIENT: &str = include_str!("../../peers/cpg_bench.c");
/// What must be there, and the package of Debian that has it.
const NEEDED: [(&str, &str); 3] = [
    ("/usr/sbin/corosync", "corosync"),
    ("/usr/include/corosync/cpg.h", "libcpg-dev"),
    ("/usr/bin/gcc", "gcc"),
];
/// Time for the places to be made.
const PLACE: Duration = Duration::from_millis(500);

/// The packages that are missing.
pub(super) fn missing() -> Vec<&'static str> {
    NEEDED.iter().filter(|(path, _)| !Path::new(path).exists()).map(|(_, package)| *package).collect()
}

/// What is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// The first node that sends, from 0 on, and how many from it on.
    pub(super) first: usize,
    pub(super) senders: usize,
    /// Each sends a message every 5 to 15 ms; otherwise as many as its window lets it.
    pub(super) lone: bool,
    pub(super) bytes: u32,
    pub(super) seconds: u32,
}

/// corosync, ready to be run.
pub(super) struct Corosync {
    workshop: Workshop,
    configuration: PathBuf,
    client: PathBuf,
}

impl Corosync {
    /// Compiles the client, and writes a configuration with AES-256 and SHA-256.
    pub(super) async fn prepare(network: &Network) -> Result<Self, Failure> {
        let workshop = Workshop::open("corosync", false)?;
        let path = |name: &str| workshop.path().join(name);
        let (source, client, key, configuration) =
            (path("cpg_bench.c"), path("cpg_bench"), path("authkey"), path("corosync.conf"));
        let write = |path: &Path, bytes: &[u8]| {
            std::fs::write(path, bytes).map_err(|error| Failure::file(path, &error))
        };
        write(&source, CLIENT.as_bytes())?;
        let mut bytes = [0; 256];
        OsEntropy::new().map_err(Failure::bug)?.fill(&mut bytes);
        write(&key, &bytes)?;
        write(&configuration, text(network, &key)?.as_bytes())?;
        let mut compile = Command::new("gcc");
        compile.arg("-O2").arg("-o").arg(&client).arg(&source).args(["-lcpg", "-lpthread"]);
        let compiled = compile.output().await.map_err(cannot)?;
        if !compiled.status.success() {
            let why = String::from_utf8_lossy(&compiled.stderr).into_owned();
            return Err(Failure::new(Exit::Configuration, format!("gcc: {}", why.trim())));
        }
        Ok(Self { workshop, configuration, client })
    }

    /// One run.
    pub(super) async fn run(&self, network: &Network, run: Run) -> Result<Outcome, Failure> {
        let nodes = network.names().len();
        let (mut places, mut daemons, mut clients) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..nodes {
            places.push(place(network, number)?);
        }
        tokio::time::sleep(PLACE).await;
        let log = self.workshop.path().join("log");
        for place in &places {
            let out = std::fs::File::create(&log).map_err(|error| Failure::file(&log, &error))?;
            let mut command = inside(place, "/usr/sbin/corosync")?;
            command.arg("-f").arg("-c").arg(&self.configuration);
            command.stdout(Stdio::null()).stderr(out);
            daemons.push(command.spawn().map_err(cannot)?);
        }
        tokio::time::sleep(
            Duration::from_secs(4) + Duration::from_secs(1) * u32::try_from(nodes).unwrap_or(1),
        )
        .await;
        for (number, place) in places.iter().enumerate() {
            let mut command = inside(place, &self.client)?;
            // Its first clients send, so they are numbered from the first sender on.
            let number = (number + nodes - run.first.min(nodes)) % nodes;
            let numbers = [number, nodes, run.senders].map(|number| number.to_string());
            command.arg(if run.lone { "rate" } else { "tput" }).args(numbers);
            command.args([run.bytes, run.seconds, 1].map(|number| number.to_string()));
            clients.push(command.stdout(Stdio::piped()).spawn().map_err(cannot)?);
        }
        let mut rows = Vec::new();
        for client in clients {
            let limit = Duration::from_secs(60) + Duration::from_secs(3) * run.seconds;
            let output = tokio::time::timeout(limit, client.wait_with_output()).await;
            let output =
                output.map_err(|_| Failure::new(Exit::TimedOut, "a client of corosync does not end"))?;
            rows.extend(row(&String::from_utf8_lossy(&output.map_err(cannot)?.stdout)));
        }
        for mut one in daemons.into_iter().chain(places) {
            one.kill().await.map_err(cannot)?;
        }
        let same = rows.windows(2).all(|pair| matches!(pair, [one, other] if one.order == other.order));
        if rows.len() < nodes || !same {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            let last = log.lines().last().unwrap_or("it said nothing").to_owned();
            return Err(Failure::new(Exit::No, format!("corosync has not delivered everywhere: {last}")));
        }
        let most = |of: fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
        Ok(Outcome {
            messages_per_second: rows.iter().map(|row| row.rate).fold(f64::INFINITY, f64::min),
            cpu_us_per_message: None,
            p50_us: Some(most(|row| row.p50_us)),
            p99_us: Some(most(|row| row.p99_us)),
            p50_after_others_us: None,
            speed: None,
        })
    }
}

fn cannot(error: std::io::Error) -> Failure {
    Failure::new(Exit::Configuration, format!("cannot start a process of corosync: {error}"))
}

/// A process that holds the mount namespace of a node.
fn place(network: &Network, number: usize) -> Result<Child, Failure> {
    let script = "mount -t tmpfs t /dev/shm && mount -t tmpfs t /run && mkdir -p /run/lock && exec sleep 600";
    let mut words = network.enter(number).into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).args(["unshare", "-m", "--propagation", "private", "sh", "-c", script]);
    command.stdin(Stdio::null()).kill_on_drop(true).spawn().map_err(cannot)
}

fn inside(place: &Child, program: impl AsRef<std::ffi::OsStr>) -> Result<Command, Failure> {
    let holder = place.id().ok_or_else(|| Failure::bug("a place of corosync is gone"))?;
    let mut command = Command::new("nsenter");
    command.args(["-t", &holder.to_string(), "-m", "-n"]).arg(program);
    command.stdin(Stdio::null()).kill_on_drop(true);
    Ok(command)
}

fn text(network: &Network, key: &Path) -> Result<String, Failure> {
    let mut out = String::from("totem {\n  version: 2\n  cluster_name: peer\n  transport: knet\n");
    out.push_str("  crypto_model: openssl\n  crypto_cipher: aes256\n  crypto_hash: sha256\n");
    writeln!(out, "  keyfile: {}\n}}", key.display()).map_err(Failure::bug)?;
    out.push_str(
        "logging {\n  to_stderr: yes\n  to_syslog: no\n  to_logfile: no\n}\nquorum {\n}\nnodelist {\n",
    );
    for number in 0..network.names().len() {
        let at = network.address(number).ok_or_else(|| Failure::bug("no such node"))?;
        let id = number + 1;
        writeln!(out, "  node {{\n    name: n{id}\n    nodeid: {id}\n    ring0_addr: {at}\n  }}")
            .map_err(Failure::bug)?;
    }
    out.push_str("}\n");
    Ok(out)
}

/// What a client printed of its only run.
#[derive(Debug, PartialEq)]
struct Row {
    /// Messages a second.
    rate: f64,
    /// A digest of the order.
    order: String,
    p50_us: f64,
    p99_us: f64,
}

fn row(printed: &str) -> Option<Row> {
    let words: Vec<&str> = printed.lines().find_map(|line| line.strip_prefix("R "))?.split(' ').collect();
    let number = |place: usize| words.get(place)?.parse().ok();
    let order = (*words.get(6)?).to_owned();
    Some(Row { rate: number(4)?, order, p50_us: number(7)?, p99_us: number(8)? })
}

#[cfg(test)]
mod tests {
    use super::{Row, row};

    #[test]
    fn rate_order_and_latency_are_read_from_what_a_client_prints() {
        let printed = "R 2 0 41000 1.0002 40991.8 55.339 00a1b2c3d4e5f607 3000.1 9000.2 9999.9 0.310\n";
        let order = "00a1b2c3d4e5f607".into();
        assert_eq!(row(printed), Some(Row { rate: 40_991.8, order, p50_us: 3_000.1, p99_us: 9_000.2 }));
        for none in ["", "R 1 2", "timed out"] {
            assert_eq!(row(none), None, "{none}");
        }
    }
}
