//! Takes many things at once: what follows from them is worked out once, at the end.
//!
//! ```text
//! load --> take, take, ... (nothing is judged, nothing is dropped) --> settle: judged and bounded
//! ```
//! Promise: a set that had room for all of it ends as if each had come alone. Relies on: whoever
//! loads stops when the set is overfull.

use super::Set;
use crate::{ItemError, State};
use folkmoot_base::UnixTime;

impl Set {
    /// Many things come now.
    pub(crate) fn load(&mut self) {
        self.loading = true;
        self.overfull = false;
    }

    /// Whether many things come now.
    pub(crate) fn is_loading(&self) -> bool {
        self.loading
    }

    /// Whether more came than a set keeps.
    pub(crate) fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Works out what follows from all that came, by the time that it says is past. Whether a set
    /// keeps all of it.
    ///
    /// # Errors
    /// [`ItemError::NoEnd`]: nothing here ends one second before that time, or the last decision
    /// says as much.
    pub(crate) fn settle(&mut self, state: &State, past: Option<UnixTime>) -> Result<bool, ItemError> {
        self.loading = false;
        self.over = past.unwrap_or_default();
        let sizes = |set: &Self| (set.admits.len(), set.effects.len(), set.refusals.len());
        let came = sizes(self);
        self.bound_all_approvals();
        self.bound_refusals(state);
        self.bound_effects(state);
        self.changed();
        if let Some(past) = past.filter(|past| *past <= state.time() || *past != self.past()) {
            return Err(ItemError::NoEnd(past));
        }
        self.judge_all(state);
        self.bound_admits(state);
        Ok(!self.overfull && came == sizes(self))
    }
}
