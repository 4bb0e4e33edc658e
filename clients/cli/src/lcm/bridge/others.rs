//! Other bridges between the same two groups, which would double each message, or send it round
//! for ever (PUB-66).
//!
//! ```text
//! each second, inside, plainly, on folkmoot://bridge:    folkmoot lcm bridge v1 239.255.76.68:7668 4
//!                                                        its group outside, and its sender's number
//! ```
//! Of such bridges the one with the lowest number carries, and the others stand by until it is
//! silent for [`SILENCE`]. What one of them said inside is not carried outward by the others, and
//! what it sealed is not carried inward. So nothing goes round even while two of them carry.

use super::Sides;
use crate::exit::{Exit, Failure};
use core::net::SocketAddrV4;
use folkmoot_lcm::{Capacity, Heard, Pattern};
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::secured::SenderId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const CHANNEL: &str = "folkmoot://bridge";
const LABEL: &str = "folkmoot lcm bridge v1";
const EVERY: Duration = Duration::from_secs(1);
/// A bridge that says nothing for so long has ended.
const SILENCE: Duration = Duration::from_millis(3_500);
/// So long it is remembered: after that its port may be another program's.
const MEMORY: Duration = Duration::from_secs(10);
/// Most that are remembered.
const OTHERS_MAX: usize = 64;

/// Which bridge: its sender's number, and the port that it speaks from inside.
type Name = (SenderId, u16);

#[derive(Debug, Clone, Copy)]
struct Other {
    from: SocketAddrV4,
    heard: Instant,
}

/// The bridges that were heard.
#[derive(Debug)]
pub(super) struct Others {
    outside: SocketAddrV4,
    me: Name,
    known: Mutex<BTreeMap<Name, Other>>,
}

impl Others {
    pub(super) fn new(outside: SocketAddrV4, sender: SenderId, port: u16) -> Self {
        Self { outside, me: (sender, port), known: Mutex::default() }
    }

    /// Whether another one carries.
    pub(super) fn stands_by(&self) -> bool {
        let known = self.known();
        known.range(..self.me).any(|(_, other)| other.heard.elapsed() < SILENCE)
    }

    /// Whether one of them spoke inside from there.
    pub(super) fn said(&self, from: SocketAddrV4) -> bool {
        self.known().values().any(|other| other.from == from && other.heard.elapsed() < MEMORY)
    }

    /// Whether one of them is this sender outside.
    pub(super) fn is(&self, sender: SenderId) -> bool {
        let known = self.known();
        known.iter().any(|((other, _), about)| *other == sender && about.heard.elapsed() < MEMORY)
    }

    fn announcement(&self) -> String {
        format!("{LABEL} {} {}", self.outside, self.me.0)
    }

    /// Takes an announcement; whether it is of a bridge that was not known.
    fn hear(&self, said: &[u8], from: SocketAddrV4) -> bool {
        let Some(sender) = self.sender_of(said) else { return false };
        let name = (sender, from.port());
        if name == self.me {
            return false;
        }
        let mut known = self.known();
        if known.len() >= OTHERS_MAX && !known.contains_key(&name) {
            let oldest = known.iter().min_by_key(|(_, other)| other.heard).map(|(name, _)| *name);
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        known.insert(name, Other { from, heard: Instant::now() }).is_none()
    }

    /// Its number, if it carries to the same group.
    fn sender_of(&self, said: &[u8]) -> Option<SenderId> {
        let rest = std::str::from_utf8(said).ok()?.strip_prefix(LABEL)?.strip_prefix(' ')?;
        let (outside, sender) = rest.split_once(' ')?;
        let same = outside.parse() == Ok(self.outside);
        sender.parse().ok().and_then(SenderId::new).filter(|_| same)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Name, Other>> {
        // Each change is one insertion or removal.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Announces this bridge, and hears of others.
pub(super) async fn watch(sides: Arc<Sides>) -> Failure {
    match run(&sides).await {
        Ok(()) => Failure::new(
            Exit::Unreachable,
            "nothing from the group inside is heard any longer. Start the bridge anew",
        ),
        Err(failure) => failure,
    }
}

async fn run(sides: &Sides) -> Result<(), Failure> {
    let channel = Channel::new(CHANNEL).map_err(Failure::bug)?;
    let pattern = Pattern::new(CHANNEL).map_err(Failure::bug)?;
    let capacity = Capacity { messages: OTHERS_MAX, bytes: 64 << 10, ..Capacity::default() };
    let mut heard = sides.inside.subscribe(pattern, capacity).map_err(super::failed)?;
    let mut tick = tokio::time::interval(EVERY);
    loop {
        let new = tokio::select! {
            _ = tick.tick() => {
                sides.heard.look(sides.json);
                sides.heard.look_outside(sides.outside.membership.bus(), sides.json);
                true
            }
            heard = heard.next() => match heard {
                Some(Heard { payload, from, .. }) => {
                    sides.heard.said_here(&sides.inside, from, sides.json) && sides.others.hear(&payload, from)
                }
                None => return Ok(()),
            },
        };
        if new && let Err(error) = sides.inside.publish(channel, sides.others.announcement().as_bytes()).await
        {
            tracing::debug!(%error, "the bridge is not announced");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddrV4 {
        text.parse().unwrap()
    }

    fn bridge(sender: u16, port: u16) -> Others {
        Others::new(at("239.255.76.68:7668"), SenderId::new(sender).unwrap(), port)
    }

    #[test]
    fn pub_66_of_two_bridges_the_lower_number_carries_and_neither_carries_the_others_words() {
        let (four, nine) = (bridge(4, 1_000), bridge(9, 999));
        // Before they have heard of one another both would carry everything, round and round.
        assert!(!four.stands_by() && !nine.stands_by() && !nine.said(at("10.0.0.1:1000")));
        assert!(four.hear(nine.announcement().as_bytes(), at("10.0.0.1:999")));
        assert!(!four.hear(nine.announcement().as_bytes(), at("10.0.0.1:999")), "it is known already");
        assert!(nine.hear(four.announcement().as_bytes(), at("10.0.0.1:1000")));
        assert!(!four.stands_by() && nine.stands_by());
        assert!(four.said(at("10.0.0.1:999")) && !four.said(at("10.0.0.1:1000")));
        assert!(four.is(SenderId::new(9).unwrap()) && !four.is(SenderId::new(4).unwrap()));
    }

    #[test]
    fn pub_66_one_with_the_same_certificate_stands_by_too() {
        let (one, other) = (bridge(4, 1_000), bridge(4, 1_001));
        assert!(one.hear(other.announcement().as_bytes(), at("10.0.0.1:1001")));
        assert!(other.hear(one.announcement().as_bytes(), at("10.0.0.1:1000")));
        assert!(!one.stands_by() && other.stands_by());
    }

    #[test]
    fn pub_66_only_bridges_between_the_same_groups_count() {
        let four = bridge(4, 1_000);
        let elsewhere = Others::new(at("239.255.76.69:7668"), SenderId::new(3).unwrap(), 7);
        let said = [
            elsewhere.announcement(),
            "folkmoot lcm bridge v1 239.255.76.68:7668 0".to_owned(),
            "folkmoot lcm bridge v1 239.255.76.68:7668".to_owned(),
            "folkmoot lcm bridge v2 239.255.76.68:7668 3".to_owned(),
            four.announcement(),
        ];
        for said in said {
            let from = if said == four.announcement() { "10.0.0.1:1000" } else { "10.0.0.1:7" };
            assert!(!four.hear(said.as_bytes(), at(from)), "{said}");
        }
        assert!(!four.stands_by());
    }

    #[test]
    fn pub_66_a_flood_of_announcements_is_remembered_within_a_bound() {
        let four = bridge(4, 1_000);
        for port in 2_000..3_000 {
            four.hear(
                bridge(9, port).announcement().as_bytes(),
                SocketAddrV4::new([10, 0, 0, 1].into(), port),
            );
        }
        assert_eq!(four.known().len(), OTHERS_MAX);
    }
}
