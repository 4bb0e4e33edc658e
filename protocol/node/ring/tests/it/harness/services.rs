//! What each service promises beside extended virtual synchrony.

use super::check::{Check, Stay};
use super::{Event, World, count_of, index, life_of, message_name};
use bytes::Bytes;
use folkmoot_base::{ConfigurationId, NodeId, Service};
use folkmoot_ring::Delivery;
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// A frame fits, and an unreliable packet is sent once (ORD-16).
    pub(super) fn look(&mut self, i: usize, frame: &Bytes) {
        assert!(frame.len() <= folkmoot_base::limits::FRAME_BYTES_MAX);
        if crate::is_unreliable(frame) && !self.unreliable.insert((i, frame.clone())) {
            self.errors.push(format!("ORD-16: n{i} sends an unreliable packet again"));
        }
    }
}

/// Who sent a message, and in which life.
type Sender = (NodeId, u32);

fn sender(delivery: &Delivery) -> Sender {
    (delivery.sender, life_of(&delivery.payload))
}

fn count(delivery: &Delivery) -> usize {
    count_of(&delivery.payload) as usize
}

/// ORD-07, FIFO: what one sender sent as FIFO or stronger comes in its order, without gaps in a
/// configuration, and begins with the same message everywhere.
pub fn fifo(world: &World, stays: &[Stay<'_>]) -> Check {
    let mut firsts: BTreeMap<(ConfigurationId, Sender), usize> = BTreeMap::new();
    for stay in stays {
        let mut next: BTreeMap<Sender, usize> = BTreeMap::new();
        for delivery in stay.deliveries().filter(|delivery| delivery.service >= Service::Fifo) {
            let from = sender(delivery);
            let of = world.processes.iter().find(|p| p.node == index(&from.0) && p.life == from.1).unwrap();
            // Its number among what is FIFO or stronger.
            let before = of.submitted.iter().take(count(delivery)).filter(|s| s.service >= Service::Fifo);
            let number = before.count();
            let first = *firsts.entry((stay.id, from)).or_insert(number);
            let expected = next.entry(from).or_insert(first);
            if *expected != number {
                return Err(format!("FIFO: {}: {} has a gap", stay.name(), message_name(&delivery.payload)));
            }
            *expected += 1;
        }
    }
    Ok(())
}

/// How many of these messages of a sender's are not unreliable.
fn sent_in_stream(world: &World, from: &Sender, range: core::ops::Range<usize>) -> usize {
    let of = world.processes.iter().find(|p| p.node == index(&from.0) && p.life == from.1).unwrap();
    of.submitted[range].iter().filter(|sent| sent.service != Service::Unreliable).count()
}

/// ORD-08: agreed and safe come after everything that their sender sent before in the
/// configuration, reliable messages too, unreliable ones excepted.
pub fn behind_its_stream(world: &World, stays: &[Stay<'_>]) -> Check {
    let in_stream = |delivery: &&&Delivery| delivery.service != Service::Unreliable;
    let mut firsts: BTreeMap<(ConfigurationId, Sender), usize> = BTreeMap::new();
    for stay in stays {
        for delivery in stay.deliveries().filter(in_stream) {
            let first = firsts.entry((stay.id, sender(delivery))).or_insert(usize::MAX);
            *first = (*first).min(count(delivery));
        }
    }
    for stay in stays {
        let mut had: BTreeMap<Sender, BTreeSet<usize>> = BTreeMap::new();
        for delivery in stay.deliveries().filter(in_stream) {
            let had = had.entry(sender(delivery)).or_default();
            let first = firsts[&(stay.id, sender(delivery))];
            let before = first..count(delivery);
            let sent = |range| sent_in_stream(world, &sender(delivery), range);
            if delivery.service >= Service::Agreed && had.len() < sent(before) {
                return Err(format!(
                    "ORD-08: {}: {} overtakes its stream",
                    stay.name(),
                    message_name(&delivery.payload)
                ));
            }
            had.insert(count(delivery));
        }
    }
    Ok(())
}

/// ORD-02: agreed and safe come after everything that their sender had delivered in the
/// configuration when it sent them, unreliable messages excepted. ORD-17: causal ones come after
/// what of that is causal or stronger.
pub fn behind_what_its_sender_had(world: &World, stays: &[Stay<'_>]) -> Check {
    for stay in stays {
        let mut had: BTreeSet<&[u8]> = BTreeSet::new();
        let mut looked: BTreeMap<(Sender, &str), usize> = BTreeMap::new();
        for delivery in stay.deliveries() {
            let rule = match delivery.service {
                Service::Agreed | Service::Safe => Some(("ORD-02", Service::Reliable)),
                Service::Causal => Some(("ORD-17", Service::Causal)),
                _ => None,
            };
            if let Some((rule, least)) = rule {
                let from = sender(delivery);
                let of =
                    world.processes.iter().find(|p| p.node == index(&from.0) && p.life == from.1).unwrap();
                let after = of.submitted[count(delivery)].after;
                let from = looked.insert((from, rule), after).unwrap_or(0).min(after);
                for (_, event) in &of.log[from..after] {
                    let Event::Deliver(d) = event else { continue };
                    let counts = d.configuration == stay.id && d.service >= least;
                    if counts && !had.contains(&d.payload[..]) {
                        return Err(format!(
                            "{rule}: {}: {} before {}, which its sender had",
                            stay.name(),
                            message_name(&delivery.payload),
                            message_name(&d.payload)
                        ));
                    }
                }
            }
            had.insert(&delivery.payload[..]);
        }
    }
    Ok(())
}

/// EVS 3: a node that stays up and moves on has delivered everything that it sent. What is FIFO or
/// stronger comes in the order in which it sent it. That reliable messages come too is what
/// `settle` waits for.
pub fn own(world: &World) -> Check {
    for process in &world.processes {
        let own = process.log.iter().filter_map(|(_, event)| match event {
            Event::Deliver(d) if index(&d.sender) == process.node && life_of(&d.payload) == process.life => {
                (d.service >= Service::Fifo).then(|| count(d))
            }
            _ => None,
        });
        let sent = process.submitted.iter().enumerate().filter(|(_, sent)| sent.service >= Service::Fifo);
        for (count, (expected, _)) in own.zip(sent) {
            if expected != count {
                return Err(format!("EVS 3: n{}.{}: own message lost", process.node, process.life));
            }
        }
    }
    Ok(())
}
