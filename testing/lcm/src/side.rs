//! Our side of a measurement: what testing/lcm/bench.c is for liblcm.

use crate::Outcome;
use clap::{Args, ValueEnum};
use folkmoot_lcm::{Bus, Capacity, Pattern, Secured, Subscription};
use folkmoot_pubsub::secured::{Cause, Domain, DomainKey, Material, Member, Mode, SenderId, Suite, Times};
use folkmoot_pubsub::{Address, Channel};
use std::io::{BufRead as _, Write as _};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// How long a payload says that the sender has ended.
const END: usize = 3;
const ENDS: usize = 5;
/// What payloads are made of.
const MARK: u8 = 7;
/// When a message counts as lost.
const PATIENCE: Duration = Duration::from_millis(300);
const CHANNELS: [&str; 3] = ["PING", "PONG", "DATA"];

#[derive(Debug, Clone, Args)]
pub(crate) struct Side {
    role: Role,
    address: String,
    #[arg(long)]
    secured: bool,
    /// How many messages it says at a time
    #[arg(long, default_value_t = 1)]
    many: usize,
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Role {
    Reply,
    Source,
    Send,
    Receive,
    Flood,
}

pub(crate) fn run(side: &Side) -> Outcome<()> {
    let mut builder = match side.threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        threads => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads);
            builder
        }
    };
    let runtime = builder.enable_all().build().map_err(|error| error.to_string())?;
    if side.threads == 0 {
        return runtime.block_on(part(side.clone()));
    }
    // A task, and not what the runtime was given first: that has a thread of its own.
    runtime.block_on(async { runtime.spawn(part(side.clone())).await.map_err(told)? })
}

async fn part(side: Side) -> Outcome<()> {
    let address: Address = side.address.parse().map_err(|error| format!("{error}"))?;
    if matches!(side.role, Role::Flood) {
        return flood(&address);
    }
    let bus = join(address, &side).await?;
    match side.role {
        Role::Reply => reply(&bus).await,
        Role::Source => source(&bus).await,
        Role::Send => send(&bus, side.many).await,
        Role::Receive => receive(&bus).await,
        Role::Flood => Ok(()),
    }
}

/// The keys are the same in each process: a bench has no secrets.
async fn join(address: Address, side: &Side) -> Outcome<Bus> {
    if !side.secured {
        return Bus::join(address).map_err(told);
    }
    let number = if matches!(side.role, Role::Source | Role::Send) { 1 } else { 2 };
    let [sender, own] = [number, 3 - number].map(SenderId::new);
    let members = sender.into_iter().chain(own).map(Member::from);
    let sender = sender.ok_or("no sender")?;
    let secured = Secured { mode: Mode::Own, sender, key: None, times: Times::default() };
    let bus = Bus::join_secured(address, secured).map_err(told)?;
    let group = Domain::group(address.group.into()).map_err(told)?;
    let mut domains = vec![group];
    for name in CHANNELS {
        domains.push(group.with_channel(channel(name)?));
    }
    for domain in domains {
        let material = Material::derive(Suite::Aes128, &domain, b"of a bench");
        let key = DomainKey::new(Mode::Own, domain, &material, members.clone()).ok_or("no key")?;
        bus.install(key, Cause::Joined).await.map_err(told)?;
    }
    Ok(bus)
}

fn told(error: impl core::fmt::Display) -> String {
    error.to_string()
}

fn channel(name: &str) -> Outcome<Channel> {
    Channel::new(name).map_err(told)
}

fn subscribe(bus: &Bus, name: &str) -> Outcome<Subscription> {
    let capacity = Capacity { messages: 10_000, ..Capacity::default() };
    let heard = bus.subscribe(Pattern::new(name).map_err(told)?, capacity).map_err(told)?;
    say("ready");
    Ok(heard)
}

fn say(line: &str) {
    println!("{line}");
    // Whoever asks waits for it; if it is gone, so are we soon.
    let _ = std::io::stdout().flush();
}

/// The next task: three numbers at most. The thread may block, as nothing else is to be done.
fn task() -> Option<[usize; 3]> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    Some([0; 3].map(|none| numbers.next().unwrap_or(none)))
}

async fn reply(bus: &Bus) -> Outcome<()> {
    let (mut heard, pong) = (subscribe(bus, "PING")?, channel("PONG")?);
    while let Some(heard) = heard.next().await {
        bus.publish(pong, &heard.payload).await.map_err(told)?;
    }
    Ok(())
}

async fn source(bus: &Bus) -> Outcome<()> {
    let (mut heard, ping) = (subscribe(bus, "PONG")?, channel("PING")?);
    while let Some([size, times, _]) = task() {
        let (payload, mut line) = (vec![MARK; size], String::new());
        for _ in 0..times {
            let start = Instant::now();
            bus.publish(ping, &payload).await.map_err(told)?;
            let came = tokio::time::timeout(PATIENCE, heard.next()).await;
            let took = if came.is_ok() { start.elapsed().as_nanos() } else { 0 };
            line.push_str(&format!("{took} "));
            while heard.waiting().is_some() {}
        }
        say(&line);
    }
    Ok(())
}

async fn send(bus: &Bus, many: usize) -> Outcome<()> {
    let data = channel("DATA")?;
    say("ready");
    while let Some([size, length, rate]) = task() {
        let payload = vec![MARK; size];
        let (mut sent, start) = (0_usize, Instant::now());
        let end = Duration::from_millis(length.try_into().unwrap_or_default());
        while start.elapsed() < end {
            if many > 1 {
                let burst = core::iter::repeat_n((data, &payload[..]), many);
                bus.publish_many(burst).await.map_err(told)?;
            } else {
                bus.publish(data, &payload).await.map_err(told)?;
            }
            sent += many;
            if rate > 0 {
                let due = Duration::from_secs_f64(sent as f64 / rate as f64);
                std::thread::sleep(due.saturating_sub(start.elapsed()));
            }
        }
        let took = start.elapsed().as_nanos();
        for _ in 0..ENDS {
            std::thread::sleep(Duration::from_millis(100));
            bus.publish(data, &[0; END]).await.map_err(told)?;
        }
        say(&format!("{sent} {took}"));
    }
    Ok(())
}

async fn receive(bus: &Bus) -> Outcome<()> {
    let mut heard = subscribe(bus, "DATA")?;
    let (mut count, mut bytes) = (0_u64, 0_usize);
    let (mut first, mut last) = (Instant::now(), Instant::now());
    while let Some(heard) = heard.next().await {
        if heard.payload.len() == END {
            if count > 0 {
                say(&format!("{count} {bytes} {}", last.duration_since(first).as_nanos()));
            }
            (count, bytes) = (0, 0);
            continue;
        }
        if [heard.payload.first(), heard.payload.last()] != [Some(&MARK); 2] {
            continue;
        }
        last = Instant::now();
        if count == 0 {
            first = last;
        }
        (count, bytes) = (count + 1, bytes + heard.payload.len());
    }
    Ok(())
}

/// Sends what is no message, until it is ended: each of LCM's four beginnings, and none of them,
/// and then anything.
fn flood(address: &Address) -> Outcome<()> {
    let socket = UdpSocket::bind("0.0.0.0:0").map_err(told)?;
    socket.set_multicast_ttl_v4(u32::from(address.ttl)).map_err(told)?;
    let mut room = [0_u8; 1_400];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for chunk in room.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random().to_be_bytes());
    }
    say("ready");
    loop {
        let drawn = random();
        let kind = (drawn >> 60) % 5;
        let length = 20 + usize::try_from(drawn % 1_380).unwrap_or_default();
        let datagram = room.get_mut(..length).unwrap_or_default();
        let begins = [&b"LC02"[..], b"LC03", b"LC04", b"LC05", b"????"];
        let begin = begins.get(usize::try_from(kind).unwrap_or_default()).copied().unwrap_or_default();
        let says = begin.iter().copied().chain(drawn.to_be_bytes()).chain(random().to_be_bytes());
        datagram.iter_mut().zip(says).for_each(|(to, from)| *to = from);
        // What the system has no room for is lost, as it should be.
        let _ = socket.send_to(datagram, address.group);
    }
}
