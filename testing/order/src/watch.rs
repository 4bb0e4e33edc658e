//! Checks at each tick, which look at what nodes hold.

use crate::history::{Event, History};
use crate::node::Node;
use crate::nouns::{Packet, Per, Service, Set};

/// A packet that waits longer than this for a place, while its sender's configuration stands, is
/// forgotten.
const FORGOTTEN: usize = 400;

/// What was looked at already.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// How many events of each node.
    looked: Per<usize>,
    /// The configuration of each, its members, and whether the signal came.
    at: Per<(usize, Set, bool)>,
}

impl Watch {
    /// Looks at a tick.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn look(
        &mut self,
        now: usize,
        nodes: &[Node],
        alive: Set,
        history: &History,
    ) -> Result<(), String> {
        for node in nodes.iter().filter(|node| alive.has(node.id)) {
            self.safe(node.id, nodes, alive, history)?;
            if now % 4 == node.id % 4 && !node.store.frozen {
                prompt(node)?;
            }
            if node.own_waits_since().is_some_and(|since| now > since + FORGOTTEN) {
                return Err(format!("node {} waits for a place and nobody gathers", node.id));
            }
        }
        Ok(())
    }

    /// Before the signal, safe is delivered only if every member that lives holds it.
    fn safe(&mut self, node: usize, nodes: &[Node], alive: Set, history: &History) -> Result<(), String> {
        let events = history.logs[node].iter().skip(self.looked[node]);
        self.looked[node] = history.logs[node].len();
        for event in events {
            match *event {
                Event::Install { config, members, .. } => self.at[node] = (config, members, false),
                Event::Signal => self.at[node].2 = true,
                Event::Deliver(delivery) => {
                    let (config, members, signal) = self.at[node];
                    if signal || history.service(delivery.uid) != Service::Safe {
                        continue;
                    }
                    for other in nodes.iter().filter(|other| members.has(other.id) && alive.has(other.id)) {
                        let holds = other.store.id == config
                            && other.store.packets().any(|packet| packet.uid == delivery.uid);
                        if !holds && !delivered(history, other.id, delivery.uid) {
                            let (uid, other) = (delivery.uid, other.id);
                            return Err(format!("node {node} delivers safe {uid}, which node {other} lacks"));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn delivered(history: &History, node: usize, uid: usize) -> bool {
    history.logs[node].iter().any(|event| matches!(event, Event::Deliver(delivery) if delivery.uid == uid))
}

/// What waits for no order is delivered at once.
fn prompt(node: &Node) -> Result<(), String> {
    let store = &node.store;
    for packet in store.packets().filter(|one| !store.is_delivered(*one) && !one.service.is_ordered()) {
        let is_done = |before: Packet| before.service < Service::Fifo || store.is_delivered(before);
        let stream =
            (1..packet.number).all(|number| store.packet(packet.source, number).is_some_and(is_done));
        let named = store.members.iter().all(|other| {
            packet.names[other] == 0
                || store.packet(other, packet.names[other]).is_some_and(|one| store.is_delivered(one))
        });
        if packet.service == Service::Reliable || stream && named {
            return Err(format!("node {} keeps {:?} message {} back", node.id, packet.service, packet.uid));
        }
    }
    Ok(())
}
