//! Confirmations that a carrier says again in another's name. It has no key, and reads what its
//! node orders: whoever has confirmed has said so to all. The right machine passes them over
//! (KEY-23).

use crate::member::Ordered;
use crate::names::Who;
use crate::world::{Action, World};

impl World {
    /// With so many to come.
    #[must_use]
    pub fn with_reflections(mut self, reflections: u8) -> Self {
        self.reflections = reflections;
        self
    }

    /// For each member that is up: the first that shares its side, and has said its confirmation.
    pub(crate) fn reflections(&self, actions: &mut Vec<Action>) {
        if self.reflections == 0 {
            return;
        }
        for (of, player) in self.players() {
            let mut others = self.players().filter(|(who, other)| *who != of && other.side == player.side);
            let by = others.find(|(_, other)| {
                let has_said = other.member.keying.has_key();
                has_said && other.member.flush.view().is_some_and(|(_, members)| members.has(of))
            });
            actions.extend(by.map(|(by, _)| Action::Reflect(by, of)));
        }
    }

    /// What `by` said has a place in the order in the name of `of`.
    pub(crate) fn reflect(&mut self, by: Who, of: Who) {
        let Some(player) = self.player(by) else { return };
        let (side, view) = (player.side, player.member.flush.view());
        if let Some((view, _)) = view {
            self.reflections = self.reflections.saturating_sub(1);
            self.append(self.on_side(side), |_| Ordered::Reflected { by, of, view });
        }
    }
}
