//! Another line: what is shown of it, and going over to it, with signatures and certificates.

use super::{Taken, Transcript};
use crate::item::Item;
use crate::proposal::Standing;
use crate::{Applied, Change, Head, ITEM_BYTES_MAX, ItemError, Unproposed};
use bytes::Bytes;
use folkmoot_base::Digest;

impl Transcript {
    /// Takes what somebody on another line shows of it, with every signature verified:
    /// [`Line::meet`], or [`Line::resolve`] if its person goes over to `resolves`, a decision of
    /// that line. Every certificate is taken anew on the other line: its keys are those of that
    /// line.
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was. `LINE-74` the other line has no such
    /// decision.
    pub fn meet(
        &mut self,
        decisions: &[Standing],
        last: &Standing,
        state: &[u8],
        resolves: Option<Head>,
    ) -> Result<Taken, ItemError> {
        let first = decisions.first().unwrap_or(last).head().number;
        let mut electors = (first.saturating_sub(1), self.line.electors_of(first));
        for standing in decisions.iter().chain([last]) {
            electors = self.handed_over(standing, electors)?;
        }
        let state = self.read_state(state, last)?;
        let shown = |number: u64| decisions.iter().chain([last]).find(|one| one.head().number == number);
        let at = |number| state.decision_at(number).or_else(|| Some(shown(number)?.head()));
        self.check_awaited(state.head().number, at)?;
        let met = match resolves {
            None => self.line.meet(decisions, last, state)?,
            Some(named) if !state.has_on_line(&named) => return Err(Unproposed::Unasked.into()),
            Some(_) => self.line.resolve(decisions, last, state)?,
        };
        if let Applied::Fork(liars) = met {
            return Ok(Taken { liars, ..Taken::default() });
        }
        self.reached();
        let (state, set) = self.line.set_mut();
        set.forget_admits(state);
        for item in std::mem::take(&mut self.papers).into_values().flatten().map(|paper| paper.item) {
            if let Ok(Item::Admit { certificate, approvals }) = Item::decode(&item) {
                // What says nothing on this line falls.
                drop(self.take_admit(&item, &certificate.0, &approvals, None));
            }
        }
        let (state, set) = self.line.set_mut();
        set.advance(state);
        self.forget();
        self.retake(None);
        Ok(self.told(true))
    }

    /// Takes what shows that another line comes to ours.
    pub(super) fn take_coming(&mut self, coming: &[Standing]) -> Result<bool, ItemError> {
        let first = coming.first().map(|first| first.head().number).unwrap_or_default();
        let mut electors = (first.saturating_sub(1), self.line.electors_of(first));
        for standing in coming {
            electors = self.handed_over(standing, electors)?;
        }
        Ok(self.line.hear_coming(coming)?)
    }

    /// The names of what is known of other lines.
    pub(super) fn sides(&self) -> impl Iterator<Item = Digest> {
        let forks = self.line.forks().values();
        forks.flat_map(|fork| fork.coming.last().into_iter().chain([&fork.theirs]).map(name))
    }

    /// What shows the lines which effects of the set name, and that the line to which ours goes
    /// comes to ours, each with its name. A longer way than an item may have is not told.
    pub(super) fn sides_wanted(&self) -> impl Iterator<Item = (Digest, Bytes)> {
        let named = |head| self.set().effects().any(|effect| effect.change == Change::Rejoin { head });
        let sides = self.line.forks().values().map(|fork| &fork.theirs);
        let sides = sides.filter(move |theirs| named(theirs.head()));
        let sides = sides.map(|theirs| (name(theirs), Item::Decision(theirs.clone())));
        let sides = sides.map(|(name, item)| (name, Bytes::from(item.encode())));
        let coming = self.state().rejoin().and_then(|head| {
            let last = self.line.forks().get(&head)?.coming.last()?;
            Some((name(last), self.coming(&head)?))
        });
        sides.chain(coming).filter(|(_, item)| item.len() <= ITEM_BYTES_MAX)
    }

    /// The item that shows that the line of this decision, after a fork, comes to ours. A longer
    /// way than an item may have is not told.
    pub fn coming(&self, theirs: &Head) -> Option<Bytes> {
        let fork = self.line.forks().get(theirs).filter(|fork| !fork.coming.is_empty())?;
        let item = Item::Coming { decisions: fork.coming.clone() }.encode();
        (item.len() <= ITEM_BYTES_MAX).then(|| item.into())
    }
}

fn name(standing: &Standing) -> Digest {
    standing.head().digest
}
