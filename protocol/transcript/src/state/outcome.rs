//! Whether a change leaves a group that can go on.

use super::State;
use crate::Unfit;
use folkmoot_identity::{Below, Lack};

impl State {
    /// `LINE-45`, `LINE-46`: nobody means to leave a group that could never decide, admit or remove
    /// again, unless they say so. A group without any voter is a mistake even then. What was
    /// impossible before may stay so: the change may be the way back.
    pub(super) fn check_outcome(&self, next: &Self, forced: bool) -> Result<(), Unfit> {
        let (before, stay) = (self.voters(), next.voters());
        let need = next.votes_asked(forced);
        let worse = stay.len() < before.len() || need > self.votes_asked(forced);
        let short = stay.len() < need || !next.is_quorum(&stay);
        if stay.is_empty() || (short && worse) {
            return Err(Unfit::DeadEnd { voters: stay.len(), threshold: need });
        }
        if forced {
            return Ok(());
        }
        let lacked = self.charter.policies().out_of_reach(&before);
        let lacks = next.charter.policies().out_of_reach(&stay);
        match lacks.into_iter().find(|lack| !lacked.contains(lack)) {
            Some(Lack::Admit) => Err(Unfit::Unreachable { what: "admit" }),
            Some(Lack::Remove) => Err(Unfit::Unreachable { what: "remove" }),
            None => Ok(()),
        }
    }

    /// How many voters are needed so that the group can go on: one, if the voters force it or the
    /// charter resets the threshold.
    fn votes_asked(&self, forced: bool) -> usize {
        let reset = forced || self.charter.policies().below == Below::Reset;
        let asked = usize::try_from(self.charter.threshold()).unwrap_or(usize::MAX);
        self.charter.scheme().signers(if reset { 1 } else { asked })
    }
}
