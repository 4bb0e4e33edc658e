//! What a finished run leaves for the next one.

use crate::ModuleName;
use core::any::Any;
use core::fmt;
use std::sync::Arc;

/// What a finished run leaves: the state that a later change starts from. Secrets in it erase themselves when the last
/// holder lets go.
#[derive(Clone)]
pub struct Kept {
    module: ModuleName,
    rank: u32,
    /// One type for each module and group; the module knows which.
    state: Arc<dyn Any + Send + Sync>,
}

impl Kept {
    /// Wraps a module's own state.
    pub(crate) fn new(module: ModuleName, rank: usize, state: impl Any + Send + Sync) -> Self {
        Self { module, rank: u32::try_from(rank).unwrap_or(u32::MAX), state: Arc::new(state) }
    }

    /// The module's own state, if it is of this type.
    pub(crate) fn state<T: Any>(&self) -> Option<&T> {
        self.state.downcast_ref()
    }

    /// Whose state it is. Another module cannot start from it.
    pub fn module(&self) -> ModuleName {
        self.module
    }

    /// This member's place in the run's own order, which the module made up (for GDH: by age). Told to the others
    /// as [`crate::Origin::rank`]. A module may say more in the same number, as long as ranks sort by place
    /// (Dutta–Barua: the size of the run).
    pub fn rank(&self) -> u32 {
        self.rank
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Kept({}, place {})", self.module.as_str(), self.rank)
    }
}
