//! `folkmoot bench links`: what a handshake between two nodes costs, by X25519 alone and with
//! ML-KEM-768 as well, in one run.
//!
//! Two machines of the link layer run in this process, with real identities and without a network.
//! Counted are datagrams and bytes both ways until the link is up at both ends, and how long both
//! worked, one after the other. The two forms take turns, so that what else the machine does falls
//! on both.

use crate::args::BenchLinks;
use bytes::Bytes;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Locator, UnixTime};
use folkmoot_base::{GroupId, Instant};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use folkmoot_identity::Identity;
use folkmoot_link::{Config, Exchange, IdentityCredentials, Input, Links, Output};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Rounds that are not counted: caches and clocks warm up.
const WARM_UP: u16 = 5;

/// What is measured, and by which name it is shown.
const FORMS: [(&str, Exchange); 2] =
    [("x25519", Exchange::Classical), ("x25519+ml-kem-768", Exchange::Hybrid)];

/// One handshake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    nanos: u128,
    datagrams: u64,
    bytes: u64,
}

/// Prints the table.
pub(crate) fn links(options: &BenchLinks, json: bool) -> Result<(), Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let (now, term) = (wall_clock(), 86_400);
    let mut person = |name| {
        Identity::new(name, &mut entropy, now, UnixTime(now.0.saturating_add(term))).map_err(Failure::bug)
    };
    let people = [person("dialler")?, person("answerer")?];
    let mut costs = [Vec::new(), Vec::new()];
    let rounds = options.times.saturating_add(WARM_UP);
    let mut progress = Progress::parts("handshakes of each form", false);
    for round in 0..rounds {
        progress.to(round.into(), rounds.into());
        for (costs, (_, exchange)) in costs.iter_mut().zip(FORMS) {
            let cost = shake(exchange, &people, &mut entropy)?;
            costs.extend((round >= WARM_UP).then_some(cost));
        }
    }
    drop(progress);
    let medians: Vec<(&str, Cost)> =
        FORMS.iter().zip(costs).map(|((name, _), costs)| (*name, median(costs))).collect();
    let values: Vec<Value> = medians.iter().map(|(name, cost)| value(name, cost)).collect();
    data(json, &json!({ "links": values, "times": options.times }), || for_people(&medians));
    Ok(())
}

fn value(name: &str, cost: &Cost) -> Value {
    let micros = u64::try_from(cost.nanos / 1_000).unwrap_or(u64::MAX);
    json!({ "exchange": name, "datagrams": cost.datagrams, "bytes": cost.bytes, "micros": micros })
}

fn for_people(medians: &[(&str, Cost)]) -> String {
    let row = |(name, cost): &(&str, Cost)| {
        let time = format!("{}.{:02}", cost.nanos / 1_000_000, cost.nanos / 10_000 % 100);
        vec![(*name).to_owned(), cost.datagrams.to_string(), cost.bytes.to_string(), time]
    };
    table(&["EXCHANGE", "DATAGRAMS", "BYTES", "MS BOTH"], &medians.iter().map(row).collect::<Vec<_>>())
}

/// Of each number its own: signatures in DER differ by a byte or two from one handshake to the
/// next.
fn median(costs: Vec<Cost>) -> Cost {
    fn middle<T: Ord + Copy + Default>(costs: &[Cost], of: impl Fn(&Cost) -> T) -> T {
        let mut all: Vec<T> = costs.iter().map(of).collect();
        all.sort();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
    Cost {
        nanos: middle(&costs, |cost| cost.nanos),
        datagrams: middle(&costs, |cost| cost.datagrams),
        bytes: middle(&costs, |cost| cost.bytes),
    }
}

/// One end: its machine, where it is, what it has to hear, whether its link is up.
struct End {
    links: Links<IdentityCredentials>,
    at: Locator,
    inbox: VecDeque<Bytes>,
    up: bool,
}

/// From the dial until both ends are up; drawing what a process draws once, at its start, is not
/// counted.
fn shake(exchange: Exchange, people: &[Identity; 2], entropy: &mut OsEntropy) -> Result<Cost, Failure> {
    let now = Instant(1_000_000);
    let mut end = |place: u32, who: &Identity| {
        let config = Config { exchange, ..Config::new(GroupId([1; 32])) };
        let links = Links::new(config, IdentityCredentials::new(who.clone()), entropy);
        End { links, at: Locator::memory(place), inbox: VecDeque::new(), up: false }
    };
    let [dialler, answerer] = people;
    let (mut near, mut far) = (end(1, dialler), end(2, answerer));
    let mut cost = Cost::default();
    let began = std::time::Instant::now();
    let dial = Input::Dial { at: far.at.clone(), node: None };
    near.links.handle(now, dial, entropy).map_err(Failure::bug)?;
    drain(&mut near, &mut far, &mut cost);
    while !(near.up && far.up) {
        let turn = if far.inbox.is_empty() { (&mut near, &mut far) } else { (&mut far, &mut near) };
        let (to, from) = turn;
        let bytes = to.inbox.pop_front().ok_or_else(|| Failure::bug("a handshake does not end"))?;
        to.links
            .handle(now, Input::Datagram { from: from.at.clone(), bytes: bytes.into() }, entropy)
            .map_err(Failure::bug)?;
        drain(to, from, &mut cost);
    }
    cost.nanos = began.elapsed().as_nanos();
    Ok(cost)
}

/// What `from` has to say goes to `to`; once both are up, nothing is counted.
fn drain(from: &mut End, to: &mut End, cost: &mut Cost) {
    while let Some(output) = from.links.poll_output() {
        match output {
            Output::Transmit { datagram, .. } | Output::Probe { datagram, .. } if !(from.up && to.up) => {
                cost.datagrams += 1;
                cost.bytes += datagram.len() as u64;
                to.inbox.push_back(datagram);
            }
            Output::Up { .. } => from.up = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_come_up_and_the_hybrid_one_costs_its_key_and_its_ciphertext() {
        let mut entropy = OsEntropy::new().unwrap();
        let now = wall_clock();
        let people =
            ["a", "b"].map(|name| Identity::new(name, &mut entropy, now, UnixTime(now.0 + 1_000)).unwrap());
        let [classical, hybrid] = FORMS.map(|(_, exchange)| shake(exchange, &people, &mut entropy).unwrap());
        // Hello, Retry, Hello, Reply, Finish, Ping; the Reply comes in two parts where it holds a
        // ciphertext.
        assert_eq!((classical.datagrams, hybrid.datagrams), (6, 7));
        // Key 1,184; ciphertext 1,088 and its tag 16; another part's header 8; and the empty Hello
        // lacks 32.
        let more = i128::from(hybrid.bytes) - i128::from(classical.bytes);
        assert!((2_264 - 8..=2_264 + 8).contains(&more), "{more}");
    }
}
