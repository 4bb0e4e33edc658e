//! The scenarios: each forms a group over real sockets and does something to it, under traffic in
//! all services.

use crate::judge::Seen;
use crate::stage::{Listen, Stage, Terms};
use crate::wires::{Port, four, near, six};
use folkmoot_sim::rng::Rng;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// What everybody sends to everybody: longer than any packet, and much longer.
const LENGTHS: [usize; 3] = [1_300, 3_000, 1_000_000];
/// The same after each change but the last.
const SHORTER: [usize; 2] = [1_300, 3_000];
/// How often each member sends a short message.
const PACE: Duration = Duration::from_millis(150);
const FAST: Duration = Duration::from_millis(25);
const WIDE: u16 = 1_500;
/// How long two that move at once have to be in one view with the third again.
const MOVED_LIMIT: Duration = Duration::from_secs(8);

/// Names, and what each is; the longest first.
pub(crate) const ALL: [(&str, &str); 12] = [
    ("cuts", "ways cut in one direction, and a chain"),
    ("moves", "a member that changes its address twice, and two that change at once"),
    ("moves6", "the same over IPv6, while nobody says anything"),
    ("split", "a clean split under traffic, healed"),
    ("restart", "all killed and started in any order, twice"),
    ("mtu", "interfaces that carry 1,500, 1,280, 1,400 and 1,420 bytes, over IPv6"),
    ("mtu4", "the same over IPv4"),
    ("dual", "members of both families and of IPv4 alone"),
    ("trunk", "a path that is narrow in the middle, and nobody's interface is"),
    ("trains", "the same, where switches let trains pass that they would stop one by one"),
    ("ipv6", "IPv6 only"),
    ("zones", "addresses of IPv6 that are good on one link only, which only the first is told"),
];

/// The same for those that want the whole machine, and are played only if they are asked for.
pub(crate) const LARGE: [(&str, &str); 1] =
    [("away", "forty members, of which twenty come back, and are told nothing")];
/// How long forty that start at once, on a machine of few cores, have to meet for the first time.
const MEET_LIMIT: Duration = Duration::from_secs(60);
/// How long twenty of forty have to find each other.
const AWAY_LIMIT: Duration = Duration::from_secs(30);

/// Plays the scenario with this name.
pub(crate) async fn play(name: &'static str, root: &Path, terms: Terms) -> Result<Seen, String> {
    let set = |ports: Vec<(Port, Listen)>, trunk: u16| Stage::set(name, root, ports, trunk, terms);
    let places = |size: u8, of: fn(u8) -> IpAddr, listen: Listen| -> Vec<(Port, Listen)> {
        (1..=size).map(|number| (port(WIDE, vec![of(number)]), listen)).collect()
    };
    match name {
        "mtu" => narrow(set(of_sizes(six, Listen::Both), WIDE)?).await,
        "mtu4" => narrow(set(of_sizes(four, Listen::Four), WIDE)?).await,
        "trunk" => trunk(set(places(3, six, Listen::Both), 1_280)?).await,
        "trains" => {
            let stage = set(places(3, six, Listen::Both), 1_280)?;
            stage.wires.let_trains_pass()?;
            trunk(stage).await
        }
        "ipv6" => {
            let mut ports = places(3, six, Listen::Both);
            ports.iter_mut().take(1).for_each(|(_, listen)| *listen = Listen::Own);
            narrow(set(ports, WIDE)?).await
        }
        "zones" => zones(set(places(3, near, Listen::Both), WIDE)?).await,
        "dual" => narrow(set(families(), WIDE)?).await,
        "moves" => moves(set(places(3, four, Listen::Four), WIDE)?, four).await,
        "moves6" => {
            let mut stage = set(places(3, six, Listen::Both), WIDE)?;
            stage.idle = true;
            moves(stage, six).await
        }
        "cuts" => cuts(set(places(3, four, Listen::Four), WIDE)?).await,
        "away" => away(set(places(40, four, Listen::Four), WIDE)?).await,
        "split" => split(set(places(5, six, Listen::Both), WIDE)?).await,
        _ => restart(set(places(4, four, Listen::Four), WIDE)?).await,
    }
}

fn port(mtu: u16, addresses: Vec<IpAddr>) -> Port {
    Port { mtu, addresses }
}

fn of_sizes(of: fn(u8) -> IpAddr, listen: Listen) -> Vec<(Port, Listen)> {
    (1..)
        .zip([1_500, 1_280, 1_400, 1_420])
        .map(|(number, mtu)| (port(mtu, vec![of(number)]), listen))
        .collect()
}

fn families() -> Vec<(Port, Listen)> {
    let both = |number| (port(WIDE, vec![six(number), four(number)]), Listen::Both);
    vec![
        both(1),
        both(2),
        (port(WIDE, vec![four(3)]), Listen::Four),
        (port(WIDE, vec![four(4)]), Listen::Own),
    ]
}

/// Everybody starts, and then all short and long messages go everywhere.
async fn form(stage: &mut Stage) -> Result<(), String> {
    let all = stage.all();
    stage.change("all start", stage.size());
    stage.start(&all, true)?;
    stage.whole().await?;
    if !stage.idle {
        stage.pace(Some(PACE)).await?;
    }
    stage.exchange(&[&all], &LENGTHS).await
}

async fn settle(stage: &mut Stage) -> Result<(), String> {
    stage.quiet(stage.terms.between).await
}

async fn finish(mut stage: Stage) -> Result<Seen, String> {
    let all = stage.all();
    stage.exchange(&[&all], &LENGTHS).await?;
    stage.quiet(stage.terms.last).await?;
    stage.say("no configuration any more");
    stage.end().await
}

/// Nothing but the network is special.
async fn narrow(mut stage: Stage) -> Result<Seen, String> {
    form(&mut stage).await?;
    finish(stage).await
}

/// All are told where the first is, and hear of one another there.
async fn zones(mut stage: Stage) -> Result<Seen, String> {
    stage.seeds = 1;
    narrow(stage).await
}

async fn trunk(mut stage: Stage) -> Result<Seen, String> {
    stage.wires.beyond(&[2])?;
    narrow(stage).await
}

async fn moves(mut stage: Stage, of: fn(u8) -> IpAddr) -> Result<Seen, String> {
    form(&mut stage).await?;
    let all = stage.all();
    let steps: [&[(usize, u8)]; 3] = [&[(0, 11)], &[(0, 21)], &[(1, 12), (2, 13)]];
    for step in steps {
        settle(&mut stage).await?;
        stage.change(&format!("new addresses: {step:?}"), 1);
        for (member, number) in step {
            stage.wires.readdress(*member, vec![of(*number)])?;
        }
        if step.len() > 1 {
            // The two cannot tell each other, and the third tells both.
            stage.anew(MOVED_LIMIT).await?;
        }
        // What was under way is repaired, and what is sent now goes to the new places.
        stage.exchange(&[&all], &SHORTER).await?;
        stage.whole().await?;
    }
    finish(stage).await
}

async fn cuts(mut stage: Stage) -> Result<Seen, String> {
    form(&mut stage).await?;
    let all = stage.all();
    // A ring has only members of which every two hear one another.
    let ways: [&[&[usize]]; 2] = [&[&[0, 2], &[1]], &[&[1, 2], &[0]]];
    for (from, to) in [(0, 1), (1, 0)] {
        settle(&mut stage).await?;
        stage.change(&format!("nothing comes from member {from} to member {to}"), 1);
        stage.wires.one_way(from, to, true)?;
        let way = stage.views(&ways).await?;
        stage.exchange(ways.get(way).ok_or("no way")?, &SHORTER).await?;
        settle(&mut stage).await?;
        stage.change("it comes again", 1);
        stage.wires.one_way(from, to, false)?;
        stage.whole().await?;
        stage.exchange(&[&all], &SHORTER).await?;
    }
    settle(&mut stage).await?;
    stage.change("a chain: members 0 and 1 reach member 2 alone", 1);
    stage.wires.isolate(&[0, 1])?;
    let way = stage.views(&ways).await?;
    stage.exchange(ways.get(way).ok_or("no way")?, &SHORTER).await?;
    settle(&mut stage).await?;
    stage.change("no chain any more", 1);
    stage.wires.isolate(&[])?;
    stage.whole().await?;
    finish(stage).await
}

async fn split(mut stage: Stage) -> Result<Seen, String> {
    form(&mut stage).await?;
    stage.pace(Some(FAST)).await?;
    settle(&mut stage).await?;
    let sides: [&[usize]; 2] = [&[0, 1, 2], &[3, 4]];
    stage.change("a split", 1);
    stage.wires.split(&[3, 4])?;
    stage.views(&[&sides]).await?;
    stage.exchange(&sides, &SHORTER).await?;
    settle(&mut stage).await?;
    stage.change("it heals", 1);
    stage.wires.split(&[])?;
    stage.whole().await?;
    stage.pace(Some(PACE)).await?;
    finish(stage).await
}

/// All are killed. Twenty that are drawn start, each with what its disk knows, while the others
/// stay away.
async fn away(mut stage: Stage) -> Result<Seen, String> {
    let all = stage.all();
    stage.change("all start", stage.size());
    stage.start(&all, true)?;
    stage.views_within(MEET_LIMIT, &[&[&all]]).await?;
    let (mut dice, mut there) = (Rng::new(stage.terms.seed, "away", 0), all.clone());
    for _ in 0..all.len() / 2 {
        there.swap_remove(dice.below(there.len()));
    }
    stage.kill(&all).await?;
    stage.change(&format!("{there:?} start, and know only what is on their disks"), there.len());
    stage.start(&there, false)?;
    stage.views_within(AWAY_LIMIT, &[&[&there]]).await?;
    stage.exchange(&[&there], &SHORTER).await?;
    stage.end().await
}

async fn restart(mut stage: Stage) -> Result<Seen, String> {
    form(&mut stage).await?;
    settle(&mut stage).await?;
    let mut dice = Rng::new(stage.terms.seed, "starts", 0);
    for with_seeds in [true, false] {
        let mut order = stage.all();
        (1..order.len()).for_each(|place| order.swap(place, dice.below(place + 1)));
        let how = if with_seeds { "" } else { ", and know only what is on their disks" };
        stage.change(&format!("all are killed, start in the order {order:?}{how}"), stage.size());
        stage.kill(&stage.all()).await?;
        for member in order {
            stage.start(&[member], with_seeds)?;
            sleep(PACE).await;
        }
        stage.whole().await?;
        stage.pace(Some(PACE)).await?;
        settle(&mut stage).await?;
    }
    finish(stage).await
}
