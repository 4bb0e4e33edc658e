//! What a search has seen. A search that sees less than it used to must not pass for exhaustive.

use crate::keying::Standing;
use crate::member::{Effect, Ordered};
use crate::run::Stage;
use crate::world::{Action, World};
use std::collections::BTreeSet;

/// Everything that a search of the whole machine is to see.
pub const NAMES: [&str; 52] = [
    "PT",
    "FT",
    "FO",
    "NM",
    "KL",
    "KC",
    "PT holds",
    "FT holds",
    "FO holds",
    "NM holds",
    "KL holds",
    "KC holds",
    "signal in PT",
    "signal in FT",
    "signal in FO",
    "signal in NM",
    "signal in KL",
    "signal in KC",
    "signal while PT holds",
    "signal while FT holds",
    "signal while FO holds",
    "signal while NM holds",
    "signal while KL holds",
    "signal while KC holds",
    "join in a run",
    "leave in a run",
    "expulsion in a run",
    "crash in a run",
    "cut in a run",
    "merge in a run",
    "CM",
    "CM keyless",
    "S",
    "S asked",
    "spent",
    "spent with the key",
    "notice on a notice",
    "FLUSH_OK again",
    "FLUSH_OK for new heads",
    "held flush answered by the last confirmation",
    "secure alone",
    "secure two",
    "secure three",
    "signal in S",
    "early FIFO",
    "early reliable",
    "early held for its key",
    "early held, its sender removed",
    "early from recovery",
    "early brought by what is behind it",
    "early named and had",
    "early named and not to be had",
];

/// What was seen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks(u64);

impl Marks {
    fn see(&mut self, name: &str) {
        if let Some(place) = NAMES.iter().position(|known| *known == name) {
            self.0 |= 1 << place;
        }
    }

    fn see_at(&mut self, place: usize) {
        self.0 |= 1 << place;
    }

    /// By name.
    pub(crate) fn names(self) -> BTreeSet<&'static str> {
        NAMES
            .iter()
            .enumerate()
            .filter(|(place, _)| self.0 & (1 << place) != 0)
            .map(|(_, name)| *name)
            .collect()
    }

    /// What an action and its effects show.
    pub(crate) fn effects(&mut self, before: &World, action: Action, told: &[Effect]) {
        if action.is_change() {
            return self.change(before, action);
        }
        let Action::Read(who) = action else { return };
        let Some(player) = before.player(who) else { return };
        let was = player.member.keying.standing();
        if let Some(name) = before.early_read(who) {
            self.see(name);
        }
        if matches!(player.queue.first(), Some(Ordered::Notice { .. })) && player.member.flush.is_changing() {
            self.see("notice on a notice");
        }
        for effect in told {
            match (effect, was) {
                (Effect::Signalled, Standing::Running(stage, held)) => {
                    self.see_at(place(stage) + if held { 18 } else { 12 });
                }
                (Effect::Signalled, Standing::Secure(_)) => self.see("signal in S"),
                (Effect::Secure { .. }, Standing::Running(_, true)) => {
                    self.see("held flush answered by the last confirmation");
                }
                (Effect::FlushOk { .. }, _) => match player.queue.first() {
                    Some(Ordered::FlushOk { .. }) => self.see("FLUSH_OK again"),
                    Some(Ordered::Strike { .. }) => self.see("FLUSH_OK for new heads"),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn change(&mut self, before: &World, action: Action) {
        let running = |standing| matches!(standing, Standing::Running(..));
        if before.players().any(|(_, player)| running(player.member.keying.standing())) {
            self.see(match action {
                Action::Join(..) => "join in a run",
                Action::Leave(_) => "leave in a run",
                Action::Expel(..) => "expulsion in a run",
                Action::Crash(..) => "crash in a run",
                Action::Cut(..) => "cut in a run",
                _ => "merge in a run",
            });
        }
    }
}

/// What a state shows.
pub(crate) fn marks(world: &World, marks: &mut Marks) {
    world.early_marks().for_each(|name| marks.see(name));
    for (_, player) in world.players() {
        match player.member.keying.standing() {
            Standing::Running(stage, held) => marks.see_at(place(stage) + if held { 6 } else { 0 }),
            Standing::Cascading => marks.see_at(30),
            Standing::Keyless => marks.see_at(31),
            Standing::Secure(asked) => {
                marks.see_at(32 + usize::from(asked));
                let members = player.member.flush.view().map_or(0, |(_, members)| members.len());
                marks.see_at(39 + usize::from(members.clamp(1, 3)));
            }
            Standing::Spent(key) => marks.see_at(34 + usize::from(key)),
        }
    }
}

fn place(stage: Stage) -> usize {
    match stage {
        Stage::PartialToken => 0,
        Stage::FinalToken => 1,
        Stage::FactOuts => 2,
        Stage::NewMember => 3,
        Stage::KeyList => 4,
        Stage::Confirming => 5,
    }
}
