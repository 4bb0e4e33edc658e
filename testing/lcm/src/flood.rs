//! What is lost, and what it costs, while a foreign program floods the group.

use crate::Outcome;
use crate::contender::{Common, Contender, Place};
use crate::net::Net;
use crate::statistics::rounded;
use clap::Args;
use serde_json::json;
use std::time::{Duration, Instant};

const WHO: [Contender; 3] = [Contender::Liblcm, Contender::Plain, Contender::Secured];

#[derive(Debug, Args)]
pub(crate) struct Flood {
    #[command(flatten)]
    common: Common,
    /// Bytes of each message
    #[arg(long, default_value_t = 100)]
    bytes: usize,
    /// Messages a second
    #[arg(long, default_value_t = 1_000)]
    rate: usize,
    #[arg(long, default_value_t = 5)]
    seconds: usize,
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

pub(crate) fn run(options: &Flood) -> Outcome<()> {
    let place = Place::prepare(&options.common)?;
    println!("{}", json!({"measures": "flood", "conditions": place.conditions(), "rate": options.rate}));
    for round in 0..options.rounds {
        for who in WHO {
            for flooded in [false, true] {
                println!("{}", measure(&place, who, flooded, round, options)?);
            }
        }
    }
    Ok(())
}

fn measure(
    place: &Place,
    who: Contender,
    flooded: bool,
    round: usize,
    options: &Flood,
) -> Outcome<serde_json::Value> {
    let receiver = place.start(who, "receive", 1)?;
    let mut sender = place.start(who, "send", 0)?;
    std::thread::sleep(Duration::from_millis(200));
    let flood = if flooded { Some(place.start_flood(who)?) } else { None };
    let before = Net::lost_before_sockets();
    let (used, left, start) = (receiver.processor_seconds(), place.net.left(0), Instant::now());
    sender.tell(&format!("{} {} {}", options.bytes, options.seconds * 1_000, options.rate))?;
    let sent = sender.numbers(Duration::from_secs(60))?.first().copied().unwrap_or_default();
    let used = receiver.processor_seconds() - used;
    let took = start.elapsed().as_secs_f64();
    let share = used / took;
    let datagrams = place.net.left(0).saturating_sub(left) as f64 / took;
    drop(flood);
    let (before, at) = (Net::lost_before_sockets().saturating_sub(before), place.net.lost_at_sockets(1));
    // All the words that it has ended may be lost, too.
    let came = receiver.numbers(Duration::from_secs(1)).unwrap_or_default();
    let came = came.first().copied();
    Ok(json!({
        "who": who.name(), "flooded": flooded, "round": round, "sent": sent, "came": came,
        "lost": came.map(|came| rounded(1.0 - came as f64 / sent.max(1) as f64)),
        "receivers_share_of_a_core": rounded(share), "datagrams_a_second": datagrams.round(),
        "datagrams_lost_before_sockets": before, "datagrams_lost_at_sockets": at,
    }))
}
