//! Changes of membership, at every place of the order.
//!
//! A cut or a crash puts the ring's signal somewhere into the rest of the order, and never before
//! anything that somebody has read. After the signal comes what the survivors recover: their own
//! messages, and those messages of the lost that somebody has delivered as safe. No notice comes
//! between the signal and the merge of the tables. One notice follows for all.

use crate::member::Ordered;
use crate::names::{Set, Who, everybody};
use crate::rules::{Rules, Scope};
use crate::world::{Action, Presence, World};

impl World {
    /// The changes that are possible now.
    pub(crate) fn possible_changes(&self, scope: &Scope, actions: &mut Vec<Action>) {
        let (sides, main) = (self.sides(), self.main_side());
        for who in everybody() {
            match self.presences.get(who) {
                Some(Presence::Absent) if scope.joins => {
                    actions.extend(main.map(|side| Action::Join(who, side)))
                }
                Some(Presence::In(player)) if self.on_side(player.side).len() > 1 => {
                    let others = self.on_side(player.side).without(who);
                    self.departures(scope, who, others, actions);
                }
                _ => {}
            }
        }
        if scope.cuts {
            let pairs = sides.iter().flat_map(|one| sides.iter().map(move |two| (one, two)));
            actions.extend(pairs.filter(|(one, two)| one < two).map(|(one, two)| Action::Merge(one, two)));
        }
    }

    fn departures(&self, scope: &Scope, who: Who, others: Set, actions: &mut Vec<Action>) {
        if scope.leaves {
            actions.push(Action::Leave(who));
        }
        if scope.expulsions {
            actions.push(Action::Expel(who, false));
            // While a notice is due anyway, the entry's own is never at once.
            if self.player(who).is_some_and(|player| player.owed.is_none()) {
                actions.push(Action::Expel(who, true));
            }
        }
        let rest = self.room_after(others);
        if scope.crashes {
            actions.extend((0..=rest).map(|after| Action::Crash(who, after)));
        }
        // Who of two is cut off is the same.
        if scope.cuts && (others.len() > 1 || others.iter().all(|other| who < other)) {
            let own = self.room_after(Set::of(who));
            let places = (0..=rest).flat_map(|after| (0..=own).map(move |own| (after, own)));
            actions.extend(places.map(|(after, own)| Action::Cut(who, after, own)));
        }
    }

    /// How many entries may come after a signal among `members`: none that one of them has read,
    /// none of an earlier configuration.
    fn room_after(&self, members: Set) -> u8 {
        let players = || members.iter().filter_map(|who| self.player(who));
        let room =
            |queue: &[Ordered]| queue.iter().rev().take_while(|entry| **entry != Ordered::Fence).count();
        let readers = players().filter(|player| !player.member.flush.is_untouched());
        let least = readers.map(|player| room(&player.queue)).min();
        let most = || players().map(|player| room(&player.queue)).max();
        u8::try_from(least.or_else(most).unwrap_or(0)).unwrap_or(u8::MAX)
    }

    pub(crate) fn change(&mut self, change: Action, rules: &Rules) {
        match change {
            Action::Join(who, side) => self.join(who, side),
            Action::Leave(who) => self.depart(who, Presence::Absent, false),
            Action::Expel(who, later) => {
                if let Some(side) = self.player(who).map(|player| player.side) {
                    self.append(self.on_side(side), |_| Ordered::Strike { who });
                    self.depart(who, Presence::Expelled, later);
                }
            }
            Action::Crash(who, after) => self.crash(who, after, rules),
            Action::Cut(who, after, own) => self.cut(who, after, own, rules),
            Action::Merge(one, two) => self.merge(one, two, rules),
            _ => {}
        }
    }

    fn join(&mut self, who: Who, side: Who) {
        let Some(player) = self.player(side) else { return };
        let (off, owed) = (roster(player), player.owed);
        // The newcomer has nothing behind it that could be removed.
        self.enter(who, off, side, owed.map(|_| Set::NONE));
        self.noticed(side, Set::NONE, false);
    }

    /// Somebody goes, at a place of the order.
    fn depart(&mut self, who: Who, to: Presence, later: bool) {
        let Some(side) = self.player(who).map(|player| player.side) else { return };
        self.no_more(who, to == Presence::Absent);
        if let Some(presence) = self.presences.get_mut(who) {
            *presence = to;
        }
        let side = self.settle_side(side);
        self.noticed(side, Set::of(who), later);
    }

    /// The notice of an ordered change, unless one is due that will say this too.
    fn noticed(&mut self, side: Who, removed: Set, later: bool) {
        let side = self.settle_side(side);
        let mut due = later;
        for who in self.on_side(side).iter() {
            if let Some(player) = self.player_mut(who) {
                due |= player.owed.is_some();
                player.owed = Some(player.owed.unwrap_or_default().or(removed));
            }
        }
        if !due {
            self.announce(side);
        }
    }

    /// A side is called by its lowest member.
    fn settle_side(&mut self, side: Who) -> Who {
        let members = self.on_side(side);
        let name = members.iter().next().unwrap_or(side);
        self.rename(members, name);
        name
    }

    fn rename(&mut self, members: Set, name: Who) {
        for who in members.iter() {
            if let Some(player) = self.player_mut(who) {
                player.side = name;
            }
        }
    }

    fn crash(&mut self, who: Who, after: u8, rules: &Rules) {
        let Some(side) = self.player(who).map(|player| player.side) else { return };
        let others = self.on_side(side).without(who);
        if let Some(presence) = self.presences.get_mut(who) {
            *presence = Presence::Absent;
        }
        self.no_more(who, false);
        self.split(others, Set::of(who), after, rules);
    }

    fn cut(&mut self, who: Who, after: u8, own: u8, rules: &Rules) {
        let Some(side) = self.player(who).map(|player| player.side) else { return };
        let (others, alone) = (self.on_side(side).without(who), Set::of(who));
        // What one side delivers as safe before its signal, the other delivers too.
        for (from, to, after) in [(others, alone, after), (alone, others, own)] {
            for entry in self.safe_before(from, after) {
                self.keep(to, entry);
            }
        }
        self.split(others, alone, after, rules);
        self.split(alone, others, own, rules);
    }

    fn safe_before(&self, members: Set, after: u8) -> Vec<Ordered> {
        let queues = members.iter().filter_map(|who| self.player(who).map(|player| &player.queue));
        let before =
            queues.flat_map(|queue| queue.iter().take(queue.len().saturating_sub(usize::from(after))));
        before
            .filter(|entry| matches!(entry, Ordered::Step { safe: true, kept: false, .. }))
            .copied()
            .collect()
    }

    /// These go on without the lost: the signal before the last `after` entries, and no more of the
    /// lost than must be.
    fn split(&mut self, members: Set, lost: Set, after: u8, rules: &Rules) {
        self.rename(members, members.iter().next().unwrap_or(0));
        for who in members.iter() {
            let Some(player) = self.player_mut(who) else { continue };
            let place = player.queue.len().saturating_sub(usize::from(after));
            let tail = player.queue.split_off(place);
            player.queue.push(Ordered::Signal { lost });
            let mut removed = player.owed.unwrap_or_default().or(lost);
            for entry in tail {
                match entry {
                    Ordered::Notice { removed: gone, .. } => removed = removed.or(gone),
                    Ordered::FlushOk { from, .. } | Ordered::Step { from, kept: false, .. }
                        if lost.has(from) => {}
                    other => player.queue.push(other),
                }
            }
            player.owed = Some(removed);
        }
        self.recover(members, rules);
        self.append(members, |_| Ordered::Fence);
    }

    /// Two sides meet: entries that one of them lacks are ordered there, then one notice is due for
    /// both.
    fn merge(&mut self, one: Who, two: Who, rules: &Rules) {
        let members = self.on_side(one).or(self.on_side(two));
        let known: Set =
            members.iter().filter_map(|who| self.player(who)).fold(Set::NONE, |all, p| all.or(roster(p)));
        for side in [one, two] {
            self.recover(self.on_side(side), rules);
        }
        self.rename(members, one);
        for who in members.iter() {
            let Some(player) = self.player_mut(who) else { continue };
            player.queue.push(Ordered::Fence);
            for struck in known.minus(roster(player)).iter() {
                player.queue.push(Ordered::Strike { who: struck });
            }
            player.owed = Some(player.owed.unwrap_or_default());
        }
    }
}

/// Whom a member's roster will have lost when it has read everything.
fn roster(player: &crate::world::Player) -> Set {
    player.queue.iter().fold(player.member.off(), |off, entry| match entry {
        Ordered::Strike { who } => off.with(*who),
        _ => off,
    })
}
