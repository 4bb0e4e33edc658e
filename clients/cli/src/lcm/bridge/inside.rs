//! Who speaks inside: programs of this host, and nobody else (PUB-72, PUB-73). And whether there is
//! a network outside.
//!
//! A group inside does not leave its host, but whoever is on the same network can send to it. A
//! bridge would seal that, and sign it. So what comes inside counts if its source is an address of
//! this host. The system lets nobody else use those, unless it is told to: then nothing counts that
//! may be forged.

use crate::show::line;
use core::net::{Ipv4Addr, SocketAddrV4};
use folkmoot_base::Mutant;
use folkmoot_lcm::{Bus, Danger};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So often the same is said of the same host.
const SAID_AGAIN: Duration = Duration::from_secs(60);
/// Most hosts that are told apart.
const HOSTS_MAX: usize = 64;

/// What is known of those who speak inside.
#[derive(Debug)]
pub(super) struct Inside {
    known: Mutex<Known>,
    danger: Mutant<Danger>,
}

#[derive(Debug, Default)]
struct Known {
    /// Other hosts, and when that was last said.
    hosts: BTreeMap<Ipv4Addr, Instant>,
    /// What they said, and was not carried.
    foreign: u64,
    /// The setting by which others can use addresses of this host, and those for this host alone.
    forged: Option<String>,
    forged_loopback: Option<String>,
    /// Whether there was no network outside.
    cut_off: bool,
}

impl Known {
    /// The setting because of which this source proves nothing.
    fn forgeable(&self, from: Ipv4Addr) -> Option<&String> {
        match from {
            _ if from.is_unspecified() => None,
            _ if from.is_loopback() => self.forged_loopback.as_ref(),
            _ => self.forged.as_ref(),
        }
    }

    /// Counts what another host said; whether it is time to say so.
    fn count(&mut self, from: Ipv4Addr) -> bool {
        self.foreign = self.foreign.saturating_add(1);
        let said = self.hosts.get(&from);
        if said.is_some_and(|said| said.elapsed() < SAID_AGAIN)
            || (said.is_none() && self.hosts.len() >= HOSTS_MAX)
        {
            return false;
        }
        self.hosts.insert(from, Instant::now());
        true
    }
}

impl Inside {
    pub(super) fn new(danger: Mutant<Danger>) -> Self {
        Self { known: Mutex::default(), danger }
    }

    /// Says when the network outside goes and comes.
    pub(super) fn look_outside(&self, outside: &Bus, json: bool) {
        let cut_off = !outside.has_way();
        let before = std::mem::replace(&mut self.known().cut_off, cut_off);
        match (before, cut_off) {
            (false, true) => say(
                json,
                "no-network",
                "outside",
                "there is no network outside: nothing goes over until there is one",
            ),
            (true, false) => say(json, "network", "outside", "there is a network outside again"),
            _ => {}
        }
    }

    /// Asks the system anew whether others can use addresses of this host.
    pub(super) fn look(&self, json: bool) {
        let [own, loopback] = ["accept_local", "route_localnet"].map(folkmoot::tools::takes_forged);
        let mut known = self.known();
        let before = [known.forged.take(), known.forged_loopback.take()];
        let now = [own, loopback];
        let named = now.iter().zip(["its addresses", "127.0.0.0/8"]);
        let new = named.filter(|(setting, _)| !before.contains(*setting));
        for (setting, whose) in new.filter_map(|(setting, whose)| Some((setting.as_ref()?, whose))) {
            say(
                json,
                "forgeable",
                setting,
                &format!(
                    "{setting} is on: others can speak in the name of this host, so what comes inside from {whose} is not carried. Turn it off: sysctl {setting}=0"
                ),
            );
        }
        [known.forged, known.forged_loopback] = now;
    }

    /// Whether a program of this host said it. If not that is counted, and said now and then.
    pub(super) fn said_here(&self, bus: &Bus, from: SocketAddrV4, json: bool) -> bool {
        let ip = *from.ip();
        let own = bus.is_own(ip);
        let mut known = self.known();
        if own && (known.forgeable(ip).is_none() || self.danger.is(Danger::ForgeableSource)) {
            return true;
        }
        if known.count(ip) && !own {
            say(
                json,
                "foreign",
                &ip.to_string(),
                &format!(
                    "WARNING: {ip}, another host, speaks plainly on the group inside. It is not carried. Whoever hears both hosts hears such messages twice, and anybody on the network can read them. Its programs should use TTL 0, as LCM does by default"
                ),
            );
        }
        false
    }

    /// How much came inside that may be of no program of this host.
    pub(super) fn foreign(&self) -> u64 {
        self.known().foreign
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Each change is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn say(json: bool, event: &str, what: &str, words: &str) {
    if json {
        line(&json!({ "event": event, "what": what }).to_string());
    } else {
        eprintln!("{words}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pub_73_where_addresses_can_be_forged_they_prove_nothing() {
        let home = Ipv4Addr::LOCALHOST;
        let here: Ipv4Addr = "10.0.0.1".parse().unwrap();
        let mut known = Known::default();
        assert!(known.forgeable(home).is_none() && known.forgeable(here).is_none());
        known.forged = Some("net.ipv4.conf.eth0.accept_local".into());
        assert!(known.forgeable(home).is_none() && known.forgeable(here).is_some());
        assert!(known.forgeable(Ipv4Addr::UNSPECIFIED).is_none());
        known.forged_loopback = Some("net.ipv4.conf.all.route_localnet".into());
        assert!(known.forgeable(home).is_some());
    }

    #[test]
    fn pub_72_hosts_are_remembered_within_a_bound_and_said_once_a_minute() {
        let mut known = Known::default();
        let host = |number: u8| Ipv4Addr::new(10, 0, 0, number);
        assert!(known.count(host(1)) && !known.count(host(1)));
        (2..=255).for_each(|number| _ = known.count(host(number)));
        assert_eq!((known.hosts.len(), known.foreign), (HOSTS_MAX, 256));
    }
}
