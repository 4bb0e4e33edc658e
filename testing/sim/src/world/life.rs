//! How lives begin and end.

use super::{Event, Origin, World};
use crate::machine::{Entrance, Role};
use crate::record::{Disk, Player, What};

impl World {
    /// A life begins. Nothing happens if one is going on.
    pub fn boot(&mut self, player: Player, role: Role, disk: Disk) {
        let clock = self.clock_of(player);
        let danger = self.danger(player);
        let (life, others) = (self.next_life(player), self.others(player));
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.machine.is_some() {
            return;
        }
        chair.begin(self.now, role, life);
        let process = chair.process();
        let contents = chair.disk.contents();
        let of = chair.player;
        let entrance = Entrance {
            player: of,
            place: player,
            others: &others,
            life,
            role,
            disk: contents,
            clock,
            danger,
        };
        let machine = self.cast.enter(&entrance, &mut chair.entropy);
        if chair.copied {
            self.record.push(self.now, process, What::Boot(Disk::Copied));
        }
        if !chair.copied || disk == Disk::Old {
            self.record.push(self.now, process, What::Boot(disk));
        }
        let _ = self.record.entries.last().map(|entry| self.lines.read(entry));
        match machine {
            Ok(machine) => {
                chair.machine = Some(machine);
                self.second_begins(player, role, disk);
                self.drain(player, Origin::Honest);
                self.schedule(self.now, Event::Clock { player, life: process.life });
                self.look_for_forgotten(player);
                self.note_starts(of);
            }
            Err(error) => {
                self.record.push(self.now, process, What::Note("disk", error));
            }
        }
    }

    /// A life begins on what the disk held when `hundredths` of its writes were still to come.
    pub fn boot_old(&mut self, player: Player, role: Role, hundredths: u8) {
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.machine.is_some() {
            return;
        }
        let writes = chair.disk.writes();
        let keep = writes.saturating_sub(writes.saturating_mul(usize::from(hundredths)).div_ceil(100));
        chair.disk.rewind(keep);
        chair.lost = true;
        chair.acknowledged.retain(|(after, _)| *after <= keep);
        self.boot(player, role, Disk::Old);
    }

    /// The life ends now.
    pub fn crash(&mut self, player: Player, lost: u32) {
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.machine.take().is_none() {
            return;
        }
        let process = chair.process();
        chair.end();
        self.record.push(self.now, process, What::Crash(lost));
        self.second_ends(player, lost);
    }
}
