//! `folkmoot lcm bridge`: plain programs on one host, sealed between hosts.
//!
//! ```text
//!   plain programs ==inside, TTL 0== Bus --outward--> Membership ==outside, sealed== other bridges
//!                                        <--inward---
//! ```
//! The promise: what plain programs say inside is heard inside of all bridges whose certificates
//! are for its channel, in the order in which this one heard it, and nothing of it leaves the host
//! unsealed. What another host says inside is nobody's word here ([`inside`]). Nothing goes round:
//! a bridge does not hear itself, and knows the other bridges between the same two groups
//! ([`others`]).

mod inside;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod liars;
mod others;
mod way;

use super::meeting::Meeting;
use super::sealed::{self, Sealed, Watch};
use super::{end, failed, hears_itself};
use crate::args::lcm::{Bridge, Channels};
use crate::exit::{Exit, Failure};
use crate::show::{data, line};
use folkmoot_lcm::{Bus, Capacity, Full};
use folkmoot_pubsub::Address;
use folkmoot_pubsub::secured::SenderId;
use inside::Inside;
use others::Others;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use way::{Way, Ways};

/// What waits for one way: short messages for a while, or two of the longest.
const WAITING: Capacity = Capacity { messages: 10_000, bytes: 160 << 20, full: Full::DropOldest };
/// How long it listens for other bridges before it carries anything.
const LOOK: Duration = Duration::from_millis(300);

/// Both sides, and what is known of them.
struct Sides {
    /// Where the plain programs meet.
    within: Address,
    inside: Bus,
    outside: Sealed,
    others: Others,
    heard: Inside,
    watch: Mutex<Watch>,
    ways: Ways,
    /// Which channels go over, of those that the certificate names (PUB-67).
    channels: Channels,
    json: bool,
}

pub(super) async fn run(at: Meeting, bridge: Bridge, json: bool) -> Result<(), Failure> {
    let sides = Arc::new(open(at, &bridge, json).await?);
    if !json {
        eprintln!(
            "plain inside on {}, sealed outside on {} as sender {}; Ctrl-C ends this",
            sides.within, sides.outside.address, sides.outside.sender
        );
    }
    let mut tasks = carry(&sides).await?;
    tasks.spawn(tell_keys(Arc::clone(&sides), json));
    if let Some(seconds) = bridge.every {
        tasks.spawn(tell_often(Arc::clone(&sides), Duration::from_secs(seconds), json));
    }
    let ended = tokio::select! {
        () = end(bridge.seconds) => Ok(()),
        ended = tasks.join_next() => match ended {
            Some(Ok(failure)) => Err(failure),
            Some(Err(error)) => Err(Failure::bug(error)),
            None => Ok(()),
        },
    };
    tasks.shutdown().await;
    tell(&sides, json);
    if let Some(sides) = Arc::into_inner(sides) {
        sides.outside.membership.leave().await;
    }
    ended
}

/// Carries both ways, until one of these tasks ends.
async fn carry(sides: &Arc<Sides>) -> Result<JoinSet<Failure>, Failure> {
    let mut tasks = JoinSet::new();
    tasks.spawn(others::watch(Arc::clone(sides)));
    tokio::time::sleep(LOOK).await;
    let pattern = sides.channels.pattern().map_err(Failure::bug)?;
    let outward = sides.inside.subscribe(pattern.clone(), WAITING).map_err(failed)?;
    let inward = sides.outside.membership.bus().subscribe(pattern, WAITING).map_err(failed)?;
    tasks.spawn(way::outward(Arc::clone(sides), outward));
    tasks.spawn(way::inward(Arc::clone(sides), inward));
    Ok(tasks)
}

/// Both sides, if they are where they may be (PUB-68).
async fn open(at: Meeting, bridge: &Bridge, json: bool) -> Result<Sides, Failure> {
    let inside = bridge.inside.map_or_else(|| Meeting { interface: None, ..at }.plain(), Ok)?;
    if inside.ttl > 0 && !bridge.inside_leaves_host {
        let text = format!(
            "inside, on {inside}, plain messages would leave this host, because its TTL is not 0. If that is meant, give --inside-leaves-host"
        );
        return Err(Failure::new(Exit::Usage, text));
    }
    if bridge.outside.is_some_and(|outside| outside.group == inside.group) {
        return Err(same(&inside));
    }
    let at = Meeting { url: bridge.outside, ..at };
    if let Some((name, words)) = at.lacks() {
        // It may come later.
        inside::say(json, "no-interface", name.as_str(), &words);
    }
    let outside = Sealed::join(&bridge.secured, at, &bridge.signed).await?;
    if outside.address.group == inside.group {
        return Err(same(&inside));
    }
    let within = inside;
    let inside = Bus::join_with(within, bridge.danger).map_err(failed)?;
    hears_itself(&within, &inside).await?;
    let outer = outside.membership.bus();
    if outer.has_way() {
        outer.self_test().await.map_err(failed)?;
    }
    inside.ignore_itself().map_err(failed)?;
    outer.ignore_itself().map_err(failed)?;
    let others = Others::new(outside.address.group, outside.sender, inside.port().map_err(failed)?);
    let heard = Inside::new(bridge.danger);
    heard.look(json);
    let channels = bridge.channels.clone();
    let watch = Mutex::default();
    Ok(Sides { within, inside, outside, others, heard, watch, ways: Ways::default(), channels, json })
}

fn same(inside: &Address) -> Failure {
    let text = format!(
        "inside and outside are both {}. Certify the bridges for another group: folkmoot lcm certify --lcm-url udpm://239.255.76.68:7668",
        inside.group
    );
    Failure::new(Exit::Usage, text)
}

/// Says who has which key, whenever that changes; ends when this program is out.
async fn tell_keys(sides: Arc<Sides>, json: bool) -> Failure {
    let membership = &sides.outside.membership;
    let mut told = Vec::new();
    loop {
        let keys = membership.keyed();
        if let Some(failure) = sides.outside.is_out() {
            return failure;
        }
        let warnings = sides.watch.lock().unwrap_or_else(PoisonError::into_inner).look(&sides.outside);
        let renewed = sides.outside.renewed().await;
        warnings.iter().chain(&renewed).for_each(|one| inside::say(json, one.event, &one.what, &one.words));
        let members: Vec<_> = keys.iter().map(|key| (key.number, key.members.clone())).collect();
        if members != told {
            if json {
                line(&json!({ "keys": sealed::value(&keys) }).to_string());
            } else {
                eprintln!("{}", sealed::words(&keys, sides.outside.sender));
            }
            told = members;
        }
        tokio::time::sleep(sealed::LOOK).await;
    }
}

async fn tell_often(sides: Arc<Sides>, every: Duration, json: bool) -> Failure {
    loop {
        tokio::time::sleep(every).await;
        tell(&sides, json);
    }
}

/// Says what went over, and what did not.
fn tell(sides: &Sides, json: bool) {
    let (outward, inward) = (sides.ways.outward(), sides.ways.inward());
    data(json, &counted(sides, &outward, &inward), || {
        let stands_by =
            if sides.others.stands_by() { "\nanother bridge carries: this one stands by" } else { "" };
        let foreign = match sides.heard.foreign() {
            0 => String::new(),
            count => format!("; {count} not of this host"),
        };
        let silent: Vec<String> = silent(sides).iter().map(ToString::to_string).collect();
        let silent = match silent.as_slice() {
            [] => String::new(),
            some => format!("\nnot heard lately: {}", some.join(", ")),
        };
        format!("outward: {}{foreign}\ninward:  {}{silent}{stands_by}", outward.words(), inward.words())
    });
}

/// Who shares a key, and is not heard.
fn silent(sides: &Sides) -> BTreeSet<SenderId> {
    sides.watch.lock().unwrap_or_else(PoisonError::into_inner).silent().clone()
}

fn counted(sides: &Sides, outward: &Way, inward: &Way) -> Value {
    json!({
        "outward": outward.value(),
        "inward": inward.value(),
        "inside": super::counted(&sides.inside),
        "foreign": sides.heard.foreign(),
        "outside": super::counted(sides.outside.membership.bus()),
        "keys": sealed::value(&sides.outside.membership.keyed()),
        "silent": silent(sides).iter().map(|sender| sender.get()).collect::<Vec<_>>(),
        "stands_by": sides.others.stands_by(),
    })
}
