//! A liar that shows its peers starts of processes that never started, so that they stop (LINK-26).

use crate::schedule::Slander;
use folkmoot_base::{Instant, NodeId, Persist};
use folkmoot_link::SignedStart;
use folkmoot_link::message::Control;
use folkmoot_node::Node;

/// The number of the process that writes this, if it is that.
pub(super) fn number(write: &Persist) -> Option<u64> {
    let is = write.key.table == "ring" && write.key.key == b"started"[..];
    let value = write.value.as_ref().filter(|_| is)?;
    value.get(..).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes)
}

/// Shows every peer a start that should stop it, if it believed that. What is shown goes out with
/// the next input.
pub(super) fn slander(node: &mut Node, now: Instant, how: Slander) {
    let links = node.danger_links();
    let peers: Vec<NodeId> = links.peers().map(|(peer, _)| peer).collect();
    for (place, peer) in peers.iter().enumerate() {
        let other = peers.get(place.wrapping_add(1)).or(peers.first());
        let shown = match how {
            Slander::Own | Slander::Later => links.danger_start(peer),
            Slander::Other => other.and_then(|other| links.danger_start(other)),
        };
        let shown = shown.map(|shown| if how == Slander::Later { later(shown) } else { shown });
        if let Some(shown) = shown {
            links.danger_say(now, *peer, &Control::Superseded(shown));
        }
    }
}

/// The same, of another process that started later. Nobody signed that.
fn later(mut shown: SignedStart) -> SignedStart {
    shown.start.started = shown.start.started.saturating_add(1_000_000);
    shown.start.key = [7; 32];
    shown
}
