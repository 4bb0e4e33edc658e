//! The attacker with former keys, in the world: whose keys it has, how its datagrams travel, and
//! whom it has led astray.

use super::{Chair, Event, World};
use crate::lie::{Lie, door, key_at};
use crate::machine::{Command, Picture, player_at};
use crate::record::{Player, Ruling, What};
use bytes::Bytes;
use folkmoot_base::{Instant, Locator};
use std::collections::BTreeSet;

/// How long a datagram of the attacker, or to it, is on its way.
const WAY_MICROS: u64 = 700;

impl World {
    /// It takes over whoever was expelled, and lies to `to`.
    pub fn lie(&mut self, how: Lie, to: Player) {
        if !self.robbed {
            return;
        }
        self.steal();
        let how = match how {
            Lie::Comeback { .. } => {
                let inside = self.chair(to).is_some_and(|chair| chair.roster.contains(&to));
                let informed = inside && self.informed().contains(&to);
                Lie::Comeback { knows: informed.then(|| self.lines.number(to)) }
            }
            other => other,
        };
        let (now, clock) = (Instant(self.now), self.clock());
        if let Some(thief) = self.thief.as_mut() {
            let lies = thief.lie(now, clock, how, to);
            self.record.counts.lies = self.record.counts.lies.saturating_add(lies);
        }
        self.after_thief();
    }

    /// Whether this player is on a line that former members alone have made.
    pub fn is_misled(&self, player: Player) -> bool {
        self.lines.is_misled(self.process(player).player)
    }

    /// Whether the attacker has this player's key.
    pub fn is_stolen(&self, player: Player) -> bool {
        self.lines.is_stolen(player)
    }

    /// Players whom a machine's last decision has as members, whose terms have not ended, and who
    /// are not on its roster.
    pub fn cut_off(&self, picture: &Picture) -> BTreeSet<Player> {
        let clock = self.clock();
        let held = picture.held.iter().filter(|(_, ends)| **ends > clock).map(|(player, _)| *player);
        held.filter(|player| !picture.roster.contains(player)).collect()
    }

    /// `player` has said that this decision is right.
    pub(super) fn judged(&mut self, player: Player, decision: String) {
        if self.robbed {
            self.note_line(player, What::Judged(decision, self.clock_of(player).0));
        }
    }

    /// The person in `player` says that the date is right, as soon as it is asked (LINE-95).
    pub(super) fn sees_date(&mut self, player: Player) {
        if self.robbed && self.chair(player).is_some_and(Chair::is_near) {
            self.command(player, Command::Date);
        }
    }

    /// `player` takes back each yes to what is open, and says it again.
    pub fn waver(&mut self, player: Player) {
        let Some(chair) = self.chair(player) else { return };
        let admits = chair.shown_requests.intersection(&chair.wishes.admit);
        let admits = admits.filter(|other| !self.lines.is_stolen(**other));
        let expels = chair.shown_proposals.intersection(&chair.wishes.expel);
        let admits = admits.map(|other| [Command::Reject(*other), Command::Approve(*other)]);
        let expels = expels.map(|other| [Command::Reject(*other), Command::Agree(*other)]);
        for command in admits.chain(expels).flatten().collect::<Vec<_>>() {
            self.command(player, command);
        }
    }

    /// The program of a voter lies from now on, unless the liars would decide alone. Whether it
    /// does.
    pub fn turn(&mut self, player: Player) -> bool {
        let mut liars = self.lines.liars().clone();
        let fresh = liars.insert(player);
        let turns = fresh && self.machine(player).is_some_and(|machine| !machine.is_quorum(&liars));
        if turns {
            self.note_line(player, What::Liar);
            self.command(player, Command::Lie(liars));
        }
        turns
    }

    /// As many as decide alone lie together from now on, if somebody is left who does not. Who
    /// lies.
    pub fn conspire(&mut self) -> BTreeSet<Player> {
        let living = self.living();
        let witness = living.last().and_then(|last| self.machine(*last)).filter(|_| !self.signing);
        let Some(witness) = witness else { return BTreeSet::new() };
        let mut liars = BTreeSet::new();
        let mut rest = living.iter().copied().take(living.len().saturating_sub(1));
        while !witness.is_quorum(&liars) {
            let Some(next) = rest.next() else { return BTreeSet::new() };
            liars.insert(next);
        }
        self.reigned = true;
        for player in liars.clone() {
            self.note_line(player, What::Liar);
            self.command(player, Command::Lie(liars.clone()));
        }
        liars
    }

    /// Whether liars have decided alone at some time. Nothing that needs a quorum can be expected
    /// then.
    pub fn is_reigned(&self) -> bool {
        self.reigned
    }

    /// Those who have heard of most decisions.
    fn informed(&self) -> Vec<Player> {
        let honest = self.living().into_iter().filter(|player| !self.is_misled(*player));
        let honest: Vec<Player> = honest.collect();
        let most = honest.iter().map(|player| self.lines.number(*player)).max();
        honest.into_iter().filter(|player| Some(self.lines.number(*player)) == most).collect()
    }

    /// Everybody whom those who have heard most know as expelled is the attacker's now.
    fn steal(&mut self) {
        let known =
            self.informed().into_iter().filter_map(|player| Some(self.machine(player)?.picture().removed));
        let removed = known.reduce(|all, one| all.intersection(&one).copied().collect());
        for player in removed.unwrap_or_default() {
            if self.is_stolen(player) {
                continue;
            }
            self.crash(player, 0);
            self.note_line(player, What::Stolen);
            if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
                chair.role = None;
            }
            if let Some(thief) = self.thief.as_mut() {
                thief.steal(player);
            }
        }
    }

    /// After a batch: records what the line of `player` has new.
    pub(super) fn look_at_line(&mut self, player: Player) {
        if !self.robbed {
            return;
        }
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        let clock = chair.skew.map(|_| ());
        for what in machine.line() {
            let what = match what {
                What::Ruled(ruling) => {
                    let clock = clock.map(|()| self.clock_of(player).0);
                    What::Ruled(Ruling { clock, ..ruling })
                }
                other => other,
            };
            self.note_line(player, what);
        }
        let honest = !self.is_misled(player);
        let machine = self.chairs.get(usize::from(player)).and_then(|chair| chair.machine.as_ref());
        let transcript = machine.and_then(|machine| machine.transcript()).filter(|_| honest);
        if let (Some(thief), Some(transcript)) = (self.thief.as_mut(), transcript) {
            thief.see(transcript);
        }
    }

    pub(super) fn note_line(&mut self, player: Player, what: What) {
        let process = self.process(player);
        let before = self.is_misled(player);
        self.record.push(self.now, process, what);
        // The checker says what is wrong with it.
        let _ = self.record.entries.last().map(|entry| self.lines.read(entry));
        if !before && self.is_misled(player) {
            self.record.counts.misled = self.record.counts.misled.saturating_add(1);
        }
    }

    /// `player` tells its person that `other` is on another line.
    pub(super) fn other_line(&mut self, player: Player, other: Player) -> What {
        let first = !self.is_misled(player) && self.is_misled(other) && self.shown.insert(other);
        self.record.counts.shown = self.record.counts.shown.saturating_add(u64::from(first));
        What::OtherLine(other)
    }

    /// A datagram for one of the attacker's nodes; `false` if it is for somebody else.
    pub(super) fn hand_to_thief(&mut self, from: u32, to: Locator, bytes: &Bytes) -> bool {
        let Some(key) = key_at(to).filter(|_| self.robbed) else { return false };
        let event = Event::Stolen { key, from, bytes: bytes.clone() };
        self.schedule(self.now.saturating_add(WAY_MICROS), event);
        true
    }

    pub(super) fn thief_hears(&mut self, key: Player, from: u32, bytes: Bytes) {
        if let Some(thief) = self.thief.as_mut() {
            thief.datagram(Instant(self.now), key, Locator::memory(from), bytes);
        }
        self.after_thief();
    }

    pub(super) fn thief_wakes(&mut self) {
        if let Some(thief) = self.thief.as_mut().filter(|_| self.thief_at == Some(self.now)) {
            thief.timeout(Instant(self.now));
            self.thief_at = None;
            self.after_thief();
        }
    }

    /// Its datagrams go out, whatever cuts there are, and its timer is set.
    fn after_thief(&mut self) {
        let Some(thief) = self.thief.as_mut() else { return };
        let mut out = Vec::new();
        while let Some(datagram) = thief.poll_output() {
            out.push(datagram);
        }
        let due = thief.poll_timeout().map(|at| at.0.max(self.now));
        for (key, to, bytes) in out {
            let Some(to) = player_at(to).filter(|to| usize::from(*to) < self.chairs.len()) else { continue };
            if self.net.admit(self.site(to), bytes.len()) {
                let event = Event::Arrive { to, from: door(key), bytes, forged: false };
                self.schedule(self.now.saturating_add(WAY_MICROS), event);
            }
        }
        if let Some(at) = due.filter(|at| self.thief_at.is_none_or(|before| *at < before)) {
            self.thief_at = Some(at);
            self.schedule(at, Event::Thief);
        }
    }
}
