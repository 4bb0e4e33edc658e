//! One player: its disk, its present life, and what its person has in mind. A second process of a
//! player has a chair, too, with a disk of its own.

use super::Origin;
use super::reader::Deaf;
use crate::disk::VirtualDisk;
use crate::hosts::Hosts;
use crate::machine::{Machine, Output, Role, Spoils};
use crate::record::{MessageId, Player, Process, Shown};
use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Two clocks that are so far from the true time are as far from each other as voters allow.
const NEAR_SECONDS: i64 = 150;

/// What the person in a player wants.
#[derive(Debug, Default, Clone)]
pub struct Wishes {
    /// Players it will vote to admit.
    pub admit: BTreeSet<Player>,
    /// Players it will vote to expel.
    pub expel: BTreeSet<Player>,
    /// Whether it wants to be in the group.
    pub away: bool,
}

/// One player.
pub struct Chair {
    /// Its number.
    pub player: Player,
    /// Whether this is the chair of its copied folder.
    pub copied: bool,
    /// Whether it signed the charter.
    pub founder: bool,
    /// How it took part last; `None`: never yet.
    pub role: Option<Role>,
    /// Its present life's machine; `None`: dead, or not there yet.
    pub machine: Option<Box<dyn Machine>>,
    /// Whether it is gone for good.
    pub gone: bool,
    /// Whether it has ever lost writes of its disk.
    pub lost: bool,
    /// Its disk.
    pub disk: VirtualDisk,
    /// Its randomness.
    pub entropy: Rng,
    /// When the present life began.
    pub boot_at: u64,
    /// What the person wants.
    pub wishes: Wishes,
    /// Requests and proposals shown to the person in this life.
    pub shown_requests: BTreeSet<Player>,
    /// Proposals shown to the person in this life.
    pub shown_proposals: BTreeSet<Player>,
    /// The view of this life.
    pub view: Option<Shown>,
    /// Asked to send in this life, neither refused nor delivered to itself; unreliable ones
    /// excepted.
    pub pending: BTreeSet<MessageId>,
    /// For each life, the keys that it held when somebody last knew it to be out of the group.
    pub spoils: BTreeMap<u16, Spoils>,
    /// Players that it knows to be out of the group, a bit each.
    pub out: u8,
    /// The roster as last recorded.
    pub roster: BTreeSet<Player>,
    /// Control steps acknowledged on this disk, with the number of writes before.
    pub acknowledged: Vec<(usize, String)>,
    /// Sharing in use and shares on disk, as last recorded.
    pub shares: Option<(Option<String>, BTreeSet<String>)>,
    /// Until when it stands still.
    pub(super) stopped: u64,
    /// Its application takes no events.
    pub(super) deaf: Option<Deaf>,
    /// Whether the number of this life is recorded.
    pub(super) numbered: bool,
    /// How far its wall clock is ahead, in seconds; `None`: it has none.
    pub(super) skew: Option<i64>,
    /// Outputs that wait for the disk, each with the time at which the disk is done.
    pub(super) waiting: VecDeque<(u64, Output, Origin)>,
    /// How long a commit takes, in microseconds.
    commit_micros: u64,
    /// When the last commit began, or will begin.
    commit: u64,
    life: Option<u16>,
    number: u32,
    turn: u64,
    timer: Option<u64>,
    armed: Option<u8>,
    busy: (u64, u32),
}

impl Chair {
    /// An empty player.
    pub fn new(seed: u64, player: Player, founder: bool) -> Self {
        Self {
            player,
            copied: false,
            founder,
            role: None,
            machine: None,
            gone: false,
            lost: false,
            disk: VirtualDisk::default(),
            entropy: Rng::new(seed, "seat", u64::from(player)),
            boot_at: 0,
            wishes: Wishes::default(),
            shown_requests: BTreeSet::new(),
            shown_proposals: BTreeSet::new(),
            view: None,
            pending: BTreeSet::new(),
            spoils: BTreeMap::new(),
            out: 0,
            roster: BTreeSet::new(),
            acknowledged: Vec::new(),
            shares: None,
            stopped: 0,
            deaf: None,
            numbered: false,
            skew: Some(0),
            waiting: VecDeque::new(),
            commit_micros: 0,
            commit: 0,
            life: None,
            number: 0,
            turn: 0,
            timer: None,
            armed: None,
            busy: (0, 0),
        }
    }

    /// The chair of a copy of its folder, on a computer whose clock is off by `skew`.
    pub(super) fn copy(&self, seed: u64, skew: i8) -> Self {
        Self {
            copied: true,
            role: self.role,
            disk: self.disk.clone(),
            entropy: Rng::new(seed, "copy", u64::from(self.player)),
            wishes: self.wishes.clone(),
            acknowledged: self.acknowledged.clone(),
            skew: Some(skew.into()),
            commit_micros: self.commit_micros,
            ..Self::new(seed, self.player, self.founder)
        }
    }

    /// The computer that it runs on.
    pub(super) fn host(&mut self, hosts: &Hosts) {
        let of = usize::from(self.player);
        self.commit_micros = hosts.disks.get(of).copied().unwrap_or_default();
        self.skew = Some(hosts.clocks.get(of).copied().unwrap_or_default().into());
    }

    /// How far its wall clock is ahead, in seconds; `None`: it has none.
    pub(super) fn skew(&self) -> Option<i64> {
        self.skew
    }

    /// Whether its wall clock is as near to the true time as voters allow one another.
    pub(super) fn is_near(&self) -> bool {
        self.skew.is_some_and(|skew| skew.abs() <= NEAR_SECONDS)
    }

    /// When the disk has all that was written up to now: a write joins the next commit, which
    /// begins when the one before it is done.
    pub(super) fn ready(&mut self, now: u64, writes: bool) -> u64 {
        if writes && self.commit_micros > 0 {
            let done = self.commit.saturating_add(self.commit_micros);
            if now >= done {
                self.commit = now;
            } else if now > self.commit {
                self.commit = done;
            }
        }
        self.waiting.back().map_or(0, |(at, _, _)| *at).max(if writes {
            self.commit.saturating_add(self.commit_micros)
        } else {
            now
        })
    }

    /// The number of the next life, as far as this chair knows.
    pub(super) fn next_life(&self) -> u16 {
        self.life.map_or(0, |life| life.saturating_add(1))
    }

    /// The present or last life.
    pub fn process(&self) -> Process {
        Process { player: self.player, life: self.life.unwrap_or(0) }
    }

    /// Begins this life.
    pub(super) fn begin(&mut self, now: u64, role: Role, life: u16) {
        self.life = Some(life);
        self.numbered = false;
        self.role = Some(role);
        self.boot_at = now;
        self.number = 0;
        self.armed = None;
        self.timer = None;
        self.waiting.clear();
        self.commit = 0;
        self.stopped = 0;
        self.turn = self.turn.saturating_add(1);
        self.shown_requests.clear();
        self.shown_proposals.clear();
        self.roster.clear();
        self.shares = None;
        self.out = 0;
    }

    /// Whom it knows to be out of the group, and its view.
    pub(super) fn sealer(&self) -> (u8, Option<Shown>) {
        (self.out, self.view.clone())
    }

    /// It knows that `other` is no longer in the group, or that it is.
    pub(super) fn knows_gone(&mut self, other: Player, gone: bool) {
        let bit = 1_u8.checked_shl(u32::from(other)).unwrap_or(0);
        self.out = if gone { self.out | bit } else { self.out & !bit };
    }

    /// Forgets what only the life that ended knew.
    pub(super) fn end(&mut self) {
        self.view = None;
        self.deaf = None;
        self.waiting.clear();
        self.pending.clear();
        self.armed = None;
        self.timer = None;
    }

    /// A control step was acknowledged; one about the same player is overtaken by it.
    pub(super) fn acknowledge(&mut self, step: String) {
        let subject = step.rsplit(' ').next().map(str::to_owned);
        self.acknowledged.retain(|(_, old)| old.rsplit(' ').next() != subject.as_deref());
        self.acknowledged.push((self.disk.writes(), step));
    }

    /// The next message's name.
    pub fn next_message(&mut self) -> MessageId {
        let number = self.number;
        self.number = self.number.saturating_add(1);
        let Process { player, life } = self.process();
        MessageId { player, life, number }
    }

    /// Dies within the next batch that has outputs, after `outputs` of them (or at its end, if it
    /// has fewer).
    pub fn arm(&mut self, outputs: u8) {
        self.armed = Some(outputs);
    }

    /// Where this batch ends early, if it does. Counted are the outputs that reach the world:
    /// datagrams and writes.
    pub(super) fn crash_point(&mut self, batch: &[Output]) -> Option<usize> {
        let real = |output: &Output| matches!(output, Output::Transmit(..) | Output::Persist(_));
        if !batch.iter().any(real) {
            return None;
        }
        let mut left = self.armed.take()?;
        for (index, _) in batch.iter().enumerate().filter(|(_, output)| real(output)) {
            match left.checked_sub(1) {
                Some(rest) => left = rest,
                None => return Some(index),
            }
        }
        Some(batch.len())
    }

    /// The crash that was armed does not come.
    pub fn disarm(&mut self) {
        self.armed = None;
    }

    /// Whether the crash that was armed is still to come.
    pub fn is_armed(&self) -> bool {
        self.armed.is_some()
    }

    /// Whether the timer of `turn` in `life` is still the one awaited; if so it is spent.
    pub(super) fn fires(&mut self, life: u16, turn: u64) -> bool {
        let fires = self.machine.is_some() && self.process().life == life && self.turn == turn;
        if fires {
            self.timer = None;
        }
        fires
    }

    /// Sets the timer; what to schedule, if that is new.
    pub(super) fn set_timer(&mut self, wanted: Option<u64>) -> Option<(u64, u16, u64)> {
        if wanted == self.timer {
            return None;
        }
        self.timer = wanted;
        self.turn = self.turn.saturating_add(1);
        wanted.map(|at| (at, self.process().life, self.turn))
    }

    /// How many batches there were at this microsecond.
    pub(super) fn spins(&mut self, now: u64) -> u32 {
        self.busy = match self.busy {
            (at, count) if at == now => (at, count.saturating_add(1)),
            _ => (now, 1),
        };
        self.busy.1
    }
}
