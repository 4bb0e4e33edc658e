//! Whether a change leaves a group that can go on.

use super::State;
use crate::Unfit;
use folkmoot_base::{Danger, MemberId, UnixTime};
use folkmoot_identity::{Below, Lack};
use std::collections::BTreeSet;

impl State {
    /// `LINE-45`, `LINE-46`: nobody means to leave a group that could never decide, admit or remove
    /// again, unless they say so. A group without any voter is a mistake even then. What was
    /// impossible before may stay so: the change may be the way back.
    pub(super) fn check_outcome(&self, next: &Self, forced: bool) -> Result<(), Unfit> {
        self.check_able(&self.voters(), next, &next.voters(), forced)
    }

    /// The same with these voters able to vote before and after.
    fn check_able(
        &self,
        before: &BTreeSet<MemberId>,
        next: &Self,
        stay: &BTreeSet<MemberId>,
        forced: bool,
    ) -> Result<(), Unfit> {
        let need = next.votes_asked(forced);
        let worse = stay.len() < before.len() || need > self.votes_asked(forced);
        let short = stay.len() < need || !next.is_quorum(stay);
        if stay.is_empty() || (short && worse) {
            return Err(Unfit::DeadEnd { voters: stay.len(), threshold: need });
        }
        if forced {
            return Ok(());
        }
        let lacked = self.charter.policies().out_of_reach(before);
        let lacks = next.charter.policies().out_of_reach(stay);
        match lacks.into_iter().find(|lack| !lacked.contains(lack)) {
            Some(Lack::Admit) => Err(Unfit::Unreachable { what: "admit" }),
            Some(Lack::Remove) => Err(Unfit::Unreachable { what: "remove" }),
            None => Ok(()),
        }
    }

    /// `LINE-35`: whose membership ends at `time`, because its term has. A voter's does not while
    /// so few would be left that they could not go on: it stays until it is renewed or replaced.
    /// First go those without a place, then voters in the order of their ends. `renewed` are
    /// members by another admission, whom this does not end.
    pub(crate) fn ending(&self, time: UnixTime, renewed: &BTreeSet<MemberId>) -> Vec<MemberId> {
        let over = self.roster.iter().filter(|(member, held)| held.ends < time && !renewed.contains(*member));
        let place = |member: &MemberId| self.places.iter().position(|place| place.voter == *member);
        let mut over: Vec<(Option<(UnixTime, usize)>, MemberId)> =
            over.map(|(member, held)| (place(member).map(|place| (held.ends, place)), *member)).collect();
        over.sort();
        let mut able = self.voters();
        let mut gone = Vec::new();
        for (placed, member) in over {
            let mut stay = able.clone();
            stay.remove(&member);
            let fits = placed.is_none() || self.check_able(&able, self, &stay, false).is_ok();
            if fits || self.is(Danger::LineEndsAll) {
                able = stay;
                gone.push(member);
            }
        }
        gone
    }

    /// From when on no voter can be spared: so many voters' terms are over then that all who are
    /// left are needed. Zero if that is so already; none if their terms never bring it about.
    pub fn all_needed_from(&self) -> Option<UnixTime> {
        let mut able = self.voters();
        let spare = |able: &BTreeSet<MemberId>| {
            able.iter().any(|voter| {
                let stay = able.iter().copied().filter(|one| one != voter).collect();
                self.check_able(able, self, &stay, false).is_ok()
            })
        };
        let mut ends: Vec<(UnixTime, MemberId)> =
            self.voter_ends().filter(|(end, _)| end.0 < u64::MAX).collect();
        ends.sort();
        let mut from = UnixTime(0);
        for (end, voter) in ends {
            if !spare(&able) {
                return Some(from);
            }
            able.remove(&voter);
            from = end;
        }
        (!spare(&able)).then_some(from)
    }

    /// When each voter's term ends.
    pub fn voter_ends(&self) -> impl Iterator<Item = (UnixTime, MemberId)> {
        let places = self.places.iter().map(|place| place.voter);
        places.filter_map(|voter| Some((self.roster.get(&voter)?.ends, voter)))
    }

    /// How many voters are needed so that the group can go on: one, if the voters force it or the
    /// charter resets the threshold.
    fn votes_asked(&self, forced: bool) -> usize {
        let reset = forced || self.charter.policies().below == Below::Reset;
        let asked = usize::try_from(self.charter.threshold()).unwrap_or(usize::MAX);
        self.charter.scheme().signers(if reset { 1 } else { asked })
    }
}
