//! Locators of other nodes: kept, exchanged among members, and dialled while their nodes are absent
//! (DECISIONS D2, D3).

mod names;
mod places;
mod rounds;

pub use names::{ADDRESSES_MAX, Named};
pub(crate) use places::place;
pub(crate) use rounds::Unanswered;

use crate::Config;
use base::{Instant, Locator, NodeId, StoreKey};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base as base;
use names::Names;
use std::collections::BTreeMap;

/// The longest back-off, as a multiple of the first.
const BACK_OFF_MAX: u32 = 8;

/// How often the time doubles in which others may tell of yet another locator of an absent node.
const MOVES_DOUBLED: u32 = 6;

/// What is known about the locators of nodes.
#[derive(Debug)]
pub(crate) struct Reach {
    /// Where peers reach this node.
    own: Locator,
    seeds: Vec<Locator>,
    places: BTreeMap<NodeId, Wanted>,
    names: Names,
    next: Instant,
    first: Duration,
    round: u32,
}

#[derive(Debug)]
struct Wanted {
    at: Locator,
    back_off: u32,
    not_before: Instant,
    /// Only a guest said so: anything that another node says replaces it.
    guessed: bool,
    /// How often others have told of another locator since the node itself answered, and from when
    /// on they may again.
    moved: u32,
    moves_from: Instant,
}

impl Wanted {
    fn new(at: Locator, not_before: Instant, guessed: bool) -> Self {
        Self { at, back_off: 1, not_before, guessed, moved: 0, moves_from: not_before }
    }

    /// When it was dialled now: waits twice as long before the next time.
    fn dialled(&mut self, now: Instant, first: Duration) {
        self.not_before = now + first.saturating_mul(self.back_off);
        self.back_off = self.back_off.saturating_mul(2).min(BACK_OFF_MAX);
    }
}

impl Reach {
    pub(crate) fn new(config: &Config, stored: &[(StoreKey, Bytes)], now: Instant) -> Self {
        let places = stored.iter().filter(|(key, _)| key.table == "locator").filter_map(|(key, value)| {
            let node = NodeId((*key.key).try_into().ok()?);
            Some((node, Wanted::new(places::locator(value)?, now, false)))
        });
        Self {
            own: config.locator.clone(),
            seeds: config.seeds.clone(),
            places: places.collect(),
            names: Names::new(config.danger),
            next: now,
            first: config.lookup,
            round: 0,
        }
    }

    /// The node that was last reached at this locator.
    pub(crate) fn who(&self, at: &Locator) -> Option<NodeId> {
        self.places.iter().find(|(_, wanted)| wanted.at == *at).map(|(node, _)| *node)
    }

    /// Whether some node is looked for at this locator.
    pub(crate) fn looks_at(&self, at: &Locator) -> bool {
        self.seeds.contains(at) || self.names.lead_to(at) || self.who(at).is_some()
    }

    /// `NODE-20`, `NODE-21`: whether this node has the transport of a locator that leads somewhere,
    /// and to one host. It has one transport, that of its own locator.
    pub(crate) fn reaches(&self, at: &Locator) -> bool {
        at.leads_somewhere() && at.is_of_one_host() && at.scheme() == self.own.scheme()
    }
}
