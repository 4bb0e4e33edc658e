//! The look-ups, one round after the other: who is dialled and who is sought in each.

use super::{Reach, Wanted};
use crate::message::LOCATORS_MAX;
use crate::parts::Others;
use base::{Danger, Entropy, Instant, Locator, NodeId, draw};
use folkmoot_base as base;
use folkmoot_identity::Contact;

/// Most dials in one round.
const DIALS_MAX: usize = 16;

/// How many look-ups pass before the others are asked again for the locators of absent nodes.
const SEEK_ROUNDS: u32 = 4;
/// After an admission, this fraction of a look-up's time passes before that question. It is long
/// enough for most nodes to have heard by themselves, and short enough that a node which can answer
/// is still there.
const SEEK_SOON: u32 = 4;

/// In so many look-ups, members and authority whose transcripts are equal say once where they
/// stand, and what was not taken from a peer is asked for once more.
const REST_ROUNDS: u32 = 8;

/// Where nobody answers.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    /// Host names whose addresses are asked for now.
    pub(crate) asks: Vec<Locator>,
    /// What is dialled now.
    pub(crate) dials: Vec<Locator>,
}

impl Reach {
    /// When to look up again.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// The roster has a new node. Others may have told us of it earlier, when it was a stranger and
    /// we ignored hearsay of it: ask again soon.
    pub(crate) fn seek_soon(&mut self, now: Instant) {
        self.round = 0;
        self.next = self.next.min(now + self.first / SEEK_SOON);
    }

    /// A link went down: the next look-up looks for the node, and comes soon.
    pub(crate) fn lost(&mut self, now: Instant, node: NodeId) {
        if let Some(wanted) = self.places.get_mut(&node) {
            wanted.back_off = 1;
            wanted.not_before = now;
        }
        self.next = self.next.min(now + self.first);
    }

    /// `NODE-41`: the absent nodes that are dialled now, each at its own pace. Of more than a round
    /// has room for, those whose turn has been due for longest: whoever is away keeps nobody from
    /// being dialled.
    pub(crate) fn due(&mut self, now: Instant, others: Others<'_>) -> Vec<(NodeId, Locator)> {
        self.due_of(now, |node| others.is_absent(node))
    }

    fn due_of(&mut self, now: Instant, is_absent: impl Fn(&NodeId) -> bool) -> Vec<(NodeId, Locator)> {
        let is_due = |(node, wanted): &(&NodeId, &Wanted)| {
            wanted.not_before <= now && is_absent(node) && self.reaches(&wanted.at)
        };
        let due = self.places.iter().filter(is_due).map(|(node, wanted)| (wanted.not_before, *node));
        let mut due: Vec<(Instant, NodeId)> = due.collect();
        let lowest = self.names.danger.is(Danger::NodeDialsLowest);
        due.sort_unstable_by_key(|(since, node)| ((!lowest).then_some(*since), *node));
        let later = due.split_off(due.len().min(DIALS_MAX));
        for (_, node) in later.iter().filter(|_| lowest) {
            if let Some(wanted) = self.places.get_mut(node) {
                wanted.dialled(now, self.first);
            }
        }
        let mut nodes: Vec<NodeId> = due.into_iter().map(|(_, node)| node).collect();
        nodes.sort_unstable();
        let dialled = |node: NodeId| {
            let wanted = self.places.get_mut(&node)?;
            wanted.dialled(now, self.first);
            Some((node, wanted.at.clone()))
        };
        nodes.into_iter().filter_map(dialled).collect()
    }

    /// The seeds and contacts at which nobody answers: what is dialled in this round, and the host
    /// names whose addresses are asked for.
    pub(crate) fn unanswered(&mut self, now: Instant, others: Others<'_>) -> Unanswered {
        if !self.round.is_multiple_of(2) {
            return Unanswered::default();
        }
        let contacts = contacts(others);
        self.forget_names(&[self.seeds.as_slice(), &contacts].concat());
        let mut places = self.seeds.clone();
        if self.looks_at_contacts(others) {
            places.extend(contacts);
        }
        let (asks, named) = self.by_name(now, &places, others);
        places.retain(|at| self.reaches(at));
        places.extend(named);
        places.retain(|at| *at != self.own && !others.peers.has_at(at));
        Unanswered { asks, dials: places }
    }

    /// `NODE-16`: whether this node looks where the charter says that somebody may be found: while
    /// it has no link to anybody of the group. The seeds come a round before.
    fn looks_at_contacts(&self, others: Others<'_>) -> bool {
        let early = self.round == 0 && !self.seeds.is_empty();
        !early && others.known_peers().next().is_none()
    }

    /// The nodes of whose locators members' nodes are asked in this round: such as are on the
    /// roster, and no link is up to them. Hearsay may have been lost, or have come before the
    /// roster had the node.
    pub(crate) fn sought(&self, others: Others<'_>) -> Vec<NodeId> {
        if !self.round.is_multiple_of(SEEK_ROUNDS) {
            return Vec::new();
        }
        in_turn(others.absent().collect(), self.round / SEEK_ROUNDS)
    }

    /// All of this round were dialled and asked.
    pub(crate) fn advance(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Whether even those say where they stand who otherwise rest, and all is asked for once more.
    pub(crate) fn rouses(&self) -> bool {
        self.round.is_multiple_of(REST_ROUNDS)
    }

    /// Waits for the next round, which comes a little later than after the shortest time.
    pub(crate) fn rest(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let jitter = u32::from(u16::from_be_bytes(draw(entropy)));
        let jitter = self.first.saturating_mul(jitter) / (4 * 65_536);
        self.next = now + self.first + jitter;
    }
}

/// Where the charter says that somebody may be found.
fn contacts(others: Others<'_>) -> Vec<Locator> {
    let contacts = others.records.transcript().roster().charter().contacts();
    contacts.iter().filter_map(Contact::locator).collect()
}

/// As many of these as one message holds, and others each time. Not every member has a node of its
/// own, and those that have none must not hide those that have one.
fn in_turn(mut absent: Vec<NodeId>, turn: u32) -> Vec<NodeId> {
    let pages = absent.len().div_ceil(LOCATORS_MAX).max(1);
    let first = (usize::try_from(turn).unwrap_or_default() % pages).saturating_mul(LOCATORS_MAX);
    absent.drain(..first.min(absent.len()));
    absent.truncate(LOCATORS_MAX);
    absent
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::super::names::Names;
    use super::{DIALS_MAX, Instant, LOCATORS_MAX, Locator, NodeId, Reach, Wanted, in_turn};
    use core::time::Duration;
    use folkmoot_base as base;
    use std::collections::BTreeMap;

    /// Forty members are away, and whichever of them come back, each is dialled in the third round
    /// at the latest, and as often as any other later on.
    #[test]
    fn node_41_those_who_stay_away_keep_nobody_from_being_dialled() {
        let first = Duration::from_millis(500);
        let place = |number: u8| {
            (NodeId([number; 32]), Wanted::new(Locator::memory(number.into()), Instant(0), false))
        };
        let mut reach = Reach {
            own: Locator::memory(99),
            seeds: Vec::new(),
            places: (0..40).map(place).collect(),
            names: Names::new(base::Mutant::NONE),
            next: Instant(0),
            first,
            round: 0,
        };
        let mut dialled: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        let mut now = Instant(0);
        for round in 0..60 {
            let due = reach.due_of(now, |_| true);
            assert!(due.len() <= DIALS_MAX && due.is_sorted());
            due.into_iter().for_each(|(node, _)| dialled.entry(node).or_default().push(round));
            now = now + first;
        }
        assert_eq!(dialled.len(), 40);
        assert!(dialled.values().all(|rounds| rounds[0] < 3), "{dialled:?}");
        let gap = |rounds: &Vec<u32>| rounds.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(dialled.values().filter_map(gap).all(|gap| gap <= 9), "{dialled:?}");
    }

    #[test]
    fn everybody_is_sought_in_turn() {
        let all: Vec<NodeId> = (0..150).map(|number| NodeId([number; 32])).collect();
        let pages: Vec<Vec<NodeId>> = (0..3).map(|turn| in_turn(all.clone(), turn)).collect();
        assert!(pages.iter().all(|page| page.len() <= LOCATORS_MAX));
        assert_eq!(pages.concat(), all);
        assert_eq!(in_turn(all.clone(), 3), pages[0]);
        assert_eq!(in_turn(Vec::new(), 7), Vec::new());
        assert_eq!(in_turn(all[..64].to_vec(), 1).len(), 64);
    }
}
