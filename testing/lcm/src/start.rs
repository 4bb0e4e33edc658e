//! How soon programs that are started at once share their keys: each is a process, with a
//! certificate and a folder of its own, in one network namespace.

use crate::Outcome;
use crate::statistics::rounded;
use clap::Args;
use folkmoot_base::UnixTime;
use folkmoot_lcm::{Membership, Options};
use folkmoot_pubsub::secured::{Certificates, Domain, Issuer, Right, SenderId};
use folkmoot_pubsub::{Address, Channel};
use folkmoot_signing::plain::SigningKey;
use folkmoot_system::OsEntropy;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// When the programs of one start are given up.
const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const ADDRESS: &str = "udpm://239.255.76.67:7667?ttl=0";
/// Set inside of the namespace.
const INSIDE: &str = "FOLKMOOT_LCM_BENCH_INSIDE";
/// Gives multicast a way, and becomes what follows.
const ENTER: &str = r#"ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@""#;

#[derive(Debug, Args)]
pub(crate) struct Start {
    /// How many programs
    #[arg(long, default_value_t = 16)]
    nodes: u16,
    /// How often
    #[arg(long, default_value_t = 20)]
    times: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Joins {
    folder: PathBuf,
    nodes: usize,
}

pub(crate) fn run(options: &Start) -> Outcome<()> {
    if !is_inside() {
        return inside();
    }
    println!("{}", json!({"measures": "start", "nodes": options.nodes, "times": options.times}));
    let mut all = Vec::with_capacity(options.times);
    for round in 0..options.times {
        let folder = std::env::temp_dir().join(format!("folkmoot-start-{}-{round}", std::process::id()));
        let took = once(&folder, options.nodes);
        let _ = std::fs::remove_dir_all(&folder);
        let took = took?.as_secs_f64();
        println!("{}", json!({"round": round, "seconds": rounded(took)}));
        all.push(took);
    }
    all.sort_by(f64::total_cmp);
    let within = all.iter().filter(|took| **took <= 1.0).count();
    let (median, most) = (all.get(all.len() / 2), all.last());
    println!(
        "{}",
        json!({
            "median_seconds": median.map(|took| rounded(*took)), "most_seconds": most.map(|took| rounded(*took)),
            "within_a_second": within, "of": all.len(),
        })
    );
    Ok(())
}

/// Whether this runs in a network namespace of its own.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs this again in a network namespace.
pub(crate) fn inside() -> Outcome<()> {
    let own = std::env::current_exe().map_err(told)?;
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", ENTER, "sh"]).arg(own).args(std::env::args_os().skip(1));
    let status = command.env(INSIDE, "1").status().map_err(told)?;
    if status.success() { Ok(()) } else { Err(format!("the namespace ended with {status}")) }
}

/// From the start of the first process until all have their keys.
fn once(folder: &Path, nodes: u16) -> Outcome<Duration> {
    issue(folder, nodes)?;
    let own = std::env::current_exe().map_err(told)?;
    let begun = Instant::now();
    let mut children = Vec::new();
    for number in 1..=nodes {
        let mut command = Command::new(&own);
        command.arg("joins").arg(folder.join(number.to_string())).arg(nodes.to_string());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(told)?;
        children.push(Running(child));
    }
    for child in &mut children {
        let out = child.0.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).map_err(told)?;
        if line.trim() != "keys" {
            return Err(format!("a program said {:?} and not that it has its keys", line.trim()));
        }
    }
    Ok(begun.elapsed())
}

/// Ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A root, and a folder with certificate and key for each.
pub(crate) fn issue(folder: &Path, nodes: u16) -> Outcome<Issuer> {
    let mut entropy = OsEntropy::new()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(told)?.as_secs();
    let term = UnixTime(now.saturating_sub(60))..=UnixTime(now.saturating_add(3_600));
    let issuer =
        Issuer::new("bench", SigningKey::generate(&mut entropy), &term, &mut entropy).map_err(told)?;
    let address: Address = ADDRESS.parse().map_err(told)?;
    let group = Domain::group(address.group.into()).map_err(told)?;
    let channel = Channel::new("POSE").map_err(told)?;
    for number in 1..=nodes {
        let own = folder.join(number.to_string());
        std::fs::create_dir_all(&own).map_err(told)?;
        let sender = SenderId::new(number).ok_or("no number")?;
        let domains = [group, group.with_channel(channel)];
        let rights: BTreeSet<Right> = domains.map(|domain| Right { domain, sender }).into();
        let key = SigningKey::generate(&mut entropy);
        let made = issuer.issue("node", key.verifying_key(), &rights, &term, &mut entropy).map_err(told)?;
        let pkcs8 = key.to_pkcs8_der().map_err(told)?;
        std::fs::write(own.join("root.der"), issuer.certificate()).map_err(told)?;
        std::fs::write(own.join("member.der"), made).map_err(told)?;
        std::fs::write(own.join("key.der"), pkcs8.expose()).map_err(told)?;
    }
    Ok(issuer)
}

/// The papers in one of these folders.
pub(crate) fn papers(folder: &Path) -> Outcome<Certificates> {
    let read = |name: &str| std::fs::read(folder.join(name)).map_err(told);
    let key = SigningKey::from_pkcs8_der(&read("key.der")?).map_err(told)?;
    Certificates::new(&read("root.der")?, &read("member.der")?, key).map_err(told)
}

/// One of the programs.
pub(crate) fn joins(options: &Joins) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(told)?;
    runtime.block_on(async {
        let member = tokio::time::timeout(PATIENCE, join(options)).await;
        let _member = member.map_err(|_| "no keys within 30 s".to_owned())??;
        println!("keys");
        // Until whoever waits has heard all.
        let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await;
        Ok(())
    })
}

async fn join(options: &Joins) -> Outcome<Membership> {
    let certificates = papers(&options.folder)?;
    let address = ADDRESS.parse().map_err(told)?;
    let options_of = Options::new(options.folder.join("state"));
    let mut member = Membership::join(address, certificates, options_of).await.map_err(told)?;
    while !member.keyed().iter().all(|keyed| keyed.members.len() == options.nodes) {
        if !member.changed().await {
            return Err("the agreement on keys has ended".into());
        }
    }
    Ok(member)
}

pub(crate) fn told(error: impl core::fmt::Display) -> String {
    error.to_string()
}
