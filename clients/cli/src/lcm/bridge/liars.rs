//! An outsider on the network, and bridges that lack one check each: what it says inside goes over
//! where the check is left out, and nowhere else (PUB-72, PUB-73).
//!
//! ```text
//!   outsider: wire ==veth== far: groups inside --> bridges ~~sealed, on loopback~~ the last --> ear
//!                            lo: groups inside ------^
//! ```
//! All run in this process and on one host, and each bridge has a group of its own inside. The
//! outsider writes the IP headers itself, so it speaks in whatever name it likes.

#[path = "../../../../../host/lcm/tests/it/alone.rs"]
mod alone;

use super::super::lcm;
use super::{Meeting, Sides, carry, open};
use crate::args::lcm::{Bridge, Lcm, LcmCommand};
use crate::args::{Cli, Command};
use crate::exit::Failure;
use clap::Parser as _;
use core::net::{Ipv4Addr, SocketAddrV4};
use folkmoot_base::Mutant;
use folkmoot_lcm::{Bus, Capacity, Danger, Pattern, Subscription};
use folkmoot_pubsub::Address;
use rustix::net::netdevice::name_to_index;
use rustix::net::sockopt::set_ip_multicast_if_with_ifindex;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const PORT: u16 = 7_667;
const OUTSIDE: &str = "udpm://239.255.76.68:7668?ttl=0";
const PATIENCE: Duration = Duration::from_secs(60);

/// Which check each bridge lacks, and its group inside. The last one is the other side.
const BRIDGES: [(Option<Danger>, Ipv4Addr); 7] = [
    (None, Ipv4Addr::new(239, 255, 76, 101)),
    (Some(Danger::AnySource), Ipv4Addr::new(239, 255, 76, 102)),
    (Some(Danger::FormerSource), Ipv4Addr::new(239, 255, 76, 103)),
    (Some(Danger::ForgeableSource), Ipv4Addr::new(239, 255, 76, 104)),
    // No router carries these groups, and Linux takes there what comes from no address.
    (None, Ipv4Addr::new(224, 0, 0, 105)),
    (Some(Danger::NamelessSource), Ipv4Addr::new(224, 0, 0, 106)),
    (None, Ipv4Addr::new(239, 255, 76, 107)),
];
const OTHER_SIDE: usize = BRIDGES.len() - 1;

const OUTSIDER: Ipv4Addr = Ipv4Addr::new(10, 66, 1, 9);
const OWN: Ipv4Addr = Ipv4Addr::new(10, 66, 1, 1);
/// An address that this host has now and then.
const FORMER: Ipv4Addr = Ipv4Addr::new(10, 66, 1, 2);

fn ip(line: &str) {
    assert!(std::process::Command::new("ip").args(line.split(' ')).status().unwrap().success(), "{line}");
}

/// A setting of this namespace.
fn set(name: &str, value: bool) {
    std::fs::write(format!("/proc/sys/net/ipv4/conf/{name}"), u8::from(value).to_string()).unwrap();
}

/// A host on a network: what leaves by `wire` comes to it from outside.
fn network() {
    ip("route del 224.0.0.0/4 dev lo");
    ip("link add far type veth peer name wire");
    ip("addr add 10.66.1.1/24 dev far");
    ip("link set wire up");
    ip("link set far up");
    ip("route add 224.0.0.0/4 dev far");
    for interface in ["all", "far"] {
        for name in ["rp_filter", "accept_local", "route_localnet"] {
            set(&format!("{interface}/{name}"), false);
        }
    }
}

/// Speaks by this interface, and by no other.
fn by(socket: impl AsFd, interface: &str) {
    let index = name_to_index(&socket, interface).unwrap();
    let any = Ipv4Addr::UNSPECIFIED;
    set_ip_multicast_if_with_ifindex(socket, &any, &any, index).unwrap();
}

/// A program of this host, which speaks from here.
fn program(source: Ipv4Addr, interface: &str) -> UdpSocket {
    let program = UdpSocket::bind((source, 0)).unwrap();
    program.set_multicast_ttl_v4(0).unwrap();
    by(&program, interface);
    program
}

/// An IP datagram as the outsider writes it.
fn forged(source: Ipv4Addr, to: SocketAddrV4, said: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u16::try_from(bytes + said.len()).unwrap().to_be_bytes();
    // One hop of UDP; the system fills in the checksum, and UDP needs none.
    let head = [&[0x45, 0], &length(28)[..], &[0, 0, 0, 0, 1, 17, 0, 0]].concat();
    let port = to.port().to_be_bytes();
    let addresses = [source.octets(), to.ip().octets()].concat();
    [&head[..], &addresses, &port, &port, &length(8), &[0, 0], said].concat()
}

fn message(number: u32, channel: &str, said: &str) -> Vec<u8> {
    [b"LC02", &number.to_be_bytes()[..], channel.as_bytes(), &[0], said.as_bytes()].concat()
}

fn parsed(line: &str) -> Lcm {
    let cli = Cli::try_parse_from(["folkmoot", "lcm"].into_iter().chain(line.split(' '))).unwrap();
    let Command::Lcm(parsed) = cli.command else { panic!("{line}") };
    parsed
}

/// A folder of papers for each, removed at the end.
struct Papers(PathBuf);

impl Papers {
    async fn new() -> Self {
        let path = std::env::temp_dir().join(format!("fm-lcm-liars-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let papers = Self(path);
        let root = papers.folder("root");
        lcm(parsed(&format!("root new {root} --no-passphrase")), true).await.unwrap();
        for number in 0..BRIDGES.len() {
            // 1 is free: whoever has the lowest number carries, and the outsider says that it has.
            let (sender, out) = (number + 2, papers.folder(&number.to_string()));
            let line = format!("certify --root {root} --sender {sender} --channel POSE --out {out}");
            lcm(parsed(&format!("{line} --lcm-url {OUTSIDE}")), true).await.unwrap();
        }
        papers
    }

    fn folder(&self, name: &str) -> String {
        Path::new(&self.0).join(name).display().to_string()
    }
}

impl Drop for Papers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn within(number: usize) -> Address {
    Address { group: SocketAddrV4::new(BRIDGES[number].1, PORT), ttl: 0, ..Address::default() }
}

/// A bridge that lacks a check, if this says which.
async fn bridge(papers: &Papers, number: usize) -> (Arc<Sides>, JoinSet<Failure>) {
    let line = format!("bridge --secured {}", papers.folder(&number.to_string()));
    let LcmCommand::Bridge(bridge) = parsed(&line).command else { panic!("{line}") };
    let outside = Address { interface: Some("lo".parse().unwrap()), ..OUTSIDE.parse().unwrap() };
    let danger = Mutant::from(BRIDGES[number].0);
    let bridge = Bridge { inside: Some(within(number)), outside: Some(outside), danger, ..bridge };
    let sides = Arc::new(open(Meeting { url: None, interface: None }, &bridge, true).await.unwrap());
    let tasks = carry(&sides).await.unwrap();
    (sides, tasks)
}

/// All bridges, who listens at the other side, the outsider, and a program of this host.
struct Stage {
    bridges: Vec<(Arc<Sides>, JoinSet<Failure>)>,
    heard: Subscription,
    _ear: Bus,
    outsider: Socket,
    program: UdpSocket,
    said: u32,
    _papers: Papers,
}

impl Stage {
    async fn new() -> Self {
        network();
        let papers = Papers::new().await;
        let outsider = Socket::new(Domain::IPV4, Type::from(3), Some(Protocol::from(255))).unwrap();
        outsider.set_multicast_loop_v4(false).unwrap();
        by(&outsider, "wire");
        let program = program(Ipv4Addr::LOCALHOST, "lo");
        let ear = Bus::join(within(OTHER_SIDE)).unwrap();
        let heard = ear.subscribe(Pattern::new("POSE").unwrap(), Capacity::default()).unwrap();
        let mut bridges = Vec::new();
        for number in 0..BRIDGES.len() {
            bridges.push(bridge(&papers, number).await);
        }
        let stage = Self { bridges, heard, _ear: ear, outsider, program, said: 0, _papers: papers };
        let together = |sides: &Sides| {
            let keys = sides.outside.membership.keyed();
            !keys.is_empty() && keys.iter().all(|key| key.members.len() == BRIDGES.len())
        };
        until("all share the keys", || stage.bridges.iter().all(|(sides, _)| together(sides))).await;
        stage
    }

    /// The outsider says something inside, to this bridge.
    fn lie(&mut self, source: Ipv4Addr, to: usize, channel: &str, said: &str) {
        self.said += 1;
        let to = within(to).group;
        let datagram = forged(source, to, &message(self.said, channel, said));
        self.outsider.send_to(&datagram, &to.into()).unwrap();
    }

    /// A program of this host says something inside, to each bridge.
    fn say(&mut self, said: &str) {
        self.said += 1;
        for number in 0..OTHER_SIDE {
            let said = message(self.said, "POSE", &format!("{said} {number}"));
            self.program.send_to(&said, within(number).group).unwrap();
        }
    }

    /// Over which bridges goes what the outsider says in this name. After it a program of this host
    /// speaks, until that has gone over all bridges.
    async fn lied(&mut self, source: Ipv4Addr) -> BTreeSet<usize> {
        (0..OTHER_SIDE).for_each(|number| self.lie(source, number, "POSE", &format!("lie {number}")));
        let (truth, ends) = (format!("truth {}", self.said), Instant::now() + PATIENCE);
        let (mut lies, mut truths) = (BTreeSet::new(), BTreeSet::new());
        while truths.len() < OTHER_SIDE {
            assert!(Instant::now() < ends, "{source}: only {truths:?} carry what is said here");
            self.say(&truth);
            tokio::time::sleep(Duration::from_millis(100)).await;
            while let Some(heard) = self.heard.waiting() {
                let said = String::from_utf8_lossy(&heard.payload).into_owned();
                let (what, number) = said.rsplit_once(' ').unwrap();
                let of = if what == truth { &mut truths } else { &mut lies };
                let _ = (what == truth || what == "lie") && of.insert(number.parse().unwrap());
            }
        }
        lies
    }

    /// It goes over these, and over no others.
    async fn goes_over(&mut self, source: Ipv4Addr, expected: &[usize], before: impl AsyncFn()) {
        let expected = BTreeSet::from_iter(expected.iter().copied());
        let mut all = BTreeSet::new();
        for _ in 0..20 {
            before().await;
            all.append(&mut self.lied(source).await);
            assert!(all.is_subset(&expected), "{source}: {all:?} carry it, and not only {expected:?}");
            if all == expected {
                return;
            }
        }
        panic!("{source}: only {all:?} carry it, and not {expected:?}: what is the check for?");
    }

    /// All look anew at the settings of this host.
    fn look(&self) {
        self.bridges.iter().for_each(|(sides, _)| sides.heard.look(true));
    }

    /// Which bridges stand by when the outsider says that it is a bridge with a lower number.
    async fn stand_by(&mut self, source: Ipv4Addr) -> Vec<usize> {
        let foreign = |stage: &Self, number: usize| stage.bridges[number].0.heard.foreign();
        let before: Vec<u64> = (0..OTHER_SIDE).map(|number| foreign(self, number)).collect();
        let announcement = "folkmoot lcm bridge v1 239.255.76.68:7668 1";
        (0..OTHER_SIDE).for_each(|number| self.lie(source, number, "folkmoot://bridge", announcement));
        let stands_by = |stage: &Self, number: usize| stage.bridges[number].0.others.stands_by();
        let judged = |number| stands_by(self, number) || foreign(self, number) > before[number];
        until("the announcement is judged", || (0..OTHER_SIDE).all(judged)).await;
        (0..OTHER_SIDE).filter(|number| stands_by(self, *number)).collect()
    }
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let ends = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < ends, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn run(name: &str, test: impl AsyncFnOnce(Stage)) {
    alone::alone(name, || {
        // It changes the network, so it needs one of its own.
        if !alone::is_alone() {
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { test(Stage::new().await).await });
    });
}

#[test]
fn pub_72_and_73_an_outsider_is_carried_only_where_the_check_is_left_out() {
    let name = "lcm::bridge::liars::pub_72_and_73_an_outsider_is_carried_only_where_the_check_is_left_out";
    run(name, async |mut stage| {
        let nothing = async || {};
        stage.goes_over(OUTSIDER, &[1], nothing).await;
        // It takes an address that was this host's a moment ago.
        let former = async || {
            ip("addr add 10.66.1.2/32 dev far");
            tokio::time::sleep(Duration::from_millis(300)).await;
            ip("addr del 10.66.1.2/32 dev far");
        };
        stage.goes_over(FORMER, &[1, 2], former).await;
        // The system drops what comes in the name of this host, until somebody allows it.
        stage.goes_over(OWN, &[], nothing).await;
        set("far/accept_local", true);
        stage.look();
        stage.goes_over(OWN, &[3], nothing).await;
        set("far/accept_local", false);
        let local = Ipv4Addr::new(127, 0, 0, 2);
        stage.goes_over(local, &[], nothing).await;
        set("far/route_localnet", true);
        stage.look();
        stage.program = program(OWN, "far");
        stage.goes_over(local, &[3], nothing).await;
        set("far/route_localnet", false);
        stage.look();
        stage.program = program(Ipv4Addr::LOCALHOST, "lo");
        assert_eq!(stage.stand_by(OUTSIDER).await, [1]);
        // A host without an address speaks from none, and so does the outsider.
        tokio::time::sleep(Duration::from_secs(4)).await;
        ip("addr flush dev far");
        ip("route replace 224.0.0.0/4 dev far");
        tokio::time::sleep(Duration::from_millis(300)).await;
        stage.goes_over(Ipv4Addr::UNSPECIFIED, &[5], nothing).await;
    });
}
