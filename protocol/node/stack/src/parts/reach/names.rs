//! Host names: the node says which, its host finds out their addresses, and the node dials these
//! (NODE-37 to NODE-39).
//!
//! ```text
//!   seed, contact  dns/anna.example.org:4803 ──Resolve──> host ──resolved──> udp/192.0.2.7:4803 dialled
//!                        ^                                                          |
//!                        └── nobody answers: asked for again, 2 s to 30 s later ────┘
//! ```

use super::Reach;
use crate::parts::{Others, Peers};
use base::{Danger, HostName, Instant, Locator, Mutant};
use core::time::Duration;
use folkmoot_attach::Resolved;
use folkmoot_base as base;
use std::collections::BTreeMap;

/// Most addresses of one name that are dialled.
pub const ADDRESSES_MAX: usize = 8;
/// Most names that are known at once.
const NAMES_MAX: usize = 96;
/// Most addresses of names that are dialled in one round.
const DIALS_MAX: usize = 16;
/// While nobody answers at the addresses of a name, it is asked for again so much later, ...
const FIRST: Duration = Duration::from_secs(2);
/// ... and later, each time twice as long, but not longer than this.
const LONGEST: Duration = Duration::from_secs(30);

/// A host name at which somebody is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name, as in `dns/anna.example.org:4803`.
    pub name: Locator,
    /// Its addresses when it was last asked for and had some.
    pub places: Vec<Locator>,
    /// Why there was no address when it was last asked for.
    pub why: Option<String>,
}

#[derive(Debug)]
struct Known {
    places: Vec<Locator>,
    why: Option<String>,
    pause: Duration,
    /// Not asked for again before.
    again: Instant,
}

/// The names at which somebody is looked for.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<Locator, Known>,
    /// Where the next round of dials begins.
    turn: usize,
    pub(super) danger: Mutant,
}

impl Names {
    pub(super) fn new(danger: Mutant) -> Self {
        Self { danger, ..Self::default() }
    }

    /// Whether a name leads there.
    pub(super) fn lead_to(&self, at: &Locator) -> bool {
        self.known.values().any(|known| known.places.contains(at))
    }

    /// `NODE-37`: nobody answers at this name. Whether it is to be asked for now.
    fn is_due(&mut self, now: Instant, name: &Locator) -> bool {
        if !self.known.contains_key(name) && self.known.len() >= NAMES_MAX {
            return false;
        }
        let new = || Known { places: Vec::new(), why: None, pause: FIRST, again: now };
        let known = self.known.entry(name.clone()).or_insert_with(new);
        if known.again > now {
            return false;
        }
        known.again = now + known.pause;
        known.pause = known.pause.saturating_mul(2).min(LONGEST);
        true
    }

    /// Somebody answers there: once that is over, the name is asked for at once.
    fn rest(&mut self, now: Instant, name: &Locator) {
        if let Some(known) = self.known.get_mut(name) {
            (known.pause, known.again) = (FIRST, known.again.min(now));
        }
    }

    fn is_answered(&self, name: &Locator, peers: &Peers) -> bool {
        self.known.get(name).is_some_and(|known| known.places.iter().any(|at| peers.has_at(at)))
    }

    /// The addresses of these names that are dialled in this round; others each time, if there are
    /// more than one round has.
    fn in_turn(&mut self, names: &[Locator]) -> Vec<Locator> {
        let known = names.iter().filter_map(|name| self.known.get(name));
        let mut all: Vec<Locator> = known.flat_map(|known| known.places.clone()).collect();
        if all.len() > DIALS_MAX {
            let first = self.turn.checked_rem(all.len()).unwrap_or_default();
            all.rotate_left(first);
            all.truncate(DIALS_MAX);
            self.turn = first.saturating_add(DIALS_MAX);
        }
        all
    }
}

impl Reach {
    /// What is known of the names at which somebody is looked for.
    pub(crate) fn names(&self) -> Vec<Named> {
        let named = |(name, known): (&Locator, &Known)| Named {
            name: name.clone(),
            places: known.places.clone(),
            why: known.why.clone(),
        };
        self.names.known.iter().map(named).collect()
    }

    /// `NODE-37`: of the places where somebody is looked for in this round, the names: those to ask
    /// for, and the addresses to dial.
    pub(super) fn by_name(
        &mut self,
        now: Instant,
        places: &[Locator],
        others: Others<'_>,
    ) -> (Vec<Locator>, Vec<Locator>) {
        let mut names: Vec<Locator> =
            places.iter().filter(|at| HostName::of(at).is_some()).cloned().collect();
        if self.names.danger.is(Danger::NodeAsksForAnyName) {
            names.extend(
                self.places.values().map(|wanted| wanted.at.clone()).filter(|at| HostName::of(at).is_some()),
            );
        }
        let (answered, open): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| self.names.is_answered(name, others.peers));
        answered.iter().for_each(|name| self.names.rest(now, name));
        let dials = self.names.in_turn(&open);
        let asks = open.into_iter().filter(|name| self.names.is_due(now, name)).collect();
        (asks, dials)
    }

    /// Names that nobody looks at any more are forgotten.
    pub(super) fn forget_names(&mut self, wanted: &[Locator]) {
        if !self.names.danger.is(Danger::NodeAsksForAnyName) {
            self.names.known.retain(|name, _| wanted.contains(name));
        }
    }

    /// `NODE-37`: a name from a command line or a ticket. Whether it is to be asked for now.
    pub(crate) fn ask(&mut self, now: Instant, name: &Locator) -> bool {
        self.names.is_due(now, name)
    }

    /// `NODE-38`: the addresses of a name, as the host found them: those of them that are to be
    /// dialled now. What was not asked for is dropped, and so is what leads nowhere or to many.
    pub(crate) fn resolved(
        &mut self,
        now: Instant,
        name: &Locator,
        found: Resolved,
        peers: &Peers,
    ) -> Vec<Locator> {
        let mut places = Vec::new();
        let why = match found {
            Ok(found) => {
                for at in found {
                    if self.reaches(&at) && !places.contains(&at) && places.len() < ADDRESSES_MAX {
                        places.push(at);
                    }
                }
                places.is_empty().then(|| "it has no address that this member can dial".to_owned())
            }
            Err(why) => Some(why),
        };
        let own = self.own.clone();
        let Some(known) = self.names.known.get_mut(name) else { return Vec::new() };
        known.why = why;
        if known.why.is_some() {
            return Vec::new();
        }
        let before = core::mem::replace(&mut known.places, places);
        let fresh: Vec<&Locator> = known.places.iter().filter(|at| !before.contains(at)).collect();
        // The same in another order is no news.
        if !fresh.is_empty() {
            (known.pause, known.again) = (FIRST, known.again.min(now + FIRST));
        }
        fresh.into_iter().filter(|at| **at != own && !peers.has_at(at)).cloned().collect()
    }
}
