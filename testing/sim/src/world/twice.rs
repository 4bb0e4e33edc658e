//! Two processes with one identity: a copy of a player's folder, started elsewhere while the
//! player's own process runs, or after it.
//!
//! The copy has a chair of its own, behind those of the players. It runs where the next player
//! does: cuts hold for it as for that one.

use super::{Chair, Event, World};
use crate::machine::owner;
use crate::record::{Disk, Player, What};
use std::collections::BTreeSet;

/// Between two looks at who can hear both.
const LOOK_MICROS: u64 = 250_000;

impl World {
    /// Another process of the player at this place starts. The first time its folder is copied, as
    /// it is now; the copy stays, and is used again.
    pub fn start_again(&mut self, place: Player, skew: i8) {
        let Some(chair) = self.chair(place) else { return };
        let Some(role) = chair.role.filter(|_| !self.robbed) else { return };
        let other = self.places(chair.player).into_iter().find(|other| *other != place);
        let (copy, next) = (chair.copy(self.seed, skew), Player::try_from(self.chairs.len()));
        let Some(at) = other.or(next.ok()) else { return };
        if other.is_none() {
            self.chairs.push(copy);
            self.schedule(self.now, Event::Witness);
        }
        if let Some(chair) = self.chairs.get_mut(usize::from(at)) {
            // The program joins when it starts.
            chair.wishes.away &= chair.machine.is_some();
        }
        self.boot(at, role, Disk::Synced);
    }

    /// The places of a player: its own, and that of its copied folder.
    pub fn places(&self, player: Player) -> Vec<Player> {
        let chairs = self.chairs.iter().zip(0..);
        chairs.filter(|(chair, _)| chair.player == player).map(|(_, place)| place).collect()
    }

    /// The place of this player's process: where one runs, or its own.
    pub fn place_of(&self, player: Player) -> Player {
        let player = owner(player);
        let running = self.places(player).into_iter().find(|place| self.living_at(*place));
        running.unwrap_or(player)
    }

    /// Players of whom both processes run: the places, the earlier process first.
    pub fn twice(&self) -> Vec<[Player; 2]> {
        let copied = self.chairs.iter().filter(|chair| chair.copied).map(|chair| self.places(chair.player));
        let pairs = copied.filter_map(|places| <[Player; 2]>::try_from(places).ok());
        let both = pairs.filter(|pair| pair.iter().all(|place| self.living_at(*place)));
        let number = |place: &Player| self.machine(*place).and_then(|machine| machine.started());
        both.map(|[one, other]| if number(&one) < number(&other) { [one, other] } else { [other, one] })
            .collect()
    }

    /// Whether some third process that runs knows the player of these two places, as they know it.
    pub fn has_third(&self, pair: [Player; 2]) -> bool {
        self.living().iter().any(|third| self.knows_both(*third, pair))
    }

    fn knows_both(&self, third: Player, pair: [Player; 2]) -> bool {
        let of = |place: Player| self.process(place).player;
        let knows = |a: Player, b: Player| self.chair(a).is_some_and(|chair| chair.roster.contains(&of(b)));
        let both = |one: &Player| of(*one) != of(third) && knows(*one, third) && knows(third, *one);
        pair.iter().all(both)
    }

    /// Where the network has this place.
    pub fn site(&self, place: Player) -> Player {
        match self.chair(place).filter(|chair| chair.copied) {
            Some(chair) => chair.player.saturating_add(1).checked_rem(self.players).unwrap_or(place),
            None => place,
        }
    }

    /// Whether the processes at two places reach each other.
    pub fn reach(&self, a: Player, b: Player) -> bool {
        let (here, there) = (self.site(a), self.site(b));
        // Also two at one site may be cut off.
        a == b || (self.net.reaches(here, there) && self.net.reaches(there, here))
    }

    /// The number of the next life at this place: no two lives of a player have one.
    pub(super) fn next_life(&self, place: Player) -> u16 {
        let player = self.process(place).player;
        let chairs = self.chairs.iter().filter(|chair| chair.player == player);
        chairs.map(Chair::next_life).max().unwrap_or_default()
    }

    /// Where a process looks for others, if its player's folder was copied: they need not be where
    /// they were.
    pub(super) fn others(&self, place: Player) -> Vec<Player> {
        let player = self.process(place).player;
        if self.places(player).len() < 2 {
            return Vec::new();
        }
        let chairs = self.chairs.iter().zip(0..);
        chairs.filter(|(chair, _)| chair.player != player).map(|(_, place)| place).collect()
    }

    /// Records the numbers of the processes of a player whose folder was copied.
    pub(super) fn note_starts(&mut self, player: Player) {
        let places = self.places(player);
        for place in places.iter().filter(|_| places.len() > 1) {
            let Some(chair) = self.chairs.get_mut(usize::from(*place)) else { return };
            let number = chair.machine.as_ref().and_then(|machine| machine.started());
            if let Some(number) = number.filter(|_| !std::mem::replace(&mut chair.numbered, true)) {
                let process = chair.process();
                self.record.push(self.now, process, What::Started(number));
            }
        }
    }

    /// Records the forks that those who run have seen.
    pub fn note_forks(&mut self) {
        for place in self.living().into_iter().filter(|_| !self.robbed).collect::<Vec<_>>() {
            let process = self.process(place);
            let chair = self.chairs.get_mut(usize::from(place));
            let machine = chair.and_then(|chair| chair.machine.as_mut());
            let news = machine.map(|machine| machine.line()).unwrap_or_default();
            for fork in news.into_iter().filter(|what| matches!(what, What::Fork(..))) {
                self.record.push(self.now, process, fork);
            }
        }
    }

    /// The process stops: the one with the number `by` started later.
    pub(super) fn superseded(&mut self, player: Player, by: u64) {
        let process = self.process(player);
        self.record.push(self.now, process, What::Superseded(by));
        self.crash(player, 0);
    }

    /// Records who can hear two processes of one player from now on, and who no more.
    pub(super) fn look_for_witnesses(&mut self) {
        let living = self.living();
        let mut able = BTreeSet::new();
        for pair in self.twice() {
            let player = self.process(pair[0]).player;
            let witnesses = living.iter().filter(|third| self.can_tell(**third, pair, &living));
            able.extend(witnesses.map(|third| (player, *third)));
        }
        let known = std::mem::take(&mut self.witnesses);
        for ((player, third), process) in known {
            if able.contains(&(player, third)) && self.process(third) == process {
                self.witnesses.insert((player, third), process);
            } else {
                self.record.push(self.now, process, What::Parts(player));
            }
        }
        for (player, third) in able {
            let process = self.process(third);
            if self.witnesses.insert((player, third), process).is_none() {
                self.record.push(self.now, process, What::Meets(player));
            }
        }
        self.schedule(self.now.saturating_add(LOOK_MICROS), Event::Witness);
    }

    /// Whether nothing keeps this third process from hearing both, and from being heard. All three
    /// go on, know each other, and are founders: those can find each other.
    fn can_tell(&self, third: Player, pair: [Player; 2], living: &[Player]) -> bool {
        let finds = |place: &Player| self.chair(*place).is_some_and(|chair| chair.founder);
        let able = |place: &Player| living.contains(place) && finds(place) && self.reach(third, *place);
        self.net.is_fair(self.now) && finds(&third) && self.knows_both(third, pair) && pair.iter().all(able)
    }
}
