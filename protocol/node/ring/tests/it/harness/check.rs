//! Extended virtual synchrony, one function per property (Moser, Amir, Melliar-Smith, Agarwal 1994,
//! §3).

use super::{Event, Process, World, count_of, index, life_of, message_name, node, services};
use folkmoot_base::{ConfigurationId, NodeId, Service};
use folkmoot_ring::Delivery;
use std::collections::{BTreeMap, BTreeSet};

pub type Check = Result<(), String>;

/// One configuration in one process's life.
#[derive(Debug)]
pub struct Stay<'a> {
    pub process: &'a Process,
    pub id: ConfigurationId,
    pub members: &'a [NodeId],
    pub since: u64,
    pub regular: Vec<&'a Delivery>,
    pub survivors: Option<&'a [NodeId]>,
    pub transitional: Vec<&'a Delivery>,
    pub next: Option<ConfigurationId>,
}

impl Stay<'_> {
    pub fn deliveries(&self) -> impl Iterator<Item = &&Delivery> {
        self.regular.iter().chain(&self.transitional)
    }

    pub fn name(&self) -> String {
        format!("n{}.{} in {}", self.process.node, self.process.life, self.id.ring_seq)
    }
}

fn stays(process: &Process) -> Result<Vec<Stay<'_>>, String> {
    let mut out: Vec<Stay<'_>> = Vec::new();
    for (at, event) in &process.log {
        let who = format!("n{}.{}", process.node, process.life);
        match event {
            Event::Regular(id, members) => {
                if let Some(last) = out.last_mut() {
                    if last.survivors.is_none() {
                        return Err(format!("EVS 2: {who}: regular without transitional"));
                    }
                    if *id <= last.id {
                        return Err(format!("EVS 2: {who}: ids do not grow"));
                    }
                    last.next = Some(*id);
                }
                out.push(Stay {
                    process,
                    id: *id,
                    members,
                    since: *at,
                    regular: vec![],
                    survivors: None,
                    transitional: vec![],
                    next: None,
                });
            }
            Event::Transitional(from, survivors) => {
                let last = out.last_mut().ok_or_else(|| format!("EVS 2: {who}: transitional first"))?;
                if last.survivors.is_some() || last.id != *from {
                    return Err(format!("EVS 2: {who}: transitional of another configuration"));
                }
                last.survivors = Some(survivors);
            }
            Event::Deliver(delivery) => {
                let last = out.last_mut().ok_or_else(|| format!("EVS 1: {who}: delivery before any view"))?;
                if delivery.configuration != last.id || delivery.transitional != last.survivors.is_some() {
                    return Err(format!("EVS 1: {who}: delivery in another configuration"));
                }
                if delivery.transitional { &mut last.transitional } else { &mut last.regular }.push(delivery);
            }
        }
    }
    Ok(out)
}

/// All properties.
pub fn all(world: &World) -> Check {
    if let Some(error) = world.errors.iter().find(|error| !error.contains("may not take part")) {
        let breach = error.starts_with("ORD-");
        return Err(if breach { error.clone() } else { format!("a correct node was refused: {error}") });
    }
    if let Some(breach) = world.keys.breaches.first() {
        return Err(breach.clone());
    }
    let mut every = Vec::new();
    for process in &world.processes {
        every.extend(stays(process)?);
    }
    configurations(&every)?;
    basic_delivery(world, &every)?;
    services::fifo(world, &every)?;
    services::behind_its_stream(world, &every)?;
    services::behind_what_its_sender_had(world, &every)?;
    services::own(world)?;
    failure_atomicity(&every)?;
    agreed(&every)?;
    safe(world, &every)
}

/// EVS 2: the same id means the same members; the member itself is among them.
fn configurations(stays: &[Stay<'_>]) -> Check {
    let mut known: BTreeMap<ConfigurationId, &[NodeId]> = BTreeMap::new();
    for stay in stays {
        let members = *known.entry(stay.id).or_insert(stay.members);
        if members != stay.members {
            return Err(format!("EVS 2: {}: other members under the same id", stay.name()));
        }
        if !members.contains(&node(stay.process.node)) {
            return Err(format!("EVS 2: {}: not a member itself", stay.name()));
        }
    }
    Ok(())
}

/// EVS 1: a delivered message was sent before, once, in one configuration, and has one place; each
/// process delivers it at most once.
fn basic_delivery(world: &World, stays: &[Stay<'_>]) -> Check {
    let mut places: BTreeMap<(ConfigurationId, Option<u64>), String> = BTreeMap::new();
    let mut messages: BTreeMap<String, (ConfigurationId, Option<u64>)> = BTreeMap::new();
    let mut seen: BTreeSet<(usize, u32, String)> = BTreeSet::new();
    for stay in stays {
        let mut last = 0;
        for delivery in stay.deliveries() {
            let name = message_name(&delivery.payload);
            let sender = world.processes.iter().find(|process| {
                process.node == index(&delivery.sender) && process.life == life_of(&delivery.payload)
            });
            let sent = sender.and_then(|s| s.submitted.get(count_of(&delivery.payload) as usize));
            if sent.is_none_or(|s| s.payload != delivery.payload[..] || s.service != delivery.service) {
                return Err(format!("EVS 1b: {}: {name} was never sent", stay.name()));
            }
            if !seen.insert((stay.process.node, stay.process.life, name.clone())) {
                return Err(format!("EVS 1d: {}: {name} twice", stay.name()));
            }
            if delivery.order.is_some() != (delivery.service >= Service::Agreed) {
                return Err(format!("EVS 6: {}: {name} has a place, or lacks one", stay.name()));
            }
            if let Some(order) = delivery.order {
                if order <= last {
                    return Err(format!("EVS 6: {}: {name} out of order", stay.name()));
                }
                last = order;
            }
            let place = (stay.id, delivery.order);
            let ordered = delivery.order.is_some();
            if ordered && *places.entry(place).or_insert_with(|| name.clone()) != name {
                return Err(format!("EVS 6: {}: {name} at a place of another message", stay.name()));
            }
            if *messages.entry(name.clone()).or_insert(place) != place {
                return Err(format!("EVS 1c: {}: {name} at two places", stay.name()));
            }
        }
    }
    Ok(())
}

/// EVS 4: nodes that go together from one configuration to the next deliver the same, unreliable
/// messages excepted. Agreed and safe ones are on the same side of the signal, and in one order.
fn failure_atomicity(stays: &[Stay<'_>]) -> Check {
    let mut groups: BTreeMap<(ConfigurationId, ConfigurationId), Vec<&Stay<'_>>> = BTreeMap::new();
    for stay in stays {
        if let Some(next) = stay.next {
            groups.entry((stay.id, next)).or_default().push(stay);
        }
    }
    for group in groups.values() {
        let first = group[0];
        for stay in group {
            let came = stay.survivors.unwrap_or_default();
            if first.survivors != stay.survivors || !came.contains(&node(stay.process.node)) {
                return Err(format!("EVS 4: {}: unequal transitional sets", stay.name()));
            }
            if ordered(&first.regular) != ordered(&stay.regular)
                || ordered(&first.transitional) != ordered(&stay.transitional)
                || early(first) != early(stay)
            {
                return Err(format!("EVS 4: {} and {} differ", first.name(), stay.name()));
            }
            if came.iter().any(|member| !stay.members.contains(member)) {
                return Err(format!("EVS 4: {}: a stranger in the transitional set", stay.name()));
            }
        }
    }
    Ok(())
}

fn ordered<'a>(all: &[&'a Delivery]) -> Vec<&'a Delivery> {
    all.iter().copied().filter(|delivery| delivery.order.is_some()).collect()
}

fn early(stay: &Stay<'_>) -> BTreeSet<String> {
    let is_early = |service| (Service::Reliable..Service::Agreed).contains(&service);
    let early = stay.deliveries().filter(|delivery| is_early(delivery.service));
    early.map(|delivery| message_name(&delivery.payload)).collect()
}

/// EVS 6: nothing before a delivered message is missed, except from senders outside the
/// transitional set.
fn agreed(stays: &[Stay<'_>]) -> Check {
    let mut order: BTreeMap<ConfigurationId, BTreeMap<u64, NodeId>> = BTreeMap::new();
    for stay in stays {
        for delivery in stay.deliveries() {
            delivery.order.map(|place| order.entry(stay.id).or_default().insert(place, delivery.sender));
        }
    }
    for stay in stays {
        let Some(all) = order.get(&stay.id) else { continue };
        let have: BTreeSet<u64> = stay.deliveries().filter_map(|d| d.order).collect();
        let regular = stay.regular.iter().filter_map(|d| d.order).max().unwrap_or(0);
        let last = have.last().copied().unwrap_or(0);
        for (place, sender) in all.range(..last) {
            let trusted = stay.survivors.unwrap_or_default().contains(sender);
            if !have.contains(place) && (*place < regular || trusted) {
                return Err(format!("EVS 6: {}: missed {place} of n{}", stay.name(), index(sender)));
            }
        }
    }
    Ok(())
}

/// EVS 7: a safe message delivered in a regular configuration is delivered by all its members that
/// do not crash; in a transitional one, by all of that configuration.
fn safe(world: &World, stays: &[Stay<'_>]) -> Check {
    for stay in stays {
        let regular = stay.regular.iter().map(|d| (d, stay.members));
        let transitional = stay.transitional.iter().map(|d| (d, stay.survivors.unwrap_or_default()));
        for (delivery, audience) in regular.chain(transitional) {
            if delivery.service != Service::Safe {
                continue;
            }
            for member in audience {
                one_safe(world, stays, stay, delivery, index(member))?;
            }
        }
    }
    Ok(())
}

fn one_safe(world: &World, stays: &[Stay<'_>], stay: &Stay<'_>, delivery: &Delivery, member: usize) -> Check {
    let theirs = stays.iter().find(|other| other.process.node == member && other.id == stay.id);
    let Some(theirs) = theirs else {
        // It never installed: then it must have crashed.
        let alive = world
            .processes
            .iter()
            .any(|process| process.node == member && process.born < stay.since && process.crashed.is_none());
        return if alive {
            Err(format!("EVS 7: {}: n{member} never installed", stay.name()))
        } else {
            Ok(())
        };
    };
    let crashed_in = theirs.process.crashed.is_some() && theirs.next.is_none();
    let has = theirs.deliveries().any(|d| d.order == delivery.order);
    if has || crashed_in {
        return Ok(());
    }
    Err(format!("EVS 7: {}: n{member} misses safe {}", stay.name(), message_name(&delivery.payload)))
}
