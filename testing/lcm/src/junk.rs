//! What junk on the channels of keys costs members: how soon a newcomer has its keys, how soon an
//! exclusion is carried out, and how many honest messages are lost, while it comes. Two programs of
//! liblcm are in the same group: what they lose under the same junk is the measure.
//!
//! ```text
//!   members 1 and 2, newcomer 3 ==one group, in a network namespace== 50,000 datagrams a second of junk
//!                                  ||  ||
//!                            two of liblcm, in turn with the honest
//! ```

use crate::Outcome;
use crate::liblcm::Liblcm;
use crate::pair::Pair;
use crate::start::{ADDRESS, inside, is_inside, issue, papers, told};
use crate::verdict::{Measured, judge};
use clap::Args;
use core::net::{Ipv4Addr, SocketAddrV4};
use folkmoot_base::{Instant as Virtual, UnixTime, hex};
use folkmoot_lcm::{Bus, Capacity, Membership, Options, Pattern};
use folkmoot_pubsub::discovery::{Discovery, Input, Output, Settings, message::tag};
use folkmoot_pubsub::secured::Domain;
use folkmoot_pubsub::{Address, Channel};
use folkmoot_system::OsEntropy;
use serde_json::json;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const KINDS: [&str; 5] = ["none", "no papers", "former papers", "recorded", "fragments"];
/// When something is given up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Signed by somebody who is out; said again when all were said.
const SIGNED: usize = 2_000;
/// Honest messages, a millisecond apart.
const HONEST: u64 = 2_000;
/// The receive buffer that a member asks for, for programs of liblcm, too.
const RECEIVE_BYTES: u32 = 4 << 20;

#[derive(Debug, Args)]
pub(crate) struct Junk {
    /// Datagrams of junk a second
    #[arg(long, default_value_t = 50_000)]
    rate: u64,
    /// How often
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Of this kind alone
    #[arg(long)]
    kind: Option<String>,
    /// Folder of Debian's packages liblcm1 and liblcm-dev, unpacked [default: fetched]
    #[arg(long)]
    liblcm: Option<PathBuf>,
}

pub(crate) fn run(options: &Junk) -> Outcome<()> {
    // Before the namespace, in which there is no network to fetch it from.
    let liblcm = Liblcm::prepare(options.liblcm.as_deref())?;
    if !is_inside() {
        return inside();
    }
    println!("{}", json!({"measures": "junk", "rate": options.rate, "rounds": options.rounds}));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(told)?;
    let mut all = Vec::new();
    for round in 0..options.rounds {
        let wanted = |kind: &&str| options.kind.as_ref().is_none_or(|one| one == kind);
        for kind in KINDS.into_iter().filter(wanted) {
            let folder = std::env::temp_dir().join(format!("folkmoot-junk-{}-{round}", std::process::id()));
            let measured = runtime.block_on(measure(&folder, (kind, round), options.rate, &liblcm));
            let _ = std::fs::remove_dir_all(&folder);
            let measured = measured?;
            println!("{}", measured.json());
            all.push(measured);
        }
    }
    judge(&KINDS, &all)
}

async fn measure(
    folder: &Path,
    (kind, round): (&'static str, usize),
    rate: u64,
    liblcm: &Liblcm,
) -> Outcome<Measured> {
    let issuer = issue(folder, 4)?;
    let recorder = recorder()?;
    let mut members = Vec::new();
    for number in [1, 2, 4] {
        members.push(join(folder, number).await?);
    }
    together(&members, 3).await.map_err(|why| format!("before the junk: {why}"))?;
    // Number 4 is the former member, whose papers the junk has.
    let statement =
        issuer.exclude(&std::fs::read(folder.join("4/member.der")).map_err(told)?).map_err(told)?;
    let first = members.first().ok_or("nobody")?;
    first.exclude(statement).await;
    members.pop();
    together(&members, 2).await?;
    let flood = Flood::start(words(folder, kind, &recorder)?, rate)?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let begun = Instant::now();
    members.push(join(folder, 3).await?);
    together(&members, 3).await?;
    let newcomer_seconds = begun.elapsed().as_secs_f64();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (honest_lost, liblcm_lost) = lost(&members, liblcm, round).await?;
    let statement =
        issuer.exclude(&std::fs::read(folder.join("3/member.der")).map_err(told)?).map_err(told)?;
    let begun = Instant::now();
    let carrier = Bus::join(ADDRESS.parse().map_err(told)?).map_err(told)?;
    let channel = Channel::new(folkmoot_lcm::EXCLUSION_CHANNEL).map_err(told)?;
    members.pop();
    let mut again = tokio::time::interval(Duration::from_millis(100));
    let all = together(&members, 2);
    tokio::pin!(all);
    loop {
        tokio::select! {
            done = &mut all => { done?; break }
            _ = again.tick() => carrier.publish(channel, &statement).await.map_err(told)?,
        }
    }
    let exclusion_seconds = begun.elapsed().as_secs_f64();
    let datagrams_a_second = flood.stop();
    Ok(Measured {
        kind,
        round,
        datagrams_a_second,
        newcomer_seconds,
        exclusion_seconds,
        honest_lost,
        liblcm_lost,
    })
}

/// Which share is lost of the members' messages, and of liblcm's. All of them listen all the time,
/// so that whoever speaks has the same company; each is first in every other round.
async fn lost(members: &[Membership], liblcm: &Liblcm, round: usize) -> Outcome<(f64, f64)> {
    let mut pair = Pair::start(liblcm, &format!("{ADDRESS}&recv_buf_size={RECEIVE_BYTES}"))?;
    // The pair is waited for in this thread, which drives none of the members.
    if round.is_multiple_of(2) {
        let honest = honest(members).await?;
        return Ok((honest, pair.lost(HONEST)?));
    }
    let theirs = pair.lost(HONEST)?;
    Ok((honest(members).await?, theirs))
}

/// Two seconds of messages from one to another; the share that is lost.
async fn honest(members: &[Membership]) -> Outcome<f64> {
    let [from, to, ..] = members else { return Err("nobody".into()) };
    let channel = Channel::new("POSE").map_err(told)?;
    let pattern = Pattern::new("POSE").map_err(told)?;
    let mut heard = to.bus().subscribe(pattern, Capacity::default()).map_err(told)?;
    let mut pace = tokio::time::interval(Duration::from_millis(1));
    let mut came = 0_u64;
    for number in 0..HONEST {
        pace.tick().await;
        from.bus().publish(channel, &number.to_be_bytes()).await.map_err(told)?;
        while heard.waiting().is_some() {
            came += 1;
        }
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    while heard.waiting().is_some() {
        came += 1;
    }
    Ok(1.0 - came as f64 / HONEST as f64)
}

async fn join(folder: &Path, number: u16) -> Outcome<Membership> {
    let own = folder.join(number.to_string());
    let address = ADDRESS.parse().map_err(told)?;
    Membership::join(address, papers(&own)?, Options::new(own.join("state"))).await.map_err(told)
}

/// Until all share their keys with so many.
async fn together(members: &[Membership], count: usize) -> Outcome<()> {
    let done = |one: &Membership| one.keyed().iter().all(|keyed| keyed.members.len() == count);
    let wait = async {
        while !members.iter().all(done) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    let keys = || members.iter().map(Membership::keyed).collect::<Vec<_>>();
    waited.map_err(|_| format!("no keys of {count} within a minute: {:?}", keys()))
}

/// Everything that is said in the group.
fn recorder() -> Outcome<UdpSocket> {
    let address: Address = ADDRESS.parse().map_err(told)?;
    let socket = socket(address.group)?;
    socket.set_nonblocking(true).map_err(told)?;
    Ok(socket)
}

fn socket(group: SocketAddrV4) -> Outcome<UdpSocket> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).map_err(told)?;
    socket.set_reuse_address(true).map_err(told)?;
    socket.bind(&core::net::SocketAddr::V4(group).into()).map_err(told)?;
    socket.join_multicast_v4(group.ip(), &Ipv4Addr::UNSPECIFIED).map_err(told)?;
    Ok(socket.into())
}

/// The datagrams that are said in turn.
fn words(folder: &Path, kind: &str, recorder: &UdpSocket) -> Outcome<Vec<Vec<u8>>> {
    let domain = domain()?;
    let channel = [b"folkmoot://", hex(&tag(domain.to_string().as_bytes())).as_bytes(), &[0]].concat();
    let short = |sequence: usize, said: &[u8]| {
        let sequence = u32::try_from(sequence).unwrap_or_default().to_be_bytes();
        [b"LC02", &sequence[..], &channel, said].concat()
    };
    Ok(match kind {
        "none" => Vec::new(),
        "no papers" => (0..1_000).map(|number| short(number, &[7; 21])).collect(),
        "former papers" => {
            let said = joins(&folder.join("4"), &domain)?;
            said.iter().enumerate().map(|(number, said)| short(number, said)).collect()
        }
        "recorded" => {
            let mut room = vec![0; 65_536];
            std::iter::from_fn(|| {
                recorder.recv(&mut room).ok().map(|length| room.iter().take(length).copied().collect())
            })
            .collect()
        }
        _ => (0..1_000_u32).map(|number| fragment(number, &channel)).collect(),
    })
}

/// A first fragment that says that it has a megabyte.
fn fragment(number: u32, channel: &[u8]) -> Vec<u8> {
    let numbers = [number.to_be_bytes(), 1_000_000_u32.to_be_bytes(), [0; 4], [0, 0, 3, 232]].concat();
    [b"LC03", &numbers[..], channel, &[7; 900]].concat()
}

/// What somebody says who has a certificate and is out: each signed, each newer than the last.
fn joins(folder: &Path, domain: &Domain) -> Outcome<Vec<Vec<u8>>> {
    let (papers, mut entropy) = (papers(folder)?, OsEntropy::new()?);
    let settings = Settings::new(domain.to_string().as_bytes());
    let (mut stored, mut all) = (None, Vec::with_capacity(SIGNED));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_err(told)?.as_secs();
    while all.len() < SIGNED {
        let machine = Discovery::new(papers.clone(), settings.clone(), stored.as_deref());
        let mut machine = machine.map_err(told)?;
        machine.handle(Virtual(0), Input::Wall(UnixTime(now)), &mut entropy);
        machine.handle(Virtual(0), Input::Start, &mut entropy);
        while let Some(output) = machine.poll_output() {
            match output {
                Output::Persist(bytes) => stored = Some(bytes.to_vec()),
                Output::Send(said) => all.push(said.to_vec()),
                _ => {}
            }
        }
    }
    Ok(all)
}

fn domain() -> Outcome<Domain> {
    let address: Address = ADDRESS.parse().map_err(told)?;
    Domain::group(address.group.into()).map_err(told)
}

/// A thread that says these, so many a second, until it is stopped.
struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    begun: Instant,
}

impl Flood {
    fn start(words: Vec<Vec<u8>>, rate: u64) -> Outcome<Self> {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let flood = Self { stop: Arc::clone(&stop), sent: Arc::clone(&sent), begun: Instant::now() };
        if words.is_empty() {
            return Ok(flood);
        }
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(told)?;
        socket.set_multicast_ttl_v4(0).map_err(told)?;
        let to = ADDRESS.parse::<Address>().map_err(told)?.group;
        std::thread::spawn(move || {
            let begun = Instant::now();
            for word in words.iter().cycle() {
                if stop.load(Ordering::Relaxed) || begun.elapsed() > 3 * PATIENCE {
                    return;
                }
                let count = sent.fetch_add(1, Ordering::Relaxed);
                while begun.elapsed().as_secs_f64() * (rate as f64) < count as f64 {
                    std::thread::sleep(Duration::from_micros(200));
                }
                let _ = socket.send_to(word, to);
            }
        });
        Ok(flood)
    }

    /// How many a second there were.
    fn stop(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        self.sent.load(Ordering::Relaxed) as f64 / self.begun.elapsed().as_secs_f64()
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
