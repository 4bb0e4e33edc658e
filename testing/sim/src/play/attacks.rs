//! What an attacker on the wire does, and a voter whose program lies.

use super::Director;
use crate::record::Player;
use crate::schedule::Forgery;
use crate::world::Forged;

impl Director<'_> {
    /// The program of a voter lies from now on. At the end it says its own again.
    pub(super) fn turn(&mut self, who: u8) {
        if let Some(player) = self.insider(who).filter(|player| self.world.turn(*player)) {
            self.unmute.push((u64::MAX, player));
        }
    }

    /// As many as decide alone lie from now on.
    pub(super) fn conspire(&mut self) {
        self.unmute.extend(self.world.conspire().into_iter().map(|player| (u64::MAX, player)));
    }

    pub(super) fn forge(&mut self, how: Forgery, count: u8) {
        if how == Forgery::Race {
            return self.world.attacker.race(u16::from(count) * 4);
        }
        for _ in 0..count {
            let lives: Vec<u16> = self.world.chairs.iter().map(|chair| chair.process().life).collect();
            let life_of = |player: Player| lives.get(usize::from(player)).copied().unwrap_or(0);
            let forged = self.world.attacker.make(how, self.schedule.players, &life_of);
            let delay = self.rng.range(0, 20_000);
            match forged {
                Some(Forged { from, to, bytes, late: true }) => self.world.repeat(from, to, bytes, delay),
                Some(Forged { from, to, bytes, .. }) => self.world.forge(from, to, bytes, delay),
                None => {}
            }
        }
    }

    pub(super) fn flood(&mut self, who: u8, count: u16) {
        let Some(to) = self.living(who) else { return };
        for _ in 0..count {
            let bytes = self.world.attacker.noise();
            let from = folkmoot_base::Locator::memory(u32::try_from(self.rng.range(1, 1_000)).unwrap_or(1));
            let delay = self.rng.range(0, 50_000);
            self.world.forge(from, to, bytes, delay);
        }
    }
}
