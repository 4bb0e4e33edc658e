//! What a finished run leaves for the next one.

use crate::ModuleName;
use crate::base::Party;
use core::any::Any;
use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a finished run leaves: the state that a later change starts from. Secrets in it erase
/// themselves when the last holder drops it.
#[derive(Clone)]
pub struct Kept {
    module: ModuleName,
    me: Party,
    /// All who finished the run, with their ranks.
    ranks: Arc<BTreeMap<Party, u32>>,
    /// One type for each module and group; the module knows which.
    state: Arc<dyn Any + Send + Sync>,
}

impl Kept {
    /// Wraps a module's own state. `ranks` are those of all parties; `None` if `me` is not among
    /// them.
    pub(crate) fn new(
        module: ModuleName,
        me: Party,
        ranks: impl IntoIterator<Item = (Party, u32)>,
        state: impl Any + Send + Sync,
    ) -> Option<Self> {
        let ranks: BTreeMap<_, _> = ranks.into_iter().collect();
        ranks.contains_key(&me).then(|| Self { module, me, ranks: Arc::new(ranks), state: Arc::new(state) })
    }

    /// The same, where ranks are places in a list.
    pub(crate) fn of_order(
        module: ModuleName,
        me: Party,
        order: &[Party],
        state: impl Any + Send + Sync,
    ) -> Option<Self> {
        Self::new(module, me, order.iter().copied().zip(0..), state)
    }

    /// The module's own state, if it is of this type.
    pub(crate) fn state<T: Any>(&self) -> Option<&T> {
        self.state.downcast_ref()
    }

    /// The module that the state belongs to. Another module cannot start from it.
    pub fn module(&self) -> ModuleName {
        self.module
    }

    /// This party's place in the run's own order, which the module defines (GDH: by age). The
    /// others are told it as [`crate::Origin::rank`]. A module may say more in the same number, as
    /// long as ranks sort by place (Dutta–Barua: the size of the run).
    pub fn rank(&self) -> u32 {
        self.rank_of(&self.me).unwrap_or_default()
    }

    /// The same for another party of the run; `None` for one that was not in it.
    pub fn rank_of(&self, member: &Party) -> Option<u32> {
        self.ranks.get(member).copied()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Kept({}, place {})", self.module.as_str(), self.rank())
    }
}
