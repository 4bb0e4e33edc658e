//! What a member says was done, and so must survive.

use super::super::votes;
use super::Actor;
use crate::machine::Told;
use crate::record::Player;
use folkmoot_base::{Digest, MemberId};
use std::collections::BTreeMap;

impl Actor {
    pub(super) fn acknowledged(&mut self, what: &str, member: &MemberId) {
        if let Some(player) = self.names.player(member) {
            self.tell(Told::Acknowledged(format!("{what} player{player}")));
        }
    }

    /// Somebody's admission is over. Who was admitted again in the same turn is told next.
    pub(super) fn expelled(&mut self, member: &MemberId) {
        let former = self.transcript().roster().former(member).map(|former| former.held.request);
        if let Some(request) = former {
            self.acknowledged(&votes::expelled(&request), member);
        }
    }

    /// Votes on a subject changed: ours is among them now, if we just gave it.
    pub(super) fn voted(&mut self, subject: Digest) {
        if self.voting.is_none_or(|voting| voting != subject) {
            return;
        }
        self.voting = None;
        let of = |players: &BTreeMap<Player, Digest>| {
            players.iter().find(|(_, known)| **known == subject).map(|(player, _)| *player)
        };
        if let Some(player) = of(&self.requests) {
            let base = self.transcript().state().head().number;
            self.tell(Told::Acknowledged(votes::name(subject, base, player)));
        }
    }
}
