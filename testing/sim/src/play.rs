//! The director gives each step of a schedule to whoever fits at that moment. Then it stops the
//! faults and lets the world come to rest.

mod attacks;
mod hosts;
mod speech;

use crate::machine::{Cast, Command, Role, electorate, is_second, motion};
use crate::net::{CALM, Weather};
use crate::peace;
use crate::record::{Disk, Player, Record};
use crate::rng::Rng;
use crate::schedule::{HOOK_PATIENCE, Schedule, Step, When};
use crate::standings::{at_rest, standings};
use crate::world::{Chair, Options, World};
use folkmoot_base::Service;
use folkmoot_identity::Scheme;

/// Virtual time in which everybody must meet once the faults have stopped, in microseconds.
pub const SETTLE_MICROS: u64 = 120_000_000;
/// Between two looks at whether the world has come to rest.
const LOOK_MICROS: u64 = 100_000;
/// How long it must stay at rest.
const REST_MICROS: u64 = 300_000;
/// Virtual time in which everybody must find peace while cuts last, in microseconds.
const ENDURE_MICROS: u64 = 60_000_000;
/// How long peace must hold.
const PEACE_MICROS: u64 = 5_000_000;
/// Microseconds until voters who sign together have done what is due: a request may wait 60 s, a
/// sharing 30 s for those who are away, and 120 s for one who is gone before another is made.
const SIGNING_MICROS: u64 = 360_000_000;
/// How long nothing must be due.
const SIGNING_REST_MICROS: u64 = 6_000_000;
/// Inputs after which a run is ended: no schedule needs as many.
pub const INPUTS_MAX: u64 = 6_000_000;

/// Plays `schedule` with `cast`.
pub fn play(schedule: &Schedule, cast: Box<dyn Cast>, options: Options) -> Record {
    let mut director = Director::new(schedule, cast, options);
    for (when, step) in &schedule.steps {
        if director.world.record.counts.inputs > INPUTS_MAX {
            break;
        }
        director.wait(*when);
        director.step(step);
    }
    director.stop_faults();
    director.settle();
    director.finish()
}

struct Director<'a> {
    schedule: &'a Schedule,
    world: World,
    rng: Rng,
    unmute: Vec<(u64, Player)>,
}

impl<'a> Director<'a> {
    fn new(schedule: &'a Schedule, cast: Box<dyn Cast>, options: Options) -> Self {
        let mut world = World::new(schedule, cast, options);
        for player in 0..schedule.founders {
            world.boot(player, Role::Founder, Disk::Fresh);
        }
        if let Some((player, how)) = schedule.crooked {
            world.command(player, Command::Crooked(Some(how)));
        }
        Self { schedule, world, rng: Rng::new(schedule.seed, "player", 0), unmute: Vec::new() }
    }

    fn wait(&mut self, when: When) {
        let now = self.world.now;
        match when {
            When::After(micros) => self.play_until(now.saturating_add(micros)),
            When::On(hook, extra) => {
                self.world.play_until_hook(hook, now.saturating_add(HOOK_PATIENCE));
                let now = self.world.now;
                self.play_until(now.saturating_add(extra));
            }
        }
    }

    /// Plays on, and ends mutes whose time has come.
    fn play_until(&mut self, until: u64) {
        while let Some(index) = self.unmute.iter().position(|(at, _)| *at <= until) {
            let (at, player) = self.unmute.swap_remove(index);
            self.world.play_until(at.max(self.world.now));
            self.world.command(player, Command::Mute(None));
        }
        self.world.play_until(until);
    }

    fn step(&mut self, step: &Step) {
        self.world.record.counts.steps = self.world.record.counts.steps.saturating_add(1);
        match *step {
            Step::Send { who, service, bytes, count } => self.send(who, service, bytes, count),
            Step::Chorus(service) => {
                for place in self.world.living() {
                    self.world.send(place, service, 48);
                    self.world.second_sends(place, service);
                }
            }
            Step::Medley { .. } | Step::Second { .. } | Step::Withhold { .. } | Step::Release => {
                self.speech(step);
            }
            Step::Leave(who) => self.leave(who),
            Step::Join(who) => self.join(who),
            Step::Crash { who, after } => self.crash(who, after),
            Step::Kill(who) => self.kill(who, false),
            Step::Die(who) => self.kill(who, true),
            Step::Stop { who, micros } => self.stop(who, micros),
            Step::Copy { who, skew } => self.copy(who, skew),
            Step::Slander { who, how } => self.slander(who, how),
            Step::Deaf { who, micros, room } => self.deafen(who, micros, room),
            Step::Restart(who) => self.restart(who, None),
            Step::RestartOld { who, back } => self.restart(who, Some(back)),
            Step::Split(mask) => {
                let sides = (0..self.schedule.players).map(|player| (mask >> player) & 1).collect();
                self.world.net.split(sides);
            }
            Step::SplitThree(mask) => {
                let sides = (0..self.schedule.players).map(|player| ((mask >> (2 * player)) & 3) as u8);
                self.world.net.split(sides.collect());
            }
            Step::Heal => {
                self.world.net.heal();
                self.world.net.reroute();
            }
            Step::Cut(from, to) => {
                let players = self.schedule.players;
                self.world.net.cut(from % players, to % players);
            }
            Step::Part(a, b) => {
                let players = self.schedule.players;
                if a % players != b % players {
                    self.world.net.part(a % players, b % players);
                }
            }
            Step::Endure => self.endure(),
            Step::Burst(weather, micros) => self.burst(weather, micros),
            Step::Admit { who, contact, yes } => self.admit(who, contact, yes),
            Step::Expel { by, who, yes } => self.expel(by, who, yes),
            Step::Change { by, what } => self.change(by, what),
            Step::Electorate { by, voters } => self.electorate(by, voters),
            Step::Again(who) => self.ask_again(who),
            Step::Mute { who, step, micros } => {
                if let Some(player) = self.living(who) {
                    self.world.command(player, Command::Mute(Some(step)));
                    self.unmute.push((self.world.now.saturating_add(micros), player));
                }
            }
            Step::Forge { how, count } => self.forge(how, count),
            Step::Flood { who, count } => self.flood(who, count),
            Step::Lie { how, to } => self.world.lie(how, to % self.schedule.players),
            Step::Turn(who) => self.turn(who),
            Step::Conspire => self.conspire(),
            Step::Waver(who) => self.waver(who),
            Step::Sleep(seconds) => self.world.sleep(seconds),
            Step::Clock { who, ahead } => self.set_clock(who, ahead),
            Step::Rest(micros) => self.play_until(self.world.now.saturating_add(micros)),
        }
    }

    fn waver(&mut self, who: u8) {
        if let Some(player) = self.insider(who) {
            self.world.waver(player);
        }
    }

    fn living(&self, who: u8) -> Option<Player> {
        pick(&self.world.living(), who)
    }

    /// A living player that the founders or the votes let in, as far as it knows.
    fn insider(&self, who: u8) -> Option<Player> {
        let world = &self.world;
        let insiders: Vec<Player> =
            world.living().into_iter().filter(|player| self.is_rostered(*player)).collect();
        pick(&insiders, who)
    }

    fn is_rostered(&self, player: Player) -> bool {
        self.world.chair(player).is_some_and(|chair| chair.roster.contains(&chair.player))
    }

    fn send(&mut self, who: u8, service: Service, bytes: u32, count: u8) {
        if let Some(player) = self.insider(who) {
            for _ in 0..count {
                self.world.send(player, service, usize::try_from(bytes).unwrap_or(64));
            }
        }
    }

    fn leave(&mut self, who: u8) {
        if let Some(player) = self.insider(who) {
            self.away(player, true);
            self.world.command(player, Command::Leave);
        }
    }

    fn join(&mut self, who: u8) {
        let away: Vec<Player> =
            self.world.living().into_iter().filter(|player| self.is_away(*player)).collect();
        if let Some(player) = pick(&away, who) {
            self.away(player, false);
            self.world.command(player, Command::Join);
        }
    }

    fn away(&mut self, player: Player, away: bool) {
        if let Some(chair) = self.world.chairs.get_mut(usize::from(player)) {
            chair.wishes.away = away;
        }
    }

    fn is_away(&self, player: Player) -> bool {
        self.world.chair(player).is_some_and(|chair| chair.wishes.away)
    }

    fn crash(&mut self, who: u8, after: Option<u8>) {
        let Some(player) = self.living(who) else { return };
        match (after, self.world.chairs.get_mut(usize::from(player))) {
            (Some(outputs), Some(chair)) => chair.arm(outputs),
            _ => self.world.crash(player, 0),
        }
    }

    /// Players that lived, are dead, and may live again.
    fn dead(&self) -> Vec<Player> {
        let chairs = self.world.chairs.iter().zip(0..);
        let dead = |chair: &Chair| chair.machine.is_none() && chair.role.is_some() && !chair.gone;
        let dead = chairs.filter(|(chair, _)| dead(chair));
        dead.map(|(_, place)| place).collect()
    }

    fn restart(&mut self, who: u8, back: Option<u8>) {
        let Some(player) = pick(&self.dead(), who) else { return };
        let Some(role) = self.world.chair(player).and_then(|chair| chair.role) else { return };
        // The program joins when it starts: who restarts it wants to be in.
        self.away(player, false);
        match back {
            None => self.world.boot(player, role, Disk::Synced),
            Some(hundredths) => self.world.boot_old(player, role, hundredths),
        }
    }

    fn burst(&mut self, weather: Weather, micros: u64) {
        let until = self.world.now.saturating_add(micros);
        self.world.net.burst(weather, until);
    }

    fn admit(&mut self, who: u8, contact: u8, yes: u8) {
        let strangers: Vec<Player> = (self.schedule.founders..self.schedule.players).collect();
        let Some(player) = pick(&strangers, who).filter(|one| !self.world.is_stolen(*one)) else { return };
        let contact = contact % self.schedule.founders.max(1);
        for voter in 0..self.schedule.players {
            if (yes >> voter) & 1 == 1 {
                self.world.wish_admit(voter, player);
            }
        }
        let is_new = self.world.chair(player).is_some_and(|chair| chair.role.is_none());
        if is_new {
            self.world.boot(player, Role::Stranger { contact }, Disk::Fresh);
        }
    }

    fn expel(&mut self, by: u8, who: u8, yes: u8) {
        let target = who % self.schedule.players;
        let other = |by: &Player| self.world.process(*by).player != target;
        let Some(by) = self.insider(by).filter(other) else { return };
        for voter in (0..self.schedule.players).filter(|voter| *voter != target) {
            if (yes >> voter) & 1 == 1 {
                self.world.wish_expel(voter, target);
            }
        }
        self.world.wish_expel(by, target);
        self.world.command(by, Command::Expel(target));
    }

    fn change(&mut self, by: u8, what: u8) {
        let Some(by) = self.insider(by) else { return };
        for voter in 0..self.schedule.players {
            self.world.wish_expel(voter, motion(what));
        }
        self.world.command(by, Command::Change(what));
    }

    fn electorate(&mut self, by: u8, voters: u8) {
        let Some(by) = self.insider(by) else { return };
        let known = self.world.chair(by).map(|chair| chair.roster.clone()).unwrap_or_default();
        let voters: Vec<Player> = known.into_iter().filter(|player| (voters >> player) & 1 == 1).collect();
        for voter in 0..self.schedule.players {
            self.world.wish_expel(voter, electorate());
        }
        self.world.command(by, Command::Electorate(voters));
    }

    fn ask_again(&mut self, who: u8) {
        let outside: Vec<Player> =
            self.world.living().into_iter().filter(|player| !self.is_rostered(*player)).collect();
        let Some(player) = pick(&outside, who) else { return };
        for voter in 0..self.schedule.players {
            self.world.wish_admit(voter, player);
        }
        self.world.command(player, Command::Apply);
        self.away(player, false);
        self.world.command(player, Command::Join);
    }

    /// Everything but cuts stops.
    fn quieten(&mut self) {
        for chair in &mut self.world.chairs {
            if chair.is_armed() {
                chair.disarm();
            }
        }
        self.world.attacker.race(0);
        self.world.net.clear_up();
        for (_, player) in std::mem::take(&mut self.unmute) {
            self.world.command(player, Command::Mute(None));
        }
        self.world.all_read();
        self.world.play_until(self.world.all_go_on().max(self.world.now));
    }

    /// Plays on until there has been peace for a while, with the cuts as they are; notes what is
    /// missing if that does not come.
    fn endure(&mut self) {
        self.quieten();
        self.end_earlier(|_, _| true);
        let limit = self.world.now.saturating_add(ENDURE_MICROS);
        let mut since = None;
        let mut why = "no time was left".to_owned();
        while self.world.now < limit && self.world.record.counts.inputs < INPUTS_MAX {
            self.play_until(self.world.now.saturating_add(LOOK_MICROS));
            match peace::of(&self.world) {
                Ok(views) => {
                    let (begun, before) = since.get_or_insert_with(|| (self.world.now, views.clone()));
                    if *before != views {
                        why = "views change again and again".to_owned();
                        since = None;
                    } else if self.world.now.saturating_sub(*begun) >= PEACE_MICROS {
                        return;
                    }
                }
                Err(unrest) => {
                    why = unrest;
                    since = None;
                }
            }
        }
        let at = self.world.now;
        self.world.record.unrest.get_or_insert(format!("at {}.{:06}: {why}", at / 1_000_000, at % 1_000_000));
    }

    /// Everything that was broken by the schedule is whole again; the dead come back, most of them.
    fn stop_faults(&mut self) {
        self.world.record.healed = self.world.now;
        self.quieten();
        self.world.put_clocks_right();
        self.world.net.heal();
        self.world.net.settle(Weather { delay_max: CALM.delay_max, ..CALM });
        for player in self.dead() {
            if self.rng.chance(700_000) {
                self.restart_player(player);
            }
        }
        self.end_earlier(|world, pair| !world.has_third(pair));
        self.tell_the_lonely();
    }

    /// A stranger whose only contact stays dead is told where somebody else is: nobody can find
    /// what nobody alive knows.
    fn tell_the_lonely(&mut self) {
        let living = self.world.living();
        let role = |player: Player| self.world.chair(player).and_then(|chair| chair.role);
        let alone = |role| matches!(role, Some(Role::Stranger { contact }) if !living.contains(&contact));
        let lonely: Vec<Player> = living.iter().copied().filter(|player| alone(role(*player))).collect();
        for player in lonely {
            let of = |place: Player| self.world.process(place).player;
            if let Some(other) = living.iter().copied().find(|other| of(*other) != of(player)) {
                self.world.command(player, Command::Dial(other));
            }
        }
    }

    fn restart_player(&mut self, player: Player) {
        if let Some(role) = self.world.chair(player).and_then(|chair| chair.role) {
            self.away(player, false);
            self.world.boot(player, role, Disk::Synced);
        }
    }

    /// Plays on until all who should be are in one view under one key with nothing left to deliver,
    /// then lets each send one safe message more, which all must get.
    fn settle(&mut self) {
        let limit = self.world.now.saturating_add(SETTLE_MICROS);
        if !self.rest(limit) {
            return;
        }
        let limit = self.finish_signing(limit);
        for standing in standings(&self.world) {
            if standing.expected {
                let player = standing.process.player;
                let place = self.world.place_of(player);
                if is_second(player) {
                    self.world.second_sends(place, Service::Safe);
                } else {
                    self.world.send(place, Service::Safe, 64);
                }
            }
        }
        self.world.record.settled = self.rest(limit);
    }

    /// Where voters sign together: plays on until nothing is left for their machines to do, and
    /// notes what is. Until when the world may come to rest then.
    fn finish_signing(&mut self, limit: u64) -> u64 {
        if self.schedule.scheme == Scheme::Plain {
            return limit;
        }
        let end = self.world.now.saturating_add(SIGNING_MICROS);
        let mut since = None;
        loop {
            self.play_until(self.world.now.saturating_add(LOOK_MICROS));
            let undone = self.world.undone();
            if undone.is_none() {
                let begun = *since.get_or_insert(self.world.now);
                if self.world.now.saturating_sub(begun) >= SIGNING_REST_MICROS {
                    break;
                }
            } else {
                since = None;
            }
            if self.world.now >= end || self.world.record.counts.inputs >= INPUTS_MAX {
                self.world.record.undone = undone;
                break;
            }
        }
        self.world.now.saturating_add(SETTLE_MICROS)
    }

    /// Plays on until the world has been at rest for a while; whether it came to that by `limit`.
    fn rest(&mut self, limit: u64) -> bool {
        let mut since = None;
        while self.world.now < limit && self.world.record.counts.inputs < INPUTS_MAX {
            let until = self.world.now.saturating_add(LOOK_MICROS);
            self.world.play_until(until);
            if !at_rest(&standings(&self.world)) {
                since = None;
                continue;
            }
            let begun = *since.get_or_insert(self.world.now);
            // What has come back to its sender is still on its way to those who are far.
            let rest = REST_MICROS.saturating_add(self.schedule.far);
            if self.world.now.saturating_sub(begun) >= rest {
                return true;
            }
        }
        false
    }

    fn finish(mut self) -> Record {
        self.world.try_outsiders();
        self.world.note_forks();
        let standings = standings(&self.world);
        let mut record = std::mem::take(&mut self.world.record);
        record.calm = self.schedule.calm;
        record.robbed = self.schedule.robbed;
        record.founders = self.schedule.founders;
        record.votes = if self.schedule.scheme == Scheme::Plain { self.schedule.votes } else { 1 };
        record.counts.micros = self.world.now;
        record.standings = standings;
        record
    }
}

fn pick(players: &[Player], who: u8) -> Option<Player> {
    let index = usize::from(who).checked_rem(players.len())?;
    players.get(index).copied()
}
