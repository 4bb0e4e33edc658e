//! Changes of the membership: partitions and merges, ordered leaves, crashes, newcomers, returning
//! members.

use super::super::number;
use super::{Item, Room, Signal, World, alone, fresh};
use bytes::Bytes;
use folkmoot_base::Service;
use std::collections::BTreeSet;

impl World {
    pub(super) fn change(&mut self) {
        self.changes -= 1;
        let alive: Vec<_> = (0..self.nodes.len()).filter(|number| self.nodes[*number].alive).collect();
        // An expelled member does not come back.
        let gone = |number: &usize| !self.nodes[*number].alive && !self.expelled.contains(number);
        let dead: Vec<_> = (0..self.nodes.len()).filter(gone).collect();
        match self.draw.below(8) {
            0 if alive.len() > 1 => {
                let gone = alive[self.draw.below(alive.len())];
                self.leave(gone);
            }
            1 if alive.len() > 1 => {
                let gone = alive[self.draw.below(alive.len())];
                self.die(gone);
                self.cut();
            }
            6 | 7 if alive.len() > 1 => {
                // Those that have already answered for the next view are the interesting ones.
                let given: Vec<_> = alive.iter().copied().filter(|one| self.nodes[*one].answered).collect();
                let from = if given.is_empty() { &alive } else { &given };
                let gone = from[self.draw.below(from.len())];
                self.expel(gone);
            }
            2 if !dead.is_empty() => {
                let back = dead[self.draw.below(dead.len())];
                let stored = self.nodes[back].stored.clone();
                self.nodes[back] = fresh(back, stored, self.danger);
                self.arrive(back);
            }
            3 | 4 if self.nodes.len() < 7 => {
                let new = self.nodes.len();
                self.nodes.push(fresh(new, None, self.danger));
                self.arrive(new);
            }
            _ => {
                let parts = self.draw.between(1, 3);
                let mut target = vec![BTreeSet::new(); parts];
                for number in alive {
                    target[self.draw.below(parts)].insert(number);
                }
                target.retain(|part| !part.is_empty());
                self.target = target;
                self.cut();
            }
        }
    }

    fn arrive(&mut self, number: usize) {
        self.rooms.push(alone(number));
        let part = self.draw.below(self.target.len());
        self.target[part].insert(number);
        self.cut();
    }

    /// Takes a member out of everything; its rooms and parts go on without it.
    fn die(&mut self, gone: usize) {
        self.nodes[gone].alive = false;
        self.left.retain(|(number, _)| *number != gone);
        self.target.iter_mut().for_each(|part| {
            part.remove(&gone);
        });
        self.target.retain(|part| !part.is_empty());
    }

    /// An ordered leave: every member reads the same up to it, then the signal.
    fn leave(&mut self, gone: usize) {
        self.die(gone);
        let at = self.room_of(gone);
        let room = &mut self.rooms[at];
        room.members.remove(&gone);
        if room.members.is_empty() {
            self.rooms.remove(at);
        } else if room.view.is_some() {
            room.changing = true;
            if room.signal.is_none() {
                room.stable = room.log.len();
                room.signal = Some(room.log.len());
            }
        }
        self.cut();
    }

    /// An entry removes a member from the roster. The notice comes with it, or later, or the entry
    /// comes just before the next view.
    fn expel(&mut self, gone: usize) {
        self.expelled.insert(gone);
        let at = self.room_of(gone);
        let entry = self.entry(gone, Service::Agreed, Bytes::new(), Some(gone));
        let room = &mut self.rooms[at];
        let alone = room.members.len() == 1;
        if alone || room.view.is_none() || self.draw.below(3) == 0 {
            room.log.push(entry);
            return self.leave(gone);
        }
        let ghost = room.changing && self.nodes[gone].answered;
        room.log.push(entry);
        room.members.remove(&gone);
        let with = room.members.first().copied();
        self.die(gone);
        let room = &mut self.rooms[at];
        match with.filter(|_| ghost) {
            Some(with) => self.ghosts.push((gone, with)),
            None => room.owed = true,
        }
    }

    /// The notice that a member is off the roster.
    pub(super) fn notice(&mut self, at: usize) {
        let room = &mut self.rooms[at];
        room.owed = false;
        room.changing = true;
        if room.signal.is_none() {
            room.stable = room.log.len();
            room.signal = Some(room.log.len());
        }
    }

    /// Splits rooms along the target; each piece has its own rest of the log and its own signal.
    fn cut(&mut self) {
        let target = self.target.clone();
        for room in std::mem::take(&mut self.rooms) {
            for part in &target {
                let members: BTreeSet<_> = room.members.intersection(part).copied().collect();
                if !members.is_empty() {
                    let whole = members == room.members;
                    let piece = self.piece(&room, members, whole, part.len());
                    self.rooms.push(piece);
                }
            }
        }
    }

    fn piece(&mut self, room: &Room, members: BTreeSet<usize>, whole: bool, size: usize) -> Room {
        let changing = room.changing || !whole || members.len() != size;
        let (mut log, mut stable, mut signal) = (room.log.clone(), room.stable, room.signal);
        let read = members.iter().map(|number| self.nodes[*number].read).max().unwrap();
        if !whole {
            let low = stable.max(read).max(signal.unwrap_or(0));
            let keep = self.draw.between(low, log.len());
            let mine = |entry: &Item| members.contains(&number(&entry.sender));
            let tail: Vec<_> = log.split_off(keep).into_iter().filter(mine).collect();
            let safe = log.iter().skip(stable).position(|entry| entry.service == Service::Safe);
            let high = safe.map_or(log.len(), |at| at + stable);
            if signal.is_none() {
                signal = Some(self.draw.between(stable.max(read), high));
            }
            log.extend(tail);
        } else if changing && signal.is_none() && self.mode == Signal::Always && room.view.is_some() {
            stable = log.len();
            signal = Some(log.len());
        }
        stable = stable.max(signal.unwrap_or(0));
        Room { view: room.view, members, log, stable, signal, changing, owed: room.owed }
    }
}
