//! What happens to computers and what runs on them ([`crate::hosts`]).

use super::Director;
use crate::machine::Command;
use crate::record::Player;
use crate::schedule::Slander;
use crate::world::World;

impl Director<'_> {
    pub(super) fn stop(&mut self, who: u8, micros: u64) {
        if let Some(player) = self.living(who) {
            self.world.stop(player, micros);
        }
    }

    /// The process of this very player dies; for good, with its disk, or not.
    pub(super) fn kill(&mut self, player: Player, for_good: bool) {
        self.world.crash(player, 0);
        if let Some(chair) = self.world.chairs.get_mut(usize::from(player)) {
            chair.gone |= for_good;
        }
    }

    pub(super) fn copy(&mut self, who: u8, skew: i8) {
        if let Some(player) = self.living(who) {
            self.world.start_again(player, skew);
        }
    }

    /// The clock of somebody whose clock is right goes wrong, if no other does and this one is no
    /// quorum; or all are right again.
    pub(super) fn set_clock(&mut self, who: u8, ahead: Option<i64>) {
        if ahead == Some(0) {
            return self.world.put_clocks_right();
        }
        if let Some(player) = self.insider(who).filter(|player| self.world.may_err(*player)) {
            self.world.set_clock(player, ahead);
        }
    }

    pub(super) fn slander(&mut self, who: u8, how: Slander) {
        if let Some(player) = self.insider(who) {
            self.world.command(player, Command::Slander(how));
        }
    }

    pub(super) fn deafen(&mut self, who: u8, micros: u64, room: u16) {
        if let Some(player) = self.living(who) {
            self.world.deafen(player, micros, room.into());
        }
    }

    /// Of two processes of one player, ends the earlier, where that is so: the protocol cannot, if
    /// nobody hears both.
    pub(super) fn end_earlier(&mut self, where_so: impl Fn(&World, [Player; 2]) -> bool) {
        for pair in self.world.twice() {
            if where_so(&self.world, pair) {
                self.world.crash(pair[0], 0);
            }
        }
    }
}
