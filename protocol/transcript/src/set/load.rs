//! Takes many things at once: what follows from them is worked out once, at the end.
//!
//! ```text
//! load --> take, take, ... (nothing is judged, nothing is dropped) --> settle: judged and bounded
//! ```
//! Promise: a set that had room for all of it ends as if each had come alone. Relies on: whoever
//! loads stops when the set is overfull.

use super::Set;
use crate::State;

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

    /// Works out what follows from all that came. Whether a set keeps all of it.
    pub(crate) fn settle(&mut self, state: &State) -> bool {
        self.loading = false;
        let sizes = |set: &Self| (set.admits.len(), set.effects.len(), set.refusals.len());
        let came = sizes(self);
        self.bound_all_approvals();
        self.bound_refusals(state);
        self.bound_effects(state);
        self.judge_all(state);
        self.bound_admits(state);
        self.changed();
        !self.overfull && came == sizes(self)
    }
}
