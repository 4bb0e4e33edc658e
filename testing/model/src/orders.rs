//! Which orders of steps a walk leaves out. When no change is left, a step that no other member can
//! notice is taken first, and nothing else is tried in that state.
//! docs/decisions/0012-own-search.md says why that loses nothing.

use crate::member::Effect;
use crate::rules::Rules;
use crate::world::{Action, World};

/// Which orders a walk goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Every one.
    All,
    /// One of those that differ only in when a member takes steps of its own.
    Enough,
}

impl World {
    /// The step of `actions`, which are all that are possible, that may be taken before all others.
    pub(crate) fn own_step(&self, actions: &[Action], rules: &Rules) -> Option<Action> {
        // A change puts the ring's signal behind what was read: before it, what has been read can
        // be told.
        let sends = |action: &Action| matches!(action, Action::Send(..) | Action::Reflect(..));
        if self.changes > 0 || rules.early_requests || actions.iter().any(sends) {
            return None;
        }
        let alone = |who| actions.iter().filter(|action| actor(**action) == Some(who)).count() == 1;
        let own = |action: &Action| {
            actor(*action).is_some_and(alone) && !self.act_alone(*action, rules).told.iter().any(is_told)
        };
        actions.iter().copied().find(own)
    }
}

/// Whose step it is, if it is a member's.
fn actor(action: Action) -> Option<u8> {
    match action {
        Action::Read(who) | Action::Answer(who) | Action::Arrive(who) => Some(who),
        _ => None,
    }
}

/// Whether others can tell, or a promise is judged by when it was: who has gone on is compared with
/// who installed.
fn is_told(effect: &Effect) -> bool {
    matches!(effect, Effect::FlushOk { .. } | Effect::Step { .. } | Effect::Installed { .. })
}
