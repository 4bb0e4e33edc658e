//! What could be decided here: since when, and what can be no more.

use super::{Ballots, KNOWN_FOR, Look};
use crate::state::check_begin;
use crate::{ADMITS_MAX, Approved, Change, Refusal, Refused};
use core::time::Duration;
use folkmoot_base::{Digest, Instant, UnixTime};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What can be decided no more is seen about so soon.
const SOON: Duration = Duration::from_secs(10);

/// Something that a decision may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    /// Carry out the effect of a subject with this digest.
    Effect(Digest),
    /// Hold the admission of this request.
    Holding(Digest),
    /// Refuse a request.
    Refusal(Refusal),
}

/// What programs decide by themselves, as a set of one version has it at one time.
#[derive(Debug)]
pub(super) struct Entries {
    version: u64,
    /// In which ten seconds.
    when: u64,
    pub(super) held: BTreeSet<Digest>,
    pub(super) refused: Vec<Refused>,
}

impl Ballots {
    /// Notes since when each thing has been there to decide, and says whether anything is.
    pub(super) fn watch(&mut self, look: &Look<'_>) -> bool {
        self.note_lacking(look);
        let at = (look.set.version(), time_of(look));
        if self.watched.replace(at) != Some(at) {
            self.note_known(look);
        }
        self.looked = look.now;
        // A promise beyond the last ballot is not kept: whoever gave it knew more before it was
        // started anew, and nobody would go on there.
        self.is_due(look) || self.is_asked(look) || !self.proposals.is_empty() || !self.promises.is_empty()
    }

    fn note_known(&mut self, look: &Look<'_>) {
        let (carriable, entries) = (self.carriable(look), self.entries(look));
        let effects = carriable.iter().map(|one| Thing::Effect(one.effect.subject().digest));
        let holdings = entries.held.iter().copied().map(Thing::Holding);
        let refusals = entries.refused.iter().map(|one| Thing::Refusal(one.refusal()));
        let there: BTreeSet<Thing> = effects.chain(holdings).chain(refusals).collect();
        self.lapsed.retain(|thing, since| !there.contains(thing) && is_recent(look, *since));
        for gone in self.known.keys().filter(|thing| !there.contains(thing)) {
            // Whoever has not looked for a while, asleep perhaps, does not know since when.
            let asleep = look.now.since(self.looked) > SOON;
            let since = if asleep { self.looked } else { look.now };
            // As many as can be there at one time: a quorum alone could make more.
            if self.lapsed.len() < ADMITS_MAX {
                self.lapsed.insert(*gone, since);
            }
        }
        self.known.retain(|thing, _| there.contains(thing));
        for thing in there {
            self.known.entry(thing).or_insert(look.now);
        }
    }

    /// Whether this could be decided here, now or within the last minute.
    pub(super) fn counts(&self, look: &Look<'_>, thing: &Thing) -> bool {
        self.known.contains_key(thing) || self.lapsed.get(thing).is_some_and(|since| is_recent(look, *since))
    }

    /// What a decision could hold and refuse, worked out once in ten seconds for each version of
    /// the set, and not at each message. Whether a decision may hold it is asked at its time.
    pub(super) fn entries(&mut self, look: &Look<'_>) -> Arc<Entries> {
        let (version, time) = (look.set.version(), time_of(look));
        let when = time.0 / SOON.as_secs();
        let same = |entries: &Arc<Entries>| (entries.version, entries.when) == (version, when);
        let entries = self.entries.take().filter(same).unwrap_or_else(|| {
            let (held, refused) = (look.set.holdable(look.state, time), look.set.refusable(look.state));
            Arc::new(Entries { version, when, held, refused })
        });
        self.entries = Some(entries.clone());
        entries
    }
}

/// The time of a decision that is made now: that of our clock, not before the last decision's,
/// unless people approve that this goes back.
pub(super) fn time_of(look: &Look<'_>) -> UnixTime {
    let (clock, last) = (look.clock, look.state.time());
    let goes_back = || look.set.approved(look.state, clock).iter().any(|one| is_retime(look, one));
    if clock >= last || goes_back() { clock } else { last }
}

/// Whether an effect takes the time of the head back.
pub(super) fn is_retime(look: &Look<'_>, approved: &Approved) -> bool {
    approved.effect.change == Change::Retime { head: look.state.head() }
}

/// Whether a decision of this time may hold an admission, by what is known here: `LINE-06`,
/// `LINE-34`.
pub(super) fn may_hold(look: &Look<'_>, request: &Digest, time: UnixTime) -> bool {
    let begun = |admit| check_begin(look.state, admit, time).is_ok();
    look.set.vouches(look.state, request, time) && look.set.admit(request).is_some_and(begun)
}

fn is_recent(look: &Look<'_>, since: Instant) -> bool {
    look.now.since(since) <= KNOWN_FOR
}
