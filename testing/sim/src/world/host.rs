//! What a player's computer does to it: its clock is off, its disk takes its time, and it may stand
//! still ([`crate::hosts`]).

use super::{Chair, Event, Origin, World};
use crate::machine::{Input, Output};
use crate::record::{Player, What};
use folkmoot_base::{Danger, UnixTime};

impl World {
    /// The process in `player` stands still for so long.
    pub fn stop(&mut self, player: Player, micros: u64) {
        let until = self.now.saturating_add(micros);
        if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
            chair.stopped = until;
        }
    }

    /// When nobody stands still any more.
    pub fn all_go_on(&self) -> u64 {
        self.chairs.iter().map(|chair| chair.stopped).max().unwrap_or_default()
    }

    /// The wall clock of this player.
    pub(super) fn clock_of(&self, player: Player) -> UnixTime {
        match self.chair(player).map_or(Some(0), |chair| chair.skew) {
            Some(skew) => UnixTime(self.clock().0.saturating_add_signed(skew)),
            None => UnixTime(self.now / 1_000_000),
        }
    }

    /// All computers sleep for so many seconds.
    pub fn sleep(&mut self, seconds: u64) {
        self.slept = self.slept.saturating_add(seconds);
        self.living().into_iter().for_each(|player| self.read_clock(player));
    }

    /// The wall clock of this player is set.
    pub fn set_clock(&mut self, player: Player, ahead: Option<i64>) {
        if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
            chair.skew = ahead;
            self.note_line(player, What::Clock(ahead));
            self.read_clock(player);
        }
    }

    fn read_clock(&mut self, player: Player) {
        self.input(player, Input::Clock(self.clock_of(player)), Origin::Honest);
    }

    /// Whether the clock of this player may go wrong: all others are near, and it decides nothing
    /// alone.
    pub fn may_err(&self, player: Player) -> bool {
        let decides = self.machine(player).is_none_or(|machine| machine.is_quorum(&[player].into()));
        !decides && self.chairs.iter().all(Chair::is_near)
    }

    /// All wall clocks are right again, as far as they ever are.
    pub fn put_clocks_right(&mut self) {
        let wrong = self.chairs.iter().zip(0..).filter(|(chair, _)| !chair.is_near());
        for player in wrong.map(|(_, player)| player).collect::<Vec<_>>() {
            self.set_clock(player, Some(0));
        }
    }

    /// When a process that stands still takes this.
    pub(super) fn waits(&self, event: &Event) -> Option<u64> {
        let (Event::Arrive { to: player, .. }
        | Event::Wake { player, .. }
        | Event::Clock { player, .. }
        | Event::Written { player, .. }
        | Event::Speak { player, .. }) = event
        else {
            return None;
        };
        self.chair(*player).map(|chair| chair.stopped).filter(|until| *until > self.now)
    }

    /// An output takes effect at once, or when the disk has all that was written before it.
    pub(super) fn put(&mut self, player: Player, output: Output, origin: Origin) {
        let writes = matches!(output, Output::Persist(_));
        let hasty = !writes && self.danger(player) == Some(Danger::HostSendsFirst);
        let (now, life) = (self.now, self.life(player));
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let at = chair.ready(now, writes);
        if hasty || (at <= now && chair.waiting.is_empty()) {
            return self.effect(player, output, origin);
        }
        let new = chair.waiting.back().is_none_or(|(last, _, _)| *last < at);
        chair.waiting.push_back((at, output, origin));
        if new {
            self.schedule(at, Event::Written { player, life });
        }
    }

    /// The disk has come so far: what waited for it takes effect.
    pub(super) fn written(&mut self, player: Player) {
        let now = self.now;
        let next = |world: &mut Self| {
            let chair = world.chairs.get_mut(usize::from(player))?;
            chair.waiting.pop_front_if(|(at, _, _)| *at <= now)
        };
        while let Some((_, output, origin)) = next(self) {
            self.effect(player, output, origin);
        }
        self.look_at(player);
        self.look_at_reader(player);
    }

    /// Notes what is new in the machine, unless its outputs still wait for the disk.
    pub(super) fn look_at(&mut self, player: Player) {
        if self.chair(player).is_some_and(|chair| chair.waiting.is_empty()) {
            self.look_at_line(player);
            self.look_at_roster(player);
            self.look_at_signing(player);
        }
    }
}
